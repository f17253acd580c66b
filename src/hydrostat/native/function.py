"""A function from a state to the next one as machine code."""

import ctypes
import time
from dataclasses import dataclass

import jax
import numpy as np

from hydrostat.native.emitter import Emitter, Mem, kind_of
from hydrostat.native.hoisting import hoisted, split
from hydrostat.native.lowering import Lowering
from hydrostat.native.machine import Machine
from hydrostat.native.order import ordered
from hydrostat.native.program import Block, trace

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
    """function(parameters, carry) -> carry as machine code, done over and over.

    **Arguments:** `side_by_side`: how many arms are the lanes of a vector; `reset`: which leaves of the carry are set to
    zero before each row.
    """

    def __init__(self, function, parameters, carry, side_by_side=0, reset=(), width: int = 8, level: int = 2):
        times = [time.perf_counter()]
        block = trace(lambda p, c: jax.tree.leaves(function(p, c)), parameters, carry)
        times.append(time.perf_counter())
        block = hoisted(block)
        low = Lowering(Emitter(width), frozenset(scan_lengths(block)), side_by_side)
        count = len(jax.tree.leaves(parameters))
        self.parameters = Packing(low, block.inputs[:count])
        self.carry = Packing(low, block.inputs[count:])
        self.text = self._text(low, block, count, reset)
        times.append(time.perf_counter())
        self.machine = Machine(self.text, level)
        times.append(time.perf_counter())
        self.seconds = dict(zip(("trace", "lower", "compile"), np.diff(times).tolist(), strict=True))
        kinds = [ctypes.c_void_p] * 4 + [ctypes.c_int64] * 2
        self._rows = ctypes.CFUNCTYPE(None, *kinds)(self.machine.address("rows"))
        self.frame_bytes = low.frame.size
        self.frame = np.zeros(self.frame_bytes + 64 + _SLACK, np.uint8)
        self.frame = self.frame[-self.frame.ctypes.data % 64 :]

    def _text(self, low: Lowering, block: Block, count: int, reset) -> str:
        e = low.e

        def mems(packing: Packing, ptr: str) -> list[Mem]:
            return [Mem(ptr, f.offset // f.dtype.itemsize, f.shape, f.strides, kind_of(f.dtype), None, ptr)
                    for f in packing.fields]  # fmt: skip

        given, carry = mems(self.parameters, "%params"), mems(self.carry, "%carry")
        early, late = split(block, count)
        low.env.update((id(var), mem) for var, mem in zip(block.inputs, [*given, *carry], strict=True))
        made = {id(var): var for eqn in early for var in eqn.outputs}
        used = {id(atom) for eqn in late.eqns for atom in eqn.inputs} | {id(atom) for atom in late.outputs}
        low.run(Block([], early, [var for key, var in made.items() if key in used]))
        with low.loop("%rows") as row:
            for index in reset:
                low.put(carry[index], low.constant(np.zeros(carry[index].shape)))
            with low.loop("%every"):
                results = low.run(late)
                kinds = [mem.kind for mem in carry]
                low.bring_home(carry, results, kinds, [False] * len(carry), [True] * len(carry))
            to = e.moved("%out", row, self.carry.bytes)
            e.declared.add("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
            e.say(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr %carry, i64 {self.carry.bytes}, i1 false)")
        head = "\n".join(f"  {line}" for line in e.allocas)
        body = "\n".join(ordered(e.lines, low.spaces))
        outside = "\n".join([*e.globals, *sorted(e.declared)])
        arguments = ", ".join(f"ptr noalias %{name}" for name in ("params", "carry", "frame", "out"))
        return f"""{outside}
define void @rows({arguments}, i64 %rows, i64 %every) #0 {{
entry:
{head}
{body}
  ret void
}}
!0 = !{{!"branch_weights", i32 1, i32 2000}}
attributes #0 = {{ nounwind "prefer-vector-width"="512" "no-trapping-math"="true" }}
"""

    def rows(self, parameters: np.ndarray, carry: np.ndarray, rows: int, every: int = 1) -> np.ndarray:
        """Step over and over; gives the packed carry after every so many steps."""
        out = np.empty((rows, self.carry.bytes), np.uint8)
        self._rows(*(memory.ctypes.data for memory in (parameters, carry, self.frame, out)), rows, every)
        return out
