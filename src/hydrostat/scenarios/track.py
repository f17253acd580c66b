"""track-line and its siblings: the tip of a chain of platforms follows a path, by the paper's controller or by ours."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.control.agents import MESSAGES_PER_TICK, NUMBERS_DOWN, NUMBERS_UP
from hydrostat.control.paths import PAPER_PATHS, Curve, curve_through, distances_to, read_points
from hydrostat.control.resolved_rate import Law, Obstacle, clearance, plates
from hydrostat.control.tracking import Tracked, follow
from hydrostat.errors import DivergedError, InputError
from hydrostat.lie import SE3, so3
from hydrostat.results import figures
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.track_goals import Goals, plan_goals
from hydrostat.scenarios.track_switching import run_switching
from hydrostat.scenarios.tracking import (
    Platforms,
    check_gain,
    draw_tracking,
    examine,
    law_of,
    platforms,
    reach_of,
    record,
    replay_tracking,
    rms,
    step_ms,
)


def track(run: Run, name: str, curve: Curve) -> Outcome:
    """Follow a path with the tip."""
    arm = platforms(run.robot)
    settings = run.settings
    targets = curve(np.linspace(0.0, 1.0, settings.targets))
    notes = _reach_notes(arm, targets)
    how = {"paper": _by_switching, "continuous": _continuously, "decentralised": _by_agents}[settings.controller]
    return how(run, name, arm, curve, targets, notes)


def _reach_notes(arm: Platforms, targets: np.ndarray) -> list[str]:
    """Which targets no arm with legs like these can reach."""
    reach = reach_of(arm)
    away = np.linalg.norm(targets - np.asarray(arm.base.position), axis=-1)
    if (away <= reach).all():
        return []
    numbers = ", ".join(str(i + 1) for i in np.flatnonzero(away > reach))
    return [f"target {numbers} out of reach: up to {away.max():.2f} m away, where the arm reaches {reach:.2f} m"]


def _by_switching(run: Run, name: str, arm: Platforms, curve: Curve, targets: np.ndarray, notes: list[str]) -> Outcome:
    """The paper's controller."""
    if run.settings.obstacle or run.settings.orientation != "free":
        raise InputError("the paper's controller has no `obstacle` and no `orientation`; take controller=continuous")
    done = run_switching(run, arm, curve, targets)
    seen, times = done.seen, done.times
    metrics = {**done.metrics, "control_step_ms": done.step_ms}
    record(run, f"track-{name}", seen, times, done.headed_for)
    title = f"track-{name}: {run.robot.name}, the paper's controller"

    def below(axes):
        away = distances_to(curve, seen.positions[:, -1])
        axes.semilogy(times, np.maximum(away, 1e-6), color="#5b5f97", linewidth=1.2)
        figures.style_axes(axes, "distance of the tip from the path", "time [s]", "[m]")

    return Outcome(
        metrics,
        figure=lambda path: draw_tracking(path, arm, seen, times, curve, done.arrivals, title, below),
        replay=lambda path: replay_tracking(path, seen, times, curve, title),
        sim_seconds=float(times[-1]),
        dt=1e-3 * run.settings.dt_ms,
        steps=len(times) - 1,
        notes=notes + done.notes + seen.notes,
    )


def _run_follow(law: Law, arm: Platforms, goals: Goals, settings, decentralised: bool = False) -> Tracked:
    """The arm that follows its goals, one row per tick and one for the end."""
    _, rows = follow(
        law,
        arm.rest,
        goals.poses,
        jnp.asarray(goals.forward),
        settings.tracking_gain,
        1e-3 * settings.dt_ms,
        decentralised,
    )
    return rows


def _goals(run: Run, arm: Platforms, curve: Curve) -> Goals:
    settings = run.settings
    check_gain("tracking_gain", settings.tracking_gain, 1e-3 * settings.dt_ms, 1.0)
    return plan_goals(
        arm, curve, settings.approach_seconds, settings.seconds, 1e-3 * settings.dt_ms, settings.orientation
    )


