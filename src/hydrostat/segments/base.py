"""The interface of all segments: coordinates in, poses and Jacobians out."""

import abc
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from hydrostat.lie import SE3, small


class Fibres(NamedTuple):
    """Fibres from section to section of a segment, and how their lengths change."""

    length: Float[Array, " f"]
    """[m]"""
    by_coordinates: Float[Array, "f k"]
    """d(length)/dq at the same radius."""
    by_radius: Float[Array, " f"]
    """d(length)/d(radius) at the same coordinates."""


class AbstractSegment(eqx.Module):
    """A short piece of an arm: coordinates in, pose and Jacobian at any of its material points out.

    The frame of a segment sits at its base, z along the axis. A material point is named by its fraction s of the
    segment, 0 at the base and 1 at the tip. Everything here is for one segment; an arm stacks its segments and maps.
    """

    length: eqx.AbstractVar[Float[Array, "*batch"]]
    """Rest length L [m]."""
    free: eqx.AbstractVar[Bool[Array, "*batch k"]]
    """Which of the coordinates this segment can use; segments of one arm may differ in it."""
    modes: eqx.AbstractVar[tuple[str, ...]]
    """The names of the coordinates."""
    bends_at_end: ClassVar[bool] = False
    """Whether bends turn the segment's upper end alone, and move none of its points."""

    @property
    def coordinates(self) -> int:
        """The number of generalised coordinates of one segment."""
        return len(self.modes)

    @property
    @abc.abstractmethod
    def scale(self) -> Float[Array, "*batch"]:
        """The displacement of one unit of each coordinate, in radians or metres at the segment's end."""

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

    def point(self, q: Float[Array, " k"], v: Float[Array, " k"], s) -> tuple[SE3, Array, Array, Array]:
        """Pose, Jacobian, twist J v and bias J' v of the material point s; segments may override it with a faster
        formula."""
        Jv, c = jax.jvp(lambda q: self.twist(q, v, s), (q,), (v,))
        return self.pose(q, s), self.jacobian(q, s), Jv, c

    def direction(self, q: Float[Array, " k"], T: SE3) -> Float[Array, "*points 3"]:
        """Unit vectors along the axis at material points with the poses T, in the axes of the segment's base.

        Where the axis is normal to the sections it is their z; other segments say what it is.
        """
        del q
        return T.rotation[..., 2]

    def fibres(self, q: Float[Array, " k"], radius, lower: Float[Array, "f 2"], upper: Float[Array, "f 2"]) -> Fibres:
        """Straight fibres from points of the lower section to points of the upper one.

        **Arguments:** `radius`: of both sections [m]; `lower`, `upper`: where the fibres meet them, over the radius.
        """
        # Of no rates: the shorter way to the pose and the Jacobian.
        T, J, _, _ = self.point(q, jnp.zeros_like(q), jnp.asarray(1.0))
        R, p = T.rotation, T.position
        across = small.matmul(upper, R[:, :2].T) - jnp.pad(lower, ((0, 0), (0, 1)))
        away = p + radius * across
        length = small.norm(away)
        away = away / length[:, None]
        own = small.matmul(away, R)
        turning = small.cross(jnp.pad(radius * upper, ((0, 0), (0, 1))), own)
        gradient = small.matmul(turning, J[:3]) + small.matmul(own, J[3:])
        return Fibres(length, gradient, small.dot(away, across))
