"""The robot's side of the link: a limb that follows commands as they come, holds still when none do, and reports."""

from collections.abc import Sequence

import numpy as np

from hydrostat.teleoperation import messages
from hydrostat.teleoperation.endpoint import HEARTBEAT_SECONDS, Endpoint
from hydrostat.teleoperation.eyes import Eyes
from hydrostat.teleoperation.messages import HOLDING, TOUCHING, Ball, Command, Heartbeat, Obstacle, Report, packed
from hydrostat.teleoperation.pacing import Pacer
from hydrostat.teleoperation.playout import Playout
from hydrostat.teleoperation.simulated import TICK, SimulatedLimb

MOST_RATE = 50.0
"""Rate of reports and commands on a link without limit [1/s]."""
_SEEN_EVERY = 2.0  # s between two estimates of an obstacle
VISION_NOISE = 3e-3
"""Standard deviation of the place of a face that the robot's eyes estimate [m]; assumed."""


class RobotSide:
    """The robot's side, to be called once a tick."""

    def __init__(
        self,
        limb: SimulatedLimb,
        endpoint: Endpoint,
        *,
        bandwidth: float,
        faces: Sequence[tuple[np.ndarray, np.ndarray]] = (),
        balls: Sequence[tuple[np.ndarray, float]] = (),
        seed: int = 0,
    ):
        """**Arguments:** `bandwidth`: of the link [bit/s]; `faces`: a point and the outward normal of each face that
        it senses; `balls`: centre and radius of each ball that is there to be seen, by the eyes of a robot with a body;
        `seed`: of the noise.
        """
        self.limb, self.endpoint = limb, endpoint
        self.playout = Playout(limb.view.tip)
        self._pacer = Pacer(bandwidth, MOST_RATE)
        self._faces, self._random = list(faces), np.random.default_rng(seed)
        body = limb.limb.body
        self._eyes = None if body is None else Eyes(body, seed)
        self._balls = [] if body is None else list(balls)
        self._next_look, self._looked, self._sent = 0.0, 0, -1e9
        self._seen: Ball | None = None

    def tick(self, now: float) -> None:
        """Take in what has come, move the limb by one tick, and report."""
        for opened in self.endpoint.poll(now):
            if isinstance(opened.message, Command):
                self.playout.add(opened.message, opened.time, now)
        target = self.playout.at(now, self.endpoint.last_heard, TICK)
        self.limb.tick(target)
        message = self._message(now)
        if self._pacer.ready(now, len(messages.encode(message))):
            self._sent = now
            self.endpoint.send(message, now)
            if isinstance(message, Obstacle | Ball):
                self._turn_to_next(now)
        elif now - self._sent >= HEARTBEAT_SECONDS:
            self._sent = now
            self.endpoint.send(Heartbeat(), now)

    def _turn_to_next(self, now: float) -> None:
        """Turn to the next obstacle."""
        self._next_look = now + _SEEN_EVERY / (len(self._faces) + len(self._balls))
        self._looked, self._seen = self._looked + 1, None

    def _obstacle(self, now: float) -> Obstacle | Ball | None:
        """The obstacle whose turn it is, as it is seen; None where it is not."""
        number = self._looked % (len(self._faces) + len(self._balls))
        if number < len(self._faces):
            point, normal = self._faces[number]
            seen = np.asarray(point) + self._random.normal(0.0, VISION_NOISE) * np.asarray(normal)
            return Obstacle(number, packed(seen, "<f4"), packed(normal, "<f4"))
        if self._seen is None:
            # Kept until the link bears it: the same picture is not looked at twice.
            assert self._eyes is not None
            number -= len(self._faces)
            ball = self._eyes.observe(now, *self._balls[number])
            self._seen = None if ball is None else Ball(number, packed([*ball[0], ball[1]], "<f4"))
        return self._seen

    def _message(self, now: float) -> Report | Obstacle | Ball:
        """What is to be said next."""
        if (self._faces or self._balls) and now >= self._next_look and self.endpoint.connected:
            seen = self._obstacle(now)
            if seen is not None:
                return seen
            self._turn_to_next(now)
        view, played = self.limb.view, self.playout.played
        flags = HOLDING * self.playout.holding + TOUCHING * self.limb.touching
        vectors = (packed(x, "<f4") for x in (view.tip, view.force, view.touch))
        time = -1 if played < 0.0 else round(1e3 * played)
        rows = (packed(x) for x in (self.limb.correction, self.limb.q, view.drive))
        return Report(int(flags), time, *vectors, *rows)
