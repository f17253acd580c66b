"""The momentum that a step hands on to the next one is that of the robot, wherever its body has gone."""

import jax.numpy as jnp
import numpy as np

import hydrostat as hs


def test_momentum_of_a_free_run_stays_as_it_was():
    system = hs.System(hs.robots.octopus(2, 2), gravity=(0.0, 0.0, 0.0))
    rest = system.rest()
    rates = 5.0 * np.random.default_rng(3).normal(size=rest.v.shape)
    # The body travels far beside its size, so that the point about which momentum is taken moves.
    start = rest._replace(v=jnp.asarray(rates), base_twist=jnp.array([0.3, -0.2, 0.5, 1.0, -0.6, 0.4]))
    momentum = np.asarray(hs.simulate(system, None, 0.1, 2e-3, state=start).momentum())
    assert np.max(np.abs(momentum - momentum[0])) <= 1e-12 * np.max(np.abs(momentum[0]))
