"""Specifications of tendons, muscles, legs and motors, checked; nothing here needs JAX."""

from dataclasses import dataclass

from hydrostat import errors
from hydrostat.errors import InputError

WIRE_KINDS = ("hard", "soft")
SEGMENT_KINDS = ("strut", "strain")
MUSCLE_LAWS = ("tissue", "paper")
MOST_PISTON_SHARE = 0.07  # five pistons, five cylinders and four radial pistons weigh less than their segment
MOST_SEGMENTS = 1000

# Outside these bounds a number is a slip of the pen, and formulas would overflow.
SIZE = {"above": 0.0, "most": 1e3}  # m
ANGLE = {"least": -720.0, "most": 720.0}  # deg
MASS = {"least": 0.0, "most": 1e6}  # kg


@dataclass(frozen=True)
class TendonSpec:
    """One tendon or wire, from the base of one segment to the end of the same or a later one."""

    azimuth_deg: float
    """Azimuth of the tendon in the cross-section, from +x towards +y [deg]."""
    offset: tuple[float, ...]
    """Distance from the axis at its first and at its last point [m], or at every boundary of the segments it passes."""
    ends_at_segment: int
    """The segment at whose end it is fixed, counted from 1."""
    starts_at_segment: int = 1
    """The first segment it runs along; equal to `ends_at_segment` for a wire that a sheath brings to its segment."""
    kind: str = "hard"
    """`hard`: guided all along, it follows the curve; `soft`: straight between the discs of `bays` equal bays."""
    bays: int = 10
    """Number of equal bays of each segment; used by soft wires."""
    turn_deg: float = 0.0
    """Angle by which the tendon winds round the axis from its first to its last point, evenly [deg]; 0 for a straight
    course."""

    def __post_init__(self):
        turn = errors.number("turn_deg", self.turn_deg, least=-36000.0, most=36000.0)
        object.__setattr__(self, "turn_deg", turn)
        azimuth = errors.number("azimuth_deg", self.azimuth_deg, least=-360.0, most=360.0)
        end = errors.whole("ends_at_segment", self.ends_at_segment, least=1, most=MOST_SEGMENTS)
        start = errors.whole("starts_at_segment", self.starts_at_segment, least=1, most=end)
        offset = errors.numbers("offset", self.offset, None, **SIZE)
        boundaries = end - start + 2
        if len(offset) not in (2, boundaries):
            raise InputError(f"`offset` must be a list of 2 or {boundaries} numbers; got {len(offset)}")
        errors.choice("kind", self.kind, WIRE_KINDS)
        errors.whole("bays", self.bays, least=1, most=200)
        object.__setattr__(self, "azimuth_deg", azimuth)
        object.__setattr__(self, "offset", offset)


@dataclass(frozen=True)
class MusclesSpec:
    """The muscles of a hydrostat arm: four longitudinal ones and radial ones in every segment, maybe oblique ones."""

    stress: float
    """Largest active stress, at the rest length, over the rest section [Pa]."""
    stiffness: float
    """Growth of the active stress per relative length [Pa]; without it a shortening arm collapses."""
    segments: str = "strut"
    """`strut`: straight pieces that tilt at their upper plate; `strain`: arcs of constant strain."""
    offset: float = 0.7071
    """Distance of the longitudinal muscles from the axis, over the radius."""
    oblique_deg: float = 0.0
    """Angle by which oblique muscles wind round the axis over one segment [deg]; 0 for none. They need the mode
    twist."""
    fastest: float = 0.0
    """Lengths per second at which a shortening muscle has no force left [1/s]; 0 for force that ignores the rate."""
    activation_time: float = 0.03
    """Time constant of the first-order lag between command and activation [s]."""
    bend_limit_deg: float = 57.3
    """Bend from which on a segment stiffens [deg]."""
    law: str = "tissue"
    """`tissue`: muscles in rubber-like tissue; `paper`: those of Kang et al. (2012), pistons with springs and dampers,
    and no other elasticity. They need struts, and neither `stiffness`, `fastest` nor oblique ones."""
    piston_share: float = 0.05
    """Mass of a piston over that of its segment, and as much of a cylinder and of a radial piston, for law `paper`."""

    def __post_init__(self):
        checked = {
            "stress": errors.number("stress", self.stress, above=0.0, most=1e12),
            "stiffness": errors.number("stiffness", self.stiffness, least=0.0, most=1e12),
            "offset": errors.number("offset", self.offset, above=0.0, most=1.0),
            "oblique_deg": errors.number("oblique_deg", self.oblique_deg, least=0.0, most=170.0),
            "fastest": errors.number("fastest", self.fastest, least=0.0, most=1e6),
            "activation_time": errors.number("activation_time", self.activation_time, least=0.0, most=10.0),
            "bend_limit_deg": errors.number("bend_limit_deg", self.bend_limit_deg, above=0.0, most=170.0),
            "piston_share": errors.number("piston_share", self.piston_share, least=0.0, most=MOST_PISTON_SHARE),
        }
        errors.choice("segments", self.segments, SEGMENT_KINDS)
        errors.choice("law", self.law, MUSCLE_LAWS)
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.law == "paper":
            self._check_pistons()

    def _check_pistons(self):
        """Refuse what the paper's muscles do not have."""
        if self.segments != "strut":
            raise InputError(f"muscles of law `paper` need `segments` strut, between plates; got {self.segments}")
        for name in ("stiffness", "fastest", "oblique_deg"):
            if getattr(self, name):
                raise InputError(f"muscles of law `paper` need `{name}` 0, they have none; got {getattr(self, name):g}")


