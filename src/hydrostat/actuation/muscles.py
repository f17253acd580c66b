"""The muscles of an octopus arm, and the tissue they are part of.

Longitudinal muscles run along the arm at four azimuths and shorten it or bend it. Radial (transverse) muscles squeeze
the section; since the volume is constant the arm elongates. Oblique muscles wind round the axis and twist it. The
volume is kept by geometry, exactly; or, in segments that swell, by a pressure, nearly.

An active muscle of nominal stress s and stiffness k pulls with a A [s + k (l / l_0 - 1)], never pushes: with a stress
that did not fall with the length, a shortening arm would collapse. Radial muscles pull with a s on their own section,
pi r h / 4 each: a s V / r for the four of a segment of volume V.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.actuation.section_muscles import AbstractSectionMuscles
from hydrostat.bodies import Arm
from hydrostat.errors import InputError
from hydrostat.geometry import frustum_volume
from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractTissue
from hydrostat.segments import SWELL

LONGITUDINAL_AZIMUTHS = (0.0, 90.0, 180.0, 270.0)  # deg
_LIMIT_FACTOR = 50.0  # by which a segment stiffens beyond its bend limit, assumed
_OBLIQUE_OFFSET = 0.9  # distance from the axis over the radius, assumed
_OBLIQUE_SHARE = 0.1  # of the section's area, assumed
OBLIQUE = ("oblique_right", "oblique_left")
"""A pair that winds in both senses round the axis: the first twists the arm to the right, from x towards y."""


class NeoHookean(AbstractTissue):
    """Rubber-like tissue: axial energy E/6 (l^2 + 2 w^2 - 3) per volume at the stretch l and the radius w over its own.

    Incompressible it is, with w^2 = 1/l, unless it has a bulk modulus K and its segments swell. Then the volume over
    that at rest is J = l w^2, and per volume it stores K/2 (J - 1)^2 - E/3 ln J more: the pressure K (1 - J), and what
    lets the tissue rest at l = w = 1.

    Fibres of a bent segment at the distance y = y_0 w from the axis are stretched by l + y k, with the curvature k over
    the rest length, and each keeps the volume J: to second order the segment stores E I k^2 w^2 (1 + 2 w^2 / l^2) / 6
    per rest length. Twist stores G w^2 t^2 / 2 times the polar moment, with G = E/3. Beyond `bend_limit` a segment
    stiffens.
    """

    modulus: Float[Array, " n"]
    """Young's modulus E at rest [Pa]."""
    volume: Float[Array, " n"]
    """Volume of each segment [m^3]."""
    moment: Float[Array, " n"]
    """Second moment of the rest section about a diameter, the mean over the segment [m^4]."""
    bend_limit: Float[Array, ""]
    """Bend of a segment from where it stiffens [rad]."""
    limit_factor: Float[Array, ""]
    """Stiffness that is added beyond `bend_limit`, over the bending stiffness E I at rest."""
    bulk: Float[Array, ""] | None = None
    """Bulk modulus K [Pa]; None for tissue whose volume cannot change."""

    def energy(self, arm: Arm, q) -> Float[Array, " n"]:
        """The energy stored in each segment [J]."""
        bend, twist = _bend_and_twist(arm, q)
        length = arm.segments.length
        stretch, area = arm.segments.stretch(q), arm.segments.area_ratio(q)
        axial = self.volume * self.modulus / 6.0 * (stretch**2 + 2.0 * area - 3.0)
        rigidity = self.modulus * self.moment * length
        bent = 0.5 * rigidity * small.dot(bend, bend) * area * (1.0 + 2.0 * area * stretch**-2) / 3.0
        twisted = rigidity / 3.0 * twist**2 * area
        stored = axial + bent + twisted + limit_energy(self.limit_factor, rigidity, self.bend_limit, length, bend)
        if self.bulk is None:
            return stored
        ratio = stretch * area
        return stored + self.volume * (0.5 * self.bulk * (ratio - 1.0) ** 2 - self.modulus / 3.0 * jnp.log(ratio))

    def pressure(self, arm: Arm, q) -> Float[Array, " n"]:
        """The pressure that keeps the volume of each segment [Pa]."""
        assert self.bulk is not None
        return self.bulk * (1.0 - arm.segments.stretch(q) * arm.segments.area_ratio(q))

    def stiffness(self, arm: Arm, q) -> Float[Array, "n k k"]:
        """The diagonal of the energy's second derivative, which dominates it; for the bend limit, the whole of it."""
        stretch, area, length = arm.segments.stretch(q), arm.segments.area_ratio(q), arm.segments.length
        rigidity = self.modulus * self.moment * length
        modes, limit = arm.segments.modes, self.limit_factor * rigidity
        around, in_plane = limit_stiffness(limit, self.bend_limit, length, bend_of(arm, q), modes)
        bend = rigidity * area * (1.0 + 2.0 * area * stretch**-2) / 3.0 + around
        parts = {
            "bend_x": bend,
            "bend_y": bend,
            "twist": 2.0 * rigidity / 3.0 * area,
            "stretch": self.volume * self.modulus / 3.0 * (1.0 + 2.0 * area * stretch**-2),
        }
        if self.bulk is not None:
            ratio = stretch * area
            own = self.bulk * ratio + self.modulus / 6.0 * (1.0 / stretch + 1.0 / ratio)
            parts[SWELL] = 4.0 * self.volume * own
        diagonal = jnp.stack([parts[mode] for mode in modes], -1)
        return diagonal[..., None] * jnp.eye(len(modes)) + in_plane


