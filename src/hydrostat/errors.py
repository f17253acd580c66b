"""The errors that are the user's to mend, and how a wrong value is shown."""

import math
from collections.abc import Iterable


class HydrostatError(Exception):
    """The root of hydrostat's own errors."""


class InputError(HydrostatError, ValueError):
    """Something given is wrong: the message says what, what was got and what would be right, in one line."""


class UnsolvedError(HydrostatError, RuntimeError):
    """A simulation diverged, or a solve did not converge."""


class DivergedError(UnsolvedError):
    """A simulation could not go on; the message says when, where, and which step would do."""


def shown(value: object) -> str:
    """A value for an error message: one line, not too long, whatever it holds."""
    try:
        text = repr(value)
    except Exception:  # a broken __repr__ must not hide the message it was to be part of
        text = f"a {type(value).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def listed(names: Iterable[str]) -> str:
    """Names for an error message."""
    return ", ".join(names)


def number(name: str, value: object, *, above=None, least=None, most=None) -> float:
    """The value as a finite float within its bounds."""
    bounds = _bounds_in_words(above, least, most)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"`{name}` must be a number{bounds}; got {shown(value)}")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    within = (
        (above is None or result > above) and (least is None or result >= least) and (most is None or result <= most)
    )
    if not math.isfinite(result) or not within:
        raise InputError(f"`{name}` must be a finite number{bounds}; got {shown(value)}")
    return result


def whole(name: str, value: object, *, least: int, most: int) -> int:
    """The value as a whole number within its bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(f"`{name}` must be a whole number from {least} to {most}; got {shown(value)}")
    return value


def numbers(name: str, value: object, count: int | None = None, **bounds) -> tuple[float, ...]:
    """The value as a tuple of finite floats, of a given count."""
    if not isinstance(value, list | tuple) or (count is not None and len(value) != count) or not value:
        raise InputError(f"`{name}` must be a list of {count or 'one or more'} numbers; got {shown(value)}")
    return tuple(number(f"{name}[{i}]", entry, **bounds) for i, entry in enumerate(value))


def text(name: str, value: object) -> str:
    """The value as a string of at least one and at most 200 characters, in one line."""
    if not isinstance(value, str) or not value.strip() or len(value) > 200 or not value.isprintable():
        raise InputError(f"`{name}` must be one line of text, 1 to 200 characters; got {shown(value)}")
    return value


def choice(name: str, value: object, options: tuple[str, ...]) -> str:
    """The value as one of the options."""
    if not isinstance(value, str) or value not in options:
        raise InputError(f"`{name}` must be one of {listed(options)}; got {shown(value)}")
    return value


def _bounds_in_words(above, least, most) -> str:
    """The bounds as they stand in a message."""
    words = []
    if above is not None:
        words.append(f"above {above:g}")
    if least is not None:
        words.append(f"at least {least:g}")
    if most is not None:
        words.append(f"at most {most:g}")
    return " " + " and ".join(words) if words else ""
