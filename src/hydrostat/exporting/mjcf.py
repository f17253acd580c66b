"""MJCF, the format of MuJoCo."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

import numpy as np
from scipy.spatial.transform import Rotation

from hydrostat.constants import SEA_WATER
from hydrostat.errors import InputError
from hydrostat.exporting import xml
from hydrostat.exporting.description import Joint, Link, Shape, Tendon, Twin
from hydrostat.exporting.solids import Solid, together
from hydrostat.exporting.xml import number, numbers
from hydrostat.mechanics.model import GRAVITY
from hydrostat.surroundings.water import NORMAL, TANGENTIAL

_VISCOSITY = 1.09e-3  # Pa s, sea water at 20 degrees
_MOST_NESTED = 95  # bodies within bodies: its reader of XML stops at 100 elements
_FLATNESS = 0.75  # thickness over width of what stands for a piece of limb in water
_LOOK_FORWARD = (0.0, 1.0, 0.0, 0.0)  # MuJoCo's cameras look along -z
# Limbs touch what is in the world, and neither themselves nor each other: their pieces overlap.
_TOUCH = {"contype": "2", "conaffinity": "1"}
_CLEAR = 1e-3  # m, from the skin of a limb to the camera or the light at its tip
_THREAD = 1e-3  # m, radius of a tendon as it is drawn
_OBJECT = {"contype": "1", "conaffinity": "1"}


def write_mjcf(
    twin: Twin, *, water: bool = False, configurations: Sequence[np.ndarray] | None = None
) -> tuple[str, list[str]]:
    """The robot in MJCF, with notes on the properties that are left out.

    **Arguments:** `configurations`: of every limb, for a keyframe `pose` of a robot whose body does not float; `water`:
    whether it is in sea water: drag by MuJoCo's ellipsoid model, and buoyancy as a share of
    every body's weight. Of added mass that model has the gyroscopic forces, and no resistance to acceleration.
    """
    xml.check(twin)
    _check_depth(twin)
    root = ET.Element("mujoco", model=twin.name)
    ET.SubElement(root, "compiler", angle="radian", autolimits="true", inertiafromgeom="false")
    option = {"timestep": number(twin.timestep), "gravity": numbers(GRAVITY), "integrator": "implicitfast"}
    if water:
        # `implicitfast` would take the derivatives of the water's forces on all pieces by all joints, many times the
        # work of a step; Euler's method is as implicit in the joints' own damping.
        option |= {"integrator": "Euler", "density": number(SEA_WATER), "viscosity": number(_VISCOSITY)}
    ET.SubElement(root, "option", option)
    visual = ET.SubElement(root, "visual")
    ET.SubElement(visual, "global", offwidth="1920", offheight="1080")
    world = ET.SubElement(root, "worldbody")
    ET.SubElement(world, "light", name="sun", pos="0 0 3", dir="0 0 -1", diffuse="0.6 0.6 0.6")
    bodies: dict[str | None, ET.Element] = {None: world}
    links = {link.name: link for link in twin.links}
    for link in twin.links:
        bodies[link.name] = _body(bodies[link.parent], link, water)
        if link.role:
            _tip(bodies[link.name], link, _ahead(link, links.get(link.parent or "")))
    if twin.tendons or twin.legs:
        _actuators(root, twin)
    _keyframes(root, twin, configurations)
    return xml.text(root, twin, twin.left_out), list(twin.left_out)


def _keyframes(root: ET.Element, twin: Twin, configurations: Sequence[np.ndarray] | None) -> None:
    """The joint values at rest, where they are not zero, and those of configurations."""
    keys = {}
    if any(joint.rest for joint in twin.joints):
        keys["rest"] = [joint.rest for joint in twin.joints]
    if configurations is not None:
        values = twin.values(*configurations)
        keys["pose"] = [values[joint.name] for joint in twin.joints]
    if keys and not any(link.free for link in twin.links):
        frames = ET.SubElement(root, "keyframe")
        for name, values in keys.items():
            ET.SubElement(frames, "key", name=name, qpos=numbers(values))


def _actuators(root: ET.Element, twin: Twin) -> None:
    """Tendons that pull, legs that push and pull as tendons from site to site, rings, and servos of joints."""
    tendons, actuators = ET.SubElement(root, "tendon"), ET.SubElement(root, "actuator")
    for tendon in twin.tendons:
        _tendon(tendons, tendon)
        # A motor's force lengthens its tendon: pulling is negative.
        pull = {"name": f"{tendon.name}_pull", "tendon": tendon.name, "gear": "-1"}
        ET.SubElement(actuators, "motor", pull, ctrlrange=numbers((0.0, tendon.most)))
    for leg in twin.legs:
        _course(tendons, leg.name, leg.sites, leg.radius, range=numbers(leg.range), rgba=numbers(xml.COLORS["leg"]))
        push = {"name": f"{leg.name}_push", "tendon": leg.name, "ctrlrange": numbers((-leg.most, leg.most))}
        ET.SubElement(actuators, "motor", push)
    for ring in twin.rings:
        _course(tendons, ring.name, (*ring.sites, ring.sites[0]), ring.radius, rgba=numbers(xml.COLORS["body"]))
    for servo in twin.servos:
        gains = {"kp": number(servo.stiffness), "kv": number(servo.damping), "ctrlrange": numbers(servo.range)}
        ET.SubElement(actuators, "position", {"name": f"{servo.joint}_hold", "joint": servo.joint} | gains)


def _course(tendons: ET.Element, name: str, sites: Sequence[str], radius: float, **attributes: str) -> None:
    """A tendon straight from site to site."""
    spatial = ET.SubElement(tendons, "spatial", {"name": name, "width": number(radius)} | attributes)
    for site in sites:
        ET.SubElement(spatial, "site", site=site)


def _tendon(tendons: ET.Element, tendon: Tendon) -> None:
    """A tendon through sites, or one that adds up joint values."""
    if tendon.sites:
        _course(tendons, tendon.name, tendon.sites, _THREAD)
        return
    fixed = ET.SubElement(tendons, "fixed", name=tendon.name)
    for joint, lever in tendon.lever.items():
        ET.SubElement(fixed, "joint", joint=joint, coef=number(lever))


def _check_depth(twin: Twin) -> None:
    """Refuse a chain that is longer than MuJoCo reads: each body is an element within its parent's."""
    depth: dict[str | None, int] = {None: 0}
    for link in twin.links:
        depth[link.name] = depth[link.parent] + 1
    deepest = max(depth.values())
    if deepest > _MOST_NESTED:
        raise InputError(
            f"MJCF cannot hold {twin.name} so finely: MuJoCo reads bodies up to {_MOST_NESTED} deep; got {deepest}; "
            f"use fewer --sections"
        )


