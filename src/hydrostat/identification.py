"""Identification: parameters of a robot from a recorded path of its tip, by least squares.

Derivatives are taken through the simulation itself. The parameters are Young's modulus and the friction of the
segments, each as a factor on the value of the robot's specification.
"""

import csv
from collections.abc import Callable, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import least_squares

from hydrostat.compiling import quick_jit
from hydrostat.errors import InputError, UnsolvedError, shown
from hydrostat.mechanics import Robot, kinematics
from hydrostat.robots import RobotSpec, alterations, build_robot
from hydrostat.simulation import rollout
from hydrostat.stepping import SDIRK2
from hydrostat.system import System
from hydrostat.tables import TipRecord, read_tip_record

__all__ = ["TipFit", "TipHeights", "TipModel", "TipRecord", "read_tip_heights", "read_tip_record"]

_MOST_EVALUATIONS = 60
_LEAST_ROWS = 4


class TipHeights(NamedTuple):
    """Measured heights of a tip that carries one weight after another."""

    time: np.ndarray
    """Time since the release, ascending (m,) [s]."""
    heights: np.ndarray
    """Heights above the clamp (m, weights) [m]; NaN where nothing was measured."""


class TipFit(NamedTuple):
    """Parameters that make a model follow a record."""

    factors: np.ndarray
    """Young's modulus and friction, over those of the specification."""
    standard_errors: np.ndarray
    """Standard errors of the factors, relative, from the residual of the fit."""
    path: np.ndarray
    """x and z of the tip of the fitted model (m, 2) [m]."""
    history: np.ndarray
    """The factors of every evaluation of the model."""


class TipModel:
    """The path of a tip after a release, as a function of the factors on Young's modulus and friction.

    Functions take the natural logarithms p of the two factors.
    """

    def __init__(self, spec: RobotSpec, start, interval: float, rows: int, steps: int):
        """**Arguments:** `start`: coordinates at the release (n, k); `interval`: from row to row [s]; `rows`: of the
        record; `steps`: of the simulation in an interval.
        """
        if rows < _LEAST_ROWS:
            raise InputError(f"a record must hold at least {_LEAST_ROWS} rows to be fitted; got {rows}")
        if not all(segment.friction > 0.0 for segment in spec.segments):
            raise InputError(f"there must be friction to identify in every segment; {spec.name} has none in one")
        robot = build_robot(spec)
        friction = robot.one.damping - build_robot(alterations.without_friction(spec)).one.damping
        self.interval, self.rows, self.steps = interval, rows, steps
        self._arguments = (robot, friction, jnp.asarray(start), interval / steps, rows, steps)

    def path(self, p) -> np.ndarray:
        """x and z of the tip (m, 2) [m]."""
        return np.asarray(_path(jnp.asarray(p), *self._arguments))

    def path_and_slopes(self, p) -> tuple[np.ndarray, np.ndarray]:
        """`path`, and its derivative by the two logarithms (m, 2, 2)."""
        path, slopes = _path_and_slopes(jnp.asarray(p), *self._arguments)
        return np.asarray(path), np.asarray(slopes)

    def coordinates(self, p) -> np.ndarray:
        """The coordinates of the arm (m, n, k)."""
        return np.asarray(_coordinates_jit(jnp.asarray(p), *self._arguments))

    def fit(self, record: TipRecord, guess, on_evaluation: Callable[[int], None] | None = None) -> TipFit:
        """The factors that make the path follow a record; `UnsolvedError` where none are found.

        **Arguments:** `guess`: factors to start from; `on_evaluation`: gets the number of evaluations so far.
        """
        history: list[np.ndarray] = []

        latest: dict[str, np.ndarray] = {}

        def residual(p):
            history.append(np.exp(p))
            if on_evaluation is not None:
                on_evaluation(len(history))
            path, slopes = self.path_and_slopes(p)
            latest.update(p=np.array(p), slopes=slopes.reshape(-1, 2))
            return (path - record.tip).ravel()

        def jacobian(p):
            same = np.array_equal(p, latest["p"])
            return latest["slopes"] if same else self.path_and_slopes(p)[1].reshape(-1, 2)

        found = least_squares(
            residual,
            np.log(guess),
            jac=jacobian,  # type: ignore[arg-type]
            x_scale="jac",
            loss="linear",
            max_nfev=_MOST_EVALUATIONS,
        )
        if not found.success:
            raise UnsolvedError(
                f"the fit did not converge in {_MOST_EVALUATIONS} evaluations; start from a nearer guess"
            )
        deviation = np.sqrt(2.0 * found.cost / (record.tip.size - 2))
        spread = deviation * np.sqrt(np.diag(np.linalg.pinv(found.jac.T @ found.jac)))
        if np.any(np.abs(found.jac).max(0) == 0.0) or not np.all(spread < 1.0):
            raise UnsolvedError("the fit ran off to where the record tells nothing any more; start from a nearer guess")
        return TipFit(np.exp(found.x), spread, self.path_and_slopes(found.x)[0], np.array(history))

    def bias(self, factors, reference: "TipModel") -> np.ndarray:
        """The error of both factors that comes from this model, relative: what is found less what is true.

        To first order: the change of the logarithms with which this model follows the path that a better one has with
        the same factors. A record of the true arm that was fitted with this model has this error, and the fit's own
        standard errors do not know of it.

        **Arguments:** `factors`: as fitted; `reference`: a model of the same record with more arcs and smaller steps.
        """
        p = np.log(factors)
        path, slopes = self.path_and_slopes(p)
        return np.linalg.pinv(slopes.reshape(-1, 2)) @ (reference.path(p) - path).ravel()


