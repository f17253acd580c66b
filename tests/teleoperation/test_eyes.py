"""What the robot's eyes see comes to the operator's side: balls by two cameras, over real sockets."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from hydrostat.robots import find_robot
from hydrostat.teleoperation import Endpoint, Eyes, OperatorSide, RobotSide, eyes_pose
from hydrostat.teleoperation.simulated import LimbView

SQUID = find_robot("squid")
CENTRE, RADIUS = np.array([0.53, 0.06, -0.28]), 0.036  # beside where the palpation arm hangs


class Still:
    """A limb that does not move, robot and model alike, and what its surroundings were told to be."""

    tip_radius, touching, correction, q, faces, balls = 0.01, False, np.zeros(3), np.zeros((1, 3)), 4, 2

    def __init__(self):
        place = np.array([0.53, -0.06, -0.27])
        self.view = LimbView(place, np.array(0.0), np.zeros(3), place, np.zeros(0))
        self.limb, self.around = SimpleNamespace(body=SQUID, follower=None), ()

    def tick(self, target):
        return self.view

    def alter(self, scale, faces, stiffness, balls=()):
        self.around = list(balls)


class Hand:
    def position(self, now):
        return np.array([0.53, -0.06, -0.27])

    def render(self, force, now):
        pass


def test_the_eyes_look_forwards_and_down_from_the_bow():
    pose = eyes_pose(SQUID)
    R = np.asarray(pose.rotation)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0)
    # The squid looks along x: starboard is -y, and what is below is in the lower half of the picture.
    np.testing.assert_allclose(R[:, 0], [0.0, -1.0, 0.0], atol=1e-12)
    assert R[0, 2] > 0.8
    assert R[2, 2] < -0.5
    assert R[2, 1] < -0.8


def test_a_ball_is_seen_at_the_rate_of_the_pictures_and_not_behind():
    eyes = Eyes(SQUID, seed=1)
    centre, radius = eyes.observe(0.0, CENTRE, RADIUS)
    assert np.linalg.norm(centre - CENTRE) < 0.01
    assert radius == pytest.approx(RADIUS, rel=0.05)
    assert eyes.observe(0.05, CENTRE, RADIUS) is None
    assert eyes.observe(0.5, [-0.5, 0.0, 0.0], RADIUS) is None


def test_the_operators_model_gets_the_balls_that_the_robot_sees():
    robot_end = Endpoint()
    operator_end = Endpoint(peer=("127.0.0.1", robot_end.port))
    hidden = (np.array([-1.0, 0.0, 0.0]), 0.05)
    robot = RobotSide(Still(), robot_end, bandwidth=np.inf, balls=[(CENTRE, RADIUS), hidden], seed=3)
    operator = OperatorSide(Still(), None, operator_end, Hand(), bandwidth=np.inf)
    for tick in range(1, 8001):
        robot.tick(0.005 * tick)
        operator.tick(0.005 * tick)
        if tick % 200 == 0:
            time.sleep(1e-3)
    assert list(operator.balls) == [0]
    estimate = operator.balls[0]
    # Twenty sights in 40 s: the mean is nearer than a single one.
    assert estimate._sights == pytest.approx(20, abs=3)
    assert np.linalg.norm(estimate.ball.centre - CENTRE) < 2e-3
    assert estimate.ball.radius == pytest.approx(RADIUS, rel=0.02)
    ((centre, radius),) = operator.model.around
    np.testing.assert_allclose(centre, estimate.ball.centre, atol=1e-3)
    assert radius == pytest.approx(estimate.ball.radius, rel=1e-2)
    operator_end.close()
    robot_end.close()


def test_a_face_that_was_felt_first_is_the_one_that_is_seen_later():
    operator = OperatorSide(Still(), None, Endpoint(peer=("127.0.0.1", 9)), Hand(), bandwidth=np.inf)
    up = np.array([0.0, 0.0, 1.0])
    operator._touch(np.array([0.03, 0.0, 0.1]), np.array([0.5, 0.0, -0.29]))
    assert len(operator.faces) == 1
    operator._see(0, np.array([0.5, 0.1, -0.3]), up)
    assert len(operator.faces) == 1
    np.testing.assert_allclose(operator.faces[0].normal, up)
    operator._see(1, np.array([0.5, 0.1, -0.6]), up)  # another one, far below
    assert len(operator.faces) == 2
    operator._see(0, np.array([0.5, 0.1, -0.31]), up)
    assert len(operator.faces) == 2
    operator.endpoint.close()
