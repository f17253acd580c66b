"""Motion of a wire-driven arm from shape to shape: the length of each wire over time.

Paper: Boccolato et al. 2009, section V, corrected. Three methods: (a) in steps of (alpha, theta), motor speeds constant
within each step; (b) at constant wire speed, for the cylinder a straight line in theta (cos alpha, sin alpha); (c) on
the same line with a smooth time law, all motors in step and within their limits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, pi

import jax
import jax.numpy as jnp
import numpy as np
from scipy.interpolate import CubicSpline, make_interp_spline

from hydrostat.actuation import Stepper, Tendons, shape_from_lengths
from hydrostat.bodies import Arm
from hydrostat.compiling import in_pieces, quick_jit
from hydrostat.control.profiles import Profile, scurve, trapezoid
from hydrostat.errors import InputError, choice

MOTIONS = ("stepped", "constant_speed", "smooth")
"""The names of the three kinds of move, as `three_motions` has them."""
_CHUNK = 512  # shapes per compiled call: one compilation for any number of them
_SAMPLES_PER_KNOT = 16
_MOST_KNOTS = 4096


@dataclass(frozen=True)
class WireMotion:
    """A movement of all wires over time."""

    duration: float
    """Duration [s]."""
    bends: Callable[[np.ndarray], np.ndarray]
    """The desired bend vectors at times, (m,) -> (m, n, 2) [rad]."""
    course: Callable[[np.ndarray, int], np.ndarray]
    """The wires' lengths at times, or a derivative of them, (m,) -> (m, w) [m]."""
    knots: int
    """Number of points of the path that the wires' course was made from."""

    def lengths(self, times: np.ndarray) -> np.ndarray:
        """The wires' lengths at times, (m,) -> (m, w) [m]."""
        return self.course(times, 0)


class WireModel:
    """The wires of an arm, for whole arrays of shapes."""

    def __init__(self, arm: Arm, tendons: Tendons):
        self.arm, self.tendons = arm, tendons

    def lengths(self, bends: np.ndarray) -> np.ndarray:
        """The wires' lengths for bend vectors, (m, n, 2) -> (m, w) [m]."""
        return in_pieces(lambda part: _lengths(self.arm, self.tendons, part), bends, _CHUNK)

    def shapes(self, lengths: np.ndarray):
        """The shapes of lengths, (m, w) -> a stack of m `WireShape`s."""
        return in_pieces(lambda part: _shapes(self.arm, self.tendons, part), lengths, _CHUNK)


@quick_jit
def _lengths(arm, tendons, bends):
    return jax.vmap(lambda bend: jnp.sum(tendons.along_arcs(bend, arm.segments.length), -1))(bends)


@quick_jit
def _shapes(arm, tendons, lengths):
    return jax.vmap(lambda lengths: shape_from_lengths(arm, tendons, lengths))(lengths)


