"""finger-identify: the finger's Young's modulus and friction from a recorded path of its tip, by gradients.

The finger is bent up, released, and watched by a camera: 100 pictures a second with some noise. The two numbers that
make the model's tip follow the record are found by least squares, with derivatives taken through the simulation.
"""

import csv
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import least_squares

from hydrostat.compiling import quick_jit
from hydrostat.errors import InputError, UnsolvedError, shown
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import Robot
from hydrostat.results import Variable
from hydrostat.robots.build import build_robot
from hydrostat.robots.spec import RobotSpec
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.replaying import replay_arm
from hydrostat.simulation import rollout
from hydrostat.stepping import SDIRK2
from hydrostat.system import System

_FINER = 4  # steps of the synthetic record per step of the model that is fitted to it
_MOST_EVALUATIONS = 60
_LEAST_PICTURES = 4
_LONGEST_RECORD = 100.0  # s, as that of a synthetic one


class Record(NamedTuple):
    """A tip's path, at equal intervals from the release on."""

    interval: float
    """[s]"""
    tip: np.ndarray
    """(m, 2): x and z in the world [m], the first one an interval after the release."""


def identify(run: Run) -> Outcome:
    """Recover known values from a noisy record of the model itself, or values from a measured one."""
    set_ = run.settings
    robot = build_robot(run.robot)
    start = -jnp.deg2rad(jnp.asarray(set_.release_deg, float))[:, None] / robot.arm.segments.length[:, None]
    truth = jnp.array([1.0, 1.0])
    if set_.record:
        record, known = read_record(set_.record), False
    else:
        record, known = None, True
    interval = record.interval if record else 1.0 / set_.rate_hz
    count = len(record.tip) if record else round(set_.seconds * set_.rate_hz)
    if count < _LEAST_PICTURES:
        raise InputError(
            f"the record must hold at least {_LEAST_PICTURES} pictures; {set_.seconds:g} s at `rate_hz` = "
            f"{set_.rate_hz:g} make {count}"
        )
    if not all(segment.friction > 0.0 for segment in run.robot.segments):
        raise InputError(f"this scenario needs friction to identify in both segments; {run.robot.name} has none in one")
    steps = max(1, round(1e3 * interval / set_.dt_ms))
    guess = np.log([set_.guess_youngs_modulus, set_.guess_friction])

    with run.compiling():
        friction = _friction(run.robot)
        fitted = _Fit(robot, friction, start, interval, count, steps)
        fitted.path(jnp.asarray(guess))
        fitted.slopes(jnp.asarray(guess))
        if record is None:
            finer = _Fit(robot, friction, start, interval, count, steps * _FINER)
            exact = np.asarray(finer.path(jnp.log(truth)))
            noise = np.random.default_rng(run.seed).normal(scale=1e-3 * set_.noise_mm, size=exact.shape)
            record = Record(interval, exact + noise)

    tried: list[np.ndarray] = []

    def lacking(p):
        tried.append(p.copy())
        run.progress("fitting", min(len(tried) / 12.0, 0.99))
        return (np.asarray(fitted.path(jnp.asarray(p))) - record.tip).ravel()

    with run.timed():
        found = least_squares(
            lacking,
            guess,
            jac=lambda p: np.asarray(fitted.slopes(jnp.asarray(p))).reshape(-1, 2),  # type: ignore[arg-type]
            x_scale="jac",
            loss="linear",
            max_nfev=_MOST_EVALUATIONS,
        )
        if not found.success:
            raise UnsolvedError(
                f"the fit did not converge in {_MOST_EVALUATIONS} evaluations; start from a nearer guess"
            )
        path = np.asarray(fitted.path(jnp.asarray(found.x)))
        times = record.interval * np.arange(1, count + 1)
        _write(run, times, record, path)

    factors = np.exp(found.x)
    deviation = np.sqrt(2.0 * found.cost / (record.tip.size - 2))
    spread = deviation * np.sqrt(np.diag(np.linalg.pinv(found.jac.T @ found.jac)))
    if np.any(np.abs(found.jac).max(0) == 0.0) or not np.all(spread < 1.0):
        raise UnsolvedError("the fit ran off to where the record tells nothing any more; start from a nearer guess")
    modulus, torque = run.robot.material.youngs_modulus, run.robot.segments[0].friction
    metrics = {
        "relative_error_percent": [100.0 * abs(f - 1.0) for f in factors] if known else None,
        "standard_error_percent": [100.0 * s for s in spread],
        "youngs_modulus_gpa": 1e-9 * modulus * factors[0],
        "friction_n_m_s": torque * factors[1],
        "residual_rms_mm": 1e3 * float(np.sqrt(np.mean((path - record.tip) ** 2))),
        "evaluations": len(tried),
    }
    title = f"finger-identify: {run.robot.name}"
    return Outcome(
        metrics,
        figure=lambda file: _draw(file, times, record, path, np.array(tried), known, title),
        replay=lambda file: replay_arm(
            file, robot.arm, times, fitted.shapes(jnp.asarray(found.x)), title, min_radius=0.004
        ),
        sim_seconds=count * record.interval * len(tried),
        dt=record.interval / steps,
        steps=count * steps * len(tried),
    )


class _Fit:
    """The tip's path as a function of the logarithms of the factors on modulus and friction."""

    def __init__(self, robot: Robot, friction, start, interval: float, count: int, steps: int):
        self._arguments = (robot, friction, start, interval / steps, count, steps)

    def path(self, p) -> Float[Array, "m 2"]:
        """x and z of the tip at the record's times [m]."""
        return _path(p, *self._arguments)

    def slopes(self, p) -> Float[Array, "m 2 2"]:
        """Its derivative by the two logarithms."""
        return _slopes(p, *self._arguments)

    def shapes(self, p) -> np.ndarray:
        """The finger's coordinates at the record's times."""
        return np.asarray(_shapes(p, *self._arguments))


