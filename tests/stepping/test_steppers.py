"""Every stepper has the order it declares, against an independent model integrated by an independent program."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from finger_formulas import FingerFormulas, FingerLoads
from scipy.integrate import solve_ivp

from hydrostat.bodies import Arm, Material, Section
from hydrostat.compiling import quick_jit
from hydrostat.lie import SE3
from hydrostat.mechanics.energy import momentum
from hydrostat.mechanics.robot import no_inputs, single_arm
from hydrostat.mechanics.state import RobotState, positions, rest_state, velocities
from hydrostat.segments import StrainSegment
from hydrostat.stepping import RK4, SDIRK2, LinearImplicitEuler, Reference

LENGTH, RADIUS, YOUNG, DENSITY, TIP_MASS = 0.3, 1e-3, 60e9, 6450.0, 0.02
AREA, MOMENT = np.pi * RADIUS**2, np.pi / 4.0 * RADIUS**4
HORIZONTAL = SE3(jnp.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), jnp.zeros(3))
SECONDS = 0.2


def rod(count):
    return Arm(
        StrainSegment(jnp.full(count, LENGTH), ("bend_y",)),
        Section(jnp.full(count, RADIUS), jnp.full(count, RADIUS)),
        Material(*(jnp.full(count, value) for value in (YOUNG, 0.3, DENSITY, 0.0))),
        HORIZONTAL,
    )


@pytest.fixture(scope="module")
def model():
    return single_arm(rod(2), points=6, lumps=[(1.0, TIP_MASS)])


@pytest.fixture(scope="module")
def reference():
    """Angles of the two arcs after the release from straight, by the paper's corrected formulas and SciPy."""
    finger = FingerFormulas(
        (LENGTH, LENGTH), DENSITY * AREA, YOUNG * MOMENT, rotary_inertia=DENSITY * MOMENT, tip_mass=TIP_MASS
    )
    # hydrostat's -z is the paper's -X turned: the arm points along world x, so gravity pulls towards the paper's X.
    loads = FingerLoads(gravity=(-9.81, 0.0))
    slope = jax.jit(lambda theta, rate: finger.accelerations(theta, rate, loads))

    def ode(_, y):
        return np.concatenate([y[2:], np.asarray(slope(jnp.asarray(y[:2]), jnp.asarray(y[2:])))])

    return solve_ivp(ode, (0.0, SECONDS), np.zeros(4), rtol=1e-13, atol=1e-15, method="DOP853").y[:2, -1]


@quick_jit
def roll(model, stepper, start, dt, steps):
    def step(i, state):
        return stepper.step(model, state, i * dt, dt, lambda time, state: no_inputs(model)).state

    return jax.lax.fori_loop(0, steps, step, start)


def final_angles(model, stepper, steps):
    end = roll(model, stepper, rest_state(model), jnp.asarray(SECONDS / steps), jnp.asarray(steps))
    return LENGTH * np.asarray(end.q[:, 0])


@pytest.mark.parametrize(
    ("stepper", "steps"),
    [
        (LinearImplicitEuler(), (400, 800)),
        (SDIRK2(tolerance=1e-13), (50, 100)),
        (RK4(), (160, 320)),
        (Reference(tolerance=None), (18, 24)),
    ],
    ids=["linear implicit", "sdirk2", "rk4", "reference"],
)
def test_order(model, reference, stepper, steps):
    errors = [np.linalg.norm(final_angles(model, stepper, count) - reference) for count in steps]
    slope = np.log(errors[0] / errors[1]) / np.log(steps[1] / steps[0])
    # Two points of the curve: its next term is worth a tenth or two at these steps.
    assert slope == pytest.approx(stepper.order, abs=0.3)
    assert errors[1] < 0.05 * np.linalg.norm(reference)


def test_reference_takes_as_many_steps_as_its_tolerance_asks_for(model, reference):
    # Errors of a step's size are summed over the steps, some hundred of them.
    assert final_angles(model, Reference(tolerance=1e-10), 2) == pytest.approx(reference, abs=1e-8)


def test_a_free_arm_keeps_its_momentum_as_the_order_says():
    free = single_arm(rod(1), points=3, gravity=(0.0, 0.0, 0.0), free_base=True, base_mass=0.05, base_inertia=1e-4)
    rng = np.random.default_rng(0)
    start = RobotState(
        jnp.asarray(rng.normal(size=(1, 1))), jnp.asarray(3.0 * rng.normal(size=(1, 1))), SE3.identity(),
        jnp.asarray(rng.normal(size=6)),
    )  # fmt: skip

    @quick_jit
    def measured(state):
        here = no_inputs(free)._replace(base_pose=state.base_pose)
        return momentum(free, positions(state), velocities(state), here)

    def drift(steps):
        end = roll(free, RK4(), start, jnp.asarray(0.1 / steps), jnp.asarray(steps))
        return float(jnp.max(jnp.abs(measured(end) - measured(start))))

    drifts = [drift(steps) for steps in (80, 160)]
    assert np.log2(drifts[0] / drifts[1]) == pytest.approx(4.0, abs=0.5)
    assert drifts[1] < 1e-6