def _bend_and_twist(arm: Arm, q) -> tuple[Float[Array, "n 2"], Float[Array, " n"]]:
    """The curvatures about x and y and the twist over the rest length [1/m]."""
    modes = arm.segments.modes
    zero = jnp.zeros_like(q[..., 0])
    part = {mode: q[..., i] for i, mode in enumerate(modes)}
    return jnp.stack([part.get("bend_x", zero), part.get("bend_y", zero)], -1), part.get("twist", zero)


def bend_of(arm: Arm, q) -> Float[Array, "n 2"]:
    """The curvatures about x and y over the rest length [1/m]."""
    return _bend_and_twist(arm, q)[0]


def limit_energy(factor, rigidity: Float[Array, " n"], limit, length, bend: Float[Array, "n 2"]) -> Float[Array, " n"]:
    """The energy of segments bent beyond a limit [rad], which there stiffen by a factor times their rigidity [J]."""
    over = jnp.maximum(length * small.norm(bend) - limit, 0.0) / length
    return 0.5 * factor * rigidity * over**2


def limit_stiffness(
    stiffness: Float[Array, " n"], limit, length, bend: Float[Array, "n 2"], modes: tuple[str, ...]
) -> tuple[Float[Array, " n"], Float[Array, "n k k"]]:
    """The second derivative of `limit_energy`: the same for all directions of bending, and more of it in the plane.

    Beyond its limit a segment is as stiff in its plane as can be, and across it only by the bend it has too much.
    """
    size = jnp.maximum(small.norm(bend), 1e-300)
    beyond = jnp.maximum(1.0 - limit / (length * size), 0.0)
    units = {"bend_x": bend[:, 0] / size, "bend_y": bend[:, 1] / size}
    plane = jnp.stack([units.get(mode, jnp.zeros_like(size)) for mode in modes], -1)
    more = jnp.where(beyond > 0.0, stiffness * (1.0 - beyond), 0.0)
    outer = plane[..., :, None] * plane[..., None, :]
    return stiffness * beyond, more[:, None, None] * outer


class HydrostatMuscles(AbstractSectionMuscles):
    """The muscles of a hydrostat arm: per segment four longitudinal, the radial ones as one, maybe two oblique."""

    radius: Float[Array, " n"]
    """Radius of the section at rest, the mean over the segment [m]."""
    area: Float[Array, " n"]
    """Area of the section at rest [m^2]."""
    volume: Float[Array, " n"]
    rest: Float[Array, " n"]
    """Rest length of the segments [m]."""
    lower: Float[Array, "n f 2"]
    """Where each of the f longitudinal and oblique fibres crosses the lower section, over the radius."""
    upper: Float[Array, "n f 2"]
    fibre_rest: Float[Array, "n e"]
    """Rest lengths of the longitudinal and oblique muscles [m]."""
    share: Float[Array, " e"]
    """The share of the section's area that each longitudinal and oblique muscle has."""
    stress: Float[Array, ""]
    """Active nominal stress at the rest length [Pa]."""
    stiffness: Float[Array, ""]
    """Growth of the active stress with relative length [Pa]."""
    fastest: Float[Array, ""] | None
    """Lengths per second at which a shortening muscle has no force left; None for muscles whose force does not
    depend on their rate."""

    def tensions(self, lengths, rates, activation) -> Float[Array, "n m"]:
        """The tension of every muscle [N]; for the radial ones the sum of all four."""
        fibre, radial, oblique = lengths[:, :4], lengths[:, 4:5], lengths[:, 5:]
        relative = jnp.concatenate([fibre, oblique], -1) / self.fibre_rest
        speed = jnp.concatenate([rates[:, :4], rates[:, 5:]], -1) / self.fibre_rest
        pull = jnp.maximum(self.stress + self.stiffness * (relative - 1.0), 0.0) * self.share * self.area[:, None]
        squeeze = self.stress * self.volume[:, None] / radial
        if self.fastest is not None:
            pull = pull * _by_rate(speed / self.fastest)
            squeeze = squeeze * _by_rate(rates[:, 4:5] / self.radius[:, None] / self.fastest)
        return activation * jnp.concatenate([pull[:, :4], squeeze, pull[:, 4:]], -1)


