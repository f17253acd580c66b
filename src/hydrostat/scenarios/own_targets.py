"""Targets that a user names for `arm-reach-target` and `octopus-forage`, checked before JAX is there."""

from types import SimpleNamespace

import numpy as np

from hydrostat.errors import InputError
from hydrostat.robots import LimbedSpec, RobotSpec
from hydrostat.scenarios.keys import Key

NEAREST, FARTHEST = 0.1, 1.5
"""Distances of targets from the base of an arm, in arm lengths."""
NEAREST_PREY, FARTHEST_PREY = 0.2, 10.0
"""From the body to where prey lies [m]."""

ARM_TARGETS = Key(
    "target_mm", (), "mm", "your own targets, x, y, z of the world, of several one after another; empty: drawn ones",
    least=-1e6, most=1e6, most_entries=300,
)  # fmt: skip
PREY_PLACES = Key(
    "target_mm", (), "mm", "where prey lies on the ground, x, y, of several one after another; empty: drawn places",
    least=-1e6, most=1e6, most_entries=200,
)  # fmt: skip
ROCK = Key(
    "rock_mm", (), "mm", "a round rock half in the ground, in the octopus' way: x, y and its radius; empty: none",
    least=-1e5, most=1e5, most_entries=3,
)  # fmt: skip
_FAR_FROM_ROCK = 0.32
"""Least distance of the body's centre from a rock at the start, clear of its arms [m]."""


def rock_of(spec: LimbedSpec, settings: SimpleNamespace) -> tuple[float, float, float] | None:
    """Centre x, y and radius of the user's rock [m], None where there is none; one that is in something is refused."""
    if not settings.rock_mm:
        return None
    if len(settings.rock_mm) != 3 or settings.rock_mm[2] <= 0.0:
        got = ", ".join(f"{value:g}" for value in settings.rock_mm)
        raise InputError(f"`rock_mm` must be x, y and a radius above 0; got {got}")
    if settings.prey_flees_mm_s or settings.current_m_s:
        raise InputError("`rock_mm` is for prey that stays, as prey passes through rocks: without flight and current")
    x, y, radius = (1e-3 * value for value in settings.rock_mm)
    gap = float(np.hypot(*(np.array([x, y]) - np.array(spec.base.position[:2])))) - radius
    if gap < _FAR_FROM_ROCK:
        raise InputError(
            f"`rock_mm` must be {1e3 * _FAR_FROM_ROCK:g} mm from the body's axis, beyond its arms; "
            f"it is {1e3 * gap:.4g} mm"
        )
    return x, y, radius


def arm_targets(spec: RobotSpec, settings: SimpleNamespace) -> np.ndarray:
    """The user's targets of an arm (count, 3) [m]; a target out of reach is refused."""
    points = _points(settings.target_mm, ("x", "y", "z"))
    length = sum(segment.length for segment in spec.segments)
    axis = np.array(spec.base.axis) / np.linalg.norm(spec.base.axis)
    for number, point in enumerate(points, 1):
        gap = point - np.array(spec.base.position)
        distance = float(np.linalg.norm(gap))
        if not NEAREST * length <= distance <= FARTHEST * length:
            raise InputError(
                f"target {number} of `target_mm` is out of reach: it must be {1e3 * NEAREST * length:.4g} to "
                f"{1e3 * FARTHEST * length:.4g} mm from the arm's base; got {1e3 * distance:.4g} mm"
            )
        if gap @ axis < 0.0:
            raise InputError(
                f"target {number} of `target_mm` is out of reach: it must lie before the arm's base; it is "
                f"{-1e3 * float(gap @ axis):.4g} mm behind it"
            )
    return points


def prey_places(spec: LimbedSpec, settings: SimpleNamespace) -> np.ndarray:
    """Where the user's prey lies (count, 2) [m]; what is too near or too far is refused."""
    points = _points(settings.target_mm, ("x", "y"))
    for number, point in enumerate(points, 1):
        distance = float(np.linalg.norm(point - np.array(spec.base.position[:2])))
        if not NEAREST_PREY <= distance <= FARTHEST_PREY:
            raise InputError(
                f"prey {number} of `target_mm` is out of reach: it must lie {1e3 * NEAREST_PREY:g} to "
                f"{1e3 * FARTHEST_PREY:g} mm from the body; got {1e3 * distance:.4g} mm"
            )
    return points


def _points(values_mm: tuple[float, ...], names: tuple[str, ...]) -> np.ndarray:
    """The points of a flat list [m]."""
    if len(values_mm) % len(names):
        raise InputError(
            f"`target_mm` must be {', '.join(names)}, of several targets one after another; "
            f"got {len(values_mm)} numbers"
        )
    return 1e-3 * np.array(values_mm, float).reshape(-1, len(names))
