"""A segment whose radius is a coordinate of its own: another segment, and its swell."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from hydrostat.lie import SE3
from hydrostat.segments.base import AbstractSegment, Fibres

SWELL = "swell"
"""The last mode: the radius over that of constant volume, less 1."""


class SwellingSegment(AbstractSegment):
    """A segment with one more coordinate, its swell u: the radius is r_0 (1 + u) / sqrt(stretch).

    The volume is V_0 (1 + u)^2 at every stretch. So a pressure, which works on volume alone, acts on u alone: were the
    radius itself the coordinate, a stiff pressure would tie it to the stretch, and implicit steps would be harder. The
    axis does not move with u.
    """

    inner: AbstractSegment

    def __init__(self, inner: AbstractSegment):
        self.inner = inner

    @property
    def length(self) -> Float[Array, "*batch"]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Rest length [m]."""
        return self.inner.length

    @property
    def free(self) -> Bool[Array, "*batch k"]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Which coordinates can be used; swell always can."""
        free = self.inner.free
        return jnp.concatenate([free, jnp.ones_like(free[..., :1])], -1)

    @property
    def modes(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The modes of the segment within, then swell."""
        return (*self.inner.modes, SWELL)

    @property
    def scale(self) -> Float[Array, "*batch"]:
        """The scale of the segment within."""
        return self.inner.scale

    def stretch(self, q) -> Float[Array, "*batch"]:
        """The length over the rest length."""
        return self.inner.stretch(q[..., :-1])

    def area_ratio(self, q) -> Float[Array, "*batch"]:
        """The section's area over that at rest: (1 + u)^2 / stretch."""
        return (1.0 + q[..., -1]) ** 2 / self.stretch(q)

    def pose(self, q, s) -> SE3:
        """The pose of the material point s of the axis."""
        return self.inner.pose(q[..., :-1], s)

    def twist(self, q, v, s) -> Float[Array, " 6"]:
        """The body twist of the material point s at the rates v."""
        return self.inner.twist(q[..., :-1], v[..., :-1], s)

    def jacobian(self, q, s) -> Float[Array, "6 k"]:
        """The body Jacobian of the material point s; swell moves none."""
        J = self.inner.jacobian(q[..., :-1], s)
        return jnp.concatenate([J, jnp.zeros_like(J[..., :1])], -1)

    def point(self, q, v, s):
        """Pose, Jacobian, twist and bias of the material point s."""
        T, J, Jv, c = self.inner.point(q[..., :-1], v[..., :-1], s)
        return T, jnp.concatenate([J, jnp.zeros_like(J[..., :1])], -1), Jv, c

    def direction(self, q, T: SE3) -> Float[Array, "*points 3"]:
        """The axis of the segment within."""
        return self.inner.direction(q[..., :-1], T)

    def fibres(self, q, radius, lower, upper) -> Fibres:
        """Fibres between the sections; swell acts on them by the radius alone."""
        inner = self.inner.fibres(q[..., :-1], radius, lower, upper)
        return inner._replace(by_coordinates=jnp.pad(inner.by_coordinates, ((0, 0), (0, 1))))