def _body(parent: ET.Element, link: Link, water: bool) -> ET.Element:
    """A body with its joints, its mass, its geometry, its sites, and its children."""
    attributes = {"name": link.name, "pos": numbers(link.position)}
    if not np.array_equal(link.rotation, np.eye(3)):
        attributes["quat"] = numbers(Rotation.from_matrix(link.rotation).as_quat(scalar_first=True))
    solid = together(link.solids)
    if water and solid is not None and solid.volume > 0.0:
        attributes["gravcomp"] = number(SEA_WATER * solid.volume / solid.mass)
    body = ET.SubElement(parent, "body", attributes)
    if link.free:
        ET.SubElement(body, "freejoint", name=f"{link.name}_free")
    for joint in link.joints:
        _joint(body, joint)
    if solid is not None:
        _inertial(body, solid)
    for shape in link.shapes:
        _geoms(body, shape, water)
    for name, place in link.sites.items():
        ET.SubElement(body, "site", name=name, pos=numbers(place), size="0.001")
    return body


def _joint(body: ET.Element, joint: Joint) -> None:
    """A joint with its spring."""
    attributes = {"name": joint.name, "type": joint.kind, "axis": numbers(joint.axis), "range": numbers(joint.range)}
    if joint.stiffness:
        attributes |= {"stiffness": number(joint.stiffness), "springref": number(joint.rest)}
    if joint.damping:
        attributes["damping"] = number(joint.damping)
    if joint.armature:
        attributes["armature"] = number(joint.armature)
    ET.SubElement(body, "joint", attributes)


