"""The finger's formulas: against brute quadrature, printed numbers, energy, and the general kinematics."""

from functools import partial

import finger_formulas as formulas
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from finger_formulas import FingerFormulas, FingerLoads
from finger_quadrature import quadrature, taylor
from scipy.integrate import solve_ivp

from hydrostat.actuation import Tendons
from hydrostat.bodies import Arm, Material, Section
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics import kinematics
from hydrostat.segments import StrainSegment

EPS = np.finfo(float).eps

# A finger of no special kind, and everything that can act on it.
FINGER = FingerFormulas(
    [0.35, 0.25],
    [1.1, 0.7],
    [0.4, 0.3],
    rotary_inertia=[2e-3, 1e-3],
    tip_mass=0.3,
    contact_mass=0.2,
    tendon_offset=0.02,
    friction=0.05,
    preshape=[0.2, -0.1],
)
LOADS = FingerLoads(gravity=(3.0, -7.0), contact_force=(0.8, -0.3), tip_force=(-0.5, 0.4), tensions=(9.0, 4.0))
# Straight, nearly so in one or both arcs, on both sides of the series' end at 1, and wide; then random ones.
ANGLES = [(0, 0), (1e-9, 1e-9), (0, 2), (2, 0), (1e-4, -1e-4), (1e-9, 2), (2, 1e-4), (0.999, -1.001), (2, 2), (-2, 2)]
ANGLES = np.vstack([ANGLES, np.random.default_rng(1).uniform(-2, 2, (6, 2))])
QUANTITIES = list(quadrature(FINGER, np.zeros(2), LOADS))


# --- Compiling is what takes the time: what several tests call is compiled once.


@jax.jit
def evaluate(finger, theta, loads):
    """The same quantities from the formulas."""
    more = {"gravity_torques": (loads.gravity,), "load_torques": (loads,)}
    return {name: getattr(finger, name)(theta, *more.get(name, ())) for name in QUANTITIES}


@jax.jit
def coriolis(finger, theta, rate):
    return finger.coriolis_torques(theta, rate)


@jax.jit
def accelerate(finger, theta, rate, loads):
    return finger.accelerations(theta, rate, loads)


@jax.jit
def settle(finger, loads, guess):
    return finger.static_equilibrium(loads, guess)


@jax.jit
def vibrate(finger, theta, loads):
    return finger.natural_frequencies(theta, loads)


def rest(finger, loads, guess):
    """The angles at rest, and the frequencies there."""
    theta = settle(finger, loads, guess)
    return theta, vibrate(finger, theta, loads)


# --- Closed forms


@pytest.fixture(scope="module")
def truths():
    """The Taylor coefficients of every quantity about all ANGLES."""
    return [taylor(partial(quadrature, FINGER, loads=LOADS), theta) for theta in ANGLES]


# What the Stumpff functions keep for angles up to 2 rad, see tests/lie/test_stumpff.py: value, derivatives.
BOUNDS = EPS * (1 + 2) * np.array([3, 8, 24])


def test_values_against_quadrature(truths):
    for theta, truth in zip(ANGLES, truths, strict=True):
        found = evaluate(FINGER, jnp.asarray(theta), LOADS)
        for name in QUANTITIES:
            bound = BOUNDS[0] * np.max(np.abs(truth[name]))
            np.testing.assert_allclose(found[name], truth[name][0, 0], rtol=0, atol=bound, err_msg=f"{name} at {theta}")


def test_derivatives_against_quadrature(truths):
    """First and second, of M and of G_g, which holds all Jacobians, at and near the straight finger and far from it."""

    def values(theta):
        return {
            "mass_matrix": FINGER.mass_matrix(theta),
            "gravity_torques": FINGER.gravity_torques(theta, LOADS.gravity),
        }

    @jax.jit
    @partial(jax.vmap, in_axes=(0, None))
    @partial(jax.vmap, in_axes=(None, 0))
    def derivatives(theta, direction):
        def first(t):
            return jax.jvp(values, (theta + t * direction,), (direction,))[1]

        return jax.jvp(first, (0.0,), (1.0,))

    # Along three directions: that is the whole Hessian.
    directions = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    firsts, seconds = derivatives(jnp.asarray(ANGLES), jnp.asarray(directions))
    for k, theta in enumerate(ANGLES):
        for name in firsts:
            c = truths[k][name]
            bounds = BOUNDS * np.max(np.abs(c))
            for along, (x, y) in enumerate(directions):
                message = f"{name} at {theta} along ({x}, {y})"
                first, second = x * c[1, 0] + y * c[0, 1], 2 * (x**2 * c[2, 0] + x * y * c[1, 1] + y**2 * c[0, 2])
                np.testing.assert_allclose(firsts[name][k, along], first, rtol=0, atol=bounds[1], err_msg=message)
                np.testing.assert_allclose(seconds[name][k, along], second, rtol=0, atol=bounds[2], err_msg=message)


