"""A body that swims: energy and momentum balances of hull, fins and jet, and closed forms of each."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rollouts import orders
from scipy.integrate import quad

import hydrostat as hs
from hydrostat.lie import so3
from hydrostat.mechanics.dynamics import accelerations
from hydrostat.mechanics.energy import dissipation, energy, external_wrench, momentum, power
from hydrostat.mechanics.nodes import Nodes
from hydrostat.mechanics.state import positions, velocities
from hydrostat.robots.hull_spec import HullSpec
from hydrostat.surroundings.fins import Beat, FinForces
from hydrostat.surroundings.hull_drag import HullDrag

DENSITY = 1025.0
ONE_LIMB = [2]  # the camera arm alone: the smallest model of the whole


def sea(current=(0.1, 0.2, -0.05), parts=()) -> hs.System:
    robot = hs.robots.squid_vehicle(arms=ONE_LIMB)
    return hs.System(robot, [hs.Water(DENSITY, current=current, added_mass=1.0), *parts])


@pytest.fixture(scope="module")
def swimmer():
    return sea(parts=[hs.robots.squid_fins(), hs.robots.squid_jet()])


def some_motion(system, seed, beating=0.4):
    """A bent limb on a body that moves and turns, with fins that beat."""
    rng = np.random.default_rng(seed)
    state = system.rest()
    q, v = (jax.tree.map(lambda y, size=size: y + size * rng.normal(size=y.shape), state.q) for size in (0.5, 1.0))
    pose = hs.SE3(so3.exp(jnp.asarray(rng.normal(size=3))), jnp.asarray(rng.normal(size=3)))
    fins = state.surroundings[1]._replace(
        phase=jnp.asarray(rng.uniform(0.0, 6.0)), amplitude=jnp.asarray(beating * rng.uniform(-1.0, 1.0, (6, 2)))
    )
    around = (state.surroundings[0], fins, *state.surroundings[2:])
    return state._replace(
        q=q, v=v, base_pose=pose, base_twist=jnp.asarray(0.5 * rng.normal(size=6)), surroundings=around
    )


@eqx.filter_jit
def rates(system, state):
    """Rates of energy and momentum by differentiating them along the motion, and by power and external wrench."""
    robot = system.robot
    x, v, inputs = positions(state.robot), velocities(state.robot), system.inputs_at(state)
    both = lambda x, v: (energy(robot, x, v, inputs).total, momentum(robot, x, v, inputs))  # noqa: E731
    watts, force = jax.jvp(both, (x, v), (v, accelerations(robot, x, v, inputs)))[1]
    wrench, _ = external_wrench(robot, x, v, inputs)
    return watts, power(robot, x, v, inputs) - dissipation(robot, x, v), force, wrench


def test_energy_and_momentum_change_by_power_and_wrench_of_all_that_acts(swimmer):
    # With added mass, a centre of buoyancy beside that of mass, a current, hull drag and fins.
    for seed in range(3):
        watts, net, force, wrench = rates(swimmer, some_motion(swimmer, seed))
        assert abs(float(net)) > 0.1
        # Rounding of terms some hundred times their sum.
        assert float(watts) == pytest.approx(float(net), rel=1e-9)
        np.testing.assert_allclose(force, wrench, rtol=1e-9, atol=1e-9 * float(jnp.max(jnp.abs(wrench))))


def balances(system, seconds, steps):
    """The errors of the energy and momentum balances over a run in which fins work, and the work of the fins."""
    control = hs.Control(
        fins=0.3 * np.array([[1.0, 0.5], [0.8, -0.5], [1.0, 0.2], [-0.6, 0.4], [1.0, 0.1], [0.4, 0.6]])
    )
    run = hs.rollout(system, control, steps=steps, dt=seconds / steps)
    each = [_drags(system, state) for state in run]
    energies, watts, momenta, wrenches = (np.array([row[i] for row in each]) for i in range(4))
    fins = system.part_state(run.final, hs.surroundings.Fins)
    dt = seconds / steps
    lost = np.trapezoid(watts, dx=dt)
    return energies[-1] - energies[0], float(fins.work), float(fins.wake), lost, momenta, wrenches


@eqx.filter_jit
def _drags(system, state):
    """Energy, power of all but the fins, momentum, and wrench of all that acts."""
    robot = system.robot
    x, v, inputs = positions(state.robot), velocities(state.robot), system.inputs_at(state)
    wrench, watts = external_wrench(robot, x, v, inputs)
    fins = next(part for part in inputs.surroundings.parts if isinstance(getattr(part, "part", None), FinForces))
    body = system.place(state).body
    net = watts - fins.part.power(body).body - dissipation(robot, x, v)
    return energy(robot, x, v, inputs).total, net, momentum(robot, x, v, inputs), wrench


@pytest.mark.slow
def test_work_of_fins_is_what_the_robot_gains_and_the_water_takes():
    system = sea(current=(0.0, 0.0, 0.0), parts=[hs.robots.squid_fins()])
    errors = []
    for steps in (100, 200):
        gained, work, wake, others, momenta, wrenches = balances(system, 1.0, steps)
        errors.append(abs(gained + wake - work - others))
        impulse = np.trapezoid(wrenches, dx=1.0 / steps, axis=0)
        np.testing.assert_allclose(momenta[-1] - momenta[0], impulse, atol=5e-3 * np.abs(wrenches).max())
    assert abs(work) > 0.1
    assert orders(errors)[0] > 1.5, errors
    assert errors[-1] < 1e-3 * abs(work)


def _along(y, a2, b2):
    return (a2 + y) ** -1.5 / (b2 + y)


def _across(y, a2, b2):
    return (a2 + y) ** -0.5 / (b2 + y) ** 2


def test_added_mass_of_a_spheroid_is_lambs():
    # By the integrals that define alpha and beta for any ellipsoid (Lamb, Hydrodynamics, art. 114).
    for ratio in (1.2, 2.0, 7.0):
        a2, b2 = ratio**2, 1.0
        alpha = ratio * quad(_along, 0.0, np.inf, (a2, b2))[0]
        beta = ratio * quad(_across, 0.0, np.inf, (a2, b2))[0]
        turning = (a2 - b2) ** 2 * (beta - alpha) / (2.0 * (a2 - b2) + (a2 + b2) * (alpha - beta)) / (a2 + b2)
        hull = HullSpec(ratio, 1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        expected = (alpha / (2.0 - alpha), beta / (2.0 - beta), turning)
        np.testing.assert_allclose(hull.added_shares, expected, rtol=1e-7)
    near_ball = HullSpec(1.01, 1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)).added_shares
    np.testing.assert_allclose(near_ball, (0.5, 0.5, 0.0), atol=0.01)
    with pytest.raises(hs.errors.InputError, match="times its `width`"):
        HullSpec(1.0, 1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def body_node(twist, R=None) -> Nodes:
    """A body at the origin with a twist in world axes."""
    R = jnp.eye(3) if R is None else R
    own = (jnp.zeros(3), twist[3:], twist[:3], R[:, 2], jnp.zeros(()), jnp.zeros(()), R)
    return Nodes(*(part[None] for part in own))


@pytest.mark.parametrize("kind", ["hull", "fins"])
def test_damping_is_the_derivative_of_the_wrench_and_takes_energy(kind, swimmer):
    R = so3.exp(jnp.array([0.4, -0.7, 0.2]))
    if kind == "hull":
        forces = HullDrag(swimmer.robot.body.hull, jnp.asarray(DENSITY), jnp.zeros(3))
    else:
        still = Beat(jnp.asarray(1.0), jnp.full((6, 2), 0.2), jnp.zeros((6, 2)), jnp.zeros(()))
        forces = FinForces(swimmer.part(hs.surroundings.Fins), still, jnp.asarray(DENSITY), jnp.zeros(3))
    twist = jnp.array([0.3, -0.2, 0.5, 0.2, 0.4, -0.3])

    def wrench(twist):
        found = forces.forces(body_node(twist, R))
        return jnp.concatenate([found.torque[0], found.force[0]])

    damping = forces.forces(body_node(twist, R)).damping[0]
    np.testing.assert_allclose(-jax.jacfwd(wrench)(twist), damping, rtol=1e-9, atol=1e-9)
    assert np.linalg.eigvalsh(damping)[0] > -1e-9
    if kind == "hull":
        assert float(twist @ wrench(twist)) < 0.0


def mean_force(fins, amplitude, moments=48):
    """The mean force and moment of the fins on a body at rest over a beat."""
    beat = Beat(jnp.zeros(()), amplitude, jnp.zeros_like(amplitude), jnp.zeros(()))
    forces = FinForces(fins, beat, jnp.asarray(DENSITY), jnp.zeros(3))
    node = body_node(jnp.zeros(6))
    times = jnp.arange(moments) / moments / fins.frequency
    each = jax.jit(jax.vmap(lambda t: forces.after(t).forces(node)))(times)
    return jnp.mean(each.force[:, 0], 0), jnp.mean(each.torque[:, 0], 0)


def test_a_small_wave_pushes_as_its_closed_form_says_and_the_other_way_when_it_travels_back():
    fins, A = hs.robots.squid_fins(), 0.02
    k, omega = 2.0 * np.pi * float(fins.waves / fins.length), 2.0 * np.pi * float(fins.frequency)
    expected = 6 * 2.0 / (3.0 * np.pi) * DENSITY * float(fins.drag) * k * A**3 * omega**2
    expected *= float(fins.length * fins.span**4) / 4.0
    for sign in (1.0, -1.0):
        force, torque = mean_force(fins, jnp.zeros((6, 2)).at[:, 0].set(sign * A))
        # Forwards is the body's z. Two Gauss points are exact for r^3; what is left is (k A h)^2 and the stations.
        assert float(force[2]) == pytest.approx(sign * expected, rel=0.02)
        np.testing.assert_allclose(force[:2], 0.0, atol=1e-3 * expected)
        assert abs(float(torque[0])) < 1e-9
    # One side alone turns the body about its x, which points down: port pushes the bow to starboard.
    _, torque = mean_force(fins, jnp.zeros((6, 2)).at[:3, 0].set(0.3))
    assert float(torque[0]) > 0.01


def test_a_skewed_flap_lifts_and_an_even_one_does_not():
    fins = hs.robots.squid_fins()
    up, _ = mean_force(fins, jnp.zeros((6, 2)).at[:, 1].set(0.4))
    down, _ = mean_force(fins, jnp.zeros((6, 2)).at[:, 1].set(-0.4))
    assert float(up[0]) < -0.5  # the body's x points down
    np.testing.assert_allclose(down[0], -up[0], rtol=1e-3)
    np.testing.assert_allclose(up[1:], 0.0, atol=1e-9)
    even = eqx.tree_at(lambda f: f.skew, fins, jnp.asarray(1e-9))
    none, _ = mean_force(even, jnp.zeros((6, 2)).at[:, 1].set(0.4))
    assert abs(float(none[0])) < 1e-6
