"""The planar finger of Dehghani and Moosavian (2014): a Nitinol rod that bends in two arcs, and a pair of tendons.

From "Dynamics modeling of a continuum robotic arm with a contact point in planar grasp". Given there: a NiTi rod 60 cm
long and 2 mm thick, in two arcs that meet at the contact point. Not given: all other numbers. Those of the material are
data sheets', the others are assumed.

**Frame.** The finger is clamped horizontally along the world's x. Its section then has x straight down and y along the
world's y, so that a positive `bend_y` bends the finger down, towards -z of the world, and it sags into positive angles
under a gravity along -z. Tendon 1, at azimuth 0, runs below the rod and pulls it down; tendon 2 runs above. The paper's
X, Y are the world's z, x, its angles theta are `bend_y` times the length with the same sign, and its tensions F_1, F_2
are those of tendons 1 and 2. The tests hold the finger against the paper's own equations.

**Spatial.** `finger_spatial` is the same rod free to bend to all sides, with three cables around it (assumed), the
first where tendon 1 is.

**Preshape.** The unloaded angles theta* are the arm's rest strain. Its coordinates count from there:
theta = theta* + length times coordinate.
"""

from dataclasses import replace

from hydrostat import errors
from hydrostat.errors import InputError
from hydrostat.robots.spec import (
    ANGLE,
    MASS,
    SIZE,
    BaseSpec,
    MassSpec,
    MaterialSpec,
    RobotSpec,
    SegmentSpec,
    TendonSpec,
)

LENGTHS = (0.3, 0.3)  # m: 0.6 m in all is the paper's, section 5; the split is assumed
RADIUS = 1e-3  # m: the paper's 2 mm rod, section 5
TENDON_OFFSET = 0.010  # m, assumed
# Nitinol, from data sheets (sma-inc.com, ti-mart.com) and codes for superelastic tubes (hitzhangchao/CTR).
YOUNGS_MODULUS = 60e9  # Pa: 28 to 41 as martensite, 75 to 83 as austenite, 48.7 to 60 in use; the paper fits its own
POISSON_RATIO = 0.3  # 0.3 to 0.33
DENSITY = 6450.0  # kg/m^3
SPATIAL_AZIMUTHS = (0.0, 120.0, 240.0)  # deg, assumed
FRICTION = 2e-4  # N m s, assumed: damps the first vibration of the bare finger by 1 % of the critical value


def finger(
    lengths: tuple[float, ...] = LENGTHS,
    radius: float = RADIUS,
    *,
    tip_mass: float = 0.0,
    contact_mass: float = 0.0,
    tendon_offset: float = TENDON_OFFSET,
    friction: float = FRICTION,
    preshape_deg: tuple[float, ...] = (0.0, 0.0),
    youngs_modulus: float = YOUNGS_MODULUS,
    segments: int = 2,
    modes: tuple[str, ...] = ("bend_y",),
    azimuths_deg: tuple[float, ...] = (0.0, 180.0),
) -> RobotSpec:
    """The finger's specification.

    Its masses are always two, first that of the contact point and then that of the tip. The discs that hold the tendons
    off the rod weigh nothing (assumed).

    **Arguments:** `lengths`: L of the two arcs [m]; `radius`: of the rod [m]; `tip_mass`, `contact_mass`: carried by
    the tip and by the point where the arcs meet [kg]; `tendon_offset`: distance e of both tendons from the axis [m];
    `friction`: c_frc, the structure's friction torque per rate of an arc's angle [N m s]; `preshape_deg`: angles theta*
    of the two unloaded arcs, positive downwards [deg]; `youngs_modulus`: [Pa]; `segments`: their number in all, half of
    them equal pieces of the first arc and half of the second: 2 is the paper's model, more let the arcs bend unevenly;
    `modes`: the strains that every segment is free in; `azimuths_deg`: where the tendons run about the axis, all of
    them to the tip [deg].
    """
    # What the specification would refuse under another name is refused here.
    lengths = errors.numbers("lengths", lengths, 2, **SIZE)
    radius = errors.number("radius", radius, **SIZE)
    tip_mass = errors.number("tip_mass", tip_mass, **MASS)
    contact_mass = errors.number("contact_mass", contact_mass, **MASS)
    tendon_offset = errors.number("tendon_offset", tendon_offset, **SIZE)
    preshape_deg = errors.numbers("preshape_deg", preshape_deg, 2, **ANGLE)
    errors.whole("segments", segments, least=2, most=1000)
    if segments % 2:
        raise InputError(f"`segments` must be even, half of them for each arc; got {segments}")

    arcs = [
        SegmentSpec(
            length=length,
            radius=(radius, radius),
            modes=modes,
            friction=friction,
            preshape_deg=(0.0, angle),
            disc_radius=max(radius, tendon_offset),
        )
        for length, angle in zip(lengths, preshape_deg, strict=True)
    ]
    return RobotSpec(
        name="finger",
        base=BaseSpec(position=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)),
        segments=tuple(piece for arc in arcs for piece in arc.pieces(segments // 2)),
        material=MaterialSpec(youngs_modulus, POISSON_RATIO, DENSITY),
        masses=(MassSpec(lengths[0] / sum(lengths), contact_mass), MassSpec(1.0, tip_mass)),
        tendons=tuple(TendonSpec(azimuth, (tendon_offset,) * 2, segments) for azimuth in azimuths_deg),
        notes="Dehghani and Moosavian 2014: a NiTi rod of 60 cm by 2 mm in two arcs, two tendons. "
        "The material is from data sheets; all else is assumed.",
    )


def finger_spatial(**options) -> RobotSpec:
    """The finger with three cables, which bends to all sides; options as those of `finger`."""
    spec = finger(modes=("bend_x", "bend_y"), azimuths_deg=SPATIAL_AZIMUTHS, **options)
    return replace(spec, name="spatial finger")
