"""Analysis of the rows of a trajectory: energies, powers, forces, volumes, penetration.

Functions of (system, row) are row functions, for `results.rows.of_rows`.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.geometry import frustum_volume
from hydrostat.lie import SE3, se3, small
from hydrostat.mechanics.contraction import muscle_power as power_of_muscles
from hydrostat.mechanics.energy import bulk
from hydrostat.mechanics.energy import dissipation as dissipation_of
from hydrostat.mechanics.energy import energy as energy_of
from hydrostat.mechanics.energy import momentum as momentum_of
from hydrostat.mechanics.energy import power as power_of
from hydrostat.mechanics.motion import Coordinates, nodes_per_arm
from hydrostat.mechanics.nodes import NodeFamily
from hydrostat.mechanics.robot import Inputs, PerArm, dispersed, split, total
from hydrostat.mechanics.state import inputs_at, nodes_of, positions, velocities
from hydrostat.results.rows import Row, each_arm, object_radii, objects, shape, shape_of, widths
from hydrostat.stepping.momentum import outer_wrench
from hydrostat.stepping.sdirk2 import GAMMA
from hydrostat.stepping.step import StepInputs
from hydrostat.surroundings.arm_contact import ArmContact
from hydrostat.surroundings.base import Commands, Together
from hydrostat.surroundings.ground import Ground
from hydrostat.surroundings.objects import Ball
from hydrostat.surroundings.obstacles import Obstacles
from hydrostat.surroundings.suckers import Suckers
from hydrostat.surroundings.water import Water
from hydrostat.system import State, System

CONTACTS = (Ground, ArmContact, Ball, Obstacles)
"""The parts of the surroundings that touch arms."""
_ATTACHED = 2  # nodes of an arm, from its base, that its body holds and so does not touch
_SIDES = 48  # of the polygon that stands for a rim


# What acted during the step that ended at a row.


def step_inputs(system: System, row: Row) -> StepInputs:
    """The inputs of the mechanics during the step that ended at a row, as a function of time and state."""
    before, place = row.before, system.place(row.before)
    forces = []
    if place is not None:
        environment, commands = system.environment, system.commands(row.control)
        each = zip(system.surroundings, before.surroundings, strict=True)
        forces = [part.begin(own, place, environment, commands, row.dt)[1] for part, own in each]
    acting = tuple(found for found in forces if found is not None)
    return StepInputs(system, row.control, before, row.state.activation, row.dt, Together(acting) if acting else None)


def end_inputs(system: System, row: Row) -> Inputs:
    """The inputs of the mechanics at the end of that step."""
    robot = row.state.robot
    return inputs_at(system.robot, robot, step_inputs(system, row)(row.before.time + row.dt, robot))


def _moving(system: System, row: Row) -> Inputs:
    """The inputs that energy and momentum depend on: the motion of a prescribed body, and water carried along."""
    robot, water = row.state.robot, system.part(Water)
    inputs = system.inputs(row.control, row.state, row.state.activation, 1.0, water)
    return inputs_at(system.robot, robot, inputs)


class Energies(NamedTuple):
    """The energies of a robot, by rows [J]."""

    kinetic: Float[Array, "*rows"]
    """Kinetic energy, with that of the water which the robot carries along."""
    elastic: Float[Array, "*rows"]
    gravitational: Float[Array, "*rows"]
    """Potential of the weight less the buoyancy; zero where all mass is at the world's origin."""
    total: Float[Array, "*rows"]
    """Sum of the three energies."""


def energy(system: System, row: Row) -> Energies:
    """Kinetic, elastic and gravitational energy of the robot, and their sum."""
    robot = row.state.robot
    found = energy_of(system.robot, positions(robot), velocities(robot), _moving(system, row))
    return Energies(*found, found.total)


def momentum(system: System, row: Row) -> Float[Array, " 6"]:
    """Angular momentum about the world's origin, and linear momentum."""
    robot = row.state.robot
    return momentum_of(system.robot, positions(robot), velocities(robot), _moving(system, row))


