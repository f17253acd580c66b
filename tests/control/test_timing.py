"""Controllers by the clock: decisions that are held, tables that are played back, and controllers in turn."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float

from hydrostat.control import Combined, Constant, Controller, Playback, Then, at_rate, steps_per_decision
from hydrostat.control.timing import hold
from hydrostat.errors import InputError
from hydrostat.sensing import Observation
from hydrostat.system import Control

PERIOD = 4e-3


class Summing(Controller):
    """Sets what it observes, and remembers how long it has decided for."""

    gain: Float[Array, ""]

    def init(self, observation):
        return jnp.zeros(())

    def __call__(self, time, observation, memory):
        return Control(activation=self.gain * observation.q, grip=observation.held + time), memory + observation.period


def observed(time, dt):
    rest = Observation(*[None] * 10)
    return rest._replace(period=jnp.asarray(dt), q=jnp.full((3, 2), time), held=jnp.zeros(3))


def run(controller, dt, steps):
    """What the controller sets step by step of an arm that moves evenly, and what it remembers at the end."""

    def step(memory, time):
        control, memory = controller(time, observed(time, dt), memory)
        return memory, control

    memory, control = jax.lax.scan(step, controller.init(observed(0.0, dt)), dt * jnp.arange(steps))
    return control, memory


def decided(dt, steps):
    control, memory = run(hold(Summing(jnp.asarray(2.0)), steps_per_decision(PERIOD, dt)), dt, steps)
    return np.asarray(control.activation[:, 0, 0]), np.asarray(control.grip[:, 0]), memory


def test_decisions_are_the_same_however_finely_the_motion_is_stepped():
    coarse, grips, remembered = decided(PERIOD, 6)
    np.testing.assert_allclose(coarse, 2.0 * PERIOD * np.arange(6), rtol=1e-12)
    for finer in (2, 8):
        fine, fine_grips, memory = decided(PERIOD / finer, 6 * finer)
        np.testing.assert_allclose(fine, np.repeat(coarse, finer), rtol=1e-12)
        np.testing.assert_allclose(fine_grips, np.repeat(grips, finer), rtol=1e-12)
        # It is told its own period, not the step.
        assert float(memory.controller) == pytest.approx(float(remembered), rel=1e-12)


def test_a_controller_that_decides_every_step_is_not_wrapped():
    controller = Summing(jnp.asarray(1.0))
    assert hold(controller, 1) is controller
    attached = at_rate(controller, 1.0 / PERIOD).attach(None, PERIOD / 2)
    assert int(attached.every) == 2


@pytest.mark.parametrize("dt, steps", [(4e-3, 1), (0.5e-3, 8), (3e-3, 1), (1.5e-3, 3), (20e-3, 1)])
def test_a_period_is_made_up_of_whole_steps(dt, steps):
    assert steps_per_decision(PERIOD, dt) == steps


def test_a_table_is_played_back_row_by_row_and_its_last_row_goes_on():
    table = Control(tension=np.arange(4.0)[:, None] * np.ones(3))
    control, _ = run(Playback(table), 1e-3, 7)
    np.testing.assert_array_equal(control.tension[:, 0], [0.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0])


def test_a_controller_takes_over_with_a_time_and_a_memory_of_its_own():
    first = Constant(Control(activation=np.full((3, 2), 0.5)))
    control, memory = run(Then(first, 3e-3, Summing(jnp.asarray(1.0))), 1e-3, 6)
    np.testing.assert_allclose(control.activation[:, 0, 0], [0.5] * 3 + [3e-3, 4e-3, 5e-3], rtol=1e-12)
    # What only one of them sets is 0 in the other's turn; time counts from the switch.
    np.testing.assert_allclose(control.grip[:, 0], [0.0, 0.0, 0.0, 0.0, 1e-3, 2e-3], atol=1e-15)
    assert float(memory.second) == pytest.approx(3e-3, rel=1e-12)


def test_combined_controllers_add_up():
    half, grip = np.full((3, 2), 0.7), np.array([1.0, 0.0, 0.0])
    both = Combined(Constant(Control(activation=half, grip=grip)), Constant(Control(activation=half)))
    control, _ = run(both, 1e-3, 1)
    np.testing.assert_array_equal(control.activation[0], np.ones((3, 2)))
    np.testing.assert_array_equal(control.grip[0], grip)
    with pytest.raises(InputError, match="`length` must be set by one of the combined controllers"):
        run(Combined(*[Constant(Control(length=grip))] * 2), 1e-3, 1)
