"""What the tentacle's scenarios share."""

from dataclasses import dataclass, replace
from pathlib import Path

import equinox as eqx
import jax
import numpy as np

from hydrostat.control.shapes import configuration
from hydrostat.control.wire_motion import WireModel, bend_vectors
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import Robot
from hydrostat.robots.build import build_robot
from hydrostat.robots.spec import RobotSpec
from hydrostat.viewer import Line, Tube, write_replay

_POINTS_PER_SEGMENT = 12
_TAPER = 0.8  # of the tip's wire circle to the base's, where a cone is made from a cylinder
_BAYS = 10  # where soft wires are made from hard ones
_WIRE_COLORS = ((40, 102, 110), (224, 160, 48), (91, 95, 151), (51, 50, 46))


@dataclass(frozen=True)
class Variant:
    """The robot with other wires or another shape."""

    name: str
    robot: Robot
    model: WireModel


def variants(spec: RobotSpec) -> dict[str, Variant]:
    """The robot as a cylinder and as a cone, each with hard and with soft wires.

    Where the robot is a cylinder, the cone narrows its wire circles by a fifth in each segment; where it is a cone, the
    cylinder has their means.
    """
    made = {}
    for shape in ("cylinder", "cone"):
        shaped = _shaped(spec, shape)
        for wires in ("hard", "soft"):
            bays = None if spec.tendons[0].kind == "soft" else _BAYS
            robot = build_robot(shaped.with_wires(wires, bays))
            made[f"{shape}_{wires}"] = Variant(f"{shape}, {wires} wires", robot, WireModel(robot.arm, robot.tendons))
    return made


def _shaped(spec: RobotSpec, shape: str) -> RobotSpec:
    """The robot with wire circles that are constant within each segment, or that are not."""
    tapered = any(a != b for t in spec.tendons for a, b in spec.offsets(t).values())
    if (shape == "cone") == tapered:
        return spec
    tendons = []
    for tendon in spec.tendons:
        marks = [pair[0] for pair in spec.offsets(tendon).values()]
        if shape == "cone":
            first = tendon.starts_at_segment - 1
            offset = tuple(marks[0] * _TAPER ** (i + first) for i in range(len(marks) + 1))
        else:
            mean = sum(sum(pair) / 2.0 for pair in spec.offsets(tendon).values()) / len(marks)
            offset = (mean, mean)
        tendons.append(replace(tendon, offset=offset))
    widest = max(max(tendon.offset) for tendon in tendons)
    segments = tuple(replace(s, radius=tuple(max(r, widest) for r in s.radius)) for s in spec.segments)
    return replace(spec, tendons=tuple(tendons), segments=segments)


def pairs_to_bends(alpha_deg: tuple[float, ...], theta_deg: tuple[float, ...]) -> np.ndarray:
    """Bend vectors (n, 2) [rad] from the paper's pairs of angles [deg]."""
    return bend_vectors(np.deg2rad(alpha_deg), np.deg2rad(theta_deg))


@eqx.filter_jit
def _centrelines(arm, bends):
    poses = jax.vmap(lambda b: kinematics.centreline(arm, configuration(arm, b), _POINTS_PER_SEGMENT))(bends)
    return poses.position, poses.rotation


def centrelines(robot: Robot, bends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes of the axis for shapes (m, n, 2): positions (m, nodes, 3) [m] and rotations (m, nodes, 3, 3)."""
    position, rotation = _centrelines(robot.arm, bends)
    return np.asarray(position), np.asarray(rotation)


def boundaries(robot: Robot) -> np.ndarray:
    """The nodes of `centrelines` where segments begin and end."""
    return np.arange(robot.arm.count + 1) * _POINTS_PER_SEGMENT


def replay(path: Path, robot: Robot, times: np.ndarray, bends: np.ndarray, title: str) -> None:
    """Write the replay of a movement (m, n, 2) with the arm and its wires."""
    positions, rotations = centrelines(robot, bends)
    section = robot.arm.section
    inner = np.linspace(0.0, 1.0, _POINTS_PER_SEGMENT + 1)[1:]
    radii = np.concatenate(
        [np.asarray(section.radius_base)[:1], *(_radii(section, i, inner) for i in range(robot.arm.count))]
    )
    tube = Tube("arm", positions, rotations, radii)
    path_of_tip = Line("path of the tip", positions[:, -1], color=(120, 120, 120))
    lines = [_wire(robot, wire, positions, rotations, radii) for wire in range(len(robot.tendons.ends_at))]
    write_replay(path, times, [tube], [*lines, path_of_tip], title=title)


def _radii(section, index: int, fractions: np.ndarray) -> np.ndarray:
    base, tip = float(section.radius_base[index]), float(section.radius_tip[index])
    return base + fractions * (tip - base)


def _wire(robot: Robot, wire: int, positions, rotations, radii) -> Line:
    """A wire on the surface of the arm, along the segments it passes."""
    passed = np.flatnonzero(np.asarray(robot.tendons.passes[wire]))
    first, last = passed[0] * _POINTS_PER_SEGMENT, (passed[-1] + 1) * _POINTS_PER_SEGMENT
    part = slice(first, last + 1)
    direction = np.append(np.asarray(robot.tendons.directions[wire]), 0.0)
    # Drawn on the skin, a little outside, so that it can be seen.
    offset = (radii[part] + 0.001)[:, None] * direction
    points = positions[:, part] + np.einsum("mnij,nj->mni", rotations[:, part], offset)
    color = _WIRE_COLORS[robot.tendons.ends_at[wire] % len(_WIRE_COLORS)]
    return Line(f"wire {wire + 1}", points, color=color)
