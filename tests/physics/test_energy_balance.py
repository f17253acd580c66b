"""The rate of an arm's energy is the power of what acts on it less what its material dissipates."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rollouts import at, orders, path, soft_arm, some_state

from hydrostat.actuation import Tendons
from hydrostat.mechanics.dynamics import accelerations
from hydrostat.mechanics.energy import dissipation, energy, power
from hydrostat.mechanics.model import Wires
from hydrostat.mechanics.robot import no_inputs, single_arm
from hydrostat.mechanics.state import positions, velocities
from hydrostat.stepping import RK4, SDIRK2

SECONDS = 0.1


def wired_model(drive, free_base=False):
    """A damped arm with two tendons to its tip and one to its middle, a mass, and two places for loads."""
    arm = soft_arm(viscosity=50.0)
    course = Tendons(
        azimuth=jnp.array([0.0, 2.0, 4.0]),
        offsets=jnp.full((3, 2, 2), 0.012),
        passes=jnp.array([[1.0, 1.0], [1.0, 1.0], [1.0, 0.0]]),
        ends_at=(1, 1, 0),
        bays=None,
    )
    stiffness = damping = None
    if drive == "length":
        stiffness, damping = jnp.array([300.0, 200.0, 400.0]), jnp.array([0.3, 0.2, 0.1])
    return single_arm(
        arm,
        points=3,
        lumps=[(1.0, 0.02, 1e-5)],
        load_places=[0.6, 1.0],
        wires=Wires(course, stiffness, damping),
        free_base=free_base,
        base_mass=0.3,
        base_inertia=1e-3,
    )


class Everything(eqx.Module):
    """Loads of all kinds that change with time, or nothing at all."""

    size: jnp.ndarray

    def __call__(self, time, state, model):
        given = no_inputs(model)
        wave = jnp.sin(30.0 * time + jnp.arange(12.0).reshape(2, 6))
        pull = 1.0 + jnp.sin(20.0 * time)
        pull = -0.01 * pull if model.one.wires.stiffness is not None else 2.0 * pull
        return given._replace(
            force=self.size * 0.05 * wave,
            follower=self.size * 0.03 * jnp.cos(2.0 * wave),
            torque=self.size * 1e-3 * jnp.cos(25.0 * time) * jnp.ones_like(given.torque),
            wires=given.wires + self.size * pull,
        )


ALL, NOTHING = Everything(jnp.asarray(1.0)), Everything(jnp.asarray(0.0))


@eqx.filter_jit
def balance(model, state, time):
    """Energy, net power by the formulas, and the rate of the energy by differentiating it along the motion."""
    x, v, inputs = positions(state), velocities(state), at(model, state, ALL(time, state, model))
    rate = jax.jvp(
        lambda x, v: energy(model, x, v, inputs).total, (x, v), (v, accelerations(model, x, v, inputs))
    )[1]  # fmt: skip
    return energy(model, x, v, inputs).total, power(model, x, v, inputs) - dissipation(model, x, v), rate


@pytest.mark.parametrize(("drive", "free_base"), [("tension", False), ("length", False), ("tension", True)])
def test_power_and_dissipation_are_the_rate_of_the_energy(drive, free_base):
    model = wired_model(drive, free_base)
    for seed in range(3):
        state = some_state(model, seed)
        _, net, rate = (float(value) for value in balance(model, state, jnp.asarray(0.1 * seed)))
        assert abs(net) > 1e-3
        # Rounding of terms some hundred times their sum.
        assert rate == pytest.approx(net, rel=1e-10, abs=1e-11)


def balances(model, states, times):
    """Energy and net power at each of some states, one by one: they share what is compiled."""
    each = [balance(model, jax.tree.map(lambda y, i=i: y[i], states), time) for i, time in enumerate(times)]
    return np.array([values[:2] for values in each]).T


@pytest.mark.parametrize(
    "stepper", [pytest.param(RK4(), marks=pytest.mark.slow), SDIRK2(tolerance=1e-13)], ids=["rk4", "sdirk2"]
)
def test_energy_balances_along_a_rollout(stepper):
    model = wired_model("tension")
    start = some_state(model, 4)
    errors = []
    for count in (100, 200):
        states = path(model, stepper, start, SECONDS, count, ALL, most=200)
        energies, net = balances(model, states, jnp.linspace(0.0, SECONDS, count + 1))
        # Simpson's rule, of order 4 as the better of the steppers.
        weights = np.ones(count + 1)
        weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
        work = np.sum(weights * net) * SECONDS / count / 3.0
        errors.append(abs(energies[-1] - energies[0] - work))
    assert abs(work) > 0.01
    assert orders(errors)[0] == pytest.approx(stepper.order, abs=0.5), errors
    assert errors[-1] < 1e-3 * abs(work)


def test_a_damped_arm_left_alone_only_loses_energy():
    model = wired_model("tension")
    states = path(model, RK4(), some_state(model, 4), SECONDS, 200, NOTHING)
    energies, _ = balances(model, states, jnp.linspace(0.0, SECONDS, 201))
    assert np.all(np.diff(energies) < 0.0)
