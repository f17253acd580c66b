"""Shapes that an arm can touch: exact signed distances with normals, finite and differentiable everywhere."""

import abc
import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from hydrostat.errors import InputError, shown
from hydrostat.lie import SE3, small

_REST = (0.0, 0.0, 0.0)

# A vector shorter than this share of the radius beside it is made of rounding, and has no direction.
ROUNDING = 1e-9


class Surface(NamedTuple):
    """Where a point stands relative to the surface of a shape."""

    distance: Float[Array, ""]
    """Signed distance to the surface [m], negative inside."""
    normal: Float[Array, " 3"]
    """Unit vector out of the shape, the gradient of the distance; one of the possible ones where there are several."""
    closest: Float[Array, " 3"]
    """The point of the surface that is closest [m]."""


def scalar(name: str, *, positive: bool = True):
    """A converter of a field to a finite number that is positive, or at least not negative.

    A traced value is taken as it is.
    """
    bound = "positive" if positive else "zero or positive"

    def convert(value) -> Float[Array, ""]:
        array = _array(name, value, (), "a positive number" if positive else "zero or a positive number")
        if not isinstance(array, Tracer) and not (float(array) > 0.0 if positive else float(array) >= 0.0):
            raise InputError(f"`{name}` must be {bound}; got {float(array):g}")
        return array

    return convert


def optional_scalar(name: str, *, positive: bool = True):
    """A converter of a field that is None, or a number as `scalar` takes it."""
    convert = scalar(name, positive=positive)
    return lambda value: None if value is None else convert(value)


def finite(name: str):
    """A converter of a field to a finite number; a traced value is taken as it is."""

    def convert(value) -> Float[Array, ""]:
        return _array(name, value, (), "a finite number")

    return convert


def vector(name: str):
    """A converter of a field to three finite numbers; a traced value is taken as it is."""

    def convert(value) -> Float[Array, " 3"]:
        return _array(name, value, (3,), "3 finite numbers")

    return convert


def _unit_normal(value) -> Float[Array, " 3"]:
    """The converter of a plane's normal."""
    normal = vector("normal")(value)
    length = small.norm(normal)
    if not isinstance(length, Tracer) and length == 0.0:
        raise InputError(f"`normal` must not be zero; got {shown(value)}")
    return normal / length


class AbstractShape(eqx.Module):
    """A rigid shape of the surroundings, at rest unless its velocities say otherwise.

    It has a reference point that its velocity, and the wrench on it, belong to. Everything is in the world frame and
    for one point; `vmap` over points, or over a stack of shapes of one kind.
    """

    velocity: eqx.AbstractVar[Float[Array, " 3"]]
    """Velocity of the reference point [m/s]."""
    angular_velocity: eqx.AbstractVar[Float[Array, " 3"]]
    """[rad/s]"""

    @property
    @abc.abstractmethod
    def reference_point(self) -> Float[Array, " 3"]:
        """The point that velocity, force and torque belong to [m]."""

    @abc.abstractmethod
    def distance_and_normal(self, point: Float[Array, " 3"]) -> Surface:
        """Signed distance, outward normal and closest point of the surface, for a point [m]."""

    @abc.abstractmethod
    def moved(self, shift: Float[Array, " 3"], velocity: Float[Array, " 3"]) -> "AbstractShape":
        """The same shape elsewhere, displaced by `shift` [m], whose reference point has a velocity [m/s]."""

    def velocity_at(self, point: Float[Array, " 3"]) -> Float[Array, " 3"]:
        """The velocity of the shape's material at a point [m/s]."""
        return self.velocity + small.cross(self.angular_velocity, point - self.reference_point)


class Plane(AbstractShape):
    """A half-space: everything behind a plane."""

    point: Float[Array, " 3"] = eqx.field(converter=vector("point"))
    """Any point of the plane [m]."""
    normal: Float[Array, " 3"] = eqx.field(converter=_unit_normal)
    """Direction out of the half-space, of any length; it is stored as a unit vector."""
    velocity: Float[Array, " 3"] = eqx.field(converter=vector("velocity"), default=_REST)
    angular_velocity: Float[Array, " 3"] = eqx.field(converter=vector("angular_velocity"), default=_REST)

    @property
    def reference_point(self) -> Float[Array, " 3"]:
        """The point of the plane by which it is defined [m]."""
        return self.point

    def moved(self, shift, velocity) -> "Plane":
        """The same shape elsewhere."""
        return eqx.tree_at(lambda s: (s.point, s.velocity), self, (self.point + shift, velocity))

    def distance_and_normal(self, point) -> Surface:
        """Signed distance, outward normal and closest point of the surface, for a point [m]."""
        distance = small.dot(point - self.point, self.normal)
        return Surface(distance, self.normal, point - distance * self.normal)


class Sphere(AbstractShape):
    """A ball."""

    centre: Float[Array, " 3"] = eqx.field(converter=vector("centre"))
    """[m]"""
    radius: Float[Array, ""] = eqx.field(converter=scalar("radius"))
    """[m]"""
    velocity: Float[Array, " 3"] = eqx.field(converter=vector("velocity"), default=_REST)
    angular_velocity: Float[Array, " 3"] = eqx.field(converter=vector("angular_velocity"), default=_REST)

    @property
    def reference_point(self) -> Float[Array, " 3"]:
        """The centre [m]."""
        return self.centre

    def moved(self, shift, velocity) -> "Sphere":
        """The same shape elsewhere."""
        return eqx.tree_at(lambda s: (s.centre, s.velocity), self, (self.centre + shift, velocity))

    def distance_and_normal(self, point) -> Surface:
        """Signed distance, outward normal and closest point of the surface, for a point [m]."""
        return _around(point, self.centre, self.radius, jnp.array([0.0, 0.0, 1.0]))