def test_coriolis_against_differences():
    """V = M' theta' - dT/dtheta, with the mass matrix from quadrature and differences of fourth order."""
    h = 2e-3

    def difference(f):
        return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)

    for theta, rate in zip(ANGLES, np.random.default_rng(2).normal(size=ANGLES.shape), strict=True):
        M_dot = difference(lambda t: quadrature(FINGER, theta + t * rate, LOADS)["mass_matrix"])  # noqa: B023
        dT = [
            difference(lambda t: rate @ quadrature(FINGER, theta + t * e, LOADS)["mass_matrix"] @ rate / 2)  # noqa: B023
            for e in np.eye(2)
        ]
        # h^4 / 30 times a fifth derivative of at most 2 |M| |rate|^5; twice the rounding of |M| over h.
        size, speed = 0.5, np.linalg.norm(rate)
        bound = size * speed * (h**4 / 15 * max(speed, 1) ** 5 + 4 * EPS / h * max(speed, 1))
        np.testing.assert_allclose(
            coriolis(FINGER, jnp.asarray(theta), jnp.asarray(rate)), M_dot @ rate - dT, rtol=0, atol=bound
        )


# --- Printed numbers


def test_vector_of_the_corrected_models():
    finger = FingerFormulas([0.35, 0.25], 1.0, 1.0)
    theta = jnp.array([0.8, -0.5])
    M = [[0.025239171, 0.003705510], [0.003705510, 0.000773537]]
    found = evaluate(finger, theta, LOADS)
    np.testing.assert_allclose(found["mass_matrix"], M, rtol=0, atol=0.5e-9)
    np.testing.assert_allclose(found["tip_position"], [-0.262005705, 0.524761232], rtol=0, atol=0.5e-9)
    J_t = [[-0.358897714, -0.110869676], [-0.216809817, -0.05583236]]
    np.testing.assert_allclose(found["tip_jacobian"], J_t, rtol=0, atol=0.5e-9)
    # V at the rates (1, 0), (0, 1), and the mixed part of that at (1, 1); six printed digits.
    first, second, both = (coriolis(finger, theta, rate) for rate in jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    np.testing.assert_allclose(first, [-8.08106e-4, -1.88944e-4], rtol=0, atol=0.5e-9)
    np.testing.assert_allclose(second[0], 1.37459e-4, rtol=0, atol=0.5e-9)
    np.testing.assert_allclose(second[1], 1.53509e-5, rtol=0, atol=0.5e-10)
    np.testing.assert_allclose((both - first - second)[0], 2.00283e-4, rtol=0, atol=0.5e-9)
    # Zero, up to the rounding of sums of 2e-4.
    assert abs((both - first - second)[1]) <= 4 * EPS * 2e-4


@pytest.mark.parametrize(
    "theta, printed",
    [
        ((0, 0), (0.141666667, 0.026041667, 0.006250000)),
        ((0.3, 0.2), (0.140317418, 0.025763731, 0.006240087)),
        ((0.5, -0.4), (0.140099215, 0.025784099, 0.006210441)),
        ((1, 0.5), (0.129725716, 0.023818777, 0.006188297)),
        ((1.5, 1.5), (0.100668631, 0.016730156, 0.005715747)),
        ((2, -1), (0.121419819, 0.023746809, 0.006006751)),
    ],
)
def test_mass_matrix_of_the_reference(theta, printed):
    # M / (rho A L^3) of two equal arcs: a finger of length 1 and line density 1; nine decimals.
    M = evaluate(FingerFormulas(0.5, 1.0, 1.0), jnp.array(theta, float), LOADS)["mass_matrix"]
    np.testing.assert_allclose((M[0, 0], M[0, 1], M[1, 1]), printed, rtol=0, atol=0.5e-9 + EPS)


def nitinol(tip_mass, rotary=True):
    """The rod of the experiments, 60 cm long and 2 mm thick, with E = 60 GPa."""
    radius, density, youngs_modulus = 1e-3, 6450.0, 60e9
    area, second_moment = np.pi * radius**2, np.pi * radius**4 / 4
    inertia = density * second_moment if rotary else 0.0
    return FingerFormulas(
        0.3, density * area, youngs_modulus * second_moment, rotary_inertia=inertia, tip_mass=tip_mass
    )


# Of the base clamped horizontally: the finger's Y is horizontal, -X downwards.
WEIGHT = FingerLoads(gravity=(-9.81, 0.0))


STRAIGHT = jnp.zeros(2)

TWO_ARC_TABLE = {  # tip mass [kg]: angles, tip (horizontal, vertical), f1, f2 sagged, f1 straight
    0.0: ((0.13203461, 0.01879265), (0.59612932, -0.06206378), (2.50835, 25.3377), 2.49101),
    0.02: ((0.58286381, 0.15945156), (0.51956978, -0.26933495), (1.04931, 13.5235), 0.88063),
    0.05: ((0.93191350, 0.22825346), (0.40839843, -0.38902934), (0.89291, 9.4885), 0.57873),
    0.10: ((1.19352587, 0.21927388), (0.31285527, -0.44750102), (0.83242, 7.1154), 0.41476),
}


@pytest.mark.parametrize("tip_mass", TWO_ARC_TABLE)
def test_sag_and_frequencies_of_the_reference(tip_mass):
    angles, tip, frequencies, straight = TWO_ARC_TABLE[tip_mass]
    theta, sagged = rest(nitinol(tip_mass), WEIGHT, STRAIGHT)
    X, Y = evaluate(nitinol(tip_mass), theta, WEIGHT)["tip_position"]
    unloaded = vibrate(nitinol(tip_mass), STRAIGHT, FingerLoads())
    # Half of the last printed digit, and a little for a value that lies on the edge.
    np.testing.assert_allclose(theta, angles, rtol=0, atol=0.501e-8)
    np.testing.assert_allclose((Y, X), tip, rtol=0, atol=0.501e-8)
    np.testing.assert_allclose(sagged[0], frequencies[0], rtol=0, atol=0.501e-5)
    np.testing.assert_allclose(sagged[1], frequencies[1], rtol=0, atol=0.501e-4)
    np.testing.assert_allclose(unloaded[0], straight, rtol=0, atol=0.501e-5)


def test_the_reference_has_rotary_inertia():
    # Without rho I the statics is the same, and both printed frequencies are missed in their last digit.
    angles, _, frequencies, straight = TWO_ARC_TABLE[0.0]
    theta, sagged = rest(nitinol(0.0, rotary=False), WEIGHT, STRAIGHT)
    unloaded = vibrate(nitinol(0.0, rotary=False), STRAIGHT, FingerLoads())
    np.testing.assert_allclose(theta, angles, rtol=0, atol=0.501e-8)
    assert sagged[1] - frequencies[1] > 5e-4
    assert unloaded[0] - straight > 0.5e-5


# --- The equation of motion


def test_accelerations_balance_all_torques():
    theta, rate = jnp.array([0.7, -1.2]), jnp.array([2.0, -3.0])
    acceleration = accelerate(FINGER, theta, rate, LOADS)
    V = coriolis(FINGER, theta, rate)
    truth = quadrature(FINGER, theta, LOADS)
    # E I / L (theta - theta*) and -c theta' by hand.
    elastic = [0.4 / 0.35 * (0.7 - 0.2), 0.3 / 0.25 * (-1.2 + 0.1)]
    friction = [-0.05 * 2.0, 0.05 * 3.0]
    terms = [truth["mass_matrix"] @ acceleration, V, elastic, truth["gravity_torques"]]
    terms += [-truth["load_torques"], np.negative(friction)]
    # A solve of two rows loses at most the condition of M, below 100, in units of the largest term.
    np.testing.assert_allclose(np.sum(terms, 0), 0, atol=100 * EPS * np.max(np.abs(terms)))


def two_segments(lengths):
    """The same finger in hydrostat's general terms."""
    return Arm(
        segments=StrainSegment(lengths, ("bend_y",)),
        section=Section(jnp.full(2, 0.03), jnp.full(2, 0.03)),
        material=Material(*(jnp.ones(2) for _ in range(4))),
        T_world_base=SE3(jnp.eye(3), jnp.zeros(3)),
    )


def test_power_balance():
    """The energy's rate is the power of the forces at the points where the general kinematics has them."""
    arm = two_segments(FINGER.lengths)
    offset = jnp.full((2, 2, 2), FINGER.tendon_offset)
    # The -X side is +x, azimuth 0.
    tendons = Tendons(jnp.array([0.0, jnp.pi]), offset, jnp.ones((2, 2)), (1, 1), None)
    weight = FingerLoads(gravity=LOADS.gravity)

    @jax.jit
    def powers(theta, rate, acceleration):
        def energy(theta, rate):
            return FINGER.kinetic_energy(theta, rate) + FINGER.potential_energy(theta, weight)

        def points(theta):
            q = FINGER.to_strains(theta)
            return kinematics.segment_poses(arm, q).position[1:], tendons.lengths(arm, q)

        _, energy_rate = jax.jvp(energy, (theta, rate), (rate, acceleration))
        _, (velocities, length_rates) = jax.jvp(points, (theta,), (rate,))
        forces = formulas.to_space(jnp.stack([LOADS.contact_force, LOADS.tip_force]))
        return energy_rate, jnp.sum(forces * velocities), -LOADS.tensions @ length_rates, -0.05 * rate @ rate

    for theta, rate in zip(ANGLES, np.random.default_rng(3).normal(size=ANGLES.shape), strict=True):
        state = jnp.asarray(theta), jnp.asarray(rate)
        energy_rate, *given = powers(*state, accelerate(FINGER, *state, LOADS))
        # Torques of up to 10 N m at 3 rad/s, each sum to a few units, through a solve of condition below 100.
        np.testing.assert_allclose(energy_rate, sum(given), rtol=0, atol=100 * EPS * 30)


def test_undamped_motion_keeps_its_energy():
    finger, rtol = nitinol(0.05), 1e-10

    def motion(_, y):
        return np.concatenate([y[2:], accelerate(finger, y[:2], y[2:], WEIGHT)])

    energies = jax.jit(
        jax.vmap(lambda y: jnp.stack([finger.kinetic_energy(y[:2], y[2:]), finger.potential_energy(y[:2], WEIGHT)]))
    )
    # Released straight and spinning, so that both modes take part.
    start = np.array([0.0, 0.0, 1.0, -5.0])
    path = solve_ivp(motion, (0, 1.0), start, method="DOP853", rtol=rtol, atol=1e-12)
    kinetic, potential = np.asarray(energies(jnp.asarray(path.y.T))).T
    total = kinetic + potential
    # It moved: the energy went to and fro many times over what is allowed to be lost.
    assert np.ptp(kinetic) > 0.05
    # Each step may err by rtol of the state, energy being quadratic in it.
    assert np.max(np.abs(total - total[0])) <= 2 * rtol * len(path.t) * np.max(kinetic)


def test_torques_are_the_gradient_of_the_energy():
    @jax.jit
    def both(theta):
        torques = FINGER.elastic_torques(theta) + FINGER.gravity_torques(theta, LOADS.gravity)
        return jax.grad(FINGER.potential_energy)(theta, LOADS), torques - FINGER.load_torques(theta, LOADS)

    for theta in ANGLES:
        gradient, torques = both(jnp.asarray(theta))
        # Ten terms of up to 5 N m, with the Stumpff functions' bounds for a value and a first derivative.
        np.testing.assert_allclose(gradient, torques, rtol=0, atol=EPS * (1 + 2) * (3 + 8) * 5)


# --- Equilibrium


@pytest.mark.parametrize("tip_mass", [0.0, 0.05, 0.2, 1.0, 10.0])
@pytest.mark.parametrize("tilt", [0.01, 0.3, 1.0, 2.0, 3.0])
def test_heavy_fingers_come_to_rest_in_a_stable_place(tip_mass, tilt):
    """From nearly upright, past buckling, where Newton's method by itself ends on saddles or nowhere."""
    finger = FingerFormulas(0.3, 0.02, 0.047, tip_mass=tip_mass)
    loads = FingerLoads(gravity=(-9.81 * np.sin(tilt), -9.81 * np.cos(tilt)))
    theta, frequencies = rest(finger, loads, STRAIGHT)
    assert np.all(frequencies > 0)  # no NaN
    assert theta[0] > 0  # it falls to the side it leans to
    torques = 0.047 / 0.3 * theta + quadrature(finger, theta, loads)["gravity_torques"]
    # Rounding of the elastic torque and of the weight's about the base.
    np.testing.assert_allclose(torques, 0, atol=20 * EPS * (0.5 + 9.81 * 0.6 * (tip_mass + 0.012)))


def test_upright_finger_says_that_it_is_unstable():
    # 50 g is beyond the buckling load: balanced, at rest, with one frequency that is none.
    finger, upright = nitinol(0.05), FingerLoads(gravity=(0.0, -9.81))
    theta, frequencies = rest(finger, upright, STRAIGHT)
    np.testing.assert_array_equal(theta, 0)
    assert np.sum(np.isnan(frequencies)) == 1
    # The least push, to either side, finds the buckled shapes, mirror images of each other.
    sides = [settle(finger, upright, jnp.array([push, 0.0])) for push in (1e-3, -1e-3)]
    assert sides[0][0] > 1
    np.testing.assert_allclose(sides[0], -sides[1], rtol=0, atol=1e-12)


def test_equilibrium_can_be_differentiated():
    def value(stiffness, gravity):
        finger = FingerFormulas(0.3, 0.02, stiffness, tip_mass=0.05)
        return settle(finger, FingerLoads(gravity=gravity), STRAIGHT)[0]

    at = (jnp.asarray(0.047), jnp.array([-9.81, 0.3]))
    by_stiffness, by_gravity = jax.grad(value, (0, 1))(*at)
    h = 1e-3

    def difference(f):
        return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)

    # Fourth order in relative steps: h^4 / 30 times a fifth derivative of at most 5!, and rounding over h.
    bound = 4 * h**4 + 1e-13 / h
    relative = difference(lambda t: value(at[0] * (1 + t), at[1]))
    np.testing.assert_allclose(by_stiffness * at[0], relative, rtol=0, atol=bound)
    for axis in np.eye(2):
        expected = difference(lambda t: value(at[0], at[1] + 9.81 * t * axis))  # noqa: B023
        np.testing.assert_allclose(9.81 * by_gravity @ axis, expected, rtol=0, atol=bound)


