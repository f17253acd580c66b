"""The strut segment: two plates on a strut that stretches, and tilts at its upper end (Kang et al. 2012).

Muscles run from plate to plate. Between the plates the segment is straight; an arm of many struts bends in a polygon
where constant-strain segments bend in arcs. Coordinates and their meaning are those of the constant-strain segment, so
that everything that is made for the one works for the other.
"""

from typing import ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from hydrostat.lie import SE3, small, so3, stumpff
from hydrostat.segments.base import AbstractSegment, Fibres

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
    bends_at_end: ClassVar[bool] = True

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
        """The displacement of a unit of each strain over the whole segment: its length."""
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
        R, T, across = so3.polynomial(w, 1.0, c1, c2), so3.polynomial(w, 1.0, -c2, c3), small.cross(w, wd)
        angular = small.matvec(T, wd)
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

    def direction(self, q, T: SE3) -> Float[Array, "*points 3"]:
        """The normals of the sections; in the middle it is the mean of both plates', the tangent of the arc between
        them.

        The strut itself is straight along the z of its base, half a bend behind. Drag by its own axis converges faster
        with the number of segments, and moves the arm of 20 segments as that of 80 does by the sections: its reach ends
        at 0.94 of its length instead of 0.98.
        """
        del q
        return T.rotation[..., 2]

    @property
    def twists(self) -> bool:
        """Whether the plates can turn about the strut."""
        return "twist" in self.modes

    def fibres(self, q, radius, lower, upper) -> Fibres:
        """Straight fibres from plate to plate.

        Without twist the rotation vector w lies in the plate, and with the strut's length h, the radius r, the places
        b and a of a fibre on the lower and the upper plate over r, and the moments m_b = w x b and m_a = w x a,

            l^2 = h^2 + r^2 |a - b|^2 + 2 r^2 c_2 m_a m_b + 2 h r c_1 m_a.
        """
        if self.twists:
            return super().fibres(q, radius, lower, upper)
        at = self._fibre_terms(q, radius, lower, upper)
        h, w, c, a, b = at.height, at.turn, at.c, at.upper, at.lower
        across = jnp.sum(jnp.square(upper - lower), -1)
        length, product = _fibre_length(at, across), a * b
        # Along the normals of a and b, and along w.
        by_a, by_b = radius**2 * c[2] * b + h * radius * c[1], radius**2 * c[2] * a
        by_w = radius**2 * (2.0 * c[4] - c[3]) * product + h * radius * (c[3] - c[2]) * a
        weights = by_a / length, by_b / length, by_w / length
        parts = zip(weights, (_normals(upper), _normals(lower), w[None]), strict=True)
        by_turn = sum((weight[:, None] * part for weight, part in parts), start=jnp.zeros_like(upper))
        columns = {"bend_x": by_turn[:, 0], "bend_y": by_turn[:, 1], "stretch": (h + radius * c[1] * a) / length}
        gradient = self.length * jnp.stack([columns[mode] for mode in self.modes], -1)
        by_radius = (radius * (across + 2.0 * c[2] * product) + h * c[1] * a) / length
        return Fibres(length, jnp.where(self.free, gradient, 0.0), by_radius)

    def fibres_turning(self, q, radius, lower, upper, slack: Float[Array, " f"]) -> Float[Array, "k k"]:
        """The sum over the fibres of s d2(l^2 / 2)/dq2, at constant volume and without twist, with weights s.

        The radius follows the strut's length, r ~ h^(-1/2).
        """
        at = self._fibre_terms(q, radius, lower, upper)
        h, w, c, a, b = at.height, at.turn, at.c, at.upper, at.lower
        d1, d2 = 0.5 * (c[3] - c[2]), 0.5 * (2.0 * c[4] - c[3])  # (c_k)' = (k c_(k+2) - c_(k+1)) / 2
        d3, d4 = 0.5 * (3.0 * c[5] - c[4]), 0.5 * (4.0 * c[6] - c[5])
        dd1, dd2 = 0.5 * (d3 - d2), 0.5 * (2.0 * d4 - d3)
        # Sums over the fibres of m_a, m_a m_b, and of their derivatives.
        n_a, n_b = _normals(upper), _normals(lower)
        n, by_turn = _over_fibres(slack, n_a), _over_fibres(slack * b, n_a) + _over_fibres(slack * a, n_b)
        both = _over_fibres(slack, n_a[:, :, None] * n_b[:, None, :])
        total, moment, product, wide = (
            _over_fibres(slack, part) for part in (jnp.ones_like(a), a, a * b, jnp.sum(jnp.square(upper - lower), -1))
        )
        r2, hr = radius**2, h * radius
        mixed = w[:, None] * (2.0 * r2 * d2 * by_turn + 2.0 * hr * d1 * n)[None, :]
        bends = (
            r2 * c[2] * (both + both.T)
            + mixed
            + mixed.T
            + (2.0 * r2 * d2 * product + 2.0 * hr * d1 * moment) * np.eye(2)
            + (4.0 * r2 * dd2 * product + 4.0 * hr * dd1 * moment) * w[:, None] * w[None, :]
        )
        by_height = radius / 2.0 * (c[1] * n + 2.0 * d1 * moment * w)
        by_height = by_height - r2 / h * (c[2] * by_turn + 2.0 * d2 * product * w)
        twice = total + r2 / h**2 * (wide + 2.0 * c[2] * product) - radius / (4.0 * h) * c[1] * moment
        places = {"bend_x": 0, "bend_y": 1, "stretch": 2}
        whole = jnp.pad(bends, (0, 1)) + twice * np.diag([0.0, 0.0, 1.0])
        beside = jnp.pad(by_height, (0, 1))[:, None] * np.eye(3)[2]
        whole = whole + beside + beside.T
        own = [places[mode] for mode in self.modes]
        chosen = whole if len(own) == 3 else jnp.stack([jnp.stack([whole[i, j] for j in own]) for i in own])
        return jnp.where(self.free[:, None] & self.free[None, :], self.length**2 * chosen, 0.0)

    def _fibre_terms(self, q, radius, lower, upper) -> "_FibreTerms":
        """The terms of the formula for the lengths of fibres."""
        turn, stretch = self._placed(q)
        w = turn[:2]
        c = stumpff(small.dot(w, w), 6)
        return _FibreTerms(self.length * (1.0 + stretch), radius, w, c, _moments(w, upper), _moments(w, lower))


