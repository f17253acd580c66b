"""Standing: all arms press themselves to the ground and hold it."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.control.anatomy import BodyPlan
from hydrostat.control.base import Constant, Recipe
from hydrostat.control.gaits.base import downwards, stiffened
from hydrostat.system import Control, System


class Stand(Recipe):
    """All arms stiffen, press themselves to the ground and hold it with their suckers."""

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

    def attach(self, system: System, dt: float) -> Constant:
        """The controller: the same activation and grip at all times."""
        del dt
        plan = BodyPlan.of(system)
        anatomy = plan.anatomy
        one = stiffened(anatomy, self.stiffen) + downwards(anatomy, self.press * anatomy.inside(0.0, 0.4))
        working = plan.working(self.suckers, self.failed_suckers)
        grip = working[:, None] * anatomy.within(0.5, 0.8)
        return Constant(Control(activation=jnp.repeat(one[None], plan.count, 0), grip=plan.for_suckers(grip)))
