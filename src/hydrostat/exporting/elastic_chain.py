"""An arm for dynamics: each section is two halves with bending hinges between them, and springs in its joints.

A section of length l bends at its middle, where the tangents of its ends meet: a chain of such sections follows an arc
to second order in l, and it is as soft as the arm when a hinge has the stiffness EI / l and a slide EA / l. The half
before the hinges keeps the direction of the section before, the half behind them that of the next. Two hinges in a row
turn about the axis too, by half the product of their angles; so their order alternates from section to section, and
what is left of the spin is of second order as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from hydrostat.bodies import Arm
from hydrostat.exporting.description import Joint, Limb, Link, Shape, Tendon
from hydrostat.exporting.limits import Limits, hinge_range, slide_range
from hydrostat.exporting.sections import follow, followed
from hydrostat.exporting.solids import Solid, frustum, lump
from hydrostat.robots.build import Robot, build_robot
from hydrostat.robots.mechanical import robot_model
from hydrostat.robots.spec import RobotSpec
from hydrostat.segments import StrutSegment

HINGES = {"bend_x": (1.0, 0.0, 0.0), "bend_y": (0.0, 1.0, 0.0), "twist": (0.0, 0.0, 1.0)}
SLIDES = {"shear_x": (1.0, 0.0, 0.0), "shear_y": (0.0, 1.0, 0.0), "stretch": (0.0, 0.0, 1.0)}
_TENSION = 0.5  # of EA: what a tendon's motor pulls with at most, assumed
_LARGEST_STEP = 2e-3  # s
_STEP_OF_PERIOD = 0.5  # step times the highest frequency of a joint on its spring


@dataclass(frozen=True)
class ElasticChain:
    """The joints of one arm, and how its configurations become joint values."""

    name: str
    tip: str
    arm: Arm
    """Of the sections: the arm with every segment cut into so many."""
    names: tuple[str, ...]
    """Of the sections."""
    sections: int
    """Of one segment of the original arm."""

    def values(self, q: np.ndarray) -> dict[str, float]:
        """The joint values by name; q is of the segments (n, k), or of all sections."""
        count = self.arm.count
        if len(q) * self.sections == count:
            q = np.repeat(q, self.sections, 0)
        if q.shape != (count, self.arm.coordinates):
            raise ValueError(f"`q` of {self.name} must be for {count // self.sections} segments; got {q.shape}")
        return {
            f"{name}_{mode}": value
            for name, joints in zip(self.names, follow(self.arm, q), strict=True)
            for mode, value in joints.items()
        }

    def configuration(self, values: Mapping[str, float]) -> np.ndarray:
        """The configuration of all sections, (n sections, k)."""
        joints = [
            {mode: float(values[f"{name}_{mode}"]) for mode in (*HINGES, *SLIDES) if f"{name}_{mode}" in values}
            for name in self.names
        ]
        return followed(self.arm, joints)


def section_names(prefix: str, spec: RobotSpec, sections: int) -> list[str]:
    """The names of all sections of an arm, base to tip."""
    return [
        f"{prefix}_segment_{i}" + (f"_section_{j}" if sections > 1 else "")
        for i in range(1, len(spec.segments) + 1)
        for j in range(1, sections + 1)
    ]


def elastic_links(spec: RobotSpec, prefix: str, base: str, sections: int, limits: Limits) -> Limb:
    """The links of an arm on a link named `base`."""
    cut = spec.cut(sections) if sections > 1 else spec
    robot = build_robot(cut)
    names = section_names(prefix, spec, sections)
    stiffness, damping = joint_springs(robot)
    chain = ElasticChain(prefix, f"{prefix}_tip", robot.arm, tuple(names), sections)
    rests = chain.values(np.zeros((robot.arm.count, robot.arm.coordinates)))
    strut = isinstance(robot.arm.segments, StrutSegment)
    marks = np.concatenate([[0.0], np.cumsum([segment.length for segment in cut.segments])])

    links: list[Link] = []
    parent, at = base, np.zeros(3)
    for i, (name, segment) in enumerate(zip(names, cut.segments, strict=True)):
        joints = {
            mode: Joint(
                name=f"{name}_{mode}",
                kind="hinge" if mode in HINGES else "slide",
                axis=(HINGES | SLIDES)[mode],
                range=hinge_range(segment.length, max(segment.radius), limits, sections)
                if mode in HINGES
                else slide_range(segment.length, limits),
                stiffness=float(stiffness[i, column]),
                damping=float(damping[i, column]),
                rest=rests[f"{name}_{mode}"],
            )
            for column, mode in enumerate(robot.arm.segments.modes)
            if mode in segment.modes
        }
        lower, upper = _halves(segment, spec.material.density, strut)
        span = segment.length if strut else 0.5 * segment.length
        start = -0.5 * segment.length if strut else 0.0
        for mass in spec.masses:
            place = mass.place * marks[-1]
            if mass.mass > 0.0 and (marks[i] < place <= marks[i + 1] or (i == 0 and place == 0.0)):
                local = place - marks[i]
                if local <= 0.5 * segment.length:
                    lower += (lump(mass.mass, mass.inertia, local),)
                else:
                    upper += (lump(mass.mass, mass.inertia, local - span),)
        middle = 0.5 * (segment.radius[0] + segment.radius[1])
        slides = tuple(joints[mode] for mode in SLIDES if mode in joints)
        order = ("bend_x", "bend_y", "twist") if i % 2 == 0 else ("bend_y", "bend_x", "twist")
        hinges = tuple(joints[mode] for mode in order if mode in joints)
        half = 0.5 * segment.length
        links.append(
            Link(f"{name}_root", parent, at, np.eye(3), slides, lower, (_tube((segment.radius[0], middle), 0.0, half),))
        )
        links.append(
            Link(
                name,
                f"{name}_root",
                np.array([0.0, 0.0, span]),
                np.eye(3),
                hinges,
                upper,
                (_tube((middle, segment.radius[1]), start, half),),
            )
        )
        parent, at = name, np.array([0.0, 0.0, start + half])
    links.append(Link(f"{prefix}_tip", parent, at, np.eye(3)))
    links, tendons = _with_tendons(cut, prefix, base, names, links)
    return Limb(chain, tuple(links), tendons, _timestep(links))


def joint_springs(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and damping of the joints, (n, k): those of the strains over the squared length.

    A strain e of a section of length l is the joint value l e, and K e^2 = K / l^2 (l e)^2.
    """
    model = robot_model(robot)
    stiffness = model.stiffness
    if model.tissue is not None:
        stiffness = np.diagonal(model.tissue.stiffness(robot.arm, robot.arm.straight()), axis1=1, axis2=2)
    square = np.asarray(robot.arm.segments.length)[:, None] ** 2
    return np.asarray(stiffness) / square, np.asarray(model.damping) / square


