"""The muscles of Kang et al. (2012): pistons in cylinders, with a linear spring, a damper and an active force each.

Four longitudinal muscles run from plate to plate of a segment, a passive strut stands between the plates' centres, and
four radial muscles lie in the plate. With tensions, which are minus the paper's forces (equations 7, 11 and 15):

    longitudinal  T_i = a_i F + K (L_i - L_0) + C L_i'
    strut         T   = K (h - h_0) + C h'
    radial        T   = a F_r + K_r (R - R_0) + C_r R',  each of the four.

The paper's segment has no other elasticity. It prints none of the numbers: they follow here from Young's modulus E, the
viscosity and the largest stress s of the tissue by the section's area A and the rest length and radius h and R,

    K = E A / (5 h),  K_r = E pi h / 4,  F = s A / 4,  F_r = s pi R h / 4,

and dampers as springs with the viscosity in place of E. Four muscles at the distance sqrt(5/8) R and the strut have
both stiffnesses of a solid section, E A against stretch and E I against bending; radial springs add a quarter of E A.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.actuation.muscles import LONGITUDINAL_AZIMUTHS, bend_of, limit_energy, limit_stiffness
from hydrostat.actuation.section_muscles import AbstractSectionMuscles
from hydrostat.bodies import Arm
from hydrostat.errors import InputError
from hydrostat.geometry import frustum_volume
from hydrostat.lie import small
from hydrostat.mechanics.contraction import positive_part
from hydrostat.mechanics.nodes import AbstractTelescopes, AbstractTissue
from hydrostat.segments import SWELL

_LIMIT_FACTOR = 50.0  # by which a segment stiffens beyond its bend limit, assumed
_ROD = 0.5  # length of a cylinder or a piston over the segment's rest length, assumed
_LONGITUDINAL, _RADIAL = 4, 4


class PistonMuscles(AbstractSectionMuscles):
    """The active forces and the dampers of the muscles; their springs are the arm's elasticity, `Springs`."""

    radius: Float[Array, " n"]
    rest: Float[Array, " n"]
    lower: Float[Array, "n f 2"]
    upper: Float[Array, "n f 2"]
    fibre_rest: Float[Array, "n e"]
    force: Float[Array, " n"]
    """Largest active force of each longitudinal muscle [N]."""
    radial_force: Float[Array, " n"]
    """Largest active force of each radial muscle [N]."""
    damping: Float[Array, " n"]
    """Damping of each longitudinal muscle, and of the strut [N s/m]."""
    radial_damping: Float[Array, " n"]
    """Damping of each radial muscle [N s/m]."""

    def tensions(self, lengths, rates, activation) -> Float[Array, "n m"]:
        """The active force and that of the damper of every muscle [N]; for the radial ones the sum of all four."""
        forces = self.force[:, None], _RADIAL * self.radial_force[:, None]
        dampings = self.damping[:, None], _RADIAL * self.radial_damping[:, None]
        parts = slice(None, _LONGITUDINAL), slice(_LONGITUDINAL, None)
        pulls = [
            force * activation[:, part] + damping * rates[:, part]
            for force, damping, part in zip(forces, dampings, parts, strict=True)
        ]
        return jnp.concatenate(pulls, -1)


