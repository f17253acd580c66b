"""Shapes that bring the end of any segment to a point, refined while a motion runs; masses at the ends of segments."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.control import KnownArm
from hydrostat.control.commands import Retrieve
from hydrostat.control.feedback import bare_arm
from hydrostat.control.point_plans import arc_to_point, ease_of_change, towards_point
from hydrostat.errors import InputError
from hydrostat.mechanics import kinematics
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.surroundings import Water
from hydrostat.system import System

COUNT = 6
ROBOT = build_robot(octopus_arm(COUNT))
ARM = ROBOT.arm


def end(q, last):
    """The place of the end of a segment, numbered from 1."""
    return kinematics.segment_poses(ARM, q)[last].position


@jax.jit
def refined(q, point, last, most):
    return towards_point(ARM, q, point, last, most)


@pytest.mark.parametrize("last", [3, 4, 6])
def test_a_step_of_refinement_is_newtons_with_the_least_changes(last):
    rng = np.random.default_rng(last)
    q = jnp.asarray(rng.normal(size=(COUNT, 3)) * [5.0, 5.0, 0.1])
    point = end(q, last) + jnp.array([2e-3, -1e-3, 3e-3])
    J = np.asarray(jax.jacfwd(end)(q, last)).reshape(3, -1)
    W = np.asarray(ease_of_change(ARM)).ravel()
    least = W * (J.T @ np.linalg.solve(J @ (W[:, None] * J.T), np.asarray(point - end(q, last))))
    found = np.asarray(refined(q, point, last, 1.0)) - np.asarray(q)
    np.testing.assert_allclose(found.ravel(), least, rtol=0, atol=1e-9 * np.abs(least).max())
    # Segments beyond do not count.
    assert not found[last:].any()


@pytest.mark.parametrize("last", [3, 5])
def test_refinement_ends_at_the_point_from_the_arc(last):
    point = jnp.array([0.5 * 0.24 * last / COUNT, 0.04, -0.03])
    q = arc_to_point(ARM, point, last)
    assert not np.asarray(q)[last:].any()
    for _ in range(12):
        q = refined(q, point, last, 0.05)
    np.testing.assert_allclose(end(q, last), point, rtol=0, atol=1e-9)
    # No step is longer than allowed, to first order.
    step = refined(q, point + jnp.array([0.0, 0.0, 0.05]), last, 1e-4)
    assert np.linalg.norm(end(step, last) - point) == pytest.approx(1e-4, rel=0.02)


def test_a_mass_at_the_end_of_a_segment_is_as_one_that_is_carried_there():
    system = System(ROBOT, [Water()])
    known = KnownArm.of(system)
    share = jnp.zeros(COUNT).at[3].set(1.0)
    ready = known.ready_to_carry().with_mass(share, 0.01, 9e-6)
    carrying = known.carrying(4 / COUNT, 0.01, 9e-6)
    rng = np.random.default_rng(0)
    q, v, a = (jnp.asarray(rng.normal(size=(COUNT, 3)) * [5.0, 5.0, 0.1]) for _ in range(3))
    needed = jax.jit(lambda known: known.needed(q, v, a))
    np.testing.assert_allclose(needed(ready), needed(carrying), rtol=1e-9, atol=1e-12)
    # Its masses alone: at rest nothing is needed.
    at_rest = bare_arm(known).needed(q, 0.0 * v, 0.0 * a)
    np.testing.assert_allclose(at_rest, 0.0, atol=1e-12)


def test_an_arm_needs_suckers_and_an_object_to_retrieve():
    with pytest.raises(InputError, match=r"needs `Suckers\(\)` and a `Ball"):
        Retrieve().attach(System(ROBOT, [Water()]), 4e-3)
