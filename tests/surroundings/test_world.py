"""The world of an arm: tangent planes, a ball that sinks, lands, is held and let go, and what an arm does with it."""

import dataclasses
from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.control.commands import Grasp, Parallel, Release, Sequence, Stiffen
from hydrostat.control.nerves import played
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics.model import no_inputs
from hydrostat.robots.octopus_arm import octopus_arm
from hydrostat.scenarios.arm import hydrostat, nerves, stepper
from hydrostat.stepping import rest_state
from hydrostat.stepping.base import nodes_of, positions, velocities
from hydrostat.surroundings import Box, Capsule, ContactLaw, Nodes, Plane, Sphere, Water, contact_with_shapes
from hydrostat.surroundings.planes import planes
from hydrostat.surroundings.suckers import BallState, SuckerLaw, hold
from hydrostat.surroundings.world import BALL_DRAG, Ball, World

LAW = ContactLaw(100.0, 5.0, 0.5, 0.01, 1e-3)
DOWN = np.array([0.0, 0.0, -9.81])
WATER = Water()
BALL = Ball.of_density(0.01, 1100.0)
RADIUS = float(BALL.radius)
SUBMERGED = 0.01 * (1.0 - 1022.0 / 1100.0) * 9.81
"""Weight less buoyancy [N]."""
GROUND = Plane([0.0, 0.0, 0.0], [0.0, 0.0, 1.0])


def make_nodes(position, velocity=None, radius=4e-3, spin=None):
    position = jnp.asarray(position, float)
    zero, n = jnp.zeros_like(position), len(position)
    velocity, spin = (zero if x is None else jnp.asarray(x, float) for x in (velocity, spin))
    return Nodes(position, velocity, spin, zero.at[:, 0].set(1.0), jnp.full(n, radius), jnp.full(n, 0.01))


# --- Tangent planes

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
    made = seen(LAW, far, (GROUND,))
    assert not np.any(felt(made, far).force)
    deep = felt(made, make_nodes([[0.0, 0.0, 4e-3 - 2e-3]])).force[0]
    np.testing.assert_allclose(deep, [0.0, 0.0, 100.0 * (2e-3 - 0.5e-3)], rtol=1e-12)


# --- A ball alone

FAR = make_nodes([[9.0, 9.0, 9.0]])


def make_world(ball=BALL, ground=None, suckers=None, gravity=DOWN, law=LAW, water=WATER):
    return World(water, jnp.asarray(gravity), law, ball, ground, suckers)


def launched(world, position, velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0), count=1):
    """A ball that moves at the start."""
    state = world.begin(count, position)
    ball = state.ball._replace(velocity=jnp.asarray(velocity, float), spin=jnp.asarray(spin, float))
    ties = state.ties
    ties = hold(ties.law, ball, ties.held, ties.lever, ties.inertia, ties.resisting, ties.loads, 0.0)
    return state._replace(ball=ball, ties=ties)


@eqx.filter_jit
def travelled(world, state, nodes, dt, count) -> BallState:
    """Where the ball is at every step, the nodes standing still."""
    none = jnp.zeros(len(nodes.radius))

    def step(state, _):
        state = world.advance(state, nodes, none, dt)
        return state, state.ball

    return jax.lax.scan(step, state, None, length=count)[1]


def passed(world, state, seconds, dt=2.5e-3, nodes=FAR) -> BallState:
    return jax.tree.map(np.asarray, travelled(world, state, nodes, dt, round(seconds / dt)))


def test_a_sinking_ball_reaches_its_terminal_velocity():
    world = make_world()
    ball = passed(world, world.begin(1, (0.0, 0.0, 0.0)), 2.5)
    # m g - rho V g = 1/2 rho C_d pi r^2 v^2
    speed = np.sqrt(SUBMERGED / (0.5 * 1022.0 * BALL_DRAG * np.pi * RADIUS**2))
    assert 0.1 < speed < 0.5
    np.testing.assert_allclose(ball.velocity[-1], [0.0, 0.0, -speed], rtol=1e-6, atol=1e-12)
    assert np.all(np.diff(ball.velocity[:, 2]) <= 1e-15)
    assert not np.any(ball.spin)
    # From rest v = v_t tanh(t g' / v_t); the first row is the start, Euler's error is of first order.
    time = 2.5e-3 * np.arange(len(ball.velocity))
    expected = speed * np.tanh(time * SUBMERGED / 0.01 / speed)
    np.testing.assert_allclose(-ball.velocity[:, 2], expected, rtol=0, atol=5e-3 * speed)


