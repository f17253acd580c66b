"""Keeping the momentum of a free robot, which no generic stepper does."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from hydrostat.errors import InputError
from hydrostat.lie import small
from hydrostat.mechanics.energy import composite_inertia, external_wrench, masses, momentum
from hydrostat.mechanics.robot import Inputs
from hydrostat.mechanics.state import nodes_of
from hydrostat.stepping.base import AbstractStepper, Stepped, acting, positions, velocities

_CANCELLED = 1e-9  # of the forces' sizes: what rounding leaves of a sum that is zero
_STRUCK = 0.01  # of all momenta together: more than the error of any sensible step


class KeepMomentum(AbstractStepper):
    """A stepper whose steps change momentum by the impulse of what acts from outside, and by nothing else.

    At the end of a step the body's twist is corrected as if the robot were rigid, with one 6 x 6 solve: that changes
    momentum and nothing of the shape. The impulse is that of the trapezoidal rule, zero where nothing acts.

    That rule cannot tell what a stiff contact with the ground did within a step. Steps that touch it are left as they
    are; contact between the robot's own arms does not count, since its forces cancel.
    """

    stepper: AbstractStepper
    order: ClassVar[int] = 2

    def step(self, model, state, time, dt, inputs) -> Stepped:
        """The state after one step of dt [s]."""
        if not model.free_base:
            raise InputError("momentum can be kept only for a robot with a free base; this one's is fixed")
        new = self.stepper.step(model, state, time, dt, inputs)
        before, push_before, _ = _state_of(model, state, time, inputs)
        after, push_after, given = _state_of(model, new.state, time + dt, inputs)
        lacking = before + 0.5 * dt * (push_before + push_after) - after
        if given.surroundings is not None:
            held = _held_from_outside(model, state, time, inputs) | _held_from_outside(
                model, new.state, time + dt, inputs
            )
            # A touch between the ends of a step shows as a change of momentum far above the step's own error.
            struck = jnp.any(jnp.abs(lacking) > _STRUCK * _momenta(model, new.state, given))
            lacking = jnp.where(held | struck, 0.0, lacking)
        inertia = composite_inertia(model, positions(new.state), given)
        twist_world = small.matvec(small.inverse_positive(inertia), lacking)
        twist = new.state.base_pose.inverse().adjoint() @ twist_world
        return new._replace(state=new.state._replace(base_twist=new.state.base_twist + twist))


def _held_from_outside(model, state, time, inputs) -> Bool[Array, ""]:
    """Whether the surroundings push the robot as a whole."""
    given = acting(model, state, time, inputs)
    assert given.surroundings is not None
    push = given.surroundings.forces(nodes_of(model, state, given)).force
    return small.norm(jnp.sum(push, 0)) > _CANCELLED * jnp.sum(small.norm(push))


def _momenta(model, state, given) -> Float[Array, " 6"]:
    """The sizes of all momenta together, for each component of `momentum`."""
    bodies = masses(model, positions(state), velocities(state), given)
    own = jnp.abs(bodies.inertia * bodies.twist)
    linear = jnp.sum(own[:, 3:])
    angular = jnp.sum(own[:, :3]) + jnp.sum(small.norm(bodies.T_world.position) * jnp.sum(own[:, 3:], -1))
    return jnp.concatenate([jnp.full(3, angular), jnp.full(3, linear)])


def _state_of(model, state, time, inputs) -> tuple[Float[Array, " 6"], Float[Array, " 6"], Inputs]:
    """Momentum, and the wrench from outside, both about the world's origin."""
    given = acting(model, state, time, inputs)
    x, v = positions(state), velocities(state)
    return momentum(model, x, v, given), external_wrench(model, x, v, given)[0], given