def _by_rate(speed):
    """Force over the isometric force at a speed over the fastest: none at -1, 1.8 from 0.8 on (Yekutieli 2005)."""
    return jnp.clip(1.0 + speed, 0.0, 1.8)


def make_muscles(
    arm: Arm, stress: float, stiffness: float, offset: float, fastest: float | None = None, oblique_deg: float = 0.0
) -> HydrostatMuscles:
    """The muscles of an arm.

    **Arguments:** `stress`, `stiffness` [Pa]; `offset`: distance of the longitudinal muscles from the axis over the
    radius; `fastest`: lengths per second, None for no dependence on the rate; `oblique_deg`: by how much oblique
    muscles wind round the axis over one segment, 0 for none.
    """
    base, tip = np.asarray(arm.section.radius_base), np.asarray(arm.section.radius_tip)
    rest = np.asarray(arm.segments.length)
    n = len(rest)
    volume = frustum_volume(rest, base, tip)
    area = volume / rest
    radius = np.sqrt(area / np.pi)
    angles = np.deg2rad(LONGITUDINAL_AZIMUTHS)
    lower = offset * np.stack([np.cos(angles), np.sin(angles)], -1)
    upper, share = lower, np.full(4, 0.25)
    if oblique_deg:
        starts = np.array([[1.0, 0.0], [-1.0, 0.0]] * 2) * _OBLIQUE_OFFSET
        turns = np.deg2rad(oblique_deg) * np.array([-1.0, -1.0, 1.0, 1.0])  # contracting unwinds
        cos, sin = np.cos(turns), np.sin(turns)
        ends = np.stack([cos * starts[:, 0] - sin * starts[:, 1], sin * starts[:, 0] + cos * starts[:, 1]], -1)
        lower, upper = np.concatenate([lower, starts]), np.concatenate([upper, ends])
        share = np.concatenate([share, [_OBLIQUE_SHARE, _OBLIQUE_SHARE]])
    span = np.linalg.norm(upper - lower, axis=-1)[[0, 1, 2, 3, *range(4, len(lower), 2)]]
    fibre_rest = np.hypot(rest[:, None], span * radius[:, None])
    return HydrostatMuscles(
        radius=jnp.asarray(radius),
        area=jnp.asarray(area),
        volume=jnp.asarray(volume),
        rest=jnp.asarray(rest),
        lower=jnp.asarray(np.broadcast_to(lower, (n, *lower.shape))),
        upper=jnp.asarray(np.broadcast_to(upper, (n, *upper.shape))),
        fibre_rest=jnp.asarray(fibre_rest),
        share=jnp.asarray(share),
        stress=jnp.asarray(stress, float),
        stiffness=jnp.asarray(stiffness, float),
        fastest=None if fastest is None else jnp.asarray(fastest, float),
    )


def make_tissue(
    arm: Arm, modulus: float, bend_limit: Float[Array, ""], bulk_modulus: float | None = None
) -> NeoHookean:
    """The tissue of an arm.

    **Arguments:** `modulus`: Young's modulus at rest [Pa]; `bend_limit`: bend from where a segment stiffens [rad];
    `bulk_modulus` [Pa]: of an arm whose segments swell, None for one that keeps its volume.
    """
    if (SWELL in arm.segments.modes) != (bulk_modulus is not None):
        raise InputError("segments that swell need a `bulk_modulus`, and no others; this arm has one without the other")
    base, tip = np.asarray(arm.section.radius_base), np.asarray(arm.section.radius_tip)
    rest = np.asarray(arm.segments.length)
    volume = frustum_volume(rest, base, tip)
    # The mean of r^4 over a linear taper.
    fourth = sum(base ** (4 - i) * tip**i for i in range(5)) / 5.0
    numbers = (np.full(len(rest), modulus), volume, np.pi / 4.0 * fourth, bend_limit, _LIMIT_FACTOR)
    bulk = None if bulk_modulus is None else jnp.asarray(bulk_modulus, float)
    return NeoHookean(*(jnp.asarray(value, float) for value in numbers), bulk=bulk)
