"""The ground, and suckers that hold it."""

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.mechanics.nodes import Nodes
from hydrostat.surroundings import Commands, ContactLaw, Environment, Ground, Place, Suckers

GROUND = Ground(law=ContactLaw(stiffness=50.0, damping=20.0, friction=0.5, slip_speed=0.005))


def _nodes(seed=0, count=6, low=-1e-3, high=4e-3) -> Nodes:
    """Nodes about the ground, in motion."""
    rng = np.random.default_rng(seed)
    position = rng.normal(size=(count, 3))
    position[:, 2] = rng.uniform(low, high, count)
    vectors = [jnp.asarray(y) for y in (position, 0.01 * rng.normal(size=(count, 3)), rng.normal(size=(count, 3)))]
    radius = jnp.asarray(rng.uniform(1e-3, 3e-3, count))
    return Nodes(*vectors, jnp.zeros((count, 3)), radius, jnp.full(count, 0.01))


def _wrench(around, nodes: Nodes, twist):
    """Torque and force with another motion of the nodes: displacements first, then velocities (2, n, 6)."""
    turned, rates = twist
    moved = nodes._replace(
        position=nodes.position + turned[:, 3:],
        velocity=nodes.velocity + rates[:, 3:],
        angular_velocity=nodes.angular_velocity + rates[:, :3],
    )
    forces = around.forces(moved)
    return jnp.concatenate([forces.torque, forces.force], 1)


def test_ground_damping_and_stiffness_are_derivatives():
    """By autodiff: damping is all of it; stiffness that of the force, whose torque the operator leaves out."""
    nodes = _nodes()
    around = GROUND.under(nodes, nodes)
    forces = around.forces(nodes)
    assert (np.asarray(forces.force[:, 2]) > 0.0).sum() >= 3
    J = jax.jacfwd(lambda twist: _wrench(around, nodes, twist))(jnp.zeros((2, 6, 6)))
    own = np.stack([np.asarray(J)[i, :, :, i] for i in range(6)])  # node, wrench, place or rate, twist
    np.testing.assert_allclose(-own[:, :, 1], forces.damping, atol=1e-9)
    np.testing.assert_allclose(-own[:, 3:, 0, 3:], np.asarray(forces.stiffness)[:, 3:, 3:], atol=1e-9)


def test_ground_takes_energy_and_does_not_pull():
    for seed in range(5):
        nodes = _nodes(seed)
        forces = GROUND.under(nodes, nodes).forces(nodes)
        assert np.all(np.asarray(forces.force[:, 2]) >= 0.0)
        slip = forces.force.at[:, 2].set(0.0)
        power = jnp.sum(slip * nodes.velocity, 1) + jnp.sum(forces.torque * nodes.angular_velocity, 1)
        assert np.all(np.asarray(power) <= 1e-15)


def test_friction_is_by_the_pressure_at_the_begin_of_the_step():
    """A light tip that is about to fall on the ground is not nailed to it by the pressure of where it would go."""
    ball = Nodes(*(jnp.asarray(y)[None] for y in ([0.0, 0, 2e-3], [0.1, 0, -0.5], [0.0] * 3, [0.0] * 3, 1e-3, 0.01)))
    falling = ball._replace(position=ball.position + 5e-3 * ball.velocity)
    assert not np.any(GROUND.under(ball, falling).friction)
    # What lies on it slips by the law's own friction.
    lying = ball._replace(position=jnp.array([[0.0, 0.0, 0.5e-3]]), velocity=jnp.array([[0.1, 0.0, 0.0]]))
    law = GROUND.law.by_radius(lying.radius, 0.3 * lying.radius)
    pressure = law.pressed(jnp.array([0.5e-3]), jnp.zeros(1))[0]
    np.testing.assert_allclose(
        GROUND.under(lying, lying).forces(lying).force[0, 0],
        -0.5 * pressure[0] * 0.1 / np.hypot(0.1, 0.005),
        rtol=1e-12,
    )


