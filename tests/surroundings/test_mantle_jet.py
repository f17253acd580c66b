"""The mantle jet: what the pump does is stored, leaves with the jet or is lost in the valve; thrust is momentum."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.errors import InputError
from hydrostat.lie import so3
from hydrostat.mechanics.nodes import Nodes
from hydrostat.surroundings import Commands, Environment, Place, Water

JET = hs.robots.squid_jet()
WATER = Water(1025.0, current=(0.3, 0.0, 0.0))
BODY = hs.robots.squid_vehicle(arms=[2]).body
SEA = Environment(jnp.zeros(3), BODY, WATER, None, None, (1,), False)
R = so3.exp(jnp.array([0.3, -0.5, 0.8]))
VELOCITY = jnp.array([0.1, -0.2, 0.05])


def place():
    own = (jnp.zeros(3), VELOCITY, jnp.zeros(3), R[:, 2], jnp.zeros(()), jnp.zeros(()), R)
    body = Nodes(*(part[None] for part in own))
    return Place(body._replace(rotation=None), body)


def run(state, seconds, dt, *, pump=0.0, valve=0.0, nozzle=(0.0, 0.0)):
    """The state after some time, the momentum given to the body, and its least volume on the way."""
    none = jnp.zeros(1)
    commands = Commands(none, none, jnp.asarray(valve), None, jnp.asarray(pump), jnp.asarray(nozzle))
    state, (impulses, volumes) = _run(state, commands, dt, round(seconds / dt))
    return state, np.sum(impulses, 0), float(np.min(volumes))


@partial(jax.jit, static_argnums=3)
def _run(state, commands, dt, steps):
    def step(state, _):
        state, forces = JET.begin(state, place(), SEA, commands, dt)
        return state, (dt * forces.on_body(place().body).force[0], state.volume)

    return jax.lax.scan(step, state, length=steps)


def stored(state):
    return 0.5 * float(JET.pressure_at(state.volume)) * float(state.volume)


def test_work_of_the_pump_is_stored_leaves_with_the_jet_or_is_lost():
    errors = []
    for dt in (0.02, 0.01):
        state, _, _ = run(JET.init(SEA), 2.0, dt, pump=1.0)
        filled = float(state.pump_work)
        assert filled == pytest.approx(stored(state), rel=1e-3)
        # A half-open valve while the pump goes on.
        state, _, _ = run(state, 0.3, dt, pump=1.0, valve=0.5)
        out = float(state.jet_work + state.valve_loss)
        assert out > 0.2 * filled
        errors.append(abs(float(state.pump_work) - stored(state) - out))
    assert np.log2(errors[0] / errors[1]) > 1.5
    assert errors[1] < 1e-3 * filled


def test_the_pump_fills_the_mantle_as_its_line_says():
    state, _, _ = run(JET.init(SEA), 2.0, 1e-3, pump=1.0)
    filling = 1.0 - np.exp(-2.0 * float(JET.flow / JET.capacity))
    assert float(state.volume) == pytest.approx(float(JET.capacity) * filling, rel=1e-6)


def test_a_burst_empties_the_mantle_once_and_pushes_by_the_momentum_that_leaves():
    full = JET.init(SEA)._replace(volume=JET.capacity)
    state, impulse, least = run(full, 3.0, 2e-3, valve=1.0)
    assert least >= 0.0
    assert float(state.volume) < 1e-4 * float(JET.capacity)
    # rho A v dt at v^2 = 2 C^2 p / rho: the mean velocity of a linear accumulator is 2/3 of its first.
    first = float(JET.velocity_coefficient) * np.sqrt(2.0 * float(JET.pressure) / 1025.0)
    expected = 1025.0 * float(JET.capacity) * first * 2.0 / 3.0
    # Water leaves along the body's -z, and pushes it along z.
    np.testing.assert_allclose(impulse, expected * np.asarray(R[:, 2]), rtol=3e-3)


def test_the_nozzle_turns_the_thrust_and_the_intake_holds_back():
    full = JET.init(SEA)._replace(volume=JET.capacity, nozzle=jnp.array([0.5, 0.0]))
    _, impulse, _ = run(full, 1e-3, 1e-3, valve=1.0, nozzle=(0.5, 0.0))
    direction = np.asarray(R.T @ impulse) / np.linalg.norm(impulse)
    np.testing.assert_allclose(direction, [-np.sin(0.5), 0.0, np.cos(0.5)], atol=1e-9)
    _, impulse, _ = run(JET.init(SEA), 1e-4, 1e-4, pump=1.0)
    expected = 1025.0 * float(JET.flow) * (np.asarray(WATER.current) - np.asarray(VELOCITY))
    np.testing.assert_allclose(impulse / 1e-4, expected, rtol=1e-3)


def test_what_a_system_lacks_is_refused_in_words():
    with pytest.raises(InputError, match="`MantleJet` needs `Water"):
        JET.init(Environment(jnp.zeros(3), BODY, None, None, None, (1,), False))
    with pytest.raises(InputError, match="`Fins` need `Water"):
        hs.robots.squid_fins().init(Environment(jnp.zeros(3), None, WATER, None, None, (1,), False))
    still = hs.System(hs.robots.squid_vehicle(arms=[2]), [hs.Water()])
    for control, kind in ((hs.Control(fins=np.zeros((6, 2))), "Fins"), (hs.Control(pump=1.0), "MantleJet")):
        with pytest.raises(InputError, match=f"is for a system with `{kind}` among its surroundings"):
            still.check(control)
    driven = hs.System(still.robot, [hs.Water(), hs.robots.squid_fins()])
    with pytest.raises(InputError, match=r"`fins` must have the shape \(6, 2\)"):
        driven.check(hs.Control(fins=np.zeros((3, 2))))