class Springs(AbstractTissue):
    """The springs of the muscles and of the strut; beyond `bend_limit` a segment stiffens, which the paper's does not.

    With a bulk modulus the volume V of a segment that swells is kept by the pressure -K (V - V_0) / V_0.
    """

    muscles: PistonMuscles
    spring: Float[Array, " n"]
    """Stiffness K of each longitudinal muscle, and of the strut [N/m]."""
    radial_spring: Float[Array, " n"]
    """Stiffness K_r of each radial muscle [N/m]."""
    rigidity: Float[Array, " n"]
    """Bending stiffness E I of the section at rest times the segment's length [N m^3]."""
    volume: Float[Array, " n"]
    """Volume of each segment [m^3]."""
    bend_limit: Float[Array, ""]
    """Bend of a segment from where it stiffens [rad]."""
    limit_factor: Float[Array, ""]
    """Stiffness that is added beyond `bend_limit`, over the bending stiffness at rest."""
    bulk: Float[Array, ""] | None = None
    """Bulk modulus [Pa]; None where the volume is kept exactly."""

    def energy(self, arm: Arm, q) -> Float[Array, " n"]:
        """The energy stored in each segment [J]."""
        own, length = self.muscles, arm.segments.length
        lengths, stretch = own.lengths(arm, q), arm.segments.stretch(q)
        longer = lengths[:, :_LONGITUDINAL] - own.fibre_rest
        along = jnp.sum(longer * longer, -1) + (length * (stretch - 1.0)) ** 2
        across = _RADIAL * (lengths[:, _LONGITUDINAL] - own.radius) ** 2
        stored = 0.5 * (self.spring * along + self.radial_spring * across)
        bend = bend_of(arm, q)
        stored = stored + limit_energy(self.limit_factor, self.rigidity, self.bend_limit, length, bend)
        if self.bulk is None:
            return stored
        return stored + 0.5 * self.bulk * self.volume * (stretch * arm.segments.area_ratio(q) - 1.0) ** 2

    def pressure(self, arm: Arm, q) -> Float[Array, " n"]:
        """The pressure that keeps the volume of each segment [Pa]."""
        assert self.bulk is not None
        return self.bulk * (1.0 - arm.segments.stretch(q) * arm.segments.area_ratio(q))

    def stiffness(self, arm: Arm, q) -> Float[Array, "n k k"]:
        """The springs' stiffness along their lengths, and the positive part of what they turn."""
        own, modes = self.muscles, arm.segments.modes
        lengths, J = own.pulls(arm, q)
        springs = jnp.concatenate(
            [jnp.broadcast_to(self.spring[:, None], own.fibre_rest.shape), _RADIAL * self.radial_spring[:, None]], -1
        )
        tension = springs * (lengths - jnp.concatenate([own.fibre_rest, own.radius[:, None]], -1))
        along = small.matmul(jnp.swapaxes(J, -1, -2), springs[..., None] * J)
        turned = positive_part(own.turning(arm, q, tension, lengths, J))
        length = arm.segments.length
        limit = self.limit_factor * self.rigidity
        around, in_plane = limit_stiffness(limit, self.bend_limit, length, bend_of(arm, q), modes)
        parts = {"bend_x": around, "bend_y": around, "stretch": self.spring * length**2}
        if self.bulk is not None:
            ratio = arm.segments.stretch(q) * arm.segments.area_ratio(q)
            parts[SWELL] = 4.0 * self.volume * self.bulk * ratio
        diagonal = jnp.stack([parts[mode] for mode in modes], -1)
        return along + turned + diagonal[..., None] * jnp.eye(len(modes)) + in_plane


class Telescopes(AbstractTelescopes):
    """The cylinders and pistons of the four muscles and of the strut, as slender rods, and the platforms.

    A cylinder hangs at the muscle's lower end and a piston at its upper end, each half as long as the segment at rest
    and turning with the muscle's direction. Two points of a slender rod, Gauss' points with half of its mass each, have
    its mass, its centre and its moment of inertia: the inertia of the rods is exact.
    """

    radius: Float[Array, " n"]
    lower: Float[Array, "n f 2"]
    """Where each muscle, and then the strut, meets the lower section, over the radius."""
    upper: Float[Array, "n f 2"]
    reach: Float[Array, "n r"]
    """Distances of a rod's points from the end at which it hangs [m]."""
    point_mass: Float[Array, "n p"]
    platform: Float[Array, "n 6"]

    def positions(self, arm: Arm, q) -> Float[Array, "n p 3"]:
        """The rods' points in the frame of their segment's base [m]: all those of cylinders, then those of pistons."""

        def of_segment(segment, q, radius, lower, upper, reach):
            R = segment.pose(q, 1.0).rotation
            p = segment.pose(q, 1.0).position
            hangs = radius * jnp.pad(lower, ((0, 0), (0, 1)))
            stands = p + radius * small.matmul(upper, R[:, :2].T)
            away = stands - hangs
            along = reach[:, None, None] * (away / small.norm(away)[:, None])
            return jnp.concatenate([(hangs + along).reshape(-1, 3), (stands - along).reshape(-1, 3)])

        radius = self.radius * jnp.sqrt(arm.segments.area_ratio(q))
        return jax.vmap(of_segment)(arm.segments, q, radius, self.lower, self.upper, self.reach)


