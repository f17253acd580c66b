"""Kang's muscles: virtual work, a dense Lagrangian, closed forms of one segment, balances, and what they refuse."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import approx_fprime, brentq

from hydrostat.compiling import quick_jit
from hydrostat.errors import InputError
from hydrostat.mechanics.contraction import muscle_forces, muscle_lengths, muscle_operator, muscle_power
from hydrostat.mechanics.dynamics import accelerations
from hydrostat.mechanics.elasticity import elastic_energy, elastic_forces
from hydrostat.mechanics.energy import dissipation, energy, masses, momentum, power
from hydrostat.mechanics.model import relaxed
from hydrostat.mechanics.motion import Coordinates
from hydrostat.mechanics.robot import no_inputs
from hydrostat.robots import format_robot, parse_robot
from hydrostat.robots.build import build_robot
from hydrostat.robots.scaling import scaled
from hydrostat.robots.specs.octopus_arm import BULK_MODULUS, octopus_arm
from hydrostat.robots.variants import with_paper_muscles
from hydrostat.simulation import rollout
from hydrostat.surroundings import Water
from hydrostat.system import Control, System
from oracles import piston_arm

E, STRESS, DENSITY, VISCOSITY, SHARE = 10e3, 80e3, 1042.0, 100.0, 0.05
SPEC = with_paper_muscles(octopus_arm(2))
ROBOTS = {"exact": build_robot(SPEC), "pressure": build_robot(SPEC, bulk_modulus=1e6)}
NUMBERS = piston_arm.Numbers(
    rest=np.array([0.12, 0.12]),
    radii=np.array([segment.radius for segment in SPEC.segments]),
    offset=0.625**0.5,
    modulus=E,
    viscosity=VISCOSITY,
    density=DENSITY,
    stress=STRESS,
    share=SHARE,
)
RNG = np.random.default_rng(11)
Q = jnp.asarray(RNG.normal(size=(2, 4)) * [2.5, 2.5, 0.15, 1e-2])
V = jnp.asarray(RNG.normal(size=(2, 4)) * [10.0, 10.0, 1.0, 0.1])
ACTIVATION = jnp.asarray(RNG.uniform(0.0, 0.3, (2, 5)))


def of_law(law: str):
    """Robot, oracle's numbers, coordinates and rates."""
    k = 4 if law == "pressure" else 3
    return ROBOTS[law], NUMBERS._replace(bulk=1e6 if law == "pressure" else None), Q[:, :k], V[:, :k]


@pytest.mark.parametrize("law", ROBOTS)
def test_accelerations_are_those_of_a_dense_lagrangian(law):
    """Struts, rods, platforms and radial pistons: their inertia is exact, so what is left is rounding."""
    robot, numbers, q, v = of_law(law)
    inputs = no_inputs(robot)._replace(activation=ACTIVATION)
    own = quick_jit(accelerations)(robot, Coordinates(q, jnp.zeros(6)), Coordinates(v, jnp.zeros(6)), inputs).q
    axes = robot.T_world_body.rotation
    found = jax.jit(lambda q, v: piston_arm.acceleration(numbers, q, v, ACTIVATION, robot.gravity, axes))(q, v)
    np.testing.assert_allclose(own, found, rtol=1e-8, atol=1e-8 * float(jnp.max(jnp.abs(found))))


@pytest.mark.parametrize("law", ROBOTS)
def test_muscles_and_springs_do_what_virtual_work_says(law):
    robot, numbers, q, v = of_law(law)
    model, still = robot.one, jnp.zeros_like(q)
    lengths = piston_arm.leg_lengths(numbers, q)
    np.testing.assert_allclose(muscle_lengths(model, q)[:, :4], lengths[:, :4], rtol=1e-12)
    # Active forces: the work of constant forces is -F dL, by differences.
    active = jnp.stack([model.muscles.force] * 4 + [4.0 * model.muscles.radial_force], -1) * ACTIVATION
    size = np.tile([1.0, 1.0, 0.1, 0.1][: q.shape[1]], 2)
    work = jax.jit(lambda z: jnp.sum(active * muscle_lengths(model, (z * size).reshape(q.shape))))
    differences = approx_fprime(np.asarray(q).ravel() / size, lambda z: float(work(z)), 1e-7)
    forces = np.asarray(muscle_forces(model, q, still, ACTIVATION)).ravel() * size
    np.testing.assert_allclose(forces, differences, rtol=0, atol=1e-6 * np.abs(forces).max())
    stored = jax.jit(lambda z: elastic_energy(model, (z * size).reshape(q.shape)))
    differences = approx_fprime(np.asarray(q).ravel() / size, lambda z: float(stored(z)), 1e-7)
    forces = np.asarray(elastic_forces(model, q, still)).ravel() * size
    np.testing.assert_allclose(forces, differences, rtol=0, atol=3e-6 * np.abs(forces).max())
    # Dampers take away what they do; the active rest is theirs to give.
    heat = -float(jnp.sum(muscle_power(model, q, v, 0.0 * ACTIVATION)))
    assert heat > 0.0
    assert heat == pytest.approx(float(jnp.sum(muscle_forces(model, q, v, 0.0 * ACTIVATION) * v)), rel=1e-12)