def _halves(segment, density: float, strut: bool) -> tuple[tuple[Solid, ...], tuple[Solid, ...]]:
    """The matter before and behind the hinges; a strut's hinges are at its end."""
    half, (a, b) = 0.5 * segment.length, segment.radius
    middle = 0.5 * (a + b)
    return (frustum(0.0, half, (a, middle), density),), (frustum(-half if strut else 0.0, half, (middle, b), density),)


def _tube(radii: tuple[float, float], start: float, length: float) -> Shape:
    """A capsule as long and as wide as a piece of arm."""
    return Shape("capsule", (0.5 * (radii[0] + radii[1]), length), (0.0, 0.0, start + 0.5 * length))


def _with_tendons(cut: RobotSpec, prefix: str, base: str, names, links) -> tuple[list[Link], tuple[Tendon, ...]]:
    """Sites at the ends of the sections that each tendon passes, and the tendons through them."""
    sites: dict[str, dict[str, tuple[float, float, float]]] = {}
    ends = {name: child.position[2] for name, child in ((link.parent, link) for link in links) if name is not None}
    tendons = []
    area = np.pi * cut.segments[0].radius[0] ** 2
    for number, tendon in enumerate(cut.tendons, 1):
        offsets, turns = cut.offsets(tendon), cut.turns(tendon)
        passed = list(offsets)
        marks = [(offsets[passed[0]][0], turns[passed[0]][0])] + [(offsets[i][1], turns[i][1]) for i in passed]
        course = []
        for step, (offset, turn) in enumerate(marks):
            section = passed[0] - 2 + step  # the section at whose end the tendon is, -1 for the base
            link = base if section < 0 else names[section]
            azimuth = np.deg2rad(tendon.azimuth_deg + turn)
            height = 0.0 if section < 0 else float(ends[link])
            name = f"{prefix}_tendon_{number}_site_{step}"
            place = (float(offset * np.cos(azimuth)), float(offset * np.sin(azimuth)), height)
            sites.setdefault(link, {})[name] = place
            course.append(name)
        tendons.append(
            Tendon(f"{prefix}_tendon_{number}", tuple(course), _TENSION * cut.material.youngs_modulus * area)
        )
    found = [replace(link, sites=sites[link.name]) if link.name in sites else link for link in links]
    if base in sites:  # the base is not ours: a link of no mass on it carries its sites
        carrier = Link(f"{prefix}_anchor", base, np.zeros(3), np.eye(3), sites=sites[base])
        found.insert(0, carrier)
    return found, tuple(tendons)


def _timestep(links: list[Link]) -> float:
    """A step that springs between neighbouring links can take, by the two links' own masses."""
    fastest = 0.0
    for lower, upper in pairwise(link for link in links if link.solids):
        for joint in upper.joints:
            hinge = joint.kind == "hinge"
            inertias = [
                sum(s.inertia[0, 0] + s.mass * s.centre[2] ** 2 if hinge else s.mass for s in link.solids)
                for link in (lower, upper)
            ]
            fastest = max(fastest, joint.stiffness * sum(1.0 / inertia for inertia in inertias))
    step = _STEP_OF_PERIOD / np.sqrt(fastest) if fastest > 0.0 else _LARGEST_STEP
    # Two digits are enough.
    return float(f"{min(step, _LARGEST_STEP):.1e}")
