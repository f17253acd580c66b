"""Where a ball lies relative to an arm at rest: how deep it reaches into it, before anything moves."""

import numpy as np

from hydrostat.bodies import Arm


def rest_depth(arm: Arm, centre: np.ndarray, radius: float) -> tuple[float, int]:
    """How deep a ball reaches into a straight arm at rest [m], negative while apart, and the nearest segment from 1."""
    rest, section = np.asarray(arm.segments.length), arm.section
    base, along = np.asarray(arm.T_world_base.position), np.asarray(arm.T_world_base.rotation)[:, 2]
    ends = np.concatenate([[0.0], np.cumsum(rest)])
    at = np.clip((centre - base) @ along, 0.0, ends[-1])
    i = int(np.clip(np.searchsorted(ends, at) - 1, 0, len(rest) - 1))
    share = (at - ends[i]) / rest[i]
    thick = float(section.radius_base[i] * (1.0 - share) + section.radius_tip[i] * share)
    return radius + thick - float(np.linalg.norm(centre - base - at * along)), i + 1
