"""The motions that a program simulates, before they are: system, controller and first state of each."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from hydrostat.control.base import Controller
from hydrostat.sensing import Sensors
from hydrostat.stepping.base import AbstractStepper
from hydrostat.system import Control, State, System

if TYPE_CHECKING:
    from hydrostat.simulation.simulate import Run


class Motion(NamedTuple):
    """A motion that is about to be simulated."""

    system: System
    controller: Controller | Control | None
    """The controller as it was given, not attached to the system yet."""
    dt: float
    """The step [s]."""
    state: State | None
    """The state at the start; None for that at rest."""
    sensors: Sensors
    stepper: AbstractStepper


class _Found(BaseException):
    """Ends a program at the motion that was searched for; no handler of errors is meant to stop it."""


class _Search:
    """The search for a motion among the simulations of a program."""

    def __init__(self, number: int):
        self.number = number
        self.begun: list[Any] = []
        self.motion: Motion | None = None

    def offer(self, run: "Run", state: State | None) -> None:
        """A simulation is about to begin; one that was compiled before it begins is one and the same."""
        if not any(run is before for before in self.begun):
            self.begun.append(run)
        if len(self.begun) == self.number:
            system, _, sensors, stepper = run.loop
            self.motion = Motion(system, run.given_controller, run.dt, state, sensors, stepper)
            raise _Found


_search: ContextVar[_Search | None] = ContextVar("search for a motion", default=None)


def find_motion(program: Callable[[], Any], number: int = 1) -> Motion | None:
    """The motion that a program simulates first, or as the second, third ...; None where it ends before.

    The program runs up to where that simulation begins, and no further.

    **Arguments:** `number`: of the simulation, from 1.
    """
    search = _Search(number)
    token = _search.set(search)
    try:
        program()
    except _Found:
        pass
    finally:
        _search.reset(token)
    return search.motion


def announce(run: "Run", state: State | None) -> None:
    """Tell whoever searches for it that a simulation is about to begin."""
    search = _search.get()
    if search is not None:
        search.offer(run, state)
