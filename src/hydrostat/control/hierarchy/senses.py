"""What an arm feels of itself: bends, twists and lengths of its segments, and what its suckers hold."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.mechanics.model import ArmModel


class Feeling(NamedTuple):
    """The shape of one arm, and what it holds, by its own senses."""

    bend: Float[Array, "n 2"]
    """Bend of each segment to the side of the suckers and to the arm's y, from end to end [rad]."""
    twist: Float[Array, " n"]
    """Twist of each segment from end to end [rad]."""
    stretch: Float[Array, " n"]
    """Length of each segment over its rest length."""
    rates: tuple[Float[Array, "n 2"], Float[Array, " n"], Float[Array, " n"]]
    """Rates of bend, twist and stretch [1/s]."""
    held: Float[Array, " n"]
    """1 for segments whose suckers hold the ground, else 0."""
    taken: Float[Array, " n"]
    """1 for segments whose suckers hold a free object, else 0."""

    @property
    def moving(self) -> "Feeling":
        """The same with the rates of the shape in the place of the shape."""
        return Feeling(*self.rates, self.rates, self.held, self.taken)


class Senses(eqx.Module):
    """The senses of one arm: from the coordinates of its segments to its shape."""

    scale: Float[Array, " n"]
    """Angle of each segment for a bend or twist of one [rad]."""
    modes: tuple[str, ...] = eqx.field(static=True)
    """Names of the coordinates."""

    @staticmethod
    def of(model: ArmModel) -> "Senses":
        """The senses of an arm."""
        return Senses(model.arm.segments.scale, tuple(model.arm.segments.modes))

    def __call__(self, q: Float[Array, "n k"], v: Float[Array, "n k"], held, taken) -> Feeling:
        """The arm's shape by the coordinates of its segments and their rates, with what its suckers hold."""
        bend, twist, stretch = self._shape(q)
        return Feeling(bend, twist, 1.0 + stretch, self._shape(v), held, taken)

    def _shape(self, q) -> tuple[Float[Array, "n 2"], Float[Array, " n"], Float[Array, " n"]]:
        """Bend, twist and lengthening of the segments, which are linear in the coordinates."""
        parts = {mode: q[:, i] for i, mode in enumerate(self.modes) if i < q.shape[1]}
        zero = jnp.zeros(q.shape[0])
        # A bend towards the local x is a turn about y.
        bend = jnp.stack([parts.get("bend_y", zero), -parts.get("bend_x", zero)], -1) * self.scale[:, None]
        return bend, parts.get("twist", zero) * self.scale, parts.get("stretch", zero)
