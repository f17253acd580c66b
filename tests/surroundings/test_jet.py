"""A jet: the mantle's water, and the momentum that leaves with it."""

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.errors import InputError
from hydrostat.mechanics.nodes import Nodes
from hydrostat.mechanics.robot import BodyShape
from hydrostat.surroundings import Commands, Environment, Jet, Place, Water

JET = Jet(volume=40e-6, nozzle=60e-6, burst_s=0.25, refill_s=0.75)
BODY = BodyShape(*(jnp.asarray(y) for y in (0.03, 0.47, 1e-4)))
AXIS = np.array([0.6, 0.0, 0.8])


def environment(body=BODY, water=None) -> Environment:
    return Environment(jnp.zeros(3), body, water, None, None, (1,), False)


def test_a_jet_presses_out_what_it_has_and_its_thrust_is_the_momentum_that_leaves():
    left, thrust, impulse = jnp.ones(()), 0.0, 0.0
    for _ in range(100):
        left, thrust = JET.press(left, 1.0, 1022.0, 5e-3)
        impulse += 5e-3 * float(thrust)
    assert float(left) == 0.0
    assert float(thrust) == 0.0
    # rho Q^2 / A for as long as the water lasts, at Q = V / t.
    flow = 40e-6 / 0.25
    assert impulse == pytest.approx(0.25 * 1022.0 * flow**2 / 60e-6, rel=1e-9)
    left, thrust = JET.press(left, 0.0, 1022.0, 0.3)
    assert float(left) == pytest.approx(0.4)
    assert float(thrust) == 0.0


def test_the_thrust_acts_on_the_body_along_its_axis_and_is_that_of_the_step():
    sea = environment(water=Water())
    one = jnp.zeros((1, 3))
    body = Nodes(one, one, one, jnp.asarray(AXIS)[None], jnp.array([0.03]), jnp.zeros(1))
    commands = Commands(jnp.zeros(1), jnp.zeros(1), jnp.asarray(1.0))
    state, forces = JET.begin(JET.init(sea), Place(body, body), sea, commands, 5e-3)
    expected = 1022.0 * (40e-6 / 0.25) ** 2 / 60e-6 * AXIS
    np.testing.assert_allclose(forces.on_body(body).force[0], expected, rtol=1e-12)
    assert not np.any(forces.forces(body).force)
    np.testing.assert_allclose(state.thrust, expected, rtol=1e-12)
    assert float(state.full) == pytest.approx(1.0 - 5e-3 / 0.25)


@pytest.mark.parametrize("missing", [{"water": None}, {"water": Water(), "body": None}])
def test_a_jet_without_water_or_body_is_refused(missing):
    with pytest.raises(InputError, match="`Jet` needs `Water"):
        JET.init(environment(**missing))
