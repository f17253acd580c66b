"""Gradients of rollouts against central differences, by material, geometry, actuation and initial state."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hydrostat.robots.mechanical import robot_model

from hydrostat.actuation import Tendons
from hydrostat.bodies import Arm, Material, Section
from hydrostat.compiling import quick_jit
from hydrostat.lie import SE3
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.model import GRAVITY, Wires, make_model, no_inputs
from hydrostat.robots import octopus_arm
from hydrostat.segments import StrainSegment
from hydrostat.stepping import SDIRK2, rest_state
from hydrostat.stepping.implicit import gmres
from hydrostat.surroundings.water import DENSITY, Water

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
    return tip @ DIRECTION


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


def test_gradient_is_the_derivative_in_every_direction():
    gradient = quick_jit(jax.grad(tip_after_rollout))(VALUES)
    for name, found in gradient.items():
        ways = ways_of(name)
        assert np.all(np.isfinite(found))
        assert float(jnp.sum(found * ways[name])) == pytest.approx(float(tip_along(VALUES, ways)[1]), rel=1e-9)


SEGMENTS = 4
"""Of the octopus arm, whose muscles and water the operator of a stage holds only in part."""
CHANGES = ("youngs_modulus", "radius", "stress", "activation", "water", "rate")


def octopus_tip(robot, factors):
    """The tip of an octopus arm that bends and stretches in water, after 0.3 s, and whether all steps converged."""
    muscles, tissue, section, material = robot.muscles, robot.tissue, robot.arm.section, robot.arm.material
    width, modulus, stress = factors["radius"], factors["youngs_modulus"], factors["stress"] * muscles.stress
    arm = eqx.tree_at(
        lambda arm: (arm.section.radius_base, arm.section.radius_tip, arm.material.youngs_modulus),
        robot.arm,
        (section.radius_base * width, section.radius_tip * width, material.youngs_modulus * modulus),
    )
    muscles = eqx.tree_at(
        lambda m: (m.radius, m.area, m.volume, m.stress),
        muscles,
        (
            muscles.radius * width,
            muscles.area * width**2,
            muscles.volume * width**2,
            stress,
        ),
    )
    tissue = eqx.tree_at(
        lambda t: (t.volume, t.moment, t.modulus),
        tissue,
        (tissue.volume * width**2, tissue.moment * width**4, tissue.modulus * modulus),
    )
    robot = eqx.tree_at(lambda r: (r.arm, r.muscles, r.tissue), robot, (arm, muscles, tissue))
    water = Water(DENSITY * factors["water"])
    weight = jnp.array(GRAVITY) * (1.0 - water.density / material.density[0])
    model = robot_model(robot, gravity=weight, points=1, skin_points=1, surroundings=water)
    # One side and the radial muscles, more towards the tip; from the straight arm in motion.
    pattern = np.linspace(0.1, 0.3, SEGMENTS)[:, None] * np.array([1.0, 0.5, 0.0, 0.0, 0.7])
    inputs = no_inputs(model)._replace(activation=factors["activation"] * pattern)
    rate = 0.5 * np.random.default_rng(0).normal(size=(SEGMENTS, 3))
    start = rest_state(model)._replace(v=factors["rate"] * rate)

    def step(carry, index):
        new = STEPPER.step(model, carry[0], index * DT, DT, lambda time, state: inputs)
        return (new.state, carry[1] & new.converged), None

    (end, converged), _ = jax.lax.scan(step, (start, jnp.asarray(True)), jnp.arange(STEPS))
    return kinematics.tip_pose(model.arm, end.q).position @ DIRECTION, converged


ONES = {name: jnp.asarray(1.0) for name in CHANGES}


@pytest.fixture(scope="module", params=["strut", pytest.param("strain", marks=pytest.mark.slow)])
def octopus(request):
    """The tip with its gradient in reverse mode, and its derivatives in forward mode, all at once."""
    robot = octopus_arm(SEGMENTS, request.param)

    @quick_jit
    def reverse(factors):
        return jax.value_and_grad(lambda y: octopus_tip(robot, y), has_aux=True)(factors)

    @quick_jit
    def forward(factors):
        return jax.jacfwd(lambda y: octopus_tip(robot, y)[0])(factors)

    return reverse, forward(ONES)


def test_gradients_with_muscles_in_water_are_those_of_differences(octopus):
    reverse, forward = octopus
    (_, converged), gradient = reverse(ONES)
    assert converged

    for name in CHANGES:

        def tip(factor, name=name):
            return float(reverse({**ONES, name: jnp.asarray(factor)})[0][0])

        # eps^(1/3) of a value balances truncation, h^2, and rounding, eps / h: some 1e-9 of the largest derivative.
        for h in (6e-6, 3e-5):
            slope = (tip(1.0 + h) - tip(1.0 - h)) / (2.0 * h)
            assert float(gradient[name]) == pytest.approx(slope, rel=1e-5)
            assert float(forward[name]) == pytest.approx(slope, rel=1e-5)


def test_a_linear_system_that_cannot_be_solved_gives_no_number():
    singular = jnp.diag(jnp.array([1.0, 2.0, 0.0]))
    found = gmres(lambda x: singular @ x, lambda x: x, jnp.ones(3))
    assert np.all(np.isnan(found))


def test_gmres_solves_where_plain_iteration_diverges():
    rng = np.random.default_rng(0)
    # Not more unknowns than vectors in a basis: restarts may stall on such a spectrum, and then the answer is NaN.
    for size in (5, 30):
        # The eigenvalues of what the preconditioner lacks fill a disc of radius 3.
        A = np.eye(size) + 3.0 * rng.normal(size=(size, size)) / np.sqrt(size)
        b = rng.normal(size=size)
        found = gmres(lambda x, A=A: A @ x, lambda x: x, jnp.asarray(b))
        # The preconditioner is one here, and the bound on the residual that of `gmres`, with rounding to spare.
        assert np.linalg.norm(A @ found - b) < 2e-12 * np.linalg.norm(b)
