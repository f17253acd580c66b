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
from hydrostat.mechanics.model import Wires
from hydrostat.mechanics.robot import no_inputs, single_arm
from hydrostat.mechanics.state import rest_state
from hydrostat.segments import StrainSegment
from hydrostat.stepping import SDIRK2
from hydrostat.stepping.implicit import gmres, implicit_root

COUNT, STEPS, DT = 3, 60, 5e-3
MODES = ("bend_x", "bend_y", "stretch")
# The iteration inside the step goes to rounding, so that differences are those of the exact steps.
STEPPER = SDIRK2(tolerance=1e-14, rescue=False)
DIRECTION = jnp.array([0.3, 1.0, -0.7])

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
    model = single_arm(
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
    return tip @ DIRECTION


VALUES = {name: jnp.asarray(value, float) for name, value in PARAMETERS.items()}


VALUE, ALONG, GRADIENT = (
    quick_jit(function)
    for function in (
        tip_after_rollout,
        lambda values, ways: jax.jvp(tip_after_rollout, (values,), (ways,))[1],
        jax.grad(tip_after_rollout),
    )
)


def ways_of(name):
    """A change of one of the parameters alone."""
    rng = np.random.default_rng(len(name))
    nothing = {other: jnp.zeros_like(value) for other, value in VALUES.items()}
    return {**nothing, name: jnp.asarray(rng.normal(size=np.shape(VALUES[name])))}


@pytest.fixture(scope="module")
def gradient():
    return GRADIENT(VALUES)


@pytest.mark.parametrize("name", PARAMETERS)
def test_gradient_is_that_of_differences(gradient, name):
    ways = ways_of(name)
    # Fourth-order differences: at this step truncation and rounding are both some 1e-9 of the derivative.
    h = 2e-3

    def moved(steps):
        return float(VALUE({**VALUES, name: VALUES[name] + steps * h * ways[name]}))

    slope = (8.0 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12.0 * h)
    assert np.all(np.isfinite(gradient[name]))
    assert float(jnp.sum(gradient[name] * ways[name])) == pytest.approx(slope, rel=1e-6, abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name", PARAMETERS)
def test_gradient_is_the_derivative_in_every_direction(gradient, name):
    """Forward mode: of the quick tests those of clamped arms in contact know it."""
    ways = ways_of(name)
    assert float(jnp.sum(gradient[name] * ways[name])) == pytest.approx(float(ALONG(VALUES, ways)), rel=1e-9)


@pytest.mark.parametrize("outer", [jax.jacfwd, jax.jacrev])
@pytest.mark.parametrize("inner", [jax.jacfwd, jax.jacrev])
def test_second_derivatives_of_roots_in_a_loop(outer, inner):
    def root(p):
        """The roots a of a^3 + a = p."""
        fixed = jax.lax.stop_gradient(p)
        a = jax.lax.fori_loop(0, 30, lambda _, a: a - (a**3 + a - fixed) / (3.0 * a * a + 1.0), fixed)
        factors = 3.0 * a * a + 1.0
        return implicit_root((a, factors), p, lambda a, p: a**3 + a - p, lambda factors, y: y / factors)

    def twice(p):
        return jax.lax.scan(lambda p, _: (root(p), None), p, None, length=2)[0][0]

    def exact(p):
        """Value and two derivatives of the root of a root, from those of p = a^3 + a."""
        value, first, second = p, 1.0, 0.0
        for _ in range(2):
            roots = np.roots([1.0, 0.0, 1.0, -value])
            value = float(roots[np.abs(roots.imag) < 1e-9].real[0])
            slope = 3.0 * value**2 + 1.0
            first, second = first / slope, second / slope - 6.0 * value * first**2 / slope**3
        return value, first, second

    p = jnp.array([0.7])
    value, first, second = exact(0.7)
    assert float(twice(p)) == pytest.approx(value, rel=1e-12)
    assert float(inner(twice)(p)[0]) == pytest.approx(first, rel=1e-11)
    assert float(outer(inner(twice))(p)[0, 0]) == pytest.approx(second, rel=1e-10)


def test_a_linear_system_that_cannot_be_solved_gives_no_number():
    singular = jnp.diag(jnp.array([1.0, 2.0, 0.0]))
    found = gmres(lambda x: singular @ x, lambda x: x, jnp.ones(3))
    assert np.all(np.isnan(found))


def test_gmres_solves_where_plain_iteration_diverges():
    rng = np.random.default_rng(0)
    # Not more unknowns than vectors in a basis: restarts may stall on such a spectrum, and then the answer is NaN.
    for size in (5, 30, 90):
        # The eigenvalues of what the preconditioner lacks fill a disc of radius 3.
        A = np.eye(size) + 3.0 * rng.normal(size=(size, size)) / np.sqrt(size)
        b = rng.normal(size=size)
        found = gmres(lambda x, A=A: A @ x, lambda x: x, jnp.asarray(b))
        # The preconditioner is one here, and the bound on the residual that of `gmres`, with rounding to spare.
        assert np.linalg.norm(A @ found - b) < 2e-12 * np.linalg.norm(b)
