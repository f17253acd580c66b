"""What the sea does to the body of an octopus."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.mechanics import dynamics
from hydrostat.mechanics.model import no_inputs
from hydrostat.mechanics.motion import Coordinates
from hydrostat.mechanics.nodes import Nodes
from hydrostat.robots.build_limbed import crown_model
from hydrostat.robots.octopus import octopus
from hydrostat.surroundings import ContactLaw, Water
from hydrostat.surroundings.floor import floor
from hydrostat.surroundings.sea import Mantle, OnMantle

RADIUS, HEIGHT = 0.03, 0.0295
LAW = ContactLaw(stiffness=50.0, damping=20.0, friction=0.5, slip_speed=0.005)
MANTLE, WATER = Mantle(RADIUS), Water(current=(0.02, 0.0, 0.0))
POSITION = np.array([0.1, 0.2, HEIGHT])
TWIST = np.array([0.3, -0.2, 0.1, 0.11, -0.05, -0.02])
"""Angular and linear velocity in world axes."""


def _body(twist) -> Nodes:
    zero = jnp.zeros(1)
    return Nodes(jnp.asarray(POSITION)[None], twist[None, 3:], twist[None, :3], jnp.zeros((1, 3)), zero, zero)


def _sea(ground: bool) -> OnMantle:
    at = _body(jnp.asarray(TWIST))._replace(radius=jnp.array([RADIUS]))
    return OnMantle(MANTLE, WATER, floor(LAW, jnp.zeros(()), at) if ground else None, jnp.zeros(3))


def test_drag_is_that_of_a_ball():
    flow = np.array([0.02, 0.0, 0.0]) - TWIST[3:]
    expected = 0.5 * 1022.0 * 0.47 * np.pi * RADIUS**2 * np.linalg.norm(flow) * flow
    found = _sea(ground=False).on_body(_body(jnp.asarray(TWIST)))
    np.testing.assert_allclose(found.force[0], expected, rtol=1e-12)
    np.testing.assert_array_equal(found.torque, 0.0)


@pytest.mark.parametrize("ground", [False, True])
def test_damping_is_the_derivative(ground):
    sea = _sea(ground)

    def wrench(twist):
        found = sea.on_body(_body(twist))
        return jnp.concatenate([found.torque[0], found.force[0]])

    found = sea.on_body(_body(jnp.asarray(TWIST)))
    np.testing.assert_allclose(-jax.jacfwd(wrench)(jnp.asarray(TWIST)), found.damping[0], atol=1e-9)
    lift = found.force[0, 2] - _sea(ground=False).on_body(_body(jnp.asarray(TWIST))).force[0, 2]
    assert (float(lift) > 1e-3) == ground


def test_the_body_feels_it():
    """The forces that the motion of the body lacks are those of the sea, in the body's axes, the other way round."""
    model = crown_model(octopus(2, 2), points=1, skin_points=1)
    sea = _sea(ground=True)
    turned = jnp.asarray([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    pose = type(model.T_world_body)(turned, jnp.asarray(POSITION))
    zero = Coordinates(jnp.zeros_like(no_inputs(model).torque), jnp.zeros(6))
    own = np.concatenate([turned.T @ TWIST[:3], turned.T @ TWIST[3:]])
    moving = zero._replace(base=jnp.asarray(own))
    given = no_inputs(model)._replace(base_pose=pose)
    without, felt = (
        dynamics.residual(model, zero, moving, zero, given._replace(surroundings=around)).base for around in (None, sea)
    )
    there = sea.on_body(_body(jnp.asarray(TWIST)))
    expected = np.concatenate([turned.T @ there.torque[0], turned.T @ there.force[0]])
    np.testing.assert_allclose(without - felt, expected, rtol=1e-9, atol=1e-12)
