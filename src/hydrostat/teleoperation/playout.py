"""Commands as they come over a poor link, made into one smooth place for the tip: buffered, held when the link is
lost, and resumed without a jump.

Commands carry the operator's time. The robot does not know its offset to its own: of all packets the fastest one says
it best, so the offset is the least difference between arrival and sending that was seen of late. Commands are played
behind that by a margin, which most gaps between arrivals fit in, and which changes so slowly that nobody notices.
"""

from bisect import bisect_right, insort
from collections import deque
from itertools import pairwise

import numpy as np

from hydrostat.teleoperation.endpoint import HEARTBEAT_SECONDS, MISSED_HEARTBEATS
from hydrostat.teleoperation.messages import Command, unpacked_points

_WINDOW = 40  # arrivals over which offset and margin are found
_COVERED = 90.0  # % of the gaps between arrivals that the margin covers
_MOST_MARGIN = 1.5  # s
_STRETCH = 0.1  # of time, by which the margin changes at most
_KEPT = 5.0  # s of points
_CAUGHT_UP = 5e-4  # m
_HASTE = 0.01  # m/s^2, by which catching up becomes faster, so that it comes to an end


class Playout:
    """The place for the tip that commands ask for, over time."""

    def __init__(self, start: np.ndarray, *, speed: float = 0.4, resume_speed: float = 0.06):
        """**Arguments:** `start`: where the tip is [m]; `speed`: fastest motion of the place while commands come
        [m/s]; `resume_speed`: fastest motion to where commands have gone while the link was lost [m/s].
        """
        self.place, self.speed, self.resume_speed = np.array(start, float), speed, resume_speed
        self.holding = True
        """Whether the link is lost, so that the place stays."""
        self.resuming = False
        """Whether it is on its path to where commands have gone meanwhile."""
        self.played = -1.0
        """Time of the command that is followed, on the operator's clock [s]; negative before the first."""
        self._times: list[float] = []
        self._points: dict[float, np.ndarray] = {}
        self._arrivals: deque[tuple[float, float]] = deque(maxlen=_WINDOW)
        self._margin, self._pace = 0.0, speed

    def add(self, command: Command, sent: float, now: float) -> None:
        """Take in a command that was sent at a time of the operator [s], and came now."""
        points = unpacked_points(command.points)
        for place, point in enumerate(points):
            time = round(sent - 1e-3 * command.period_ms * (len(points) - 1 - place), 4)
            if time not in self._points:
                insort(self._times, time)
                self._points[time] = point
        newest = self._arrivals[-1][1] if self._arrivals else sent
        self._arrivals.append((now, max(sent, newest)))
        while self._times and self._times[0] < self._times[-1] - _KEPT:
            del self._points[self._times.pop(0)]

    def at(self, now: float, heard: float, dt: float) -> np.ndarray:
        """The place for the tip now [m].

        **Arguments:** `heard`: when anything of the session was heard last [s]; `dt`: since the last call [s].
        """
        lost = now - heard > MISSED_HEARTBEATS * HEARTBEAT_SECONDS
        if lost or not self._times:
            self.holding = lost
            return self.place
        if self.holding:
            # What was learnt of the link before it was lost may not hold any more.
            self.holding, self.resuming, self._pace = False, True, self.resume_speed
            self._arrivals = deque(list(self._arrivals)[-1:], maxlen=_WINDOW)
        offset = min(arrival - sent for arrival, sent in self._arrivals)
        self._margin += float(np.clip(self._needed(offset) - self._margin, -_STRETCH * dt, _STRETCH * dt))
        self.played = max(self.played, min(now - offset - self._margin, self._times[-1]))
        goal = self._interpolated(self.played)
        ahead = goal - self.place
        distance = float(np.linalg.norm(ahead))
        self.resuming = self.resuming and distance > _CAUGHT_UP
        self._pace = min(self._pace + _HASTE * dt, self.speed) if self.resuming else self.speed
        most = dt * self._pace
        self.place = goal if distance <= most else self.place + ahead * (most / distance)
        return self.place

    def _needed(self, offset: float) -> float:
        """The margin that most gaps between arrivals fit in [s]."""
        arrivals = list(self._arrivals)
        if len(arrivals) < 2:
            return self._margin
        gaps = [later[0] - offset - before[1] for before, later in pairwise(arrivals)]
        return float(np.clip(np.percentile(gaps, _COVERED), 0.0, _MOST_MARGIN))

    def _interpolated(self, time: float) -> np.ndarray:
        """The commanded place at a time of the operator [m]."""
        after = bisect_right(self._times, time)
        if after == 0 or after == len(self._times):
            return self._points[self._times[min(after, len(self._times) - 1)]]
        first, last = self._times[after - 1], self._times[after]
        share = (time - first) / (last - first)
        return (1.0 - share) * self._points[first] + share * self._points[last]