def _continuously(run: Run, name: str, arm: Platforms, curve: Curve, targets: np.ndarray, notes: list[str]) -> Outcome:
    """Continuous tracking from one place."""
    law, goals = law_of(arm, run.settings), _goals(run, arm, curve)
    with run.compiling("compiling the controller"):
        jax.block_until_ready(_run_follow(law, arm, goals, run.settings))
    with run.timed():
        rows = jax.block_until_ready(_run_follow(law, arm, goals, run.settings))
    return _followed(run, name, arm, law, curve, targets, goals, rows, notes, {})


def _by_agents(run: Run, name: str, arm: Platforms, curve: Curve, targets: np.ndarray, notes: list[str]) -> Outcome:
    """The same by agents, compared with the centre, and once more with a segment that does not move."""
    settings = run.settings
    if settings.obstacle:
        raise InputError("`obstacle` needs a centre: agents know their neighbours alone; take controller=continuous")
    if settings.frozen_segment > arm.robot.arm.count:
        raise InputError(
            f"`frozen_segment` must be at most {arm.robot.arm.count}, the number of segments; "
            f"got {settings.frozen_segment}"
        )
    number = settings.frozen_segment or (arm.robot.arm.count + 1) // 2
    law, goals = law_of(arm, settings), _goals(run, arm, curve)
    frozen = eqx.tree_at(
        lambda law: law.frozen,
        law,
        jnp.arange(arm.robot.arm.count) == number - 1,
        is_leaf=lambda x: x is None,
    )
    with run.compiling("compiling the controllers"):
        for each, alone in ((law, True), (law, False), (frozen, True)):
            jax.block_until_ready(_run_follow(each, arm, goals, settings, alone))
    with run.timed():
        rows = jax.block_until_ready(_run_follow(law, arm, goals, settings, True))
    centre = _run_follow(law, arm, goals, settings)
    stuck = _run_follow(frozen, arm, goals, settings, True)
    if not np.all(np.isfinite(np.asarray(stuck.T.position))):
        raise DivergedError(f"the tracking diverged with segment {number} frozen")
    apart = [
        np.max(np.abs(np.asarray(a) - np.asarray(b)))
        for a, b in zip(*map(jax.tree.leaves, (rows, centre)), strict=True)
    ]
    more = {
        "difference_from_central": float(max(apart)),
        "messages_per_segment_per_step": MESSAGES_PER_TICK,
        "message_up_numbers": NUMBERS_UP,
        "message_down_numbers": NUMBERS_DOWN,
        "frozen_segment": number,
        "frozen_segment_rmse_percent": _rmse_percent(arm, stuck, goals),
    }
    return _followed(run, name, arm, law, curve, targets, goals, rows, notes, more)


def _rmse_percent(arm: Platforms, rows: Tracked, goals: Goals) -> float:
    """Root mean square distance from the goal along the path, over the arm's rest length [%]."""
    return 100.0 * rms(_misses(rows, goals)[goals.first :]) / arm.length


def _misses(rows: Tracked, goals: Goals) -> np.ndarray:
    return np.linalg.norm(np.asarray(rows.T_world_tip.position) - np.asarray(goals.poses.position), axis=-1)