def power(system: System, row: Row) -> Float[Array, ""]:
    """The power of actuators, loads and surroundings on the robot."""
    robot = row.state.robot
    return power_of(system.robot, positions(robot), velocities(robot), end_inputs(system, row))


def dissipation(system: System, row: Row) -> Float[Array, ""]:
    """The power that the material turns into heat."""
    robot = row.state.robot
    return dissipation_of(system.robot, positions(robot), velocities(robot))


def muscle_power(system: System, row: Row) -> Float[Array, ""]:
    """The mechanical power of all muscles."""
    robot = system.robot
    if all(arm.muscles is None for arm in robot.each):
        return jnp.zeros(())

    def of_arm(arm, base, q, v, activation):
        del base
        return jnp.zeros(()) if arm.muscles is None else jnp.sum(power_of_muscles(arm, q, v, activation))

    return total(robot, each_arm(system, row, of_arm, row.state.v, row.state.activation))


class Stages(NamedTuple):
    """The two stages of SDIRK2 in the step that ended at a row, in the coordinates that it began with."""

    begin: Coordinates
    first: tuple[Coordinates, Coordinates, Inputs]
    """Position, rates and inputs of the first stage."""
    last: tuple[Coordinates, Coordinates, Inputs]
    """The same of the second, which is the end of the step."""


def stages(system: System, row: Row) -> Stages:
    """The stages of the step that ended at a row.

    The first follows from the begin and the end: with rates v in the coordinates that the step began with,
    x_end - x_begin = dt ((1 - gamma) v_stage + gamma v_end) and x_stage = x_begin + gamma dt v_stage.
    """
    robot, before, state = system.robot, row.before.robot, row.state.robot
    inputs = step_inputs(system, row)
    # The end of the step in the coordinates of its begin.
    turned = (before.base_pose.inverse() @ state.base_pose).log() if robot.free_base else jnp.zeros(6)
    rate = small.matvec(se3.tangent_inverse(turned), state.base_twist)
    begin, end = Coordinates(before.q, jnp.zeros(6)), Coordinates(state.q, turned)
    v_end = Coordinates(state.v, rate)
    # Its first stage.
    v = jax.tree.map(lambda a, b, w: ((b - a) / row.dt - GAMMA * w) / (1.0 - GAMMA), begin, end, v_end)
    x = jax.tree.map(lambda a, w: a + GAMMA * row.dt * w, begin, v)
    at_first, at_end = (inputs_at(robot, before, inputs(row.before.time + c * row.dt, before)) for c in (GAMMA, 1.0))
    return Stages(begin, (x, v, at_first), (end, v_end, at_end))


def mean_power(system: System, row: Row) -> Float[Array, ""]:
    """The mean of power less dissipation over the step that ended at a row, by the quadrature of SDIRK2 itself."""
    robot = system.robot

    def net(x: Coordinates, v: Coordinates, inputs: Inputs):
        return power_of(robot, x, v, inputs) - dissipation_of(robot, x, v)

    _, first, last = stages(system, row)
    return (1.0 - GAMMA) * net(*first) + GAMMA * net(*last)


class MomentumChange(NamedTuple):
    """What a step did to the momentum of a free robot, about the body's position at its begin (angular, linear)."""

    change: Float[Array, "*rows 6"]
    impulse: Float[Array, "*rows 6"]
    """Impulse of weight, water, ground, other surroundings and loads, by the quadrature of SDIRK2 itself."""


def momentum_change(system: System, row: Row) -> MomentumChange:
    """The change of momentum in the step that ended at a row, and the impulse from outside."""
    robot, before = system.robot, row.before.robot
    begin, first, last = stages(system, row)
    own = last[2]._replace(base_pose=SE3(before.base_pose.rotation, jnp.zeros(3)))
    was, now = bulk(robot, begin, velocities(before), own), bulk(robot, *last[:2], own)
    wrench = (1.0 - GAMMA) * outer_wrench(robot, before, *first) + GAMMA * outer_wrench(robot, before, *last)
    # The weight by the trapezoidal rule, as `stepping.momentum` does.
    return MomentumChange(now.momentum - was.momentum, row.dt * (wrench + 0.5 * (was.weight + now.weight)))