@pytest.mark.parametrize("law", ROBOTS)
def test_energies_balance_along_the_motion(law):
    robot, _, q, v = of_law(law)
    x, v = Coordinates(q, jnp.zeros(6)), Coordinates(v, jnp.zeros(6))
    inputs = System(robot, [Water(1022.0)]).inputs_at(System(robot, [Water(1022.0)]).rest())
    inputs = inputs._replace(activation=ACTIVATION)

    @quick_jit
    def rate_and_power(robot, x, v, inputs):
        a = accelerations(robot, x, v, inputs)
        rate = jax.jvp(lambda x, v: energy(robot, x, v, inputs).total, (x, v), (v, a))[1]
        return rate, power(robot, x, v, inputs) - dissipation(robot, x, v)

    rate, watts = rate_and_power(robot, x, v, inputs)
    assert float(rate) == pytest.approx(float(watts), rel=1e-9)


def test_a_free_arm_keeps_its_momentum():
    """What inertial forces pass down to the base is the rate of the momentum of rods, platforms and base."""
    robot = build_robot(SPEC, free=True, base_mass=0.01, base_inertia=1e-5)
    x = Coordinates(Q[:, :3], jnp.zeros(6))
    v = Coordinates(V[:, :3], jnp.asarray([1.0, -2.0, 0.5, 0.1, 0.2, -0.1]))
    robot = System(robot, gravity=(0.0, 0.0, 0.0)).robot
    inputs = no_inputs(robot)._replace(activation=ACTIVATION)

    @quick_jit
    def rate(robot, x, v, inputs):
        a = accelerations(robot, x, v, inputs)
        return jax.jvp(lambda x, v: momentum(robot, x, v, inputs), (x, v), (v, a))

    now, change = rate(robot, x, v, inputs)
    np.testing.assert_allclose(change, 0.0, atol=1e-9 * float(jnp.max(jnp.abs(now))) * 100.0)


def test_all_mass_of_the_arm_is_in_rods_and_platforms():
    robot = ROBOTS["exact"]
    x = v = Coordinates(jnp.zeros((2, 3)), jnp.zeros(6))
    found = masses(robot, x, v, no_inputs(robot))
    assert float(jnp.sum(found.mass)) == pytest.approx(DENSITY * NUMBERS.volume.sum(), rel=1e-12)
    # The volume that buoyancy and added mass go by is where it was.
    assert float(jnp.sum(robot.one.inertia[..., 3])) == pytest.approx(DENSITY * NUMBERS.volume.sum(), rel=1e-12)


def test_frequencies_of_one_segment_are_the_closed_forms():
    """Cylinders without mass and pistons at the plate: (5 K + K_r R^2 / h^2) over the mass, and 2 K R_m^2 about it."""
    spec = with_paper_muscles(octopus_arm(1))
    even = replace(spec.segments[0], radius=(5e-3, 5e-3))
    spec = replace(spec, segments=(even,), muscles=replace(spec.muscles, piston_share=0.0))
    robot = System(build_robot(spec), gravity=(0.0, 0.0, 0.0)).robot
    h, R = even.length, 5e-3
    area, still = np.pi * R**2, Coordinates(jnp.zeros((1, 3)), jnp.zeros(6))
    K, K_r, mass = E * area / (5.0 * h), E * np.pi * h / 4.0, DENSITY * area * h
    for column, squared in (
        (0, 2.0 * K * 0.625 * R**2 / (mass * R**2 / 4.0)),
        (2, (5.0 * K + K_r * (R / h) ** 2) / mass),
    ):
        x = Coordinates(jnp.zeros((1, 3)).at[0, column].set(1e-6), jnp.zeros(6))
        a = accelerations(robot, x, still, no_inputs(robot)).q[0, column]
        assert -float(a) / 1e-6 == pytest.approx(squared, rel=1e-4)
    # Four muscles at sqrt(5/8) R bend as a solid section does.
    assert 2.0 * K * 0.625 * R**2 * h == pytest.approx(E * np.pi / 4.0 * R**4, rel=1e-12)


