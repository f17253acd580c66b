"""The specification of a robot: the content of a robot file, checked before any mechanics is built from it.

Nothing here needs JAX, so that a wrong file is refused at once. Every length is in metres.
"""

import itertools
import math
from dataclasses import dataclass, replace

from hydrostat import errors
from hydrostat.errors import InputError, listed, shown
from hydrostat.robots.actuator_specs import (
    ANGLE,
    MASS,
    MOST_SEGMENTS,
    SIZE,
    LegsSpec,
    MotorSpec,
    MusclesSpec,
    TendonSpec,
)

# The order is that of a twist; segments/strain.py says what each means.
MODES = ("bend_x", "bend_y", "twist", "shear_x", "shear_y", "stretch")
"""Names of the strains that a segment may have."""

# As in `actuator_specs`: outside these bounds a number is a slip of the pen.
_INERTIA = {"least": 0.0, "most": 1e6}  # kg m^2
_FRICTION = {"least": 0.0, "most": 1e6}  # N m s
_MOST_TENDONS = 1000
_MOST_MASSES = 1000


@dataclass(frozen=True)
class BaseSpec:
    """The mount of the arm."""

    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    """Position of the arm's base in the world [m]."""
    axis: tuple[float, ...] = (0.0, 0.0, 1.0)
    """Direction of the straight arm; of any length but zero."""
    roll_deg: float = 0.0
    """Roll about that axis, from the smallest rotation that brings the world's z there [deg]."""

    def __post_init__(self):
        position = errors.numbers("position", self.position, 3, least=-1e6, most=1e6)
        axis = errors.numbers("axis", self.axis, 3, least=-1e6, most=1e6)
        if math.hypot(*axis) < 1e-9:
            raise InputError(f"`axis` must not be the zero vector; got {shown(list(axis))}")
        errors.number("roll_deg", self.roll_deg, least=-360.0, most=360.0)
        object.__setattr__(self, "position", position)
        object.__setattr__(self, "axis", axis)


@dataclass(frozen=True)
class SegmentSpec:
    """One segment of the arm."""

    length: float
    """Rest length [m]."""
    radius: tuple[float, ...]
    """Radius of the body at the segment's base and at its tip [m]."""
    modes: tuple[str, ...] = ("bend_x", "bend_y")
    """Strains in which the segment is free."""
    friction: float = 0.0
    """Friction torque of the structure per rate of the segment's bend angle, about x as about y [N m s]."""
    preshape_deg: tuple[float, ...] = (0.0, 0.0)
    """Bend of the unloaded segment from base to tip: length times curvature about x and about y [deg]."""
    disc_radius: float | None = None
    """Radius of the discs that guide tendons outside the body [m]; None where tendons run inside it."""

    def __post_init__(self):
        length = errors.number("length", self.length, **SIZE)
        radius = errors.numbers("radius", self.radius, 2, **SIZE)
        friction = errors.number("friction", self.friction, **_FRICTION)
        preshape = errors.numbers("preshape_deg", self.preshape_deg, 2, **ANGLE)
        if self.disc_radius is not None:
            disc = errors.number("disc_radius", self.disc_radius, **SIZE)
            if disc < max(radius):
                raise InputError(f"`disc_radius` must be at least the body's radius {max(radius):g}; got {disc:g}")
            object.__setattr__(self, "disc_radius", disc)
        if not isinstance(self.modes, list | tuple) or not self.modes:
            raise InputError(f"`modes` must be a list with some of {listed(MODES)}; got {shown(self.modes)}")
        modes = [errors.choice("modes", mode, MODES) for mode in self.modes]
        if len(set(modes)) != len(modes):
            raise InputError(f"`modes` must name each mode once; got {shown(modes)}")
        object.__setattr__(self, "length", length)
        object.__setattr__(self, "radius", radius)
        object.__setattr__(self, "modes", tuple(sorted(modes, key=MODES.index)))
        object.__setattr__(self, "friction", friction)
        object.__setattr__(self, "preshape_deg", preshape)

    def pieces(self, count: int) -> "tuple[SegmentSpec, ...]":
        """The segment cut into equal pieces that together behave as it does.

        The taper runs over all of them and each has its share of the preshape. A piece turns by 1/count of the whole's
        rate, so that count of them dissipate as much as the whole with count times its friction each.
        """
        base, tip = self.radius
        return tuple(
            replace(
                self,
                length=self.length / count,
                radius=tuple(base * (1 - j / count) + tip * (j / count) for j in (i, i + 1)),
                friction=self.friction * count,
                preshape_deg=tuple(angle / count for angle in self.preshape_deg),
            )
            for i in range(count)
        )


