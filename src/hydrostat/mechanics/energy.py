"""Energy and momentum of a robot, and the power of the forces on it."""

from typing import NamedTuple, get_args

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import SE3, small
from hydrostat.mechanics.added_mass import added_inertia, entrained, in_axes
from hydrostat.mechanics.buoyancy import displaced, displaced_mass
from hydrostat.mechanics.contraction import muscle_forces
from hydrostat.mechanics.dynamics import motions_of
from hydrostat.mechanics.elasticity import dissipated_power, elastic_energy
from hydrostat.mechanics.motion import (
    BaseMotion,
    Coordinates,
    arm_nodes,
    body_node,
    like_coordinates,
    without_masses,
)
from hydrostat.mechanics.nodes import Entrained, NodeFamily
from hydrostat.mechanics.outer_forces import forces_per_arm
from hydrostat.mechanics.points import carried_twist
from hydrostat.mechanics.radial_inertia import radial_kinetic_energy
from hydrostat.mechanics.robot import BodyShape, Inputs, PerArm, Robot, each_arm, gathered, total
from hydrostat.mechanics.telescopes import gauss_inertia, telescope_inertia
from hydrostat.mechanics.wires import wire_forces


class Energy(NamedTuple):
    """The energies of a robot [J]."""

    kinetic: Float[Array, ""]
    """Kinetic energy, with that of the water which the robot carries along."""
    elastic: Float[Array, ""]
    gravitational: Float[Array, ""]
    """Potential of the weight less the buoyancy; zero where all mass is at the world's origin."""

    @property
    def total(self) -> Float[Array, ""]:
        """The sum of the three energies."""
        return self.kinetic + self.elastic + self.gravitational


class Masses(NamedTuple):
    """All masses of a robot, each with its pose and twist."""

    inertia: Float[Array, "m 6"]
    added: Float[Array, "m 6"]
    """The part of the inertias that is water carried along, which has no weight."""
    displaced: Float[Array, " m"]
    """Mass of the displaced water [kg], whose weight is the buoyancy."""
    T_world: SE3
    twist: Float[Array, "m 6"]

    @property
    def mass(self) -> Float[Array, " m"]:
        """Mass that gravity acts on, less that of the displaced water [kg]."""
        return self.inertia[:, 3] - self.added[:, 3] - self.displaced

    def drift(self, inputs: Inputs) -> Float[Array, "m 6"]:
        """The velocity of the water far away as a twist in the axes of each mass."""
        water = entrained(inputs)
        velocity = jnp.zeros(3) if water is None else water.velocity
        linear = in_axes(self.T_world.rotation, velocity)
        return jnp.concatenate([jnp.zeros_like(linear), linear], -1)


def masses(model: Robot, x: Coordinates, v: Coordinates, inputs: Inputs) -> Masses:
    """All masses of a robot: Gauss points, lumps and a free base."""
    arms, own = _masses_by_arm(model, x, v, inputs)
    return jax.tree.map(lambda *y: jnp.concatenate(y), gathered(model, arms), *own)


