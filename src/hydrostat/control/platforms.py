"""A chain of platforms as its trackers see it: geometry, rest poses, reach, and the law of continuous tracking."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.actuation.legs import Legs, rest_poses
from hydrostat.control.resolved_rate import Law, Obstacle, Posture, clearances
from hydrostat.errors import InputError, choice, number
from hydrostat.lie import SE3
from hydrostat.measuring import best_of
from hydrostat.mechanics.robot import Robot
from hydrostat.segments import StewartSegment

_BISECTIONS = 80
_OBSTACLE_GAIN = 10.0  # 1/s: how fast the clearance beyond the margin may be used up
_POSTURES = {"nothing": (0, 0), "rest": (1, 1), "elongation": (1, 0), "bending": (0, 1)}


@dataclass(frozen=True)
class Platforms:
    """A chain of platforms, ready to be tracked with; `Platforms.of(robot)` makes it."""

    robot: Robot
    segments: StewartSegment
    legs: Legs
    """Limits of the legs."""
    rest: SE3
    """Relative poses of the plates at rest."""
    length: float
    """Length of the arm at rest [m]."""

    @staticmethod
    def of(robot: Robot) -> "Platforms":
        """The platforms of a robot with legs."""
        segments, legs = robot.arm.segments, robot.legs
        if not isinstance(segments, StewartSegment) or legs is None:
            raise InputError(f"tracking by legs needs a chain of platforms, such as stewart_arm; got {robot.name}")
        return Platforms(robot, segments, legs, rest_poses(segments), float(robot.arm.length))

    @property
    def count(self) -> int:
        """The number of segments."""
        return self.robot.arm.count

    @property
    def base(self) -> SE3:
        """The pose of the lowest plate in the world."""
        return self.robot.arm.T_world_base

    @property
    def tip(self) -> SE3:
        """The pose of the tip in the world, at rest."""
        return self.base @ SE3(jnp.eye(3), jnp.array([0.0, 0.0, self.length]))

    @property
    def reach(self) -> float:
        """The length of the straight arm with every leg as long as it can be [m]."""
        longest = np.asarray(self.legs.longest)
        low = np.asarray(self.segments.length)
        high = 10.0 * longest.max(-1) + low
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            T = SE3(self.rest.rotation, jnp.asarray(middle[:, None] * np.array([0.0, 0.0, 1.0])))
            fits = np.all(np.asarray(self.segments.leg_lengths(T)) <= longest, -1)
            low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        return float(low.sum())

    def out_of_reach(self, targets: np.ndarray) -> list[str]:
        """A sentence about the targets (m, 3) that are farther from the base than the arm reaches, if there are any."""
        reach, distance = self.reach, np.linalg.norm(targets - np.asarray(self.base.position), axis=-1)
        if (distance <= reach).all():
            return []
        numbers = ", ".join(str(i + 1) for i in np.flatnonzero(distance > reach))
        return [
            f"target {numbers} out of reach: up to {distance.max():.2f} m away, where the arm reaches {reach:.2f} m"
        ]


def tracking_law(
    arm: Platforms,
    *,
    favour: str = "rest",
    posture_gain: float = 1.0,
    obstacle: Sequence[float] = (),
    obstacle_margin: float = 0.1,
    plate_speed: float = 15.0,
    orient: bool = False,
) -> Law:
    """The law of continuous tracking of an arm within the limits of its legs.

    **Arguments:** `favour`: what the arm does with its redundancy: return to its rest shape (rest), elongation rather
    than bends (elongation), bending rather than stretch (bending), or nothing; `posture_gain`: how fast [1/s];
    `obstacle`: centre x, y, z and radius of a ball to keep clear of [m]; `obstacle_margin`: clearance to keep [m];
    `plate_speed`: fastest speed of a plate in the world [m/s]; `orient`: whether the orientation of the tip is
    controlled as well.
    """
    bend, length = _POSTURES[choice("favour", favour, tuple(_POSTURES))]
    posture = Posture(jnp.asarray(bend * posture_gain), jnp.asarray(length * posture_gain)) if bend or length else None
    ball = None
    if len(obstacle):
        if len(obstacle) != 4:
            raise InputError(f"`obstacle` must be x, y, z and its radius; got {len(obstacle)} numbers")
        *centre, radius = obstacle
        if radius <= 0.0:
            raise InputError(f"the radius of `obstacle` must be positive; got {radius:g}")
        numbers = (centre, radius, obstacle_margin, _OBSTACLE_GAIN)
        ball = Obstacle(*(jnp.asarray(value, float) for value in numbers))
    fastest = jnp.asarray(number("plate_speed", plate_speed, above=0.0), float)
    options = {"posture": posture, "obstacle": ball, "legs": arm.legs, "plate_speed": fastest, "orient": orient}
    law = Law(arm.segments, arm.base, **options)
    if ball is not None:
        clear = float(clearances(law, jax.tree.map(lambda y: y[None], arm.rest))[0])
        if clear < 0.0:
            raise InputError(f"`obstacle` must be clear of the arm at rest; it reaches {-clear:.3g} m into it")
    return law


def milliseconds_per_tick(function: Callable[[], object], ticks: int) -> float:
    """The cost of one control tick, from a function that makes some of them, the best of three times [ms]."""
    return 1e3 * best_of(3, lambda: jax.block_until_ready(function())) / ticks