def test_no_equilibrium_is_an_error():
    with pytest.raises(Exception, match="no equilibrium of the finger was found; try a `guess` nearer to it"):
        settle(nitinol(0.0), FingerLoads(gravity=(np.nan, 0.0)), STRAIGHT)


# --- hydrostat's frame


def test_same_place_as_the_general_kinematics():
    lengths = jnp.array([0.35, 0.25])
    finger, arm = FingerFormulas(lengths, 1.0, 1.0), two_segments(lengths)

    @jax.jit
    def both(theta):
        q = finger.to_strains(theta)
        poses = kinematics.segment_poses(arm, q)
        general = poses.position[1:], kinematics.tip_world_jacobian(arm, q)[3:, :, 0].T
        points = jnp.stack([finger.contact_position(theta), finger.tip_position(theta)])
        # A rate of the strain is a rate of the angle over the length.
        own = formulas.to_space(points), formulas.to_space(finger.tip_jacobian(theta).T * lengths[:, None])
        return general, own, poses.rotation[-1], finger.from_strains(q), formulas.from_space(own[0]) - points

    for theta in ANGLES:
        general, own, R, again, returned = both(jnp.asarray(theta))
        for x, y in zip(general, own, strict=True):
            np.testing.assert_allclose(x, y, rtol=0, atol=20 * EPS)
        # The tip has turned about +y, from z towards x, by the sum of the angles.
        total = np.sum(theta)
        np.testing.assert_allclose(R[:, 2], [np.sin(total), 0, np.cos(total)], rtol=0, atol=20 * EPS)
        np.testing.assert_allclose(again, theta, rtol=2 * EPS)
        np.testing.assert_array_equal(returned, 0)
    # And by words: a positive bend_y leads to +x, which is the paper's -X.
    assert kinematics.tip_pose(arm, jnp.full((2, 1), 0.5)).position[0] > 0
    assert finger.tip_position(jnp.array([0.1, 0.1]))[0] < 0