AT_ONCE = Suckers(seal_time=0.0, seal_speed=10.0)


def _held(suckers, state, nodes, grip, height=0.0):
    """What suckers hold at the begin of a step and the forces during it."""
    environment = Environment(jnp.zeros(3), None, None, Ground(height=height), suckers, (6,), False)
    state = suckers.init(environment) if state is None else state
    commands = Commands(jnp.asarray(grip), jnp.zeros(6), jnp.zeros(()))
    begun, forces = suckers.begin(state, Place(nodes, None), environment, commands, 1e-3)
    return begun, forces, lambda nodes: suckers.finish(begun, forces, Place(nodes, None), environment, 1e-3)


def test_suckers_take_hold_where_they_touch_and_tear_off():
    suckers, nodes = AT_ONCE, _nodes(1)
    gap = np.asarray(nodes.position[:, 2] - nodes.radius)
    attachment, forces, finish = _held(suckers, None, nodes, np.ones(6))
    held = np.asarray(attachment.held)
    np.testing.assert_array_equal(held, (gap <= float(suckers.seal_gap)).astype(float))
    assert 0 < held.sum() < 6
    # What holds starts without a pull but that of its damper.
    still = nodes._replace(velocity=jnp.zeros((6, 3)))
    np.testing.assert_array_equal(forces.forces(still).force, 0.0)
    # Further away it pulls back, and tears off in the next step; let go, it holds no more.
    far = still._replace(position=still.position + jnp.array([0.1, 0.0, 0.0]))
    np.testing.assert_allclose(forces.forces(far).force[:, 0], -0.1 * float(suckers.stiffness) * held, rtol=1e-12)
    pulled = finish(far)
    np.testing.assert_allclose(pulled.pull, 0.1 * float(suckers.stiffness) * held, rtol=1e-12)
    assert _held(suckers, pulled, far, np.ones(6), height=-1.0)[0].held.sum() == 0.0
    kept = finish(still)
    np.testing.assert_array_equal(_held(suckers, kept, still, np.ones(6))[0].held, held)
    assert _held(suckers, kept, still, np.zeros(6))[0].held.sum() == 0.0


def test_a_sucker_takes_time_to_hold_also_after_it_was_torn_off():
    """A step is 1 ms: after 4 of them in contact a sucker with a seal time of 4 ms holds."""
    suckers = Suckers(seal_time=4e-3, suction=1e-3)
    nodes = _nodes(1)._replace(velocity=jnp.zeros((6, 3)), radius=jnp.full(6, 5e-3))
    resting = nodes._replace(position=nodes.position.at[:, 2].set(5e-3))

    def steps_to_hold(state, at, count=6):
        for step in range(1, count + 1):
            state, _, finish = _held(suckers, state, at, np.ones(6))
            if state.held.sum() == 6.0:
                return step, finish
            assert state.held.sum() == 0.0
            state = finish(at)
        return None, None

    first, finish = steps_to_hold(None, resting)
    assert first == 4
    torn = finish(resting._replace(position=resting.position + jnp.array([1e-3, 0.0, 0.0])))
    again, _ = steps_to_hold(torn, resting)
    assert again == 1 + 4  # one in which it is torn off
    # Across a gap, or sliding, it never holds.
    hovering = resting._replace(position=resting.position + jnp.array([0.0, 0.0, 5e-4]))
    sliding = resting._replace(velocity=jnp.full((6, 3), 0.1))
    assert steps_to_hold(None, hovering)[0] is steps_to_hold(None, sliding)[0] is None


def test_suckers_hold_the_ground_where_it_is():
    nodes = _nodes(1)
    raised = nodes._replace(position=nodes.position + jnp.array([0.0, 0.0, 0.2]))
    held = [_held(AT_ONCE, None, some, np.ones(6), height)[0].held for some, height in ((nodes, 0.0), (raised, 0.2))]
    np.testing.assert_array_equal(*held)
    assert np.any(held[0])
    assert not np.any(_held(AT_ONCE, None, raised, np.ones(6))[0].held)
