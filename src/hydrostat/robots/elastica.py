"""The exact rod: the planar, inextensible elastica of a specification, by shooting.

An independent truth for chains of arcs, which shares nothing with the mechanics but the specification. In the plane of
bending, with x across the clamp and z along it, the rod's tangent is (sin t, cos t). What lies beyond s pulls there
with the force N and the moment M, and

    t' = k + M / EI,   M' = N_z sin t - N_x cos t,   x' = sin t,   z' = cos t,

with the unloaded curvature k: t, x and z vanish at the clamp, M at the tip. A vibration u(s) cos(w t) about this shape
adds the inertia of the moving rod; its frequencies are those at which three independent vibrations that start at the
clamp can be combined to one whose tip is free.

Nothing here needs JAX.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root_scalar

from hydrostat.errors import UnsolvedError
from hydrostat.geometry import frustum_volume
from hydrostat.robots.spec import RobotSpec

_STANDARD_GRAVITY = (0.0, 0.0, -9.81)  # m/s^2, as that of the mechanics
_LOAD_STEPS = 8
_NEWTON_STEPS = 50
_SCAN = 1.12  # ratio of the frequencies at which the first one is searched for
_FINE = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-14}
_COARSE = {"method": "DOP853", "rtol": 1e-7, "atol": 1e-12}


class Stretch(NamedTuple):
    """A part of the rod without a step in its properties and without a mass inside."""

    start: float
    """Distance of the begin from the clamp [m]."""
    end: float
    stiffness: Callable[[float], float]
    """Bending stiffness EI at a place [N m^2]."""
    line_density: Callable[[float], float]
    """Mass per length at a place [kg/m]."""
    rotary_density: Callable[[float], float]
    """Moment of inertia about a diameter per length [kg m]."""
    curvature: float
    """Curvature of the unloaded rod [1/m]."""
    mass: float
    """Mass of the lumps at the end [kg]."""
    inertia: float
    """Moment of inertia of the lumps at the end [kg m^2]."""
    beyond: Callable[[float], float]
    """Mass from a place to the tip, lumps at the end included [kg]."""


@dataclass(frozen=True)
class Sag:
    """The rod at rest."""

    rod: tuple[Stretch, ...]
    gravity: tuple[float, float]
    """Gravity along x and z of the plane [m/s^2]."""
    base_moment: float
    """Moment at the clamp [N m]."""

    def at(self, distances: np.ndarray) -> np.ndarray:
        """The angle [rad], x and z [m] at ascending distances from the clamp, (m, 3)."""
        stations = np.asarray(distances, float)
        rows, state = [], np.array([0.0, self.base_moment, 0.0, 0.0])
        for part in self.rod:
            last = part is self.rod[-1]
            inside = stations[(stations >= part.start) & ((stations <= part.end) if last else (stations < part.end))]
            marks = np.union1d(inside, part.end)
            found = solve_ivp(
                lambda s, y, part=part: self._rates(part, s, y), (part.start, part.end), state, t_eval=marks, **_FINE
            ).y
            rows.append(found[:, np.searchsorted(marks, inside)])
            state = found[:, -1]
        angle, _, x, z = np.concatenate(rows, 1)
        return np.stack([angle, x, z], -1)

    @property
    def tip(self) -> np.ndarray:
        """The angle [rad], x and z [m] of the tip."""
        return self.at(np.array([self.rod[-1].end]))[0]

    def _rates(self, part: Stretch, s: float, y: np.ndarray) -> list[float]:
        """The rates of angle, moment, x and z along the rod."""
        angle, moment = y[0], y[1]
        sine, cosine, beyond = math.sin(angle), math.cos(angle), part.beyond(s)
        turn = part.curvature + moment / part.stiffness(s)
        return [turn, beyond * (self.gravity[1] * sine - self.gravity[0] * cosine), sine, cosine]

    def first_frequency(self) -> float:
        """The lowest frequency of small vibrations about the rod at rest [Hz]."""
        length, mass = self.rod[-1].end, self.rod[0].beyond(0.0)
        low = 0.05 * math.sqrt(self.rod[0].stiffness(0.0) / (mass * length**3))
        before = self._misfit(low, _COARSE)
        for _ in range(60):
            high = _SCAN * low
            after = self._misfit(high, _COARSE)
            if before * after < 0.0:
                found = root_scalar(
                    lambda omega: self._misfit(omega, _FINE), bracket=(low, high), xtol=1e-11 * low, rtol=1e-11
                )
                return float(found.root) / (2.0 * math.pi)
            low, before = high, after
        raise UnsolvedError("the rod has no vibration near its first bending frequency; is its equilibrium unstable?")

    def _misfit(self, omega: float, precision: dict) -> float:
        """A determinant that vanishes at the frequencies.

        Three vibrations start at the clamp with a moment or a force of 1. Their turn p, moment m, displacements u, w
        and forces f, h along x and z follow p' = m / EI, m' = (N_x sin t + N_z cos t) p + h sin t - f cos t - w^2 J p,
        u' = p cos t, w' = -p sin t, f' = -w^2 m u, h' = -w^2 m w. At a lump, force and moment jump by its inertia.
        """
        square = omega * omega
        modes = np.zeros((6, 3))
        modes[[1, 4, 5], [0, 1, 2]] = 1.0
        state = np.concatenate([[0.0, self.base_moment], modes.ravel()])
        for part in self.rod:

            def rates(s, y, part=part):
                angle, moment = y[0], y[1]
                sine, cosine, beyond = math.sin(angle), math.cos(angle), part.beyond(s)
                stiffness, inertia = part.stiffness(s), square * part.line_density(s)
                p, m, u, w, f, h = y[2:].reshape(6, 3)
                g_x, g_z = self.gravity
                turning = beyond * (g_x * sine + g_z * cosine) - square * part.rotary_density(s)
                rates = np.empty_like(y)
                rates[0] = part.curvature + moment / stiffness
                rates[1] = beyond * (g_z * sine - g_x * cosine)
                rates[2:5], rates[5:8] = m / stiffness, turning * p + sine * h - cosine * f
                rates[8:11], rates[11:14] = cosine * p, -sine * p
                rates[14:17], rates[17:20] = -inertia * u, -inertia * w
                return rates

            state = solve_ivp(rates, (part.start, part.end), state, **precision).y[:, -1]
            p, m, u, w, f, h = state[2:].reshape(6, 3)  # views: the jumps go into the state
            m -= square * part.inertia * p
            f -= square * part.mass * u
            h -= square * part.mass * w
        return float(np.linalg.det(state[2:].reshape(6, 3)[[1, 4, 5]]))


def sag(spec: RobotSpec, gravity: tuple[float, ...] = _STANDARD_GRAVITY) -> Sag:
    """The rod of a planar specification, at rest under its weight and that of the masses it carries.

    The load grows in steps from nothing; in each, Newton's method finds the moment at the clamp for which the tip has
    none. Gravity across the plane of bending does nothing.

    **Arguments:** `gravity`: in the world [m/s^2].
    """
    rod = _stretches(spec)
    across, along = _plane(spec)
    in_plane = (float(np.dot(gravity, across)), float(np.dot(gravity, along)))
    moment = 0.0
    for step in range(1, _LOAD_STEPS + 1):
        share = step / _LOAD_STEPS
        trial = (share * in_plane[0], share * in_plane[1])
        precision = _FINE if step == _LOAD_STEPS else _COARSE
        moment = _base_moment(rod, trial, moment * step / max(step - 1, 1), precision)
    return Sag(rod, in_plane, moment)


def _base_moment(rod, gravity, moment: float, precision: dict) -> float:
    """The moment at the clamp [N m], from a guess."""
    scale = rod[0].stiffness(0.0) / rod[-1].end
    best, enough = math.inf, (1e-13 if precision is _FINE else 1e-6) * scale
    for _ in range(_NEWTON_STEPS):
        missing, slope = _tip_moment(rod, gravity, moment, precision)
        change = -missing / slope
        # Beyond a turn of the whole rod by some radians the linear picture does not hold.
        change = max(-scale, min(scale, change))
        moment += change
        # Near the end only the integration's noise is left: stop when it no longer shrinks.
        if abs(change) <= enough or (abs(change) >= best and best <= 1e4 * enough):
            return moment
        best = min(best, abs(change))
    raise UnsolvedError("the exact rod's shape was not found by shooting; its load may be too large for its stiffness")


def _tip_moment(rod, gravity, moment: float, precision: dict) -> tuple[float, float]:
    """The moment at the tip for one at the clamp, and its derivative."""
    g_x, g_z = gravity
    state = np.array([0.0, moment, 0.0, 1.0])
    for part in rod:

        def rates(s, y, part=part):
            angle, moment, angle_change, moment_change = y
            sine, cosine, beyond = math.sin(angle), math.cos(angle), part.beyond(s)
            stiffness = part.stiffness(s)
            return [
                part.curvature + moment / stiffness,
                beyond * (g_z * sine - g_x * cosine),
                moment_change / stiffness,
                beyond * (g_z * cosine + g_x * sine) * angle_change,
            ]

        state = solve_ivp(rates, (part.start, part.end), state, **precision).y[:, -1]
    return float(state[1]), float(state[3])


def _plane(spec: RobotSpec) -> tuple[np.ndarray, np.ndarray]:
    """The world's directions of x, across, and z, along the clamp, by the smallest rotation of the world's z."""
    z = np.array(spec.base.axis) / np.linalg.norm(spec.base.axis)
    turn = np.cross([0.0, 0.0, 1.0], z)
    across = np.array([1.0, 0.0, 0.0])
    if np.linalg.norm(turn) > 1e-12:
        # Rodrigues: cos x + sin (k x x) + (1 - cos) k (k . x) with k sin = turn.
        across = z[2] * across + np.cross(turn, across) + turn * turn[0] * (1.0 - z[2]) / np.dot(turn, turn)
    return across, z


def _stretches(spec: RobotSpec) -> tuple[Stretch, ...]:
    """The rod from clamp to tip, cut where segments meet and where masses sit."""
    starts = np.concatenate([[0.0], np.cumsum([segment.length for segment in spec.segments])])
    length = starts[-1]
    places = [min(mass.place * length, length) for mass in spec.masses]
    cuts = sorted({0.0, *starts.tolist(), *places})
    # Cuts that rounding made of one place are one.
    cuts = [s for i, s in enumerate(cuts) if i == 0 or s - cuts[i - 1] > 1e-9 * length]
    cuts[-1] = float(length)
    parts: list[Stretch] = []
    beyond = 0.0
    for start, end in reversed(list(pairwise(cuts))):
        number = int(np.searchsorted(starts, 0.5 * (start + end))) - 1
        here = [m for m, s in zip(spec.masses, places, strict=True) if abs(s - end) <= 1e-9 * length]
        lump = sum(m.mass for m in here)
        beyond += lump
        part = _stretch(spec, number, float(starts[number]), (start, end), (lump, sum(m.inertia for m in here)), beyond)
        beyond = part.beyond(start)
        parts.insert(0, part)
    return tuple(parts)


def _stretch(spec: RobotSpec, number: int, origin: float, ends, lump, beyond: float) -> Stretch:
    """A part of one segment, whose radius is linear along it."""
    segment, material = spec.segments[number], spec.material
    first, last = segment.radius
    slope = (last - first) / segment.length
    end = ends[1]

    def radius(s: float) -> float:
        return first + slope * (s - origin)

    def mass_beyond(s: float) -> float:
        return beyond + material.density * frustum_volume(end - s, radius(s), radius(end))

    return Stretch(
        *ends,
        stiffness=lambda s: material.youngs_modulus * math.pi / 4.0 * radius(s) ** 4,
        line_density=lambda s: material.density * math.pi * radius(s) ** 2,
        rotary_density=lambda s: material.density * math.pi / 4.0 * radius(s) ** 4,
        curvature=math.radians(segment.preshape_deg[1]) / segment.length,
        mass=lump[0],
        inertia=lump[1],
        beyond=mass_beyond,
    )