def balance_error(time, stored, mean, muscles) -> float:
    """The largest difference of the change of energy and the work done on the robot, over the work of its muscles.

    **Arguments:** `stored`: energy (rows,) [J]; `mean`: `mean_power` (rows,) [W]; `muscles`: their power (rows,) [W].
    """
    time, stored, mean, muscles = (np.asarray(y) for y in (time, stored, mean, muscles))
    step = np.diff(time)
    work = np.concatenate([[0.0], np.cumsum(mean[1:] * step)])
    size = np.sum(0.5 * (np.abs(muscles[1:]) + np.abs(muscles[:-1])) * step)
    return float(np.max(np.abs(stored - stored[0] - work)) / max(size, 1e-300))


# Forces of the surroundings in a state.


def _holding(system: System, part, own):
    """The state of a part, and commands, with which suckers keep what they hold and take nothing else.

    A sucker that is pulled too hard lets go when the next step begins: in this state it still pulls.
    """
    none = jnp.zeros(system.environment.count)
    if isinstance(part, Suckers):
        return own._replace(pull=jnp.zeros_like(own.pull)), Commands(own.held, none, jnp.zeros(()))
    if isinstance(part, Ball):
        kept = own.attachment._replace(pull=jnp.zeros_like(own.attachment.pull))
        return own._replace(attachment=kept), Commands(none, kept.held[: len(none)], jnp.zeros(()))
    return own, Commands(none, none, jnp.zeros(()))


class NodeForce(eqx.Module):
    """A row function: the force of the parts of the surroundings that are of some kinds, on every node of a family."""

    kinds: tuple[type, ...] = eqx.field(static=True)
    family: NodeFamily = eqx.field(static=True, default="contact")

    def __call__(self, system: System, row: Row) -> PerArm:
        """The force on the nodes of each arm (nodes, 3)."""
        robot = system.robot
        rows = nodes_per_arm(robot, self.family)
        found = jnp.zeros((sum(rows), 3))
        if system.surroundings:
            nodes = nodes_of(robot, row.state.robot, family=self.family)
            for _, forces in _acting(system, row.state, self.kinds):
                part = forces.at(self.family)
                found = found if part is None else found + part.forces(nodes).force
        return dispersed(robot, found, rows)


class BodyForce(eqx.Module):
    """A row function: the force of the parts of the surroundings that are of some kinds, on the body."""

    kinds: tuple[type, ...] = eqx.field(static=True)

    def __call__(self, system: System, row: Row) -> Float[Array, " 3"]:
        """The force on the body in world axes."""
        found, place = jnp.zeros(3), system.place(row.state)
        if place is not None and place.body is not None:
            for _, forces in _acting(system, row.state, self.kinds):
                on_body = forces.on_body(place.body)
                found = found if on_body is None else found + on_body.force[0]
        return found


def _acting(system: System, state: State, kinds: tuple[type, ...]) -> list:
    """The parts of some kinds with the forces that they exert in a state."""
    place, environment = system.place(state), system.environment
    assert place is not None
    found = []
    for part, own in zip(system.surroundings, state.surroundings, strict=True):
        if isinstance(part, kinds):
            held, commands = _holding(system, part, own)
            forces = part.begin(held, place, environment, commands, jnp.zeros(()))[1]
            if forces is not None:
                found.append((part, forces))
    return found


# Volume and pressure.


def pressure(system: System, row: Row) -> PerArm:
    """The pressure that keeps the volume of each segment; zero for arms without such a pressure."""

    def of_arm(arm, base, q):
        del base
        keeps = getattr(arm.tissue, "bulk", None) is not None
        return arm.tissue.pressure(arm.arm, q) if keeps else jnp.zeros(arm.arm.count)

    return each_arm(system, row, of_arm)


