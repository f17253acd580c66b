"""URDF, a format that most programs for rigid robots read.

A link has one joint there, so a link of ours with several joints becomes a chain, whose first links have a millionth of
the mass: engines want every moving link to have some. They want moments of inertia too that are not all but zero, and
those of a thin link are raised to `LEAST_INERTIA`.
"""

from xml.etree import ElementTree as ET

import numpy as np

from hydrostat.errors import InputError
from hydrostat.exporting import xml
from hydrostat.exporting.description import Joint, Link, Shape, Twin
from hydrostat.exporting.solids import Solid, together
from hydrostat.exporting.xml import number, numbers

_SHARE = 1e-6  # of the mass, for each link that is there for a joint alone
LEAST_INERTIA = 1e-13
"""Least principal moment of inertia of a link with mass [kg m^2]: MuJoCo refuses what is below 1e-14."""
_EFFORT = 1e3  # N m or N, assumed: the format wants one
_SPEED = 1e2  # rad/s or m/s, assumed


def write_urdf(twin: Twin) -> tuple[str, list[str]]:
    """The robot in URDF, with notes on the properties that are left out."""
    xml.check(twin)
    floating = [link for link in twin.links if link.free]
    if floating and any(link.parent is None for link in twin.links if not link.free):
        raise InputError("URDF holds one tree of links: objects stand in the world, beside a body that does not float")
    root = ET.Element("robot", name=twin.name)
    for name, color in xml.COLORS.items():
        ET.SubElement(ET.SubElement(root, "material", name=name), "color", rgba=numbers(color))
    if not floating:
        ET.SubElement(root, "link", name="world")
    for link in twin.links:
        _link(root, link)
    left = list(twin.left_out)
    if any(joint.stiffness for joint in twin.joints):
        left.append("URDF has no springs: the joints' stiffness is left out")
    if twin.tendons:
        left.append("URDF has no tendons: they are left out")
    if twin.legs:
        left.append("URDF has no tendons, which legs are in MJCF: legs, rings and their actuators are left out")
    if any(link.role in ("camera", "light") for link in twin.links):
        left.append("URDF has no cameras and lights: links of these names are their frames")
    return xml.text(root, twin, left), left


def _link(root: ET.Element, link: Link) -> None:
    """A link and its joints, the first joint with the place in the parent."""
    parent = link.parent or "world"
    solid = together(link.solids)
    place: tuple[np.ndarray, np.ndarray] = (link.position, link.rotation)
    for joint in link.joints[:-1]:
        name = f"{joint.name}_link"
        _joint(root, joint, parent, name, place)
        _body(root, name, None if solid is None else solid.scaled(_SHARE))
        parent, place = name, (np.zeros(3), np.eye(3))
    if solid is not None and len(link.joints) > 1:
        solid = solid.scaled(1.0 - _SHARE * (len(link.joints) - 1))
    if not link.free:
        _joint(root, link.joints[-1] if link.joints else None, parent, link.name, place)
    _body(root, link.name, solid, link.shapes)
    if link.role in ("camera", "light"):
        _joint(root, None, link.name, f"{link.name}_{link.role}", (np.zeros(3), np.eye(3)))
        _body(root, f"{link.name}_{link.role}", None)


def _joint(root: ET.Element, joint: Joint | None, parent: str, child: str, place: tuple[np.ndarray, np.ndarray]):
    """A joint; a fixed one where there is none."""
    kind = {None: "fixed", "hinge": "revolute", "slide": "prismatic"}[joint and joint.kind]
    element = ET.SubElement(root, "joint", name=joint.name if joint else f"{child}_mount", type=kind)
    ET.SubElement(element, "parent", link=parent)
    ET.SubElement(element, "child", link=child)
    ET.SubElement(element, "origin", xyz=numbers(place[0]), rpy=numbers(roll_pitch_yaw(place[1])))
    if joint is not None:
        ET.SubElement(element, "axis", xyz=numbers(joint.axis))
        low, high = (number(bound) for bound in joint.range)
        ET.SubElement(element, "limit", lower=low, upper=high, effort=number(_EFFORT), velocity=number(_SPEED))
        ET.SubElement(element, "dynamics", damping=number(joint.damping), friction="0")


def _body(root: ET.Element, name: str, solid: Solid | None, shapes: tuple[Shape, ...] = ()) -> None:
    """A link with its mass and its shapes; a link without matter gets an explicit mass of zero."""
    element = ET.SubElement(root, "link", name=name)
    inertial = ET.SubElement(element, "inertial")
    centre, mass, inertia = (np.zeros(3), 0.0, np.zeros((3, 3))) if solid is None else (
        solid.centre, solid.mass, _raised(solid.inertia)
    )  # fmt: skip
    ET.SubElement(inertial, "origin", xyz=numbers(centre), rpy="0 0 0")
    ET.SubElement(inertial, "mass", value=number(mass))
    axes = {f"i{'xyz'[i]}{'xyz'[j]}": number(inertia[i, j]) for i in range(3) for j in range(i, 3)}
    ET.SubElement(inertial, "inertia", axes)
    for shape in shapes:
        for what in ("visual", "collision"):
            _add_shape(element, what, shape)


def _raised(inertia: np.ndarray) -> np.ndarray:
    """The tensor of inertia with all moments raised alike, so that the least one is `LEAST_INERTIA`."""
    missing = LEAST_INERTIA - float(np.linalg.eigvalsh(inertia).min())
    return inertia + missing * np.eye(3) if missing > 0.0 else inertia


def _add_shape(link: ET.Element, what: str, shape: Shape) -> None:
    """A shape for display or contact; a capsule is written as its cylinder."""
    element = ET.SubElement(link, what, {"name": f"{shape.name}_{what}"} if shape.name else {})
    ET.SubElement(element, "origin", xyz=numbers(shape.position), rpy="0 0 0")
    geometry = ET.SubElement(element, "geometry")
    if shape.kind == "box":
        ET.SubElement(geometry, "box", size=numbers(shape.size))
    elif shape.kind == "sphere":
        ET.SubElement(geometry, "sphere", radius=number(shape.size[0]))
    else:
        radius, length = shape.size
        ET.SubElement(geometry, "cylinder", radius=number(radius), length=number(length))
    if what == "visual":
        ET.SubElement(element, "material", name=shape.color)


def roll_pitch_yaw(R: np.ndarray) -> tuple[float, float, float]:
    """Angles with R = Rz(yaw) Ry(pitch) Rx(roll), also where pitch is a quarter turn."""
    across = float(np.hypot(R[0, 0], R[1, 0]))
    pitch = float(np.arctan2(-R[2, 0], across))
    if across < 1e-9:
        return float(np.arctan2(-R[1, 2], R[1, 1])), pitch, 0.0
    return float(np.arctan2(R[2, 1], R[2, 2])), pitch, float(np.arctan2(R[1, 0], R[0, 0]))
