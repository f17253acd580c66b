"""The muscular arm in water as a whole: how it sinks, what drag may do, mirrored commands, rest, full activation."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.control.base import Constant
from hydrostat.control.commands import Bend, Elongate, Reach
from hydrostat.lie import so3
from hydrostat.mechanics.model import GRAVITY
from hydrostat.mechanics.robot import single_arm
from hydrostat.robots.build import build_arm, build_robot
from hydrostat.robots.spec import BaseSpec
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.simulation import simulate
from hydrostat.stepping import SDIRK2
from hydrostat.surroundings import Water
from hydrostat.surroundings.water import DENSITY, NORMAL, TANGENTIAL
from hydrostat.system import Control, System

COUNT = 6
SPEC = octopus_arm(COUNT)
HEAVY = System(build_robot(SPEC), [Water()])
NEUTRAL = System(build_robot(replace(SPEC, material=replace(SPEC.material, density=DENSITY))), [Water()])
DT, STEPS = 5e-3, 60
RADIUS = 4e-3


def moved_by(system, controller=None, state=None):
    return simulate(system, controller, DT * STEPS, DT, state=state)


def seen_from_base(rows):
    """The ends of the segments in the axes of the base [m]."""
    return np.asarray(rows.points) @ np.asarray(rows.system.robot.T_world_body.rotation)


def moving(seed):
    """A bent and stretched arm that moves, no muscle active."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(COUNT, 3)) * [8.0, 8.0, 0.1]
    v = rng.normal(size=(COUNT, 3)) * [20.0, 20.0, 0.5]
    return NEUTRAL.rest(q, v)


def cylinder(axis, rigid):
    """A rod of four segments, on a base that is free and has no mass of its own."""
    spec = octopus_arm(4)
    segments = tuple(replace(segment, radius=(RADIUS, RADIUS)) for segment in spec.segments)
    arm = build_arm(replace(spec, base=BaseSpec(position=(0.0, 0.0, 0.0), axis=axis), segments=segments))
    robot = single_arm(arm, free_base=True)
    if rigid:
        robot = eqx.tree_at(lambda robot: robot.arms.arm.segments.free, robot, jnp.zeros((4, 3), bool))
    return System(robot, [Water()])


@pytest.mark.parametrize("rigid", [True, False])
@pytest.mark.parametrize(
    "axis, coefficient", [((1.0, 0.0, 0.0), np.pi / NORMAL / 2), ((0.0, 0.0, 1.0), 0.5 / TANGENTIAL)]
)
def test_a_cylinder_sinks_with_its_terminal_velocity_and_keeps_its_direction(axis, coefficient, rigid):
    # Weight less buoyancy against drag: v^2 = pi d (rho / rho_w - 1) g / (2 C_n) across, d (...) g / (2 C_t) along.
    speed = np.sqrt(coefficient * 2 * RADIUS * (SPEC.material.density / DENSITY - 1.0) * -GRAVITY[2])
    rows = simulate(cylinder(axis, rigid), None, 8.0, 0.02, stepper=SDIRK2(tolerance=1e-10))
    pose, twist = rows.state.base_pose, np.asarray(rows.state.base_twist)
    turned, fallen = np.asarray(pose.rotation), np.asarray(pose.position)
    # The speed approaches it as tanh(t / tau), tau its ratio to g (1 - rho_w / rho): 8 s are 8.7 tau along the axis,
    # which leave 2 exp(-17.4), some 6e-8, and more across it.
    np.testing.assert_allclose(turned[-1] @ twist[-1, 3:], [0.0, 0.0, -speed], rtol=0, atol=1e-6 * speed)
    # Nothing turns it or drives it sideways: drag acts in the middles of its segments, as weight and buoyancy do.
    np.testing.assert_allclose(turned, np.broadcast_to(turned[0], turned.shape), rtol=0, atol=1e-8)
    np.testing.assert_allclose(fallen[:, :2], 0.0, rtol=0, atol=1e-8)


