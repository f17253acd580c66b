"""Keeping the momentum of a free robot, which no generic stepper does.

At a stage of a step the equations of motion hold, so the momentum P about a point fixed in the world changes there at
the rate W, the wrench of external forces. A step of weights b_i so should change it by

    P_1 - P_0 = dt sum b_i W_i,

which is the impulse that the stepper has applied: exactly F dt for a load F that is held over the step, and zero for
contact between the robot's own parts. What the steppers make of it is off by the curvature of P over the step, of third
order, and by what iterations left. A rigid twist of the whole robot with its composite inertia takes that back.

The fixed point is the body's position at the begin of the step, from which all poses are counted: so the result does
not depend on where in the world the robot is.
"""

from typing import ClassVar, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.errors import InputError
from hydrostat.lie import SE3, se3, small
from hydrostat.mechanics.energy import applied_wrench, bulk
from hydrostat.mechanics.motion import Coordinates
from hydrostat.mechanics.robot import Inputs, Robot
from hydrostat.mechanics.state import RobotState
from hydrostat.stepping.base import AbstractStepper, Stepped, moved, positions, velocities


class KeepMomentum(AbstractStepper):
    """A stepper whose steps change momentum by the impulse of external forces, and by nothing else.

    At the end of a step the body's twist is corrected as if the robot were rigid, with one 6 x 6 solve: that changes
    momentum and nothing of the shape. The impulse is that of the stepper's own stages.
    """

    stepper: AbstractStepper
    order: ClassVar[int] = 2

    def init(self, model, state, inputs, *, keep_momentum: bool = True):
        """The memory of the stepper within."""
        return self.stepper.init(model, state, inputs, keep_momentum=keep_momentum)

    def step(self, model, state, time, dt, inputs, *, keep_momentum: bool = True, memory=None) -> Stepped:
        """The state after one step of dt [s]."""
        if not model.free_base:
            raise InputError("momentum can be kept only for a robot with a free base; this one's is fixed")
        return self.stepper.step(model, state, time, dt, inputs, keep_momentum=keep_momentum, memory=memory)


class Momentum(NamedTuple):
    """The momentum of a robot and the wrench of its weight, about the body's position, in world axes."""

    momentum: Float[Array, " 6"]
    weight: Float[Array, " 6"]
    """The weight less the buoyancy, and in a current the drift of the water's impulse."""

    def about(self, point: Float[Array, " 3"]) -> "Momentum":
        """The same about another point, which is counted from this one."""

        def moved(pair):
            return jnp.concatenate([pair[:3] - small.cross(point, pair[3:]), pair[3:]])

        return Momentum(moved(self.momentum), moved(self.weight))


def momentum_of(model: Robot, state: RobotState, inputs: Inputs) -> Momentum:
    """The momentum of a robot in a state."""
    own = bulk(model, positions(state), velocities(state), _from_body(state, inputs))
    return Momentum(own.momentum, own.weight)


def outer_wrench(model: Robot, state: RobotState, x: Coordinates, v: Coordinates, inputs: Inputs) -> Float[Array, " 6"]:
    """The wrench of loads and surroundings on the whole robot at a stage of a step that begins in a state.

    About the body's position at the begin of the step, in world axes. The weight is not in it: see `kept`.
    """
    around = None if inputs.surroundings is None else inputs.surroundings.outside()
    own_inputs = _from_body(state, inputs)._replace(surroundings=around)
    return applied_wrench(model, x, v, own_inputs, state.base_pose.position)[0]


def kept(
    model: Robot,
    state: RobotState,
    x: Coordinates,
    v: Coordinates,
    dt,
    inputs: Inputs,
    wrench: Float[Array, " 6"],
    before: Momentum | None = None,
) -> tuple[RobotState, Momentum]:
    """The state at the end of a step, as that of `moved`, with its momentum corrected; and that momentum.

    **Arguments:** `state`: at the begin; `x`, `v`: coordinates and rates at the end, counted from the begin; `wrench`:
    mean of `outer_wrench` over the stages; `before`: the momentum at the begin, where it is known.
    """
    own_inputs = _from_body(state, inputs)
    before = momentum_of(model, state, inputs) if before is None else before
    after = bulk(model, x, v, own_inputs)
    # The weight changes as slowly as the robot's shape: the trapezoidal rule has the steppers' order.
    momentum = before.momentum + dt * (wrench + 0.5 * (before.weight + after.weight))
    twist = small.matvec(small.inverse_positive(after.inertia), momentum - after.momentum)
    new = moved(model, state, x, v)
    pose = own_inputs.base_pose @ se3.exp(x.base)
    correction = small.matvec(pose.inverse().adjoint(), twist)
    return new._replace(base_twist=new.base_twist + correction), Momentum(momentum, after.weight).about(pose.position)


def _from_body(state: RobotState, inputs: Inputs) -> Inputs:
    """The inputs with positions counted from that of the body at the begin of the step."""
    return inputs._replace(base_pose=SE3(state.base_pose.rotation, jnp.zeros(3)))
