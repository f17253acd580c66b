"""Flow nodes: where forces act that are distributed along an arm, how exact their sums are, and their damping."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from hydrostat.bodies import Arm, Material, Section
from hydrostat.lie import SE3
from hydrostat.mechanics.dynamics import Coordinates, factor, residual, solve
from hydrostat.mechanics.energy import external_wrench, power
from hydrostat.mechanics.motion import like_coordinates
from hydrostat.mechanics.robot import no_inputs, single_arm
from hydrostat.mechanics.state import nodes_of, rest_state
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus import octopus
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.segments import StewartSegment, StrainSegment, StrutSegment
from hydrostat.segments.strain import MODES
from hydrostat.segments.swelling import SwellingSegment
from hydrostat.stepping.step import step
from hydrostat.surroundings import Water
from hydrostat.surroundings.base import OnBody, Together
from hydrostat.surroundings.jet import Push
from hydrostat.surroundings.water import DENSITY, NORMAL
from hydrostat.system import System

LENGTH, RATE = 0.4, 3.0


def an_arm(count, radii=(0.01, 0.01), segment=StrainSegment, **options):
    radius = jnp.linspace(*radii, count + 1)
    length = jnp.full(count, LENGTH / count)
    segments = StewartSegment(length, radius[:-1], radius[1:] / radius[:-1]) if segment is StewartSegment else segment(
        length, **options
    )  # fmt: skip
    material = Material(*(jnp.full(count, value) for value in (1e5, 0.4, 1100.0, 0.0)))
    return Arm(segments, Section(radius[:-1], radius[1:]), material, SE3.identity())


@eqx.filter_jit
def wrench_of_water(robot, base_twist):
    """Drag on the straight arm about its base, which moves so."""
    given = no_inputs(robot, Water())._replace(base_twist=base_twist)
    return external_wrench(robot, like_coordinates(robot), like_coordinates(robot), given)[0]


@pytest.mark.parametrize("count", [4, 8])
def test_the_drag_of_a_turning_rod_is_of_second_order(count):
    robot = single_arm(an_arm(count), points=1, gravity=(0.0, 0.0, 0.0))
    torque = wrench_of_water(robot, jnp.array([RATE, 0.0, 0.0, 0.0, 0.0, 0.0]))[0]
    exact = -0.5 * DENSITY * 0.02 * NORMAL * RATE**2 * LENGTH**4 / 4
    # The midpoint rule of r^3 over n pieces is L^4 / 4 (1 - 1 / (2 n^2)).
    assert float(torque) / exact == pytest.approx(1.0 - 0.5 / count**2, rel=1e-12)


def test_water_resists_a_strut_of_a_muscular_arm_that_turns_about_its_end():
    # With one node in its middle it would take half of the power, and none where it turns about its middle.
    robot = build_robot(octopus_arm(6))
    arm, rate = robot.one.arm, 40.0
    section, height = arm.section, float(arm.segments.length[-1])
    v = jnp.zeros_like(robot.one.stiffness).at[-2, arm.segments.modes.index("bend_x")].set(rate / height)
    x, v = like_coordinates(robot), like_coordinates(robot)._replace(q=v)
    taken = power(robot, x, v, no_inputs(robot, Water()))
    # The radius is linear along the strut and the power per length goes with r s^3: of s^3 two points have the exact
    # 1/4, of s^4 they have 7/36 instead of 1/5.
    near, far = float(section.radius_base[-1]), float(section.radius_tip[-1])
    summed = -DENSITY * NORMAL * rate**3 * height**4 * (near / 4 + (far - near) * 7 / 36)
    assert float(taken) == pytest.approx(summed, rel=1e-9)


def test_the_drag_of_a_turning_rod_is_exact_at_two_points():
    robot = single_arm(an_arm(2), points=2, gravity=(0.0, 0.0, 0.0))
    torque = wrench_of_water(robot, jnp.array([RATE, 0.0, 0.0, 0.0, 0.0, 0.0]))[0]
    assert float(torque) == pytest.approx(-0.5 * DENSITY * 0.02 * NORMAL * RATE**2 * LENGTH**4 / 4, rel=1e-12)


def test_the_terminal_speed_of_a_tapered_arm_is_of_second_order():
    # Weight follows the square of the radius and drag the radius: v^2 is their ratio.
    base, tip, errors = 0.02, 0.004, []
    exact = np.sqrt((base**2 + base * tip + tip**2) / 3 / (0.5 * (base + tip)))
    for count in (4, 8, 16):
        robot = single_arm(an_arm(count, (base, tip)), points=1, gravity=(0.0, 0.0, 0.0))
        drag = -float(wrench_of_water(robot, jnp.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]))[3])
        mass = float(jnp.sum(robot.one.inertia[..., 3]))
        speed = np.sqrt(mass / (1100.0 * np.pi * LENGTH) / (drag / (DENSITY * NORMAL * LENGTH)))
        errors.append(abs(speed / exact - 1.0))
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(2.0, abs=0.05)
    assert errors[0] < 5e-3


@pytest.mark.parametrize(
    "segment",
    [
        StrainSegment(0.1, MODES),
        StewartSegment(0.1, 0.02, 0.8),
        SwellingSegment(StrainSegment(0.1, ("bend_x", "bend_y", "stretch"))),
    ],
    ids=["strain", "stewart", "swelling"],
)
def test_the_direction_of_a_segment_is_that_of_its_axis(segment):
    size = np.array([0.3 / float(segment.length) if "bend" in m or m == "twist" else 0.1 for m in segment.modes])
    if isinstance(segment, StewartSegment):
        size = np.array([0.3, 0.3, 0.3, 0.01, 0.01, 0.01])
    q = jnp.asarray(np.random.default_rng(0).normal(size=len(size)) * size)
    for s in jnp.array([0.2, 0.5, 0.9]):
        slope = jax.jvp(lambda s: segment.pose(q, s).position, (s,), (jnp.ones(()),))[1]
        found = segment.direction(q, segment.pose(q, s))
        np.testing.assert_allclose(found, slope / jnp.linalg.norm(slope), rtol=0, atol=1e-13)


def test_the_direction_in_the_middle_of_a_strut_is_the_mean_of_its_plates():
    segment = StrutSegment(0.1)
    q = jnp.array([4.0, -3.0, 0.2])
    both = np.array([0.0, 0.0, 1.0]) + np.asarray(segment.pose(q, 1.0).rotation[:, 2])
    found = segment.direction(q, segment.pose(q, 0.5))
    np.testing.assert_allclose(found, both / np.linalg.norm(both), rtol=0, atol=1e-13)


@pytest.mark.parametrize("kept", [True, False])
def test_flow_nodes_stand_for_the_whole_arm(kept):
    robot = single_arm(an_arm(3, (0.02, 0.01), modes=("bend_x", "stretch")), points=2, constant_volume=kept)
    q = jnp.array([[1.0, 0.2], [-2.0, -0.1], [0.5, 0.4]])
    nodes = nodes_of(robot, rest_state(robot, q), family="flow")
    now = LENGTH / 3 * (1.0 + np.asarray(q)[:, 1])
    np.testing.assert_allclose(np.asarray(nodes.length).reshape(3, 2), np.outer(now, [0.5, 0.5]), rtol=1e-14)
    rest = 0.02 - 0.01 * (np.arange(3)[:, None] + np.asarray(robot.one.flow)) / 3
    narrowed = np.sqrt(1.0 + np.asarray(q)[:, 1:]) if kept else 1.0
    np.testing.assert_allclose(np.asarray(nodes.radius).reshape(3, 2), rest / narrowed, rtol=1e-14)


def platform():
    """Two platforms, whose masses are at the plates and not between them."""
    plates = jnp.broadcast_to(jnp.array([1e-4, 1e-4, 2e-4, 0.05, 0.05, 0.05]), (2, 6))
    return single_arm(an_arm(2, segment=StewartSegment), plates=plates, gravity=(0, 0, -1.0))


def swimmer():
    base = {"free_base": True, "base_mass": 0.1, "base_inertia": 1e-3}
    arm = an_arm(2, (0.02, 0.01), modes=("bend_x", "bend_y", "stretch"))
    return single_arm(arm, points=2, gravity=(0, 0, -1.0), **base)


def in_motion(robot):
    rng = np.random.default_rng(1)
    modes = robot.arm.segments.modes
    size = 0.1 if "turn_x" in modes else 1.0
    scale = np.array([size if mode != "stretch" else 0.1 for mode in modes])
    q, v = (jnp.asarray(scale * rng.normal(size=robot.one.stiffness.shape)) for _ in range(2))
    twist = jnp.asarray(rng.normal(size=6)) if robot.free_base else jnp.zeros(6)
    return Coordinates(0.2 * q, jnp.zeros(6)), Coordinates(v, twist)


def test_water_acts_between_plates():
    robot = platform()
    nodes = nodes_of(robot, rest_state(robot), family="flow")
    np.testing.assert_allclose(nodes.position[:, 2], [0.25 * LENGTH, 0.75 * LENGTH], rtol=1e-14)
    np.testing.assert_allclose(nodes.length, LENGTH / 2, rtol=1e-14)


class Drag(Water):
    """Water that displaces nothing: its forces are drag alone."""

    def displaced(self):
        return None


@pytest.mark.parametrize("make", [platform, swimmer])
def test_the_generalised_force_has_the_power_of_the_water(make):
    robot = make()
    x, v = in_motion(robot)
    wet, dry = no_inputs(robot, Drag(current=(0.1, 0.0, 0.2))), no_inputs(robot)
    force = jax.tree.map(lambda a, b: b - a, *(residual(robot, x, v, like_coordinates(robot), i) for i in (wet, dry)))
    work = float(jnp.sum(force.q * v.q) + jnp.sum(force.base * v.base))
    assert abs(work) > 1e-4
    assert work == pytest.approx(float(power(robot, x, v, wet)), rel=1e-11)


@pytest.mark.parametrize("make", [platform, swimmer])
def test_the_operator_holds_the_derivative_of_the_drag(make):
    robot = make()
    wet, dry = no_inputs(robot, Water()), no_inputs(robot)
    (x, v), c_v = in_motion(robot), 0.5
    flat_v, unravel = ravel_pytree(v)

    @eqx.filter_jit
    def dense(robot):
        def drag(flat):
            each = (residual(robot, x, unravel(flat), like_coordinates(robot), inputs) for inputs in (wet, dry))
            return ravel_pytree(jax.tree.map(lambda a, b: a - b, *each))[0]

        def inertial(flat):
            return ravel_pytree(residual(robot, x, v, unravel(flat), dry))[0]

        return jax.jacfwd(inertial)(flat_v) + c_v * jax.jacfwd(drag)(flat_v), jax.jacfwd(drag)(flat_v)

    matrix, damping = dense(robot)
    right = np.random.default_rng(2).normal(size=len(flat_v))
    solved = ravel_pytree(solve(factor(robot, x, v, c_v, 0.0, wet), unravel(jnp.asarray(right))))[0]
    kept = slice(None) if robot.free_base else slice(0, robot.one.stiffness.size)
    exact = np.linalg.solve(np.asarray(matrix)[kept, kept], right[kept])
    # Damping changes the solution by far more than the tolerance.
    without = np.linalg.solve(np.asarray(matrix - c_v * damping)[kept, kept], right[kept])
    assert np.abs(without - exact).max() > 1e-4 * np.abs(exact).max()
    np.testing.assert_allclose(np.asarray(solved)[kept], exact, rtol=0, atol=1e-9 * np.abs(exact).max())


def test_each_part_of_surroundings_acts_at_its_own_nodes():
    water, wall = Water(), Push(jnp.ones(3))
    on_body = OnBody(wall, jnp.ones(()))
    both = Together((Together((water, on_body)), wall))
    assert water.at("contact") is None
    assert wall.at("flow") is None
    assert on_body.at("contact") is None
    assert both.at("flow").parts[0].parts == (water,)
    assert both.at("contact").parts == (wall,)
    assert Together((water, on_body)).at("contact") is None


def test_water_alone_needs_no_contact_nodes():
    robot = build_robot(octopus(arms=2, segments=2), free=True)
    system = System(robot, [Water()])
    assert system.environment.count == 0
    assert system.place(system.rest()).nodes.position.shape == (0, 3)
    moved = step(system, system.rest(), None, 0.01)
    assert np.all(np.isfinite(moved.q))
