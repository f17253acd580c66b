"""The anatomy of a robot for controllers of muscular arms: the proportions of an arm, and the arms' places on the
body."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.actuation.section_muscles import AbstractSectionMuscles
from hydrostat.errors import InputError, shown
from hydrostat.mechanics.model import ArmModel
from hydrostat.mechanics.robot import Robot
from hydrostat.surroundings.suckers import Suckers
from hydrostat.system import System

STANDARD_LENGTH = 0.24
"""Length of the arm with which the numbers of gaits were found [m]; lengths scale with an arm's length over it."""
_RADIAL = 4  # the column of the radial muscles


class Anatomy(eqx.Module):
    """The proportions of a muscular arm."""

    place: Float[Array, " n"]
    """Where each segment begins, as a fraction of the arm."""
    width: Float[Array, " n"]
    """Each segment's share of the arm's rest length."""
    grade: Float[Array, " n"]
    """Each segment's radius over that of the base."""
    columns: int = eqx.field(static=True)
    """Number of muscles of a segment."""

    @staticmethod
    def of(robot: Any) -> "Anatomy":
        """The anatomy of a robot's arm, of an arm model or of an arm's muscles."""
        muscles = robot.muscles if isinstance(robot, Robot | ArmModel) else robot
        if not isinstance(muscles, AbstractSectionMuscles):
            name = robot.name if isinstance(robot, Robot) else "this arm"
            raise InputError(f"commands and gaits are for arms with muscles; {name} has none")
        width = muscles.rest / jnp.sum(muscles.rest)
        columns = 5 + (muscles.lower.shape[1] - 4) // 2
        return Anatomy(jnp.cumsum(width) - width, width, muscles.radius / muscles.radius[0], columns)

    @property
    def count(self) -> int:
        """The number of segments."""
        return self.place.shape[0]

    @property
    def has_oblique(self) -> bool:
        """Whether segments have oblique muscles, which twist them."""
        return self.columns > _RADIAL + 1

    def inside(self, first, last) -> Float[Array, " n"]:
        """The share of each segment that lies between two fractions of the arm."""
        covered = jnp.minimum(self.place + self.width, last) - jnp.maximum(self.place, first)
        return jnp.clip(covered / self.width, 0.0, 1.0)

    def within(self, first, last) -> Float[Array, " n"]:
        """The indicator of segments that lie mostly between two fractions of the arm: 1 there, else 0."""
        return jnp.where(self.inside(first, last) > 0.5, 1.0, 0.0)

    def muscles(self, longitudinal, radial, oblique=None) -> Float[Array, "n m"]:
        """Activations from those of the longitudinal (n, 4), the radial (n,) and the oblique muscles (n, 2)."""
        parts = [longitudinal, radial[:, None]]
        if self.has_oblique:
            parts.append(jnp.zeros((self.count, 2)) if oblique is None else oblique)
        return jnp.concatenate(parts, -1)

    def relaxed(self) -> Float[Array, "n m"]:
        """The activation of relaxed muscles: zero everywhere."""
        return jnp.zeros((self.count, self.columns))


class BodyPlan(eqx.Module):
    """The plan of a body with equal muscular arms."""

    anatomy: Anatomy
    """Anatomy of each arm."""
    yaws: Float[Array, " a"]
    """Azimuths of the arms on the body [rad]."""
    arm_length: Float[Array, ""]
    """Length of an arm [m]."""
    ring: Float[Array, ""]
    """Distance of the arms' bases from the body's axis [m]."""
    suckers: bool = eqx.field(static=True)
    """Whether the arms have suckers."""

    @staticmethod
    def of(system: System) -> "BodyPlan":
        """The body plan of a system's robot."""
        robot = system.robot
        if not robot.equal or robot.one.muscles is None:
            raise InputError(f"a gait needs equal muscular arms on a body, as an octopus has; {robot.name} has not")
        axes = robot.mounts.rotation[:, :, 2]  # type: ignore[union-attr]
        at = robot.mounts.position[0]  # type: ignore[union-attr]
        return BodyPlan(
            anatomy=Anatomy.of(robot),
            yaws=jnp.arctan2(axes[:, 1], axes[:, 0]),
            arm_length=robot.arm.length,
            ring=jnp.sqrt(at[0] ** 2 + at[1] ** 2),
            suckers=system.part(Suckers) is not None,
        )

    @property
    def count(self) -> int:
        """The number of arms."""
        return self.yaws.shape[0]

    @property
    def scale(self) -> Float[Array, ""]:
        """The arms' length over that of the octopus with which gaits were tried."""
        return self.arm_length / STANDARD_LENGTH

    def working(self, suckers: bool, failed) -> Float[Array, " a"]:
        """The indicator of arms whose suckers hold: 0 for the failed ones, which are named by their numbers from 1,
        else 1."""
        numbers = {int(number) for number in failed}
        if any(not 1 <= number <= self.count for number in numbers):
            raise InputError(f"`failed_suckers` must name some of the arms 1 to {self.count}; got {shown(failed)}")
        return jnp.array([0.0 if not suckers or i + 1 in numbers else 1.0 for i in range(self.count)])

    def for_suckers(self, values: Float[Array, "a n"]) -> Float[Array, "a n"] | None:
        """The command of suckers; None for a robot without suckers."""
        return values if self.suckers else None