# --- Input


@pytest.mark.parametrize(
    "given, message",
    [
        ({"lengths": [0.3, 0.0]}, r"`lengths` must be finite above 0; got \[0.3, 0.0\]"),
        (
            {"lengths": [0.1, 0.2, 0.3]},
            r"`lengths` must be a number or a pair of numbers; got an array of shape \(3,\)",
        ),
        ({"line_density": -1.0}, "`line_density` must be finite above 0; got -1.0"),
        ({"bending_stiffness": np.nan}, "`bending_stiffness` must be finite above 0; got nan"),
        ({"tip_mass": -0.1}, "`tip_mass` must be finite, at least 0; got -0.1"),
        ({"tip_mass": [0.1, 0.2]}, r"`tip_mass` must be a number; got an array of shape \(2,\)"),
        ({"preshape": np.inf}, "`preshape` must be finite; got inf"),
    ],
)
def test_wrong_parameters_are_refused(given, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        FingerFormulas(**({"lengths": 0.3, "line_density": 0.02, "bending_stiffness": 0.05} | given))


def test_loads_are_vectors_of_the_plane():
    with pytest.raises(InputError, match=r"^`gravity` must be a pair of numbers; got an array of shape \(3,\)$"):
        FingerLoads(gravity=(0.0, 0.0, -9.81))
