"""An arm for dynamics: each section is two halves with bending hinges between them, and springs in its joints.

A section of length l bends at its middle, where the tangents of its ends meet: a chain of such sections follows an arc
to second order in l, and it is as soft as the arm when a hinge has the stiffness EI / l and a slide EA / l. The half
before the hinges is part of the link before, the half behind them is part of the next. Two hinges in a row turn about
the axis too, by half the product of their angles, and a slide lengthens one half and not the other; so the joints'
order alternates from section to section, and what is left of either is of second order as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from hydrostat.bodies import Arm
from hydrostat.exporting.description import Chain, Joint, Limb, Link, Shape
from hydrostat.exporting.limits import Limits, hinge_range, slide_range
from hydrostat.exporting.sections import follow, followed, joint_order
from hydrostat.exporting.solids import frustum, lump, lumps_along
from hydrostat.exporting.tendons import add_tendons, section_end
from hydrostat.mechanics.model import ArmModel
from hydrostat.robots.build import build_arm
from hydrostat.robots.spec import RobotSpec
from hydrostat.segments import StrutSegment

HINGES = {"bend_x": (1.0, 0.0, 0.0), "bend_y": (0.0, 1.0, 0.0), "twist": (0.0, 0.0, 1.0)}
SLIDES = {"shear_x": (1.0, 0.0, 0.0), "shear_y": (0.0, 1.0, 0.0), "stretch": (0.0, 0.0, 1.0)}
_LARGEST_STEP = 2e-3  # s
_STEP_OF_PERIOD = 0.25  # step times the highest frequency of a joint on its spring


@dataclass(frozen=True)
class ElasticChain(Chain):
    """Sections with springs in their joints."""

    arm: Arm
    """The arm whose segments are the sections."""
    sections: int
    """Number of sections of one segment of the original arm."""

    def values(self, q: np.ndarray) -> dict[str, float]:
        """The joint values by name, from coordinates q of the segments (n, k), or of all sections."""
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
    model = build_arm(cut, points=3)
    arm = model.arm
    names = section_names(prefix, spec, sections)
    stiffness, damping = joint_springs(model)
    chain = ElasticChain(prefix, f"{prefix}_tip", tuple(names), arm, sections)
    rests = chain.values(np.zeros((arm.count, arm.coordinates)))
    strut = isinstance(arm.segments, StrutSegment)
    marks = np.concatenate([[0.0], np.cumsum([segment.length for segment in cut.segments])])

    lumps = lumps_along(spec.masses, marks)
    links = [Link(f"{prefix}_root", base, np.zeros(3), np.eye(3))]
    for i, (name, segment) in enumerate(zip(names, cut.segments, strict=True)):
        half, (first, last) = 0.5 * segment.length, segment.radius
        middle, before = 0.5 * (first + last), links[-1]
        start = section_end(before) if i else 0.0  # of the section, in the frame of the link before
        hinge = segment.length if strut else half  # from the section's start
        halves = ((0.0, (first, middle)), (half - hinge, (middle, last)))
        solids = [[frustum(z, half, radii, spec.material.density)] for z, radii in halves]
        for mass, place in lumps.get(i, []):
            far = int(place > half)
            solids[far].append(lump(mass.mass, mass.inertia, place - far * hinge))
        tubes = [_tube(radii, z, half) for z, radii in halves]
        links[-1] = replace(
            before,
            solids=(*before.solids, *(solid.moved(start) for solid in solids[0])),
            shapes=(*before.shapes, _moved(tubes[0], start)),
        )
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
            for column, mode in enumerate(arm.segments.modes)
            if mode in segment.modes
        }
        order = tuple(joints[mode] for mode in joint_order(i, strut) if mode in joints)
        at = np.array([0.0, 0.0, start + hinge])
        links.append(Link(name, before.name, at, np.eye(3), order, tuple(solids[1]), (tubes[1],)))
    links.append(Link(f"{prefix}_tip", names[-1], np.array([0.0, 0.0, section_end(links[-1])]), np.eye(3)))
    links, tendons = add_tendons(cut, prefix, names, links)
    return Limb(chain, tuple(links), tendons, _timestep(links))


def _moved(shape: Shape, z: float) -> Shape:
    return replace(shape, position=(0.0, 0.0, shape.position[2] + z))


def joint_springs(model: ArmModel) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and damping of the joints, (n, k): those of the strains over the squared length.

    A strain e of a section of length l is the joint value l e, and K e^2 = K / l^2 (l e)^2.
    """
    stiffness = model.stiffness
    if model.tissue is not None:
        stiffness = np.diagonal(model.tissue.stiffness(model.arm, model.arm.straight()), axis1=1, axis2=2)
    square = np.asarray(model.arm.segments.length)[:, None] ** 2
    return np.asarray(stiffness) / square, np.asarray(model.damping) / square


def _tube(radii: tuple[float, float], start: float, length: float) -> Shape:
    """A capsule as long and as wide as a piece of arm."""
    return Shape("capsule", (0.5 * (radii[0] + radii[1]), length), (0.0, 0.0, start + 0.5 * length))


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
