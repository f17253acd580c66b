"""Identification: parameters of a robot from a recorded path of its tip, by least squares.

Derivatives are taken through the simulation itself. The parameters are Young's modulus and the friction of the
segments, each as a factor on the value of the robot's specification.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import least_squares

from hydrostat.compiling import quick_jit
from hydrostat.errors import InputError, UnsolvedError
from hydrostat.mechanics import Robot, kinematics
from hydrostat.robots import RobotSpec, alterations, build_robot
from hydrostat.simulation import rollout
from hydrostat.stepping import SDIRK2
from hydrostat.system import System
from hydrostat.tables import TipRecord, read_tip_record

__all__ = ["TipFit", "TipModel", "TipRecord", "read_tip_record"]

_MOST_EVALUATIONS = 60
_LEAST_ROWS = 4


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

    def slopes(self, p) -> np.ndarray:
        """The derivative of `path` by the two logarithms (m, 2, 2)."""
        return np.asarray(_slopes(jnp.asarray(p), *self._arguments))

    def coordinates(self, p) -> np.ndarray:
        """The coordinates of the arm (m, n, k)."""
        return np.asarray(_coordinates_jit(jnp.asarray(p), *self._arguments))

    def fit(self, record: TipRecord, guess, on_evaluation: Callable[[int], None] | None = None) -> TipFit:
        """The factors that make the path follow a record; `UnsolvedError` where none are found.

        **Arguments:** `guess`: factors to start from; `on_evaluation`: gets the number of evaluations so far.
        """
        history: list[np.ndarray] = []

        def residual(p):
            history.append(np.exp(p))
            if on_evaluation is not None:
                on_evaluation(len(history))
            return (self.path(p) - record.tip).ravel()

        found = least_squares(
            residual,
            np.log(guess),
            jac=lambda p: self.slopes(p).reshape(-1, 2),  # type: ignore[arg-type]
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
        return TipFit(np.exp(found.x), spread, self.path(found.x), np.array(history))


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
def _slopes(p, *rest):
    return jax.jacfwd(_tips)(p, *rest)