def _friction(spec: RobotSpec) -> Float[Array, "n k"]:
    """What the friction of the segments adds to the damping of the coordinates."""
    smooth = replace(spec, segments=tuple(replace(segment, friction=0.0) for segment in spec.segments))
    return build_robot(spec).one.damping - build_robot(smooth).one.damping


def _coordinates(p, robot: Robot, friction, start, dt: float, count: int, steps: int):
    """The coordinates at the record's times.

    The stiffness is proportional to Young's modulus, and the damping is that of the material and that of friction.
    """
    factors = jnp.exp(p)
    changed = eqx.tree_at(
        lambda robot: (robot.one.stiffness, robot.one.damping),
        robot,
        (factors[0] * robot.one.stiffness, robot.one.damping + (factors[1] - 1.0) * friction),
    )
    system = System(changed)
    stepper = SDIRK2(rescue=False)
    return rollout(system, state=system.rest(start), steps=count * steps, dt=dt, every=steps, stepper=stepper).q[1:]


def _tips(p, robot: Robot, *rest):
    shapes = _coordinates(p, robot, *rest)
    return jax.vmap(lambda q: kinematics.tip_pose(robot.arm, q).position[jnp.array([0, 2])])(shapes)


_path = quick_jit(_tips)
_shapes = quick_jit(_coordinates)


@quick_jit
def _slopes(p, *rest):
    return jax.jacfwd(_tips)(p, *rest)


def read_record(file: str) -> Record:
    """A measured path from a CSV file with the columns time [s], x, z [m], at equal intervals from the release."""
    try:
        with open(file, newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.reader(stream) if row]
        values = np.array([[float(cell) for cell in row] for row in rows[1:]])
    except OSError as error:
        raise InputError(f"{shown(file)} could not be read: {error.strerror}") from None
    except (ValueError, csv.Error):
        raise InputError(
            f"{shown(file)} must hold numbers below a header line time, x, z; something else is in it"
        ) from None
    if values.ndim != 2 or values.shape[1] != 3 or len(values) < _LEAST_PICTURES:
        raise InputError(
            f"{shown(file)} must hold at least {_LEAST_PICTURES} rows of time, x, z; got an array of shape "
            f"{values.shape}"
        )
    if not np.all(np.isfinite(values)):
        raise InputError(f"{shown(file)} must hold finite numbers; row {_first_row(values)} does not")
    gaps = np.diff(values[:, 0])
    equal = np.allclose(gaps, gaps[0], rtol=1e-3, atol=0.0) and np.isclose(values[0, 0], gaps[0], rtol=1e-3, atol=0.0)
    if not equal or gaps[0] <= 0.0:
        raise InputError(f"the times in {shown(file)} must be equally spaced, the first one interval after the release")
    if values[-1, 0] > _LONGEST_RECORD:
        raise InputError(f"{shown(file)} must hold {_LONGEST_RECORD:g} s at most; got {values[-1, 0]:g} s")
    return Record(float(gaps.mean()), values[:, 1:])


def _first_row(values: np.ndarray) -> int:
    """The number of the first row below the header that is not all finite."""
    return int(np.argmin(np.all(np.isfinite(values), -1))) + 1


def _write(run: Run, times, record: Record, path) -> None:
    variables = [
        Variable("recorded", ("axis",), (2,), "m", "x and z of the tip as recorded"),
        Variable("fitted", ("axis",), (2,), "m", "x and z of the tip of the fitted model"),
    ]
    attributes = {"scenario": "finger-identify", "robot": run.robot.name}
    with run.recorder(variables, len(times), attributes=attributes) as recorder:
        recorder.append(times, recorded=record.tip, fitted=path)


def _draw(file: Path, times, record: Record, path, tried: np.ndarray, known: bool, title: str) -> None:
    """The record and the fit, what is left between them, and the way to it."""
    from hydrostat.results import figures

    figure = figures.new_figure(11, 5.5)
    figure.suptitle(title, fontsize=11)
    axes = figure.subplots(2, 2)
    for column, name in enumerate(("x", "z")):
        top = axes[0, column]
        top.plot(times, record.tip[:, column], ".", color=figures.COLORS[1], markersize=3, label="recorded")
        top.plot(times, path[:, column], color=figures.COLORS[0], linewidth=1.2, label="fitted")
        figures.style_axes(top, f"tip, {name}", "time [s]", "[m]")
    axes[0, 0].legend(fontsize=8, frameon=False)
    left, right = axes[1]
    for column, name in enumerate(("x", "z")):
        left.plot(
            times, 1e3 * (record.tip - path)[:, column], ".", color=figures.COLORS[column], markersize=3, label=name
        )
    figures.style_axes(left, "what the fit leaves", "time [s]", "[mm]")
    left.legend(fontsize=8, frameon=False)
    factors = np.exp(tried)
    for column, name in enumerate(("Young's modulus", "friction")):
        right.plot(factors[:, column], "o-", color=figures.COLORS[column], markersize=4, label=name)
    if known:
        right.axhline(1.0, color="#33322e", linewidth=0.6, linestyle=":")
    figures.style_axes(
        right, "the way there", "evaluation", "over the true value" if known else "over the robot's value"
    )
    right.set_yscale("log")
    right.legend(fontsize=8, frameon=False)
    figures.save(figure, file)