def _coordinates(p, robot: Robot, friction: Float[Array, "n k"], start, dt: float, rows: int, steps: int):
    """The coordinates at the rows of a record.

    The stiffness is proportional to Young's modulus; the damping is that of the material plus that of friction.
    """
    factors = jnp.exp(p)
    changed = eqx.tree_at(
        lambda robot: (robot.one.stiffness, robot.one.damping),
        robot,
        (factors[0] * robot.one.stiffness, robot.one.damping + (factors[1] - 1.0) * friction),
    )
    system = System(changed)
    stepper = SDIRK2(rescue=False)
    return rollout(system, state=system.rest(start), steps=rows * steps, dt=dt, every=steps, stepper=stepper).q[1:]


def _tips(p, robot: Robot, *rest):
    found = _coordinates(p, robot, *rest)
    return jax.vmap(lambda q: kinematics.tip_pose(robot.arm, q).position[jnp.array([0, 2])])(found)


_path = quick_jit(_tips)
_coordinates_jit = quick_jit(_coordinates)


@quick_jit
def _path_and_slopes(p, *rest):
    def both(p):
        path = _tips(p, *rest)
        return path, path

    slopes, path = jax.jacfwd(both, has_aux=True)(p)
    return path, slopes


def read_tip_heights(file: str, weights_g: Sequence[float]) -> TipHeights:
    """Measured heights from a CSV file: time since the release [s], then a column of heights [m] for each weight.

    The header of a column is the mass at the tip in grams. An empty cell is a height that was not measured.

    **Arguments:** `weights_g`: masses at the tip [g], in the order of the result's columns; one that the file does not
    hold was not measured.
    """
    header, *rows = _cells(file) or [[]]
    try:
        masses = [float(cell) for cell in header[1:]]
        values = np.array([[float(cell) if cell.strip() else np.nan for cell in row] for row in rows])
    except ValueError:
        masses, values = [], np.zeros((0, 0))
    if not masses or values.ndim != 2 or values.shape[1] != len(header):
        raise InputError(
            f"{shown(file)} must hold rows of numbers below a header such as time,0,20, with masses in grams; "
            "something else is in it"
        )
    unknown = [mass for mass in masses if not any(np.isclose(mass, grams) for grams in weights_g)]
    if unknown:
        known = ", ".join(f"{grams:g}" for grams in weights_g)
        raise InputError(f"{shown(file)} has a column for {unknown[0]:g} g; `tip_masses_g` has {known}")
    time = values[:, 0]
    if not np.all(np.isfinite(time)) or time[0] < 0.0 or np.any(np.diff(time) <= 0.0) or np.any(np.isinf(values)):
        raise InputError(f"{shown(file)} must hold finite numbers, at ascending times from the release on")
    heights = np.full((len(time), len(weights_g)), np.nan)
    for number, grams in enumerate(weights_g):
        for column, mass in enumerate(masses, 1):
            if np.isclose(mass, grams):
                heights[:, number] = values[:, column]
    return TipHeights(time, heights)


def _cells(file: str) -> list[list[str]]:
    """The rows of a CSV file that are not empty."""
    try:
        with open(file, newline="", encoding="utf-8") as stream:
            return [row for row in csv.reader(stream) if row]
    except OSError as error:
        raise InputError(f"{shown(file)} could not be read: {error.strerror}") from None
    except (ValueError, csv.Error):
        raise InputError(
            f"{shown(file)} must hold numbers below a header line, as CSV; something else is in it"
        ) from None
