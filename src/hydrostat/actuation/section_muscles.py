"""Muscles of a segment whose section is round: fibres from plate to plate, and the radial muscles across it.

What they pull with is up to the law of a muscle; where they run, how long they are and how they turn is here.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.bodies import Arm
from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractMuscles
from hydrostat.segments import StrutSegment

MUSCLES = ("long_0", "long_90", "long_180", "long_270", "radial")
"""The columns of an activation, before oblique muscles."""


class AbstractSectionMuscles(AbstractMuscles):
    """Per segment four longitudinal muscles, the radial ones as one, and maybe two oblique ones."""

    radius: eqx.AbstractVar[Float[Array, " n"]]
    """Radius of the section at rest, the mean over the segment [m]."""
    rest: eqx.AbstractVar[Float[Array, " n"]]
    """Rest length of the segments [m]."""
    lower: eqx.AbstractVar[Float[Array, "n f 2"]]
    """Where each of the f longitudinal and oblique fibres crosses the lower section, over the radius."""
    upper: eqx.AbstractVar[Float[Array, "n f 2"]]
    """Where it crosses the upper section."""
    fibre_rest: eqx.AbstractVar[Float[Array, "n e"]]
    """Rest lengths of the longitudinal and oblique muscles [m]."""

    @property
    def columns(self) -> int:
        """The number of muscles of a segment: longitudinal, the radial ones as one, oblique."""
        return self.fibre_rest.shape[-1] + 1

    def lengths(self, arm: Arm, q) -> Float[Array, "n m"]:
        """The fibres' lengths, the four longitudinal ones first; then the radius; then oblique ones."""
        return self.pulls(arm, q)[0]

    def pulls(self, arm: Arm, q) -> tuple[Float[Array, "n m"], Float[Array, "n m k"]]:
        """The lengths, and their derivatives by the coordinates of their own segment."""

        def swollen(q):
            return self.radius * jnp.sqrt(arm.segments.area_ratio(q))

        ones = [jnp.broadcast_to(one, q.shape) for one in np.eye(q.shape[-1])]
        radius, thicker = swollen(q), jnp.stack([jax.jvp(swollen, (q,), (one,))[1] for one in ones], -1)
        fibres = jax.vmap(lambda segment, *arguments: segment.fibres(*arguments))(
            arm.segments, q, radius, self.lower, self.upper
        )
        gradient = fibres.by_coordinates + fibres.by_radius[..., None] * thicker[:, None]
        return _in_order(fibres.length, radius), _in_order(gradient, thicker)

    def turning(self, arm: Arm, q, tension: Float[Array, "n m"], lengths, J) -> Float[Array, "n k k"]:
        """The change of the forces of constant tensions as the muscles turn; for struts without twist by a closed form.

        d2l = (d2(l^2 / 2) - dl dl) / l of a fibre; the radius at constant volume goes with stretch^(-1/2).
        """
        segments = arm.segments
        if not isinstance(segments, StrutSegment) or segments.twists or tension.shape[1] > len(MUSCLES):
            return super().turning(arm, q, tension, lengths, J)
        slack = tension[:, :4] / lengths[:, :4]
        fibres = jax.vmap(lambda segment, *arguments: segment.fibres_turning(*arguments))(
            segments, q, lengths[:, 4], self.lower, self.upper, slack
        )
        slope = J[:, :4]
        turned = fibres - small.matmul(jnp.swapaxes(slope, -1, -2), slack[..., None] * slope)
        along = np.array([float(mode == "stretch") for mode in segments.modes])
        thinner = 0.75 * tension[:, 4] * lengths[:, 4] / segments.stretch(q) ** 2
        return turned + (thinner[:, None] * jnp.where(segments.free, along, 0.0))[..., None] * np.diag(along)


def _in_order(fibres: Float[Array, "n f *shape"], radial: Float[Array, "n *shape"]) -> Float[Array, "n m *shape"]:
    """A quantity of every muscle in the order of activations: four longitudinal ones, the radial one, oblique ones.

    An oblique muscle is the mean of two fibres on opposite sides, so that it does not bend the arm.
    """
    oblique = [0.5 * (fibres[:, i] + fibres[:, i + 1]) for i in range(4, fibres.shape[1], 2)]
    return jnp.stack([*(fibres[:, i] for i in range(4)), radial, *oblique], 1)
