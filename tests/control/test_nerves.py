"""Brains that decide at their own pace."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float

from hydrostat.control.nerves import AbstractBrain, Felt, Wanted, paced, steps_per_decision

PERIOD = 4e-3


class Summing(AbstractBrain):
    """Wants what it feels, and remembers how long it has decided for."""

    gain: Float[Array, ""]

    def begin(self, felt):
        return jnp.zeros(())

    def decide(self, time, dt, felt, memory):
        return Wanted(self.gain * felt.q, felt.held + time), memory + dt


def decided(dt, steps):
    """What the brain wants step by step of an arm that moves evenly, and what it remembers at the end."""
    brain = paced(Summing(jnp.asarray(2.0)), steps_per_decision(PERIOD, dt))

    def felt(time):
        return Felt(jnp.full((3, 2), time), jnp.zeros((3, 2)), jnp.zeros(3))

    def step(memory, time):
        wanted, memory = brain.decide(time, dt, felt(time), memory)
        return memory, wanted

    memory, wanted = jax.lax.scan(step, brain.begin(felt(0.0)), dt * jnp.arange(steps))
    return np.asarray(wanted.activation[:, 0, 0]), np.asarray(wanted.grip[:, 0]), memory


def test_decisions_are_the_same_however_finely_the_motion_is_stepped():
    coarse, grips, remembered = decided(PERIOD, 6)
    np.testing.assert_allclose(coarse, 2.0 * PERIOD * np.arange(6), rtol=1e-12)
    for finer in (2, 8):
        fine, fine_grips, memory = decided(PERIOD / finer, 6 * finer)
        np.testing.assert_allclose(fine, np.repeat(coarse, finer), rtol=1e-12)
        np.testing.assert_allclose(fine_grips, np.repeat(grips, finer), rtol=1e-12)
        # It is told its own period, not the step.
        assert float(memory.brain) == pytest.approx(float(remembered), rel=1e-12)


def test_a_brain_that_decides_every_step_is_not_wrapped():
    brain = Summing(jnp.asarray(1.0))
    assert paced(brain, 1) is brain


@pytest.mark.parametrize("dt, steps", [(4e-3, 1), (0.5e-3, 8), (3e-3, 1), (1.5e-3, 3), (20e-3, 1)])
def test_a_period_is_made_up_of_whole_steps(dt, steps):
    assert steps_per_decision(PERIOD, dt) == steps