def _masses_by_arm(model: Robot, x: Coordinates, v: Coordinates, inputs: Inputs) -> tuple[PerArm, list[Masses]]:
    """The masses of each arm, and those of a free base."""
    base, motions = motions_of(model, x, v, like_coordinates(model), inputs)
    water, density = entrained(inputs), displaced(inputs)

    def of(points, T_world, V, inertia, added=None, lifting=None):
        twist = carried_twist(points.T, V) + points.Jv
        pose = T_world @ points.T
        added = jnp.zeros_like(inertia) if added is None else added
        rotation, position = pose.rotation.reshape(-1, 3, 3), pose.position.reshape(-1, 3)
        lifting = jnp.zeros_like(inertia[..., 3]) if lifting is None else lifting
        own = ((inertia + added).reshape(-1, 6), added.reshape(-1, 6), lifting.reshape(-1))
        return Masses(*own, SE3(rotation, position), twist.reshape(-1, 6))

    def of_arm(arm, mount, motion):
        del mount
        T_world = jax.tree.map(lambda y: y[:, None], motion.T_world)
        added = None if water is None else added_inertia(arm, water)
        lifting = None if density is None else displaced_mass(arm, density)
        own = [of(motion.inner, T_world, motion.V[:, None], gauss_inertia(arm), added, lifting)]
        if motion.telescopes is not None:
            own.append(of(motion.telescopes, T_world, motion.V[:, None], telescope_inertia(arm)))
        if arm.lump_inertia.shape[0]:
            i = arm.lumps.segment
            own.append(of(motion.lumps, motion.T_world[i], motion.V[i], arm.lump_inertia))
        return (own[0] if len(own) == 1 else jax.tree.map(lambda *y: jnp.concatenate(y), *own),)

    parts = []
    if model.base_inertia is not None:
        pose = jax.tree.map(lambda y: y[None], base.T)
        own = model.base_inertia[None]
        parts.append(Masses(own, jnp.zeros_like(own), jnp.zeros(1), pose, base.V[None]))
        if model.body is not None and (water is not None or density is not None):
            parts.append(_water_of_body(model.body, base, density, water))
    return each_arm(model, of_arm, motions)[0], parts


def _water_of_body(
    body: BodyShape, base: BaseMotion, density: Float[Array, ""] | None, water: Entrained | None
) -> Masses:
    """The water that a body displaces, at its centre of buoyancy, and the water that it carries along, at its own."""
    none = jnp.zeros(6)
    added = none if water is None else body.entrained_inertia(water.density)
    lifting = jnp.zeros(()) if density is None else density * body.volume
    both = (body.T_body_buoyancy, body.T_body_centre)
    places = SE3(*(jnp.stack(parts) for parts in zip(*((T.rotation, T.position) for T in both), strict=True)))
    pose = SE3(*(jnp.stack([part, part]) for part in (base.T.rotation, base.T.position))) @ places
    inertia = jnp.stack([none, added])
    lift = jnp.stack([lifting, jnp.zeros_like(lifting)])
    return Masses(inertia, inertia, lift, pose, carried_twist(places, jnp.stack([base.V, base.V])))


def energy(model: Robot, x: Coordinates, v: Coordinates, inputs: Inputs) -> Energy:
    """Kinetic, elastic and gravitational energy.

    In a steady current u the kinetic energy is that which is conserved, v dL/dv - L with the Lagrangian function
    L = m v^2 / 2 + m_a |v - u|^2 / 2 of masses m that carry water m_a along: below zero for a robot at rest.
    """
    bodies = masses(model, x, v, inputs)
    kinetic = 0.5 * jnp.sum(bodies.inertia * bodies.twist**2 - bodies.added * bodies.drift(inputs) ** 2)
    radial, elastic = each_arm(
        model, lambda arm, _, q, rate: (radial_kinetic_energy(arm, q, rate), elastic_energy(arm, q)), x.q, v.q
    )
    kinetic, elastic = kinetic + total(model, radial), total(model, elastic)
    gravitational = -jnp.sum(bodies.mass * small.dot(bodies.T_world.position, model.gravity[None]))
    return Energy(kinetic, elastic, gravitational)


def momentum(model: Robot, x: Coordinates, v: Coordinates, inputs: Inputs) -> Float[Array, " 6"]:
    """Angular momentum about the world's origin and linear momentum, in world axes [kg m^2/s, kg m/s].

    With the impulse of the water that is carried along.
    """
    return _momentum(masses(model, x, v, inputs), inputs)


class Bulk(NamedTuple):
    """Momentum, inertia and weight of a robot as a whole, about the world's origin in world axes."""

    momentum: Float[Array, " 6"]
    """The momentum, as `momentum` returns it."""
    inertia: Float[Array, "6 6"]
    """The composite inertia, as `composite_inertia` returns it."""
    weight: Float[Array, " 6"]
    """The weight less the buoyancy, and in a current the drift of the water's impulse: all that changes the momentum
    besides contact, drag and loads."""


