"""The muscular arm in water as a whole: how it sinks, what drag may do, mirrored commands, rest, full activation."""

from dataclasses import replace
from types import SimpleNamespace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from hydrostat.control.nerves import Played, played
from hydrostat.robots.mechanical import robot_model

from hydrostat.control.commands import Bend, Elongate, Reach
from hydrostat.lie import so3
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.dynamics import Coordinates, accelerations
from hydrostat.mechanics.energy import energy, power
from hydrostat.mechanics.model import GRAVITY, no_inputs
from hydrostat.robots.build import build_robot
from hydrostat.robots.spec import BaseSpec
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.scenarios.arm import hydrostat, nerves, stepper
from hydrostat.stepping import Simulation, rest_state
from hydrostat.stepping.base import positions, velocities
from hydrostat.surroundings.water import DENSITY, NORMAL, TANGENTIAL, Water

SPEC = octopus_arm()
SETTINGS = SimpleNamespace(drag=True, volume="exact")
HEAVY = hydrostat(SPEC, SETTINGS)
NEUTRAL = hydrostat(replace(SPEC, material=replace(SPEC.material, density=DENSITY)), SETTINGS)
DT, STEPS = 5e-3, 60
RADIUS = 4e-3


def moved_by(arm, brain, state=None):
    """The motion, all of it by the same compiled function."""
    return Simulation(arm.model, DT, stepper()).run(DT * STEPS, nerves(arm, brain), state)


def commanded(arm, command):
    return moved_by(arm, played(command, arm.anatomy, DT * jnp.arange(STEPS), DT))


def held(activation):
    """The same activations all the time."""
    return Played(jnp.broadcast_to(jnp.asarray(activation, float), (STEPS, 20, 5)), jnp.zeros((STEPS, 20)))


PASSIVE = held(0.0)


@eqx.filter_jit
def plates(arm, q):
    return eqx.filter_vmap(lambda q: kinematics.segment_poses(arm, q).position)(q)


def seen_from_base(arm, rows):
    """The plates in the axes of the base [m]."""
    return np.asarray(plates(arm.model.arm, jnp.asarray(rows.state.q))) @ np.asarray(arm.model.T_world_body.rotation)


@eqx.filter_jit
def stored_and_given(model, state):
    x, v = positions(state), velocities(state)
    return energy(model, x, v, no_inputs(model)).total, power(model, x, v, no_inputs(model))


def moving(seed):
    """A bent and stretched arm that moves, no muscle active."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(20, 3)) * [20.0, 20.0, 0.1]
    v = rng.normal(size=(20, 3)) * [60.0, 60.0, 0.5]
    return rest_state(NEUTRAL.model)._replace(q=jnp.asarray(q), v=jnp.asarray(v))


def cylinder(axis):
    """A rigid rod on a base that is free, and a flywheel without mass: drag at the segments' ends does not turn it."""
    spec = octopus_arm(4)
    segments = tuple(replace(segment, radius=(RADIUS, RADIUS)) for segment in spec.segments)
    robot = build_robot(replace(spec, base=BaseSpec(position=(0.0, 0.0, 0.0), axis=axis), segments=segments))
    gravity = np.array(GRAVITY) * (1.0 - DENSITY / spec.material.density)
    water = {"skin_points": 1, "surroundings": Water()}
    model = robot_model(robot, gravity=gravity, points=1, free_base=True, base_inertia=1e9, **water)
    return eqx.tree_at(lambda model: model.arm.segments.free, model, jnp.zeros((4, 3), bool))


@eqx.filter_jit
def base_acceleration(model, twist):
    still = jnp.zeros((4, 3))
    return accelerations(model, Coordinates(still, jnp.zeros(6)), Coordinates(still, twist), no_inputs(model)).base


@pytest.mark.parametrize(
    "axis, coefficient", [((1.0, 0.0, 0.0), np.pi / NORMAL / 2), ((0.0, 0.0, 1.0), 0.5 / TANGENTIAL)]
)
def test_a_stiff_cylinder_sinks_with_its_terminal_velocity(axis, coefficient):
    # Weight less buoyancy against drag: v^2 = pi d (rho / rho_w - 1) g / (2 C_n) across, d (...) g / (2 C_t) along.
    # Water is felt at the segments' ends, each for half a segment to either side: not by the first half of the first.
    model = cylinder(axis)
    felt = 1.0 - 0.5 / 4
    speed = np.sqrt(coefficient / felt * 2 * RADIUS * (SPEC.material.density / DENSITY - 1.0) * -GRAVITY[2])
    turned = np.asarray(model.T_world_body.rotation)
    twist, dt = jnp.zeros(6), 0.1 * speed / -float(model.gravity[2])
    for _ in range(200):
        twist = twist + dt * base_acceleration(model, twist)
    np.testing.assert_allclose(turned @ np.asarray(twist)[3:], [0.0, 0.0, -speed], rtol=0, atol=1e-9 * speed)