@pytest.mark.parametrize("column, sign", [(4, 1.0), (slice(0, 4), -1.0)], ids=["radial", "longitudinal"])
@pytest.mark.parametrize("activation", [0.1, 1.0])
def test_segments_settle_where_springs_and_muscles_balance(column, sign, activation):
    """Per volume and by the length l over its own: l - 1 - (l^-1/2 - 1) l^-3/2 / 2 = -s a or s a l^-3/2 / 2."""
    s = activation * STRESS / E
    load = (lambda l: 0.5 * s * l**-1.5) if sign > 0.0 else (lambda l: -s)  # noqa: E741
    root = brentq(lambda l: l - 1.0 - 0.5 * (l**-0.5 - 1.0) * l**-1.5 - load(l), 0.05, 10.0)  # noqa: E741
    spec = with_paper_muscles(octopus_arm(3))
    even = tuple(replace(segment, radius=(5e-3, 5e-3)) for segment in spec.segments)
    model = build_robot(replace(spec, segments=even)).one
    q = jnp.zeros((3, 3)).at[:, 2].set(root - 1.0)
    total = elastic_forces(model, q, 0 * q) + muscle_forces(
        model, q, 0 * q, relaxed(model).at[:, column].set(activation)
    )
    np.testing.assert_allclose(total, 0.0, atol=1e-12)
    assert sign * (root - 1.0) > 0.0


@pytest.mark.parametrize("law", ROBOTS)
def test_the_operator_is_the_second_derivative_at_rest_and_positive_elsewhere(law):
    robot, _, q, _ = of_law(law)
    model, still = robot.one, jnp.zeros_like(q)
    hessian = quick_jit(jax.jacfwd(jax.grad(lambda q: elastic_energy(model, q))))(still)
    own = model.tissue.stiffness(model.arm, still)
    for i in range(2):
        np.testing.assert_allclose(own[i], hessian[i, :, i, :], rtol=1e-9, atol=1e-9 * float(jnp.max(own[i])))
    bent = model.tissue.stiffness(model.arm, q) + muscle_operator(model, q, still, 1e-3, 1e-6, ACTIVATION)
    assert np.all(np.linalg.eigvalsh(np.asarray(bent)) > 0.0)


def test_a_stiff_pressure_gives_the_exact_law():
    """Both laws move alike, to the volume that a bulk modulus leaves: within the stress over it."""
    control = Control(activation=jnp.zeros((2, 5)).at[:, 0].set(0.1))
    ends = []
    for bulk in (None, BULK_MODULUS):
        system = System(build_robot(SPEC, bulk_modulus=bulk), [Water()])
        trajectory = rollout(system, control, steps=20, dt=5e-3)
        ends.append(np.asarray(trajectory.tip[-1]))
    assert np.linalg.norm(ends[1] - ends[0]) < 1e-3 * np.linalg.norm(ends[0] - [0.24, 0.0, 0.0])


def test_the_law_is_chosen_in_a_file_and_kept_by_it():
    assert parse_robot(format_robot(SPEC)) == SPEC
    assert 'law = "paper"' in format_robot(SPEC)
    assert with_paper_muscles(SPEC) is SPEC


@pytest.mark.parametrize(
    "change, message",
    [
        ({"segments": "strain"}, "muscles of law `paper` need `segments` strut, between plates; got strain"),
        ({"stiffness": 1.0}, "muscles of law `paper` need `stiffness` 0, they have none; got 1"),
        ({"oblique_deg": 60.0}, "muscles of law `paper` need `oblique_deg` 0, they have none; got 60"),
        ({"piston_share": 0.2}, "`piston_share` must be .* 0.07; got 0.2"),
        ({"law": "hill"}, "`law` must be one of tissue, paper; got 'hill'"),
    ],
)
def test_what_the_papers_muscles_do_not_have_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        replace(SPEC.muscles, **change)


def test_parameters_of_pistons_cannot_be_scaled():
    with pytest.raises(InputError, match=r"those of .* have the law paper"):
        scaled(ROBOTS["exact"], density=2.0)
