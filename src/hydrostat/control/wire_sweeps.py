"""Sweeps of a wire-driven arm: its segments keep their bends while the azimuths turn at a constant rate.

Paper: Boccolato et al. 2009, equation 31 and Fig. 10. The wires of a cylinder are sinusoids, L - r theta cos(k_n -
alpha), so that their speeds change all the time. Wires at constant speed in several steps, the paper's section V.E,
take chords of that circle: on a cylinder they compress nothing, but the bend falls by theta (1 - cos h) in the middle
of a step that turns by 2 h.
"""

import numpy as np

from hydrostat.actuation import Stepper
from hydrostat.control.profiles import Profile
from hydrostat.control.wire_motion import (
    WireModel,
    WireMotion,
    angle_pairs,
    bend_vectors,
    linear_course,
    motion_along,
    spline_path,
)
from hydrostat.errors import InputError

_LEAST_KNOTS_PER_TURN = 64
_SAMPLES = 4096


def sweep_motion(
    model: WireModel,
    alpha: np.ndarray,
    theta: np.ndarray,
    turn: np.ndarray,
    duration: float,
    steps: int | None = None,
    *,
    ramps: tuple[float, float] = (0.0, 0.0),
    bound: float = 1e-9,
) -> WireMotion:
    """The motion in which azimuths turn at a constant rate while the bends stay; whole turns are turned, not left out.

    **Arguments:** `alpha`, `theta`: azimuth and bend of each segment at the start (n,) [rad]; `turn`: by which each
    azimuth changes (n,) [rad]; `duration` [s]; `steps`: number of equal steps of constant wire speed, or None for
    speeds that change all the time; `ramps`: times at the beginning and at the end in which the rate rises and falls
    [s], for speeds that change all the time; `bound`: on the deviation of a wire from its exact length [m].
    """
    if not np.any((theta != 0.0) & (turn != 0.0)):
        raise InputError("a sweep needs a segment that is bent and turns; got none whose bend and turn are not zero")

    def bends(fractions):
        return bend_vectors(alpha + fractions[:, None] * turn, np.broadcast_to(theta, (len(fractions), len(theta))))

    if steps is not None:
        if ramps != (0.0, 0.0):
            raise InputError(f"wires at constant speed have no ramps; got ramps of {ramps[0]:g} s and {ramps[1]:g} s")
        marks = np.linspace(0.0, duration, steps + 1)
        lengths = linear_course(marks, model.lengths(bends(marks / duration)))
        return WireMotion(duration, lambda times: bends(np.clip(times / duration, 0.0, 1.0)), lengths, steps + 1)
    turns = max(1.0, float(np.max(np.abs(turn))) / (2.0 * np.pi))
    path, knots = spline_path(model, bends, bound, round(_LEAST_KNOTS_PER_TURN * turns) + 1)
    return motion_along(bends, path, Profile.constant_rate(duration, *ramps), knots)


def check_wire_speed(motion: WireMotion, motor: Stepper) -> None:
    """Refuse a motion that is too fast for the motors, and say how long it must take."""
    fastest = float(np.max(np.abs(motion.course(np.linspace(0.0, motion.duration, _SAMPLES), 1))))
    if fastest > motor.speed_limit:
        least = motion.duration * fastest / motor.speed_limit
        raise InputError(
            f"the sweep must take at least {least:.3f} s within the motors' {1e3 * motor.speed_limit:g} mm/s; got "
            f"{motion.duration:g} s"
        )


def sweep_errors(model: WireModel, motion: WireMotion) -> tuple[np.ndarray, np.ndarray]:
    """How far the wires' shapes are from the sweep: largest loss of bend, and largest error of azimuth (n,) [rad]."""
    times = np.linspace(0.0, motion.duration, max(_SAMPLES, 32 * (motion.knots - 1) + 1))
    alpha, theta = angle_pairs(motion.bends(times))
    reached_alpha, reached_theta = angle_pairs(model.shapes(motion.lengths(times)).bend)
    off = (reached_alpha - alpha + np.pi) % (2.0 * np.pi) - np.pi
    # A straight segment has no azimuth.
    return np.max(theta - reached_theta, 0), np.max(np.where(theta > 0.0, np.abs(off), 0.0), 0)


def speed_jump(motion: WireMotion) -> float:
    """The largest jump of a wire's speed, at the beginning, between steps of constant speed, or at the end [m/s]."""
    marks = np.linspace(0.0, motion.duration, motion.knots)
    apart = 1e-9 * motion.duration
    inner = motion.course(marks[1:-1] + apart, 1) - motion.course(marks[1:-1] - apart, 1)
    ends = motion.course(np.array([apart, motion.duration - apart]), 1)
    return float(np.max(np.abs(np.concatenate([inner, ends]))))