class Capsule(AbstractShape):
    """Everything within a radius of a straight piece of line."""

    a: Float[Array, " 3"] = eqx.field(converter=vector("a"))
    """One end of the axis [m]."""
    b: Float[Array, " 3"] = eqx.field(converter=vector("b"))
    """The other end [m]; equal ends make a ball."""
    radius: Float[Array, ""] = eqx.field(converter=scalar("radius"))
    """[m]"""
    velocity: Float[Array, " 3"] = eqx.field(converter=vector("velocity"), default=_REST)
    angular_velocity: Float[Array, " 3"] = eqx.field(converter=vector("angular_velocity"), default=_REST)

    @property
    def reference_point(self) -> Float[Array, " 3"]:
        """The middle of the axis [m]."""
        return 0.5 * (self.a + self.b)

    def moved(self, shift, velocity) -> "Capsule":
        """The same shape elsewhere."""
        return eqx.tree_at(lambda s: (s.a, s.b, s.velocity), self, (self.a + shift, self.b + shift, velocity))

    def distance_and_normal(self, point) -> Surface:
        """Signed distance, outward normal and closest point of the surface, for a point [m]."""
        axis = self.b - self.a
        square = small.dot(axis, axis)
        s = small.dot(point - self.a, axis) / jnp.where(square == 0.0, 1.0, square)
        return _around(point, self.a + jnp.clip(s, 0.0, 1.0) * axis, self.radius, perpendicular(axis))


class Box(AbstractShape):
    """A cuboid with sharp edges."""

    pose: SE3
    """Pose of its centre in the world, axes along its edges."""
    half_sizes: Float[Array, " 3"] = eqx.field(converter=vector("half_sizes"))
    """Half of its extent along each of its own axes [m]."""
    velocity: Float[Array, " 3"] = eqx.field(converter=vector("velocity"), default=_REST)
    angular_velocity: Float[Array, " 3"] = eqx.field(converter=vector("angular_velocity"), default=_REST)

    def __check_init__(self):
        if not isinstance(self.half_sizes, Tracer) and not jnp.all(self.half_sizes > 0.0):
            raise InputError(f"`half_sizes` must be positive; got {shown(self.half_sizes.tolist())}")

    @property
    def reference_point(self) -> Float[Array, " 3"]:
        """The centre [m]."""
        return self.pose.position

    def moved(self, shift, velocity) -> "Box":
        """The same shape elsewhere."""
        places = (self.pose.position + shift, velocity)
        return eqx.tree_at(lambda s: (s.pose.position, s.velocity), self, places)

    def distance_and_normal(self, point) -> Surface:
        """Signed distance, outward normal and closest point of the surface, for a point [m].

        Inside, the nearest face counts: the normal jumps where two faces are equally near, as that of the exact
        distance must.
        """
        p = self.pose.inverse().apply(point)
        sides = jnp.where(p >= 0.0, 1.0, -1.0)
        excess = sides * p - self.half_sizes
        face = jax.nn.one_hot(jnp.argmax(excess), 3, dtype=p.dtype)
        inside = jnp.max(excess) <= 0.0
        on_face = p + face * (sides * self.half_sizes - p)
        closest = jnp.where(inside, on_face, jnp.clip(p, -self.half_sizes, self.half_sizes))
        away = jnp.where(inside, 0.0, p - closest)
        normal = direction(away, face * sides)
        # As a product with the normal, the distance has the normal as its derivative even where it is zero.
        distance = small.dot(p - closest, normal)
        return Surface(distance, small.matvec(self.pose.rotation, normal), self.pose.apply(closest))


def direction(u: Float[Array, " 3"], instead: Float[Array, " 3"], least=0.0) -> Float[Array, " 3"]:
    """The unit vector along u; where u is no longer than `least`, another one in its stead."""
    square = small.dot(u, u)
    # Below the second bound the square, or its derivative, is not a number of full precision.
    short = square <= jnp.maximum(least * least, math.sqrt(jnp.finfo(u.dtype).tiny))
    return jnp.where(short, instead, u / jnp.sqrt(jnp.where(short, 1.0, square)))


def perpendicular(u: Float[Array, " 3"]) -> Float[Array, " 3"]:
    """A unit vector across u, across the x axis if u is zero."""
    least = jax.nn.one_hot(jnp.argmin(jnp.abs(u)), 3, dtype=u.dtype)
    return direction(small.cross(u, least), jnp.array([0.0, 0.0, 1.0], u.dtype))


def _around(point, middle, radius, instead) -> Surface:
    """The surface of a ball about the point of an axis that is closest to a point."""
    away = point - middle
    normal = direction(away, instead, ROUNDING * radius)
    # As a product with the normal, the distance has the normal as its derivative even on the axis.
    return Surface(small.dot(away, normal) - radius, normal, middle + radius * normal)


def _array(name: str, value, shape: tuple[int, ...], expected: str) -> Array:
    """The value as an array of finite numbers of this shape."""
    try:
        array = jnp.asarray(value, float)
    except (TypeError, ValueError):
        raise InputError(f"`{name}` must be {expected}; got {shown(value)}") from None
    # Checked outside of whatever is being traced.
    finite = isinstance(array, Tracer) or bool(np.all(np.isfinite(np.asarray(array))))
    if array.shape != shape or not finite:
        raise InputError(f"`{name}` must be {expected}; got {shown(value)}")
    return array
