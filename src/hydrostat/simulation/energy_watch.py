"""A watch for energy that grows without a source, over the pieces of a simulation.

Drawing up the balance of every step would cost as much as some of its iterations. So the watch compares the rates of
rows that are there anyway, and asks for a balance only where they have grown tenfold as an energy would, and beyond
what a step resolves with ease. Then the last piece is made once more with a row for every step, and over these rows the
change of the energy is compared with the work of actuators, loads and surroundings less the heat of the material,
summed as the stepper sums it.
"""

from typing import NamedTuple

import jax
import numpy as np

from hydrostat.mechanics.robot import split
from hydrostat.results.trajectory import Trajectory
from hydrostat.stepping.base import AbstractStepper
from hydrostat.stepping.momentum import KeepMomentum
from hydrostat.stepping.sdirk2 import SDIRK2
from hydrostat.system import State, System

GROWTH = 10.0
"""Factor by which the mean square of rates must have grown for a balance to be drawn up."""
_SLOW = 0.06  # rad a step
_BLOCKS = 8  # of a piece of rows, whose largest rates are compared
_LONGEST = 4.0  # span of the growth, in pieces, over which the gain of one piece is taken to have gone on
_SHARE = 0.5  # of the growth that has no source, from which it is named
MOST_STEPS = 800
"""Largest number of steps that a balance is drawn up over."""


class Balance(NamedTuple):
    """The balance of a robot's energy over some rows, one for every step."""

    gain: float
    """Largest part of the energy that the work does not explain [J]."""
    size: float
    """Largest kinetic energy, and the work by its absolute value [J]."""
    seconds: float
    """Time from the first row to the last [s]."""

    def unexplained(self, span: float) -> bool:
        """Whether the growth is not explained, had the gain gone on like this for a span of time [s]."""
        pieces = min(max(span / self.seconds, 1.0), _LONGEST)
        return self.gain * pieces > _SHARE * self.size


def draw_up(rows: Trajectory, stepper: AbstractStepper) -> Balance:
    """The balance over rows that were made by a stepper, one for every step.

    A control that is a function of time may change within a step, of which rows have its begin. So the work of a step
    is the larger one of those with its control and with the next; the last step, of which no next is there, is left
    out.
    """
    energy, steps = rows.energy(), np.diff(rows.time)
    control = jax.tree.map(lambda y: np.concatenate([y[1:], y[-1:]]), rows.control)
    next_control = Trajectory(rows.system, rows.state, control, rows.memory, rows.converged, rows.iterations)
    work = np.maximum(_work(rows, stepper, steps), _work(next_control, stepper, steps))
    gain = np.cumsum(np.diff(energy.total) - work)[:-1]
    size = float(np.max(energy.kinetic) + np.sum(np.abs(work)))
    return Balance(float(np.max(gain, initial=0.0)), size, float(rows.time[-1] - rows.time[0]))


def _work(rows: Trajectory, stepper: AbstractStepper, steps: np.ndarray) -> np.ndarray:
    """The work on the robot in each step, less the heat of its material [J]."""
    inner = stepper.stepper if isinstance(stepper, KeepMomentum) else stepper
    if isinstance(inner, SDIRK2):
        return np.asarray(rows.mean_power())[1:] * steps
    power = np.asarray(rows.power()) - np.asarray(rows.dissipation())
    power[0] = power[1]  # no step has ended at the first row
    return 0.5 * (power[1:] + power[:-1]) * steps


class EnergyWatch:
    """Watches the rates of a simulation, piece after piece.

    **Arguments:** `dt`: the step [s]. Motions of less than six hundredths of a radian in a step are slow: they do
    not count as growth.
    """

    def __init__(self, system: System, dt: float):
        self._robot, self._slow = system.robot, (_SLOW / dt) ** 2
        self._scales = [np.asarray(arm.arm.segments.scale) for arm in system.robot.each]
        self._level, self._since = None, 0.0

    def grown(self, state: State) -> float | None:
        """The time over which rates have grown tenfold by the end of a piece [s]; None where they have not.

        **Arguments:** `state`: of the rows of the piece.
        """
        times, rates = np.asarray(state.time), self._mean_squares(state)
        span = None
        for block in np.array_split(np.arange(len(times)), min(_BLOCKS, len(times))):
            level, time = float(np.max(rates[block])), float(times[block[-1]])
            if self._level is None:
                self._level, self._since = max(level, self._slow), time
            elif level > GROWTH * self._level:
                span = time - self._since if span is None else span
                self._level, self._since = level, time
        return span

    def fastest(self, state: State) -> tuple[int, int]:
        """The arm and the segment, counted from 1, that moves fastest in the last row."""
        each = [rates[-1] for rates in self._squares(state)]
        arm = int(np.argmax([np.max(rates) for rates in each]))
        return arm + 1, int(np.argmax(each[arm])) + 1

    def _mean_squares(self, state: State) -> np.ndarray:
        """The mean over the segments of the fastest arm of the squared rates, and the body's squared twist (rows,)."""
        own = np.max([np.mean(rates, -1) for rates in self._squares(state)], 0)
        return own + np.sum(np.asarray(state.base_twist) ** 2, -1) if self._robot.free_base else own

    def _squares(self, state: State) -> list[np.ndarray]:
        """The squared rates of strains times lengths of the segments of each arm (rows, n) [1/s^2]."""
        v = np.moveaxis(np.asarray(state.v), 1, 0) if self._robot.equal else split(self._robot, state.v)
        return [np.sum((np.asarray(own) * scale[:, None]) ** 2, -1) for own, scale in zip(v, self._scales, strict=True)]
