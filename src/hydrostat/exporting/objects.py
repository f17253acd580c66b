"""Objects of a scene, such as obstacles and walls, as bodies beside an exported robot."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hydrostat.errors import InputError, shown
from hydrostat.exporting.description import Link, Shape, Twin
from hydrostat.surroundings import AbstractShape, Box, Capsule, Plane, Sphere

_PLANE = (10.0, 10.0, 1.0)  # m: the box that stands for a plane, whose upper side is the plane


def with_objects(twin: Twin, shapes: Sequence[AbstractShape]) -> Twin:
    """The twin in a world that holds shapes, at rest where they are, named `object_1` and so on."""
    links = [_link(f"object_{number}", shape) for number, shape in enumerate(shapes, 1)]
    return replace(twin, links=(*twin.links, *links))


def _link(name: str, shape: AbstractShape) -> Link:
    """The body of a shape."""
    position, rotation = np.zeros(3), np.eye(3)
    if isinstance(shape, Sphere):
        position, kind, size = np.asarray(shape.centre), "sphere", (float(shape.radius),)
    elif isinstance(shape, Capsule):
        a, b = np.asarray(shape.a), np.asarray(shape.b)
        length = float(np.linalg.norm(b - a))
        position, kind, size = 0.5 * (a + b), "capsule", (float(shape.radius), length)
        rotation = _frame(b - a) if length else rotation
    elif isinstance(shape, Box):
        position, rotation = np.asarray(shape.pose.position), np.asarray(shape.pose.rotation)
        kind, size = "box", tuple(2.0 * float(half) for half in shape.half_sizes)
    elif isinstance(shape, Plane):
        normal, kind, size = np.asarray(shape.normal), "box", _PLANE
        position, rotation = np.asarray(shape.point) - 0.5 * _PLANE[2] * normal, _frame(normal)
    else:
        raise InputError(f"objects must be Sphere, Capsule, Box or Plane; got {shown(shape)}")
    return Link(name, None, position, rotation, shapes=(Shape(kind, size, (0.0, 0.0, 0.0), "object", f"{name}_shape"),))


def _frame(axis: np.ndarray) -> np.ndarray:
    """A rotation whose z is an axis."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], -1)
