"""The rods that all programs simulate, and the errors of their tips."""

from dataclasses import dataclass, replace

import numpy as np

from hydrostat.robots import RobotSpec
from hydrostat.robots.specs.rod import elastic_rod

BENDS = ("bend_x", "bend_y")


@dataclass(frozen=True)
class Rod:
    """A rod that is clamped along x, straight and at rest when it is let go."""

    length: float
    """[m]"""
    radius: tuple[float, float]
    """Of the base and of the tip [m]."""
    youngs_modulus: float
    """[Pa]"""
    poisson_ratio: float
    density: float
    """[kg/m^3]"""
    damping_time: float = 0.0
    """Viscosity over Young's modulus [s]."""
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    """[m/s^2]"""
    current: tuple[float, float, float] | None = None
    """Velocity of the water around it [m/s]; None in air, whose forces are left out."""
    seconds: float = 1.0
    sample: float = 0.02
    """Time between two compared tips [s]; every step is a whole part of it."""

    def specification(self, segments: int, modes: tuple[str, ...]) -> RobotSpec:
        """The specification for hydrostat, and for the exporter to MuJoCo."""
        return elastic_rod(
            self.length,
            self.radius,
            segments,
            modes=modes,
            youngs_modulus=self.youngs_modulus,
            poisson_ratio=self.poisson_ratio,
            density=self.density,
            viscosity=self.damping_time * self.youngs_modulus,
        )

    def shorter(self, seconds: float) -> "Rod":
        """The same rod for a shorter time."""
        return replace(self, seconds=seconds)

    @property
    def samples(self) -> int:
        """The number of compared tips after the first."""
        return round(self.seconds / self.sample)

    def per_sample(self, dt: float) -> int:
        """The number of steps from one compared tip to the next."""
        count = round(self.sample / dt)
        if abs(count * dt - self.sample) > 1e-9 * self.sample:
            raise ValueError(f"a step must be a whole part of {self.sample:g} s; got {dt:g} s")
        return count

    def error_percent(self, tips: np.ndarray, others: np.ndarray) -> float | None:
        """The largest distance of two paths of the tip over the length [%]; None where one of them broke off."""
        if tips.shape != others.shape or not np.isfinite(tips).all():
            return None
        return 100.0 * float(np.max(np.linalg.norm(tips - others, axis=-1))) / self.length


RODS = {
    # A silicone arm in air, assumed: soft enough to fall until it hangs, undamped, so that all programs have the same.
    "dry": Rod(0.24, (7.5e-3, 2.5e-3), 1e6, 0.5, 1000.0),
    # The same with a damping that takes the swing out of it in about a second, assumed.
    "damped": Rod(0.24, (7.5e-3, 2.5e-3), 1e6, 0.5, 1000.0, 10e-3),
    # The octopus arm's size and tissue (robots.specs.octopus_arm) in a current across it.
    "water": Rod(0.24, (7.5e-3, 0.5e-3), 10e3, 0.5, 1042.0, 10e-3, current=(0.0, 0.1, 0.0), seconds=2.0),
    # The finger's NiTi rod (robots.specs.finger), without a weight at its tip, undamped.
    "nitinol": Rod(0.6, (1e-3, 1e-3), 60e9, 0.33, 6450.0),
}
