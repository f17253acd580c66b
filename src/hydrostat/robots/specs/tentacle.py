"""The wire-driven tentacle of Boccolato, Manta, Dumitru and Cojocaru, "3D kinematics of a tentacle robot" (2009).

Given in the paper: three segments, three wires each at 120 degrees, a total length above 1 m, stepper motors of 5000
steps per turn on a screw of 1.25 mm. Not given, and assumed here: every other dimension, the material and the motors'
limits. The paper ignores how distal wires reach their segment ("decoupled approach"); both ways are offered.
"""

from hydrostat.errors import choice, whole
from hydrostat.robots.spec import BaseSpec, MaterialSpec, MotorSpec, RobotSpec, SegmentSpec, TendonSpec

SEGMENTS = 3
SEGMENT_LENGTH = 0.35  # m, assumed: 1.05 m in all
WIRE_CIRCLE = 0.045  # m, assumed: distance of the cylinder's wires from the axis
CONE_WIRE_CIRCLES = (0.050, 0.040, 0.030, 0.020)  # m, assumed: at the four discs that bound the cone's segments
WALL = 0.005  # m, assumed: the body is that much wider than the wire circle
THROUGH_SHIFT = 40.0  # deg, assumed: wires of one segment pass between those of the next in a common bundle

MATERIAL = MaterialSpec(
    # Assumed: a rubber-like body of discs and bellows around the paper's steel cable.
    youngs_modulus=1.0e6,
    poisson_ratio=0.45,
    density=400.0,
    viscosity=2.0e3,
)
MOTOR = MotorSpec(
    steps_per_turn=5000,  # Boccolato, section V.A
    screw_pitch=1.25e-3,  # m, section V.A
    max_speed=0.025,  # m/s, assumed: 20 turns a second
    max_acceleration=0.1,  # m/s^2, assumed
    max_jerk=1.0,  # m/s^3, assumed
    max_pulse_rate=200e3,  # 1/s, assumed
)


def tentacle(shape: str = "cylinder", wires: str = "hard", routing: str = "decoupled", bays: int = 10) -> RobotSpec:
    """The tentacle's specification.

    **Arguments:** `shape`: cylinder or cone; `wires`: hard (guided all along) or soft (straight from disc to disc);
    `routing`: decoupled (each wire acts on its own segment alone) or through (it passes the segments before);
    `bays`: number of bays between discs in each segment.
    """
    choice("shape", shape, ("cylinder", "cone"))
    choice("wires", wires, ("hard", "soft"))
    choice("routing", routing, ("decoupled", "through"))
    whole("bays", bays, least=1, most=200)
    circles = CONE_WIRE_CIRCLES if shape == "cone" else (WIRE_CIRCLE,) * (SEGMENTS + 1)
    radii = tuple(round(circle + WALL, 6) for circle in circles)
    segments = tuple(SegmentSpec(SEGMENT_LENGTH, radii[i : i + 2], ("bend_x", "bend_y")) for i in range(SEGMENTS))
    tendons = []
    for number in range(1, SEGMENTS + 1):
        start = 1 if routing == "through" else number
        shift = THROUGH_SHIFT * (number - 1) if routing == "through" else 0.0
        tendons += [
            TendonSpec(
                azimuth_deg=azimuth + shift,
                offset=circles[start - 1 : number + 1],
                starts_at_segment=start,
                ends_at_segment=number,
                kind=wires,
                bays=bays,
            )
            for azimuth in (0.0, 120.0, 240.0)
        ]
    return RobotSpec(
        name=f"tentacle ({shape}, {wires} wires, {routing})",
        base=BaseSpec(position=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)),
        segments=segments,
        material=MATERIAL,
        tendons=tuple(tendons),
        motor=MOTOR,
        notes="Boccolato et al. 2009: 3 segments, 9 wires, above 1 m, 5000 steps per 1.25 mm; all else is assumed.",
    )
