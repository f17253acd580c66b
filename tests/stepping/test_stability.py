"""The largest step of an explicit stepper against the eigenvalues of the linearised motion."""

import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import hydrostat as hs
from hydrostat.compiling import quick_jit
from hydrostat.errors import InputError
from hydrostat.mechanics.dynamics import accelerations
from hydrostat.mechanics.state import positions, velocities
from hydrostat.stepping.stability import largest_step

SEGMENTS = 2


@pytest.fixture(scope="module")
def system():
    return hs.System(hs.robots.octopus_arm(SEGMENTS), [hs.Water(added_mass=1.0)])


@quick_jit
def acceleration(robot, x, v, inputs):
    return ravel_pytree(accelerations(robot, x, v, inputs))[0]


def activated(system, activation):
    """The arm at rest with all muscles as active, and the forces on it then."""
    active = jnp.full((SEGMENTS, 5), activation)
    state = system.rest()._replace(activation=active)
    return state.robot, system.inputs_at(state, hs.Control(activation=active))


@pytest.mark.parametrize("activation", [0.0, 0.3])
def test_the_largest_step_of_a_straight_muscular_arm_is_that_of_its_fastest_rate(system, activation):
    state, inputs = activated(system, activation)
    x0, unravel = ravel_pytree(positions(state))
    y0, half, e = jnp.concatenate([x0, ravel_pytree(velocities(state))[0]]), len(x0), 1e-6

    def slope(y):
        return jnp.concatenate([y[half:], acceleration(system.robot, unravel(y[:half]), unravel(y[half:]), inputs)])

    # Central differences: their error is of the order of e^2, below that of the power iteration.
    J = np.array([(slope(y0 + d) - slope(y0 - d)) / (2.0 * e) for d in e * np.eye(2 * half)]).T
    fastest = np.abs(np.linalg.eigvals(J)).max()
    assert largest_step(system.robot, state, inputs, 2.78) == pytest.approx(0.95 * 2.78 / fastest, rel=0.1)


def test_a_step_of_unknown_stability_is_refused(system):
    state, inputs = activated(system, 0.0)
    broken = state._replace(q=jnp.full_like(state.q, jnp.nan))
    assert largest_step(system.robot, broken, inputs, 2.78) == 0.0


@pytest.mark.slow
def test_rk4_refuses_a_step_of_five_milliseconds_for_the_octopus_arm():
    sea = hs.System(hs.robots.octopus_arm(), [hs.Water()])
    with pytest.raises(InputError, match=r"where RK4 is stable for this arm; got 0\.005 s"):
        hs.simulate(sea, hs.Control(), 0.1, 5e-3, stepper=hs.RK4())
