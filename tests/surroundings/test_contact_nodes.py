"""Nodes against shapes: matrices for implicit steps, reactions, and the classical experiments with friction."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrostat.lie import se3
from hydrostat.surroundings import Box, ContactLaw, Nodes, Plane, Sphere, contact_with_shapes

LAW = ContactLaw(stiffness=800.0, damping=0.7, friction=0.6, slip_speed=0.01, onset=1e-3)
SHAPES = (
    Plane([0.0, 0.0, -0.05], [0.1, -0.2, 1.0], velocity=[0.3, 0.1, 0.0], angular_velocity=[0.0, 0.5, 1.0]),
    Sphere([0.1, 0.0, 0.1], 0.08, velocity=[-0.2, 0.4, 0.1], angular_velocity=[1.0, -2.0, 3.0]),
    Box(se3.exp(jnp.array([0.3, 0.8, -0.4, 0.0, -0.1, 0.1])), [0.1, 0.04, 0.07], velocity=[0.0, 0.0, 1.0]),
)
touch = jax.jit(contact_with_shapes)


def random_nodes(seed, count=24):
    rng = np.random.default_rng(seed)
    position, velocity, spin, tangent = rng.normal(size=(4, count, 3)) * np.array([0.1, 1.0, 20.0, 1.0])[:, None, None]
    radius = rng.uniform(0.01, 0.05, count)
    return Nodes(*map(jnp.asarray, (position, velocity, spin, tangent, radius, radius)))


def one_node(position, velocity=(0, 0, 0), spin=(0, 0, 0), radius=0.02):
    values = (position, velocity, spin, (0.0, 0.0, 1.0))
    return Nodes(*(jnp.asarray(value, float)[None] for value in values), jnp.array([radius]), jnp.array([radius]))


# --- Wrenches and reactions


def test_loads_are_those_of_the_law_at_each_point_of_touch():
    nodes = random_nodes(0)
    contact, _ = touch(LAW, nodes, SHAPES)
    wrench, penetration, K, C = np.zeros((24, 6)), np.zeros(24), np.zeros((24, 6, 6)), np.zeros((24, 6, 6))
    at_points = jax.jit(jax.vmap(LAW.at_point))
    for shape in SHAPES:
        distance, n, _ = jax.vmap(shape.distance_and_normal)(nodes.position)
        lever = -nodes.radius[:, None] * n
        slip = nodes.velocity + np.cross(nodes.angular_velocity, lever) - shape.velocity
        slip -= np.cross(shape.angular_velocity, nodes.position + lever - shape.reference_point)
        depth = nodes.radius - distance
        force, k, c, g = at_points(depth, n, slip)
        # The velocity of the point of touch per twist of the node: w x r + v, column by column.
        B = np.concatenate([np.stack([np.cross(e, lever) for e in np.eye(3)], -1), np.tile(np.eye(3), (24, 1, 1))], -1)
        nn = n[:, :, None] * n[:, None]
        wrench += np.einsum("nij,ni->nj", B, force)
        K += np.einsum("nia,nij,njb->nab", B, k[:, None, None] * nn, B)
        C += np.einsum("nia,nij,njb->nab", B, (c - g)[:, None, None] * nn + g[:, None, None] * np.eye(3), B)
        penetration = np.maximum(penetration, depth)
    assert np.count_nonzero(penetration) > 5
    np.testing.assert_allclose(np.concatenate([contact.torque, contact.force], -1), wrench, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(contact.stiffness, K, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(contact.damping, C, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(contact.penetration, penetration, rtol=1e-12, atol=1e-15)


def test_action_is_reaction():
    nodes = random_nodes(1)
    contact, reactions = touch(LAW, nodes, SHAPES)
    reference = np.stack([shape.reference_point for shape in SHAPES])
    size = np.abs(contact.force).sum()
    assert size > 10.0
    np.testing.assert_allclose(contact.force.sum(0) + reactions.force.sum(0), 0.0, atol=1e-14 * size)
    on_nodes = np.cross(nodes.position, contact.force) + contact.torque
    on_shapes = np.cross(reference, reactions.force) + reactions.torque
    np.testing.assert_allclose(on_nodes.sum(0) + on_shapes.sum(0), 0.0, atol=1e-14 * size)


def test_no_shape_is_no_contact():
    nothing, reactions = touch(LAW, random_nodes(2), ())
    assert not any(np.any(leaf) for leaf in nothing)
    assert reactions.force.shape == reactions.torque.shape == (0, 3)


def test_what_moves_with_a_shape_feels_no_friction():
    # A node that is carried along by a turning sphere, and one that rolls on a plane.
    x, n, r, depth = np.array([0.0, 0.0, 0.0]), np.array([0.6, 0.0, 0.8]), 0.02, 5e-3
    w = np.array([1.0, 2.0, -3.0])
    sphere = Sphere(x, 0.1, angular_velocity=w)
    at = (0.1 + r - depth) * n
    carried = touch(LAW, one_node(at, np.cross(w, at), w), (sphere,))[0].force[0]
    rolling = touch(LAW, one_node([0, 0, r - depth], [r * 3.0, 0, 0], [0, 3.0, 0]), (Plane([0, 0, 0], [0, 0, 1]),))[0]
    push = 800.0 * (depth - 0.5e-3)
    np.testing.assert_allclose(carried, push * n, atol=1e-12)
    np.testing.assert_allclose(rolling.force[0], [0, 0, push], atol=1e-12)
    # Standing still, both are dragged: the node by the sphere's surface, a spinning node by its own.
    standing = touch(LAW, one_node(at), (sphere,))[0].force[0]
    surface_velocity = np.cross(w, at - r * n)
    assert standing @ surface_velocity > 0.5 * 0.6 * push * np.linalg.norm(surface_velocity)


# --- Matrices


@pytest.fixture(scope="module")
def derivatives():
    """-d(torque, force)/d(twist) and -d(torque, force)/d(position) of one node, by autodiff."""

    def wrench(nodes, shapes):
        contact, _ = contact_with_shapes(LAW, nodes, shapes)
        return -jnp.concatenate([contact.torque[0], contact.force[0]])

    return jax.jit(jax.jacfwd(wrench))


@pytest.mark.parametrize("speed_out", [-0.4, 0.0, 0.4])
def test_matrices_are_the_derivatives_where_nothing_slips(speed_out, derivatives):
    n, r, depth = np.array([2.0, -1.0, 2.0]) / 3, 0.02, 3e-3
    spin = np.array([4.0, 1.0, -2.0])
    velocity = speed_out * n - np.cross(spin, -r * n)
    node = one_node((r - depth) * n, velocity, spin, r)
    contact, _ = touch(LAW, node, (Plane([0, 0, 0], n),))
    by = derivatives(node, (Plane([0, 0, 0], n),))
    C = np.concatenate([by.angular_velocity[:, 0], by.velocity[:, 0]], -1)
    np.testing.assert_allclose(contact.damping[0], C, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(contact.stiffness[0, :, 3:], by.position[:, 0], rtol=1e-10, atol=1e-9)
    assert not np.any(contact.stiffness[0, :, :3])
    assert np.linalg.matrix_rank(contact.damping[0], tol=1e-9) == 3


def test_on_a_curved_shape_the_turning_of_the_normal_is_left_out(derivatives):
    n, r, depth, shapes = np.array([2.0, -1.0, 2.0]) / 3, 0.02, 3e-3, (Sphere([0, 0, 0], 0.1),)
    distance = 0.1 + r - depth
    node = one_node(distance * n)
    contact, _ = touch(LAW, node, shapes)
    f = float(contact.force[0] @ n)
    turning = f * (np.eye(3) - np.outer(n, n)) / distance
    expected = derivatives(node, shapes).position[3:, 0] + turning
    np.testing.assert_allclose(contact.stiffness[0, 3:, 3:], expected, rtol=1e-10, atol=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_matrices_are_symmetric_and_positive_semidefinite(seed):
    contact, _ = touch(LAW, random_nodes(seed), SHAPES)
    for matrix in (np.asarray(contact.stiffness), np.asarray(contact.damping)):
        size = np.abs(matrix).max(initial=1e-300)
        np.testing.assert_allclose(matrix, np.swapaxes(matrix, -1, -2), atol=1e-14 * size)
        assert np.linalg.eigvalsh(matrix).min() >= -1e-13 * size


def test_gradients_are_finite_everywhere():
    # In the centre of a sphere, just touching, inside, and far away; at rest. Other shapes' distances have their test.
    places = jnp.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.12], [0.0, 0.11, 0.0], [9.0, 9.0, 9.0]])
    zero = jnp.zeros((4, 3))

    def total(law, nodes, shapes):
        return sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(contact_with_shapes(law, nodes, shapes)))

    nodes, shapes = Nodes(places, zero, zero, zero, jnp.full(4, 0.02), jnp.full(4, 0.02)), (Sphere([0, 0, 0], 0.1),)
    gradients = jax.jit(jax.grad(total, (0, 1, 2)))(LAW, nodes, shapes)
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(gradients))
    assert np.any(gradients[1].position)


# --- Experiments, stepped with the matrices: (M + h C + h^2 K) a = F(x + h v, v)


def stepped(law, shapes, inertia, gravity, node, dt, count):
    """A rigid ball, by linearly implicit Euler: velocities, spins and heights after each step."""
    M = jnp.diag(jnp.asarray(inertia))

    def step(node, _):
        ahead = node._replace(position=node.position + dt * node.velocity)
        contact, _ = contact_with_shapes(law, ahead, shapes)
        wrench = jnp.concatenate([contact.torque[0], contact.force[0] + inertia[-1] * gravity])
        a = jnp.linalg.solve(M + dt * contact.damping[0] + dt**2 * contact.stiffness[0], wrench)
        spin, velocity = node.angular_velocity + dt * a[:3], node.velocity + dt * a[3:]
        node = Nodes(node.position + dt * velocity, velocity, spin, node.tangent, node.radius, node.length)
        return node, (node.velocity[0], node.angular_velocity[0], node.position[0, 2])

    return jax.lax.scan(step, node, length=count)[1]


run = jax.jit(stepped, static_argnums=6)
GROUND = (Plane([0, 0, 0], [0, 0, 1]),)
LOCKED = np.array([1e9, 1e9, 1e9, 0.05, 0.05, 0.05])  # a block: it does not roll
DOWN = jnp.array([0.0, 0.0, -9.81])
WEIGHT = 0.05 * 9.81


def resting_height(law, load, radius=0.02):
    """Where k p(d) carries the load."""
    k, onset = float(law.stiffness), float(law.onset)
    depth = load / k + 0.5 * onset if load > 0.5 * k * onset else np.sqrt(2 * onset * load / k)
    return radius - depth


def tilted(degrees):
    angle = np.radians(degrees)
    return 9.81 * jnp.array([np.sin(angle), 0.0, -np.cos(angle)])


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
@pytest.mark.parametrize("degrees", [5.0, 25.0])
def test_a_block_below_the_friction_angle_creeps_as_stated(degrees, dt):
    # The friction angle is 31 degrees. Steps of 10 ms are ten times the period of contact and block.
    start = resting_height(LAW, WEIGHT * np.cos(np.radians(degrees)))
    velocity, _, height = run(LAW, GROUND, LOCKED, tilted(degrees), one_node([0, 0, start]), dt, 1000)
    ratio = np.tan(np.radians(degrees)) / 0.6
    assert float(velocity[-1, 0]) == pytest.approx(0.01 * ratio / np.sqrt(1 - ratio**2), rel=1e-6)
    assert float(height[-1]) == pytest.approx(start, abs=1e-9)


def test_a_block_above_the_friction_angle_slides_off():
    angle = np.radians(40.0)
    start = resting_height(LAW, WEIGHT * np.cos(angle))
    velocity, _, _ = run(LAW, GROUND, LOCKED, tilted(40.0), one_node([0, 0, start]), 1e-3, 1000)
    gained = float(velocity[-1, 0] - velocity[-101, 0]) / 0.1
    # The implicit friction of a step is that of its end, along the slip too: an error of dt mu f / (m u), here 3e-3
    # of the acceleration; slip of more than a hundred slip speeds lacks less than 1e-4 of Coulomb's friction.
    expected = 9.81 * (np.sin(angle) - 0.6 * np.cos(angle))
    assert float(velocity[-1, 0]) > 1.6
    assert gained == pytest.approx(expected, rel=1e-3 * 0.6 * 9.81 * np.cos(angle) / 1.6 + 1e-4)


@pytest.mark.parametrize("dt", [1e-3, 0.02, 0.2])
def test_friction_stops_a_block_and_never_turns_it_round(dt):
    law = ContactLaw(800.0, 0.7, 0.6, 1e-4)
    node = one_node([0, 0, resting_height(law, WEIGHT)], [1.0, 0, 0])
    speed = np.asarray(run(law, GROUND, LOCKED, DOWN, node, dt, 1000)[0][:, 0])
    assert np.all(speed >= 0.0)
    assert np.all(np.diff(speed) <= 1e-15)
    assert speed[-1] < 1e-4
    if dt == 1e-3:
        # Coulomb: it slows to u after (1 - u) / (mu g); a step's error of dt mu g / u adds up to dt log(1 / u).
        late = np.argmax(speed < 1e-3) * dt - 0.999 / (0.6 * 9.81)
        assert -dt <= late <= dt * (1 + np.log(1e3))


def test_a_sliding_ball_ends_rolling_at_five_sevenths_of_its_speed():
    # Angular momentum about a point of the ground: m r v + 2/5 m r^2 w stays, whatever the friction law.
    inertia = np.array([0.4 * 0.05 * 0.02**2] * 3 + [0.05] * 3)
    node = one_node([0, 0, resting_height(LAW, WEIGHT)], [1.0, 0, 0])
    velocity, spin, _ = run(LAW, GROUND, inertia, DOWN, node, 1e-3, 1000)
    assert float(velocity[-1, 0]) == pytest.approx(5 / 7, rel=1e-9)
    assert float(spin[-1, 1] * 0.02) == pytest.approx(5 / 7, rel=1e-9)


def explicit(law, node, dt, count):
    """A thrown, spinning ball on the ground, in small explicit steps: its energy after each."""
    m, inertia, r, k, onset = 0.05, 0.4 * 0.05 * 0.02**2, 0.02, law.stiffness, law.onset

    def energy(node):
        d = jnp.maximum(r - node.position[0, 2], 0.0)
        stored = k * jnp.where(d < onset, d**3 / (6 * onset), 0.5 * d * d - 0.5 * onset * d + onset**2 / 6)
        v, w = node.velocity[0], node.angular_velocity[0]
        return 0.5 * m * v @ v + 0.5 * inertia * w @ w + m * 9.81 * node.position[0, 2] + stored

    def rate(node):
        contact, _ = contact_with_shapes(law, node, GROUND)
        still = jnp.zeros_like(node.tangent)
        return Nodes(
            node.velocity, contact.force / m + DOWN, contact.torque / inertia, still, jnp.zeros(1), jnp.zeros(1)
        )

    def step(node, _):
        go = lambda slope, h: jax.tree.map(lambda x, y: x + h * y, node, slope)  # noqa: E731
        a = rate(node)
        b = rate(go(a, 0.5 * dt))
        c = rate(go(b, 0.5 * dt))
        d = rate(go(c, dt))
        node = go(jax.tree.map(lambda a, b, c, d: (a + 2 * b + 2 * c + d) / 6, a, b, c, d), dt)
        return node, (energy(node), node.position[0])

    return jax.lax.scan(step, node, length=count)[1]


def test_a_bouncing_sliding_ball_never_gains_energy():
    node = one_node([0, 0, 0.06], [0.5, 0.2, 0.0], [3.0, -40.0, 10.0])
    energy, position = jax.jit(explicit, static_argnums=3)(LAW, node, 2e-5, 50000)
    energy, height = np.asarray(energy), np.asarray(position)[:, 2]
    landings = np.count_nonzero((height[1:] < 0.02) & (height[:-1] >= 0.02))
    assert landings >= 3
    # RK4 at 2e-5 s on contacts of some 20 ms; in flight energy is kept to rounding.
    assert np.max(np.diff(energy)) < 1e-12
    assert energy[-1] < 0.8 * energy[0]
