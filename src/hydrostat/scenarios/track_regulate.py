"""track-regulate: the regulator alone; the tip of a chain of platforms goes to one target from any shape."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from hydrostat import control
from hydrostat.errors import InputError
from hydrostat.lie import SE3, so3
from hydrostat.results import accuracy, panels, platform_figures
from hydrostat.robots import build_robot
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.recorded_tracking import pieces, recorded

_NAME = "track-regulate"
_FLOOR = 1e-9  # m: of distances in the figure
_ROUNDING = 1e-6  # of the first error: below it, rates of decay are rounding


def regulate(run: Run) -> Outcome:
    """Hold the goal of the tip still, and let the error decay."""
    settings, dt = run.settings, 1e-3 * run.settings.dt_ms
    arm = control.Platforms.of(build_robot(run.robot))
    target = np.array(settings.target)
    if target.shape != (3,):
        raise InputError(f"`target` must be x, y and z; got {len(settings.target)} numbers")
    start = _start(run, arm)
    by_paper = settings.controller == "paper"
    law = control.Law(arm.segments, arm.base) if by_paper else control.tracking_law(arm, favour="nothing")
    goals = control.hold_goal(arm, target, settings.seconds, dt)
    with run.compiling("compiling the controller"):
        goals.compile(law, settings.gain)
    with recorded(run, _NAME, arm, len(goals.times), dt, limited=not by_paper) as recorder:
        rows = goals.follow(law, settings.gain, start=start, on_rows=recorder.append, piece=pieces(dt=dt), keep=False)
    motion = recorder.summary.motion()
    errors = np.linalg.norm(motion.tip - target, axis=-1)
    ideal = errors[0] * np.exp(-settings.gain * goals.times)
    metrics = {**_errors(goals, motion.tip, errors, np.asarray(rows.T_world_tip.rotation), ideal), **motion.metrics}
    title = f"{_NAME}: {run.robot.name}, {settings.controller} controller, gain {settings.gain:g} 1/s"
    line = lambda t: motion.tip[0] + np.asarray(t)[:, None] * (target - motion.tip[0])  # noqa: E731

    def draw_errors(axes) -> None:
        curves = {"here": errors, "exp(- gain t)": ideal}
        words = "distance of the tip from its target"
        panels.draw_curves(axes, goals.times, curves, words, "[m]", log=True, floor=_FLOOR, styles=("-", ":"))

    marks = goals.times[-1:], target[None]
    notes = arm.out_of_reach(target[None]) + _late(errors, settings.reached_m, goals.times) + motion.notes
    return Outcome(
        metrics,
        figure=lambda path: platform_figures.draw_tip_tracking(path, motion, line, marks, title, draw_errors),
        replay=lambda path: platform_figures.replay_platforms(path, motion, title, line),
        sim_seconds=float(goals.times[-1]),
        dt=dt,
        steps=len(goals.times) - 1,
        notes=notes,
    )


def _start(run: Run, arm: control.Platforms) -> SE3:
    """The shape that the arm starts in: bent, twisted and stretched evenly, and then every segment at random."""
    settings, rng = run.settings, np.random.default_rng([run.seed, 4])
    angles = {name: np.deg2rad(getattr(settings, f"start_{name}_deg")) for name in ("bend", "azimuth", "twist")}
    even = control.even_motion(arm, np.ones(1), stretch=settings.start_stretch, **angles)[0]
    turns = np.deg2rad(settings.start_noise_deg) * rng.uniform(-1.0, 1.0, (arm.count, 3))
    T = SE3(so3.exp(jnp.asarray(turns)) @ even.rotation, even.position)
    found = control.outside_stroke(arm, np.asarray(arm.segments.leg_lengths(T))[None])
    if found is not None and settings.controller != "paper":
        _, segment, leg = found
        raise InputError(
            f"the start must be a shape within the strokes of the legs; leg {leg + 1} of segment {segment + 1} would "
            f"have to leave its own: bend, twist or stretch it less, or take controller=paper, which has no limits"
        )
    return T


def _errors(goals: control.TipGoals, tip: np.ndarray, errors, rotations: np.ndarray, ideal) -> dict[str, Any]:
    """The errors over time, by distance, and over six numbers as the paper's authors took them."""
    gone = errors[0] > 0.0 and errors[-1] > 0.0
    sound = errors > _ROUNDING * errors[0]
    slope = np.polyfit(goals.times[sound], np.log(errors[sound]), 1)[0] if gone and sound.sum() > 1 else None
    across = tip - goals.positions[0]
    unit = across[0] / max(errors[0], 1e-300)
    pose = np.concatenate([across, control.euler_angles(rotations)], -1)
    return {
        "error_start_m": float(errors[0]),
        "error_final_m": float(errors[-1]),
        "rmse_m": accuracy.rms(errors),
        "rmse_percent": 100.0 * accuracy.rms(errors) / goals.arm.length,
        "rmse_exponential_m": accuracy.rms(ideal),
        "pose_rms_mean": float(np.mean(np.sqrt(np.mean(pose**2, -1)))),
        "decay_rate_1_s": None if slope is None else -float(slope),
        "off_straight_max_m": float(np.linalg.norm(across - np.outer(across @ unit, unit), axis=-1).max()),
    }


def _late(errors: np.ndarray, reached: float, times: np.ndarray) -> list[str]:
    """A sentence about a target that is not reached."""
    if errors[-1] <= reached:
        return []
    return [f"the target is not reached in {times[-1]:.3g} s: the tip is still {errors[-1]:.3g} m away"]
