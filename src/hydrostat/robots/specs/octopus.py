"""The octopus after Kang et al. (2012), sections 6 to 8: eight arms on a free body.

The paper gives no number for the body. Here it is a ball of the arms' tissue that weighs as much as all of them
together, so that body and arms float alike; all of it is assumed. The arms are those of `octopus_arm`.

**Frame.** z points up, out of the mantle; the mouth is below. Arm 1 points along x, the others follow counterclockwise
seen from above. Azimuth 0 of an arm, its local x, is the side of the mouth, where the suckers are.
"""

import math

from hydrostat.errors import number, whole
from hydrostat.geometry import frustum_volume
from hydrostat.robots.limbed import BodySpec, LimbedSpec, RingSpec, ShapeSpec
from hydrostat.robots.specs.octopus_arm import LENGTH, RADII, SEGMENTS, TISSUE, octopus_arm

ARMS = 8
RING = 0.022  # m, of the arms' bases about the axis, assumed: eight bases of 15 mm side by side


def arm_volume() -> float:
    """The volume of one arm, a truncated cone [m^3]."""
    return frustum_volume(LENGTH, *RADII)


def body_mass(arms: int = ARMS) -> float:
    """The mass of the body, as much as that of all arms together [kg]."""
    return arms * TISSUE.density * arm_volume()


def body_radius(arms: int = ARMS) -> float:
    """The radius of the body, a ball of the arms' tissue [m]."""
    return (0.75 * body_mass(arms) / TISSUE.density / math.pi) ** (1.0 / 3.0)


def octopus(arms: int = ARMS, segments: int = SEGMENTS, pitch_deg: float = 0.0) -> LimbedSpec:
    """The specification.

    **Arguments:** `arms`: how many, evenly around the body; `segments`: of each; `pitch_deg`: by how much they point
    down where they leave the body.
    """
    count = whole("arms", arms, least=1, most=16)
    number("pitch_deg", pitch_deg, least=-80.0, most=80.0)
    below = -math.sqrt(max(body_radius() ** 2 - RING**2, 0.0))
    ring = RingSpec(count, RING, below, pitch_deg, most_bend_deg=60.0, length_range=(0.3, 3.0))
    ball = ShapeSpec("mantle", "sphere", (body_radius(),), (0.0, 0.0, 0.0), body_mass())
    return LimbedSpec(
        name="octopus",
        body=BodySpec((ball,), body_mass() / TISSUE.density),
        limbs=ring.limbs(octopus_arm(segments)),
        notes="Kang et al. 2012: eight arms of 20 segments on a free body; the body's size and mass are assumed.",
    )
