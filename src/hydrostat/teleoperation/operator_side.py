"""The operator's side of the link: the hand moves a local model that answers at once, and that learns from reports.

Model-mediated: the hand is given the force of the local model, never one that is late. Without the model, `direct`, it
is given the last force that was reported; both send the same commands.
"""

import time
from collections import deque
from typing import NamedTuple

import numpy as np

from hydrostat.teleoperation import messages
from hydrostat.teleoperation.adaptation import (
    RECENT,
    BallEstimate,
    Face,
    FaceEstimate,
    LimbEstimate,
    Moment,
    RoundObstacle,
)
from hydrostat.teleoperation.endpoint import HEARTBEAT_SECONDS, Endpoint
from hydrostat.teleoperation.hands import HapticDevice
from hydrostat.teleoperation.messages import Ball, Command, Heartbeat, Obstacle, Report, packed_points, unpacked
from hydrostat.teleoperation.pacing import Pacer
from hydrostat.teleoperation.robot_side import MOST_RATE
from hydrostat.teleoperation.simulated import TICK, SimulatedLimb

POINTS = 10
"""Number of points in a command."""
ASSUMED_STIFFNESS = 120.0
"""Stiffness of an obstacle before it was touched [N/m]; assumed."""
_ALTERED_EVERY = 0.1  # s between two changes of the model
_FOLLOWS = 0.3  # s: time constant with which the model follows the estimates, so that no hand is kicked
_HEARD = 100  # packets over which losses are counted
_OVERTAKEN = 5.0  # s
_NEW_FACE = 0.03  # m: a touch so far from all known faces is of another one


class LinkHealth(NamedTuple):
    """The health of the link, as the operator's side sees it."""

    alive: bool
    """Whether anything was heard within four heartbeats."""
    silence: float
    """Time since anything was heard [s]."""
    round_trip: float
    """Age of the command that the last report tells the effect of [s]; not a number before the first."""
    loss: float
    """Share of the robot's last packets that did not come."""
    holding: bool
    """Whether the robot holds still."""