def test_a_ball_starts_to_sink_with_half_the_mass_of_its_water():
    dt = 1e-5
    for added, share in ((None, 0.0), (1.0, 0.5)):
        world = make_world(water=Water(added_mass=added))
        speeds = -np.asarray(travelled(world, launched(world, (0.0, 0.0, 0.0)), FAR, dt, 20).velocity)[:, 2]
        inertia = 0.01 * (1.0 + share * 1022.0 / 1100.0)
        # Drag at that speed, 0.1 mm/s, is smaller by some 1e-6.
        np.testing.assert_allclose(np.diff(speeds), dt * SUBMERGED / inertia, rtol=1e-5)


def test_a_light_ball_rises_and_one_in_a_current_drifts():
    buoyant = make_world(Ball.of_density(0.01, 900.0))
    assert passed(buoyant, buoyant.begin(1), 0.5).velocity[-1, 2] > 0.1
    drifting = make_world(water=Water(current=(0.3, 0.0, 0.0)), gravity=(0.0, 0.0, 0.0))
    velocity = passed(drifting, drifting.begin(1), 5.0).velocity
    assert np.all(np.diff(velocity[:, 0]) >= 0.0)
    # It lags by 1 / (k t) with k = drag over mass.
    k = 0.5 * 1022.0 * BALL_DRAG * np.pi * RADIUS**2 / 0.01
    lag = 1.0 / (1.0 / 0.3 + k * 5.0)
    assert 0.3 - velocity[-1, 0] == pytest.approx(lag, rel=0.05)


def test_a_ball_on_the_ground_rests_and_does_not_sink():
    world = make_world(ground=GROUND)
    # k d^2 / (2 d_0) carries it.
    depth = np.sqrt(2e-3 * SUBMERGED / 100.0)
    assert depth < 1e-3
    ball = passed(world, world.begin(1, (0.0, 0.0, RADIUS - depth)), 2.5)
    np.testing.assert_allclose(ball.position, np.broadcast_to([0, 0, RADIUS - depth], ball.position.shape), atol=1e-12)
    np.testing.assert_allclose(ball.velocity, 0.0, atol=1e-12)


def test_a_dropped_ball_lands_and_stays_above_the_ground():
    world = make_world(ground=GROUND)
    ball = passed(world, launched(world, (0.0, 0.0, 0.1), (0.1, 0.0, 0.0)), 2.5)
    depth = np.sqrt(2e-3 * SUBMERGED / 100.0)
    height = ball.position[:, 2] - RADIUS
    # It hits at less than its terminal velocity: 1/2 m v^2 goes into the ground, k d^2 / 2 less what the onset takes.
    deepest = 0.5e-3 + np.sqrt(0.01 * 0.21**2 / 100.0) + depth
    assert height.min() > -deepest
    assert height[-1] == pytest.approx(-depth, rel=1e-3)
    # In the end it rolls without slip, and drag slows it.
    assert 0.0 < ball.velocity[-1, 0] < 0.1
    assert ball.spin[-1, 1] * RADIUS == pytest.approx(ball.velocity[-1, 0], rel=0.05)
    assert np.abs(ball.velocity[-1, 1]) < 1e-12


def test_a_fast_ball_does_not_pass_through_the_ground():
    world = make_world(ground=GROUND)
    ball = passed(world, launched(world, (0.0, 0.0, 0.05), (0.0, 0.0, -2.0)), 2.5)
    assert ball.position[:, 2].min() > 0.0
    assert np.abs(ball.velocity[-1]).max() < 1e-3


def test_a_ball_is_turned_back_by_an_arm_that_does_not_hold_it():
    world = make_world(gravity=(0.0, 0.0, 0.0))
    ball = passed(world, launched(world, (0.0, 0.0, 0.0), (0.2, 0.0, 0.0)), 2.5, nodes=make_nodes([[0.05, 0.0, 0.0]]))
    touching = 0.05 - RADIUS - 4e-3
    assert ball.position[:, 0].max() > touching
    assert ball.position[:, 0].max() < touching + 2e-3
    assert ball.velocity[-1, 0] < 0.0
    # It is not pushed harder than it came.
    assert np.abs(ball.velocity[:, 0]).max() <= 0.2 + 1e-12


