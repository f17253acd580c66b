"""What every segment offers to the mechanics."""

import abc

import equinox as eqx
from jaxtyping import Array, Float

from hydrostat.lie import SE3


class AbstractSegment(eqx.Module):
    """A short piece of an arm: coordinates in, pose and Jacobian at any of its material points out.

    The frame of a segment sits at its base, z along the axis. A material point is named by its fraction s of the
    segment, 0 at the base and 1 at the tip. Everything here is for one segment; an arm stacks its segments and maps.
    """

    @property
    @abc.abstractmethod
    def coordinates(self) -> int:
        """How many generalised coordinates one segment has."""

    @abc.abstractmethod
    def pose(self, q: Float[Array, " k"], s: Float[Array, ""] | float) -> SE3:
        """The pose of the material point s relative to the segment's base."""

    @abc.abstractmethod
    def twist(self, q: Float[Array, " k"], v: Float[Array, " k"], s: Float[Array, ""] | float) -> Float[Array, " 6"]:
        """The body twist of the material point s relative to the base, at the rates v of the coordinates."""

    @abc.abstractmethod
    def jacobian(self, q: Float[Array, " k"], s: Float[Array, ""] | float) -> Float[Array, "6 k"]:
        """The body Jacobian: the twist of the material point s relative to the base, per rate of the coordinates."""
