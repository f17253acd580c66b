"""Keeping the momentum of a free robot, which no generic stepper does."""

from typing import ClassVar

from jaxtyping import Array, Float

from hydrostat.errors import InputError
from hydrostat.lie import small
from hydrostat.mechanics.energy import composite_inertia, external_wrench, momentum
from hydrostat.mechanics.model import Inputs
from hydrostat.stepping.base import AbstractStepper, Stepped, acting, positions, velocities


class KeepMomentum(AbstractStepper):
    """A stepper whose steps change momentum by the impulse of what acts from outside, and by nothing else.

    At the end of a step the body's twist is corrected as if the robot were rigid, with one 6 x 6 solve: that changes
    momentum and nothing of the shape. The impulse is that of the trapezoidal rule, zero where nothing acts.
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
        inertia = composite_inertia(model, positions(new.state), given)
        twist_world = small.matvec(small.inverse_positive(inertia), lacking)
        twist = new.state.base_pose.inverse().adjoint() @ twist_world
        return new._replace(state=new.state._replace(base_twist=new.state.base_twist + twist))


def _state_of(model, state, time, inputs) -> tuple[Float[Array, " 6"], Float[Array, " 6"], Inputs]:
    """Momentum, and the wrench from outside, both about the world's origin."""
    given = acting(model, state, time, inputs)
    x, v = positions(state), velocities(state)
    return momentum(model, x, v, given), external_wrench(model, x, v, given)[0], given