@pytest.mark.parametrize(
    "up",
    [
        (0.0, 0.0, 1.0),
        (0.0, 1.0, 0.0),
        (1.0, 0.0, 0.0),
    ],
)  # fmt: skip
def test_a_heavy_ball_on_the_ground_does_not_begin_to_roll(up):
    # Of steel, with a spin of 1e-6 rad/s; friction can only stop it. Steps are longer than friction's time.
    steel = make_world(Ball.of_density(0.01, 7800.0), Plane([0.0, 0.0, 0.0], up), gravity=-9.81 * np.array(up))
    weight = 0.01 * (1.0 - 1022.0 / 7800.0) * 9.81
    height = float(steel.ball.radius) - (weight / 100.0 + 0.5e-3)
    start = launched(steel, height * np.array(up), spin=1e-6 * np.array([up[1], up[2], up[0]]))
    ball = passed(steel, start, 2.5, 5e-3)
    assert np.abs(ball.spin).max() < 1.1e-6
    np.testing.assert_allclose(ball.position[-1], height * np.array(up), rtol=0, atol=1e-7)


def test_skin_that_slides_over_a_ball_draws_and_turns_it():
    # Along x over its top, where both are 0.9 mm deep in each other: m v = I w / r, by one and the same impulse.
    world, dt, depth = make_world(gravity=(0.0, 0.0, 0.0)), 1e-5, 0.9e-3
    nodes = make_nodes([[0.0, 0.0, RADIUS + 4e-3 - depth]], [[0.3, 0.0, 0.0]])
    ball = passed(world, world.begin(1), 2 * dt, dt, nodes)
    v, w = ball.velocity[-1], ball.spin[-1]
    friction = 0.5 * 100.0 * 0.5 * depth**2 / 1e-3
    assert 0.01 * v[0] == pytest.approx(friction * dt, rel=0.02)
    assert 0.4 * 0.01 * RADIUS**2 * w[1] == pytest.approx((RADIUS - depth) * 0.01 * v[0], rel=0.05)
    assert v[2] < 0.0
    np.testing.assert_allclose([v[1], w[0], w[2]], 0.0, atol=1e-12)


def test_a_ball_that_is_squeezed_between_two_parts_of_an_arm_does_not_begin_to_spin():
    # Neutral, with a spin of 1e-6 rad/s; friction can only stop it. Each side presses with some 0.05 N.
    world = make_world(Ball.of_density(0.01, 1022.0), gravity=(0.0, 0.0, 0.0))
    radius = float(world.ball.radius)
    height = radius + 4e-3 - 1e-3
    nodes = make_nodes([[0.0, 0.0, height], [0.0, 0.0, -height]])
    ball = passed(world, launched(world, (0.0, 0.0, 0.0), spin=(0.0, 1e-6, 0.0), count=2), 2.5, 5e-3, nodes)
    assert np.abs(ball.spin).max() < 1e-5
    assert np.abs(ball.velocity).max() < 1e-5


# --- Taking hold and letting go

REACH = 1e-3
HEAVY = Ball(RADIUS, 1e3)  # as good as fixed
STICKY = make_world(HEAVY, suckers=SuckerLaw(reach=REACH, suction=1e4), gravity=(0.0, 0.0, 0.0))
moved_on = eqx.filter_jit(lambda world, state, nodes, wanted, dt: world.advance(state, nodes, wanted, dt))
around = eqx.filter_jit(lambda world, state, nodes, dt: world.around(state, nodes, dt).forces(nodes))
HALF = 0.5 * REACH
# Four nodes about a ball at the origin: near, touching, just out of reach, near.
DIRECTIONS = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-0.6, -0.8, 0.0]])
GAPS = np.array([0.9 * REACH, 0.0, 1.1 * REACH, HALF])
ABOUT = make_nodes(DIRECTIONS * (RADIUS + 4e-3 + GAPS)[:, None])
DT = 5e-3


