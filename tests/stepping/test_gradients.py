"""Gradients of rollouts against central differences, by material, geometry, actuation and initial state."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.actuation import Tendons
from hydrostat.bodies import Arm, Material, Section
from hydrostat.compiling import quick_jit
from hydrostat.lie import SE3
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.model import Wires, make_model, no_inputs
from hydrostat.segments import StrainSegment
from hydrostat.stepping import SDIRK2, rest_state

COUNT, STEPS, DT = 3, 20, 2e-3
MODES = ("bend_x", "bend_y", "stretch")
# Richardson's iteration inside the derivative, and Newton's inside the step, both to rounding.
STEPPER = SDIRK2(tolerance=1e-14, rescue=False)

# What the outcome is differentiated by: a factor on each, all 1, or values in the unit of the thing itself.
PARAMETERS = {
    "youngs_modulus": 1.0,
    "density": 1.0,
    "viscosity": 1.0,
    "length": 1.0,
    "radius": 1.0,
    "tip_mass": 1.0,
    "gravity": 1.0,
    "tension": jnp.array([0.8, 0.3, 0.0]),
    "q": jnp.zeros((COUNT, len(MODES))),
    "v": jnp.zeros((COUNT, len(MODES))),
}


def tip_after_rollout(values):
    """The tip of a soft arm after some steps from the straight pose, pulled by tendons and its weight."""
    arm = Arm(
        StrainSegment(values["length"] * jnp.array([0.1, 0.12, 0.08]), MODES),
        Section(values["radius"] * jnp.array([0.015, 0.012, 0.01]), values["radius"] * jnp.array([0.012, 0.01, 0.007])),
        Material(
            values["youngs_modulus"] * jnp.full(COUNT, 2e5),
            jnp.full(COUNT, 0.45),
            values["density"] * jnp.full(COUNT, 1100.0),
            values["viscosity"] * jnp.full(COUNT, 200.0),
        ),
        SE3(jnp.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), jnp.zeros(3)),
    )
    tendons = Tendons(
        jnp.array([0.0, 2.0, 4.0]),
        values["radius"] * jnp.full((3, COUNT, 2), 0.006),
        jnp.ones((3, COUNT)),
        (COUNT - 1,) * 3,
        None,
    )
    model = make_model(
        arm,
        points=2,
        gravity=values["gravity"] * jnp.array([0.0, 0.0, -9.81]),
        lumps=[(1.0, 0.01 * values["tip_mass"])],
        wires=Wires(tendons, None, None),
    )
    inputs = no_inputs(model)._replace(wires=values["tension"])
    start = rest_state(model, values["q"])._replace(v=values["v"])

    def step(state, index):
        return STEPPER.step(model, state, index * DT, DT, lambda time, state: inputs).state, None

    end, _ = jax.lax.scan(step, start, jnp.arange(STEPS))
    tip = kinematics.tip_pose(arm, end.q).position
    return tip @ jnp.array([0.3, 1.0, -0.7])


VALUES = {name: jnp.asarray(value, float) for name, value in PARAMETERS.items()}


@quick_jit
def tip_along(values, ways):
    """Where the tip is, and how that changes along some ways."""
    return jax.jvp(tip_after_rollout, (values,), (ways,))


def ways_of(name):
    """A change of one of the parameters alone."""
    rng = np.random.default_rng(len(name))
    nothing = {other: jnp.zeros_like(value) for other, value in VALUES.items()}
    return {**nothing, name: jnp.asarray(rng.normal(size=np.shape(VALUES[name])))}


@pytest.mark.parametrize("name", PARAMETERS)
def test_derivative_is_that_of_differences(name):
    ways = ways_of(name)
    # Fourth-order differences: at this step truncation and rounding are both some 1e-9 of the derivative.
    h = 2e-3

    def moved(steps):
        return float(tip_along({**VALUES, name: VALUES[name] + steps * h * ways[name]}, ways)[0])

    slope = (8.0 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12.0 * h)
    assert float(tip_along(VALUES, ways)[1]) == pytest.approx(slope, rel=1e-6, abs=1e-10)


@pytest.mark.slow
def test_gradient_is_the_derivative_in_every_direction():
    gradient = quick_jit(jax.grad(tip_after_rollout))(VALUES)
    for name, found in gradient.items():
        ways = ways_of(name)
        assert np.all(np.isfinite(found))
        assert float(jnp.sum(found * ways[name])) == pytest.approx(float(tip_along(VALUES, ways)[1]), rel=1e-9)
