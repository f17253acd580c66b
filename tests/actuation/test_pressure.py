"""Volume kept by a pressure: the static balance in length and radius, the exact law as its limit, energy, inertia."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import approx_fprime, root

from hydrostat.actuation import make_tissue
from hydrostat.compiling import quick_jit
from hydrostat.errors import InputError
from hydrostat.mechanics.contraction import muscle_forces, muscle_lengths
from hydrostat.mechanics.dynamics import accelerations
from hydrostat.mechanics.elasticity import elastic_energy, elastic_forces
from hydrostat.mechanics.energy import dissipation, energy, power
from hydrostat.mechanics.model import make_arm_model, relaxed
from hydrostat.mechanics.motion import Coordinates
from hydrostat.mechanics.robot import no_inputs
from hydrostat.mechanics.state import nodes_of, rest_state
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus_arm import BULK_MODULUS, octopus_arm
from hydrostat.robots.specs.tentacle import tentacle
from hydrostat.simulation import rollout
from hydrostat.stepping import SDIRK2
from hydrostat.surroundings import Water
from hydrostat.system import Control, System

E, STRESS, STIFFNESS = 10e3, 80e3, 132e3
KINDS = ("strut", "strain")
ROBOTS = {
    (kind, law): build_robot(octopus_arm(3, kind, oblique=True), bulk_modulus=bulk)
    for kind in KINDS
    for law, bulk in (("exact", None), ("pressure", BULK_MODULUS))
}
WATER = Water(1022.0)
SYSTEMS = {name: System(robot, [WATER]) for name, robot in ROBOTS.items()}
MODELS = {name: robot.one for name, robot in ROBOTS.items()}
RNG = np.random.default_rng(5)
Q = jnp.asarray(RNG.normal(size=(3, 5)) * [4.0, 4.0, 3.0, 0.15, 1e-3])
V = jnp.asarray(RNG.normal(size=(3, 5)) * [4.0, 4.0, 3.0, 0.5, 0.2])
ACTIVATION = jnp.asarray(RNG.uniform(0.0, 0.3, (3, 7)))


@quick_jit
def in_a_shape(model, q, v):
    """Elastic energy, elastic forces, muscles' forces and muscles' lengths."""
    forces = elastic_forces(model, q, v), muscle_forces(model, q, v, ACTIVATION)
    return elastic_energy(model, q), *forces, muscle_lengths(model, q)


@pytest.mark.parametrize("kind", KINDS)
def test_without_swell_energies_forces_and_muscles_are_those_of_the_exact_law(kind):
    q, v = Q.at[:, 4].set(0.0), V.at[:, 4].set(0.0)
    stored, *forces, lengths = in_a_shape(MODELS[kind, "pressure"], q, v)
    exactly_stored, *exact_forces, exact_lengths = in_a_shape(MODELS[kind, "exact"], q[:, :4], v[:, :4])
    assert float(stored) == pytest.approx(float(exactly_stored), rel=1e-12)
    for own, other in zip(forces, exact_forces, strict=True):
        np.testing.assert_allclose(own[:, :4], other, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(lengths, exact_lengths, rtol=1e-14)


@pytest.mark.parametrize(
    "longitudinal, radial", [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)], ids=["rest", "radial", "long", "both"]
)
def test_length_and_radius_settle_where_pressure_muscles_and_tissue_balance(longitudinal, radial):
    """The balance per volume in length l and radius w over their own, where the pressure acts on both."""
    K = BULK_MODULUS

    def radius(l, pressure):  # noqa: E741
        return np.sqrt((1.0 - pressure / K) / l)

    def forces(z):
        l, pressure = z[0], STRESS * z[1]  # noqa: E741
        w = radius(l, pressure)
        along = E / 3.0 * (l - 1.0 / l) - pressure * w**2 + longitudinal * (STRESS + STIFFNESS * (l - 1.0))
        across = 2.0 * E / 3.0 * (w - 1.0 / w) - pressure * 2.0 * l * w + radial * STRESS / w
        return [along / STRESS, across / STRESS]

    found = root(forces, [1.0, 0.5], tol=1e-14)
    assert found.success
    l, pressure = found.x[0], STRESS * found.x[1]  # noqa: E741
    swell = radius(l, pressure) * np.sqrt(l) - 1.0
    assert -1e-12 <= pressure / K <= 1e-3  # what the bulk modulus is chosen for
    model = MODELS["strut", "pressure"]
    q = jnp.zeros((3, 5)).at[:, 3].set(l - 1.0).at[:, 4].set(swell)
    activation = relaxed(model).at[:, :4].set(longitudinal).at[:, 4].set(radial)
    total = elastic_forces(model, q, 0 * q) + muscle_forces(model, q, 0 * q, activation)
    rounding = 1e-14 * K  # of a pressure that is the small difference of two volumes
    np.testing.assert_allclose(total, 0.0, atol=4.0 * rounding * float(jnp.max(model.tissue.volume)))
    np.testing.assert_allclose(model.tissue.pressure(model.arm, q), pressure, atol=rounding)


@pytest.mark.parametrize("kind", KINDS)
def test_elastic_forces_are_differences_of_the_energy(kind):
    model = MODELS[kind, "pressure"]
    size = np.tile([4.0, 4.0, 3.0, 0.15, 1e-3], 3)
    stored = jax.jit(lambda z: elastic_energy(model, (z * size).reshape(3, 5)))
    z = np.asarray(Q).ravel() / size
    forces = np.asarray(elastic_forces(model, Q, 0 * Q)).ravel() * size
    differences = approx_fprime(z, lambda z: float(stored(z)), 1e-6)
    np.testing.assert_allclose(differences, forces, rtol=0, atol=1e-5 * np.abs(forces).max())


@pytest.mark.parametrize("kind", KINDS)
def test_the_operator_has_the_diagonal_of_the_second_derivative_and_is_positive(kind):
    model = MODELS[kind, "pressure"]
    still = jnp.zeros((3, 5))
    hessian = quick_jit(jax.jacfwd(jax.grad(lambda q: elastic_energy(model, q))))(still)
    own = model.tissue.stiffness(model.arm, still)
    for i in range(3):
        np.testing.assert_allclose(np.diag(own[i]), np.diag(hessian[i, :, i, :]), rtol=1e-9)
    assert np.all(np.linalg.eigvalsh(np.asarray(model.tissue.stiffness(model.arm, Q))) > 0.0)


@quick_jit
def rate_and_power(robot, x, v, inputs):
    """The rate of the energy along the motion, and what all forces give and take."""
    a = accelerations(robot, x, v, inputs)
    rate = jax.jvp(lambda x, v: energy(robot, x, v, inputs).total, (x, v), (v, a))[1]
    return rate, power(robot, x, v, inputs) - dissipation(robot, x, v)


@pytest.mark.parametrize("kind", KINDS)
def test_the_energies_rate_is_the_power_of_all_forces(kind):
    """With the inertia across the axis in motion and in energy alike."""
    robot = SYSTEMS[kind, "pressure"].robot
    inputs = no_inputs(robot, WATER)._replace(activation=ACTIVATION)
    rate, net = rate_and_power(robot, Coordinates(Q, jnp.zeros(6)), Coordinates(V, jnp.zeros(6)), inputs)
    assert float(rate) == pytest.approx(float(net), rel=1e-9)


def test_a_swelling_section_has_the_kinetic_energy_of_its_matter():
    """1/2 m <y^2> w'^2 with <y^2> = r^2/2 at two Gauss points, each of which stands for half of a segment."""
    robot = ROBOTS["strut", "pressure"]
    v = jnp.zeros((3, 5)).at[:, 4].set(0.3)
    still = Coordinates(jnp.zeros((3, 5)), jnp.zeros(6))
    kinetic = energy(robot, still, Coordinates(v, jnp.zeros(6)), no_inputs(robot)).kinetic
    section, length = robot.arm.section, np.asarray(robot.arm.segments.length)
    at = 0.5 + np.array([[-0.5], [0.5]]) / np.sqrt(3.0)
    radius = (1.0 - at) * np.asarray(section.radius_base) + at * np.asarray(section.radius_tip)
    mass = 1042.0 * np.pi * radius**2 * 0.5 * length
    assert float(kinetic) == pytest.approx(0.5 * np.sum(mass * radius**2 / 2.0) * 0.3**2, rel=1e-12)


