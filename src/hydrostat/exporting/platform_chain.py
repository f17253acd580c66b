"""A chain of Stewart platforms: six joints from each plate to the next, and the legs between their rings.

A tree of bodies cannot hold the loops that legs close, so the joints are those from plate to plate, and a leg is a
tendon from site to site: straight, as long as the leg, and with a motor that pushes and pulls. Its ends are carriages
that slide outwards on the two plates, as the radial joints do. Rings of the radius r = r_0 sqrt(L / h) keep the volume
of a segment whose plates are h apart and were L apart at rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from hydrostat.exporting.description import Chain, Joint, Leg, Limb, Link, Ring, Servo, Shape
from hydrostat.exporting.solids import Solid, lump, lumps_along
from hydrostat.mechanics.model import ArmModel
from hydrostat.robots.build import build_arm
from hydrostat.robots.spec import LegsSpec, RobotSpec, SegmentSpec

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_MOST_TURN = 1.5  # rad
_STEP = 2e-3  # s
_FLATTEST = 1.0 / 9.0  # of the distance of two plates at rest, assumed: there the rings are three times as wide
_GIVE = 1e-3  # of a ring's radius, by which the full force of a leg moves the servo of a radial joint, assumed
_STEP_OF_PERIOD = 0.25  # step times the frequency of a servo
_SHARE = 1e-6  # of a plate's mass, for each carriage on it
_THICKNESS = 0.02  # of a ring's radius: radius of legs and rods as they are drawn


@dataclass(frozen=True)
class RadialJoint:
    """The slide of a carriage: zero at the radius at rest."""

    name: str
    plate: str
    """The upper plate of the segment, whose joints tell how far its plates are apart."""
    length: float
    """Distance of the plates at rest, L [m]."""
    radius: float
    """Radius of the ring at rest, r_0 [m]."""


@dataclass(frozen=True)
class PlatformChain(Chain):
    """Plates with six joints each, and the radial joints of the legs between them."""

    radial: tuple[RadialJoint, ...] = ()

    def values(self, q: np.ndarray) -> dict[str, float]:
        """The joint values by name; q (n, 6) are rotation vectors and displacements. Rings keep the volume."""
        if q.shape != (len(self.names), 6):
            raise ValueError(f"`q` of {self.name} must be of shape {(len(self.names), 6)}; got {q.shape}")
        values = {}
        for name, row in zip(self.names, q, strict=True):
            angles = Rotation.from_rotvec(row[:3]).as_euler("XYZ")
            values |= {f"{name}_move_{axis}": float(value) for axis, value in zip(_AXES, row[3:], strict=True)}
            values |= {f"{name}_turn_{axis}": float(value) for axis, value in zip(_AXES, angles, strict=True)}
        for joint in self.radial:
            x, y, z = (values[f"{joint.plate}_move_{axis}"] for axis in _AXES)
            apart = np.sqrt(x**2 + y**2 + (joint.length + z) ** 2)
            values[joint.name] = float(joint.radius * (np.sqrt(joint.length / apart) - 1.0))
        return values

    def configuration(self, values: Mapping[str, float]) -> np.ndarray:
        """The configuration (n, 6) of joint values."""
        rows = []
        for name in self.names:
            turn = Rotation.from_euler("XYZ", [values[f"{name}_turn_{axis}"] for axis in _AXES]).as_rotvec()
            rows.append([*turn, *(values[f"{name}_move_{axis}"] for axis in _AXES)])
        return np.array(rows, float)


def platform_links(spec: RobotSpec, prefix: str, base: str, *, legs: bool) -> Limb:
    """The links of a chain of platforms on a link named `base`; `legs`: whether with the legs, or the plates alone."""
    assert spec.legs is not None
    model = build_arm(spec)
    names = [f"{prefix}_plate_{i}" for i in range(1, len(spec.segments) + 1)]
    links, parent = [_base_plate(spec, spec.legs, f"{prefix}_plate_0", base)] if legs else [], base
    lumps = lumps_on_plates(spec)[0]
    for i, (name, segment, plate) in enumerate(zip(names, spec.segments, np.asarray(model.inertia)[:, 0], strict=True)):
        reach = spec.legs.max_stroke
        moves = [Joint(f"{name}_move_{axis}", "slide", direction, (-reach, reach)) for axis, direction in _AXES.items()]
        turns = [
            Joint(f"{name}_turn_{axis}", "hinge", direction, (-_MOST_TURN, _MOST_TURN))
            for axis, direction in _AXES.items()
        ]
        matter = Solid(float(plate[5]), np.zeros(3), np.diag(plate[:3]))
        disc = Shape("cylinder", (segment.radius[1], spec.legs.plate_thickness), (0.0, 0.0, 0.0))
        above = np.array([0.0, 0.0, segment.length])
        links.append(Link(name, parent, above, np.eye(3), (*moves, *turns), (matter, *lumps.get(i, ())), (disc,)))
        parent = name
    tip = Link(f"{prefix}_tip", parent, np.zeros(3), np.eye(3))
    if not legs:
        return Limb(PlatformChain(prefix, tip.name, tuple(names)), (*links, tip), (), _STEP)
    return _with_legs(spec, spec.legs, prefix, links, tip, model)


def lumps_on_plates(spec: RobotSpec) -> tuple[dict[int, list[Solid]], float]:
    """The lumped masses on the upper plate of each segment, by its index, and the mass of those between plates [kg]."""
    lengths = [segment.length for segment in spec.segments]
    on_plates: dict[int, list[Solid]] = {}
    between = 0.0
    for i, found in lumps_along(spec.masses, np.concatenate([[0.0], np.cumsum(lengths)])).items():
        for mass, place in found:
            if abs(place - lengths[i]) < 1e-9 * sum(lengths):
                on_plates.setdefault(i, []).append(lump(mass.mass, mass.inertia, 0.0))
            elif place > 0.0:
                between += mass.mass
    return on_plates, between


def _base_plate(spec: RobotSpec, legs: LegsSpec, name: str, base: str) -> Link:
    """The plate that the first segment stands on, fixed to the base."""
    disc = Shape("cylinder", (spec.segments[0].radius[0], legs.plate_thickness), (0.0, 0.0, 0.0))
    return Link(name, base, np.zeros(3), np.eye(3), shapes=(disc,))


def _with_legs(spec: RobotSpec, legs: LegsSpec, prefix: str, plates: list[Link], tip: Link, model: ArmModel) -> Limb:
    """The plates, the base's first, with carriages on them and legs from carriage to carriage."""
    assert model.legs is not None
    shortest, longest = np.asarray(model.legs.shortest), np.asarray(model.legs.longest)
    on_plates: list[list[Link]] = [[] for _ in plates]
    radial: list[RadialJoint] = []
    found: list[Leg] = []
    rings: list[Ring] = []
    servos: list[Servo] = []
    for i, segment in enumerate(spec.segments):
        name, upper = f"{prefix}_segment_{i + 1}", plates[i + 1]
        azimuths, ends = (legs.lower_azimuths_deg, legs.upper_azimuths_deg), []
        for side, (word, radius) in enumerate(zip(("lower", "upper"), segment.radius, strict=True)):
            own, plate = f"{name}_{word}", plates[i + side].name
            carriages = _carriages(own, plate, radius, azimuths[side], segment, legs, upper.solids[0].mass)
            on_plates[i + side] += carriages.values()
            joints = [carriage.joints[0] for carriage in carriages.values()]
            radial += [RadialJoint(joint.name, upper.name, segment.length, radius) for joint in joints]
            servos += [_servo(joint, legs.max_force, radius) for joint in joints]
            sites = {azimuth: f"{carriage.name}_site" for azimuth, carriage in carriages.items()}
            rings.append(Ring(f"{own}_ring", tuple(sites[one] for one in sorted(sites)), _THICKNESS * radius))
            ends.append([sites[azimuth % 360.0] for azimuth in azimuths[side]])
        # What the carriages of a segment weigh is taken from its upper plate.
        share = 1.0 - _SHARE * sum(len(set(own)) for own in ends)
        plates[i + 1] = replace(upper, solids=(upper.solids[0].scaled(share), *upper.solids[1:]))
        found += [
            Leg(
                f"{name}_leg_{k + 1}",
                (ends[0][k], ends[1][k]),
                legs.max_force,
                (float(shortest[i, k]), float(longest[i, k])),
                _THICKNESS * segment.radius[1],
            )
            for k in range(6)
        ]
    chain = PlatformChain(prefix, tip.name, tuple(plate.name for plate in plates[1:]), tuple(radial))
    # Each plate with what is on it, before the next one: engines number joints so.
    links = [link for plate, on_it in zip(plates, on_plates, strict=True) for link in (plate, *on_it)]
    return Limb(chain, (*links, tip), (), _STEP, tuple(found), tuple(rings), tuple(servos))


