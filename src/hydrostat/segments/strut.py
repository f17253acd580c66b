"""The strut segment: two plates on a strut that stretches, and tilts at its upper end (Kang et al. 2012).

Muscles run from plate to plate. Between the plates the segment is straight; an arm of many struts bends in a polygon
where constant-strain segments bend in arcs. Coordinates and their meaning are those of the constant-strain segment, so
that everything that is made for the one works for the other.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from hydrostat.compiling import once
from hydrostat.lie import SE3, small, so3, stumpff
from hydrostat.segments.base import AbstractSegment

STRUT_MODES = ("bend_x", "bend_y", "twist", "stretch")
"""What a strut can be free in: tilts about x and y and twist over its rest length [1/m], and stretch."""


class StrutSegment(AbstractSegment):
    """A strut of length L (1 + stretch) whose upper plate is turned by the rotation vector L (bend_x, bend_y, twist).

    The turn is the paper's universal joint without its order of axes: it is free of torsion, and mirrored coordinates
    make the mirrored pose.
    """

    length: Float[Array, "*batch"]
    free: Bool[Array, "*batch k"]
    modes: tuple[str, ...] = eqx.field(static=True)

    def __init__(self, length, modes=("bend_x", "bend_y", "stretch"), free=None):
        if not modes or any(mode not in STRUT_MODES for mode in modes):
            raise ValueError(f"`modes` of a strut must be taken from {', '.join(STRUT_MODES)}; got {', '.join(modes)}")
        if list(modes) != sorted(set(modes), key=STRUT_MODES.index):
            raise ValueError(f"`modes` must name each once, in the order {', '.join(STRUT_MODES)}; got {modes}")
        self.length = jnp.asarray(length, float)
        self.modes = tuple(modes)
        self.free = jnp.ones((*self.length.shape, len(modes)), bool) if free is None else jnp.asarray(free, bool)

    @property
    def scale(self) -> Float[Array, "*batch"]:
        """A strain over the whole segment is worth its length."""
        return self.length

    def stretch(self, q) -> Float[Array, "*batch"]:
        """The strut's length over its rest length."""
        return 1.0 + self._placed(q)[1]

    def _placed(self, q) -> tuple[Float[Array, "*batch 3"], Float[Array, "*batch"]]:
        """The turn of the upper plate [rad], and the stretch beyond 1."""
        q = jnp.where(self.free, q, 0.0)
        places = {mode: q[..., i] for i, mode in enumerate(self.modes)}
        zero = jnp.zeros_like(q[..., 0])
        turn = jnp.stack([places.get(mode, zero) for mode in STRUT_MODES[:3]], -1)
        return self.length[..., None] * turn, places.get("stretch", zero)

    def pose(self, q, s) -> SE3:
        """The pose of the point s of the strut; 1 is the upper plate."""
        s = jnp.asarray(s, float)
        turn, stretch = self._placed(q)
        height = s * self.length * (1.0 + stretch)
        return SE3(so3.exp(s[..., None] * turn), height[..., None] * np.eye(3)[2])

    def twist(self, q, v, s) -> Float[Array, " 6"]:
        """The body twist of the point s at the rates v."""
        s = jnp.asarray(s, float)
        turn, _ = self._placed(q)
        rate, stretch_rate = self._placed(v)
        at = s[..., None] * turn
        angular = small.matvec(so3.tangent(at), s[..., None] * rate)
        up = so3.exp(at)[..., 2, :]  # the strut's direction in the axes of the point
        return jnp.concatenate([angular, (s * self.length * stretch_rate)[..., None] * up], -1)

    def jacobian(self, q, s) -> Float[Array, "6 k"]:
        """The body Jacobian of the point s."""
        s = jnp.asarray(s, float)
        at = s[..., None] * self._placed(q)[0]
        reach = s * self.length
        angular = reach[..., None, None] * so3.tangent(at)
        up = reach[..., None] * so3.exp(at)[..., 2, :]
        zero = jnp.zeros_like(up)
        columns = []
        for i, mode in enumerate(self.modes):
            if mode == "stretch":
                column = jnp.concatenate([zero, up], -1)
            else:
                column = jnp.concatenate([angular[..., STRUT_MODES.index(mode)], zero], -1)
            columns.append(jnp.where(self.free[..., i, None], column, 0.0))
        return jnp.stack(columns, -1)

    def point(self, q, v, s):
        """Pose, Jacobian, twist and bias of the point s, from one set of a rotation's coefficients."""
        s = jnp.asarray(s, float)
        (turn, stretch), (rate, stretch_rate) = self._placed(q), self._placed(v)
        reach, w, wd = s * self.length, s * turn, s * rate
        _, c1, c2, c3, c4, c5 = stumpff(small.dot(w, w), 5)
        R, T, across = once((so3.polynomial(w, 1.0, c1, c2), so3.polynomial(w, 1.0, -c2, c3), small.cross(w, wd)))
        angular = once(small.matvec(T, wd))
        # (c_k)' = (k c_(k+2) - c_(k+1)) / 2 times the rate of |w|^2.
        change = small.dot(w, wd)
        bias = change * ((c3 - 2.0 * c4) * across + (3.0 * c5 - c4) * small.cross(w, across))
        bias = bias + c3 * small.cross(wd, across)
        up, speed = R[2], reach * stretch_rate
        zero, columns = jnp.zeros(3), []
        for i, mode in enumerate(self.modes):
            parts = [zero, up] if mode == "stretch" else [T[:, STRUT_MODES.index(mode)], zero]
            columns.append(jnp.where(self.free[i], reach * jnp.concatenate(parts), 0.0))
        return (
            SE3(R, reach * (1.0 + stretch) * np.eye(3)[2]),
            jnp.stack(columns, -1),
            jnp.concatenate([angular, speed * up]),
            jnp.concatenate([bias, speed * small.cross(up, angular)]),
        )
