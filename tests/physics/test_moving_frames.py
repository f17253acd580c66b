"""An arm on a base that accelerates, pushes that come suddenly, and the same motion seen from somewhere else."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from rollouts import TURNED, orders, path, roll, soft_arm, some_state

from hydrostat.lie import SE3, so3
from hydrostat.mechanics.dynamics import accelerations
from hydrostat.mechanics.robot import no_inputs, single_arm
from hydrostat.mechanics.state import positions, rest_state, velocities
from hydrostat.stepping import RK4, SDIRK2

GRAVITY = jnp.array([1.0, -2.0, -9.0])
PUSH = jnp.array([3.0, 4.0, -2.0])
SECONDS = 0.1
PRECISE = SDIRK2(tolerance=1e-13)


class PushedOff(eqx.Module):
    """A base that is at rest at first and accelerates evenly."""

    acceleration: jnp.ndarray

    def __call__(self, time, state, model):
        R = model.T_world_body.rotation
        shift = 0.5 * time**2 * self.acceleration
        zero = jnp.zeros(3)
        return no_inputs(model)._replace(
            base_pose=SE3(R, model.T_world_body.position + shift),
            base_twist=jnp.concatenate([zero, R.T @ (time * self.acceleration)]),
            base_acceleration=jnp.concatenate([zero, R.T @ self.acceleration]),
        )


def test_an_accelerating_base_is_felt_as_weight():
    """Einstein's lift: in the frame of the base, gravity is less by the acceleration."""
    carried = single_arm(soft_arm(), points=3, gravity=GRAVITY)
    lifted = single_arm(soft_arm(), points=3, gravity=GRAVITY - PUSH)
    start = some_state(carried, 2)
    moved = roll(carried, PRECISE, start, SECONDS, 200, PushedOff(PUSH))
    felt = roll(lifted, PRECISE, start, SECONDS, 200, PushedOff(0.0 * PUSH))
    unmoved = roll(carried, PRECISE, start, SECONDS, 200, PushedOff(0.0 * PUSH))
    # Rounding, and the tolerance of the iteration, over 200 steps.
    assert np.asarray(moved.q) == pytest.approx(np.asarray(felt.q), abs=1e-10)
    assert np.max(np.abs(unmoved.q - felt.q)) > 1e-2


class Turntable(eqx.Module):
    """A base that turns evenly about its own axis."""

    speed: jnp.ndarray
    """About the base's z [rad/s]."""

    def __call__(self, time, state, model):
        zero = jnp.zeros(3)
        turn = so3.exp(jnp.array([0.0, 0.0, 1.0]) * self.speed * time)
        return no_inputs(model)._replace(
            base_pose=SE3(model.T_world_body.rotation @ turn, model.T_world_body.position),
            base_twist=jnp.concatenate([jnp.array([0.0, 0.0, 1.0]) * self.speed, zero]),
            base_acceleration=jnp.zeros(6),
        )


def test_a_turning_base_drives_as_a_heavy_free_one_does():
    """A body ten million times heavier than the arm turns on evenly: prescribed and free base must agree."""
    arm = soft_arm()
    table = single_arm(arm, points=3, gravity=(0.0, 0.0, 0.0))
    heavy = single_arm(arm, points=3, gravity=(0.0, 0.0, 0.0), free_base=True, base_mass=1e7, base_inertia=1e7)
    speed = 12.0
    start = some_state(table, 3)
    prescribed = roll(table, RK4(), start, SECONDS, 200, Turntable(jnp.asarray(speed)))
    twist = jnp.array([0.0, 0.0, speed, 0.0, 0.0, 0.0])
    free = roll(heavy, RK4(), start._replace(base_twist=twist), SECONDS, 200)
    still = roll(table, RK4(), start, SECONDS, 200, Turntable(jnp.asarray(0.0)))
    assert np.max(np.abs(free.q - still.q)) > 1e-2
    # The arm, of some 0.3 kg, shifts the body by that share of its own motion; RK4 treats the two bases differently,
    # each to its order.
    assert np.asarray(prescribed.q) == pytest.approx(np.asarray(free.q), abs=1e-5)


