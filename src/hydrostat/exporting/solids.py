"""Masses and moments of inertia of solid pieces."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hydrostat.robots.spec import MassSpec


@dataclass(frozen=True)
class Solid:
    """A piece of matter in a link's frame."""

    mass: float
    """Mass [kg]."""
    centre: np.ndarray
    """Centre of mass (3,) [m]."""
    inertia: np.ndarray
    """Moment of inertia about the centre of mass, in the link's axes, (3, 3) [kg m^2]."""
    volume: float = 0.0
    """Volume of the displaced water [m^3]."""

    def moved(self, z: float) -> "Solid":
        """The same solid further along z [m]."""
        return Solid(self.mass, self.centre + np.array([0.0, 0.0, z]), self.inertia, self.volume)

    def scaled(self, share: float) -> "Solid":
        """The same solid with a share of the mass."""
        return Solid(share * self.mass, self.centre, share * self.inertia, share * self.volume)


def frustum(base: float, length: float, radii: tuple[float, float], density: float) -> Solid:
    """A truncated cone along z, of even density.

    **Arguments:** `base`: where it begins on z [m]; `length` [m]; `radii`: at its two ends [m]; `density` [kg/m^3].
    """
    # Three Gauss points are exact for the polynomials up to r^4 z^0 and r^2 z^2.
    nodes, weights = np.polynomial.legendre.leggauss(3)
    part = 0.5 * (nodes + 1.0)
    z, weights = base + length * part, 0.5 * length * weights
    radius = radii[0] + (radii[1] - radii[0]) * part
    area, moment = np.pi * radius**2, 0.25 * np.pi * radius**4
    volume = float(weights @ area)
    centre = float(weights @ (area * z)) / volume
    across = float(weights @ (moment + area * (z - centre) ** 2))
    about_axis = 2.0 * float(weights @ moment)
    tensor = density * np.diag([across, across, about_axis])
    return Solid(density * volume, np.array([0.0, 0.0, centre]), tensor, volume)


def lump(mass: float, inertia: float, place: float) -> Solid:
    """A lumped mass on the z axis; it displaces no water."""
    return Solid(mass, np.array([0.0, 0.0, place]), inertia * np.eye(3))


def lumps_along(masses: Iterable[MassSpec], marks: np.ndarray) -> dict[int, list[tuple[MassSpec, float]]]:
    """The lumped masses of each section, by its index, with their distances from its start [m].

    **Arguments:** `marks`: where sections begin and end, from 0 on [m].
    """
    found: dict[int, list[tuple[MassSpec, float]]] = {}
    for mass in masses:
        if mass.mass > 0.0:
            place = mass.place * marks[-1]
            # A mass at a boundary, rounding included, belongs to the section before it.
            index = int(np.clip(np.searchsorted(marks[1:], place - 1e-9 * marks[-1]), 0, len(marks) - 2))
            found.setdefault(index, []).append((mass, float(place - marks[index])))
    return found


def together(solids: Iterable[Solid]) -> Solid | None:
    """Several pieces as one; None for none."""
    parts = [solid for solid in solids if solid.mass > 0.0]
    if not parts:
        return None
    mass = sum(part.mass for part in parts)
    centre = np.sum([part.mass * part.centre for part in parts], 0) / mass
    tensor = np.zeros((3, 3))
    for part in parts:
        arm = part.centre - centre
        tensor += part.inertia + part.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Solid(mass, centre, tensor, sum(part.volume for part in parts))
