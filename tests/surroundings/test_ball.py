"""A ball that sinks, lands, is touched, held and let go, among nodes that stand still."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest
from lone_balls import (
    BALL,
    LAW,
    NOWHERE,
    RADIUS,
    SUBMERGED,
    begun,
    launched,
    make_nodes,
    passed,
    stepped,
    surrounded,
)

from hydrostat.errors import InputError
from hydrostat.surroundings import Ground, Suckers, Water
from hydrostat.surroundings.objects import BALL_DRAG, Ball

SEA, WEIGHTLESS, GROUND = surrounded(), surrounded(gravity=NOWHERE), surrounded(ground=Ground())


def test_a_sinking_ball_reaches_its_terminal_velocity():
    ball = passed(BALL, SEA, BALL.init(SEA), 2.5)
    # m g - rho V g = 1/2 rho C_d pi r^2 v^2
    speed = np.sqrt(SUBMERGED / (0.5 * 1022.0 * BALL_DRAG * np.pi * RADIUS**2))
    assert 0.1 < speed < 0.5
    np.testing.assert_allclose(ball.velocity[-1], [0.0, 0.0, -speed], rtol=1e-6, atol=1e-12)
    assert np.all(np.diff(ball.velocity[:, 2]) <= 1e-15)
    assert not np.any(ball.spin)
    # From rest v = v_t tanh(t g' / v_t); Euler's error is of first order.
    time = 2.5e-3 * np.arange(1, len(ball.velocity) + 1)
    expected = speed * np.tanh(time * SUBMERGED / 0.01 / speed)
    np.testing.assert_allclose(-ball.velocity[:, 2], expected, rtol=0, atol=5e-3 * speed)


def test_a_ball_starts_to_sink_with_half_the_mass_of_its_water():
    dt = 1e-5
    for added, share in ((None, 0.0), (1.0, 0.5)):
        sea = surrounded(water=Water(added_mass=added))
        speeds = -passed(BALL, sea, BALL.init(sea), 20 * dt, dt).velocity[:, 2]
        inertia = 0.01 * (1.0 + share * 1022.0 / 1100.0)
        # Drag at that speed, 0.1 mm/s, is smaller by some 1e-6.
        np.testing.assert_allclose(np.diff(speeds), dt * SUBMERGED / inertia, rtol=1e-5)


def test_a_light_ball_rises_and_one_in_a_current_drifts():
    buoyant = Ball.of_density(0.01, 900.0, law=LAW)
    assert passed(buoyant, SEA, buoyant.init(SEA), 0.5).velocity[-1, 2] > 0.1
    stream = surrounded(water=Water(current=(0.3, 0.0, 0.0)), gravity=NOWHERE)
    velocity = passed(BALL, stream, BALL.init(stream), 5.0, 5e-3).velocity
    assert np.all(np.diff(velocity[:, 0]) >= 0.0)
    # It lags by 1 / (k t) with k = drag over mass.
    k = 0.5 * 1022.0 * BALL_DRAG * np.pi * RADIUS**2 / 0.01
    lag = 1.0 / (1.0 / 0.3 + k * 5.0)
    assert 0.3 - velocity[-1, 0] == pytest.approx(lag, rel=0.05)


def test_in_air_a_ball_falls_freely_and_the_arms_medium_does_not_matter():
    air = surrounded(water=None)
    ball = passed(BALL, air, BALL.init(air), 0.1, 1e-3)
    # Implicit Euler: v = g t exactly, and a height that is one order of the step off.
    np.testing.assert_allclose(ball.velocity[:, 2], -9.81e-3 * np.arange(1, 101), rtol=1e-12)
    assert ball.position[-1, 2] == pytest.approx(-0.5 * 9.81 * 0.1 * 0.101, rel=1e-12)


# --- On the ground


def test_a_ball_on_the_ground_rests_and_does_not_sink():
    # k d^2 / (2 d_0) carries it.
    depth = np.sqrt(2e-3 * SUBMERGED / 100.0)
    assert depth < 1e-3
    ball = passed(BALL, GROUND, launched(BALL, GROUND, (0.0, 0.0, RADIUS - depth)), 2.5)
    np.testing.assert_allclose(ball.position, np.broadcast_to([0, 0, RADIUS - depth], ball.position.shape), atol=1e-12)
    np.testing.assert_allclose(ball.velocity, 0.0, atol=1e-12)


def test_the_height_of_the_ground_is_where_it_rests():
    high = surrounded(ground=Ground(height=0.3))
    depth = np.sqrt(2e-3 * SUBMERGED / 100.0)
    ball = passed(BALL, high, launched(BALL, high, (0.0, 0.0, 0.3 + RADIUS - depth)), 0.5)
    np.testing.assert_allclose(ball.position[-1], [0.0, 0.0, 0.3 + RADIUS - depth], atol=1e-12)


def test_a_dropped_ball_lands_and_stays_above_the_ground():
    ball = passed(BALL, GROUND, launched(BALL, GROUND, (0.0, 0.0, 0.1), (0.1, 0.0, 0.0)), 2.5)
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
    ball = passed(BALL, GROUND, launched(BALL, GROUND, (0.0, 0.0, 0.05), (0.0, 0.0, -2.0)), 2.5)
    assert ball.position[:, 2].min() > 0.0
    assert np.abs(ball.velocity[-1]).max() < 1e-3


@pytest.mark.parametrize("axis", np.eye(3).tolist())
def test_a_heavy_ball_on_the_ground_does_not_begin_to_roll(axis):
    # Of steel, with a spin of 1e-6 rad/s; friction can only stop it. Steps are longer than friction's time.
    steel = Ball.of_density(0.01, 7800.0, law=LAW)
    weight = 0.01 * (1.0 - 1022.0 / 7800.0) * 9.81
    height = float(steel.radius) - (weight / 100.0 + 0.5e-3)
    start = launched(steel, GROUND, (0.0, 0.0, height), spin=1e-6 * np.array(axis))
    ball = passed(steel, GROUND, start, 2.5, 5e-3)
    assert np.abs(ball.spin).max() < 1.1e-6
    np.testing.assert_allclose(ball.position[-1], [0.0, 0.0, height], rtol=0, atol=1e-7)


# --- Prey that flees


def resting(ball):
    """At rest on the ground, as deep in it as its weight presses it."""
    return launched(ball, GROUND, (0.0, 0.0, RADIUS - np.sqrt(2e-3 * SUBMERGED / 100.0)))


def test_prey_crawls_away_at_its_speed():
    prey = dataclasses.replace(BALL, flees=0.02)
    ball = passed(prey, GROUND, resting(prey), 2.5, nodes=make_nodes([[0.3, -0.4, 0.1]]))
    # Drag takes what friction of legs gives at a slip of 0.2 mm/s; it rolls.
    np.testing.assert_allclose(ball.velocity[-1], 0.02 * np.array([-0.6, 0.8, 0.0]), rtol=0, atol=2e-4)
    np.testing.assert_allclose(ball.position[-1, :2], 2.5 * ball.velocity[-1, :2], rtol=0, atol=3e-3)
    afloat = passed(prey, WEIGHTLESS, prey.init(WEIGHTLESS), 0.5)
    np.testing.assert_array_equal(afloat.velocity, 0.0)  # there is nothing to push against


def test_legs_of_prey_pull_as_friction_with_the_ground_does():
    dt = 1e-5
    prey = dataclasses.replace(BALL, flees=1.0)
    ball = passed(prey, GROUND, resting(prey), dt, dt, make_nodes([[-1.0, 0.0, 0.0]]))
    pull = 0.5 * SUBMERGED / np.hypot(1.0, 0.01)
    assert ball.velocity[-1, 0] == pytest.approx(dt * pull / 0.01, rel=2e-3)
    with pytest.raises(InputError, match="`flees` must be zero or positive; got -1"):
        dataclasses.replace(BALL, flees=-1.0)


# --- Touched by an arm


def test_a_ball_is_turned_back_by_an_arm_that_does_not_hold_it():
    start = launched(BALL, WEIGHTLESS, velocity=(0.2, 0.0, 0.0))
    ball = passed(BALL, WEIGHTLESS, start, 2.5, nodes=make_nodes([[0.05, 0.0, 0.0]]))
    touching = 0.05 - RADIUS - 4e-3
    assert ball.position[:, 0].max() > touching
    assert ball.position[:, 0].max() < touching + 2e-3
    assert ball.velocity[-1, 0] < 0.0
    # It is not pushed harder than it came.
    assert np.abs(ball.velocity[:, 0]).max() <= 0.2 + 1e-12


def test_skin_that_slides_over_a_ball_draws_and_turns_it():
    # Along x over its top, where both are 0.9 mm deep in each other: m v = I w / r, by one and the same impulse.
    dt, depth = 1e-5, 0.9e-3
    nodes = make_nodes([[0.0, 0.0, RADIUS + 4e-3 - depth]], [[0.3, 0.0, 0.0]])
    ball = passed(BALL, WEIGHTLESS, BALL.init(WEIGHTLESS), dt, dt, nodes)
    v, w = ball.velocity[-1], ball.spin[-1]
    friction = 0.5 * 100.0 * 0.5 * depth**2 / 1e-3
    assert 0.01 * v[0] == pytest.approx(friction * dt, rel=0.02)
    assert 0.4 * 0.01 * RADIUS**2 * w[1] == pytest.approx((RADIUS - depth) * 0.01 * v[0], rel=0.05)
    assert v[2] < 0.0
    np.testing.assert_allclose([v[1], w[0], w[2]], 0.0, atol=1e-12)


def test_a_ball_that_is_squeezed_between_two_parts_of_an_arm_does_not_begin_to_spin():
    # Neutral, with a spin of 1e-6 rad/s; friction can only stop it. Each side presses with some 0.05 N.
    neutral, both = Ball.of_density(0.01, 1022.0, law=LAW), surrounded(2, gravity=NOWHERE)
    height = float(neutral.radius) + 4e-3 - 1e-3
    nodes = make_nodes([[0.0, 0.0, height], [0.0, 0.0, -height]])
    ball = passed(neutral, both, launched(neutral, both, spin=(0.0, 1e-6, 0.0)), 2.5, 5e-3, nodes)
    assert np.abs(ball.spin).max() < 1e-5
    assert np.abs(ball.velocity).max() < 1e-5


# --- Taking hold and letting go

REACH, DT = 1e-3, 5e-3
HALF = 0.5 * REACH
SUCKERS = Suckers(reach=REACH, suction=1e4)
HEAVY = Ball(RADIUS, 1e3, law=LAW)  # as good as fixed
STICKY, STICKY_ONE = (surrounded(count, suckers=SUCKERS, gravity=NOWHERE) for count in (4, 1))
# Four nodes about a ball at the origin: near, touching, just out of reach, near.
DIRECTIONS = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-0.6, -0.8, 0.0]])
GAPS = np.array([0.9 * REACH, 0.0, 1.1 * REACH, HALF])
ABOUT = make_nodes(DIRECTIONS * (RADIUS + 4e-3 + GAPS)[:, None])


def moved_on(state, nodes, take, end=None):
    """A heavy ball and what holds it, after a step."""
    return stepped(HEAVY, STICKY, state, nodes, jnp.asarray(take, float), DT, end)


def test_suckers_take_hold_within_their_reach_and_where_they_are_told_to():
    start = HEAVY.init(STICKY)
    attachment = moved_on(start, ABOUT, [1.0, 1.0, 1.0, 0.0]).attachment
    np.testing.assert_array_equal(attachment.held, [1.0, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(attachment.anchor[:2], ABOUT.position[:2], rtol=0, atol=1e-15)
    state = moved_on(start, ABOUT, np.zeros(4))
    assert not np.any(state.attachment.held)
    # Who holds nothing may take hold later.
    np.testing.assert_array_equal(moved_on(state, ABOUT, np.ones(4)).attachment.held, [1.0, 1.0, 0.0, 1.0])


def test_arms_without_suckers_hold_nothing():
    loose = surrounded(4, gravity=NOWHERE)
    state = stepped(HEAVY, loose, HEAVY.init(loose), ABOUT, jnp.ones(4), DT)
    assert not np.any(state.attachment.held)


def test_suckers_keep_their_place_on_the_ball_until_they_are_told_to_let_go():
    wanted = [1.0, 1.0, 0.0, 1.0]
    state = moved_on(HEAVY.init(STICKY), ABOUT, wanted)
    shifted = ABOUT._replace(position=ABOUT.position + 3e-4 * DIRECTIONS[::-1])
    later = moved_on(state, shifted, wanted)
    np.testing.assert_array_equal(later.attachment.held, wanted)
    np.testing.assert_array_equal(later.attachment.anchor, state.attachment.anchor)
    some = moved_on(later, shifted, [0.0, 1.0, 0.0, 0.0])
    np.testing.assert_array_equal(some.attachment.held, [0.0, 1.0, 0.0, 0.0])
    assert not np.any(moved_on(some, shifted, np.zeros(4)).attachment.held)


def test_nothing_jumps_when_suckers_take_hold():
    near = make_nodes(DIRECTIONS * (RADIUS + 4e-3 + HALF))
    start = HEAVY.init(STICKY)
    (_, loose), (held, tied) = (begun(HEAVY, STICKY, start, near, take, DT) for take in (jnp.zeros(4), jnp.ones(4)))
    assert np.all(np.asarray(held.attachment.held) == 1.0)
    np.testing.assert_allclose(tied.grip.forces(near).force, 0.0, atol=1e-15)
    np.testing.assert_allclose(tied.forces(near).force, loose.forces(near).force, rtol=0, atol=1e-13)
    # Nor when the ball and the nodes move alike.
    velocity = np.array([0.2, 0.1, -0.3])
    carried = near._replace(velocity=jnp.broadcast_to(velocity, (4, 3)))
    _, tied = begun(HEAVY, STICKY, launched(HEAVY, STICKY, velocity=velocity), carried, jnp.ones(4), DT)
    for share in (0.3, 1.0):
        ahead = carried._replace(position=carried.position + share * DT * velocity)
        # The drag of a ton in 1.5 ms is all there is.
        np.testing.assert_allclose(tied.after(share * DT).forces(ahead).force, 0.0, atol=1e-7)


@pytest.mark.parametrize("direction", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.6, 0.0, -0.8)])
def test_a_sucker_is_torn_off_by_more_than_suction_times_its_area(direction):
    # 10 kPa on a disc of 0.7 times the node's radius, along and across alike, at 98 N/m.
    strength = 1e4 * np.pi * (0.7 * 4e-3) ** 2
    node, take = make_nodes([[RADIUS + 4e-3 + HALF, 0.0, 0.0]]), jnp.ones(1)
    for share, held in ((0.99, 1.0), (1.01, 0.0)):
        away = node._replace(position=node.position + share * strength / 98.0 * np.array(direction))
        pulled = stepped(HEAVY, STICKY_ONE, HEAVY.init(STICKY_ONE), node, take, DT, away)
        # It holds at the step's end, where it is pulled as hard as it was drawn away, and may be torn off in the next.
        assert float(pulled.attachment.held[0]) == 1.0
        assert float(pulled.attachment.pull[0]) == pytest.approx(share * strength, rel=1e-4)
        after, _ = begun(HEAVY, STICKY_ONE, pulled, away, take, DT)
        assert float(after.attachment.held[0]) == held


def test_a_held_ball_is_not_pushed_by_the_skin_that_holds_it():
    # A node that is 1 mm deep in the ball, and held there, is in balance.
    node = make_nodes([[RADIUS + 4e-3 - 1e-3, 0.0, 0.0]])
    start, free, take = HEAVY.init(STICKY_ONE), jnp.zeros(1), jnp.ones(1)
    (_, loose), (_, tied) = (begun(HEAVY, STICKY_ONE, start, node, some, DT) for some in (free, take))
    assert float(loose.forces(node).force[0, 0]) == pytest.approx(100.0 * 0.5e-3, rel=1e-6)
    np.testing.assert_allclose(tied.forces(node).force, 0.0, atol=1e-12)
    # Unless holding is squeezing: then the skin pushes as before, also on the ball.
    _, tight = begun(dataclasses.replace(HEAVY, squeezed=True), STICKY_ONE, start, node, take, DT)
    # (A ton that is pushed with 0.05 N for 5 ms draws at its suckers with (dt k + c) dt f / m = 2.5e-7 N.)
    assert float(tight.forces(node).force[0, 0]) == pytest.approx(100.0 * 0.5e-3, abs=3e-7)
    assert float(tight.grip.loads[0]) == pytest.approx(-100.0 * 0.5e-3, rel=1e-6)


# --- Balls


@pytest.mark.parametrize("radius, mass, name", [(0.0, 1.0, "radius"), (0.01, -1.0, "mass"), (0.01, np.nan, "mass")])
def test_bad_balls_are_refused_in_one_line(radius, mass, name):
    with pytest.raises(InputError, match=f"`{name}` must be") as refused:
        Ball(radius, mass)
    assert "\n" not in str(refused.value)


def test_a_ball_of_a_density_has_its_volume():
    assert float(BALL.volume) == pytest.approx(0.01 / 1100.0, rel=1e-12)
