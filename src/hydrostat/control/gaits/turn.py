"""An octopus that turns on the spot: all arms bend as in the paper's gait, to one side, take hold and become straight.

Pushes along the arms cancel, and what is left turns the body. The bends of an arm nearly cancel as well: the end of one
that bends to one side alone swings round, and drags the body back. After its last stroke the body springs back by an
angle that hardly depends on how strong that was.
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
    heading_of,
    mirrored,
    sideways,
    stiffened,
    three_bends,
    within_half_turn,
)
from hydrostat.sensing import Observation
from hydrostat.system import Control, System

NEAR = float(np.deg2rad(2.0))
"""Angle that may be missing from a turn [rad]."""
_EFFORT = 0.5  # power of its angle by which the activation of a stroke falls: measured, 0.7 of it turns 0.44 as far


class TurnStroke(Stroke):
    """A stroke of all arms that turns the body to the left."""

    angle: Float[Array, ""]
    """Angle by which each of many strokes at full shares turns the body, found by trying [rad]."""
    recoil: Float[Array, ""]
    """Angle by which the body springs back after the last stroke [rad]."""


def bend_one_way_and_straighten(anatomy: Anatomy) -> TurnStroke:
    """The paper's crawling stroke, with all arms alike. The numbers were found by trying.

    With two bends instead of three it turns three times as far, but weaker strokes turn it in the opposite direction.
    """
    bend, stiffen, first, last = 0.1, 0.4, 0.6, 0.8
    gather = sideways(anatomy, bend * three_bends(anatomy))
    numbers = (0.9, 0.8, 0.0, 0.4, 0.0, np.deg2rad(12.3), np.deg2rad(14.0))
    grip = anatomy.within(first, last)
    return TurnStroke(gather[None], stiffened(anatomy, stiffen, last)[None], grip, *(jnp.asarray(x) for x in numbers))


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
        angle, recoil = self.stroke.angle, self.stroke.recoil
        springs = recoil * jnp.sign(memory.share)
        missing = self.angle - turned + springs
        part = jnp.where(jnp.abs(missing) > self.near, jnp.clip(missing / angle, -1.0, 1.0), 0.0)
        share = jnp.sign(part) * jnp.abs(part) ** _EFFORT
        known = turned + jnp.where(self.closed_loop, 0.0, angle * part + recoil * jnp.sign(part) - springs)
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
        return bend_one_way_and_straighten(BodyPlan.of(system).anatomy)

    def attach(self, system: System, dt: float) -> TurnController:
        """The controller that turns the system's robot."""
        del dt
        plan = BodyPlan.of(system)
        working = plan.working(self.suckers, self.failed_suckers)
        return TurnController(self.stroke(system), self.angle, working, self.near, self.closed_loop, plan.suckers)
