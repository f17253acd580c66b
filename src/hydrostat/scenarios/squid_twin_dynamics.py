"""squid-twin-dynamics: one limb let go from a bent pose, in air and in water, beside its twin in MuJoCo."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from hydrostat.errors import DivergedError, InputError
from hydrostat.exporting import load_mujoco, make_twin, place, tips
from hydrostat.exporting.engine import import_mujoco
from hydrostat.mechanics.robot import Robot
from hydrostat.results import Variable
from hydrostat.robots.build import build_robot
from hydrostat.robots.limbed import LimbedSpec
from hydrostat.robots.spec import BaseSpec, RobotSpec
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.simulation.simulate import Run as Simulation
from hydrostat.surroundings import Water
from hydrostat.system import State, System

_ROW_SECONDS = 0.01  # from row to row
_SEA_WATER = 1025.0  # kg/m^3, as the exported files have it
_AXES = {"squid": None, "down": (0.0, 0.0, -1.0), "up": (0.0, 0.0, 1.0)}
_SNAPSHOTS = (0.0, 0.1, 0.25, 0.5, 1.0)
"""Shares of the time at which the limb is drawn."""


class Motion(NamedTuple):
    """A limb's course."""

    points: np.ndarray
    """Ends of the sections, the base first, (rows, n + 1, 3) [m]."""
    wall: float
    """[s]"""

    @property
    def tip(self) -> np.ndarray:
        """(rows, 3) [m]"""
        return self.points[:, -1]


def twin_dynamics(run: Run) -> Outcome:
    """Let the limb go, here and there, and compare their tips."""
    set_ = run.settings
    try:
        import_mujoco()
    except ImportError as error:
        raise InputError(str(error)) from None
    spec = _limb(run.limbed, set_.limb, set_.mount)
    if set_.sections % len(spec.segments):
        raise InputError(
            f"`sections` must be a multiple of {len(spec.segments)}, the segments of the {set_.limb} limb; "
            f"got {set_.sections}"
        )
    each = set_.sections // len(spec.segments)
    robot = build_robot(spec.cut(each) if each > 1 else spec)
    length = float(robot.arm.length)
    q = _bent(robot, set_.bend_deg, set_.azimuth_deg)
    dt, rows = 1e-3 * set_.dt_ms, max(round(set_.seconds / _ROW_SECONDS), 1)
    every = max(round(_ROW_SECONDS / dt), 1)
    if abs(every * dt - _ROW_SECONDS) > 1e-9:
        raise InputError(f"`dt_ms` must divide a row of {1e3 * _ROW_SECONDS:g} ms; got {set_.dt_ms:g} ms")

    systems = {
        "air": System(robot),
        "water": System(robot, [Water(_SEA_WATER, added_mass=set_.added_mass)]),
        "water, drag alone": System(robot, [Water(_SEA_WATER)]),
    }
    own: dict[str, Motion] = {}
    for name, system in systems.items():
        with run.compiling(f"compiling for {name}"):
            simulation, first = Simulation(system, dt=dt, every=every), system.rest(q)
            simulation.compile(rows * _ROW_SECONDS, first)
        with run.timed():
            own[name] = _ours(run, name, simulation, first, rows)
    with run.timed():
        twins, twin_dt = {}, 0.0
        for name in ("air", "water"):
            run.progress(f"MuJoCo, {name}", 0.0)
            twins[name], twin_dt = _mujoco(spec, each, q, rows, set_, water=name == "water")
        _record(run, rows, own, twins, set_.sections)

    def percent(name: str, other: str) -> float:
        return 100.0 * float(np.linalg.norm(own[name].tip - twins[other].tip, axis=-1).max()) / length

    moved = 100.0 * np.linalg.norm(own["air"].tip - own["air"].tip[0], axis=-1).max() / length
    seconds = rows * _ROW_SECONDS
    metrics = {
        "tip_difference_percent": percent("air", "air"),
        "tip_difference_mean_percent": 100.0
        * float(np.linalg.norm(own["air"].tip - twins["air"].tip, axis=-1).mean()) / length,
        "tip_difference_water_percent": percent("water", "water"),
        "tip_difference_water_drag_alone_percent": percent("water, drag alone", "water"),
        "tip_motion_percent": float(moved),
        "tip_motion_water_percent": 100.0
        * float(np.linalg.norm(own["water"].tip - own["water"].tip[0], axis=-1).max()) / length,
        "real_time_factor_air": seconds / own["air"].wall,
        "real_time_factor_water": seconds / own["water"].wall,
        "real_time_factor_twin_air": seconds / twins["air"].wall,
        "real_time_factor_twin_water": seconds / twins["water"].wall,
        "twin_dt_ms": 1e3 * twin_dt,
        "sections": set_.sections,
    }  # fmt: skip
    title = f"squid-twin-dynamics: {set_.limb} limb, {set_.sections} sections"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, np.arange(rows + 1) * _ROW_SECONDS, own, twins, title, length),
        sim_seconds=seconds * (len(own) + len(twins)),
        dt=dt,
        steps=rows * every * len(own),
    )


def _limb(spec: LimbedSpec, name: str, mount: str) -> RobotSpec:
    """The limb on its own, its base where the robot holds it, or at the origin and pointing elsewhere."""
    arm = spec.limb(name).arm
    axis = _AXES[mount]
    # The tendons are slack, and limbs are mounted along the body's axis.
    base = BaseSpec(axis=spec.base.axis) if axis is None else BaseSpec(axis=axis)
    return replace(arm, base=base, tendons=())


