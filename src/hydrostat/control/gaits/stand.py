"""Standing: all arms press themselves to the ground and hold it, but for those that the body drifts towards.

An arm that held on while a current pushed the body towards it folded, and was pressed into the ground where it bent.
"""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.control.anatomy import BodyPlan
from hydrostat.control.base import Constant, Controller, Recipe
from hydrostat.control.gaits.base import downwards, heading_of, stiffened
from hydrostat.sensing import Observation
from hydrostat.system import Control, System

_SLACK = 0.015  # m by which the body comes towards the suckers of an arm of 0.24 m before they let go


class StandMemory(NamedTuple):
    """The memory of an octopus that stands."""

    place: Float[Array, " 2"]
    """Position at which it began to stand [m]."""
    holds: Float[Array, " a"]
    """Indicator of arms that hold the ground: 0 for those that have let go."""


class StandController(Controller):
    """A controller whose control is the same at all times, but that arms towards which the body drifts let go."""

    still: Control
    """Control of a body in its place."""
    yaws: Float[Array, " a"]
    """Azimuths of the arms on the body [rad]."""
    slack: Float[Array, ""]
    """Distance by which the body comes towards the suckers of an arm before they let go [m]."""

    def init(self, observation: Observation) -> StandMemory:
        """The memory at the start: the body is in its place, and all arms hold."""
        return StandMemory(observation.pose.position[:2], jnp.ones_like(self.yaws))

    def __call__(self, time, observation: Observation, memory: StandMemory):
        """The control of standing, with the grip of the arms that have not let go."""
        del time
        assert self.still.grip is not None
        drift = observation.pose.position[:2] - memory.place
        ahead = heading_of(observation.pose) + self.yaws
        shorter = jnp.cos(ahead) * drift[0] + jnp.sin(ahead) * drift[1]
        holds = jnp.where(shorter > self.slack, 0.0, memory.holds)
        return replace(self.still, grip=holds[:, None] * self.still.grip), memory._replace(holds=holds)


class Stand(Recipe):
    """All arms stiffen, press themselves to the ground and hold it with their suckers, but for those that the body
    drifts towards."""

    stiffen: Float[Array, ""]
    """Activation of all muscles; that of the radial ones is twice as large."""
    press: Float[Array, ""]
    """Activation that bends the arms to the ground."""
    suckers: bool = eqx.field(static=True)
    failed_suckers: tuple[int, ...] = eqx.field(static=True)

    def __init__(self, stiffen: float = 0.05, press: float = 0.06, *, suckers: bool = True, failed_suckers=()):
        """**Arguments:** `suckers`: whether it uses them; `failed_suckers`: arms whose suckers do not hold, by their
        numbers from 1.
        """
        self.stiffen = jnp.asarray(errors.number("stiffen", stiffen, least=0.0, most=0.5), float)
        self.press = jnp.asarray(errors.number("press", press, least=0.0, most=1.0), float)
        self.suckers, self.failed_suckers = bool(suckers), tuple(failed_suckers)

    def attach(self, system: System, dt: float) -> Controller:
        """The controller that stands where the body is."""
        del dt
        plan = BodyPlan.of(system)
        anatomy = plan.anatomy
        one = stiffened(anatomy, self.stiffen) + downwards(anatomy, self.press * anatomy.inside(0.0, 0.4))
        working = plan.working(self.suckers, self.failed_suckers)
        grip = working[:, None] * anatomy.within(0.5, 0.8)
        still = Control(activation=jnp.repeat(one[None], plan.count, 0), grip=plan.for_suckers(grip))
        return StandController(still, plan.yaws, _SLACK * plan.scale) if plan.suckers else Constant(still)
