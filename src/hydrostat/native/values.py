"""LLVM IR as text: values, arithmetic with what is known folded, and memory.

A value is a number that is known, or a `Val`: one number, or a vector with one for each lane. What has been computed in
a block, or before it, is not computed again.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hydrostat.native.program import NotLoweredError

FLAGS = "nsz arcp contract"
MOST_PARTS = 24
"""Largest number of parts of products and sums that are recognised in any order."""

_TYPES = {"float64": "double", "float32": "float", "int64": "i64", "uint64": "i64", "int32": "i32", "uint32": "i32",
          "bool": "i1", "int16": "i16", "uint16": "i16", "int8": "i8", "uint8": "i8"}  # fmt: skip


def kind_of(dtype) -> str:
    """The LLVM type of a number."""
    name = np.dtype(dtype).name
    if name not in _TYPES:
        raise NotLoweredError(f"numbers of type {name}")
    return _TYPES[name]


def is_float(kind: str) -> bool:
    """Whether a type is one of real numbers."""
    return kind in ("double", "float")


def bytes_of(kind: str) -> int:
    """How much memory a number takes."""
    return {"double": 8, "float": 4, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "i1": 1}[kind]


class Val:
    """A number, or one for each lane, that is computed when the program runs."""

    __slots__ = ("kind", "name", "vec")

    def __init__(self, name: str, kind: str, vec: bool):
        self.name, self.kind, self.vec = name, kind, vec


Entry = Any
"""A number that is known (bool, int or float), or a `Val`."""


@dataclass(frozen=True)
class Mem:
    """An array in memory, one number or a vector of them at each place; strides are counted in numbers."""

    ptr: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    kind: str
    lane: int | None = None
    """From lane to lane; None where the numbers are the same for all lanes."""
    buffer: Any = None
    """What it is a part of."""

    @property
    def vec(self) -> bool:
        """Whether it differs from lane to lane."""
        return self.lane is not None

    @property
    def size(self) -> int:
        """How many entries it has."""
        return math.prod(self.shape)

    def part(self, shape, strides, offset: int = 0) -> "Mem":
        """A part of it."""
        return Mem(self.ptr, self.offset + offset, tuple(shape), tuple(strides), self.kind, self.lane, self.buffer)

    def at(self, axis: int, index: int) -> "Mem":
        """What is at an index that is known."""
        shape, strides = list(self.shape), list(self.strides)
        del shape[axis]
        stride = strides.pop(axis)
        return self.part(shape, strides, index * stride)


def known(x) -> bool:
    """Whether a number is known."""
    return not isinstance(x, Val)
