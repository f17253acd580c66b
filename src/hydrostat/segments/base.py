"""What every segment offers to the mechanics."""

import abc

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from hydrostat.lie import SE3, small


class AbstractSegment(eqx.Module):
    """A short piece of an arm: coordinates in, pose and Jacobian at any of its material points out.

    The frame of a segment sits at its base, z along the axis. A material point is named by its fraction s of the
    segment, 0 at the base and 1 at the tip. Everything here is for one segment; an arm stacks its segments and maps.
    """

    length: eqx.AbstractVar[Float[Array, "*batch"]]
    """Rest length L [m]."""
    free: eqx.AbstractVar[Bool[Array, "*batch k"]]
    """Which of the coordinates this very segment can use; segments of one arm may differ in it."""
    modes: eqx.AbstractVar[tuple[str, ...]]
    """The names of the coordinates."""

    @property
    def coordinates(self) -> int:
        """How many generalised coordinates one segment has."""
        return len(self.modes)

    @property
    @abc.abstractmethod
    def scale(self) -> Float[Array, "*batch"]:
        """What one unit of a coordinate is worth, in radians or metres at the segment's end."""

    @abc.abstractmethod
    def stretch(self, q: Float[Array, "*batch k"]) -> Float[Array, "*batch"]:
        """The length over the rest length."""

    def area_ratio(self, q: Float[Array, "*batch k"]) -> Float[Array, "*batch"]:
        """The section's area over that at rest, where it follows the stretch: 1 / stretch, at constant volume."""
        return 1.0 / self.stretch(q)

    @abc.abstractmethod
    def pose(self, q: Float[Array, " k"], s: Float[Array, ""] | float) -> SE3:
        """The pose of the material point s relative to the segment's base."""

    @abc.abstractmethod
    def twist(self, q: Float[Array, " k"], v: Float[Array, " k"], s: Float[Array, ""] | float) -> Float[Array, " 6"]:
        """The body twist of the material point s relative to the base, at the rates v of the coordinates."""

    @abc.abstractmethod
    def jacobian(self, q: Float[Array, " k"], s: Float[Array, ""] | float) -> Float[Array, "6 k"]:
        """The body Jacobian: the twist of the material point s relative to the base, per rate of the coordinates."""

    def fibre(self, q: Float[Array, " k"], lower: Float[Array, " 2"], upper: Float[Array, " 2"]) -> Float[Array, ""]:
        """The length of a fibre from a point of the lower section to one of the upper section [m].

        **Arguments:** `lower`, `upper`: where it passes, in the axes of the two sections [m].
        """
        end = self.pose(q, 1.0).apply(jnp.append(upper, 0.0))
        return small.norm(end - jnp.append(lower, 0.0))