class Pistons(eqx.Module):
    """All that the paper's muscles are in a model of an arm."""

    muscles: PistonMuscles
    springs: Springs
    telescopes: Telescopes
    strut_damping: Float[Array, " n"]
    """Damping of the strut over the stretch [N m s]."""
    radial_inertia: Float[Array, " n"]
    """Inertia of the radial pistons over the radius' share of that at rest [kg m^2]."""


def make_pistons(
    arm: Arm, stress: float, offset: float, piston_share: float, bend_limit, bulk_modulus: float | None = None
) -> Pistons:
    """The paper's muscles of an arm.

    **Arguments:** `stress`: largest active one over the rest section [Pa]; `offset`: distance of the longitudinal
    muscles from the axis over the radius; `piston_share`: mass of a piston over that of its segment, and as much of a
    cylinder and of a radial piston; what is left is the platform's, as a disc; `bend_limit` [rad]; `bulk_modulus` [Pa]:
    of an arm whose segments swell.
    """
    if (SWELL in arm.segments.modes) != (bulk_modulus is not None):
        raise InputError("segments that swell need a `bulk_modulus`, and no others; this arm has one without the other")
    base, tip = np.asarray(arm.section.radius_base), np.asarray(arm.section.radius_tip)
    rest = np.asarray(arm.segments.length)
    modulus, viscosity, density = (
        np.asarray(getattr(arm.material, name)) for name in ("youngs_modulus", "viscosity", "density")
    )
    volume = frustum_volume(rest, base, tip)
    area = volume / rest
    radius = np.sqrt(area / np.pi)
    # Muscles follow the taper: each meets both plates at the same share of the plate's own radius.
    angles = np.deg2rad(LONGITUDINAL_AZIMUTHS)
    places = offset * np.stack([np.cos(angles), np.sin(angles)], -1)
    lower, upper = ((end / radius)[:, None, None] * places for end in (base, tip))
    fibre_rest = np.hypot(rest[:, None], np.linalg.norm(upper - lower, axis=-1) * radius[:, None])
    spring, radial_spring = area / (5.0 * rest), np.pi * rest / 4.0
    muscles = PistonMuscles(
        *(jnp.asarray(value) for value in (radius, rest, lower, upper, fibre_rest)),
        force=jnp.asarray(stress * area / 4.0),
        radial_force=jnp.asarray(stress * np.pi * radius * rest / 4.0),
        damping=jnp.asarray(viscosity * spring),
        radial_damping=jnp.asarray(viscosity * radial_spring),
    )
    springs = Springs(
        muscles,
        jnp.asarray(modulus * spring),
        jnp.asarray(modulus * radial_spring),
        rigidity=jnp.asarray(modulus * np.pi / 4.0 * radius**4 * rest),
        volume=jnp.asarray(volume),
        bend_limit=jnp.asarray(bend_limit, float),
        limit_factor=jnp.asarray(_LIMIT_FACTOR),
        bulk=None if bulk_modulus is None else jnp.asarray(bulk_modulus, float),
    )
    mass = density * volume
    telescopes = _telescopes(rest, radius, lower, upper, mass, piston_share)
    return Pistons(
        muscles,
        springs,
        telescopes,
        strut_damping=jnp.asarray(viscosity * spring * rest**2),
        radial_inertia=jnp.asarray(_RADIAL * piston_share * mass * radius**2),
    )


def _telescopes(rest, radius, lower, upper, mass, piston_share: float) -> Telescopes:
    """The rods of the muscles and of the strut, and the platform of all mass that is not theirs."""
    legs, n = _LONGITUDINAL + 1, len(rest)
    with_strut = [np.concatenate([ends, np.zeros((n, 1, 2))], 1) for ends in (lower, upper)]
    reach = _ROD * rest[:, None] * (0.5 + np.array([-0.5, 0.5]) / np.sqrt(3.0))
    # Of cylinders and of pistons two points of each leg.
    points = np.broadcast_to((0.5 * piston_share * mass)[:, None], (n, 2 * 2 * legs))
    plate = (1.0 - 2.0 * legs * piston_share) * mass
    about = 0.25 * plate * radius**2
    platform = np.stack([about, about, 2.0 * about, plate, plate, plate], -1)
    return Telescopes(*(jnp.asarray(value) for value in (radius, *with_strut, reach, points, platform)))
