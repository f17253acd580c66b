"""arm-reach-target: the octopus arm reaches for points in a current, with muscles of wrong gains, by what it feels."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

from hydrostat.control.commands import Anatomy, ReachTo
from hydrostat.control.feedback import KnownArm, shape_to_point
from hydrostat.errors import InputError
from hydrostat.mechanics import kinematics
from hydrostat.results import Trajectory, TrajectoryRecorder, figures
from hydrostat.results.drawing import ABOVE, FRONT, Scene, draw_arm_side
from hydrostat.scenarios.arm import arm_system, known_arm
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.own_targets import arm_targets
from hydrostat.sensing import Sensor, Sensors
from hydrostat.simulation.simulate import Run as Simulation
from hydrostat.system import System

_CLOSE = 5e-3  # m from a target that counts as there
_DECIDES = 5e-3  # s from one decision to the next, assumed
_BELIEVED = np.deg2rad(0.05)  # noise of the shape that is left after it has been averaged


def targets(system: System, count: int, seed: int, near: float, far: float) -> np.ndarray:
    """Points drawn evenly from the half shell before an arm (count, 3) [m]; distances in arm lengths."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    arm = system.robot.arm
    ahead = directions @ np.asarray(arm.T_world_base.rotation)[:, 2]
    directions = np.where(ahead[:, None] < 0.0, -directions, directions)
    distances = rng.uniform(near**3, far**3, count) ** (1.0 / 3.0)
    return np.asarray(arm.T_world_base.position) + float(arm.length) * distances[:, None] * directions


def reach_target(run: Run) -> Outcome:
    """One reach for each target, from the straight arm at rest."""
    settings = run.settings
    if settings.near >= settings.far:
        raise InputError(f"`near` must be below `far` = {settings.far:g}; got {settings.near:g}")
    if settings.move_seconds >= settings.seconds:
        raise InputError(
            f"`move_seconds` must be below `seconds` = {settings.seconds:g} s; got {settings.move_seconds:g}"
        )
    system, known = arm_system(run, current=settings.current_m_s), known_arm(run)
    points = _own(run, known) if settings.target_mm else _drawn(run, system)
    errors, first = [], None
    drawn = zip(points, _gains(run, system, len(points)), _sensors(run, len(points)), strict=True)
    for i, (point, gains, sensors) in enumerate(drawn):
        command = ReachTo(point, settings.move_seconds, period=_DECIDES, smoothing=_smoothing(settings), known=known)
        own = System(system.robot, system.surroundings, muscle_gains=gains)
        # The first plan compiles; all others are part of the work.
        with run.timed() if i else run.compiling("planning"):
            simulation = Simulation(own, command, 1e-3 * settings.dt_ms, sensors=sensors)
        rows = _reached(run, simulation, settings.seconds, i, len(points))
        errors.append(np.linalg.norm(np.asarray(rows.tip) - point, axis=-1))
        first = rows if first is None else first
    assert first is not None
    distance, times = np.array(errors), np.asarray(first.time)
    # Near the target from then on until the end.
    last_far = np.array([np.flatnonzero(row > _CLOSE)[-1] if (row > _CLOSE).any() else -1 for row in distance])
    reached = last_far < distance.shape[1] - 1
    arrival = times[np.minimum(last_far + 1, len(times) - 1)]
    metrics = {
        "success_rate": float(reached.mean()),
        "targets": len(points),
        "error_median_mm": 1e3 * float(np.median(distance[:, -1])),
        "error_95_percent_mm": 1e3 * float(np.quantile(distance[:, -1], 0.95)),
        "error_max_mm": 1e3 * float(distance[:, -1].max()),
        "arrival_median_s": float(np.median(arrival[reached])) if reached.any() else None,
        "activation_max": float(np.max(first.activation)),
    }
    title = f"arm-reach-target: {run.robot.name}, {len(points)} target{'s' if len(points) > 1 else ''}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, first, points, distance, title),
        replay=lambda path: first.replay(path, title),
        sim_seconds=len(points) * float(times[-1]),
        dt=1e-3 * settings.dt_ms,
        steps=len(points) * (len(times) - 1),
    )


def _drawn(run: Run, system: System) -> np.ndarray:
    """The targets that are drawn (count, 3) [m]."""
    settings = run.settings
    return targets(system, settings.targets, run.seed, settings.near, settings.far)


