"""A function from a state to the next one as machine code."""

import ctypes
import time
from dataclasses import dataclass
from math import prod

import jax
import numpy as np

from hydrostat.native.emitter import Emitter, Mem, bytes_of, kind_of
from hydrostat.native.lowering import Lowering
from hydrostat.native.machine import Machine
from hydrostat.native.program import Block, Var, trace

_SLACK = 1 << 14
"""Bytes after an array that may be read, though not used, by vectors that begin within it."""


@dataclass(frozen=True)
class Field:
    """Where an array is in a block of memory."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype

    def of(self, memory: np.ndarray) -> np.ndarray:
        """The array in memory, whose leading axes are those of the memory."""
        at = memory[..., self.offset :]
        strides = (*memory.strides[:-1], *(s * self.dtype.itemsize for s in self.strides))
        flat = np.ndarray((*memory.shape[:-1], *self.shape), self.dtype, at, 0, strides) if memory.ndim == 1 else None
        if flat is not None:
            return flat
        view = np.lib.stride_tricks.as_strided(
            at[..., : self.dtype.itemsize].view(self.dtype)[..., 0], (*memory.shape[:-1], *self.shape), strides
        )
        return view


class Packing:
    """Arrays in one block of memory."""

    def __init__(self, lowering: Lowering, atoms):
        self.fields, at = [], 0
        for atom in atoms:
            strides, size = lowering.layout(atom.shape, lowering.axis_of(atom.shape))
            self.fields.append(Field(at, tuple(atom.shape), strides, np.dtype(atom.dtype)))
            at += -(-size * atom.dtype.itemsize // 64) * 64
        self.bytes = at

    def new(self) -> np.ndarray:
        """Memory for the arrays, all zeros."""
        raw = np.zeros(self.bytes + 64 + _SLACK, np.uint8)
        start = -raw.ctypes.data % 64
        return raw[start:]

    def pack(self, memory: np.ndarray, values) -> None:
        for field, value in zip(self.fields, values, strict=True):
            field.of(memory)[...] = value

    def unpack(self, memory: np.ndarray) -> list[np.ndarray]:
        return [field.of(memory) for field in self.fields]


def scan_lengths(block: Block) -> set[int]:
    """Over how many rows the scans of a program go."""
    found = set()
    for eqn in block.eqns:
        if eqn.name == "scan" and eqn.params["num_carry"]:
            found.add(eqn.params["length"])
        for inner in eqn.blocks:
            found |= scan_lengths(inner)
    return found


class NativeStep:
    """function(parameters, carry) -> carry as machine code, called over and over.

    **Arguments:** `side_by_side`: how many arms are the lanes of a vector.
    """

    def __init__(self, function, parameters, carry, side_by_side: int = 0, width: int = 8, level: int = 2):
        times = [time.perf_counter()]
        block = trace(lambda p, c: jax.tree.leaves(function(p, c)), parameters, carry)
        times.append(time.perf_counter())
        self.emitter = Emitter(width)
        low = Lowering(self.emitter, frozenset(scan_lengths(block)), side_by_side)
        count = len(jax.tree.leaves(parameters))
        self.parameters = Packing(low, block.inputs[:count])
        self.carry = Packing(low, block.inputs[count:])
        text = self._text(low, block, count)
        times.append(time.perf_counter())
        self.text = text
        self.machine = Machine(text, level)
        times.append(time.perf_counter())
        self.seconds = dict(zip(("trace", "lower", "compile"), np.diff(times).tolist(), strict=True))
        kinds = [ctypes.c_void_p] * 4 + [ctypes.c_int64]
        self._rows = ctypes.CFUNCTYPE(None, *kinds)(self.machine.address("rows"))
        self.frame = np.zeros(self.emitter.frame + 64 + _SLACK, np.uint8)
        self.frame = self.frame[-self.frame.ctypes.data % 64 :]

    def _text(self, low: Lowering, block: Block, count: int) -> str:
        e = low.e

        def mems(packing: Packing, ptr: str) -> list[Mem]:
            return [Mem(ptr, f.offset // f.dtype.itemsize, f.shape, f.strides, kind_of(f.dtype), None, ptr)
                    for f in packing.fields]  # fmt: skip

        given, carry = mems(self.parameters, "%params"), mems(self.carry, "%carry")
        results = low.call(block, [*given, *carry])
        kinds = [mem.kind for mem in carry]
        low.bring_home(carry, results, kinds, [False] * len(carry), [True] * len(carry))
        head = "\n".join(f"  {line}" for line in e.allocas)
        body = "\n".join(e.lines)
        e.declared.add("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        outside = "\n".join([*e.globals, *sorted(e.declared)])
        return f"""{outside}
define void @step(ptr noalias %params, ptr noalias %carry, ptr noalias %frame) #0 {{
entry:
{head}
{body}
  ret void
}}
define void @rows(ptr noalias %params, ptr noalias %carry, ptr noalias %frame, ptr noalias %out, i64 %rows) #1 {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %j, %body ]
  %more = icmp ult i64 %i, %rows
  br i1 %more, label %body, label %done
body:
  call void @step(ptr %params, ptr %carry, ptr %frame)
  %at = mul i64 %i, {self.carry.bytes}
  %to = getelementptr i8, ptr %out, i64 %at
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %carry, i64 {self.carry.bytes}, i1 false)
  %j = add i64 %i, 1
  br label %head
done:
  ret void
}}
attributes #0 = {{ noinline nounwind "prefer-vector-width"="512" "no-trapping-math"="true" }}
attributes #1 = {{ nounwind }}
"""

    def rows(self, parameters: np.ndarray, carry: np.ndarray, rows: int) -> np.ndarray:
        """Step over and over; gives the packed carry after every step."""
        out = np.empty((rows, self.carry.bytes), np.uint8)
        self._rows(*(memory.ctypes.data for memory in (parameters, carry, self.frame, out)), rows)
        return out


__all__ = ["Field", "NativeStep", "Packing", "Var", "bytes_of", "prod"]
