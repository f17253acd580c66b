"""Short rollouts for the tests of whole-system truths, and a soft spatial arm that explicit steppers can step."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.bodies import Arm, Material, Section
from hydrostat.lie import SE3, so3
from hydrostat.mechanics.energy import energy, momentum
from hydrostat.mechanics.robot import no_inputs
from hydrostat.mechanics.state import RobotState, positions, velocities
from hydrostat.segments import StrainSegment

MODES = ("bend_x", "bend_y", "twist")
TURNED = SE3(so3.exp(jnp.array([1.0, 0.2, -0.4])), jnp.array([0.1, 0.2, 0.3]))
"""A base that no axis of the world is special to."""


def soft_arm(count=2, *, viscosity=0.0, base=TURNED, modes=MODES) -> Arm:
    """A tapered arm as soft as silicone, whose fastest vibration takes some milliseconds."""
    radius = jnp.linspace(0.02, 0.014, count + 1)
    return Arm(
        StrainSegment(jnp.full(count, 0.4 / count), modes),
        Section(radius[:-1], radius[1:]),
        Material(*(jnp.full(count, value) for value in (1e5, 0.4, 1000.0, viscosity))),
        base,
    )


def some_state(model, seed, *, bend=2.0, rate=5.0, base_rate=1.0) -> RobotState:
    """A bent arm in motion, on a base that moves where it is free."""
    rng = np.random.default_rng(seed)
    shape = model.one.stiffness.shape
    twist = jnp.asarray(base_rate * rng.normal(size=6)) if model.free_base else jnp.zeros(6)
    return RobotState(
        jnp.asarray(bend * rng.normal(size=shape)),
        jnp.asarray(rate * rng.normal(size=shape)),
        model.T_world_body,
        twist,
    )


class Still(eqx.Module):
    """Nothing acts, whatever the time."""

    def __call__(self, time, state, model):
        return no_inputs(model)


def roll(model, stepper, state, seconds, steps, inputs=None):
    """The state after some steps; `inputs` is called with time, state and model."""
    # As arrays, seconds and steps are not part of what is compiled.
    return _roll(model, stepper, state, jnp.asarray(float(seconds)), jnp.asarray(steps), inputs or Still())


@eqx.filter_jit
def _roll(model, stepper, state, seconds, steps, inputs):
    dt = seconds / steps

    def step(i, state):
        return stepper.step(model, state, i * dt, dt, lambda time, state: inputs(time, state, model)).state

    return jax.lax.fori_loop(0, steps, step, state)


def path(model, stepper, state, seconds, steps, inputs=None, *, most=None):
    """All states on the way, the first one included; paths of at most as many steps share what is compiled."""
    states = _path(model, stepper, state, jnp.asarray(seconds / steps), most or steps, inputs or Still())
    return jax.tree.map(lambda rows: rows[: steps + 1], states)


@eqx.filter_jit
def _path(model, stepper, state, dt, steps: int, inputs):
    def step(state, i):
        new = stepper.step(model, state, i * dt, dt, lambda time, state: inputs(time, state, model)).state
        return new, new

    _, states = jax.lax.scan(step, state, jnp.arange(steps))
    return jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), state, states)


def at(model, state, inputs=None):
    """The inputs with a free base where it is."""
    inputs = no_inputs(model) if inputs is None else inputs
    return inputs._replace(base_pose=state.base_pose) if model.free_base else inputs


@eqx.filter_jit
def energy_of(model, state):
    return energy(model, positions(state), velocities(state), at(model, state)).total


@eqx.filter_jit
def momentum_of(model, state):
    """Angular about the world's origin, and linear."""
    return momentum(model, positions(state), velocities(state), at(model, state))


def orders(errors, ratio=2.0):
    """Slopes of the logarithm of an error by that of the step, from each to the next."""
    return np.log(np.asarray(errors[:-1]) / np.asarray(errors[1:])) / np.log(ratio)
