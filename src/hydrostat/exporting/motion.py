"""Exported twins in MuJoCo: the tips of their limbs in poses, and the motion of a limb that is let go."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hydrostat.errors import DivergedError
from hydrostat.exporting.description import Twin
from hydrostat.exporting.engine import import_mujoco, load_mujoco, place, tips
from hydrostat.exporting.twin import make_twin
from hydrostat.robots import RobotSpec


def tips_in_poses(twin: Twin, poses: Sequence[Sequence[np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (poses, limbs, 3, 3) and positions (poses, limbs, 3) [m] of all tips, by MuJoCo's forward kinematics.

    **Arguments:** `poses`: for each pose the configuration of every limb.
    """
    model, data = load_mujoco(twin)
    found = []
    for pose in poses:
        place(model, data, twin, *pose)
        found.append(tips(data, twin))
    rotations, positions = zip(*(zip(*row, strict=True) for row in found), strict=True)
    return np.array(rotations), np.array(positions)


class TwinMotion(NamedTuple):
    """The motion of a limb in MuJoCo."""

    points: np.ndarray
    """Ends of the sections, the base first, (rows, n + 1, 3) [m]."""
    wall: float
    """Time that its steps took [s]."""
    dt: float
    """Step of the integration [s]."""


def release_twin(
    spec: RobotSpec,
    sections: int,
    q: np.ndarray,
    rows: int,
    interval: float,
    *,
    dt: float | None = None,
    water: bool = False,
) -> TwinMotion:
    """A limb without tendons, exported as an elastic chain and let go from a configuration, in air or in water.

    **Arguments:** `sections`: of each segment; `q`: configuration of all sections; `rows`: after the first; `interval`:
    from row to row [s]; `dt`: largest step [s], that of the exported file when not given.
    """
    mujoco = import_mujoco()
    twin = make_twin(spec, sections, "elastic")
    model, data = load_mujoco(twin, water=water)
    # The step is cut so that rows are whole numbers of steps.
    steps = int(np.ceil(interval / (dt or twin.timestep) - 1e-9))
    model.opt.timestep = interval / steps
    place(model, data, twin, np.asarray(q))
    names = [link.name for link in twin.links if link.joints]
    lengths = np.array([section.length for section in (spec.cut(sections) if sections > 1 else spec).segments])

    def points() -> np.ndarray:
        # A section's end lies half a section beyond its hinges.
        bodies = [data.body(name) for name in names]
        ends = [
            body.xpos + half * body.xmat.reshape(3, 3)[:, 2] for body, half in zip(bodies, 0.5 * lengths, strict=True)
        ]
        return np.array([data.body("arm_base").xpos, *ends[:-1], tips(data, twin)[0][1]])

    bad = [getattr(mujoco.mjtWarning, f"mjWARN_BAD{what}") for what in ("QPOS", "QVEL", "QACC")]
    every, wall = [points()], 0.0
    for row in range(rows):
        start = time.perf_counter()
        mujoco.mj_step(model, data, steps)
        wall += time.perf_counter() - start
        if any(data.warning[kind].number for kind in bad):
            raise DivergedError(
                f"MuJoCo's twin diverged after {row * interval:.6g} s at a step of {1e3 * model.opt.timestep:.3g} "
                f"ms; a smaller `twin_dt_ms` may do"
            )
        every.append(points())
    return TwinMotion(np.array(every), wall, float(model.opt.timestep))
