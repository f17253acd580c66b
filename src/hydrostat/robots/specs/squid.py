"""The squid of project URSULA: a rigid body with four soft limbs.

From the paper (Emet, Gur and Dede 2023): limbs of Ecoflex 00-30, truncated cones of 600 mm, 60 mm thick at the base and
20 mm at the tip, with four tendons; grasper and palpation arm of two segments, camera and light arm of one; the ranges
of its table I; a body of head, pen, mantle and tail, less than 1200 mm long and 250 mm wide at the head; 30 kg dry,
limbs included, slightly buoyant. Not in the paper, and assumed here: where the limbs sit, where the tendons run, how
the mass is shared, by how much it floats, and the material's viscosity. The paper anchors the tendons at the tip; how
four such tendons are to bend two segments apart from each other, which they cannot, it does not say.

**Frame.** The body swims along the world's x. Its z points forwards, along the limbs, its x down and its y along the
world's y; its origin is the middle of the bow plate that carries the limbs.
"""

import math
from dataclasses import replace

from hydrostat.constants import SEA_WATER
from hydrostat.errors import choice, number, whole
from hydrostat.geometry import frustum_volume
from hydrostat.robots.limbed import BodySpec, LimbedSpec, LimbSpec, ShapeSpec
from hydrostat.robots.spec import BaseSpec, MaterialSpec, RobotSpec, SegmentSpec, TendonSpec

LENGTH = 0.600  # m, section 2.2
RADII = (0.030, 0.010)  # m, base and tip, section 2.2
ECOFLEX = MaterialSpec(
    youngs_modulus=69e3,  # Pa, section 2.2
    poisson_ratio=0.5,  # section 2.2
    density=1070.0,  # kg/m^3, section 2.2
    viscosity=1.0e3,  # Pa s, assumed: damps the first vibration in air by about 1 % of the critical value
)
MODES = ("bend_x", "bend_y", "stretch")  # the paper's arc: theta, phi and its length
LENGTH_RANGE = (580.0 / 600.0, 1.0)  # table I: 580 to 600 mm, or 290 to 300 mm
MOST_BEND_DEG = 90.0  # table I: theta up to pi / 2
SECTIONS = 10  # the paper's N
TENDON_OFFSET = 0.007  # m from the axis, assumed: inside the tip's 10 mm
TENDON_AZIMUTHS = (0.0, 90.0, 180.0, 270.0)  # deg, assumed; four tendons are the paper's
TENDONS = ("tip", "segments")
"""The ends of the tendons: four at the tip, as in the paper; or four at the end of every segment, not in the paper."""

# By limb: number of segments (section 3.1), what its tip is (section 2.2), and its azimuth on the bow plate (assumed).
LIMBS = {
    "grasper": (2, "tool", 45.0),
    "palpation": (2, "tool", -45.0),
    "camera": (1, "camera", 135.0),
    "light": (1, "light", -135.0),
}
MOUNT_CIRCLE = 0.080  # m, assumed: flanges of 80 mm side by side within the head of 250 mm

DRY_MASS = 30.0  # kg, section 2.1, limbs included
WATER = SEA_WATER
BUOYANCY = 1.01  # lift of the whole robot over its weight, assumed for "slightly positively buoyant"


def limb_volume() -> float:
    """The volume of one limb, a truncated cone [m^3]."""
    return frustum_volume(LENGTH, *RADII)


def limb_gravity(water: float = WATER) -> tuple[float, float, float]:
    """Gravity less the buoyancy of water of a density [kg/m^3] on the limbs, which have one density themselves."""
    return (0.0, 0.0, -9.81 * (1.0 - water / ECOFLEX.density))


def squid_limb(name: str = "camera", pieces: int = 1, base: BaseSpec | None = None, tendons: str = "tip") -> RobotSpec:
    """One limb on its own.

    **Arguments:** `name`: which; `pieces`: equal pieces of each of its segments: 1 is the paper's model, more let a
    segment bend unevenly, as its taper makes it; `base`: where it is mounted, by default as on the body, at the origin;
    `tendons`: where they end, as `TENDONS` says. With four at every segment its segments bend apart from each other.
    """
    choice("name", name, tuple(LIMBS))
    choice("tendons", tendons, TENDONS)
    whole("pieces", pieces, least=1, most=500)
    count, _, _ = LIMBS[name]
    whole_limb = SegmentSpec(LENGTH, RADII, MODES)
    # The paper's four tendons run to the tip, where they are anchored.
    ends = (count,) if tendons == "tip" else tuple(range(1, count + 1))
    limb = RobotSpec(
        name=f"squid's {name} limb",
        base=base or BaseSpec(axis=(1.0, 0.0, 0.0)),
        segments=whole_limb.pieces(count),
        material=ECOFLEX,
        tendons=tuple(TendonSpec(azimuth, (TENDON_OFFSET,) * 2, end) for end in ends for azimuth in TENDON_AZIMUTHS),
        notes="Emet et al. 2023: an Ecoflex cone of 600 mm, 60 to 20 mm thick, four tendons; "
        "where they run, and the viscosity, are assumed.",
    )
    return limb if pieces == 1 else limb.cut(pieces)


def squid(pieces: int = 1, tendons: str = "tip", buoyancy: float = BUOYANCY) -> LimbedSpec:
    """The whole robot.

    **Arguments:** `pieces`: equal pieces of each segment of its limbs; 1 is the paper's model; `tendons`: as those of
    `squid_limb`; `buoyancy`: lift of the whole robot over its weight, 1 for one that is trimmed to hover.
    """
    buoyancy = number("buoyancy", buoyancy, least=0.9, most=1.1)
    limbs = []
    for name, (_, role, azimuth) in LIMBS.items():
        angle = math.radians(azimuth)
        place = BaseSpec(position=(MOUNT_CIRCLE * math.cos(angle), MOUNT_CIRCLE * math.sin(angle), 0.0))
        arm = replace(squid_limb(name, pieces, place, tendons), name=name)
        limbs.append(LimbSpec(name, arm, role, MOST_BEND_DEG, LENGTH_RANGE))
    body_mass = DRY_MASS - len(LIMBS) * ECOFLEX.density * limb_volume()
    displaced = buoyancy * DRY_MASS / WATER - len(LIMBS) * limb_volume()
    # Parts and their shares of the mass, all assumed; from bow plate to stern 1.19 m.
    shares = {"head": 0.40, "pen": 0.35, "mantle": 0.10, "tail": 0.15}
    shapes = (
        ShapeSpec("head", "cylinder", (0.125, 0.250), (0.0, 0.0, -0.125), shares["head"] * body_mass),
        ShapeSpec("pen", "cylinder", (0.050, 0.700), (0.0, 0.0, -0.600), shares["pen"] * body_mass),
        ShapeSpec("mantle", "capsule", (0.110, 0.420), (0.0, 0.0, -0.570), shares["mantle"] * body_mass),
        ShapeSpec("tail", "box", (0.060, 0.240, 0.240), (0.0, 0.0, -1.070), shares["tail"] * body_mass),
    )
    return LimbedSpec(
        name="squid",
        body=BodySpec(shapes, displaced),
        limbs=tuple(limbs),
        base=BaseSpec(axis=(1.0, 0.0, 0.0)),
        notes="Emet et al. 2023: four Ecoflex limbs of 600 mm on a body of 1.2 m and 30 kg; "
        "shapes, mounts, tendons' places and viscosity are assumed.",
    )
