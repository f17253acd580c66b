"""The hull of a swimming body, a prolate spheroid: its sizes, its drag and its added mass; nothing here needs JAX.

Added mass is exact for a spheroid in an ideal fluid (Lamb, Hydrodynamics, art. 114 and 115). With the eccentricity e,
and L = ln((1 + e) / (1 - e)),

    alpha = 2 (1 - e^2) / e^3 (L / 2 - e),    beta = 1 / e^2 - (1 - e^2) / (2 e^3) L,

the water carried along is alpha / (2 - alpha) of the displaced mass for motion along the axis, beta / (2 - beta) for
motion across it, and for a turn about an axis across it

    e^4 (beta - alpha) / ((2 - e^2) (2 e^2 - (2 - e^2) (beta - alpha)))

of the moment of inertia of the displaced water. A turn about its own axis moves no water.
"""

import math
from dataclasses import dataclass

import numpy as np

from hydrostat import errors
from hydrostat.errors import InputError
from hydrostat.robots.spec import SIZE


@dataclass(frozen=True)
class HullSpec:
    """The hull of a body that swims along its own z."""

    length: float
    """Length of the spheroid along the body's z [m]."""
    width: float
    """Largest diameter across [m]."""
    centre: tuple[float, ...]
    """Position of its centre in the body's frame [m]."""
    buoyancy_centre: tuple[float, ...]
    """Position of the centre of buoyancy in the body's frame [m]."""
    axial_drag: float = 0.2
    """Drag coefficient along the axis, on the largest cross-section."""
    cross_drag: float = 1.1
    """Drag coefficient across the axis, on the area of the shadow."""
    linear_speed: float = 0.05
    """Speed below which drag is rather linear than quadratic [m/s]."""

    def __post_init__(self):
        checked = {name: errors.number(name, getattr(self, name), **SIZE) for name in ("length", "width")}
        if not checked["length"] >= 1.01 * checked["width"]:
            raise InputError(
                f"`length` of a hull must be at least 1.01 times its `width`; got {checked['length']:g} m and "
                f"{checked['width']:g} m"
            )
        for name in ("centre", "buoyancy_centre"):
            checked[name] = errors.numbers(name, getattr(self, name), 3, least=-1e3, most=1e3)
        for name in ("axial_drag", "cross_drag", "linear_speed"):
            checked[name] = errors.number(name, getattr(self, name), least=0.0, most=1e3)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def volume(self) -> float:
        """The volume of the spheroid [m^3]."""
        return math.pi / 6.0 * self.length * self.width**2

    @property
    def added_shares(self) -> tuple[float, float, float]:
        """The water carried along over the water displaced: along the axis, across it, and turning about an axis
        across it."""
        e2 = 1.0 - (self.width / self.length) ** 2
        e = math.sqrt(e2)
        log = math.log((1.0 + e) / (1.0 - e))
        alpha = 2.0 * (1.0 - e2) / e**3 * (0.5 * log - e)
        beta = 1.0 / e2 - (1.0 - e2) / (2.0 * e**3) * log
        turning = e2**2 * (beta - alpha) / ((2.0 - e2) * (2.0 * e2 - (2.0 - e2) * (beta - alpha)))
        return alpha / (2.0 - alpha), beta / (2.0 - beta), turning

    @property
    def added(self) -> np.ndarray:
        """The diagonal inertia of the water carried along over its density, about the centre [m^5, m^3]."""
        along, across, turning = self.added_shares
        moment = self.volume * (self.length**2 + self.width**2) / 20.0
        return np.array([turning * moment] * 2 + [0.0] + [across * self.volume] * 2 + [along * self.volume])
