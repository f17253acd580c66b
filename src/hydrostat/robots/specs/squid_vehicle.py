"""The squid of project URSULA as a vehicle that swims: its hull, its pectoral fins and its mantle jet.

From the paper (Emet, Gur and Dede 2023, section 2.1): 30 kg dry and slightly buoyant, less than 1200 mm long; port and
starboard pectoral fins in three sections each, on rails along the pen, as the main drive; a jet as the second drive: a
pump, a double-walled mantle that the water stretches, a solenoid valve and a steerable nozzle towards the front of the
pen. The paper has no number for any of these but the first three: all numbers below are assumed, and say so.

**Frame.** That of `specs.squid`: z forwards, x down, y to port, the origin in the middle of the bow plate.
"""

import math
from dataclasses import replace

from hydrostat.geometry import frustum_volume
from hydrostat.robots.hull_spec import HullSpec
from hydrostat.robots.limbed import LimbedSpec
from hydrostat.robots.specs.squid import BUOYANCY, DRY_MASS, ECOFLEX, LENGTH, LIMBS, RADII, WATER, squid

HULL_LENGTH = 1.19  # m, from the bow plate to the stern
RIGHTING_ARM = 0.04  # m, by which the body's centre of buoyancy is above its centre of mass, assumed
AXIAL_DRAG = 0.2  # assumed: between a smooth spheroid, 0.05, and a blunt cylinder, 0.8 (Hoerner 1965)
CROSS_DRAG = 1.1  # assumed: that of a long circular cylinder (Hoerner 1965)
LINEAR_SPEED = 0.05  # m/s, assumed

FIN_SECTIONS = 3  # of each side, section 2.1
FIN_RAIL = (0.12, -0.28)  # m: how far the rails are from the axis, and where along it the first section begins, assumed
FIN_LENGTH, FIN_SPAN = 0.23, 0.15  # m, of one section, assumed
FIN_ANGLES_DEG = (-45.0, 45.0, 0.0)
"""Mean angles of the rays above the horizontal, from the first section to the last, assumed. Flapping the sections that
point down as well as out, and those that point up, pushes the squid sideways without a roll."""
FIN_WAVES = 2.0 / 3.0  # waves on a section, assumed; the wave goes on from section to section
FIN_FREQUENCY = 3.0  # Hz, assumed
FIN_MOST = math.radians(50.0)  # rad, assumed
FIN_LAG = 0.15  # s, assumed
FIN_SKEW = 0.85  # assumed
FIN_DRAG = 1.2  # of a plate across the flow, of an aspect ratio near 1 (Hoerner 1965)

JET_PLACE = (0.12, 0.0, -0.40)  # m, below the front of the pen, assumed
JET_CAPACITY = 0.6e-3  # m^3, assumed
JET_PRESSURE = 30e3  # Pa, assumed
JET_FLOW = 0.25e-3  # m^3/s, of the pump into an empty mantle, assumed
JET_AREA = 1.5e-4  # m^2, assumed
JET_VELOCITY = 0.97  # of the ideal velocity, assumed: that of a rounded nozzle
JET_MOST = math.radians(60.0)  # rad, assumed
JET_LAG = 0.1  # s, assumed


def squid_vehicle(pieces: int = 1, tendons: str = "segments", buoyancy: float = BUOYANCY) -> LimbedSpec:
    """The whole robot, free to swim.

    Its hull is the spheroid of its length that displaces as much water as the body does. With straight limbs centre of
    mass and centre of buoyancy of the whole robot lie above each other.

    **Arguments:** as those of `specs.squid.squid`.
    """
    spec = squid(pieces, tendons, buoyancy)
    body = spec.body
    width = math.sqrt(6.0 * body.volume / (math.pi * HULL_LENGTH))
    hull = HullSpec(
        length=HULL_LENGTH,
        width=width,
        centre=(0.0, 0.0, -HULL_LENGTH / 2.0),
        buoyancy_centre=(-RIGHTING_ARM, 0.0, _trim(spec, buoyancy)),
        axial_drag=AXIAL_DRAG,
        cross_drag=CROSS_DRAG,
        linear_speed=LINEAR_SPEED,
    )
    return replace(
        spec,
        name="squid vehicle",
        body=replace(body, free=True, hull=hull),
        notes="Emet et al. 2023: the squid as a vehicle; hull, trim and righting arm are assumed.",
    )


def _trim(spec: LimbedSpec, buoyancy: float) -> float:
    """Where along its axis the body's centre of buoyancy must be, for the whole robot's to be above its centre of mass
    [m]."""
    volume = len(LIMBS) * frustum_volume(LENGTH, *RADII)
    big, small = RADII
    # The centroid of a truncated cone, from its base.
    middle = LENGTH / 4.0 * (big**2 + 2.0 * big * small + 3.0 * small**2) / (big**2 + big * small + small**2)
    mass = spec.body.mass * float(spec.body.centre[2]) + ECOFLEX.density * volume * middle
    whole = buoyancy * DRY_MASS / WATER
    return (whole * mass / DRY_MASS - volume * middle) / spec.body.volume