def _own(run: Run, known: KnownArm) -> np.ndarray:
    """The user's targets (count, 3) [m]; one to which no shape of the arm is found is refused."""
    points, arm = arm_targets(run.robot, run.settings), known.arm.arm
    for number, point in enumerate(points, 1):
        with run.compiling("planning"):
            tip = kinematics.tip_pose(arm, shape_to_point(arm, jnp.asarray(point))).position
        away = float(np.linalg.norm(np.asarray(tip) - point))
        if not away <= _CLOSE:
            raise InputError(
                f"target {number} of `target_mm` is out of reach: no shape of {run.robot.name} was found whose tip is "
                f"within {1e3 * _CLOSE:g} mm of it"
            )
    return points


def _gains(run: Run, system: System, count: int) -> np.ndarray:
    """The gains of all muscles, others for each target."""
    anatomy = Anatomy.of(system.robot)
    rng = np.random.default_rng([run.seed, 1])
    noise = rng.normal(size=(count, anatomy.count, anatomy.columns))
    return np.maximum(1.0 + 0.01 * run.settings.muscle_noise_percent * noise, 0.0)


def _smoothing(settings) -> float:
    """The time over which the sense of shape is averaged [s]; noise becomes smaller by sqrt(sample time / 2 T)."""
    sampled = max(_DECIDES, 1.0 / settings.proprioception_rate_hz if settings.proprioception_rate_hz else 0.0)
    wanted = 0.5 * sampled * (np.deg2rad(settings.proprioception_noise_deg) / _BELIEVED) ** 2
    return min(wanted, settings.seconds)


def _sensors(run: Run, count: int) -> list[Sensors]:
    """The sense of shape, with other random numbers for each target."""
    settings = run.settings
    shape = Sensor(
        noise=np.deg2rad(settings.proprioception_noise_deg),
        rate=settings.proprioception_rate_hz or None,
        delay=settings.proprioception_delay_s,
    )
    seeds = np.random.default_rng([run.seed, 2]).integers(2**31, size=count)
    return [Sensors(proprioception=shape, seed=jnp.asarray(seed)) for seed in seeds]


def _reached(run: Run, simulation: Simulation, seconds: float, index: int, count: int) -> Trajectory:
    """The motion towards one target; the first one compiles for all, and is recorded."""

    def motion(on_rows=None) -> Trajectory:
        with run.timed():
            return simulation(
                seconds, on_rows=on_rows, on_progress=lambda done: run.progress("moving", (index + done) / count)
            )

    if index:
        return motion()
    rows, attributes = simulation.rows(seconds) + 1, {"scenario": "arm-reach-target"}
    with TrajectoryRecorder(run.folder, simulation.system, rows, attributes=attributes) as recorder:
        with run.compiling("compiling the motion"):
            recorder.compile(simulation.compile(seconds))
        return motion(recorder.append)


def _draw(path: Path, first: Trajectory, points: np.ndarray, distance: np.ndarray, title: str) -> None:
    """The first reach, the targets, and how far the tips were from them."""
    figure = figures.new_figure(13.0, 6.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 2)
    good = distance[:, -1] <= _CLOSE
    scene = Scene.of(first, np.linspace(0, len(first) - 1, 6).round().astype(int))
    for i, (plane, label) in enumerate(((FRONT, "z [mm]"), (ABOVE, "y [mm]"))):
        axes = figure.add_subplot(grid[i, 0])
        for row, time in enumerate(scene.time):
            draw_arm_side(axes, scene, row, plane, alpha=0.3 + 0.7 * time / scene.time[-1])
        for chosen, color in ((good, "#28666e"), (~good, "#c8553d")):
            axes.plot(*(1e3 * points[chosen][:, list(plane)].T), ".", color=color, markersize=4)
        axes.plot(*(1e3 * points[0][list(plane)]), "+", color="black", markersize=10)
        axes.set_aspect("equal")
        figures.style_axes(axes, "targets, and the reach for the first (+)", "x [mm]", label)
    axes = figure.add_subplot(grid[:, 1])
    axes.semilogy(
        first.time,
        1e3 * np.maximum(distance.T, 1e-6),
        color="#28666e",
        alpha=0.3 if len(points) > 9 else 1.0,
        linewidth=0.8,
    )
    axes.axhline(1e3 * _CLOSE, color="#c8553d", linewidth=1.0)
    figures.style_axes(axes, "distance of the tip from its target", "time [s]", "[mm]")
    figures.save(figure, path)
