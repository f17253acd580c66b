"""The tracker as the authors of Lafmejani et al. 2020 ran it, which is not the one that their paper prints.

Read in the MATLAB code that they published, and written anew. Discs of fixed radii stand at equal distances; no volume
is kept. Every segment is given the leg rates that would move its own upper disc by the *whole* error of the tip, a
vector of position and Euler angles, plus what a wish for other lengths of legs leaves of itself in the null space of
the stacked leg Jacobians. The displacements of the discs are then added up from the base, so that the tip moves by
about `segments` times gain times dt of its error per step. A target counts as reached when the root mean square of
the six numbers, metres and radians together, is at or below a threshold.

Joints enter the leg vectors by their places in the world, as in that code; the leg vectors are therefore no legs of
the drawn arm. In that code, as in the paper's equation 4, legs also coincide in pairs, so that a segment moves only in
three of its six freedoms; with the pairs of an octahedron it moves in all.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hydrostat.control.tip_goals import CHUNK
from hydrostat.errors import choice, number, whole

TAPER = 0.95
"""Radius of a disc over that of the one below it."""
BASE_RADIUS = 0.25
"""The radius that the first disc has before its taper [m]."""
LENGTH = 5.0
"""Length of the arm at its start [m]."""
LEG_WISH = 0.5
"""Length that legs are to have in the null space [m]."""

LEG_PAIRS = {
    "published": (90.0, 90.0, 210.0, 210.0, 330.0, 330.0),
    "octahedral": (90.0, 210.0, 210.0, 330.0, 330.0, 90.0),
}
"""Azimuths of the joints of odd discs: as published, where legs coincide in pairs, or those of an octahedron [deg]."""
_EVEN_DEG = (150.0, 150.0, 270.0, 270.0, 30.0, 30.0)


@dataclass(frozen=True)
class AuthorsRun:
    """The motion of the authors' arm, one row per step after the start."""

    times: np.ndarray
    """[s]"""
    positions: np.ndarray
    """Centres of the discs in the world (rows, n + 1, 3) [m]."""
    rotations: np.ndarray
    """Rotations of the discs in the world (rows, n + 1, 3, 3)."""
    radii: np.ndarray
    """Radii of the discs, which never change (n + 1,) [m]."""
    joints: np.ndarray
    """Joints on each disc in its own axes (n + 1, 6, 3) [m]."""
    rms: np.ndarray
    """Root mean square of the error of the tip over its six numbers, metres and radians together, after each step."""
    headed_for: np.ndarray
    """Index of the target of each step; the first row belongs to the start."""
    arrivals: np.ndarray
    """Row at which each target that was reached was found so."""
    arrival_rms: np.ndarray
    """Root mean square of the error from each target that was reached, when it was found so."""

    @property
    def tip(self) -> np.ndarray:
        """The tip in the world (rows, 3) [m]."""
        return self.positions[:, -1]