def volume_error(system: System, row: Row) -> Float[Array, ""]:
    """The largest relative error of a segment's volume, for arms of constant volume; zero for others."""

    def of_arm(arm, base, q):
        del base
        section, length = arm.arm.section, arm.arm.segments.length

        wide = widths(arm, q)
        now = frustum_volume(
            length * arm.arm.segments.stretch(q), section.radius_base * wide, section.radius_tip * wide
        )
        rest = frustum_volume(length, section.radius_base, section.radius_tip)
        return jnp.max(jnp.abs(now / rest - 1.0)) if arm.constant_volume else jnp.zeros(())

    return jnp.max(jnp.stack(split(system.robot, each_arm(system, row, of_arm))))


def mesh_volume(system: System, row: Row) -> Float[Array, "*arms"]:
    """The volume of each arm within the surface through the rims of the segments' ends, by Gauss's theorem."""
    turn = np.linspace(0.0, 2.0 * np.pi, _SIDES, endpoint=False)
    circle = jnp.asarray(np.stack([np.cos(turn), np.sin(turn), np.zeros(_SIDES)], -1))

    def signed(x, y, z):
        return jnp.sum(x * small.cross(y, jnp.broadcast_to(z, y.shape)), -1) / 6.0

    def of_shape(one):
        centre = one.pose.position - one.pose.position[0]
        rims = centre[:, None] + one.radius[:, None, None] * jnp.einsum("nij,sj->nsi", one.pose.rotation, circle)
        a, b = rims[:-1], rims[1:]
        a_next, b_next = jnp.roll(a, -1, 1), jnp.roll(b, -1, 1)
        skin = jnp.sum(signed(a, a_next, b_next) + signed(a, b_next, b))
        low, high = (jnp.broadcast_to(y, rims[0].shape) for y in (centre[0], centre[-1]))
        first, last = rims[0], rims[-1]
        ends = jnp.sum(signed(low, jnp.roll(first, -1, 0), first) + signed(high, last, jnp.roll(last, -1, 0)))
        return jnp.abs(skin + ends)

    robot = system.robot
    each = [of_shape(one) for one in split(robot, shape(system, row))]
    return each[0] if robot.single else jnp.stack(each)


# What is in what.


def ground_depth(system: System, row: Row) -> Float[Array, ""]:
    """The largest depth of the robot in the ground, over the local radius; negative above it, zero without ground."""
    ground = system.part(Ground)
    if ground is None:
        return jnp.zeros(())

    def of_arm(arm, base, q):
        height = shape_of(arm, base, q).pose.position[1:, 2] - ground.height
        return jnp.max(1.0 - height / (arm.arm.section.radius_tip * widths(arm, q)))

    depth = jnp.max(jnp.stack(split(system.robot, each_arm(system, row, of_arm))))
    body = system.robot.body
    if body is None:
        return depth
    return jnp.maximum(depth, 1.0 - (row.state.base_pose.position[2] - ground.height) / body.radius)


def object_overlap(system: System, row: Row) -> Float[Array, " o"]:
    """The largest depth of arms in each free object, over the local radius of the arm; negative while apart."""
    arms = split(system.robot, shape(system, row))

    def of_object(centre, radius):
        deep = [1.0 + (radius - small.norm(arm.pose.position - centre)) / arm.radius for arm in arms]
        return jnp.max(jnp.concatenate([one[1:] for one in deep]))

    places = objects(system, row).position
    each = [of_object(centre, radius) for centre, radius in zip(places, object_radii(system), strict=True)]
    return jnp.stack(each) if each else jnp.zeros(0)


def body_overlap(system: System, row: Row) -> Float[Array, ""]:
    """The largest depth of arms in the body, beyond their bases, over their local radius; zero without a body."""
    body = system.robot.body
    if body is None:
        return jnp.zeros(())

    def of_arm(one):
        away = small.norm(one.pose.position - row.state.base_pose.position)
        return jnp.max((1.0 + (body.radius - away) / one.radius)[_ATTACHED + 1 :], initial=-jnp.inf)

    return jnp.max(jnp.stack([of_arm(one) for one in split(system.robot, shape(system, row))]))