def test_drag_of_still_water_takes_energy_from_a_passive_arm_at_every_step():
    for seed in range(3):
        rows = moved_by(NEUTRAL, state=moving(seed))
        assert np.all(np.diff(np.asarray(rows.energy().total)) < 0.0)
        assert np.all(np.asarray(rows.power())[1:] < 0.0)


def bend(azimuth):
    return Bend(0.2, 9.0, 0.05, 0.5, azimuth)


def reach(azimuth):
    return Reach(azimuth, duration=0.3, prepare=0.15)


@pytest.mark.parametrize("make", [bend, reach])
def test_turned_commands_turn_the_motion(make):
    zero = seen_from_base(moved_by(NEUTRAL, make(0.0)))
    assert np.max(np.abs(zero[..., 0])) > 5e-3
    assert np.max(np.abs(zero[..., 1])) < 1e-12
    for angle in (0.5 * np.pi, np.pi, 1.5 * np.pi):
        turn = np.asarray(so3.exp(jnp.array([0.0, 0.0, angle])))
        other = seen_from_base(moved_by(NEUTRAL, make(angle)))
        np.testing.assert_allclose(other, zero @ turn.T, rtol=0, atol=1e-10)


def test_commands_mirrored_in_the_plane_of_the_weight_mirror_the_motion():
    # The weight is along the base's x axis; y is sideways.
    one, other = (seen_from_base(moved_by(HEAVY, bend(a))) for a in (np.pi / 3, -np.pi / 3))
    assert np.max(np.abs(one[..., 1])) > 5e-3
    np.testing.assert_allclose(other, one * [1.0, -1.0, 1.0], rtol=0, atol=1e-10)


def test_a_neutrally_buoyant_arm_at_rest_stays_at_rest():
    rows = moved_by(NEUTRAL)
    # Weight and buoyancy cancel but for rounding, some 1e-16 of 9.81 m/s^2 over the arm, which bends it as little.
    np.testing.assert_allclose(rows.state.q, 0.0, rtol=0, atol=1e-11)


def test_an_arm_that_elongates_without_weight_stays_straight():
    # Activated by 0.4 it would buckle, and rounding is enough to begin with.
    rows = moved_by(NEUTRAL, Elongate(0.3, 9.0))
    np.testing.assert_allclose(rows.state.q[..., :2], 0.0, rtol=0, atol=1e-9)
    assert np.asarray(rows.state.q)[-1, :, 2].min() > 0.4


def test_an_arm_heavier_than_water_sinks_by_its_weight_less_buoyancy():
    # Of as many segments that the tip does not feel yet that the base is held.
    rows = moved_by(System(build_robot(octopus_arm()), [Water()]))
    tip = np.asarray(rows.tip)
    fallen = 0.5 * 9.81 * (1.0 - DENSITY / SPEC.material.density) * np.asarray(rows.time) ** 2
    assert np.all(-tip[1:, 2] < fallen[1:])
    np.testing.assert_allclose(tip[1:4, 2], -fallen[1:4], rtol=0.02)  # neither stiffness nor drag is felt yet
    assert np.all(np.diff(tip[:, 2]) < 0.0)


@pytest.mark.parametrize("side", [(1.0, 0.0, 0.0, 0.0), (0.9, 0.4, 0.0, 0.0), (0.0, 0.0, 1.0, 1.0)])
def test_a_bent_arm_at_full_activation_is_stepped_with_few_iterations(side):
    activation = jnp.broadcast_to(jnp.array([*side, 1.0]), (COUNT, 5))
    rows = moved_by(HEAVY, Constant(Control(activation=activation)))
    q = np.asarray(rows.state.q)
    bends = np.asarray(HEAVY.robot.arm.segments.scale) * np.hypot(q[..., 0], q[..., 1])
    assert np.all(np.isfinite(q))
    assert bends[-1].max() > 1.0
    assert np.asarray(rows.iterations)[1:].mean() < 60.0