def test_water_meets_the_true_radius():
    robot = SYSTEMS["strut", "pressure"].robot
    q = jnp.zeros((3, 5)).at[:, 3].set(0.44).at[:, 4].set(0.02)
    before, after = (nodes_of(robot, rest_state(robot, x)).radius for x in (0 * q, q))
    np.testing.assert_allclose(after / before, 1.02 / 1.2, rtol=1e-14)


def test_swell_moves_no_point_of_the_axis():
    segment = jax.tree.map(lambda x: x[0], MODELS["strain", "pressure"].arm.segments)
    assert segment.modes == ("bend_x", "bend_y", "twist", "stretch", "swell")
    J = segment.jacobian(Q[0], 0.7)
    assert not np.any(np.asarray(J[:, 4]))
    np.testing.assert_allclose(segment.twist(Q[0], V[0], 0.7), J @ V[0], rtol=0, atol=1e-14)


def test_an_arm_moves_as_by_the_exact_law_in_as_many_iterations():
    ends, counts = {}, {}
    for law in ("exact", "pressure"):
        system = System(ROBOTS["strut", law], gravity=(0.0, 0.0, 0.0))
        on = relaxed(MODELS["strut", law]).at[:, 4].set(0.4)
        # The muscles are active from the beginning.
        state = system.rest()._replace(activation=on)
        rows = rollout(system, Control(activation=on), state, steps=40, dt=5e-3, stepper=SDIRK2(rescue=False))
        assert np.all(np.asarray(rows.converged))
        ends[law], counts[law] = np.asarray(rows.q[-1]), int(jnp.sum(rows.iterations))
    lost = 1.0 - (1.0 + ends["pressure"][:, 4]) ** 2
    assert np.all((lost > 1e-5) & (lost < 1e-3))
    # Lengths differ by as much as volumes do, and by what the inertia across the axis takes.
    np.testing.assert_allclose(1.0 + ends["pressure"][:, 3], 1.0 + ends["exact"][:, 3], rtol=1e-3)
    assert counts["pressure"] <= 1.1 * counts["exact"]


def test_what_cannot_swell_is_refused():
    with pytest.raises(InputError, match="is for robots with"):
        build_robot(tentacle(), bulk_modulus=1e8)
    swelling, stiff = ROBOTS["strut", "pressure"], ROBOTS["strut", "exact"]
    with pytest.raises(InputError, match="need a tissue"):
        make_arm_model(swelling.arm, constant_volume=True)
    with pytest.raises(InputError, match="need a `bulk_modulus`"):
        make_tissue(stiff.arm, E, jnp.asarray(1.0), 1e8)
