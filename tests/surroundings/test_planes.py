"""Contact by tangent planes: the contact itself where they were made, and no attraction anywhere."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from lone_balls import LAW, make_nodes

from hydrostat.lie import SE3
from hydrostat.surroundings import Box, Capsule, Plane, Sphere, contact_with_shapes
from hydrostat.surroundings.planes import planes

SHAPES = (
    Plane([0.0, 0.0, -0.01], [0.1, -0.2, 1.0], [0.1, 0.0, 0.05]),
    Sphere([0.02, 0.0, 0.0], 0.015, [0.0, 0.2, -0.1]),
    Capsule([-0.02, -0.02, 0.0], [-0.02, 0.03, 0.01], 0.01),
    Box(SE3(jnp.eye(3), jnp.array([0.0, 0.03, 0.01])), [0.01, 0.012, 0.009], [0.1, 0.1, 0.1]),
)


def near_shapes(seed, count=40):
    rng = np.random.default_rng(seed)
    position = rng.uniform(-0.04, 0.04, (count, 3))
    return make_nodes(position, 0.3 * rng.normal(size=(count, 3)), 6e-3, 20.0 * rng.normal(size=(count, 3)))


seen = jax.jit(planes)
touched = jax.jit(lambda law, nodes, shapes: contact_with_shapes(law, nodes, shapes)[0])
felt = jax.jit(lambda made, nodes: made.contact(nodes))


@pytest.mark.parametrize("seed", range(3))
def test_planes_are_the_contact_where_they_were_made(seed):
    nodes = near_shapes(seed)
    expected = touched(LAW, nodes, SHAPES)
    assert np.count_nonzero(np.abs(expected.force).sum(-1)) > 10
    for one, other in zip(felt(seen(LAW, nodes, SHAPES), nodes), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * max(1.0, np.abs(other).max()))


def test_planes_of_a_turning_ball_differ_by_its_turning_over_the_depth_alone():
    # They take the velocity of the material at the surface, contact that where the node's skin is.
    nodes, spin = near_shapes(4, 200), np.array([2.0, -1.0, 3.0])
    shapes = (Sphere([0.02, 0.0, 0.0], 0.015, [0.0, 0.2, -0.1], spin),)
    expected = touched(LAW, nodes, shapes)
    found = felt(seen(LAW, nodes, shapes), nodes)
    depth = np.asarray(expected.penetration)
    normal_force = LAW.stiffness * depth * (1.0 + 5.0 * 5.0)
    slip = np.linalg.norm(spin) * depth
    wrong = np.linalg.norm(np.asarray(found.force - expected.force), axis=1)
    assert np.all(wrong <= 0.5 * normal_force * slip / 0.01 + 1e-15)
    assert np.count_nonzero(depth > 0.0) >= 3


@pytest.mark.parametrize("seed", range(3))
def test_planes_never_attract(seed):
    nodes = near_shapes(seed)
    made = seen(LAW, nodes, SHAPES)
    rng = np.random.default_rng(100 + seed)
    # Wherever the nodes go within the step, and however fast they leave.
    for reach, speed in ((1e-3, 0.1), (1e-2, 3.0)):
        shift, velocity = rng.normal(size=(2, 40, 3)) * np.array([reach, speed])[:, None, None]
        moved = nodes._replace(position=nodes.position + shift, velocity=jnp.asarray(velocity))
        for i in range(len(SHAPES)):
            one = eqx.tree_at(lambda m, i=i: (m.share, m.friction), made,
                              (made.share * (np.arange(4) == i), made.friction * (np.arange(4) == i)))  # fmt: skip
            pushed = np.sum(np.asarray(felt(one, moved).force) * np.asarray(made.normal[:, i]), -1)
            assert pushed.min() >= -1e-13


def test_a_plane_that_was_not_expected_to_touch_pushes_once_a_node_is_behind_it():
    far = make_nodes([[0.0, 0.0, 0.02]])
    made = seen(LAW, far, (Plane([0.0, 0.0, 0.0], [0.0, 0.0, 1.0]),))
    assert not np.any(felt(made, far).force)
    deep = felt(made, make_nodes([[0.0, 0.0, 4e-3 - 2e-3]])).force[0]
    np.testing.assert_allclose(deep, [0.0, 0.0, 100.0 * (2e-3 - 0.5e-3)], rtol=1e-12)
