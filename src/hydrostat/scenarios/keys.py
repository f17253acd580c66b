"""Scenarios by name: their keys, the robots they accept, and where the function is that runs them.

Nothing here needs JAX: `hydrostat list` and every check of a user's input happen before it is imported.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from hydrostat import errors
from hydrostat.errors import InputError, listed, shown
from hydrostat.robots import AnySpec, LimbedSpec, RobotSpec
from hydrostat.scenarios.work import check_work

_SMALLEST = {"s": 1e-6, "ms": 1e-3, "rad": 1e-9, "Hz": 1e-6}
"""The smallest number above zero that a quantity of a unit may be; what is smaller is a slip of the pen."""


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
        """A value that a user has typed, in the type of the default and within the bounds; others are refused."""
        bounds = {"least": self.least, "most": self.most, "above": self.above}
        if isinstance(self.default, bool):
            if not isinstance(value, bool):
                raise InputError(f"`{self.name}` must be true or false; got {shown(value)}")
            return value
        if isinstance(self.default, int):
            least = -(10**9) if self.least is None else int(self.least)
            return errors.whole(self.name, value, least=least, most=10**9 if self.most is None else int(self.most))
        if isinstance(self.default, float):
            return self._not_too_small(self.name, errors.number(self.name, value, **bounds))
        if isinstance(self.default, tuple):
            free = self.per_segment or self.most_entries is not None
            values = errors.numbers(self.name, value, None if free else len(self.default) or None, **bounds)
            if self.most_entries is not None and len(values) > self.most_entries:
                raise InputError(
                    f"`{self.name}` must be a list of at most {self.most_entries} numbers; got {len(values)}"
                )
            return tuple(self._not_too_small(f"{self.name}[{i}]", one) for i, one in enumerate(values))
        return errors.choice(self.name, value, self.options) if self.options else _line(self.name, value)

    def _not_too_small(self, name: str, value: float) -> float:
        """The value; one above zero that no run could resolve is refused."""
        least = _SMALLEST.get(self.unit, 0.0)
        if 0.0 < abs(value) < least:
            zero = "0 or " if self.above is None else ""
            raise InputError(f"`{name}` must be {zero}at least {least:g} {self.unit}; got {shown(value)}")
        return value


def _line(name: str, value: Any) -> str:
    """A text that may be empty."""
    if not isinstance(value, str) or (value and not value.isprintable()):
        raise InputError(f"`{name}` must be a line of text; got {shown(value)}")
    return value


@dataclass(frozen=True)
class Scenario:
    """A scenario as `hydrostat list` and `hydrostat run` know it: its name, its keys and its function."""

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
    live: int = 0
    """Number, from 1, of the simulation among those it makes that `hydrostat view` shows live; 0 for none."""

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

    def settings(self, chosen: Mapping[str, Any], robot: AnySpec) -> SimpleNamespace:
        """The values of all keys: the defaults, replaced by those that a user has chosen."""
        names = [key.name for key in self.keys]
        for name in chosen:
            if name not in names:
                raise InputError(f"{self.name} has no key {shown(name)}; its keys are {listed(names) or 'none'}")
        values = {key.name: key.check(chosen[key.name]) if key.name in chosen else key.default for key in self.keys}
        for key in self.keys:
            if key.per_segment and isinstance(robot, RobotSpec):
                values[key.name] = _for_segments(key.name, values[key.name], len(robot.segments), key.name in chosen)
        settings = SimpleNamespace(**values)
        self.check_settings(robot, settings)
        check_work(self.name, robot, settings)
        return settings


def _for_segments(name: str, values: tuple[float, ...], count: int, chosen: bool) -> tuple[float, ...]:
    """One value per segment: a default is repeated or cut, a user's list must fit."""
    if chosen and len(values) != count:
        raise InputError(f"`{name}` must be a list of {count} numbers, one per segment; got {len(values)}")
    return tuple(values[i % len(values)] for i in range(count))