class OperatorSide:
    """The operator's side, to be called once a tick."""

    def __init__(
        self,
        model: SimulatedLimb,
        estimate: LimbEstimate | None,
        endpoint: Endpoint,
        device: HapticDevice,
        *,
        bandwidth: float,
        mediated: bool = True,
    ):
        """**Arguments:** `model`: the local model, with as many planes as obstacles it can hold, far away at first;
        `estimate`: of its own stiffness, None for a limb that has none; `bandwidth`: of the link [bit/s]; `mediated`:
        whether the local model answers the hand, or the last report.
        """
        self.model, self.estimate, self.endpoint, self.device = model, estimate, endpoint, device
        self.mediated, self._pacer = mediated, Pacer(bandwidth, MOST_RATE)
        self._period = TICK * max(1, round((0.02 if np.isinf(bandwidth) else 0.05) / TICK))
        self._points: deque[np.ndarray] = deque(maxlen=POINTS)
        self._tick, self._sent, self._altered = 0, -1e9, 0.0
        model.alter(1.0, [], ASSUMED_STIFFNESS)
        self.faces: list[FaceEstimate] = []
        self._seen: dict[int, FaceEstimate] = {}
        self.balls: dict[int, BallEstimate] = {}
        """The balls that the robot's eyes have seen, by their numbers."""
        self._used: list[Face] = []
        self._used_balls: list[RoundObstacle] = []
        self._scale, self._correction = 1.0, np.zeros(3)
        self._recent: list[Moment] = []
        self._last = -1.0
        self.report: Report | None = None
        """The last report; None before the first."""
        self.heard: deque[tuple[float, int]] = deque(maxlen=_HEARD)
        """When packets came [s], and their sequence numbers."""
        self.now = 0.0
        """Time of the last tick [s]."""
        self.latency = 0.0
        """Time that the local model took to answer the last motion of the hand [s]."""

    @property
    def remote_force(self) -> np.ndarray:
        """The contact force of the last report [N]."""
        return np.zeros(3) if self.report is None else unpacked(self.report.force, "<f4")

    def tick(self, now: float) -> None:
        """Answer the hand, learn from what has come, and send commands."""
        self.now = now
        sampled = time.perf_counter()
        place = self.device.position(now)
        view = self.model.tick(place)
        if self.mediated:
            self.model.correction = self._correction
        self.device.render(view.force if self.mediated else self.remote_force, now)
        self.latency = time.perf_counter() - sampled
        for opened in self.endpoint.poll(now):
            self.heard.append((now, opened.sequence))
            self._learn(opened.message, opened.time)
        self._send(place, now)
        if now - self._altered >= _ALTERED_EVERY:
            self._alter(now - self._altered)
            self._altered = now

    def health(self, now: float) -> "LinkHealth":
        """The health of the link."""
        # A copy at once, since the page asks from a thread of its own.
        numbers = [number for _, number in list(self.heard)]
        missing = 1.0 - len(numbers) / (max(numbers) - min(numbers) + 1) if numbers else 0.0
        played = -1 if self.report is None else self.report.played_ms
        silence = now - self.endpoint.last_heard if self.endpoint.connected else np.inf
        round_trip = np.nan if played < 0 else now - 1e-3 * played
        holding = self.report is None or bool(self.report.flags & messages.HOLDING)
        return LinkHealth(self.endpoint.alive(now), silence, round_trip, max(missing, 0.0), holding)

    def _send(self, place: np.ndarray, now: float) -> None:
        """Send the last points of the hand, as often as the link bears."""
        every = round(self._period / TICK)
        if self._tick % every == 0:
            self._points.append(place)
            command = Command(round(1e3 * self._period), packed_points(np.array(self._points)))
            if self._pacer.ready(now, len(messages.encode(command))):
                self._sent = now
                self.endpoint.send(command, now)
        if now - self._sent >= HEARTBEAT_SECONDS:
            self._sent = now
            self.endpoint.send(Heartbeat(), now)
        self._tick += 1

    def _learn(self, message, sent: float) -> None:
        """Take in a message of the robot."""
        if isinstance(message, Obstacle):
            self._see(message.number, unpacked(message.place, "<f4"), unpacked(message.normal, "<f4"))
        if isinstance(message, Ball):
            *centre, radius = unpacked(message.shape, "<f4")
            self._see_ball(message.number, np.array(centre), float(radius))
        # A report that was overtaken is old; one of a robot that started anew is not.
        if not isinstance(message, Report) or 0.0 <= self._last - sent < _OVERTAKEN:
            return
        self.report = message
        tip, force, touch = (unpacked(x, "<f4") for x in (message.tip, message.force, message.touch))
        interval = max(sent - self._last, 0.0)
        self._last = sent
        drive, q = unpacked(message.drive), unpacked(message.q)
        touching = bool(message.flags & messages.TOUCHING)
        same = [one for one in self._recent if one.time > sent - RECENT and one.drive.shape == drive.shape]
        self._recent = [] if touching else [*same, Moment(sent, tip, drive)]
        fits = q.size == self.model.q.size and drive.size == _tendons(self.model.limb.follower)
        if self.estimate is not None and fits and len(self._recent) > 1:
            self.estimate.update(self._recent, q, interval)
        if touching:
            self._touch(force, touch)

    def _see(self, number: int, point: np.ndarray, normal: np.ndarray) -> None:
        """Take in a face that the robot's eyes see: one that was seen before, or felt, or a new one."""
        if number in self._seen:
            self._seen[number].see(point)
            return
        unseen = [one for one in self.faces if one not in self._seen.values()]
        near = min(unseen, key=lambda one: one.felt_from(point, normal), default=None)
        if near is not None and near.felt_from(point, normal) < _NEW_FACE:
            near.turn(point, normal)
            self._seen[number] = near
        elif len(self.faces) < self.model.faces:
            self._seen[number] = FaceEstimate(point, normal, self.model.tip_radius, ASSUMED_STIFFNESS)
            self.faces.append(self._seen[number])

    def _see_ball(self, number: int, centre: np.ndarray, radius: float) -> None:
        """Take in a ball that the robot's eyes see."""
        if number in self.balls:
            self.balls[number].see(centre, radius)
        elif len(self.balls) < self.model.balls:
            self.balls[number] = BallEstimate(centre, radius, self.model.tip_radius, ASSUMED_STIFFNESS)

    def _touch(self, force: np.ndarray, place: np.ndarray) -> None:
        """Take in a touch: of the nearest face or ball, or of a face that nobody has seen."""

        def away(one: FaceEstimate | BallEstimate) -> float:
            if isinstance(one, FaceEstimate):
                return abs(float(one.normal @ (place - one.face.point)) - self.model.tip_radius)
            return abs(float(np.linalg.norm(place - one.ball.centre)) - one.ball.radius - self.model.tip_radius)

        near = min([*self.faces, *self.balls.values()], key=away, default=None)
        if (near is None or away(near) > _NEW_FACE) and len(self.faces) < self.model.faces:
            normal = force / np.linalg.norm(force)
            near = FaceEstimate(
                place - self.model.tip_radius * normal, normal, self.model.tip_radius, ASSUMED_STIFFNESS
            )
            self.faces.append(near)
        if near is not None:
            near.touch(force, place)

    def _alter(self, elapsed: float) -> None:
        """Let the model follow the estimates."""
        share = 1.0 - np.exp(-elapsed / _FOLLOWS)
        if self.estimate is not None:
            self._scale += share * (self.estimate.scale - self._scale)
        if self.report is not None:
            # The model makes the same correction as the robot, whose sensors see the tip.
            self._correction = self._correction + share * (unpacked(self.report.correction) - self._correction)
        self._used = _blended(self._used, [one.face for one in self.faces], share)
        self._used_balls = _blended(self._used_balls, [one.ball for one in self.balls.values()], share)
        tip, radius = self.model.view.tip, self.model.tip_radius

        def height(one: Face | RoundObstacle) -> float:
            if isinstance(one, Face):
                return float(one.normal @ (tip - one.point)) - radius
            return float(np.linalg.norm(tip - one.centre)) - one.radius - radius

        near = min([*self._used, *self._used_balls], key=height, default=None)
        stiffness = ASSUMED_STIFFNESS if near is None else near.stiffness
        faces = [(face.point, face.normal) for face in self._used]
        self.model.alter(self._scale, faces, stiffness, [(ball.centre, ball.radius) for ball in self._used_balls])


def _blended(used: list, targets: list, share: float) -> list:
    """What is used of each estimate, drawn to it by a share of what is left; new ones as they are."""
    drawn = [type(new)(*(a + share * (b - a) for a, b in zip(old, new, strict=True))) for old, new in
             zip(used, targets, strict=False)]  # fmt: skip
    return drawn + targets[len(used) :]


def _tendons(follower) -> int:
    """The number of tendons that a follower has."""
    return len(getattr(follower, "stiffness", ()))