def bulk(model: Robot, x: Coordinates, v: Coordinates, inputs: Inputs) -> Bulk:
    """Momentum, inertia and weight less buoyancy of a robot in one pass over its masses."""
    arms, own = _masses_by_arm(model, x, v, inputs)

    def of(bodies: Masses):
        return _momentum(bodies, inputs), _composite(bodies), _weight(bodies, model.gravity, inputs)

    found = Bulk(*(total(model, y) for y in each_arm(model, lambda arm, mount, bodies: of(bodies), arms)))
    for bodies in own:
        found = Bulk(*(a + b for a, b in zip(found, of(bodies), strict=True)))
    return found


def _momentum(bodies: Masses, inputs: Inputs) -> Float[Array, " 6"]:
    own = bodies.inertia * bodies.twist - bodies.added * bodies.drift(inputs)
    linear = small.matvec(bodies.T_world.rotation, own[:, 3:])
    angular = small.matvec(bodies.T_world.rotation, own[:, :3]) + small.cross(bodies.T_world.position, linear)
    return jnp.concatenate([jnp.sum(angular, 0), jnp.sum(linear, 0)])


def composite_inertia(model: Robot, x: Coordinates, inputs: Inputs) -> Float[Array, "6 6"]:
    """The spatial inertia of the robot as one rigid body, about the world's origin in world axes."""
    return _composite(masses(model, x, like_coordinates(model), inputs))


def _composite(bodies: Masses) -> Float[Array, "6 6"]:
    """The sum of the spatial inertias: with S = R m R^T of each body, [[R J R^T - p^ S p^, p^ S], [-S p^, S]]."""
    R, p = bodies.T_world.rotation, bodies.T_world.position
    turned = jnp.swapaxes(R, -1, -2)
    rotary = small.matmul(R, bodies.inertia[:, :3, None] * turned)
    mass = small.matmul(R, bodies.inertia[:, 3:, None] * turned)
    crossed = small.cross(p[:, None], mass)  # rows crossed with p: the transpose of hat(p) mass
    rotary = rotary + small.cross(p[:, None], jnp.swapaxes(crossed, -1, -2))
    rotary, crossed, mass = (jnp.sum(y, 0) for y in (rotary, crossed, mass))
    return jnp.concatenate([jnp.concatenate([rotary, crossed.T], -1), jnp.concatenate([crossed, mass], -1)], -2)


def dissipation(model: Robot, x: Coordinates, v: Coordinates) -> Float[Array, ""]:
    """The power that the material turns into heat [W]."""
    (heat,) = each_arm(model, lambda arm, _, q, rate: (dissipated_power(arm, q, rate),), x.q, v.q)
    return total(model, heat)


def power(model: Robot, x: Coordinates, v: Coordinates, inputs: Inputs) -> Float[Array, ""]:
    """The power of loads, generalised forces, wires, muscles and surroundings, with the base at rest [W]; that of the
    material, the weight and the buoyancy is not in it.

    With it the energies balance: the rate of their sum is this power less `dissipation`.
    """
    wrench, on_coordinates = external_wrench(model, x, v, inputs)
    del wrench
    return on_coordinates


def external_wrench(
    model: Robot, x: Coordinates, v: Coordinates, inputs: Inputs
) -> tuple[Float[Array, " 6"], Float[Array, ""]]:
    """The wrench of loads, surroundings and weight about the world's origin, and the power of all but the weight.

    Buoyancy counts with the weight.
    """
    wrench, on_nodes = applied_wrench(model, x, v, inputs)

    def of_arm(arm, mount, q, rate, torque, wires, activation):
        del mount
        watts = jnp.sum((torque - wire_forces(arm, q, rate, wires)) * rate)
        return (watts - jnp.sum(muscle_forces(arm, q, rate, activation) * rate),)

    (within,) = each_arm(model, of_arm, x.q, v.q, inputs.torque, inputs.wires, inputs.activation)
    bodies = masses(model, x, v, inputs)
    return wrench + _weight(bodies, model.gravity, inputs), on_nodes + total(model, within)


