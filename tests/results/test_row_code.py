"""Machine code for rows is kept ready for a system: another system, and functions with numbers, have their own."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.results.rows import of_rows


class Scaled(eqx.Module):
    """The time of a row, times a number."""

    factor: jnp.ndarray

    def __call__(self, system, row):
        return self.factor * row.state.time


def tip_height(system, row):
    return system.robot.arm.segments.length[0] + row.state.time


def test_kept_code_takes_the_numbers_of_its_own_system_and_functions():
    arm = hs.System(hs.robots.squid_limb("camera"))
    many = hs.rollout(arm, None, steps=2, dt=1e-3).state
    assert many.time[-1] > 0.0
    control = hs.Control()
    longer = eqx.tree_at(lambda s: s.robot.arms.arm.segments.length, arm, 2.0 * arm.robot.arm.segments.length)
    for _ in range(2):
        for factor in (2.0, 3.0):
            found = of_rows(arm, many, control, Scaled(jnp.asarray(factor)))[0]
            np.testing.assert_allclose(found, factor * np.asarray(many.time))
        for system in (arm, longer):
            found = of_rows(system, many, control, tip_height)[0]
            np.testing.assert_allclose(found, float(system.robot.arm.segments.length[0]) + np.asarray(many.time))
