"""Escaping: the mantle presses its water out in bursts, with the arms closed behind the body."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat import errors, surroundings
from hydrostat.control.anatomy import Anatomy, BodyPlan
from hydrostat.control.base import Controller, Recipe
from hydrostat.control.gaits.swim import Beat
from hydrostat.errors import InputError
from hydrostat.sensing import Observation
from hydrostat.system import Control, System

_CLOSED_TO = 0.35  # of the arm: up to where it closes by itself; the rest trails


class JetController(Controller):
    """A controller that jets periodically, with the arms closed behind the body."""

    anatomy: Anatomy
    beat: Beat
    """The beat that keeps arms closed."""
    arms: int = eqx.field(static=True)
    burst_s: Float[Array, ""]
    """Duration of a burst [s]."""
    pause_s: Float[Array, ""]
    """Pause until the next burst [s]."""
    delay_s: Float[Array, ""]
    """Delay until the first burst, while arms close [s]."""
    power: Float[Array, ""]
    """Effort of the mantle, from 0, no jet, to 1."""

    def __call__(self, time, observation: Observation, memory):
        """The control: closed arms, and the jet by the clock."""
        now = time + 0.5 * observation.period - self.delay_s
        on = (now >= 0.0) & (jnp.mod(now, self.burst_s + self.pause_s) < self.burst_s)
        activation = self.beat(jnp.ones(self.arms), self.anatomy)
        return Control(activation=activation, jet=jnp.where(on, self.power, 0.0)), memory


class Jet(Recipe):
    """Escapes by jets of the mantle, with the arms closed behind the body."""

    burst: float | None
    pause: float | None
    delay: float
    power: float
    beat: Beat

    def __init__(
        self,
        *,
        burst: float | None = None,
        pause: float | None = None,
        delay: float = 0.5,
        power: float = 1.0,
        close: float = 0.1,
        stiffen: float = 0.3,
    ):
        """**Arguments:** `burst`: how long the mantle presses, as long as it takes to empty when not given [s];
        `pause`: until it does again, as long as it takes to fill when not given [s]; `delay`: until the first burst,
        while arms close [s]; `power`: from 0, no jet, to 1; `close`: activation that closes arms; `stiffen`: of all
        muscles besides.
        """
        self.burst = None if burst is None else errors.number("burst", burst, above=0.0)
        self.pause = None if pause is None else errors.number("pause", pause, least=0.0)
        self.delay = errors.number("delay", delay, least=0.0)
        self.power = errors.number("power", power, least=0.0, most=1.0)
        closed = errors.number("close", close, least=0.0, most=1.0)
        self.beat = Beat.of(closed, errors.number("stiffen", stiffen, least=0.0, most=0.5), _CLOSED_TO, 1.0, 1.0)

    def attach(self, system: System, dt: float) -> JetController:
        """The controller that jets with the system's mantle."""
        del dt
        mantle = system.part(surroundings.Jet)
        if mantle is None:
            raise InputError("to jet, a system needs `Jet()` among its surroundings; this one has none")
        plan = BodyPlan.of(system)
        burst = mantle.burst_s if self.burst is None else self.burst
        pause = mantle.refill_s if self.pause is None else self.pause
        numbers = (jnp.asarray(x, float) for x in (burst, pause, self.delay, self.power))
        return JetController(plan.anatomy, self.beat, plan.count, *numbers)
