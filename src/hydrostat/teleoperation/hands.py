"""Hands and haptic devices: where the operator's hand is, and the force that it is given.

A device is anything with the two methods of `HapticDevice`; a driver of a real one reads its handle in `position` and
sets its motors in `render`. `VirtualHand` is a person at such a device, by numbers: the intended motion was recorded,
and the hand is drawn to it by a muscle's stiffness, so that what it is given as force moves it.
"""

from typing import Protocol

import numpy as np

from hydrostat.control import minimum_jerk

# (time [s], displacement along the obstacle's inward normal, along a first and a second tangent [mm])
RECORDED_MOTION = (
    (0.0, 0.0, 0.0, 0.0),
    (1.0, 0.0, 0.0, 0.0),
    (2.5, -20.0, 30.0, 0.0),
    (4.0, -5.0, 0.0, 10.0),
    (5.0, 12.0, 0.0, 0.0),
    (7.0, 50.0, 0.0, 0.0),
    (8.0, 50.0, 0.0, 0.0),
    (9.2, -10.0, 0.0, 0.0),
    (9.8, -10.0, 0.0, 0.0),
    (10.8, 12.0, 0.0, 0.0),
    (12.6, 50.0, 0.0, 0.0),
    (15.0, 50.0, 0.0, 0.0),
    (16.2, -10.0, 0.0, 0.0),
    (17.5, -30.0, 40.0, 0.0),
    (19.0, -10.0, 40.0, -20.0),
    (20.0, -20.0, -30.0, 0.0),
)
"""The recorded operator motion of 20 s: it moves freely, presses twice on an obstacle that is 20 mm ahead of where it
starts, and moves on."""
MASS, STIFFNESS, DAMPING = 0.4, 150.0, 14.0
"""Mass [kg], stiffness [N/m] and damping [N s/m] of a hand that holds a handle; of the order that is measured at hands
that do not grip hard, assumed."""
_INNER = 1e-3  # s, step of the hand


class HapticDevice(Protocol):
    """The documented hook for haptic devices."""

    def position(self, now: float) -> np.ndarray:
        """The place of the handle, as a place for the tip in the world [m]."""
        ...

    def render(self, force: np.ndarray, now: float) -> None:
        """Give the hand a force [N], in world axes."""
        ...


def intended(time: float, motion=RECORDED_MOTION) -> np.ndarray:
    """The displacement that a recorded motion intends at a time, along the normal and two tangents [m]."""
    rows = np.asarray(motion)
    if time >= rows[-1, 0]:
        return 1e-3 * rows[-1, 1:]
    after = max(int(np.searchsorted(rows[:, 0], time, side="right")), 1)
    first, last = rows[after - 1], rows[after]
    share = minimum_jerk((time - first[0]) / (last[0] - first[0]))
    return 1e-3 * (first[1:] + float(share) * (last[1:] - first[1:]))


class VirtualHand:
    """A hand that is drawn to a recorded motion, and that the force of a device moves: m x'' = k (i - x) - c x' + f."""

    def __init__(self, start: np.ndarray, axes: np.ndarray, *, motion=RECORDED_MOTION, force_scale: float = 25.0):
        """**Arguments:** `start`: where it starts [m]; `axes`: inward normal and two tangents of the obstacle as
        rows; `force_scale`: force on the hand over that on the limb.
        """
        self._start, self._axes, self._motion, self._scale = np.array(start), np.array(axes), motion, force_scale
        self._place, self._speed, self._force, self._time = np.array(start, float), np.zeros(3), np.zeros(3), 0.0

    def intention(self, now: float) -> np.ndarray:
        """Where the hand would be without a force [m]."""
        return self._start + intended(now, self._motion) @ self._axes

    def position(self, now: float) -> np.ndarray:
        """The place of the hand, moved on to a time [s]."""
        while self._time < now - 0.5 * _INNER:
            self._time += _INNER
            drawn = STIFFNESS * (self.intention(self._time) - self._place) - DAMPING * self._speed + self._force
            self._speed = self._speed + _INNER * drawn / MASS
            self._place = self._place + _INNER * self._speed
        return self._place.copy()

    def render(self, force: np.ndarray, now: float) -> None:
        """Give the hand the force of the limb, scaled."""
        del now
        self._force = self._scale * np.asarray(force, float)
