"""The hand in the page: one place for the tip that gizmo, sliders, keys and gamepads move."""

import threading

import numpy as np

from hydrostat.teleoperation.hands import HapticDevice

_SPEED = 0.25  # m/s: fastest motion of the place, however fast a gizmo is dragged
_STICK_SECONDS = 0.3  # for which a velocity holds that is not said again: its page may be gone, or its gamepad


class PageDevice:
    """A place for the tip that several inputs move, and that a haptic device may take over.

    All methods may be called from any thread.
    """

    def __init__(self, start: np.ndarray, reach: float, haptic: HapticDevice | None = None):
        """**Arguments:** `start`: where it starts [m]; `reach`: how far from there it may go [m]; `haptic`: a device
        whose handle takes the place of all other inputs, and which is given the forces.
        """
        self._lock = threading.Lock()
        self.start, self.reach, self._haptic = np.array(start, float), reach, haptic
        self._goal, self._place = self.start.copy(), self.start.copy()
        self._velocity, self._said, self._until, self._time = np.zeros(3), False, 0.0, 0.0
        self.force = np.zeros(3)
        """Force that the hand would be given [N]."""

    @property
    def goal(self) -> np.ndarray:
        """The place that the inputs ask for [m]."""
        with self._lock:
            return self._goal.copy()

    def move_to(self, place: np.ndarray) -> None:
        """Ask for a place [m], as gizmo and sliders do."""
        with self._lock:
            self._goal = self._within(np.asarray(place, float))

    def move_by(self, step: np.ndarray) -> None:
        """Ask for a place beside the present one [m], as keys do."""
        with self._lock:
            self._goal = self._within(self._goal + np.asarray(step, float))

    def set_velocity(self, velocity: np.ndarray) -> None:
        """Move on at a velocity [m/s], as the stick of a gamepad does: for 0.3 s, unless it is said again."""
        with self._lock:
            self._velocity, self._said = np.asarray(velocity, float), True

    def position(self, now: float) -> np.ndarray:
        """The place for the tip [m]."""
        if self._haptic is not None:
            return self._haptic.position(now)
        with self._lock:
            elapsed, self._time = min(max(now - self._time, 0.0), 0.1), now
            if self._said:
                self._until, self._said = now + _STICK_SECONDS, False
            elif now > self._until:
                self._velocity = np.zeros(3)
            self._goal = self._within(self._goal + elapsed * self._velocity)
            ahead = self._goal - self._place
            distance = float(np.linalg.norm(ahead))
            most = _SPEED * elapsed
            self._place = self._goal.copy() if distance <= most else self._place + ahead * (most / distance)
            return self._place.copy()

    def render(self, force: np.ndarray, now: float) -> None:
        """Keep the force for the page, and give it to the haptic device."""
        self.force = np.asarray(force, float)
        if self._haptic is not None:
            self._haptic.render(force, now)

    def _within(self, place: np.ndarray) -> np.ndarray:
        """The nearest place that is not too far from the start."""
        away = place - self.start
        distance = float(np.linalg.norm(away))
        return place if distance <= self.reach else self.start + away * (self.reach / distance)
