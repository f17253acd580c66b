"""arm-reach-target: the octopus arm reaches for points in a current, with muscles of wrong gains, by what it feels."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.control.feedback import Course, Servo, make_servo, shape_to_point, tabulated
from hydrostat.control.nerves import paced, steps_per_decision
from hydrostat.errors import InputError
from hydrostat.mechanics import kinematics
from hydrostat.results import Variable, figures
from hydrostat.scenarios.arm import Hydrostat, draw_arm_side, hydrostat, look, nerves, replay, simulate
from hydrostat.scenarios.base import Outcome, Run

_CLOSE = 5e-3  # m from a target that counts as there
_RATE = 16.0  # 1/s, at which errors fade: with 12 and 14 more of the far targets are lost
_STIFFEN = 0.1
_DECIDES = 5e-3  # s from one decision to the next, assumed


def targets(arm: Hydrostat, count: int, seed: int, near: float, far: float) -> np.ndarray:
    """Points drawn evenly from the half shell before an arm (count, 3) [m]; distances in arm lengths."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    base = arm.robot.arm.T_world_base
    ahead = directions @ np.asarray(base.rotation)[:, 2]
    directions = np.where(ahead[:, None] < 0.0, -directions, directions)
    distances = rng.uniform(near**3, far**3, count) ** (1.0 / 3.0)
    return np.asarray(base.position) + arm.length * distances[:, None] * directions


def reach_target(run: Run) -> Outcome:
    """One reach for each target, from the straight arm at rest."""
    settings = run.settings
    if settings.near >= settings.far:
        raise InputError(f"`near` must be below `far` = {settings.far:g}; got {settings.near:g}")
    if settings.move_seconds >= settings.seconds:
        raise InputError(
            f"`move_seconds` must be below `seconds` = {settings.seconds:g} s; got {settings.move_seconds:g}"
        )
    arm = hydrostat(run.robot, settings, settings.current_m_s)
    points = targets(arm, settings.targets, run.seed, settings.near, settings.far)
    dt = 1e-3 * settings.dt_ms
    every = steps_per_decision(_DECIDES, dt)
    period = every * dt
    begins = period * jnp.arange(max(round(settings.seconds / period), 1))
    rng = np.random.default_rng([run.seed, 1])
    shape = (arm.anatomy.count, arm.anatomy.columns)
    errors, kept = [], None
    for i, point in enumerate(points):
        # The first plan compiles; all others are part of the work.
        with run.timed() if i else run.compiling("planning"):
            servo = jax.block_until_ready(_planned(arm, jnp.asarray(point), settings.move_seconds, begins, period))
        gains = 1.0 + 0.01 * settings.muscle_noise_percent * rng.normal(size=shape)
        controller = nerves(arm, paced(servo, every), gains=np.maximum(gains, 0.0))
        rows = simulate(run, controller, settings.seconds, share=(i / len(points), (i + 1) / len(points)))
        tips = np.asarray(_tips(arm.robot.arm, jnp.asarray(rows.state.q)))
        errors.append(np.linalg.norm(tips - point, axis=-1))
        if i == 0:
            kept = (controller, rows)
    assert kept is not None
    distance = np.array(errors)
    seen = look(arm, *kept)
    # Near the target from then on until the end.
    last_far = np.array([np.flatnonzero(row > _CLOSE)[-1] if (row > _CLOSE).any() else -1 for row in distance])
    reached = last_far < distance.shape[1] - 1
    times = seen.times
    arrival = times[np.minimum(last_far + 1, len(times) - 1)]
    with run.recorder(_variables(), len(times), attributes={"scenario": "arm-reach-target"}) as recorder:
        recorder.append(times, tip=seen.positions[:, -1], distance=distance[0])
    metrics = {
        "success_rate": float(reached.mean()),
        "targets": len(points),
        "error_median_mm": 1e3 * float(np.median(distance[:, -1])),
        "error_95_percent_mm": 1e3 * float(np.quantile(distance[:, -1], 0.95)),
        "error_max_mm": 1e3 * float(distance[:, -1].max()),
        "arrival_median_s": float(np.median(arrival[reached])) if reached.any() else None,
        "activation_max": float(seen.activation.max()),
    }
    title = f"arm-reach-target: {run.robot.name}, {len(points)} targets"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, arm, seen, points, distance, times, title),
        replay=lambda path: replay(path, seen, title),
        sim_seconds=len(points) * float(times[-1]),
        dt=dt,
        steps=len(points) * (len(times) - 1),
    )


def _planned(arm: Hydrostat, point, seconds: float, begins, period: float) -> Servo:
    """The servo for a reach to a point, that knows still water and perfect muscles."""
    bent = _shape(arm.still.arm, point)
    straight = jnp.zeros_like(bent)
    none = jnp.zeros((2, arm.anatomy.count))
    course = Course(jnp.array([0.0, seconds]), jnp.stack([straight, bent]), none, jnp.zeros(2))
    return make_servo(arm.still, tabulated(arm.still, course, begins, period), rate=_RATE, stiffen=_STIFFEN)


_shape = jax.jit(shape_to_point)


@jax.jit
def _tips(arm, q):
    """The tips of a stack of shapes."""
    return jax.vmap(lambda q: kinematics.tip_pose(arm, q).position)(q)


def _variables() -> list[Variable]:
    return [
        Variable("tip", ("axis",), (3,), "m", "tip in the world, reaching for the first target"),
        Variable("distance", (), (), "m", "of the tip from the first target"),
    ]


def _draw(path: Path, arm: Hydrostat, seen, points, distance, times, title: str) -> None:
    """The first reach, the targets, and how far the tips were from them."""
    figure = figures.new_figure(13.0, 6.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 2)
    good = distance[:, -1] <= _CLOSE
    for i, (plane, label) in enumerate((((0, 2), "z [mm]"), ((0, 1), "y [mm]"))):
        axes = figure.add_subplot(grid[i, 0])
        for row in np.linspace(0, len(times) - 1, 6).round().astype(int):
            draw_arm_side(axes, seen, row, plane, alpha=0.3 + 0.7 * row / (len(times) - 1))
        for chosen, color in ((good, "#28666e"), (~good, "#c8553d")):
            axes.plot(*(1e3 * points[chosen][:, list(plane)].T), ".", color=color, markersize=4)
        axes.plot(*(1e3 * points[0][list(plane)]), "+", color="black", markersize=10)
        axes.set_aspect("equal")
        figures.style_axes(axes, "targets, and the reach for the first (+)", "x [mm]", label)
    axes = figure.add_subplot(grid[:, 1])
    axes.semilogy(times, 1e3 * np.maximum(distance.T, 1e-6), color="#28666e", alpha=0.3, linewidth=0.8)
    axes.axhline(1e3 * _CLOSE, color="#c8553d", linewidth=1.0)
    figures.style_axes(axes, "distance of the tip from its target", "time [s]", "[mm]")
    figures.save(figure, path)