@dataclass(frozen=True)
class MaterialSpec:
    """The material of the arm."""

    youngs_modulus: float
    """Young's modulus [Pa]."""
    poisson_ratio: float = 0.5
    density: float = 1000.0
    """Density [kg/m^3]."""
    viscosity: float = 0.0
    """Viscosity [Pa s]."""

    def __post_init__(self):
        checked = {
            "youngs_modulus": errors.number("youngs_modulus", self.youngs_modulus, above=0.0, most=1e13),
            "poisson_ratio": errors.number("poisson_ratio", self.poisson_ratio, above=-1.0, most=0.5),
            "density": errors.number("density", self.density, above=0.0, most=1e6),
            "viscosity": errors.number("viscosity", self.viscosity, least=0.0, most=1e13),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class MassSpec:
    """A lumped mass that the arm carries on its axis."""

    place: float
    """Place, as a fraction of the arm's rest length: 0 the base, 1 the tip."""
    mass: float
    """Mass [kg]."""
    inertia: float = 0.0
    """Moment of inertia, the same about every axis through the place [kg m^2]."""

    def __post_init__(self):
        object.__setattr__(self, "place", errors.number("place", self.place, least=0.0, most=1.0))
        object.__setattr__(self, "mass", errors.number("mass", self.mass, **MASS))
        object.__setattr__(self, "inertia", errors.number("inertia", self.inertia, **_INERTIA))


@dataclass(frozen=True)
class RobotSpec:
    """A whole robot: one arm on a base, the masses it carries, its tendons and its motors."""

    name: str
    segments: tuple[SegmentSpec, ...]
    material: MaterialSpec = MaterialSpec(youngs_modulus=1e6)
    base: BaseSpec = BaseSpec()
    tendons: tuple[TendonSpec, ...] = ()
    motor: MotorSpec | None = None
    notes: str = ""
    """Source of the numbers."""
    masses: tuple[MassSpec, ...] = ()
    legs: LegsSpec | None = None
    """Legs of a chain of platforms, whose segments have six legs each and no modes; None for a continuum arm."""
    muscles: MusclesSpec | None = None
    """Muscles of a muscular hydrostat, whose volume is constant; None for other arms."""

    def __post_init__(self):
        errors.text("name", self.name)
        if not self.segments or len(self.segments) > MOST_SEGMENTS:
            raise InputError(f"an arm must have 1 to {MOST_SEGMENTS} segments; got {len(self.segments)}")
        if len(self.tendons) > _MOST_TENDONS:
            raise InputError(f"a robot can have at most {_MOST_TENDONS} tendons; got {len(self.tendons)}")
        if len(self.masses) > _MOST_MASSES:
            raise InputError(f"a robot can have at most {_MOST_MASSES} masses; got {len(self.masses)}")
        for index, tendon in enumerate(self.tendons, 1):
            self._check_tendon(index, tendon)
        if self.legs is not None:
            self._check_platforms()
        if self.muscles is not None:
            self._check_hydrostat(self.muscles)

    def _check_hydrostat(self, muscles: MusclesSpec):
        """Refuse a hydrostat arm that does not bend in both planes and stretch, or that has other actuators than
        muscles."""
        if self.tendons or self.legs is not None or self.motor is not None:
            raise InputError("a robot with [muscles] must have no tendons, [motor] or [legs]; got one of them")
        needed = ("bend_x", "bend_y", "twist", "stretch") if muscles.oblique_deg else ("bend_x", "bend_y", "stretch")
        for number, segment in enumerate(self.segments, 1):
            if segment.modes != needed or any(segment.preshape_deg) or segment.disc_radius is not None:
                raise InputError(
                    f"a segment of a robot with [muscles] needs the modes {listed(needed)}, no preshape and no discs; "
                    f"got {listed(segment.modes)} in segment {number}"
                )

    def _check_platforms(self):
        """Refuse a chain of platforms with properties of a continuum arm."""
        if self.tendons:
            raise InputError(f"a robot with [legs] must have no tendons; got {len(self.tendons)}")
        if self.motor is not None:
            raise InputError("a robot with [legs] must have no [motor]: its legs are the motors; got one")
        for number, segment in enumerate(self.segments, 1):
            plain = SegmentSpec(segment.length, segment.radius)
            if segment != plain:
                raise InputError(
                    f"a segment of a robot with [legs] is its length and radius alone; got modes, friction, "
                    f"preshape_deg or disc_radius in segment {number}"
                )

    def _check_tendon(self, index: int, tendon: TendonSpec):
        """Refuse a tendon that does not end on the arm or runs outside its body and discs, and tendons of different
        kinds."""
        if tendon.ends_at_segment > len(self.segments):
            raise InputError(
                f"`ends_at_segment` of tendon {index} must be at most {len(self.segments)}, the number of segments; "
                f"got {tendon.ends_at_segment}"
            )
        first = self.tendons[0]
        if (tendon.kind, tendon.bays) != (first.kind, first.bays):
            raise InputError(
                f"all tendons must share `kind` and `bays`; got {tendon.kind}, {tendon.bays} at tendon {index} "
                f"and {first.kind}, {first.bays} at tendon 1"
            )
        for number, (base, tip) in self.offsets(tendon).items():
            segment = self.segments[number - 1]
            disc = segment.disc_radius
            inside, bounds = ("the section", segment.radius) if disc is None else ("the discs", (disc, disc))
            for offset, radius in zip((base, tip), bounds, strict=True):
                if offset > radius * (1 + 1e-9):
                    raise InputError(
                        f"`offset` of tendon {index} must stay inside {inside}, at most the radius {radius:g} in "
                        f"segment {number}; got {offset:g}"
                    )

    def offsets(self, tendon: TendonSpec) -> dict[int, tuple[float, float]]:
        """The tendon's distance from the axis at base and tip of each segment it passes, by segment number from 1."""
        numbers = range(tendon.starts_at_segment, tendon.ends_at_segment + 1)
        if len(tendon.offset) == len(numbers) + 1:
            marks = list(tendon.offset)
        else:
            # Two values: linear in the rest length between the first and the last point.
            first, last = tendon.offset
            marks = [first + fraction * (last - first) for fraction in self._travelled(numbers)]
        return {number: (marks[i], marks[i + 1]) for i, number in enumerate(numbers)}

    def turns(self, tendon: TendonSpec) -> dict[int, tuple[float, float]]:
        """The angle by which the tendon has wound round the axis at base and tip of each segment it passes [deg]."""
        numbers = range(tendon.starts_at_segment, tendon.ends_at_segment + 1)
        marks = [fraction * tendon.turn_deg for fraction in self._travelled(numbers)]
        return {number: (marks[i], marks[i + 1]) for i, number in enumerate(numbers)}

    def _travelled(self, numbers: range) -> list[float]:
        """The fractions of their common rest length at the boundaries of segments, by number from 1."""
        reached = [0.0, *itertools.accumulate(self.segments[number - 1].length for number in numbers)]
        return [length / reached[-1] for length in reached]

    def cut(self, pieces: int, modes: tuple[str, ...] | None = None) -> "RobotSpec":
        """The same robot with every segment as a chain of equal pieces, its tendons running through them.

        **Arguments:** `modes`: of the pieces, those of their segments when not given.
        """
        segments = tuple(
            piece if modes is None else replace(piece, modes=modes)
            for segment in self.segments
            for piece in segment.pieces(pieces)
        )
        tendons = []
        for tendon in self.tendons:
            marks = list(self.offsets(tendon).values())
            inner = [base + (tip - base) * (i + 1) / pieces for base, tip in marks for i in range(pieces)]
            tendons.append(
                replace(
                    tendon,
                    offset=(marks[0][0], *inner),
                    starts_at_segment=(tendon.starts_at_segment - 1) * pieces + 1,
                    ends_at_segment=tendon.ends_at_segment * pieces,
                    bays=max(1, round(tendon.bays / pieces)),
                )
            )
        return replace(self, segments=segments, tendons=tuple(tendons))

    def with_wires(self, kind: str, bays: int | None = None) -> "RobotSpec":
        """The same robot with hard or soft wires."""
        tendons = tuple(replace(t, kind=kind, bays=t.bays if bays is None else bays) for t in self.tendons)
        return replace(self, tendons=tendons)
