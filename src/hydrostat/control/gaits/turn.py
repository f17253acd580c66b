"""An octopus that turns on the spot: all arms lie down in bends to one side, take hold, and bend the other way.

Pushes along the arms cancel, and what is left turns the body. The bends of an arm nearly cancel as well: the end of one
that bends to one side alone swings round, and drags the body back. After its last stroke the body springs back by an
angle that hardly depends on how strong that was, unless it was weak.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from hydrostat import errors
from hydrostat.control.anatomy import Anatomy, BodyPlan
from hydrostat.control.base import Controller, Recipe
from hydrostat.control.gaits.base import (
    Stroke,
    downwards,
    heading_of,
    mirrored,
    sideways,
    stiffened,
    within_half_turn,
)
from hydrostat.sensing import Observation
from hydrostat.system import Control, System

NEAR = float(np.deg2rad(2.0))
"""Angle that may be missing from a turn [rad]."""
_EFFORT = 0.6  # power of its angle by which the activation of a stroke falls: measured, 0.6 of it turns 0.39 as far
_SPRINGS = 0.45  # share from which the body springs back by the full angle


class TurnStroke(Stroke):
    """A stroke of all arms that turns the body to the left."""

    angle: Float[Array, ""]
    """Angle by which each of many strokes at full shares turns the body, found by trying [rad]."""
    recoil: Float[Array, ""]
    """Angle by which the body springs back after the last stroke, unless that was weak [rad]."""

    def springs_back(self, share: Float[Array, ""]) -> Float[Array, ""]:
        """The angle by which the body springs back after a stroke with a share, which may be negative [rad]."""
        return self.recoil * jnp.clip(share / _SPRINGS, -1.0, 1.0)


def bend_one_way_and_the_other(anatomy: Anatomy) -> TurnStroke:
    """The stroke of a turn, all arms alike: three bends as in the paper's crawling stroke, pressed to the ground, and
    weaker ones to the other side while suckers hold.

    The numbers were found by an evolution strategy that asked for equal turns of strokes one after another, at full
    shares and at weaker ones, in water with added mass. Beyond these activations a stroke turns hardly farther.
    """
    stiffen, press, first, last = 0.08, 0.045, 0.7, 0.825
    gather = sideways(anatomy, _bends(anatomy, 0.09, -0.075, 0.1)) + downwards(
        anatomy, press * anatomy.inside(0.0, 0.4)
    )
    push = sideways(anatomy, _bends(anatomy, -0.045, -0.033, 0.0)) + stiffened(anatomy, stiffen, last)
    numbers = (0.87, 0.66, 0.0, 0.47, 0.0, np.deg2rad(34.6), np.deg2rad(16.5))
    return TurnStroke(gather[None], push[None], anatomy.within(first, last), *(jnp.asarray(x) for x in numbers))


def _bends(anatomy: Anatomy, near: float, middle: float, far: float) -> Float[Array, " n"]:
    """The activations of three bends along an arm, positive to the left; graded."""
    parts = ((near, 0.05, 0.2), (middle, 0.2, 0.5), (far, 0.5, 0.65))
    return anatomy.grade * sum(level * anatomy.inside(*part) for level, *part in parts)


class TurnMemory(NamedTuple):
    """The memory of a turn."""

    share: Float[Array, ""]
    """Share of the present stroke; negative to turn to the right."""
    began: Float[Array, ""]
    """Time at which that stroke began [s]."""
    turned: Float[Array, ""]
    """Angle turned since the start, when the stroke began; in open loop the expected one at the end of the stroke
    [rad]."""
    faced: Float[Array, ""]
    """Yaw at the last observation [rad]."""
    strokes: Int[Array, ""]
    """Number of strokes that were begun."""


class TurnController(Controller):
    """A controller that turns the body by an angle, and keeps it turned.

    In closed loop it observes its yaw before every stroke. In open loop it assumes that every stroke has turned it by
    the expected angle.
    """

    stroke: TurnStroke
    angle: Float[Array, ""]
    """Angle to turn by, positive to the left [rad]."""
    working: Float[Array, " a"]
    """Indicator of arms whose suckers work: 1 for those, 0 for those whose suckers do not hold."""
    near: Float[Array, ""]
    """Tolerance of the angle [rad]."""
    closed_loop: Bool[Array, ""] = eqx.field(converter=jnp.asarray)
    """Whether the loop is closed; an array, so that closed and open loop are one function to compile."""
    suckers: bool = eqx.field(static=True, default=True)
    """Whether the robot has suckers."""

    def init(self, observation: Observation) -> TurnMemory:
        """The memory at the start: the first stroke is due."""
        zero = jnp.zeros(())
        faced = heading_of(observation.pose)
        return TurnMemory(zero, zero - self.stroke.duration, zero, faced, jnp.zeros((), int))

    def __call__(self, time, observation: Observation, memory: TurnMemory):
        """The control of the present moment of the stroke, and at its end the strength of the next one."""
        due = time - memory.began >= self.stroke.duration - 0.5 * observation.period
        new = self._next(time, observation, memory)
        memory = jax.tree.map(lambda new, old: jnp.where(due, new, old), new, memory)
        left, grip = self.stroke(time - memory.began, jnp.abs(memory.share) * jnp.ones_like(self.working))
        activation = jnp.where(memory.share < 0.0, mirrored(left), left)
        return Control(activation=activation, grip=grip * self.working[:, None] if self.suckers else None), memory

    def _next(self, time, observation: Observation, memory: TurnMemory) -> TurnMemory:
        """The memory of a stroke whose strength is that of the remaining error."""
        faced = heading_of(observation.pose)
        seen = memory.turned + within_half_turn(faced - memory.faced)
        turned = jnp.where(self.closed_loop, seen, memory.turned)
        stroke, springs = self.stroke, self.stroke.springs_back(memory.share)
        missing = self.angle - turned + springs
        part = jnp.where(jnp.abs(missing) > self.near, jnp.clip(missing / stroke.angle, -1.0, 1.0), 0.0)
        share = jnp.sign(part) * jnp.abs(part) ** _EFFORT
        expected = stroke.angle * part + stroke.springs_back(share) - springs
        known = turned + jnp.where(self.closed_loop, 0.0, expected)
        return TurnMemory(share, jnp.asarray(time), known, faced, memory.strokes + jnp.where(part == 0.0, 0, 1))


class Turn(Recipe):
    """Turns the body on the spot by an angle, to the left where that is positive.

    Turn(angle=1.57)
    """

    angle: Float[Array, ""]
    """Angle to turn by [rad]."""
    near: Float[Array, ""]
    """Tolerance of the angle [rad]."""
    closed_loop: bool = eqx.field(static=True)
    suckers: bool = eqx.field(static=True)
    failed_suckers: tuple[int, ...] = eqx.field(static=True)

    def __init__(
        self,
        angle: float,
        *,
        closed_loop: bool = True,
        near: float = NEAR,
        suckers: bool = True,
        failed_suckers=(),
    ):
        """**Arguments:** `angle` [rad]; `closed_loop`: whether it observes its yaw before each stroke;
        `near`: angle that may be missing [rad]; `suckers`: whether it uses them; `failed_suckers`: arms whose suckers
        do not hold, by their numbers from 1.
        """
        self.angle = jnp.asarray(errors.number("angle", angle), float)
        self.near = jnp.asarray(errors.number("near", near, least=0.0), float)
        self.closed_loop, self.suckers = bool(closed_loop), bool(suckers)
        self.failed_suckers = tuple(failed_suckers)

    def stroke(self, system: System) -> TurnStroke:
        """The stroke with which a system's robot turns: its angle, its duration."""
        return bend_one_way_and_the_other(BodyPlan.of(system).anatomy)

    def attach(self, system: System, dt: float) -> TurnController:
        """The controller that turns the system's robot."""
        del dt
        plan = BodyPlan.of(system)
        working = plan.working(self.suckers, self.failed_suckers)
        return TurnController(self.stroke(system), self.angle, working, self.near, self.closed_loop, plan.suckers)
