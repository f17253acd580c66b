"""What a scenario is: its name, its keys, the robots it accepts, and the function that runs it.

Nothing here needs JAX: `hydrostat list` and every check of what a user typed happen before it is imported.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hydrostat import errors
from hydrostat.errors import InputError, listed, shown
from hydrostat.results import Recorder
from hydrostat.robots.limbed import AnySpec, LimbedSpec
from hydrostat.robots.spec import RobotSpec


@dataclass(frozen=True)
class Key:
    """A setting of a scenario, as `--set name=value` changes it."""

    name: str
    default: Any
    unit: str
    meaning: str
    least: float | None = None
    most: float | None = None
    above: float | None = None
    options: tuple[str, ...] = ()
    """The values a text may have; any text where empty."""
    per_segment: bool = False
    """Whether a list needs one number for each segment of the robot."""
    most_entries: int | None = None
    """Up to how many numbers a list may have, where their count is free."""

    def check(self, value: Any) -> Any:
        """The value in the type of the default, within its bounds."""
        bounds = {"least": self.least, "most": self.most, "above": self.above}
        if isinstance(self.default, bool):
            if not isinstance(value, bool):
                raise InputError(f"`{self.name}` must be true or false; got {shown(value)}")
            return value
        if isinstance(self.default, int):
            least = -(10**9) if self.least is None else int(self.least)
            return errors.whole(self.name, value, least=least, most=10**9 if self.most is None else int(self.most))
        if isinstance(self.default, float):
            return errors.number(self.name, value, **bounds)
        if isinstance(self.default, tuple):
            free = self.per_segment or self.most_entries is not None
            values = errors.numbers(self.name, value, None if free else len(self.default) or None, **bounds)
            if self.most_entries is not None and len(values) > self.most_entries:
                raise InputError(
                    f"`{self.name}` must be a list of at most {self.most_entries} numbers; got {len(values)}"
                )
            return values
        return errors.choice(self.name, value, self.options) if self.options else _line(self.name, value)


def _line(name: str, value: Any) -> str:
    """A text that may be empty."""
    if not isinstance(value, str) or (value and not value.isprintable()):
        raise InputError(f"`{name}` must be a line of text; got {shown(value)}")
    return value


@dataclass(frozen=True)
class Scenario:
    """Something to run."""

    name: str
    summary: str
    robot: str
    """The robot it runs with when none is named."""
    accepts: str
    """Which robots it accepts, in words."""
    check_robot: Callable[[Any], None]
    """Raises `InputError` for a robot it cannot run with."""
    function: str
    """Where the function is, as `module:name`; it is imported when it runs."""
    keys: tuple[Key, ...] = ()
    limbed: bool | None = False
    """Whether it is for robots with several limbs on a body, instead of for single arms; None: for both."""
    check_settings: Callable[[Any, SimpleNamespace], Any] = lambda robot, settings: None
    """Raises `InputError` for settings that do not fit the robot, or each other."""

    def check(self, robot: AnySpec) -> None:
        """Refuse a robot it cannot run with."""
        if self.limbed is not None and isinstance(robot, LimbedSpec) != self.limbed:
            needed = "a robot with limbs on a body" if self.limbed else "a single arm"
            raise InputError(f"this scenario needs {needed}, such as {self.robot}; got {robot.name}")
        try:
            self.check_robot(robot)
        except InputError as error:
            if self.limbed is None:
                raise
            # Which robot fits is the scenario's to say: what a check asks for may not be all of it.
            raise InputError(f"{error}; it runs with {self.robot}") from None

    def settings(self, given: Mapping[str, Any], robot: AnySpec) -> SimpleNamespace:
        """All settings: the defaults, with what was given in their place."""
        names = [key.name for key in self.keys]
        for name in given:
            if name not in names:
                raise InputError(f"{self.name} has no key {shown(name)}; its keys are {listed(names) or 'none'}")
        values = {key.name: key.check(given[key.name]) if key.name in given else key.default for key in self.keys}
        for key in self.keys:
            if key.per_segment and isinstance(robot, RobotSpec):
                values[key.name] = _for_segments(key.name, values[key.name], len(robot.segments), key.name in given)
        settings = SimpleNamespace(**values)
        self.check_settings(robot, settings)
        return settings


def _for_segments(name: str, values: tuple[float, ...], count: int, given: bool) -> tuple[float, ...]:
    """One value per segment: a default is repeated or cut, what a user gave must fit."""
    if given and len(values) != count:
        raise InputError(f"`{name}` must be a list of {count} numbers, one per segment; got {len(values)}")
    return tuple(values[i % len(values)] for i in range(count))


@dataclass
class Outcome:
    """What a scenario gives back."""

    metrics: dict[str, Any]
    figure: Callable[[Path], None] | None = None
    """Draws the figure into a file; called after the clock has stopped."""
    replay: Callable[[Path], Any] | None = None
    """Writes the replay; called where viser is installed."""
    sim_seconds: float | None = None
    dt: float | None = None
    steps: int | None = None
    notes: list[str] = field(default_factory=list)
    """Sentences for the user, such as a named outcome ("out of reach: ...")."""
    files: dict[str, str] = field(default_factory=dict)
    """Further files that were written, by kind."""


class Run:
    """One run of a scenario: its settings, its robot, its folder and its clocks."""

    def __init__(self, robot: AnySpec, settings: SimpleNamespace, seed: int, folder: Path, progress: "Progress"):
        self.whole, self.settings, self.seed, self.folder = robot, settings, seed, folder
        self._progress = progress
        self.wall_seconds = 0.0
        self.compile_seconds = 0.0

    @property
    def robot(self) -> RobotSpec:
        """The robot, of scenarios for single arms."""
        assert isinstance(self.whole, RobotSpec)
        return self.whole

    @property
    def limbed(self) -> LimbedSpec:
        """The robot, of scenarios for robots with limbs."""
        assert isinstance(self.whole, LimbedSpec)
        return self.whole

    @contextmanager
    def timed(self) -> Iterator[None]:
        """The time spent in here is the scenario's own: stepping and recording."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.wall_seconds += time.perf_counter() - start

    @contextmanager
    def untimed(self) -> Iterator[None]:
        """The time spent in here, within `timed`, is neither stepping nor recording: what is looked at meanwhile."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.wall_seconds -= time.perf_counter() - start

    @contextmanager
    def compiling(self, what: str = "compiling") -> Iterator[None]:
        """The time spent in here is JAX's, and the progress bar says so."""
        start = time.perf_counter()
        self._progress.say(what)
        try:
            yield
        finally:
            self.compile_seconds += time.perf_counter() - start

    def progress(self, what: str, done: float) -> None:
        """Show how far the work is, `done` from 0 to 1."""
        self._progress.show(what, done)

    def recorder(self, variables, total: int, **options) -> Recorder:
        """A crash-safe recorder in this run's folder."""
        return Recorder(self.folder, variables, total, **options)


class Progress:
    """Progress that nobody watches."""

    def say(self, what: str) -> None:
        """Name what is going on."""

    def show(self, what: str, done: float) -> None:
        """Name what is going on, and how much of it is done."""

    def close(self) -> None:
        """Leave the terminal as it was."""