def applied_wrench(
    model: Robot, x: Coordinates, v: Coordinates, inputs: Inputs, origin: Float[Array, " 3"] | None = None
) -> tuple[Float[Array, " 6"], Float[Array, ""]]:
    """The wrench of loads and surroundings about a point, in world axes, and their power.

    **Arguments:** `origin`: the point, from which the pose of the base is counted [m]; the world's origin when not
    given. With the base near it, a robot far from the world's origin loses no digits.
    """
    wrench, watts = jnp.zeros(6), jnp.zeros(())
    loaded = any(arm.loads.fraction.shape[0] for arm in model.each)
    if not loaded and inputs.surroundings is None:
        return wrench, watts
    light = model if loaded else without_masses(model)
    still = like_coordinates(model)
    base, motions = motions_of(light, x, v, still, inputs, weight=False)

    def add(position, angular, velocity, moment, force):
        wrench = jnp.concatenate([jnp.sum(moment + small.cross(position, force), 0), jnp.sum(force, 0)])
        return wrench, jnp.sum(moment * angular) + jnp.sum(force * velocity)

    def of_arm(arm, mount, motion, force, follower):
        del mount
        if not arm.loads.fraction.shape[0]:
            return jnp.zeros(6), jnp.zeros(())
        index = arm.loads.segment
        points = motion.loads
        T = motion.T_world[index] @ points.T
        twist = carried_twist(points.T, motion.V[index]) + points.Jv
        moment = force[:, :3] + small.matvec(T.rotation, follower[:, :3])
        pull = force[:, 3:] + small.matvec(T.rotation, follower[:, 3:])
        angular, linear = (small.matvec(T.rotation, part) for part in (twist[:, :3], twist[:, 3:]))
        return add(T.position, angular, linear, moment, pull)

    if loaded:
        found = each_arm(light, of_arm, motions, inputs.force, inputs.follower)
        wrench, watts = (total(model, y) for y in found)
    if inputs.surroundings is not None:
        shift = jnp.zeros(3) if origin is None else origin
        known, motion_and_forces = forces_per_arm(light, base, x, v, still, inputs, shift)

        def around_arm(arm, mount, known, q, qd, qdd):
            motion, outer = motion_and_forces(arm, mount, known, q, qd, qdd)
            push, more = jnp.zeros(6), jnp.zeros(())
            for family, forces in zip(get_args(NodeFamily), outer, strict=True):
                if forces is not None:
                    at = arm_nodes(family, arm, motion, q)
                    own = add(at.position, at.angular_velocity, at.velocity, forces.torque, forces.force)
                    push, more = push + own[0], more + own[1]
            return push, more

        push, more = (total(model, y) for y in each_arm(light, around_arm, known, x.q, v.q, still.q))
        wrench, watts = wrench + push, watts + more
        body = body_node(base)
        there = body._replace(position=body.position + shift)
        outside = inputs.surroundings.on_body(there) if model.free_base else None
        if outside is not None:
            push, more = add(body.position, body.angular_velocity, body.velocity, outside.torque, outside.force)
            wrench, watts = wrench + push, watts + more
    return wrench, watts


def _weight(bodies: Masses, gravity: Float[Array, " 3"], inputs: Inputs) -> Float[Array, " 6"]:
    """The weight less the buoyancy, and in a current the drift of the water's impulse, as a wrench about the world's
    origin."""
    weight = bodies.mass[:, None] * gravity
    lever = small.cross(bodies.T_world.position, weight)
    water = entrained(inputs)
    if water is not None:
        # The water's impulse drifts with the current, away from the world's origin.
        impulse = small.matvec(bodies.T_world.rotation, (bodies.added * (bodies.twist - bodies.drift(inputs)))[:, 3:])
        lever = lever + small.cross(jnp.broadcast_to(water.velocity, impulse.shape), impulse)
    return jnp.concatenate([jnp.sum(lever, 0), jnp.sum(weight, 0)])
