"""Arrays in one block of memory, as machine code reads and writes them."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

SLACK = 1 << 14
"""Bytes after an array that may be read, though not used, by vectors that begin within it."""


@dataclass(frozen=True)
class Field:
    """Where an array is in a block of memory."""

    offset: int
    """In bytes."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In numbers."""
    dtype: str

    def of(self, memory: np.ndarray) -> np.ndarray:
        """The array in memory, whose leading axes are those of the memory."""
        dtype = np.dtype(self.dtype)
        if 0 in self.shape:
            return np.empty((*memory.shape[:-1], *self.shape), dtype)
        first = memory[..., self.offset : self.offset + dtype.itemsize].view(dtype)[..., 0]
        strides = (*memory.strides[:-1], *(s * dtype.itemsize for s in self.strides))
        return np.lib.stride_tricks.as_strided(first, (*memory.shape[:-1], *self.shape), strides)


@dataclass(frozen=True)
class Packing:
    """Arrays in one block of memory."""

    fields: tuple[Field, ...]
    bytes: int

    @staticmethod
    def of(atoms, layout) -> "Packing":
        """A block for arrays; `layout` gives the strides and the size of one."""
        fields, at = [], 0
        for atom in atoms:
            strides, size = layout(atom)
            dtype = np.dtype(atom.dtype)
            fields.append(Field(at, tuple(atom.shape), tuple(strides), dtype.name))
            at += -(-size * dtype.itemsize // 64) * 64
        return Packing(tuple(fields), max(at, 64))

    def new(self, rows: int | None = None) -> np.ndarray:
        """Memory for the arrays, or for rows of them, all zeros."""
        raw = np.zeros(self.bytes * (rows or 1) + 64 + SLACK, np.uint8)
        start = -raw.ctypes.data % 64
        if rows is None:
            return raw[start:]
        return raw[start : start + self.bytes * rows].reshape(rows, self.bytes)

    def pack(self, memory: np.ndarray, values) -> None:
        """Write arrays to memory."""
        for field, value in zip(self.fields, values, strict=True):
            field.of(memory)[...] = value

    def unpack(self, memory: np.ndarray) -> list[np.ndarray]:
        """The arrays in memory, not copied."""
        return [field.of(memory) for field in self.fields]

    def said(self) -> dict[str, Any]:
        """The packing as plain data."""
        return {"fields": [asdict(field) for field in self.fields], "bytes": self.bytes}

    @staticmethod
    def heard(data: dict[str, Any]) -> "Packing":
        """The inverse of `said`."""
        fields = tuple(Field(f["offset"], tuple(f["shape"]), tuple(f["strides"]), f["dtype"]) for f in data["fields"])
        return Packing(fields, data["bytes"])