def _bent(robot: Robot, bend_deg: float, azimuth_deg: float) -> jnp.ndarray:
    """The configuration of an even bend of the whole limb towards an azimuth of its base's frame."""
    curvature, azimuth = np.deg2rad(bend_deg) / float(robot.arm.length), np.deg2rad(azimuth_deg)
    by = {"bend_x": -curvature * np.sin(azimuth), "bend_y": curvature * np.cos(azimuth)}
    one = jnp.array([by.get(mode, 0.0) for mode in robot.arm.segments.modes])
    return jnp.tile(one, (robot.arm.count, 1))


def _ours(run: Run, name: str, simulation: Simulation, first: State, rows: int) -> Motion:
    """The limb by hydrostat; the clock counts steps alone."""
    start = time.perf_counter()
    found = simulation(rows * _ROW_SECONDS, state=first, on_progress=lambda done: run.progress(name, done))
    wall = time.perf_counter() - start
    return Motion(np.asarray(found.points), wall)


def _mujoco(spec: RobotSpec, each: int, q, rows: int, set_: Any, *, water: bool) -> tuple[Motion, float]:
    """The same by MuJoCo, and the step it took [s]."""
    mujoco = import_mujoco()
    twin = make_twin(spec, each, "elastic")
    model, data = load_mujoco(twin, water=water)
    # The step that its springs can take, cut so that rows are whole numbers of steps.
    most = 1e-3 * set_.twin_dt_ms if set_.twin_dt_ms else twin.timestep
    steps = int(np.ceil(_ROW_SECONDS / most - 1e-9))
    model.opt.timestep = _ROW_SECONDS / steps
    place(model, data, twin, np.asarray(q))
    names = [link.name for link in twin.links if link.joints]
    lengths = np.array([section.length for section in (spec.cut(each) if each > 1 else spec).segments])

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
                f"MuJoCo's twin diverged after {row * _ROW_SECONDS:.6g} s at a step of {1e3 * model.opt.timestep:.3g} "
                f"ms; a smaller `twin_dt_ms` may do"
            )
        every.append(points())
    return Motion(np.array(every), wall), float(model.opt.timestep)


def _record(run: Run, rows: int, own: dict[str, Motion], twins: dict[str, Motion], sections: int) -> None:
    """Record the ends of all sections."""
    size, names = (sections + 1, 3), ("node", "axis")
    kept = {"air": own["air"], "water": own["water"], "water_drag_alone": own["water, drag alone"]}
    kept |= {f"twin_{name}": motion for name, motion in twins.items()}
    variables = [
        Variable(f"position_{name}", names, size, "m", f"ends of sections in the world: {name.replace('_', ' ')}")
        for name in kept
    ]
    attributes = {"scenario": "squid-twin-dynamics", "robot": run.limbed.name}
    with run.recorder(variables, rows + 1, axis="time", axis_unit="s", attributes=attributes) as recorder:
        recorder.append(
            np.arange(rows + 1) * _ROW_SECONDS, **{f"position_{name}": motion.points for name, motion in kept.items()}
        )


def _draw(path: Path, times: np.ndarray, own, twins, title: str, length: float) -> None:
    """Snapshots, the height of the tip over time, and the distance of the tips."""
    from hydrostat.results import figures

    figure = figures.new_figure(13.0, 7.2)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    axes = figure.subplots(2, 3)
    for row, name in enumerate(("air", "water")):
        shape, height, apart = axes[row]
        mine, twin = own[name], twins[name]
        for i, share in enumerate(_SNAPSHOTS):
            at = round(share * (len(times) - 1))
            color = figures.COLORS[i % len(figures.COLORS)]
            for motion, style in ((mine, "-"), (twin, "o")):
                points = motion.points[at] - motion.points[0, 0]
                across = np.copysign(np.hypot(points[:, 0], points[:, 1]), points[:, 0] + points[:, 1])
                label = f"{times[at]:.2g} s" if style == "-" else None
                shape.plot(
                    1e3 * across, 1e3 * points[:, 2], style, color=color, linewidth=1.4, markersize=2.5, label=label
                )
        shape.set_aspect("equal")
        shape.legend(fontsize=7, frameon=False)
        figures.style_axes(shape, f"in {name}: lines ours, dots MuJoCo", "across [mm]", "height [mm]")
        base = mine.points[0, 0, 2]
        curves = [("hydrostat", mine, "-", 1), ("MuJoCo", twin, "--", 0)]
        if name == "water":
            curves.insert(1, ("hydrostat, drag alone", own["water, drag alone"], ":", 3))
        for label, motion, style, color in curves:
            height.plot(
                times, 1e3 * (motion.tip[:, 2] - base), style, color=figures.COLORS[color], linewidth=1.3, label=label
            )
            if motion is not twin:
                distance = 100.0 * np.linalg.norm(motion.tip - twin.tip, axis=-1) / length
                apart.plot(times, distance, style, color=figures.COLORS[color], linewidth=1.2, label=label)
        height.legend(fontsize=7, frameon=False)
        figures.style_axes(height, "height of the tip", "time [s]", "[mm]")
        apart.legend(fontsize=7, frameon=False)
        figures.style_axes(apart, "distance of the tips from MuJoCo's", "time [s]", "[% of length]")
    figures.save(figure, path)