class Tap(eqx.Module):
    """A push on the tip that swells and fades within a short time; its impulse is given."""

    impulse: jnp.ndarray
    middle: jnp.ndarray
    width: jnp.ndarray

    def __call__(self, time, state, model):
        phase = (time - self.middle) / self.width
        bump = jnp.where(jnp.abs(phase) < 0.5, (1.0 + jnp.cos(2.0 * jnp.pi * phase)) / self.width, 0.0)
        return no_inputs(model)._replace(force=(bump * self.impulse)[None])


def test_a_short_push_is_an_impulse():
    model = single_arm(soft_arm(), points=3, gravity=GRAVITY, lumps=[(1.0, 0.05, 1e-4)], load_places=[1.0])
    # So small that the response is linear in it: what a large push does while it lasts is of first order in its width.
    impulse = 1e-4 * jnp.array([0.01, 0.02, -0.01, 2.0, -1.0, 3.0])
    still = no_inputs(model)
    start, middle, steps = rest_state(model), 0.02, 1000

    def pushed(state, impulse, width, seconds, steps):
        """Where the arm is in the end; all of these share their steps, and so the steps' errors."""
        tap = Tap(impulse, jnp.asarray(middle), jnp.asarray(width))
        return roll(model, PRECISE, state, seconds, steps, tap)

    # Without the push until its middle; then the velocities jump by M^-1 J^T times the impulse.
    state = pushed(start, 0.0 * impulse, 1.0, middle, steps // 5)
    x, v = positions(state), velocities(state)
    forward = eqx.filter_jit(accelerations)
    jump = forward(model, x, v, still._replace(force=impulse[None])).q - forward(model, x, v, still).q
    exact = pushed(state._replace(v=state.v + jump), 0.0 * impulse, 1.0, SECONDS - middle, steps * 4 // 5).q

    errors = [np.max(np.abs(pushed(start, impulse, width, SECONDS, steps).q - exact)) for width in (0.008, 0.004)]
    # A push that is even about its middle differs from an impulse by the square of its width.
    assert orders(errors)[0] == pytest.approx(2.0, abs=0.1)
    unpushed = pushed(start, 0.0 * impulse, 1.0, SECONDS, steps).q
    assert errors[-1] < 0.02 * np.max(np.abs(exact - unpushed))


@pytest.mark.parametrize("free_base", [False, True])
def test_a_rollout_is_the_same_seen_from_anywhere(free_base):
    move = SE3(so3.exp(jnp.array([0.3, -1.2, 2.0])), jnp.array([0.4, -3.0, 1.0]))
    load = jnp.array([0.02, 0.01, -0.03, 0.2, -0.1, 0.3])

    def world(shift):
        turned = jnp.concatenate([shift.rotation @ load[:3], shift.rotation @ load[3:]])
        model = single_arm(
            soft_arm(base=shift @ TURNED, viscosity=50.0),
            points=3,
            gravity=shift.rotation @ GRAVITY,
            load_places=[0.7],
            free_base=free_base,
            base_mass=0.3,
            base_inertia=1e-3,
        )
        return path(model, PRECISE, some_state(model, 5), SECONDS, 100, Dead(turned))

    here, there = world(SE3.identity()), world(move)
    # Rounding, a hundred steps long.
    assert np.asarray(there.q) == pytest.approx(np.asarray(here.q), abs=1e-10)
    if free_base:
        expected = move.rotation @ here.base_pose.position[-1] + move.position
        assert np.asarray(there.base_pose.position[-1]) == pytest.approx(np.asarray(expected), abs=1e-11)
        assert np.asarray(there.base_twist) == pytest.approx(np.asarray(here.base_twist), abs=1e-9)
        assert np.linalg.norm(here.base_pose.position[-1] - here.base_pose.position[0]) > 0.01


class Dead(eqx.Module):
    """A dead load."""

    load: jnp.ndarray

    def __call__(self, time, state, model):
        return no_inputs(model)._replace(force=self.load[None])
