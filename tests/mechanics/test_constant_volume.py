"""Arms of constant volume: the section follows the stretch, in the skin, in the stiffness and in the motion."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.bodies import Arm, Material, Section
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics.elasticity import dissipated_power, elastic_energy, elastic_forces
from hydrostat.mechanics.energy import energy
from hydrostat.mechanics.robot import no_inputs, single_arm
from hydrostat.mechanics.state import nodes_of, positions, rest_state, velocities
from hydrostat.segments import StrainSegment
from hydrostat.stepping import SDIRK2

MODES = ("bend_x", "bend_y", "twist", "shear_x", "stretch")
LENGTHS, YOUNG, POISSON = np.array([0.1, 0.15]), 1e5, 0.4
BASE, TIP = np.array([0.02, 0.016]), np.array([0.016, 0.01])
SKIN = 4


def an_arm(modes, viscosity=0.0, rest_strain=None):
    n = len(LENGTHS)
    return Arm(
        StrainSegment(jnp.asarray(LENGTHS), modes, rest_strain),
        Section(jnp.asarray(BASE), jnp.asarray(TIP)),
        Material(*(jnp.full(n, value) for value in (YOUNG, POISSON, 1000.0, viscosity))),
        SE3.identity(),
    )


@pytest.fixture(scope="module")
def models():
    arm = an_arm(MODES, viscosity=300.0)
    return {kept: single_arm(arm, skin_points=SKIN, constant_volume=kept) for kept in (True, False)}


def strains(seed):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(2, 5)) * np.array([5.0, 5.0, 4.0, 0.1, 0.0])
    q[:, 4] = rng.uniform(-0.4, 1.5, 2)
    return jnp.asarray(q)


forces = eqx.filter_jit(lambda robot, q, v: elastic_forces(robot.one, q, v))
stored = eqx.filter_jit(lambda robot, q: elastic_energy(robot.one, q))


def mean_section(power):
    """The mean of radius^power along each segment: of a polynomial, by enough points."""
    x, w = np.polynomial.legendre.leggauss(8)
    s = 0.5 * (x + 1.0)
    return ((BASE[:, None] + s * (TIP - BASE)[:, None]) ** power) @ (0.5 * w)


def energy_by_hand(q):
    """Half the stiffness of the narrowed section times strain squared: radius^4 falls as 1 / stretch^2."""
    q = np.asarray(q)
    bend, twist, shear, axial = q[:, 0] ** 2 + q[:, 1] ** 2, q[:, 2] ** 2, q[:, 3] ** 2, q[:, 4] ** 2
    moment, area = np.pi / 4.0 * mean_section(4) / (1.0 + q[:, 4]) ** 2, np.pi * mean_section(2)
    modulus = YOUNG / (2.0 * (1.0 + POISSON))
    bent = YOUNG * moment * bend + 2.0 * modulus * moment * twist
    return float(np.sum(0.5 * LENGTHS * (bent + modulus * area * shear + YOUNG * area * axial)))


def test_skin_keeps_its_volume(models):
    model = models[True]
    fractions = np.arange(1, SKIN + 1) / SKIN
    rest = BASE[:, None] + fractions * (TIP - BASE)[:, None]
    nodes = eqx.filter_jit(lambda model, q: nodes_of(model, rest_state(model, q)))
    for seed in range(5):
        q = strains(seed)
        found = np.asarray(nodes(model, q).radius).reshape(2, SKIN)
        # Volume per length of rest, to a few roundings.
        np.testing.assert_allclose(found**2 * (1.0 + np.asarray(q)[:, 4:]), rest**2, rtol=8e-16)
        # Nodes stand for half the way to their neighbours, of segments as long as they are now.
        now = LENGTHS * (1.0 + np.asarray(q)[:, 4])
        total = float(jnp.sum(nodes(model, q).length))
        assert total == pytest.approx(now.sum() - 0.5 * now[0] / SKIN, rel=1e-14)
        np.testing.assert_array_equal(np.asarray(nodes(models[False], q).radius).reshape(2, SKIN), rest)


@pytest.mark.parametrize("seed", range(4))
def test_forces_are_the_slope_of_the_energy(models, seed):
    model, q = models[True], strains(seed)
    assert float(stored(model, q)) == pytest.approx(energy_by_hand(q), rel=1e-13)
    found = np.asarray(forces(model, q, jnp.zeros_like(q)))
    # Fourth-order differences of the energy by hand: steps of 1e-3 in a stretch of at least 0.6 leave (h / stretch)^4,
    # 1e-11 of the force, and rounding of the energy over the step.
    h, size = 1e-3, energy_by_hand(q)
    for index in np.ndindex(2, 5):
        f = [energy_by_hand(np.asarray(q) + s * h * _unit(index)) for s in (-2, -1, 1, 2)]
        slope = (8.0 * (f[2] - f[1]) - (f[3] - f[0])) / (12.0 * h)
        assert found[index] == pytest.approx(slope, rel=1e-9, abs=1e-12 * size / h)


def _unit(index):
    unit = np.zeros((2, 5))
    unit[index] = 1.0
    return unit


def test_without_stretch_it_is_the_constant_section(models):
    q = strains(0).at[:, 4].set(0.0)
    still = jnp.zeros_like(q)
    assert float(stored(models[True], q)) == pytest.approx(float(stored(models[False], q)), rel=1e-15)
    narrowing, constant = (np.asarray(forces(models[kept], q, still)) for kept in (True, False))
    np.testing.assert_allclose(narrowing[:, :4], constant[:, :4], rtol=1e-15)
    # Bent and twisted, it wants to be longer, since that makes it more supple: by -2 times the energy of both.
    turning = np.sum(constant[:, :3] * np.asarray(q)[:, :3], -1)
    np.testing.assert_allclose(narrowing[:, 4], -turning, rtol=1e-14)
    np.testing.assert_array_equal(constant[:, 4], 0.0)


@pytest.mark.parametrize("stretch", [0.5, 0.8, 1.0, 1.25, 2.0])
def test_bending_and_twisting_soften_with_the_square_of_the_stretch(models, stretch):
    model = models[True]
    q = jnp.zeros((2, 5)).at[:, 4].set(stretch - 1.0)
    unit, still = jnp.zeros((2, 5)).at[:, :4].set(1.0), jnp.zeros((2, 5))
    # Forces are linear in the bends: their change by a unit of each is the stiffness.
    found = np.asarray(forces(model, q + unit, still) - forces(model, q, still))[:, :4]
    expected = np.asarray(model.one.stiffness)[:, :4] * np.array([*[stretch**-2] * 3, 1.0])
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_viscosity_follows_the_section_and_takes_energy(models):
    model, q = models[True], strains(3)
    v = jnp.asarray(np.random.default_rng(1).normal(size=(2, 5)))
    drag = np.asarray(forces(model, q, v) - forces(model, q, jnp.zeros_like(v)))
    factor = np.where([True, True, True, False, False], (1.0 + np.asarray(q)[:, 4:]) ** -2, 1.0)
    np.testing.assert_allclose(drag, 300.0 / YOUNG * np.asarray(model.one.stiffness) * factor * v, rtol=1e-12)
    assert float(dissipated_power(model.one, q, v)) == pytest.approx(float(np.sum(drag * v)), rel=1e-12)
    assert float(dissipated_power(model.one, q, v)) > 0.0


SECONDS = 0.2


def test_a_swinging_arm_keeps_its_energy_as_the_stepper_does():
    # Hanging from a side, no viscosity: released bent and stretched, energy goes round between all its kinds.
    arm = an_arm(("bend_x", "bend_y", "stretch"))
    model = single_arm(arm, points=2, gravity=(9.81, 0.0, 0.0), constant_volume=True)
    start = rest_state(model, jnp.array([[3.0, -4.0, 0.3], [-5.0, 2.0, 0.2]]))
    nothing = no_inputs(model)
    stepper = SDIRK2(tolerance=1e-12)

    @jax.jit
    def energies(dt, steps):
        def measured(state):
            return jnp.stack(energy(model, positions(state), velocities(state), nothing))

        def step(i, carry):
            state, most = carry
            state = stepper.step(model, state, i * dt, dt, lambda time, state: nothing).state
            return state, jnp.maximum(most, measured(state)[0])

        end, most = jax.lax.fori_loop(0, steps, step, (start, jnp.asarray(0.0)))
        return measured(start), measured(end), most

    drifts = []
    for steps in (800, 1600, 3200):
        before, after, kinetic = (np.asarray(part) for part in energies(SECONDS / steps, steps))
        drifts.append(abs(after.sum() - before.sum()) / kinetic)
    slopes = np.log2(np.array(drifts[:-1]) / drifts[1:])
    # A third of the energy at the least is set in motion, and energy is kept to the order of the steps, 2, or better.
    assert kinetic > 0.3 * before[1]
    assert np.all(slopes > SDIRK2.order - 0.3)
    assert drifts[-1] < 1e-3


def test_refused_without_stretch():
    with pytest.raises(InputError, match="a section of constant volume needs the mode stretch") as caught:
        single_arm(an_arm(("bend_x", "bend_y")), constant_volume=True)
    assert "\n" not in str(caught.value)
