"""What does not change: momentum and energy of a free arm. Both to rounding, or at the stepper's order."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array
from rollouts import energy_of, momentum_of, orders, roll, soft_arm, some_state

from hydrostat.lie import SE3
from hydrostat.mechanics.robot import no_inputs, single_arm
from hydrostat.mechanics.state import rest_state
from hydrostat.stepping import RK4, SDIRK2, KeepMomentum

SECONDS = 0.1
EPS = np.finfo(float).eps
PRECISE = SDIRK2(tolerance=1e-13)


@pytest.fixture(scope="module")
def free():
    """An arm on a free body, far from anything, bent and tumbling."""
    still = (0.0, 0.0, 0.0)
    return single_arm(soft_arm(), points=3, gravity=still, free_base=True, base_mass=0.3, base_inertia=1e-3)


@pytest.fixture(scope="module")
def start(free):
    return some_state(free, 3)


def changes(model, start, stepper, steps):
    """How much angular and linear momentum, each relative to its size, and energy have changed in the end."""
    before, end = momentum_of(model, start), [roll(model, stepper, start, SECONDS, count) for count in steps]
    after = np.stack([momentum_of(model, state) for state in end])
    sizes = np.linalg.norm(before[:3]), np.linalg.norm(before[3:])
    angular = np.linalg.norm(after[:, :3] - before[:3], axis=-1) / sizes[0]
    linear = np.linalg.norm(after[:, 3:] - before[3:], axis=-1) / sizes[1]
    energies = np.array([energy_of(model, state) for state in end])
    return angular, linear, np.abs(energies / energy_of(model, start) - 1.0)


@pytest.mark.parametrize(("stepper", "steps"), [(PRECISE, (50, 100, 200)), (RK4(), (40, 80))], ids=["sdirk2", "rk4"])
def test_momentum_and_energy_drift_falls_at_the_order(free, start, stepper, steps):
    for drift in changes(free, start, stepper, steps):
        assert drift[-1] > 100.0 * EPS  # else there is nothing to see
        # What a stepper dissipates may be of one order more than its error.
        assert np.all(orders(drift) > stepper.order - 0.3), drift


def test_keep_momentum_keeps_it_to_rounding(free, start):
    steps = (50, 100, 200)
    angular, linear, energy = changes(free, start, KeepMomentum(PRECISE), steps)
    # Each step solves one 6 x 6 system, whose condition is that of a composite inertia, some tens.
    assert np.max(angular) < 1e-13
    assert np.max(linear) < 1e-13
    assert np.all(orders(energy) > KeepMomentum.order - 0.3)


def test_keep_momentum_does_not_cost_accuracy(free, start):
    exact = roll(free, RK4(), start, SECONDS, 1600)
    errors = {}
    for name, stepper in (("plain", PRECISE), ("kept", KeepMomentum(PRECISE))):
        ends = [roll(free, stepper, start, SECONDS, steps) for steps in (50, 100)]
        errors[name] = np.array([float(jnp.max(jnp.abs(end.q - exact.q))) for end in ends])
    assert orders(errors["kept"]) == pytest.approx(2.0, abs=0.3)
    assert np.all(errors["kept"] < 2.0 * errors["plain"])


def test_weight_and_loads_change_momentum_by_their_impulse(free):
    """The centre of mass of a free arm falls as a stone does, whatever the arm does meanwhile."""
    gravity = jnp.array([1.0, -2.0, -9.0])
    falling = single_arm(
        soft_arm(), points=3, gravity=gravity, free_base=True, base_mass=0.3, base_inertia=1e-3
    )  # fmt: skip
    start = some_state(falling, 3)
    end = roll(falling, KeepMomentum(PRECISE), start, SECONDS, 50)
    mass = float(jnp.sum(falling.one.inertia[..., 3])) + 0.3
    gained = np.asarray(momentum_of(falling, end) - momentum_of(falling, start))
    assert gained[3:] == pytest.approx(mass * np.asarray(gravity) * SECONDS, rel=1e-12)


def test_energy_drift_of_short_steps_is_that_of_the_method():
    """What the default tolerance leaves of the iteration does not show beside the method's own error."""
    six = ("bend_x", "bend_y", "twist", "shear_x", "shear_y", "stretch")
    still = (0.0, 0.0, 0.0)
    rod = single_arm(soft_arm(3, modes=six), points=2, gravity=still, free_base=True, base_mass=0.05, base_inertia=1e-5)
    bent = jnp.array([[2.0, 0.0, 1.0], [2.0, 0.5, 1.0], [2.0, 1.0, 1.0]])
    start = rest_state(rod, jnp.pad(bent, ((0, 0), (0, 3))))
    before = energy_of(rod, start)

    def drift(stepper, dt):
        return float(abs(energy_of(rod, roll(rod, stepper, start, SECONDS, round(SECONDS / dt))) / before - 1.0))

    drifts = [drift(SDIRK2(), dt) for dt in (5e-4, 2.5e-4, 1.25e-4)]
    assert np.all(orders(drifts) > SDIRK2.order), drifts
    # At 1 ms the tolerance leaves 2e-2 of the method's drift, and as much of it at any shorter step.
    assert drifts[-1] == pytest.approx(drift(SDIRK2(tolerance=1e-13), 1.25e-4), rel=0.03)


def test_motion_does_not_depend_on_where_the_origin_is(free, start):
    ends = {}
    for away in (0.0, 1e3):
        pose = start.base_pose
        there = start._replace(base_pose=SE3(pose.rotation, pose.position + away * jnp.array([0.6, 0.0, -0.8])))
        end = roll(free, KeepMomentum(PRECISE), there, SECONDS, 50)
        ends[away] = (end.q, end.v, end.base_twist, end.base_pose.position - there.base_pose.position)
    # Only positions are rounded, by 1.1e-13 m each step at 1 km: 6e-12 m of a way of 0.1 m.
    for near, far in zip(*ends.values(), strict=True):
        np.testing.assert_allclose(far, near, rtol=0, atol=1e-9 * float(jnp.max(jnp.abs(near))))


class During(eqx.Module):
    """A dead load that is held over each of the first steps."""

    load: Array
    steps: Array
    dt: Array

    def __call__(self, time, state, model):
        # Stages are after the begin of a step, up to its end: the step is told by the time before that of the stage.
        del state
        begun = jnp.ceil(time / self.dt - 1e-9) - 1.0
        return no_inputs(model)._replace(force=jnp.where(begun < self.steps, self.load, 0.0))


@pytest.mark.parametrize(
    "stepper", [pytest.param(KeepMomentum(SDIRK2()), marks=pytest.mark.slow), KeepMomentum(SDIRK2(tolerance=1e-4))]
)
def test_a_load_that_is_on_for_some_steps_gives_its_impulse(stepper):
    still = (0.0, 0.0, 0.0)
    model = single_arm(
        soft_arm(), points=3, gravity=still, free_base=True, base_mass=0.3, base_inertia=1e-3, load_places=(0.7,)
    )
    start = rest_state(model, some_state(model, 3).q)
    load, steps, on = jnp.array([[0.01, 0.0, 0.0, 1.0, -2.0, 0.5]]), 12, 7
    dt = SECONDS / 50
    inputs = During(load, jnp.asarray(on), jnp.asarray(dt))
    gained = momentum_of(model, roll(model, stepper, start, steps * dt, steps, inputs))
    np.testing.assert_allclose(gained[3:], on * dt * load[0, 3:], rtol=1e-12)
