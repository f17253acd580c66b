"""The exact rod: the planar, inextensible elastica of a specification, by multiple shooting.

An independent truth for chains of arcs, which shares nothing with the mechanics but the specification. In the plane of
bending, with x across the clamp and z along it, the rod's tangent is (sin t, cos t). What lies beyond s pulls there
with the force N and the moment M, and

    t' = k + M / EI,   M' = N_z sin t - N_x cos t,   x' = sin t,   z' = cos t,

with the unloaded curvature k: t, x and z vanish at the clamp, M at the tip. Small deviations grow along the rod as
exp(s / sqrt(EI / N)), so that under a heavy weight no moment at the clamp is precise enough to reach the tip; the rod
is therefore cut into stretches that are short by this measure, and what they start from is solved for together. A
vibration u(s) cos(w t) about this shape
adds the inertia of the moving rod; its frequencies are those at which three independent vibrations that start at the
clamp can be combined to one whose tip is free.

Nothing here needs JAX.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root_scalar

from hydrostat.errors import UnsolvedError
from hydrostat.geometry import frustum_volume
from hydrostat.robots.spec import RobotSpec

_STANDARD_GRAVITY = (0.0, 0.0, -9.81)  # m/s^2, as that of the mechanics
_FIRST_SHARE = 1.0 / 8.0  # of the load, to start with
_LEAST_SHARE = 1e-9  # of the load: where smaller parts of it are not solved for either, nothing is
_NEWTON_STEPS = 12
_LARGEST_TURN = 0.5  # rad, by which any place may turn with one more part of the load
_GROWTH = 1.5  # logarithm of the growth of small deviations along one stretch
_SCAN = 1.12  # ratio of the frequencies at which the first one is searched for
_HIGHEST = 20.0  # over the frequencies of a beam and of a pendulum: where the search for the first one ends
_FINE = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-14}
_COARSE = {"method": "DOP853", "rtol": 1e-7, "atol": 1e-12}


class Stretch(NamedTuple):
    """A part of the rod without a step in its properties and without a mass inside."""

    start: float
    """Distance of the begin from the clamp [m]."""
    end: float
    stiffness: Callable[[Any], Any]
    """Bending stiffness EI at a place, or at several [N m^2]."""
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
    beyond: Callable[[Any], Any]
    """Mass from a place, or from several, to the tip, lumps at the end included [kg]."""


@dataclass(frozen=True)
class Sag:
    """The rod at rest."""

    rod: tuple[Stretch, ...]
    gravity: tuple[float, float]
    """Gravity along x and z of the plane [m/s^2]."""
    starts: np.ndarray
    """Angle [rad], moment [N m], x and z [m] where each stretch starts, (stretches, 4)."""

    @property
    def base_moment(self) -> float:
        """Moment at the clamp [N m]."""
        return float(self.starts[0, 1])

    def at(self, distances: np.ndarray) -> np.ndarray:
        """The angle [rad], x and z [m] at ascending distances from the clamp, (m, 3); a distance may be there twice."""
        stations = np.asarray(distances, float)
        rows = []
        for part, state in zip(self.rod, self.starts, strict=True):
            last = part is self.rod[-1]
            inside = stations[(stations >= part.start) & ((stations <= part.end) if last else (stations < part.end))]
            if len(inside):
                once, index = np.unique(inside, return_inverse=True)
                found = solve_ivp(
                    lambda s, y, part=part: self._rates(part, s, y),
                    (part.start, part.end),
                    state,
                    t_eval=once,
                    **_FINE,
                ).y
                rows.append(found[[0, 2, 3]][:, index])
        return np.concatenate(rows, 1).T

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
        beam = math.sqrt(self.rod[0].stiffness(0.0) / (mass * length**3))
        highest = _HIGHEST * max(beam, math.sqrt(math.hypot(*self.gravity) / length))
        # Without a vibration the determinant is that of the stiffness, which is positive where the rod is stable.
        low, high, before = 0.0, 0.05 * beam, self._misfit(0.0, _COARSE)
        if before <= 0.0:
            raise UnsolvedError("the exact rod is unstable where it rests, and has no first frequency")
        while low < highest:
            after = self._misfit(high, _COARSE)
            if before * after < 0.0:
                found = root_scalar(
                    lambda omega: self._misfit(omega, _FINE), bracket=(low, high), xtol=1e-11 * high, rtol=1e-11
                )
                return float(found.root) / (2.0 * math.pi)
            low, high, before = high, _SCAN * high, after
        raise UnsolvedError("the exact rod has no vibration near the first frequencies of a beam and a pendulum")

    def _misfit(self, omega: float, precision: dict) -> float:
        """A determinant that vanishes at the frequencies.

        Three vibrations start at the clamp with a moment or a force of 1. Their turn p, moment m, displacements u, w
        and forces f, h along x and z follow p' = m / EI, m' = (N_x sin t + N_z cos t) p + h sin t - f cos t - w^2 J p,
        u' = p cos t, w' = -p sin t, f' = -w^2 m u, h' = -w^2 m w. At a lump, force and moment jump by its inertia.
        """
        square = omega * omega
        modes = np.zeros((6, 3))
        modes[[1, 4, 5], [0, 1, 2]] = 1.0
        scale = np.repeat(self._units(), 3).reshape(6, 3)
        for part, start in zip(self.rod, self.starts, strict=True):

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

            state = np.concatenate([start[:2], (scale * modes).ravel()])
            state = solve_ivp(rates, (part.start, part.end), state, **precision).y[:, -1]
            p, m, u, w, f, h = state[2:].reshape(6, 3)  # views: the jumps go into the state
            m -= square * part.inertia * p
            f -= square * part.mass * u
            h -= square * part.mass * w
            # Orthogonal again, with the same orientation: else all three would grow into one.
            modes, triangle = np.linalg.qr(state[2:].reshape(6, 3) / scale)
            modes *= np.where(np.diag(triangle) < 0.0, -1.0, 1.0)
        return float(np.linalg.det(modes[[1, 4, 5]]))

    def _units(self) -> list[float]:
        """Units of turn, moment, displacements and forces of a vibration: those of a slender beam."""
        length, stiffness = self.rod[-1].end, self.rod[0].stiffness(0.0)
        moment, force = stiffness / length, stiffness / length**2
        return [1.0, moment, length, length, force, force]


def sag(spec: RobotSpec, gravity: tuple[float, ...] = _STANDARD_GRAVITY) -> Sag:
    """The rod of a planar specification, at rest under its weight and that of the masses it carries.

    The load grows from nothing, in parts that are halved where Newton's method does not converge or where the rod turns
    by much, so that the branch of equilibria that starts at the unloaded rod is followed. Gravity across the plane of
    bending does nothing.

    **Arguments:** `gravity`: in the world [m/s^2].
    """
    across, along = _plane(spec)
    in_plane = (float(np.dot(gravity, across)), float(np.dot(gravity, along)))
    rod = _short_stretches(_stretches(spec), math.hypot(*in_plane))
    # Without a load there is no moment, and the angles are those of the preshape.
    turns = [part.curvature * (part.end - part.start) for part in rod]
    nodes = np.zeros((len(rod) + 1, 2))
    nodes[1:, 0] = np.cumsum(turns)
    share, step, precision = 0.0, _FIRST_SHARE, _COARSE
    while share < 1.0 or precision is _COARSE:
        precision = _FINE if share == 1.0 else _COARSE
        trial = min(share + step, 1.0)
        found = _solved(rod, (trial * in_plane[0], trial * in_plane[1]), nodes, precision)
        if found is not None:
            nodes, share, step = found, trial, 2.0 * step
        elif step < _LEAST_SHARE or precision is _FINE:
            raise UnsolvedError(
                f"the shape of the exact rod was found up to {100.0 * share:.3g} % of its load only; "
                "try a lighter weight or a stiffer rod"
            )
        else:
            step = 0.5 * min(step, 1.0 - share)
    starts = np.zeros((len(rod), 4))
    starts[:, :2] = nodes[:-1]
    for i, part in enumerate(rod[:-1]):
        there = Sag((part,), in_plane, starts[i : i + 1]).tip
        starts[i + 1, 2:] = there[1:]
    return Sag(rod, in_plane, starts)


def _short_stretches(rod: tuple[Stretch, ...], gravity: float) -> tuple[Stretch, ...]:
    """The stretches, cut such that small deviations grow along each by a factor of exp(_GROWTH) at most."""
    short = []
    for part in rod:
        weight = gravity * part.beyond(part.start)
        rate = math.sqrt(weight / min(part.stiffness(part.start), part.stiffness(part.end)))
        count = max(1, math.ceil(rate * (part.end - part.start) / _GROWTH))
        cuts = np.linspace(part.start, part.end, count + 1).tolist()
        for number, (start, end) in enumerate(pairwise(cuts), 1):
            lump = (part.mass, part.inertia) if number == count else (0.0, 0.0)
            short.append(part._replace(start=start, end=end, mass=lump[0], inertia=lump[1]))
    return tuple(short)


def _solved(rod, gravity, nodes: np.ndarray, precision: dict) -> np.ndarray | None:
    """Angle and moment at both ends of all stretches (stretches + 1, 2), by Newton's method; None if not found.

    **Arguments:** `nodes`: the same, to start from.
    """
    count, first = len(rod), nodes
    units = np.array([1.0, rod[0].stiffness(0.0) / rod[-1].end])
    enough = 1e-12 if precision is _FINE else 1e-6
    best = math.inf
    for _ in range(_NEWTON_STEPS):
        # A stretch ends where the next one starts; no angle at the clamp, no moment at the tip.
        missing, slope = np.zeros(2 * count + 2), np.zeros((2 * count + 2, 2 * count + 2))
        missing[[0, -1]] = nodes[0, 0], nodes[-1, 1] / units[1]
        slope[0, 0] = slope[-1, -1] = 1.0
        ends, changes = _ends(rod, gravity, nodes[:-1], precision)
        missing[1:-1] = ((ends - nodes[1:]) / units).ravel()
        for i in range(count):
            here = slice(2 * i + 1, 2 * i + 3)
            slope[here, 2 * i : 2 * i + 2] = changes[i] * units / units[:, None]
            slope[here, 2 * i + 2 : 2 * i + 4] = -np.eye(2)
        step = np.linalg.solve(slope, -missing).reshape(-1, 2)
        nodes = nodes + step * units
        size = float(np.max(np.abs(step)))
        if not np.isfinite(size) or np.max(np.abs(nodes[:, 0] - first[:, 0])) > _LARGEST_TURN:
            return None
        # Near the end only the integration's noise is left: stop when it no longer shrinks.
        if size <= enough or (size >= best and best <= 1e4 * enough):
            return nodes
        best = min(best, size)
    return None


def _ends(rod, gravity, starts: np.ndarray, precision: dict) -> tuple[np.ndarray, np.ndarray]:
    """Angle and moment at the ends of all stretches (n, 2), and their derivatives by those at their starts (n, 2, 2).

    **Arguments:** `starts`: angle and moment there (n, 2).
    """
    g_x, g_z = gravity
    ends, changes = [], []
    # The stretches that were one before they were cut are integrated side by side.
    for _, group in groupby(zip(rod, starts, strict=True), key=lambda pair: id(pair[0].beyond)):
        parts, own = zip(*group, strict=True)
        part, first = parts[0], np.array([part.start for part in parts])
        length = np.array([part.end for part in parts]) - first

        def rates(fraction, y, part=part, first=first, length=length):
            s = first + fraction * length
            angle, moment, t_t, t_m, m_t, m_m = y.reshape(6, -1)
            sine, cosine, beyond, stiffness = np.sin(angle), np.cos(angle), part.beyond(s), part.stiffness(s)
            turning, bending = beyond * (g_z * cosine + g_x * sine), part.curvature + moment / stiffness
            each = [
                bending,
                beyond * (g_z * sine - g_x * cosine),
                m_t / stiffness,
                m_m / stiffness,
                turning * t_t,
                turning * t_m,
            ]
            return np.concatenate([length * rate for rate in each])

        one, none = np.ones(len(parts)), np.zeros(len(parts))
        state = np.concatenate([*np.transpose(own), one, none, none, one])
        found = solve_ivp(rates, (0.0, 1.0), state, **precision).y[:, -1].reshape(6, -1)
        ends.append(found[:2].T)
        changes.append(found[2:].T.reshape(-1, 2, 2))
    return np.concatenate(ends), np.concatenate(changes)


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

    def radius(s):
        return first + slope * (s - origin)

    def mass_beyond(s):
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