def bend_vectors(alpha: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Bend vectors theta (cos alpha, sin alpha) [rad] from the paper's pairs of angles [rad]."""
    return np.stack([theta * np.cos(alpha), theta * np.sin(alpha)], -1)


def bends_of_angles(alpha_deg: Sequence[float], theta_deg: Sequence[float]) -> np.ndarray:
    """Bend vectors (n, 2) [rad] from azimuths and bends of the segments in degrees."""
    return bend_vectors(np.deg2rad(alpha_deg), np.deg2rad(theta_deg))


def rotation_vectors(bends: np.ndarray) -> np.ndarray:
    """The rotation vectors of arcs with bend vectors, (..., 2) -> (..., 3) [rad]."""
    return np.stack([-bends[..., 1], bends[..., 0], np.zeros(bends.shape[:-1])], -1)


def angle_pairs(bends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pairs (alpha, theta) of bend vectors; a straight segment has alpha = 0."""
    return np.arctan2(bends[..., 1], bends[..., 0]), np.hypot(bends[..., 0], bends[..., 1])


def stepped_motion(model: WireModel, start: np.ndarray, goal: np.ndarray, duration: float, step: float) -> WireMotion:
    """The paper's first method: equal steps in (alpha, theta), speeds constant within each (its equations 9 and 32 f.).

    The wires are right at the end of each step and off in between, because the path is curved in wire space.

    **Arguments:** `start`, `goal`: bend vectors (n, 2) [rad]; `duration` [s]; `step`: largest distance of the state
    (alpha, theta of all segments) covered by one step [rad].
    """
    (alpha0, theta0), (alpha1, theta1) = angle_pairs(start), angle_pairs(goal)
    # A straight end has no direction of its own: it takes the other's. Then the shorter way round.
    alpha0, alpha1 = np.where(theta0 == 0.0, alpha1, alpha0), np.where(theta1 == 0.0, alpha0, alpha1)
    turn = (alpha1 - alpha0 + pi) % (2.0 * pi) - pi
    distance = float(np.sqrt(np.sum(turn**2 + (theta1 - theta0) ** 2)))
    steps = max(1, ceil(distance / step))

    def bends(times):
        done = np.clip(times / duration, 0.0, 1.0)[:, None]
        return bend_vectors(alpha0 + done * turn, theta0 + done * (theta1 - theta0))

    marks = np.linspace(0.0, duration, steps + 1)
    return WireMotion(duration, bends, linear_course(marks, model.lengths(bends(marks))), steps + 1)


def constant_speed_motion(
    model: WireModel, start: np.ndarray, goal: np.ndarray, duration: float, steps: int = 1
) -> WireMotion:
    """The paper's second method: every wire at constant speed (its equations 34 to 45), in one step or several.

    On a cylinder with hard wires the bend vectors then go straight from start to goal, exactly.
    """

    def bends(times):
        return start + np.clip(times / duration, 0.0, 1.0)[:, None, None] * (goal - start)

    marks = np.linspace(0.0, duration, steps + 1)
    return WireMotion(duration, bends, linear_course(marks, model.lengths(bends(marks))), steps + 1)


def smooth_motion(
    model: WireModel,
    motor: Stepper,
    start: np.ndarray,
    goal: np.ndarray,
    duration: float | None = None,
    profile: str = "scurve",
    compression_bound: float = 1e-6,
    deceleration: float = 1.0,
    speed_changes: Sequence[tuple[float, float]] = (),
) -> WireMotion:
    """The smooth method: straight in bend vectors, with a smooth time law that respects every motor's limits.

    The wires follow a twice continuously differentiable spline through enough points of the path that the virtual
    compression, and every wire's deviation, stay below the bound all along; then one time law, common to all wires,
    is chosen so that no motor exceeds its speed, acceleration, jerk (S-curve) or pulse rate.

    **Arguments:** `duration` [s], or None for as fast as the motors allow; `profile`: scurve or trapezoid;
    `compression_bound` [m]; `deceleration`: the largest one over the largest acceleration, up to 1;
    `speed_changes`: on the fly, each a time [s] and the new speed over the cruising speed that was planned.
    """
    choice("profile", profile, ("scurve", "trapezoid"))
    if not 0.0 < deceleration <= 1.0:
        raise InputError(f"`deceleration` must be above 0 and at most 1, over the acceleration; got {deceleration:g}")

    def line(fractions):
        return start + fractions[:, None, None] * (goal - start)

    path, knots = spline_path(model, line, compression_bound)
    law, limits = _time_law(path, motor, profile, deceleration)
    if duration is not None:
        if duration < law.duration * (1.0 - 1e-9):
            raise InputError(
                f"the move must take at least {law.duration:.3f} s within the motors' limits; got {duration:g} s"
            )
        law = law.stretched(duration)

    cruising, fastest = float(np.max(law(law.phases.x, 1))), limits[0]
    for time, factor in speed_changes:
        if factor * cruising > fastest * (1.0 + 1e-9):
            most = fastest / cruising
            raise InputError(f"the motors allow at most {most:.3f} times the cruising speed; got {factor:g}")
        law = law.with_speed(time, factor * cruising, *limits[1:])
    return motion_along(line, path, law, knots)


def motion_along(bends: Callable[[np.ndarray], np.ndarray], path: CubicSpline, law: Profile, knots: int) -> WireMotion:
    """The motion along a path of the wires under a time law.

    **Arguments:** `bends`: bend vectors at fractions of the path, (m,) -> (m, n, 2) [rad]; `path`: the wires' lengths
    there [m]; `knots`: of the path.
    """

    def course(times, derivative):
        done, speed = law(times), law(times, 1)[:, None]
        if derivative == 0:
            return path(done)
        if derivative == 1:
            return path(done, 1) * speed
        if derivative == 2:
            return path(done, 2) * speed**2 + path(done, 1) * law(times, 2)[:, None]
        raise ValueError(f"`derivative` must be 0, 1 or 2; got {derivative}")

    return WireMotion(law.duration, lambda times: bends(law(times)), course, knots)


def spline_path(
    model: WireModel, bends: Callable[[np.ndarray], np.ndarray], bound: float, knots: int = 5
) -> tuple[CubicSpline, int]:
    """The wires' lengths over the fraction of a path of bend vectors, on as few knots as a bound [m] allows.

    Neither a wire's deviation nor the virtual compression exceeds the bound.
    """
    while True:
        marks = np.linspace(0.0, 1.0, knots)
        path = CubicSpline(marks, model.lengths(bends(marks)))
        between = np.linspace(0.0, 1.0, 4 * (knots - 1) + 1)
        exact = model.lengths(bends(between))
        lengths = path(between)
        near = np.max(np.abs(lengths - exact)) <= 0.5 * bound
        # Wires that pass through other segments can add up: check the compression itself as well.
        if near and np.max(np.abs(model.shapes(lengths).compression)) <= 0.9 * bound:
            return path, knots
        if knots >= _MOST_KNOTS:
            raise InputError(f"`compression_bound` of {bound:g} m cannot be kept with {knots} knots; allow more")
        knots = 2 * knots - 1


def _time_law(path: CubicSpline, motor: Stepper, profile: str, deceleration: float):
    """The fastest time law that keeps every wire within its motor's limits along the path, and its own limits:
    speed, acceleration, deceleration, jerk (None for a trapezoid)."""
    fractions = np.linspace(0.0, 1.0, _SAMPLES_PER_KNOT * (len(path.x) - 1) + 1)
    slope, bend, twist = (max(float(np.max(np.abs(path(fractions, order)))), 1e-12) for order in (1, 2, 3))
    # The wire's acceleration is slope s'' + bend s'^2, its jerk slope s''' + 3 bend s' s'' + twist s'^3. The speed of
    # the fraction takes at most a half of the acceleration and a third of the jerk, so that something is left.
    speed = min(motor.speed_limit / slope, (0.5 * motor.max_acceleration / bend) ** 0.5)
    if profile == "trapezoid":
        acceleration = (motor.max_acceleration - bend * speed**2) / slope
        slow = None if deceleration == 1.0 else deceleration * acceleration
        return trapezoid(speed, acceleration, slow), (speed, acceleration, slow, None)
    speed = min(speed, (motor.max_jerk / (3.0 * twist)) ** (1.0 / 3.0))
    acceleration = min(
        (motor.max_acceleration - bend * speed**2) / slope,
        motor.max_jerk / (9.0 * bend * speed),
    )
    jerk = (motor.max_jerk - 3.0 * bend * speed * acceleration - twist * speed**3) / slope
    slow = None if deceleration == 1.0 else deceleration * acceleration
    return scurve(speed, acceleration, jerk, slow), (speed, acceleration, slow, jerk)


def linear_course(marks: np.ndarray, lengths: np.ndarray) -> Callable[[np.ndarray, int], np.ndarray]:
    """The course of wires that are linear between marks in time [s], and at rest before and after."""
    spline = make_interp_spline(marks, lengths, k=1)

    def course(times, derivative):
        values = spline(np.clip(times, marks[0], marks[-1]), derivative)
        if derivative > 0:
            values[(times < marks[0]) | (times > marks[-1])] = 0.0
        return values

    return course


def three_motions(
    model: WireModel,
    motor: Stepper,
    start: np.ndarray,
    goal: np.ndarray,
    duration: float,
    step: float,
    profile: str = "scurve",
    compression_bound: float = 1e-6,
    speed_steps: int = 1,
    deceleration: float = 1.0,
    speed_changes: Sequence[tuple[float, float]] = (),
) -> dict[str, WireMotion]:
    """The same move in the three ways, by name; the arguments are those of the functions of each."""
    smooth = (profile, compression_bound, deceleration, speed_changes)
    return {
        "stepped": stepped_motion(model, start, goal, duration, step),
        "constant_speed": constant_speed_motion(model, start, goal, duration, speed_steps),
        "smooth": smooth_motion(model, motor, start, goal, duration, *smooth),
    }
