"""arm-reach-target: the octopus arm reaches for points in a current, with muscles of wrong gains, by proprioception."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.control import KnownArm, distance_left, targets_before
from hydrostat.control.commands import Anatomy, ReachTo
from hydrostat.errors import InputError
from hydrostat.results import TrajectoryRecorder, drawing, figures, measures, panels
from hydrostat.scenarios.arm import arm_name, arm_system, known_arm
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.own_targets import arm_targets
from hydrostat.simulation import Simulation

_CLOSE = 5e-3  # m from a target that counts as there
_DECIDES = 5e-3  # s from one decision to the next, assumed
_BELIEVED = np.deg2rad(0.05)  # noise of the shape that is left after it has been averaged


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
    arm = system.robot.arm
    drawn = () if settings.target_mm else (arm, settings.targets, run.seed, settings.near, settings.far)
    points = targets_before(*drawn) if drawn else _own(run, known)
    errors, first = [], None
    runs = zip(points, _gains(run, system, len(points)), _sensors(run, len(points)), strict=True)
    for i, (point, gains, sensors) in enumerate(runs):
        options = {"smoothing": _smoothing(settings), "delay": settings.proprioception_delay_s}
        command = ReachTo(
            point, settings.move_seconds, period=_DECIDES, sees_tip=settings.sees_tip, known=known, **options
        )
        own = hs.System(system.robot, system.surroundings, muscle_gains=gains, fatigue=system.muscles.fatigue)
        # The first plan compiles; all others are part of the work.
        with run.timed() if i else run.compiling("planning"):
            simulation = Simulation(own, command, 1e-3 * settings.dt_ms, sensors=sensors)
        rows = _reached(run, simulation, settings.seconds, i, len(points))
        errors.append(np.linalg.norm(np.asarray(rows.tip) - point, axis=-1))
        first = rows if first is None else first
    assert first is not None
    distance, times = np.array(errors), np.asarray(first.time)
    arrived = [measures.stays_from(row <= _CLOSE) for row in distance]
    arrival = [times[row] for row in arrived if row is not None]
    metrics = {
        "success_rate": len(arrival) / len(points),
        "targets": len(points),
        "error_median_mm": 1e3 * float(np.median(distance[:, -1])),
        "error_95_percent_mm": 1e3 * float(np.quantile(distance[:, -1], 0.95)),
        "error_max_mm": 1e3 * float(distance[:, -1].max()),
        "arrival_median_s": float(np.median(arrival)) if arrival else None,
        "activation_max": float(np.max(first.activation)),
    }
    title = f"arm-reach-target: {arm_name(run)}, {len(points)} target{'s' if len(points) > 1 else ''}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, first, points, distance, title),
        replay=lambda path: first.replay(path, title),
        sim_seconds=len(points) * float(times[-1]),
        dt=1e-3 * settings.dt_ms,
        steps=len(points) * (len(times) - 1),
    )


def _own(run: Run, known: KnownArm) -> np.ndarray:
    """The user's targets (count, 3) [m]; one to which no shape of the arm is found is refused."""
    points = arm_targets(run.robot, run.settings)
    for number, point in enumerate(points, 1):
        with run.compiling("planning"):
            away = distance_left(known.arm.arm, point)
        if not away <= _CLOSE:
            raise InputError(
                f"target {number} of `target_mm` is out of reach: no shape of {run.robot.name} was found whose tip is "
                f"within {1e3 * _CLOSE:g} mm of it"
            )
    return points


def _gains(run: Run, system: hs.System, count: int) -> np.ndarray:
    """The gains of all muscles, others for each target."""
    anatomy = Anatomy.of(system.robot)
    rng = np.random.default_rng([run.seed, 1])
    noise = rng.normal(size=(count, anatomy.count, anatomy.columns))
    return np.maximum(1.0 + 0.01 * run.settings.muscle_noise_percent * noise, 0.0)


def _smoothing(settings) -> float:
    """The time over which the sense of shape is averaged [s]; noise becomes smaller by sqrt(sample time / 2 T)."""
    sampled = max(_DECIDES, 1.0 / settings.proprioception_rate_hz if settings.proprioception_rate_hz else 0.0)
    averaged = 0.5 * sampled * (np.deg2rad(settings.proprioception_noise_deg) / _BELIEVED) ** 2
    return min(averaged, settings.seconds)


def _sensors(run: Run, count: int) -> list[hs.Sensors]:
    """The senses of shape and of the tip, with other random numbers for each target."""
    settings = run.settings
    shape = hs.Sensor(
        noise=np.deg2rad(settings.proprioception_noise_deg),
        bias=np.deg2rad(settings.proprioception_bias_deg),
        rate=settings.proprioception_rate_hz or None,
        delay=settings.proprioception_delay_s,
    )
    tip = hs.Sensor(noise=1e-3 * settings.vision_noise_mm, rate=settings.vision_rate_hz or None)
    seeds = np.random.default_rng([run.seed, 2]).integers(2**31, size=count)
    return [hs.Sensors(proprioception=shape, tip=tip, seed=jnp.asarray(seed)) for seed in seeds]


def _reached(run: Run, simulation: Simulation, seconds: float, index: int, count: int) -> hs.Trajectory:
    """The motion towards one target; the first one compiles for all, and is recorded."""

    def motion(on_rows=None) -> hs.Trajectory:
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


def _draw(path: Path, first: hs.Trajectory, points: np.ndarray, distance: np.ndarray, title: str) -> None:
    """The first reach, the targets, and the distances of the tips from them."""
    figure, grid = panels.new_panels(title, 2, 2, (13.0, 6.0))
    good = distance[:, -1] <= _CLOSE
    for i, plane in enumerate((drawing.FRONT, drawing.ABOVE)):
        axes = figure.add_subplot(grid[i, 0])
        panels.draw_snapshots(axes, first, 6, plane, "targets, and the reach for the first (+)")
        for chosen, color in ((good, "#28666e"), (~good, "#c8553d")):
            panels.mark_points(axes, points[chosen], plane, ".", color=color, markersize=4)
        panels.mark_points(axes, points[:1], plane, "+", color="black", markersize=10)
    axes = figure.add_subplot(grid[:, 1])
    curves, options = {"": 1e3 * distance.T}, {"log": True, "floor": 1e-3, "width": 0.8}
    panels.draw_curves(axes, first.time, curves, "distance of the tip from its target", "[mm]", **options)
    panels.draw_level(axes, 1e3 * _CLOSE)
    figures.save(figure, path)