class AuthorsTracker:
    """The authors' tracker: from target to target, with discs that all move by the error of the tip.

    tracker = AuthorsTracker(segments=20, threshold=0.06)
    found = tracker.run(SPIRAL(np.linspace(0.0, 1.0, 21)), seconds=10.0)
    """

    def __init__(
        self,
        *,
        segments: int = 20,
        threshold: float = 0.06,
        gain: float = 20.0,
        dt: float = 1e-3,
        legs: str = "published",
    ):
        """**Arguments:** `segments`: how many; `threshold`: of the root mean square of the error over its six numbers;
        `gain` [1/s]; `dt`: of a step [s]; `legs`: published or octahedral, which joints they connect.
        """
        self.segments = whole("segments", segments, least=1, most=1000)
        self.threshold = number("threshold", threshold, above=0.0)
        self.gain, self.dt = number("gain", gain, above=0.0), number("dt", dt, above=0.0)
        count = self.segments + 1
        self.radii = BASE_RADIUS * TAPER ** np.arange(1, count + 1)
        # The first disc is number 1: odd.
        azimuths = np.deg2rad(
            [LEG_PAIRS[choice("legs", legs, tuple(LEG_PAIRS))] if i % 2 == 0 else _EVEN_DEG for i in range(count)]
        )
        circle = np.stack([np.cos(azimuths), np.sin(azimuths), np.zeros_like(azimuths)], -1)
        self.joints = self.radii[:, None, None] * circle

    def run(
        self,
        targets: np.ndarray,
        seconds: float,
        on_rows: Callable[[np.ndarray, np.ndarray, np.ndarray], None] | None = None,
    ) -> AuthorsRun:
        """Head for one target after another until all are reached or the time is over.

        **Arguments:** `targets` (m, 3) [m]; their orientation is that of the start; `seconds` [s]; `on_rows`: gets
        positions, rotations and indices of targets of some rows as they come.
        """
        count, most = self.segments + 1, max(round(seconds / self.dt), 1)
        P = np.arange(count)[:, None] * np.array([0.0, 0.0, LENGTH / self.segments])
        R = np.broadcast_to(np.eye(3), (count, 3, 3)).copy()
        goals = np.concatenate([targets, np.zeros_like(targets)], -1)
        index, arrivals, reached, rows = 0, [], [], [(P, R, _rms(_pose(P, R) - goals[0]), 0)]
        while True:
            error = _pose(P, R) - goals[index]
            if _rms(error) <= self.threshold:
                arrivals.append(len(rows) - 1)
                reached.append(_rms(error))
                index += 1
                if index == len(goals):
                    break
                continue
            if len(rows) > most or not np.all(np.isfinite(error)):
                break
            P, R = self._step(P, R, error)
            rows.append((P, R, _rms(_pose(P, R) - goals[index]), index))
            if on_rows is not None and len(rows) % CHUNK == 0:
                _hand_out(rows[-CHUNK:], on_rows)
        if on_rows is not None and len(rows) % CHUNK:
            _hand_out(rows[-(len(rows) % CHUNK) :], on_rows)
        positions, rotations, rms, headed_for = map(np.array, zip(*rows, strict=True))
        times, ends = self.dt * np.arange(len(rows)), np.array(arrivals, int)
        arm = times, positions, rotations, self.radii, self.joints
        return AuthorsRun(*arm, rms, headed_for, ends, np.array(reached))

    def _step(self, P: np.ndarray, R: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions and rotations of the discs after one step towards a target."""
        n = self.segments
        a = np.einsum("nij,nkj->nki", R, self.joints) + P[:, None]
        turn = np.einsum("nji,njk->nik", R[:-1], R[1:])
        legs = (P[1:] - P[:-1])[:, None] - a[:-1] + np.einsum("nij,nkj->nki", turn, a[1:])
        lengths = np.linalg.norm(legs, axis=-1)
        along, arms = legs / lengths[..., None], np.einsum("nij,nkj->nki", R[:-1], a[1:])
        J = np.concatenate([along, np.cross(arms, along)], -1)
        stack, wish = J.reshape(6 * n, 6), (lengths - LEG_WISH).ravel()
        free = wish - stack @ (_inverse(stack) @ wish)
        rates = self.dt * (free - self.gain * stack @ error)
        moves = np.einsum("nij,nj->ni", _inverse(J), rates.reshape(n, 6))
        # Every disc takes its own displacement and those of all below it.
        P = P + np.concatenate([np.zeros((1, 3)), np.cumsum(moves[:, :3], 0)])
        turned, R = np.eye(3), R.copy()
        for i, angles in enumerate(moves[:, 3:], 1):
            turned = turned @ _rotation(angles)
            R[i] = turned @ R[i]
        return P, R


def _hand_out(rows: list[tuple], on_rows: Callable[[np.ndarray, np.ndarray, np.ndarray], None]) -> None:
    """Hand out those of some rows that are finite."""
    P, R, _, headed_for = map(np.array, zip(*rows, strict=True))
    good = np.logical_and.accumulate(np.isfinite(P).all((1, 2)))
    if good.any():
        on_rows(P[good], R[good], headed_for[good])


def _inverse(J: np.ndarray) -> np.ndarray:
    """The pseudo-inverse, with the usual tolerance of rounding."""
    return np.linalg.pinv(J, rcond=max(J.shape[-2:]) * np.finfo(float).eps)


def euler_angles(R: np.ndarray) -> np.ndarray:
    """The angles about x, y and z of rotations (..., 3, 3), as the authors take them from a rotation [rad]."""
    about_y = np.arctan2(-R[..., 2, 0], np.hypot(R[..., 2, 1], R[..., 2, 2]))
    about_x, about_z = np.arctan2(R[..., 2, 1], R[..., 2, 2]), np.arctan2(R[..., 1, 0], R[..., 0, 0])
    return np.stack([about_x, about_y, about_z], -1)


def _pose(P: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Position and Euler angles of the last disc."""
    return np.concatenate([P[-1], euler_angles(R[-1])])


def _rotation(angles: np.ndarray) -> np.ndarray:
    """The rotation about x, then the new y, then the new z."""
    (ca, cb, cc), (sa, sb, sc) = np.cos(angles), np.sin(angles)
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, ca, -sa], [0.0, sa, ca]])
    about_y = np.array([[cb, 0.0, sb], [0.0, 1.0, 0.0], [-sb, 0.0, cb]])
    about_z = np.array([[cc, -sc, 0.0], [sc, cc, 0.0], [0.0, 0.0, 1.0]])
    return about_x @ about_y @ about_z


def _rms(error: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(error))))
