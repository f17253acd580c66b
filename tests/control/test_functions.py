"""Plain Python functions as controllers: called with NumPy arrays, held between calls, not to be differentiated."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.bodies import Arm, Material, Section
from hydrostat.control import controller
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics import make_arm_model, single_arm
from hydrostat.segments import StrainSegment
from hydrostat.sensing import observe
from hydrostat.system import Control, System

DT = 2e-3


@pytest.fixture(scope="module")
def system():
    one = jnp.ones(1)
    segments = StrainSegment(length=[0.1], modes=("bend_x", "bend_y"), rest_strain=np.zeros((1, 6)))
    material = Material(1e6 * one, 0.5 * one, 1e3 * one, 1e2 * one)
    return System(single_arm(make_arm_model(Arm(segments, Section(0.01 * one, 0.01 * one), material, SE3.identity()))))


@controller(rate=250)
def push(time, observation):
    assert isinstance(observation.q, np.ndarray)
    return Control(torque=[[time, float(observation.q[0, 0])]])


def test_a_function_is_called_at_its_rate_and_held_between(system):
    running = push.attach(system, DT)
    observation = observe(system, system.rest(q=jnp.array([[0.3, 0.0]])), Control(), DT)

    @jax.jit
    def run(memory):
        def step(memory, time):
            control, memory = running(time, observation, memory)
            return memory, control.torque[0]

        return jax.lax.scan(step, memory, DT * jnp.arange(4))[1]

    torque = run(running.init(observation))
    np.testing.assert_allclose(torque, [[0.0, 0.3], [0.0, 0.3], [2.0 * DT, 0.3], [2.0 * DT, 0.3]], rtol=1e-12)


def test_derivatives_through_a_function_are_refused(system):
    running = controller(rate=1.0 / DT)(lambda time, seen: Control(torque=seen.q)).attach(system, DT)
    rest = observe(system, system.rest(), Control(), DT)
    with pytest.raises(InputError, match="derivatives cannot be taken through"):
        jax.grad(lambda x: jnp.sum(running(0.0, rest._replace(q=x * jnp.ones((1, 2))), ())[0].torque))(1.0)


def test_what_a_function_sets_must_fit_the_system(system):
    with pytest.raises(InputError, match="`torque` must have the shape"):
        controller()(lambda time, seen: Control(torque=np.zeros(3))).attach(system, DT)
    with pytest.raises(InputError, match="a controller must give a `Control`"):
        controller()(lambda time, seen: None).attach(system, DT)
    with pytest.raises(InputError, match="`rate` must be"):
        controller(rate=0.0)
