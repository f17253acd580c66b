"""What an axis of an equation's input or result may be, where the equation is taken at a single index of it."""

from dataclasses import dataclass
from typing import Any


class UnmappableError(Exception):
    """An equation does not do the same for every index of an axis."""


@dataclass(frozen=True)
class Single:
    """An axis with one index, which stands for all."""

    axis: int


@dataclass(frozen=True)
class Chunk:
    """An axis of which each index has some rows: it stays, with that many."""

    axis: int
    rows: int


FREE = "free"
Axis = Any


def without(shape: tuple, axis: Axis) -> tuple:
    """A shape without one of its axes."""
    if isinstance(axis, Chunk):
        return (*shape[: axis.axis], axis.rows, *shape[axis.axis + 1 :])
    return shape if axis is None else (*shape[:axis], *shape[axis + 1 :])


def fixed(axes) -> list[int]:
    """The axes that are settled."""
    return [axis for axis in axes if axis is not FREE and axis is not None]