class _FibreTerms(NamedTuple):
    """The terms of the formula for the lengths of fibres."""

    height: Float[Array, ""]
    radius: Float[Array, ""]
    turn: Float[Array, " 2"]
    c: tuple[Float[Array, ""], ...]
    """Stumpff functions of the turn's square."""
    upper: Float[Array, " f"]
    """Moments of the fibres' upper ends."""
    lower: Float[Array, " f"]


def _fibre_length(at: _FibreTerms, across: Float[Array, " f"]) -> Float[Array, " f"]:
    """The lengths of the fibres by the formula of `StrutSegment.fibres`."""
    square = at.radius**2 * (across + 2.0 * at.c[2] * at.upper * at.lower)
    return jnp.sqrt(at.height**2 + square + 2.0 * at.height * at.radius * at.c[1] * at.upper)


def _moments(w: Float[Array, " 2"], places: Float[Array, "f 2"]) -> Float[Array, " f"]:
    """The moments w x b of places b of a plate."""
    return w[0] * places[:, 1] - w[1] * places[:, 0]


def _over_fibres(weight: Float[Array, " f"], values: Float[Array, "f *shape"]) -> Float[Array, "*shape"]:
    """The weighted sum over few fibres."""
    terms = [weight[i] * values[i] for i in range(len(weight))]
    return sum(terms[1:], start=terms[0])


def _normals(places: Float[Array, "f 2"]) -> Float[Array, "f 2"]:
    """The derivative of w x b by w."""
    return jnp.stack([places[:, 1], -places[:, 0]], -1)
