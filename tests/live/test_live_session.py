"""A motion that goes on while it is touched: what a user does to it acts as it would in any simulation."""

import equinox as eqx
import jax
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.errors import InputError
from hydrostat.live.amputation import lose_arm
from hydrostat.simulation import Ongoing, find_motion
from hydrostat.surroundings import Hand, Nodes


def test_a_hand_is_a_spring_with_a_damper():
    rng = np.random.default_rng(1)
    place, velocity = rng.normal(size=(2, 4, 3))
    hand = Hand(np.array([0.0, 1.0, 0.0, 0.0]), (0.1, 0.2, 0.3), 7.0, 0.5)

    def force(place, velocity):
        none = np.zeros(4)
        return hand.forces(Nodes(place, velocity, np.zeros((4, 3)), np.zeros((4, 3)), none, none))

    found = force(place, velocity)
    np.testing.assert_allclose(found.force[1], 7.0 * (np.array([0.1, 0.2, 0.3]) - place[1]) - 0.5 * velocity[1])
    assert not np.any(np.asarray(found.force)[[0, 2, 3]])
    stiffness = -jax.jacobian(lambda x: force(x, velocity).force[1])(place)[:, 1]
    damping = -jax.jacobian(lambda v: force(place, v).force[1])(velocity)[:, 1]
    np.testing.assert_allclose(found.stiffness[1, 3:, 3:], stiffness)
    np.testing.assert_allclose(found.damping[1, 3:, 3:], damping)


def test_a_hand_that_holds_nothing_changes_nothing(arm_motion, arm_session):
    arm_session.reset()
    arm_session.advance(0.1)
    alone = hs.simulate(arm_motion.system, arm_motion.controller, 0.1, 5e-3).final
    np.testing.assert_allclose(arm_session.state.q, alone.q, atol=1e-12)


def test_a_hand_pulls_the_arm_to_its_place(arm_session):
    arm_session.reset()
    node = arm_session.node_of(0, 1.0)
    goal = arm_session.node_position(node) + np.array([-0.02, 0.01, 0.03])
    arm_session.push(0, 1.0, goal, 50.0)
    arm_session.advance(1.0)
    far = np.linalg.norm(arm_session.node_position(node) - goal)
    assert far < 0.002
    np.testing.assert_allclose(arm_session.push_force(), 50.0 * (goal - arm_session.node_position(node)))
    arm_session.release()
    assert not np.any(arm_session.push_force())


def test_the_current_turns(arm_session):
    arm_session.reset()
    arm_session.set_current((0.0, 0.3, 0.0))
    before = arm_session.node_position(arm_session.node_of(0, 1.0))
    arm_session.advance(0.5)
    assert arm_session.node_position(arm_session.node_of(0, 1.0))[1] - before[1] > 0.01
    arm_session.set_current((0.0, 0.0, 0.0))


def test_what_cannot_be_done_is_said(arm_session):
    with pytest.raises(InputError, match="free objects"):
        arm_session.move_object(0, (0.0, 0.0, 0.0))
    with pytest.raises(InputError, match="not a crawl"):
        arm_session.crawl_to((0.1, 0.1))
    with pytest.raises(InputError, match="several equal ones"):
        arm_session.lose_arm(0)
    with pytest.raises(InputError, match="must be one of the arms 0 to 0"):
        arm_session.push(3, 1.0, (0.0, 0.0, 0.0))


def test_a_change_of_numbers_goes_on_as_a_run_with_them_would(arm_motion):
    # A run that begins anew from a state agrees to the tolerance of the iterations.
    precise = {"stepper": hs.SDIRK2(tolerance=1e-13)}
    running = Ongoing(arm_motion.system, arm_motion.controller, 5e-3, **precise)
    running.advance(10)
    flowing = eqx.tree_at(lambda s: s.surroundings[0].current, running.system, np.array([0.1, 0.0, 0.0]))
    running.change(system=flowing)
    running.advance(10)
    first = hs.simulate(arm_motion.system, arm_motion.controller, 0.05, 5e-3, **precise)
    memory = jax.tree.map(lambda y: y[-1], first.memory)
    second = hs.simulate(flowing, arm_motion.controller, 0.05, 5e-3, state=first.final, memory=memory, **precise)
    np.testing.assert_allclose(running.state.q, second.final.q, atol=1e-12)
    assert running.time == pytest.approx(0.1)
    running.reset()
    assert running.time == 0.0


def test_a_program_stops_where_its_motion_begins():
    arm = hs.System(hs.robots.octopus_arm())
    reached = []

    def program():
        hs.simulate(arm, hs.commands.Bend(0.1, 2.0), 1.0, 5e-3)
        reached.append(1)

    found = find_motion(program)
    assert found is not None
    assert found.dt == 5e-3
    assert isinstance(found.controller, hs.commands.Bend)
    assert not reached
    assert find_motion(lambda: None) is None


def test_arms_that_are_left_stay_where_they_were():
    parts = [hs.Water(), hs.Ground(), hs.Suckers(), hs.Ball(0.01, 5e-3, (0.4, 0.0, 0.01))]
    system = hs.System(hs.robots.octopus(), parts)
    rest = jax.tree.map(np.asarray, system.rest())
    q = rest.q + np.arange(8.0)[:, None, None]
    held = np.repeat(np.arange(8) % 2, 20).astype(float)
    around = list(rest.surroundings)
    around[2] = around[2]._replace(held=held)
    state = rest._replace(q=q, surroundings=tuple(around))
    fewer, left = lose_arm(system, state, 3)
    assert fewer.robot.count == 7
    kept = [0, 1, 2, 4, 5, 6, 7]
    np.testing.assert_array_equal(left.q, q[kept])
    np.testing.assert_array_equal(left.surroundings[2].held, held.reshape(8, 20)[kept].reshape(-1))
    assert left.surroundings[3].attachment.held.shape == (7 * 20 + 1,)
    before, after = (hs.results.Trajectory.of_states(*pair).tip[0] for pair in ((system, state), (fewer, left)))
    np.testing.assert_allclose(after, before[kept], atol=1e-12)