def test_suckers_take_hold_within_their_reach_and_where_they_are_told_to():
    start = STICKY.begin(4)
    state = moved_on(STICKY, start, ABOUT, jnp.array([1.0, 1.0, 1.0, 0.0]), DT)
    np.testing.assert_array_equal(state.held, [1.0, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(state.anchor[:2], ABOUT.position[:2], rtol=0, atol=1e-15)
    state = moved_on(STICKY, start, ABOUT, jnp.zeros(4), DT)
    assert not np.any(state.held)
    # Who holds nothing may take hold later.
    state = moved_on(STICKY, state, ABOUT, jnp.ones(4), DT)
    np.testing.assert_array_equal(state.held, [1.0, 1.0, 0.0, 1.0])


def test_a_world_without_suckers_or_without_a_ball_holds_nothing():
    loose, empty = make_world(HEAVY), make_world(None)
    assert not np.any(moved_on(loose, loose.begin(4), ABOUT, jnp.ones(4), DT).held)
    start = empty.begin(4)
    state = moved_on(empty, start, ABOUT, jnp.ones(4), DT)
    assert not np.any(state.held)
    still = around(empty, state, ABOUT, DT)
    assert not any(np.any(part) for part in still)


def test_suckers_keep_their_place_on_the_ball_until_they_are_told_to_let_go():
    wanted = jnp.array([1.0, 1.0, 0.0, 1.0])
    state = moved_on(STICKY, STICKY.begin(4), ABOUT, wanted, DT)
    shifted = ABOUT._replace(position=ABOUT.position + 3e-4 * DIRECTIONS[::-1])
    later = moved_on(STICKY, state, shifted, wanted, DT)
    np.testing.assert_array_equal(later.held, wanted)
    np.testing.assert_array_equal(later.anchor, state.anchor)
    some = moved_on(STICKY, later, shifted, jnp.array([0.0, 1.0, 0.0, 0.0]), DT)
    np.testing.assert_array_equal(some.held, [0.0, 1.0, 0.0, 0.0])
    assert not np.any(moved_on(STICKY, some, shifted, jnp.zeros(4), DT).held)


def test_nothing_jumps_when_suckers_take_hold():
    near = make_nodes(DIRECTIONS * (RADIUS + 4e-3 + HALF))
    start = STICKY.begin(4)
    loose, tied = (moved_on(STICKY, start, near, wanted, DT) for wanted in (jnp.zeros(4), jnp.ones(4)))
    assert np.all(np.asarray(tied.held) == 1.0)
    np.testing.assert_allclose(tied.ties.forces(near).force, 0.0, atol=1e-15)
    before, after = around(STICKY, loose, near, DT), around(STICKY, tied, near, DT)
    np.testing.assert_allclose(after.force, before.force, rtol=0, atol=1e-13)
    # Nor when the ball and the nodes move alike.
    velocity = np.array([0.2, 0.1, -0.3])
    moving = launched(STICKY, (0.0, 0.0, 0.0), velocity, count=4)
    carried = near._replace(velocity=jnp.broadcast_to(velocity, (4, 3)))
    tied = moved_on(STICKY, moving, carried, jnp.ones(4), DT)
    for share in (0.3, 1.0):
        ahead = carried._replace(position=carried.position + share * DT * velocity)
        # The drag of a ton in 1.5 ms is all there is.
        np.testing.assert_allclose(tied.ties.after(share * DT).forces(ahead).force, 0.0, atol=1e-7)


@pytest.mark.parametrize("direction", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.6, 0.0, -0.8)])
def test_a_sucker_is_torn_off_by_more_than_suction_times_its_area(direction):
    # 10 kPa on a disc of 0.7 times the node's radius, along and across alike, at 98 N/m.
    strength = 1e4 * np.pi * (0.7 * 4e-3) ** 2
    node = make_nodes([[RADIUS + 4e-3 + HALF, 0.0, 0.0]])
    state = moved_on(STICKY, STICKY.begin(1), node, jnp.ones(1), DT)
    for share, held in ((0.99, 1.0), (1.01, 0.0)):
        away = node.position + share * strength / 98.0 * np.array(direction)
        pulled = moved_on(STICKY, state, node._replace(position=away), jnp.ones(1), DT)
        assert float(pulled.held[0]) == held


def test_a_held_ball_is_not_pushed_by_the_skin_that_holds_it():
    # A node that is 1 mm deep in the ball, and held there, is in balance.
    node = make_nodes([[RADIUS + 4e-3 - 1e-3, 0.0, 0.0]])
    loose, tied = (moved_on(STICKY, STICKY.begin(1), node, wanted, DT) for wanted in (jnp.zeros(1), jnp.ones(1)))
    assert float(around(STICKY, loose, node, DT).force[0, 0]) == pytest.approx(100.0 * 0.5e-3, rel=1e-6)
    np.testing.assert_allclose(around(STICKY, tied, node, DT).force, 0.0, atol=1e-12)
    # Unless holding is squeezing: then the skin pushes as before, also on the ball.
    tight = dataclasses.replace(STICKY, squeezes=True)
    tied = moved_on(tight, tight.begin(1), node, jnp.ones(1), DT)
    assert float(tight.skin(tied, node, DT).forces(node).force[0, 0]) == pytest.approx(100.0 * 0.5e-3, rel=1e-6)
    assert float(tied.ties.loads[0]) == pytest.approx(-100.0 * 0.5e-3, rel=1e-6)


