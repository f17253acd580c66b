"""Tendons and wires along an arm: their lengths from its shape.

Paper: Boccolato et al. 2009, equations 4 to 8 and 17 to 25, corrected. A wire towards the side an arm bends to is the
shorter one. All lengths are smooth functions of the bend vector theta (cos phi, sin phi): nothing is singular when
the arm is straight.
"""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.bodies import Arm
from hydrostat.bodies.rod import gauss_points
from hydrostat.lie import small, stumpff
from hydrostat.mechanics.nodes import AbstractWires

# With these strains alone a segment is an arc, and wires along it have closed forms.
_ARC_MODES = {"bend_x", "bend_y", "stretch"}
_QUADRATURE = 6  # points along a segment, where the offset changes


class Tendons(AbstractWires):
    """All w tendons of an arm with n segments."""

    azimuth: Float[Array, " w"]
    """Azimuth of each tendon in the cross-section, from +x towards +y [rad]."""
    offsets: Float[Array, "w n 2"]
    """Distance of each tendon from the axis at base and tip of every segment [m]; without meaning where it does not
    pass."""
    passes: Float[Array, "w n"]
    """1 where the tendon runs along the segment, else 0."""
    ends_at: tuple[int, ...] = eqx.field(static=True)
    """The index of the segment at whose end each tendon is fixed."""
    bays: int | None = eqx.field(static=True)
    """Number of straight bays per segment of soft wires; None for hard wires, which follow the curve."""
    turns: Float[Array, "w n 2"] | None = None
    """The angle by which each tendon has wound round the axis at base and tip of every segment [rad]; None where all
    are straight."""

    def along_arcs(self, bend: Float[Array, "n 2"], height: Float[Array, " n"]) -> Float[Array, "w n"]:
        """The length of each tendon within each of n arcs [m], zero where it does not pass.

        **Arguments:** `bend`: bend vectors [rad]; `height`: lengths of the axis [m].
        """
        toward = small.dot(bend[None], self.directions[:, None])
        if self.bays is None:
            lengths = hard_length(toward, height, self.offsets[..., 0], self.offsets[..., 1])
        else:
            square = jnp.broadcast_to(small.dot(bend, bend), toward.shape)
            height = jnp.broadcast_to(height, toward.shape)
            lengths = soft_length(toward, square, height, self.offsets[..., 0], self.offsets[..., 1], self.bays)
        return lengths * self.passes

    def along_segments(self, arm: Arm, q: Float[Array, "n k"]) -> Float[Array, "w n"]:
        """The length of each tendon within each segment of an arm [m], whatever its strains."""
        if self.turns is None and set(arm.segments.modes) <= _ARC_MODES:
            bend = jax.vmap(lambda segment, q: segment.bend_vector(q))(arm.segments, q)
            stretch = jax.vmap(lambda segment, q: segment.strain(q)[5])(arm.segments, q)
            return self.along_arcs(bend, arm.segments.length * stretch)
        azimuths = self.azimuth[:, None, None] + (jnp.zeros_like(self.offsets) if self.turns is None else self.turns)
        along = _guided_length if self.bays is None else partial(_chord_length, bays=self.bays)
        lengths = jax.vmap(along, (0, 0, 1, 1), 1)
        return lengths(arm.segments, q, self.offsets, azimuths) * self.passes

    def lengths(self, arm: Arm, q: Float[Array, "n k"]) -> Float[Array, " w"]:
        """The length of each tendon from its first to its last point [m]."""
        return jnp.sum(self.along_segments(arm, q), -1)

    @property
    def directions(self) -> Float[Array, "w 2"]:
        """The unit vector of the cross-section that points to each tendon."""
        return jnp.stack([jnp.cos(self.azimuth), jnp.sin(self.azimuth)], -1)

    def within(self, index) -> "Tendons":
        """The tendons' course within one segment alone."""
        offsets, passes = self.offsets[:, index][:, None], self.passes[:, index][:, None]
        turns = None if self.turns is None else self.turns[:, index][:, None]
        return Tendons(self.azimuth, offsets, passes, self.ends_at, self.bays, turns)


def _place(offsets: Float[Array, "w 2"], azimuths: Float[Array, "w 2"], s) -> Float[Array, "w 3"]:
    """Where wires sit in the cross-section at fraction s of a segment [m]: distance and azimuth run linearly."""
    offset = offsets[:, 0] + s * (offsets[:, 1] - offsets[:, 0])
    azimuth = azimuths[:, 0] + s * (azimuths[:, 1] - azimuths[:, 0])
    return jnp.stack([offset * jnp.cos(azimuth), offset * jnp.sin(azimuth), jnp.zeros_like(offset)], -1)


