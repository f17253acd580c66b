"""Time laws from rest to rest: the fraction of a path that is done at a time."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.interpolate import PPoly


@dataclass(frozen=True)
class Profile:
    """A smooth time law from 0 at time 0 to 1 at time `duration`, made of polynomial phases."""

    duration: float
    """Duration [s]."""
    phases: PPoly

    def __call__(self, times: np.ndarray, derivative: int = 0) -> np.ndarray:
        """The fraction done at times [s], or one of its time derivatives; constant before and after."""
        return self.phases(np.clip(times, 0.0, self.duration), derivative)

    @staticmethod
    def from_jerks(durations: list[float], jerks: list[float], accelerations: list[float]) -> "Profile":
        """The profile of phases that start with these accelerations and have constant jerks."""
        kept = [phase for phase in zip(durations, jerks, accelerations, strict=True) if phase[0] > 0.0]
        coefficients, position, speed = [], 0.0, 0.0
        for time, jerk, acceleration in kept:
            coefficients.append([jerk / 6.0, acceleration / 2.0, speed, position])
            position += speed * time + acceleration * time**2 / 2.0 + jerk * time**3 / 6.0
            speed += acceleration * time + jerk * time**2 / 2.0
        # Rounding leaves the end at 1 to some 1e-16: bring it there exactly.
        scaled = np.array(coefficients).T / position
        ends = np.concatenate([[0.0], np.cumsum([time for time, _, _ in kept])])
        return Profile(float(ends[-1]), PPoly(scaled, ends))

    def stretched(self, duration: float) -> "Profile":
        """The same profile stretched in time; speeds fall with the ratio, accelerations with its square, jerks with its
        cube."""
        slower = self.duration / duration
        powers = slower ** np.arange(3, -1, -1)
        return Profile(duration, PPoly(self.phases.c * powers[:, None], self.phases.x / slower))


def minimum_jerk(t):
    """The minimum-jerk time law: the fraction of a path at a fraction t of its duration, 0 to 1.

    It starts and ends at rest and without acceleration (Flash and Hogan 1985).
    """
    return t**3 * (10.0 - 15.0 * t + 6.0 * t**2)


def trapezoid(max_speed: float, max_acceleration: float) -> Profile:
    """The fastest profile of bounded speed [1/s] and acceleration [1/s^2]: ramp, cruise, ramp."""
    speed = min(max_speed, sqrt(max_acceleration))
    ramp = speed / max_acceleration
    cruise = 1.0 / speed - ramp
    return Profile.from_jerks([ramp, max(cruise, 0.0), ramp], [0.0] * 3, [max_acceleration, 0.0, -max_acceleration])


def scurve(max_speed: float, max_acceleration: float, max_jerk: float) -> Profile:
    """The fastest profile of bounded speed [1/s], acceleration [1/s^2] and jerk [1/s^3]: seven phases."""
    full = max_acceleration**2 / max_jerk  # the least speed at whose ramp the acceleration limit is reached
    # The highest speed that half the path allows, with and without a phase of constant acceleration.
    peak = (sqrt(full**2 + 4.0 * max_acceleration) - full) / 2.0
    if peak < full:
        peak = (max_jerk / 4.0) ** (1.0 / 3.0)
    speed = min(max_speed, peak)
    if speed >= full:
        onset = max_acceleration / max_jerk
        steady = speed / max_acceleration - onset
    else:
        onset = sqrt(speed / max_jerk)
        steady = 0.0
    top = max_jerk * onset
    cruise = max(1.0 / speed - (2.0 * onset + steady), 0.0)
    return Profile.from_jerks(
        [onset, steady, onset, cruise, onset, steady, onset],
        [max_jerk, 0.0, -max_jerk, 0.0, -max_jerk, 0.0, max_jerk],
        [0.0, top, top, 0.0, 0.0, -top, -top],
    )