@dataclass(frozen=True)
class LegsSpec:
    """The six legs of every segment of a chain of platforms, and the limits of their actuators."""

    lower_azimuths_deg: tuple[float, ...] = (150.0, 150.0, 270.0, 270.0, 30.0, 30.0)
    """Azimuths of the legs' joints on the lower plate, from +x towards +y [deg]."""
    upper_azimuths_deg: tuple[float, ...] = (90.0, 210.0, 210.0, 330.0, 330.0, 90.0)
    """Azimuths of the same legs' joints on the upper plate [deg]."""
    length_range: tuple[float, ...] = (0.4, 2.5)
    """Shortest and longest length of a leg, over its rest length."""
    max_stroke: float = 0.7
    """Stroke of a leg: largest change of its length from that at rest [m]."""
    max_rate: float = 2.0
    """Highest rate of a leg's length [m/s]."""
    max_force: float = 5e3
    """Largest force of a leg [N]."""
    leg_mass: float = 0.1
    """Mass of one leg [kg]; its cylinder counts with the lower plate, its piston, the other half, with the upper
    one."""
    plate_thickness: float = 5e-3
    """Thickness of the plates [m], which are discs of the robot's material."""

    def __post_init__(self):
        lower = errors.numbers("lower_azimuths_deg", self.lower_azimuths_deg, 6, **ANGLE)
        upper = errors.numbers("upper_azimuths_deg", self.upper_azimuths_deg, 6, **ANGLE)
        low, high = errors.numbers("length_range", self.length_range, 2, above=0.0, most=100.0)
        if not low < 1.0 < high:
            raise InputError(f"`length_range` must lie around 1, the length at rest; got {low:g} to {high:g}")
        legs = [(a % 360.0, b % 360.0) for a, b in zip(lower, upper, strict=True)]
        for i, leg in enumerate(legs):
            if leg in legs[:i]:
                raise InputError(
                    f"no two legs may join the same places; got legs {legs.index(leg) + 1} and {i + 1} both from "
                    f"{leg[0]:g} to {leg[1]:g} deg"
                )
        checked = {
            "lower_azimuths_deg": lower,
            "upper_azimuths_deg": upper,
            "length_range": (low, high),
            "max_stroke": errors.number("max_stroke", self.max_stroke, **SIZE),
            "max_rate": errors.number("max_rate", self.max_rate, above=0.0, most=1e6),
            "max_force": errors.number("max_force", self.max_force, above=0.0, most=1e12),
            "leg_mass": errors.number("leg_mass", self.leg_mass, **MASS),
            "plate_thickness": errors.number("plate_thickness", self.plate_thickness, **SIZE),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class MotorSpec:
    """The stepper motors, one per wire, each on a screw."""

    steps_per_turn: int = 5000
    screw_pitch: float = 1.25e-3
    """Wire drawn in per turn [m]."""
    max_speed: float = 0.025
    """Highest speed of the wire [m/s]."""
    max_acceleration: float = 0.1
    """Highest acceleration of the wire [m/s^2]."""
    max_jerk: float = 1.0
    """Highest jerk of the wire, in S-curves [m/s^3]."""
    max_pulse_rate: float = 200e3
    """Highest number of pulses per second."""

    def __post_init__(self):
        errors.whole("steps_per_turn", self.steps_per_turn, least=1, most=10_000_000)
        for name in ("screw_pitch", "max_speed", "max_acceleration", "max_jerk"):
            object.__setattr__(self, name, errors.number(name, getattr(self, name), above=0.0, most=1e6))
        object.__setattr__(
            self, "max_pulse_rate", errors.number("max_pulse_rate", self.max_pulse_rate, above=0.0, most=1e12)
        )

    @property
    def step(self) -> float:
        """Wire drawn in by one pulse [m]."""
        return self.screw_pitch / self.steps_per_turn