def _guided_length(segment, q, offsets: Float[Array, "w 2"], azimuths: Float[Array, "w 2"]) -> Float[Array, " w"]:
    """The length of wires that are guided all along a segment of any constant strain [m].

    A wire at d(s) in the cross-section advances by v + w x d + d' per rest length, with the strains w and v. Where d is
    constant so is that, and the quadrature is exact.
    """
    strain = segment.strain(q)
    fractions, weights = (jnp.asarray(x) for x in gauss_points(_QUADRATURE))

    def advance(s):
        d, rate = jax.jvp(lambda s: _place(offsets, azimuths, s), (s,), (jnp.ones_like(s),))
        return strain[3:] + small.cross(strain[:3], d) + rate / segment.length

    return segment.length * jnp.sum(small.norm(jax.vmap(advance, 0, 1)(fractions)) * weights, -1)


def _chord_length(
    segment, q, offsets: Float[Array, "w 2"], azimuths: Float[Array, "w 2"], bays: int
) -> Float[Array, " w"]:
    """The length of wires that run straight from disc to disc through equal bays of a segment of any strain [m]."""

    def at_disc(s):
        disc = segment.pose(q, s)
        return small.matvec(disc.rotation, _place(offsets, azimuths, s)) + disc.position

    points = jax.vmap(at_disc, 0, 1)(jnp.arange(bays + 1) / bays)
    return jnp.sum(small.norm(points[:, 1:] - points[:, :-1]), -1)


def hard_length(toward, height, offset_base, offset_tip) -> Float[Array, "..."]:
    """The length of a wire that is guided all along an arc [m].

    At fraction t of the arc the wire advances by (u, k): u = height - toward r(t) along the arc and, across it,
    k = r(1) - r(0), so its length is the integral of sqrt(u^2 + k^2), with u linear in t. Corrected equations 5, 7, 10
    (k = 0: height - toward r) and 17 to 24 of Boccolato. The closed form is a divided difference; it is written so
    that equal ends need no special case.

    **Arguments:** `toward`: bend vector times the unit vector to the wire, theta cos(azimuth - phi) [rad]; `height`:
    length of the axis [m]; `offset_base`, `offset_tip`: distance from the axis [m].
    """
    u0, u1 = height - toward * offset_base, height - toward * offset_tip
    k2 = (offset_tip - offset_base) ** 2
    w0, w1 = jnp.sqrt(u0 * u0 + k2), jnp.sqrt(u1 * u1 + k2)
    # integral of sqrt(u^2 + k^2) over u, divided by u1 - u0: the algebraic part, then k^2 asinh of the difference
    algebraic = 0.25 * (w0 + w1) + 0.25 * (u0 + u1) ** 2 / (w0 + w1)
    slope = (u0 + u1) / (u0 * w1 + u1 * w0)
    return algebraic + 0.5 * k2 * slope * _arcsinh_ratio(((u1 - u0) * slope) ** 2)


def soft_length(toward, square, height, offset_base, offset_tip, bays: int) -> Float[Array, "..."]:
    """The length of a wire that runs straight from disc to disc through equal bays of an arc [m].

    In the frame half-way through a bay the chord has an axial part sinc(b) (height - toward (r0 + r1) / 2) / bays and
    a part across of squared length (r1 - r0)^2 (1 - cos^2(azimuth - phi) sin^2 b), b = theta / (2 bays) being half the
    bay's angle. Corrected equation 6 of Boccolato, for the cone as well.

    **Arguments:** as in `hard_length`; `square`: theta^2 [rad^2]; `bays`: their number.
    """
    _, sinc = stumpff(square / (4.0 * bays**2), 1)
    step = (offset_tip - offset_base) / bays
    # cos(azimuth - phi) sin b = toward sinc(b) / (2 bays): no division by theta
    across = step**2 * (1.0 - (toward * sinc / (2.0 * bays)) ** 2)
    middles = offset_base[..., None] + step[..., None] * (jnp.arange(bays) + 0.5)
    axial = sinc[..., None] * (height[..., None] - toward[..., None] * middles) / bays
    return jnp.sum(jnp.sqrt(axial**2 + across[..., None]), -1)


def _arcsinh_ratio(z2: Float[Array, "..."]) -> Float[Array, "..."]:
    """asinh(z) / z as a function of z^2, smooth at zero."""
    # As in `stumpff`, both branches hold on either side of the switch.
    near = z2 < 0.02
    z2_near, z2_far = jnp.where(z2 < 0.03, z2, 0.03), jnp.where(z2 > 0.01, z2, 0.01)
    # asinh(z) / z = sum_j (-1)^j (2j)! / (4^j j!^2 (2j + 1)) z^(2j); twelve terms leave less than 1e-20
    coefficients = [1.0]
    for j in range(1, 13):
        coefficients.append(coefficients[-1] * (2 * j - 1) / (2 * j))
    series = jnp.zeros_like(z2)
    for j in range(12, -1, -1):
        series = coefficients[j] / (2 * j + 1) - z2_near * series
    z = jnp.sqrt(z2_far)
    return jnp.where(near, series, jnp.arcsinh(z) / z)
