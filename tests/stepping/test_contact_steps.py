"""Contact within the equations of motion: a free body with an arm that lands, lies, slides and bounces."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from touching_arms import (
    ALONG_X,
    BASE_MASS,
    FRICTION,
    MASS,
    NODES,
    ONSET,
    RADIUS,
    ROWS,
    SLIP,
    STIFFNESS,
    G,
    an_arm,
    ground,
    law,
    run,
)

from hydrostat.lie import SE3
from hydrostat.mechanics.robot import single_arm
from hydrostat.mechanics.state import rest_state
from hydrostat.stepping import SDIRK2


@pytest.fixture(scope="module")
def body():
    """A body with one arm along x, free to move."""
    free = {"free_base": True, "base_mass": BASE_MASS, "base_inertia": 2e-6}
    return single_arm(an_arm(ALONG_X), points=2, skin_points=NODES // 2, **free)


def lifted(model, height, velocity=(0.0, 0.0, 0.0)):
    """At rest with the lowest line of its skin at a height, or on its way with a velocity in world axes."""
    pose = SE3(ALONG_X.rotation, jnp.asarray([0.0, 0.0, height + RADIUS]))
    twist = jnp.concatenate([jnp.zeros(3), ALONG_X.rotation.T @ jnp.asarray(velocity)])
    return rest_state(model)._replace(base_pose=pose, base_twist=twist)


GROUND = ground()
# How deep the nodes are at rest if each bears its share of the weight: k (d - onset / 2) = share.
SUNK = MASS * G / NODES / STIFFNESS + 0.5 * ONSET


# --- At rest


@pytest.mark.parametrize("keep", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_dropped_body_comes_to_rest_on_its_weight(body, keep):
    seen = run(body, lifted(body, 0.02), GROUND, every=10, keep=keep)
    # Hunt and Crossley's damping of the last ripples has the coefficient c f: rates above c g / 2 = 10 / s make
    # exp(-36) of them in the 3.6 s after the fall.
    np.testing.assert_allclose(seen["force"][-1].sum(0), [0.0, 0.0, MASS * G], rtol=0, atol=1e-6 * MASS * G)
    # Nothing is left over, neither force nor moment, and nothing moves.
    np.testing.assert_allclose(seen["wrench"][-1], 0.0, atol=1e-6 * MASS * G)
    np.testing.assert_allclose(seen["momentum"][-1], 0.0, atol=1e-6 * MASS)
    assert np.count_nonzero(seen["depth"][-1] > 0.0) >= 2


def test_without_shapes_it_falls(body):
    seen = run(body, lifted(body, 0.01), ground(-100.0), every=4)
    expected = np.array([0.0, 0.0, -MASS * G * ROWS * 4 * 2e-3])
    np.testing.assert_allclose(seen["momentum"][-1, 3:], expected, rtol=1e-9, atol=1e-9)
    assert np.all(seen["force"] == 0.0)


# --- Friction


def on_a_slope(body, degrees):
    """The body under gravity as on a slope that falls towards x."""
    angle = np.radians(degrees)
    gravity = G * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    return eqx.tree_at(lambda robot: robot.gravity, body, jnp.asarray(gravity))


@pytest.mark.parametrize("degrees", [5.0, 20.0, 26.0])
def test_below_the_friction_angle_it_creeps_as_the_law_says(body, degrees):
    seen = run(on_a_slope(body, degrees), lifted(body, -SUNK), GROUND, every=5)
    share = np.tan(np.radians(degrees)) / FRICTION
    creep = SLIP * share / np.sqrt(1.0 - share**2)
    speed = seen["momentum"][:, 3] / MASS
    # Steady after some v / (mu g) = 2 ms / (1 - share^2)^1.5 and the ripples of the landing.
    assert speed[-1] == pytest.approx(creep, rel=1e-4)
    np.testing.assert_allclose(seen["momentum"][-1, 4:] / MASS, 0.0, atol=1e-4 * creep)


def test_above_the_friction_angle_it_slides(body):
    angle = np.radians(40.0)
    seen = run(on_a_slope(body, 40.0), lifted(body, -SUNK), GROUND, every=2)
    speed = seen["momentum"][:, 3] / MASS
    some = np.searchsorted(speed, [0.5, 1.5])
    seconds = (some[1] - some[0]) * 2 * 2e-3
    # The normal impulse is the weight's, less what it changed of the momentum across.
    across = np.diff(seen["momentum"][some, 5])[0] / MASS
    expected = G * np.sin(angle) - FRICTION * (G * np.cos(angle) + across / seconds)
    found = np.diff(speed[some])[0] / seconds
    # Friction is v^2 / (2 u^2) short of mu N: 2e-4 at 0.5 m/s, less than 1e-4 on the way to 1.5.
    assert found == pytest.approx(expected, abs=1e-4 * FRICTION * G + 1e-6)
    assert found > 2.0


def test_a_moving_plane_drags_it_along(body):
    belt = ground(velocity=(0.5, 0.0, 0.0))
    seen = run(body, lifted(body, -SUNK), belt, every=5)
    speed = seen["momentum"][:, 3] / MASS
    # Slip is above 0.3 m/s for the first 40 ms: friction is mu N within 6e-4, the normal impulse the weight's and what
    # it gave to the momentum across.
    i = 3
    normal = G * (i + 1) * 10e-3 + seen["momentum"][i, 5] / MASS
    assert speed[i] == pytest.approx(FRICTION * normal, rel=6e-4)
    # At the end it goes with the plane, and what is left of the rocking has died out in 2 s.
    assert speed[-1] == pytest.approx(0.5, rel=1e-6)


# --- Bounces


def bounce(body, stiffness, damping, dt, keep):
    contact = law(stiffness, damping)
    return run(body, lifted(body, 1e-3, (0.0, 0.0, -0.5)), GROUND, contact=contact, dt=dt, keep=keep)


@pytest.mark.parametrize(
    ("stiffness", "damping", "dt", "keep"),
    [
        *[(k, c, dt, False) for k in (2e3, 2e5) for c in (0.0, 2.0) for dt in (1e-3, 5e-3)],
        *[(2e3, c, 1e-3, True) for c in (0.0, 2.0)],
        # Where momentum is kept by an impulse from the ends of a step, stiff contact must not throw the body off.
        *[(2e5, c, dt, True) for c in (0.0, 2.0) for dt in (1e-3, 5e-3)],
    ],
)
def test_energy_never_grows_in_a_bounce(body, stiffness, damping, dt, keep):
    seen = bounce(body, stiffness, damping, dt, keep)
    start = 0.5 * MASS * 0.5**2 + MASS * G * (1e-3 + RADIUS)
    # In the air, from one moment to the next and from flight to flight, it falls.
    flying = seen["energy"][np.all(seen["depth"] == 0.0, -1)]
    assert len(flying) >= 5
    assert np.all(np.diff(flying) < 0.0)
    assert flying[0] < start * (1.0 + 1e-14)
    # Where steps resolve the touch, ten to a swing, also the energy of contact counts, to the step's own error.
    if stiffness * dt**2 < 1e-2:
        assert seen["energy"].max() < start * (1.0 + 1e-3)
    assert seen["energy"][-1] < start


@pytest.mark.parametrize("stiffness", [2e3, 2e4, 2e5])
def test_penetration_is_what_stiffness_and_energy_allow(body, stiffness):
    seen = bounce(body, stiffness, 0.0, 2e-4, False)
    # Nothing is damped: all the energy there is in one node, k (d^2 / 2 - onset d / 2) <= m V^2 / 2 + m g (h + d).
    available = 0.5 * MASS * 0.5**2 + MASS * G * 3e-3
    most = 0.5 * ONSET + np.sqrt(0.25 * ONSET**2 + 2.0 * available / stiffness)
    deepest = seen["depth"].max()
    # And it is a good part of that: as much as if all nodes shared the blow, and half a node's more.
    assert most / np.sqrt(2.0 * NODES) < deepest + ONSET
    assert deepest < most


def test_steps_of_different_size_agree(body):
    # Lands flat and slides, on ground so soft that 5 ms resolve it: contact swings with some 120 rad/s.
    start, soft = lifted(body, 1e-3, (0.3, 0.0, -0.2)), law(200.0, 1.0)

    def path(dt):
        """Where the base is and how the arm is bent, every 10 ms."""
        every = max(1, round(1e-3 / dt))
        state = run(body, start, GROUND, contact=soft, dt=dt, every=every)["state"]
        seen = np.concatenate([state.base_pose.position, 0.05 * state.q.reshape(ROWS, -1)], -1)
        apart = round(10e-3 / (every * dt))
        return seen[apart - 1 :: apart][:20]

    reference = path(1e-4)
    steps = np.array([5e-4, 1e-3, 2e-3, 5e-3])
    errors = [np.abs(path(dt) - reference).max() for dt in steps]
    slope, _ = np.polyfit(np.log(steps), np.log(errors), 1)
    # Where a node touches down within a step changes each error by a factor of 2 either way, the slope over a factor of
    # ten in the step by ln 4 / ln 10 / 2 = 0.3.
    assert slope > SDIRK2.order - 0.3
    assert errors[1] < 1e-3
    assert errors[3] < 1e-2
