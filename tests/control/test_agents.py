"""Agents that talk to their neighbours alone: the motion of the centre, and no way to know more than they are told."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hydrostat.control.agents import Upward, agents_of, agents_rates, tip_call
from hydrostat.control.resolved_rate import Law, Obstacle, Posture, central_rates, ease
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.robots import stewart_arm

DT = 2e-3
BASE = SE3(jnp.asarray(Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()), jnp.array([0.1, -0.2, 0.3]))
POSTURE = Posture(jnp.asarray(1.0), jnp.asarray(0.7))


def law_with(n=5, **options):
    """A law with everything that agents can have, unless options leave it out."""
    robot = stewart_arm(n)
    everything = {"posture": POSTURE, "legs": robot.legs, "frozen": jnp.arange(n) == 1}
    return Law(robot.arm.segments, BASE, **{**everything, **options})


def bent(segments, seed):
    """Random poses, every segment bent, sheared and stretched."""
    rng = np.random.default_rng(seed)
    length = np.asarray(segments.length)[:, None]
    turns = Rotation.from_rotvec(0.4 * rng.uniform(-1, 1, (len(length), 3))).as_matrix()
    moves = 0.2 * length * rng.uniform(-1, 1, (len(length), 3)) + length * [0, 0, 1]
    return SE3(jnp.asarray(turns), jnp.asarray(moves))


@eqx.filter_jit
def both(law, T, velocity):
    """The rates that agents find, and those of the centre."""
    ask = lambda tip: velocity[:, 0] + velocity[:, 1:] @ tip.position  # noqa: E731
    return agents_rates(law, T, ask, DT), central_rates(law, T, ask, DT)


LAWS = {
    "plain": law_with(posture=None, legs=None, frozen=None),
    "posture, limits and a frozen segment": law_with(),
    "posture, limits and a frozen segment, oriented": law_with(orient=True),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("size", [0.1, 100.0], ids=["gently", "violently"])
def test_agents_find_the_motion_of_the_centre(name, size):
    law = LAWS[name]
    rng = np.random.default_rng(1)
    for seed in range(4):
        velocity = size * rng.standard_normal((6 if law.orient else 3, 4))
        agents, centre = both(law, bent(law.segments, seed), jnp.asarray(velocity))
        largest = np.max(np.abs(centre.twist))
        np.testing.assert_allclose(agents.twist, centre.twist, rtol=0, atol=1e-12 * max(1.0, largest))
        for mine, other in zip(*map(jax.tree.leaves, (agents.T_world_tip, centre.T_world_tip)), strict=True):
            np.testing.assert_allclose(mine, other, rtol=0, atol=1e-12 * max(1.0, largest))
        if law.frozen is not None:
            np.testing.assert_array_equal(agents.twist[1], 0.0)


def test_the_violent_commands_do_meet_the_limits():
    law = LAWS["posture, limits and a frozen segment"]
    faster = eqx.tree_at(lambda law: law.legs.rate, law, 10.0 * law.legs.rate)
    velocity = jnp.asarray(100.0 * np.random.default_rng(1).standard_normal((3, 4)))
    T = bent(law.segments, 0)
    slow, fast = (np.linalg.norm(both(each, T, velocity)[0].twist, axis=-1) for each in (law, faster))
    assert np.sum(slow < 0.5 * fast) >= 3


# --- What an agent holds and hears


def agent_of(law, i):
    """One agent, taken out of the arm."""
    return jax.tree.map(lambda x: x[i], agents_of(law))


up = eqx.filter_jit(lambda agent, T, message: agent.upward(T, message))
down = eqx.filter_jit(lambda agent, T, message: agent.downward(T, message, DT))


def first_message(base):
    """What the lowest agent knows: where the base is, and that it does not move."""
    return Upward(base, jnp.zeros((6, 6)), jnp.zeros(6))


def sweep(law, T, velocity):
    """One tick, agent by agent: nobody gets more than its own pose and one message from either side."""
    n = len(T.position)
    agents = [agent_of(law, i) for i in range(n)]
    poses = [T[i] for i in range(n)]
    ups, downs, twists = [first_message(law.T_world_base)], [], []
    for agent, pose in zip(agents, poses, strict=True):
        ups.append(up(agent, pose, ups[-1]))
    # The last agent answers; of the law it needs its own part and what is wanted of the tip.
    tip = Law(agents[-1].segment, SE3.identity(), orient=law.orient)
    ask = lambda tip: velocity[:, 0] + velocity[:, 1:] @ tip.position  # noqa: E731
    downs.append(tip_call(tip, ups[-1], ask, ease(law), DT))
    for agent, pose in zip(agents[::-1], poses[::-1], strict=True):
        message, twist = down(agent, pose, downs[-1])
        downs.append(message)
        twists.append(twist)
    return np.stack(twists[::-1]), ups, downs


@pytest.mark.parametrize("orient", [False, True], ids=["position", "oriented"])
def test_agents_apart_from_each_other_give_the_same_twists(orient):
    law = law_with(orient=orient)
    T = bent(law.segments, 5)
    velocity = jnp.asarray(np.random.default_rng(2).standard_normal((6 if orient else 3, 4)))
    twists, *_ = sweep(law, T, velocity)
    _, centre = both(law, T, velocity)
    np.testing.assert_allclose(twists, centre.twist, rtol=0, atol=1e-12 * max(1.0, np.max(np.abs(twists))))


def test_an_agent_holds_its_own_segment_and_nothing_else():
    shapes = {}
    for n in (3, 5):
        law = law_with(n)
        for i in range(n):
            agent = agent_of(law, i)
            shapes[n, i] = [leaf.shape for leaf in jax.tree.leaves(agent)]
            np.testing.assert_array_equal(agent.segment.length, law.segments.length[i])
            np.testing.assert_array_equal(agent.legs.shortest, law.legs.shortest[i])
            assert bool(agent.frozen) == (i == 1)
    # The same leaves for every agent of every arm: numbers, and six of them for six legs.
    assert len({str(leaves) for leaves in shapes.values()}) == 1
    assert set(shapes[3, 0]) == {(), (6,)}


def numbers_in(message):
    """How many numbers a message holds, a symmetric 6 x 6 matrix counted as the 21 it takes."""
    return sum(21 if leaf.shape == (6, 6) else leaf.size for leaf in jax.tree.leaves(message))


def test_messages_are_as_long_in_arms_of_any_length_and_counted_as_they_are_sent():
    velocity = jnp.asarray(np.ones((3, 4)))
    agents, centre = both(law_with(), bent(law_with().segments, 1), velocity)
    assert not np.any(centre.sent)
    (up_count, up_numbers), (down_count, down_numbers) = np.asarray(agents.sent)
    # One up and one down between every two neighbours; what the lowest and the last agent know is no message.
    assert up_count == down_count == 4
    for n in (3, 5):
        law = law_with(n)
        _, ups, downs = sweep(law, bent(law.segments, 1), velocity)
        assert {numbers_in(message) for message in ups} == {up_numbers / up_count}
        assert {numbers_in(message) for message in downs} == {down_numbers / down_count}
        for message in ups:
            # 21 numbers are enough.
            mobility = np.asarray(message.mobility)
            np.testing.assert_allclose(mobility, mobility.T, rtol=0, atol=1e-12 * max(1.0, np.max(mobility)))


def test_a_message_says_how_the_plate_can_move():
    # Readiness is the sum over the segments below of J S J^T, so that it grows plate by plate; the pose is the chain's.
    law = law_with()
    T = bent(law.segments, 3)
    _, ups, _ = sweep(law, T, jnp.asarray(np.ones((3, 4))))
    R, p = np.asarray(BASE.rotation), np.asarray(BASE.position)
    for i, message in enumerate(ups[1:]):
        p, R = p + R @ np.asarray(T.position[i]), R @ np.asarray(T.rotation[i])
        np.testing.assert_allclose(message.T_world.position, p, rtol=0, atol=1e-14)
        np.testing.assert_allclose(message.T_world.rotation, R, rtol=0, atol=1e-14)
        assert np.linalg.eigvalsh(message.mobility)[0] > 0.0
    # Every segment but the frozen one adds to what the plate can turn.
    assert (np.diff([np.trace(message.mobility[:3, :3]) for message in ups]) > 1e-9).tolist() == [True, False] + [
        True
    ] * 3


def test_what_is_far_away_does_not_matter_where_the_neighbours_say_the_same():
    law = law_with()
    T = bent(law.segments, 3)
    _, ups, downs = sweep(law, T, jnp.asarray(np.ones((3, 4))))
    # Another arm, of other sizes but for segment 3, whose agent hears the same from its neighbours.
    others = jnp.arange(5) != 2
    parts = lambda law: (law.segments.length, law.segments.radius, law.legs.rate)  # noqa: E731
    other = eqx.tree_at(parts, law, tuple(jnp.where(others, 1.7 * x, x) for x in parts(law)))
    agent = agent_of(other, 2)
    said = up(agent, T[2], ups[2]), down(agent, T[2], downs[2])[0]
    for mine, before in zip(jax.tree.leaves(said), jax.tree.leaves((ups[3], downs[3])), strict=True):
        np.testing.assert_array_equal(mine, before)
    # What is below does change the message from below, and with it the one that goes on.
    _, changed, _ = sweep(other, bent(law.segments, 9), jnp.asarray(np.ones((3, 4))))
    assert np.max(np.abs(changed[3].mobility - ups[3].mobility)) > 1e-3


def test_agents_do_not_take_obstacles():
    ball = Obstacle(jnp.zeros(3), *(jnp.asarray(x) for x in (0.2, 0.1, 10.0)))
    with pytest.raises(InputError, match="obstacle"):
        agents_of(law_with(obstacle=ball))