def _carriages(
    name: str, plate: str, radius: float, azimuths: Sequence[float], segment: SegmentSpec, legs: LegsSpec, mass: float
) -> dict[float, Link]:
    """The carriages of one ring, one for each azimuth of its legs, with their z outwards."""
    widest = radius * (1.0 / np.sqrt(_FLATTEST) - 1.0)
    reach = segment.length + np.sqrt(3.0) * legs.max_stroke
    span = (float(radius * (np.sqrt(segment.length / reach) - 1.0)), float(widest))
    thick = _THICKNESS * radius
    matter = Solid(_SHARE * mass, np.zeros(3), _SHARE * mass * thick**2 * np.eye(3))
    rod = Shape("capsule", (thick, 0.5 * radius), (0.0, 0.0, -0.25 * radius), "body")
    ball = Shape("sphere", (2.0 * thick,), (0.0, 0.0, 0.0), "body")
    found = {}
    for azimuth in dict.fromkeys(one % 360.0 for one in azimuths):
        own, angle = f"{name}_{len(found) + 1}", np.deg2rad(azimuth)
        outwards, up = np.array([np.cos(angle), np.sin(angle), 0.0]), np.array([0.0, 0.0, 1.0])
        slide = Joint(f"{own}_radial", "slide", _AXES["z"], span, armature=_armature(legs.max_force, radius))
        found[azimuth] = Link(
            own,
            plate,
            radius * outwards,
            np.stack([up, np.cross(outwards, up), outwards], -1),
            (slide,),
            (matter,),
            (rod, ball),
            {f"{own}_site": (0.0, 0.0, 0.0)},
        )
    return found


def _stiffness(force: float, radius: float) -> float:
    """The stiffness of the servo of a radial joint [N/m]."""
    return force / (_GIVE * radius)


def _armature(force: float, radius: float) -> float:
    """The inertia with which the servo's frequency goes with the step [kg]."""
    return _stiffness(force, radius) * (_STEP / _STEP_OF_PERIOD) ** 2


def _servo(joint: Joint, force: float, radius: float) -> Servo:
    """The servo of a radial joint, critically damped."""
    stiffness = _stiffness(force, radius)
    return Servo(joint.name, joint.range, stiffness, 2.0 * np.sqrt(stiffness * joint.armature))
