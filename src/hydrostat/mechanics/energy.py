"""Energy and momentum of an arm."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import SE3, small
from hydrostat.mechanics import dynamics
from hydrostat.mechanics.dynamics import Coordinates
from hydrostat.mechanics.model import Inputs, Model


class Energy(NamedTuple):
    """The energies of an arm [J]."""

    kinetic: Float[Array, ""]
    elastic: Float[Array, ""]
    gravitational: Float[Array, ""]
    """Zero where all mass is at the world's origin."""

    @property
    def total(self) -> Float[Array, ""]:
        """Their sum."""
        return self.kinetic + self.elastic + self.gravitational


class Masses(NamedTuple):
    """Everything that has mass, with its pose and twist."""

    inertia: Float[Array, "m 6"]
    T_world: SE3
    twist: Float[Array, "m 6"]


def masses(model: Model, x: Coordinates, v: Coordinates, inputs: Inputs) -> Masses:
    """All masses of an arm: Gauss points, lumps and a free base."""
    still = Coordinates(jnp.zeros_like(x.q), jnp.zeros(6))
    grid = dynamics._grid(model, x.q, v.q)
    tips = jax.tree.map(lambda y: y[:, -1], grid)
    inner = jax.tree.map(lambda y: y[:, :-1], grid)
    base = dynamics._base_motion(model, x, v, still, inputs)
    motion = dynamics._motion(model, tips, still.q, base)

    def of(points, T_world, V, inertia):
        twist = jnp.einsum("...ij,...j->...i", points.X, V) + points.Jv
        pose = T_world @ points.T
        flat = (inertia.reshape(-1, 6), pose.rotation.reshape(-1, 3, 3), pose.position.reshape(-1, 3))
        return Masses(flat[0], SE3(*flat[1:]), twist.reshape(-1, 6))

    T_world = jax.tree.map(lambda y: y[:-1, None], motion.T_world)
    parts = [of(inner, T_world, motion.V[:-1, None], model.inertia)]
    if model.lump_inertia.shape[0]:
        i = model.lumps.segment
        points = dynamics._at(model, x.q, v.q, model.lumps)
        parts.append(of(points, motion.T_world[i], motion.V[i], model.lump_inertia))
    if model.base_inertia is not None:
        pose = jax.tree.map(lambda y: y[None], base[0])
        parts.append(Masses(model.base_inertia[None], pose, base[1][None]))
    return jax.tree.map(lambda *y: jnp.concatenate(y), *parts)


def energy(model: Model, x: Coordinates, v: Coordinates, inputs: Inputs) -> Energy:
    """Kinetic, elastic and gravitational energy."""
    bodies = masses(model, x, v, inputs)
    kinetic = 0.5 * jnp.sum(bodies.inertia * bodies.twist**2)
    elastic = 0.5 * jnp.sum(model.stiffness * (x.q - model.rest) ** 2)
    gravitational = -jnp.sum(bodies.inertia[:, 3] * (bodies.T_world.position @ model.gravity))
    return Energy(kinetic, elastic, gravitational)


def momentum(model: Model, x: Coordinates, v: Coordinates, inputs: Inputs) -> Float[Array, " 6"]:
    """Angular momentum about the world's origin and linear momentum, in world axes [kg m^2/s, kg m/s]."""
    bodies = masses(model, x, v, inputs)
    own = bodies.inertia * bodies.twist
    linear = small.matvec(bodies.T_world.rotation, own[:, 3:])
    angular = small.matvec(bodies.T_world.rotation, own[:, :3]) + small.cross(bodies.T_world.position, linear)
    return jnp.concatenate([jnp.sum(angular, 0), jnp.sum(linear, 0)])


def dissipation(model: Model, v: Coordinates) -> Float[Array, ""]:
    """The power that the material turns into heat [W]."""
    return jnp.sum(model.damping * v.q**2)