def test_drag_of_still_water_only_takes_energy_from_an_arm():
    for seed in range(30):
        assert float(stored_and_given(NEUTRAL.model, moving(seed))[1]) < 0.0


def test_a_passive_arm_in_still_water_loses_energy_at_every_step():
    rows = moved_by(NEUTRAL, PASSIVE, moving(1))
    each = [stored_and_given(NEUTRAL.model, rest_state(NEUTRAL.model)._replace(q=q, v=v))
            for q, v in zip(jnp.asarray(rows.state.q), jnp.asarray(rows.state.v), strict=True)]  # fmt: skip
    stored, given = np.asarray(each).T
    assert np.all(np.diff(stored) < 0.0)
    assert np.all(given < 0.0)


@pytest.mark.parametrize("make", [lambda a: Bend(0.2, 9.0, 0.05, 0.5, a), lambda a: Reach(0.3, 0.15, a)])
def test_turned_commands_turn_the_motion(make):
    zero = seen_from_base(NEUTRAL, commanded(NEUTRAL, make(0.0)))
    assert np.max(np.abs(zero[..., 0])) > 5e-3
    assert np.max(np.abs(zero[..., 1])) < 1e-12
    for angle in (90.0, 180.0, 270.0):
        turn = np.asarray(so3.exp(jnp.array([0.0, 0.0, np.deg2rad(angle)])))
        other = seen_from_base(NEUTRAL, commanded(NEUTRAL, make(angle)))
        np.testing.assert_allclose(other, zero @ turn.T, rtol=0, atol=1e-10)


def test_commands_mirrored_in_the_plane_of_the_weight_mirror_the_motion():
    # The weight is along the base's x axis; y is sideways.
    one, other = (seen_from_base(HEAVY, commanded(HEAVY, Bend(0.2, 9.0, 0.05, 0.5, a))) for a in (60.0, -60.0))
    assert np.max(np.abs(one[..., 1])) > 5e-3
    np.testing.assert_allclose(other, one * [1.0, -1.0, 1.0], rtol=0, atol=1e-10)


def test_a_neutrally_buoyant_arm_at_rest_stays_at_rest():
    rows = moved_by(NEUTRAL, PASSIVE)
    assert not np.any(rows.state.q)
    assert not np.any(rows.state.v)


def test_an_arm_that_elongates_without_weight_stays_straight():
    rows = commanded(NEUTRAL, Elongate(0.4, 9.0))
    assert not np.any(rows.state.q[..., :2])
    assert rows.state.q[-1, :, 2].min() > 1.0


def test_an_arm_heavier_than_water_sinks_by_its_weight_less_buoyancy():
    np.testing.assert_allclose(HEAVY.model.gravity, [0.0, 0.0, -0.188291747], atol=1e-9)
    rows = moved_by(HEAVY, PASSIVE)
    tip = np.asarray(plates(HEAVY.model.arm, jnp.asarray(rows.state.q)))[:, -1]
    fallen = 0.5 * 0.188291747 * rows.time**2
    assert np.all(-tip[1:, 2] < fallen[1:])
    np.testing.assert_allclose(tip[1:4, 2], -fallen[1:4], rtol=0.02)  # neither stiffness nor drag is felt yet
    assert np.all(np.diff(tip[:, 2]) < 0.0)


@pytest.mark.parametrize("side", [(1.0, 0.0, 0.0, 0.0), (0.9, 0.4, 0.0, 0.0), (0.0, 0.0, 1.0, 1.0)])
def test_a_bent_arm_at_full_activation_is_stepped_with_few_iterations(side):
    rows = moved_by(HEAVY, held([*side, 1.0]))
    bends = 0.012 * np.hypot(rows.state.q[..., 0], rows.state.q[..., 1])
    assert np.all(np.isfinite(rows.state.q))
    assert bends[-1].max() > 1.0
    assert rows.iterations[1:].mean() < 60.0
