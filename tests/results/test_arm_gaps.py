"""The gaps between arms, as their skins are drawn."""

import jax
import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.results import arm_gaps


def gaps(robot, q):
    system = hs.System(robot)
    rows = jax.tree.map(lambda y: jnp.asarray(y)[None], system.rest(q))
    return np.asarray(hs.Trajectory.of_states(system, rows).derived(arm_gaps))[0]


def test_straight_limbs_are_as_far_apart_as_their_bases():
    """The squid's limbs are parallel cones: the gap is that of the bases, which are thickest."""
    found = gaps(hs.robots.squid(), None)
    side = 2.0 * 0.080 / np.sqrt(2.0)
    apart = np.array([[0.06, side, side, 0.160], [side, 0.06, 0.160, side], [side, 0.160, 0.06, side],
                      [0.160, side, side, 0.06]])  # fmt: skip
    np.testing.assert_allclose(found, apart - 0.06, atol=1e-9)


def test_limbs_bent_into_each_other_overlap():
    """The grasper bends to the palpation arm's side until it crosses it: both axes meet, and the radii overlap."""
    robot = hs.robots.squid()
    q = [np.zeros((arm.arm.count, 3)) for arm in robot.each]
    q[0][0, 0] = 1.0  # the whole first half of the grasper, by the left
    crossing = [gaps(robot, tuple(jnp.asarray(s * x) for x in q))[0, 1] for s in (1.0, -1.0)]
    assert min(crossing) < 0.0 < max(crossing)
    assert min(crossing) > -0.06