@pytest.mark.parametrize("radius, mass, name", [(0.0, 1.0, "radius"), (0.01, -1.0, "mass"), (0.01, np.nan, "mass")])
def test_bad_balls_are_refused_in_one_line(radius, mass, name):
    with pytest.raises(InputError, match=f"`{name}` must be") as refused:
        Ball(radius, mass)
    assert "\n" not in str(refused.value)


def test_a_ball_of_a_density_has_its_volume():
    assert float(BALL.volume) == pytest.approx(0.01 / 1100.0, rel=1e-12)


# --- An arm that holds a ball

STEP, STEPS = 5e-3, 400
ARM = hydrostat(octopus_arm(6), SimpleNamespace(drag=True, volume="exact"))
TIED = make_world(suckers=SuckerLaw(reach=0.02))
BELOW = (0.06, 0.0, -0.012)
"""Below the arm, between its first two nodes."""


@eqx.filter_jit
def rolled(controller, dt, count):
    """An arm's steps with its brain and world, and the positions of its nodes."""
    model = controller.model

    def step(carry, index):
        state, memory = carry
        ramp, memory = controller.act(index * dt, dt, state, memory)
        new = stepper().step(model, state, index * dt, dt, ramp)
        nodes = nodes_of(model, positions(new.state), velocities(new.state), no_inputs(model))
        # The world is where it was when the step began.
        return (new.state, memory), (state, memory.world, nodes.position, new.converged)

    first = rest_state(model)
    return jax.lax.scan(step, (first, controller.begin(first)), jnp.arange(count))[1]


def carried(grip):
    """What becomes of the arm and the ball: coordinates and rates, the world, where its nodes are, step by step."""
    command = Parallel(Stiffen(0.3, 9.0), grip)
    brain = played(command, ARM.anatomy, STEP * jnp.arange(STEPS), STEP)
    controller = nerves(ARM, brain, world=TIED, start=TIED.begin(6, BELOW))
    state, world, position, converged = jax.tree.map(np.asarray, rolled(controller, STEP, STEPS))
    assert np.all(converged)
    return state, world, position


def test_an_arm_that_holds_a_ball_still_comes_to_rest():
    state, world, position = carried(Grasp(9.0, 0.0, 0.34))
    np.testing.assert_array_equal(world.held, np.broadcast_to([1, 1, 0, 0, 0, 0], (STEPS, 6)))
    # It sags under the load, and slows down: no energy is fed to it.
    speed = np.linalg.norm(world.ball.velocity, axis=-1) + RADIUS * np.linalg.norm(world.ball.spin, axis=-1)
    peaks = speed.reshape(4, -1).max(1)
    assert peaks[0] < 0.05
    assert np.all(peaks[1:] < 0.1 * peaks[0])
    assert peaks[3] < 1e-3
    turning = np.abs(state.v[..., :2] * 0.04).reshape(4, -1).max(1)
    assert turning[3] < 0.05 * turning[0]
    # The ball hangs where it was taken, by springs that carry it.
    ball = world.ball
    apart = position[-2, :2] - ball.position[-1] - world.anchor[-1, :2] @ ball.rotation[-1].T
    np.testing.assert_allclose(98.0 * apart.sum(0), [0.0, 0.0, SUBMERGED], rtol=0, atol=0.05 * SUBMERGED)
    # The ball stays a rigid body.
    np.testing.assert_allclose(ball.rotation[-1] @ ball.rotation[-1].T, np.eye(3), rtol=0, atol=1e-12)


def test_a_ball_that_is_let_go_sinks_in_the_water_alone():
    _, world, position = carried(Sequence(Grasp(0.5, 0.0, 0.34), Release(9.0)))
    np.testing.assert_array_equal(world.held.sum(1), np.where(np.arange(STEPS) < 100, 2.0, 0.0))
    ball = world.ball
    # It touches no node any more from some time on.
    gap = np.linalg.norm(position[:-1] - ball.position[1:, None], axis=-1).min(1) - RADIUS - 7.5e-3
    free = slice(1 + np.flatnonzero(gap < 0.0).max(initial=100), None)
    v = ball.velocity[free]
    assert len(v) > 200
    k = 0.5 * 1022.0 * BALL_DRAG * np.pi * RADIUS**2 / 0.01
    rate = np.array([0.0, 0.0, -SUBMERGED / 0.01]) - k * np.linalg.norm(v, axis=-1, keepdims=True) * v
    gained = np.diff(v, axis=0) / STEP
    np.testing.assert_allclose(gained, 0.5 * (rate[1:] + rate[:-1]), rtol=0, atol=0.01 * SUBMERGED / 0.01)
    assert ball.position[-1, 2] < -0.15