def _inertial(body: ET.Element, solid: Solid) -> None:
    """The mass of a body."""
    inertia = solid.inertia
    attributes = {"pos": numbers(solid.centre), "mass": number(solid.mass)}
    if np.array_equal(inertia, np.diag(np.diag(inertia))):
        attributes["diaginertia"] = numbers(np.diag(inertia))
    else:
        attributes["fullinertia"] = numbers(inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
    ET.SubElement(body, "inertial", attributes)


def _ahead(tip: Link, parent: Link | None) -> float:
    """The distance from a tip to beyond what is drawn of the link before it, whose capsule has a round end [m]."""
    shapes = () if parent is None else parent.shapes
    ends = [one.position[2] + 0.5 * one.size[1] + one.size[0] for one in shapes if one.kind == "capsule"]
    return max([0.0, *(end - float(tip.position[2]) + _CLEAR for end in ends)])


def _tip(body: ET.Element, link: Link, ahead: float) -> None:
    """The tool frame, or a camera or a light along the axis of the arm, outside of its skin."""
    place = f"0 0 {number(ahead)}"
    ET.SubElement(body, "site", name=f"{link.name}_frame", pos="0 0 0", size="0.002")
    if link.role == "camera":
        ET.SubElement(body, "camera", name=f"{link.name}_camera", pos=place, quat=numbers(_LOOK_FORWARD), fovy="70")
    if link.role == "light":
        ET.SubElement(body, "light", name=f"{link.name}_light", type="spot", pos=place, dir="0 0 1", cutoff="30")


def _geoms(body: ET.Element, shape: Shape, water: bool) -> None:
    """The geometry for display and contact, and that for the forces of the water."""
    size = {
        "sphere": lambda: shape.size,
        "capsule": lambda: (shape.size[0], 0.5 * shape.size[1]),
        "cylinder": lambda: (shape.size[0], 0.5 * shape.size[1]),
        "box": lambda: [0.5 * edge for edge in shape.size],
    }[shape.kind]()
    name = {"name": shape.name} if shape.name else {}
    attributes = {"type": shape.kind, "size": numbers(size), "pos": numbers(shape.position)}
    touch = _OBJECT if shape.color == "object" else _TOUCH
    ET.SubElement(body, "geom", name | attributes | touch, rgba=numbers(xml.COLORS[shape.color]))
    if water and shape.color != "object":
        wet = _limb_in_water(shape) if shape.color == "skin" else _body_in_water(shape, attributes, size)
        ET.SubElement(body, "geom", wet, contype="0", conaffinity="0", group="4", fluidshape="ellipsoid")


def _body_in_water(shape: Shape, attributes: dict[str, str], size) -> dict[str, str]:
    """The geometry of a part of the body: a capsule with its round ends has its full length."""
    if shape.kind != "capsule":
        return attributes
    return {**attributes, "type": "cylinder", "size": numbers((size[0], size[0] + size[1]))}


def _limb_in_water(shape: Shape) -> dict[str, str]:
    """A piece of a limb, with the drag across and along it that hydrostat's water has.

    MuJoCo takes every piece for an ellipsoid of its own, with the drag rho |u| u (C_b A + C_s (A_max - A)), A being the
    area that it shows to the flow: short pieces of a limb would show their faces, and drag would grow with their
    number. So the geometry for the water is a flat ellipsoid of the piece's volume, whose two coefficients make of its
    areas the 2 r H C_n across and 2 pi r H C_t along that the cross-flow principle has for a piece of length 2 H. With
    three quarters for its flatness the drag at 45 degrees is that of the principle too. Pieces that turn move across as
    a whole, and lift has no such coefficients: the others are zero.
    """
    radius, half = shape.size[0], 0.5 * shape.size[1]
    wide = (1.5 * radius**2 * half / _FLATNESS) ** (1.0 / 3.0)
    area = np.pi * wide**2
    blunt = 2.0 * np.pi * radius * half * TANGENTIAL / area
    slender = (2.0 * radius * half * NORMAL / area - _FLATNESS * blunt) / (1.0 - _FLATNESS)
    return {
        "type": "ellipsoid",
        "size": numbers((wide, wide, _FLATNESS * wide)),
        "pos": numbers(shape.position),
        "fluidcoef": numbers((blunt, slender, 0.0, 0.0, 0.0)),
    }