def _followed(run: Run, name, arm: Platforms, law: Law, curve, targets, goals: Goals, rows: Tracked, notes, more):
    """The outcome of continuous tracking."""
    settings, dt = run.settings, 1e-3 * run.settings.dt_ms
    decentralised = settings.controller == "decentralised"
    seen = examine(arm, rows.T, np.asarray(rows.twist), goals.times, limits=True, dt=dt)
    miss = _misses(rows, goals)
    near = np.array([np.min(np.linalg.norm(seen.positions[goals.first :, -1] - target, axis=-1)) for target in targets])
    legs = run.robot.legs
    assert legs is not None
    metrics = {
        "tracking_rmse_percent": _rmse_percent(arm, rows, goals),
        "tracking_max_mm": 1e3 * float(miss[goals.first :].max()),
        "targets_reached": int(np.sum(near <= settings.gamma_m)),
        "crosstrack_rms_m": rms(distances_to(curve, seen.positions[goals.first :, -1])),
        "approach_s": goals.first * dt,
        "duration_s": float(goals.times[-1]),
        "stroke_limit_m": legs.max_stroke,
        "rate_limit_m_s": legs.max_rate,
        **seen.metrics,
        **more,
        "control_step_ms": step_ms(*_timed(law, arm, goals, settings, decentralised)),
    }
    if law.orient:
        R = np.asarray(rows.T_world_tip.rotation)[goals.first :]
        turn = so3.log(jnp.asarray(np.einsum("tij,tkj->tik", np.asarray(goals.poses.rotation)[goals.first :], R)))
        metrics["orientation_rmse_deg"] = float(np.rad2deg(rms(np.linalg.norm(np.asarray(turn), axis=-1))))
    if law.obstacle is not None:
        metrics["obstacle_clearance_min_m"] = float(np.min(_clearances(law, law.obstacle, rows.T)))
        if metrics["obstacle_clearance_min_m"] < 0.0:
            notes.append("the arm runs into the obstacle: the tip's path leaves it no way round")
    if miss[goals.first :].max() > 0.01 * arm.length:
        worst = int(np.argmax(miss[goals.first :])) + goals.first
        notes.append(
            f"the tip falls behind its path by up to {miss[worst]:.3g} m, at {goals.times[worst]:.3g} s: legs are at "
            f"the ends of their strokes or at their fastest"
        )
    record(run, f"track-{name}", seen, goals.times, np.asarray(goals.poses.position))
    title = f"track-{name}: {run.robot.name}, {settings.controller}"
    dots = slice(goals.first, None, max(1, (len(miss) - goals.first) // 20))
    marks = goals.times[dots], np.asarray(goals.poses.position)[dots]

    def below(axes):
        axes.semilogy(goals.times, np.maximum(1e3 * miss, 1e-6), color="#5b5f97", linewidth=1.2)
        axes.axvline(goals.first * dt, color="#888888", linewidth=0.8, linestyle=":")
        figures.style_axes(axes, "distance of the tip from where it should be (dotted: the path begins)",
                           "time [s]", "[mm]")  # fmt: skip

    return Outcome(
        metrics,
        figure=lambda path: draw_tracking(path, arm, seen, goals.times, curve, marks, title, below),
        replay=lambda path: replay_tracking(path, seen, goals.times, curve, title, settings.obstacle),
        sim_seconds=float(goals.times[-1]),
        dt=dt,
        steps=len(goals.times) - 1,
        notes=notes + seen.notes,
    )


@eqx.filter_jit
def _clearances(law: Law, obstacle: Obstacle, T: SE3):
    """The least distance between arm and obstacle at every row [m]."""
    return jax.lax.map(lambda T: jnp.min(clearance(obstacle, law.segments, T, plates(law, T)).distance), T)


def _timed(law: Law, arm: Platforms, goals: Goals, settings, decentralised: bool):
    """Something to measure the cost of a tick by, and how many ticks it has."""
    return lambda: _run_follow(law, arm, goals, settings, decentralised), len(goals.times)


def line(run: Run) -> Outcome:
    """Equation 26."""
    return track(run, "line", PAPER_PATHS["line"])


def ellipse(run: Run) -> Outcome:
    """Equation 27."""
    return track(run, "ellipse", PAPER_PATHS["ellipse"])


def sinusoid(run: Run) -> Outcome:
    """Equation 28."""
    return track(run, "sinusoid", PAPER_PATHS["sinusoid"])


def reach(run: Run) -> Outcome:
    """Equation 29."""
    return track(run, "reach", PAPER_PATHS["reach"])


def fetch(run: Run) -> Outcome:
    """Equation 30."""
    return track(run, "fetch", PAPER_PATHS["fetch"])


def from_file(run: Run) -> Outcome:
    """The user's own path."""
    if not run.settings.path:
        raise InputError("`path` must name a CSV file with x, y, z [m] along the path; got none")
    return track(run, "file", curve_through(read_points(run.settings.path, least=2)))
