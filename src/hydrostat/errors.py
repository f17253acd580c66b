"""The errors that a user can mend, and how a wrong value is shown."""

import math
import sys
from collections.abc import Iterable
from typing import Any


class HydrostatError(Exception):
    """The root of hydrostat's own errors."""


class InputError(HydrostatError, ValueError):
    """Bad input: the message says in one line what was wrong, what was got and what would be right."""


class UnsolvedError(HydrostatError, RuntimeError):
    """A simulation diverged, or a solve did not converge."""


class DivergedError(UnsolvedError):
    """A simulation could not go on; the message says when, where, and which step size would do."""


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


def number(name: str, value: Any, *, above: Any = None, least: Any = None, most: Any = None) -> Any:
    """The value as a finite float within its bounds.

    A number of which a function is being traced, differentiated or vectorised has no value yet: it is passed through,
    and a bound that is such a number is not checked.
    """
    if _traced(value):
        return value
    above, least, most = (None if _traced(bound) else bound for bound in (above, least, most))
    bounds = _bounds_in_words(above, least, most)
    result = _plain(value)
    if result is None:
        raise InputError(f"`{name}` must be a number{bounds}; got {shown(value)}")
    within = (
        (above is None or result > above) and (least is None or result >= least) and (most is None or result <= most)
    )
    if not math.isfinite(result) or not within:
        raise InputError(f"`{name}` must be a finite number{bounds}; got {shown(value)}")
    return result


def _plain(value: Any) -> float | None:
    """The value as a float, also of an array of one number without axes; None for what is no number."""
    if getattr(value, "shape", None) == () and getattr(getattr(value, "dtype", None), "kind", "") in ("f", "i", "u"):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _traced(value: Any) -> bool:
    """Whether a number is one that JAX traces; found out without importing it."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.core.Tracer) and value.shape == ()


def whole(name: str, value: object, *, least: int, most: int) -> int:
    """The value as a whole number within its bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(f"`{name}` must be a whole number from {least} to {most}; got {shown(value)}")
    return value


def numbers(name: str, value: object, count: int | None = None, **bounds) -> tuple[float, ...]:
    """The value as a tuple of finite floats, `count` of them."""
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
