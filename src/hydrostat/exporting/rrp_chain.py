"""An arm for kinematics: each segment as N sections of two revolute joints and a prismatic one, after Emet et al.

Exact for arcs and for struts: every section's end lies on the arc, and a tool frame turns the last half angle. It has
no springs: Rz Ry is singular where the arm is straight, so that springs in these joints would not be the arm's.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from hydrostat.bodies import Arm
from hydrostat.exporting.description import Chain, Joint, Limb, Link, Shape
from hydrostat.exporting.limits import Limits, chord_range, hinge_range
from hydrostat.exporting.solids import frustum, lump, lumps_along
from hydrostat.robots.build import build_robot
from hydrostat.robots.rrp_twin import TwinJoints, arc_of_joints, joints_of_arc
from hydrostat.robots.spec import RobotSpec
from hydrostat.segments import StrainSegment, StrutSegment

_X, _Y, _Z = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_TOOL_SHARE = 0.01  # of the last section's mass: engines want every moving body to have some
_STEP = 2e-3  # s


@dataclass(frozen=True)
class RrpChain(Chain):
    """Sections of two revolute joints and a prismatic one."""

    arm: Arm
    sections: int
    """Number of sections of one segment."""

    @property
    def rigid_sections(self) -> int:
        """How many rigid sections the whole limb has."""
        return len(self.names) * self.sections

    def values(self, q: np.ndarray) -> dict[str, float]:
        """The joint values by name, of a configuration (n, k)."""
        if q.shape != (self.arm.count, self.arm.coordinates):
            shape = (self.arm.count, self.arm.coordinates)
            raise ValueError(f"`q` of {self.name} must be of shape {shape}; got {q.shape}")
        joints = self._strut_joints(q) if isinstance(self.arm.segments, StrutSegment) else self._arc_joints(q)
        values = {}
        for i, (name, length) in enumerate(zip(self.names, np.asarray(self.arm.segments.length), strict=True)):
            for k in range(self.sections):
                section = f"{name}_section_{k + 1}"
                values[f"{section}_turn"] = float(joints.turns[i, k])
                values[f"{section}_bend"] = float(joints.bends[i, k])
                values[f"{section}_slide"] = float(joints.slides[i, k] - length / self.sections)
            values[f"{name}_end_bend"] = float(joints.tool_bend[i])
            values[f"{name}_end_spin"] = float(joints.tool_spin[i])
        return values

    def configuration(self, values: Mapping[str, float]) -> np.ndarray:
        """The configuration (n, k) of joint values."""
        lengths = np.asarray(self.arm.segments.length)

        def column(what):
            return np.array(
                [[values[f"{name}_section_{k + 1}_{what}"] for k in range(self.sections)] for name in self.names]
            )

        tools = (np.array([values[f"{name}_end_{what}"] for name in self.names]) for what in ("bend", "spin"))
        slides = column("slide") + lengths[:, None] / self.sections
        joints = TwinJoints(column("turn"), column("bend"), slides, *tools)
        if isinstance(self.arm.segments, StrutSegment):
            return self._strut_configuration(joints)
        arc = arc_of_joints(joints)
        bend = arc.theta[:, None] * np.stack([np.cos(arc.phi), np.sin(arc.phi)], -1)
        rest = np.asarray(self.arm.segments.rest_strain)  # type: ignore[attr-defined]
        strains = {
            "bend_x": -bend[:, 1] / lengths - rest[:, 0],
            "bend_y": bend[:, 0] / lengths - rest[:, 1],
            "stretch": arc.length / lengths - 1.0 - rest[:, 5],
        }
        rows = np.stack([strains[mode] for mode in self.arm.segments.modes], -1)
        return np.where(np.asarray(self.arm.segments.free), rows, 0.0)

    def _arc_joints(self, q: np.ndarray) -> TwinJoints:
        assert isinstance(self.arm.segments, StrainSegment)
        arc = jax.vmap(lambda segment, q: segment.to_arc(q))(self.arm.segments, jnp.asarray(q))
        return joints_of_arc(arc.theta, arc.phi, arc.length, self.sections)

    def _strut_joints(self, q: np.ndarray) -> TwinJoints:
        """The joint values of a strut, which is one straight section and then turns: Rz(a) Tz(h) Ry(b) Rz(c)."""
        poses = jax.vmap(lambda segment, q: segment.pose(q, 1.0))(self.arm.segments, jnp.asarray(q))
        R = np.asarray(poses.rotation)
        bend = np.arctan2(np.hypot(R[:, 0, 2], R[:, 1, 2]), R[:, 2, 2])
        straight = bend == 0.0
        turn = np.where(straight, 0.0, np.arctan2(R[:, 1, 2], R[:, 0, 2]))
        spin = np.where(straight, np.arctan2(R[:, 1, 0], R[:, 0, 0]), np.arctan2(R[:, 2, 1], -R[:, 2, 0]))
        zero = np.zeros((len(q), 1))
        return TwinJoints(turn[:, None], zero, np.asarray(poses.position)[:, 2:], bend, spin)

    def _strut_configuration(self, joints: TwinJoints) -> np.ndarray:
        lengths = np.asarray(self.arm.segments.length)
        angles = np.stack([joints.turns[:, 0], joints.bends[:, 0] + joints.tool_bend, joints.tool_spin], -1)
        w = np.stack([_turn_vector(*angle) for angle in angles])
        strains = {f: w[:, i] / lengths for i, f in enumerate(("bend_x", "bend_y", "twist"))}
        strains["stretch"] = joints.slides[:, 0] / lengths - 1.0
        return np.stack([strains[mode] for mode in self.arm.segments.modes], -1)


def _turn_vector(turn: float, bend: float, spin: float) -> np.ndarray:
    """The rotation vector of Rz(turn) Ry(bend) Rz(spin)."""
    return Rotation.from_euler("ZYZ", [turn, bend, spin]).as_rotvec()


def rrp_links(spec: RobotSpec, prefix: str, base: str, sections: int, limits: Limits) -> Limb:
    """The links of an arm on a link named `base`."""
    robot = build_robot(spec)
    strut = isinstance(robot.arm.segments, StrutSegment)
    names = [f"{prefix}_segment_{i}" for i in range(1, len(spec.segments) + 1)]
    pieces = spec.cut(sections).segments if sections > 1 else spec.segments
    marks = np.concatenate([[0.0], np.cumsum([piece.length for piece in pieces])])
    lumps = lumps_along(spec.masses, marks)
    links: list[Link] = []
    parent, origin = base, np.zeros(3)
    for i, piece in enumerate(pieces):
        segment, k = names[i // sections], i % sections + 1
        name, density = f"{segment}_section_{k}", spec.material.density
        bends = hinge_range(piece.length, max(piece.radius), limits, sections)
        joints = (
            Joint(f"{name}_turn", "hinge", _Z, (-np.pi, np.pi)),
            Joint(f"{name}_bend", "hinge", _Y, bends),
            Joint(f"{name}_slide", "slide", _Z, chord_range(piece.length, limits, sections)),
        )
        a, b = piece.radius
        solids = [frustum(0.0, piece.length, (a, b), density)]
        solids += [lump(mass.mass, mass.inertia, place) for mass, place in lumps.get(i, [])]
        last = k == sections
        share = 1.0 - _TOOL_SHARE if last else 1.0
        tube = Shape("capsule", (0.5 * (a + b), piece.length), (0.0, 0.0, 0.5 * piece.length))
        own = tuple(solid.scaled(share) for solid in solids)
        links.append(Link(name, parent, origin, np.eye(3), joints, own, (tube,)))
        parent, origin = name, np.array([0.0, 0.0, piece.length])
        if last:
            # Of a strut all of the bend is here.
            reach = hinge_range(piece.length, max(piece.radius), limits, 1) if strut else bends
            joints = (
                Joint(f"{segment}_end_bend", "hinge", _Y, reach),
                Joint(f"{segment}_end_spin", "hinge", _Z, (-np.pi, np.pi)),
            )
            tool = tuple(solid.scaled(_TOOL_SHARE).moved(-piece.length) for solid in solids)
            links.append(Link(f"{segment}_end", parent, origin, np.eye(3), joints, tool))
            parent, origin = f"{segment}_end", np.zeros(3)
    links.append(Link(f"{prefix}_tip", parent, origin, np.eye(3)))
    chain = RrpChain(prefix, f"{prefix}_tip", tuple(names), robot.arm, sections)
    return Limb(chain, tuple(links), (), _STEP)
