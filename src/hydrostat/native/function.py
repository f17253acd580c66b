"""Functions of trees of arrays as machine code: steps that are made over and over, and values of many rows."""

import ctypes
import json
from typing import Any

import jax
import numpy as np

from hydrostat import code_cache
from hydrostat.collecting import paused_collector
from hydrostat.native.emitter import Emitter
from hydrostat.native.hoisting import hoisted, split
from hydrostat.native.lowering import Lowering
from hydrostat.native.machine import Machine, compiled, processor
from hydrostat.native.order import ordered
from hydrostat.native.packing import SLACK, Packing
from hydrostat.native.program import Block, trace, used
from hydrostat.native.sharing import shared
from hydrostat.native.values import Mem, kind_of

_PACKINGS = ("parameters", "argument", "brought", "result")
WIDTH = 8
"""Lanes of a vector: one register of AVX-512, two of AVX2, four of SSE2 and NEON."""


def scan_lengths(block: Block) -> set[int]:
    """Over how many rows the scans of a program go."""
    found = set()
    for eqn in block.eqns:
        if eqn.name == "scan" and eqn.params["num_carry"]:
            found.add(eqn.params["length"])
        for inner in eqn.blocks:
            found |= scan_lengths(inner)
    return found


class Native:
    """function(parameters, argument) as machine code, for many arguments.

    Either a step, whose result is the argument of the next one, or the value of each of many rows.

    **Arguments:** `side_by_side`: how many arms are the lanes of a vector; `stepping`: whether it is a step; `fed`:
    whether a step's argument is a pair, of what its result goes on with and of what each row brings; `reset`:
    which leaves of a step's argument are set to zero before each row; `key`: of the entry on disk, None for none.
    """

    def __init__(self, function, parameters, argument, *, side_by_side: int = 0, stepping: bool = False,
                 fed: bool = False, reset: tuple[int, ...] = (), key: str | None = None, width: int = WIDTH,
                 features: str | None = None):  # fmt: skip
        entry = None if key is None else code_cache.load(key)
        said = None if entry is None else _heard(entry)
        if said is None:
            with paused_collector():
                said = _made(function, parameters, argument, side_by_side, stepping, fed, reset, width, features)
            if key is not None and said[0]["structure"] is not None:
                code_cache.store(key, _said(*said))
        data, code = said
        self.structure = data.pop("tree", None) or jax.tree.structure(_tuples(data["structure"]))
        """Structure of the result."""
        self.parameters, self.argument, self.brought, self.result = (Packing.heard(data[k]) for k in _PACKINGS)
        self._machine = Machine(code)
        kinds = [ctypes.c_void_p] * 4 + [ctypes.c_int64] * 2
        self._call = ctypes.CFUNCTYPE(None, *kinds)(self._machine.address("rows"))
        self._frame_bytes = data["frame"]

    def frame(self) -> np.ndarray:
        """Memory to work in."""
        raw = np.zeros(self._frame_bytes + 64 + SLACK, np.uint8)
        return raw[-raw.ctypes.data % 64 :]

    def steps(self, parameters: np.ndarray, carry: np.ndarray, rows: int, every: int, frame: np.ndarray) -> np.ndarray:
        """Step over and over; the packed carry after each row's steps."""
        out = self.argument.new(rows)
        self._call(*(memory.ctypes.data for memory in (parameters, carry, frame, out)), rows, every)
        return out

    def fed_steps(self, parameters: np.ndarray, carry: np.ndarray, rows: np.ndarray) -> None:
        """Step through packed rows of what each step is brought; the packed carry is that of the last step then."""
        frame = self.frame()
        self._call(*(memory.ctypes.data for memory in (parameters, carry, frame, rows)), len(rows), 1)

    def rows(self, parameters: np.ndarray, arguments: np.ndarray, out: np.ndarray) -> None:
        """Write the packed value of each packed row."""
        memories = parameters, arguments, self.frame(), out
        self._call(*(memory.ctypes.data for memory in memories), len(arguments), 1)

    def caller(self, parameters: list):
        """The function of arrays, one argument after the other, with memory of its own and the parameters in it, which
        its `alter` replaces."""
        packed, memory, out, frame = self.parameters.new(), self.argument.new(1), self.result.new(1), self.frame()
        self.parameters.pack(packed, parameters)
        into, (found,) = self.argument.unpack(memory[0]), self.result.unpack(out[0])
        pointers = [some.ctypes.data for some in (packed, memory, frame, out)]
        keep = (packed, memory, frame, out)

        def call(*arguments):
            for place, value in zip(into, arguments, strict=True):
                place[...] = value
            self._call(*pointers, 1, 1)
            return found.copy()

        call.keep = keep  # type: ignore[attr-defined]
        call.alter = lambda parameters: self.parameters.pack(packed, parameters)  # type: ignore[attr-defined]
        return call


def _made(function, parameters, argument, side_by_side, stepping, fed, reset, width, features) -> tuple[dict, bytes]:
    """How a function is called, and its machine code."""
    data, text = lowered(function, parameters, argument, side_by_side, stepping, fed, reset, width)
    return data, compiled(text, features)


def lowered(function, parameters, argument, side_by_side=0, stepping=False, fed=False, reset=(),
            width=WIDTH) -> tuple[dict, str]:  # fmt: skip
    """How a function is called, and its LLVM IR; the arguments are those of `Native`."""
    shape: list[Any] = []

    def flat(p, x):
        value = function(p, x)
        shape.append(value)
        return jax.tree.leaves(value)

    block = hoisted(used(shared(trace(flat, parameters, argument))))
    low = Lowering(Emitter(width), frozenset(scan_lengths(block)), side_by_side)
    count = len(jax.tree.leaves(parameters))

    def layout(atom):
        return low.layout(atom.shape, low.axis_of(atom.shape))

    cuts = _cuts(block.eqns)

    def table_layout(atom):
        # Of a table of which one row at a time is used, the rows are in one piece, and side by side what is in a row.
        kept = [i for i in range(len(atom.shape)) if i not in cuts.get(id(atom), ())]
        inner = low.axis_of([atom.shape[i] for i in kept])
        return layout(atom) if inner is None else low.layout(atom.shape, kept[inner])

    middle = count + len(jax.tree.leaves(argument[0])) if fed else len(block.inputs)
    groups = block.inputs[count:middle], block.inputs[middle:], block.outputs
    packings = [Packing.of(block.inputs[:count], table_layout), *(Packing.of(some, layout) for some in groups)]
    text = _text(low, block, packings, stepping, reset)
    data = {name: packing.said() for name, packing in zip(_PACKINGS, packings, strict=True)}
    tree = jax.tree.structure(shape[0])
    plain = 0 if stepping else _plain(jax.tree.unflatten(tree, [0] * tree.num_leaves))
    return {**data, "frame": low.frame.size, "structure": plain, "tree": tree}, text


def _cuts(eqns) -> dict[int, tuple[int, ...]]:
    """The axes of arrays, by their variables, of which only a part is used, at a place that is computed."""
    found: dict[int, tuple[int, ...]] = {}
    for eqn in eqns:
        if eqn.name in ("dynamic_slice", "gather"):
            sizes, shape = eqn.params["slice_sizes"], eqn.inputs[0].shape
            found[id(eqn.inputs[0])] = tuple(i for i, n in enumerate(shape) if sizes[i] < n)
    return found


def _tuples(plain) -> Any:
    """The inverse of `_plain`."""
    return tuple(_tuples(one) for one in plain) if isinstance(plain, list) else plain


def _plain(tree) -> Any:
    """The structure of tuples of arrays, as plain data; None for another one."""
    if isinstance(tree, tuple) and not hasattr(tree, "_fields"):
        parts = [_plain(one) for one in tree]
        return None if None in parts else parts
    return 0 if isinstance(tree, int) else None


def _text(low: Lowering, block: Block, packings: list[Packing], stepping: bool, reset) -> str:
    """LLVM IR of a function that does all rows."""
    e = low.e
    parameters, argument, brought, result = packings

    def mems(packing: Packing, ptr: str) -> list[Mem]:
        return [Mem(ptr, f.offset // np.dtype(f.dtype).itemsize, f.shape, f.strides, kind_of(f.dtype), None, ptr)
                for f in packing.fields]  # fmt: skip

    count = len(parameters.fields)
    low.bind(block.inputs[:count], mems(parameters, "%params"))
    # What depends on the parameters alone is computed once for all rows.
    early, late = split(block, count)
    made = {id(var): var for eqn in early for var in eqn.outputs}
    used = {id(atom) for eqn in late.eqns for atom in eqn.inputs} | {id(atom) for atom in late.outputs}
    low.run(Block([], early, [var for key, var in made.items() if key in used]))

    def once(homes: list[Mem]) -> None:
        results = low.run(late)
        low.bring_home(homes, results, [m.kind for m in homes], [False] * len(homes), [True] * len(homes))

    with low.loop("%rows") as row:
        to = e.moved("%out", row, (brought if brought.fields else result).bytes)
        if stepping:
            carry = mems(argument, "%argument")
            low.bind(block.inputs[count:], [*carry, *mems(brought, to)])
            for index in reset:
                low.put(carry[index], low.constant(np.zeros(carry[index].shape, argument.fields[index].dtype)))
            with low.loop("%every"):
                once(carry)
            if not brought.fields:
                e.declared.add("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
                e.say(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr %argument, i64 {argument.bytes}, i1 false)")
        else:
            low.bind(block.inputs[count:], mems(argument, e.moved("%argument", row, argument.bytes)))
            once(mems(result, to))
    head = "\n".join(f"  {line}" for line in e.allocas)
    body = "\n".join(ordered(e.lines, low.spaces))
    outside = "\n".join([*e.globals, *sorted(e.declared)])
    arguments = ", ".join(f"ptr noalias %{name}" for name in ("params", "argument", "frame", "out"))
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


def _said(data: dict, code: bytes) -> bytes:
    """An entry of the cache."""
    head = json.dumps({name: value for name, value in data.items() if name != "tree"}).encode()
    return len(head).to_bytes(8, "little") + head + code


def _heard(entry: bytes) -> tuple[dict, bytes] | None:
    """The inverse of `_said`; None for what is no entry."""
    size = int.from_bytes(entry[:8], "little")
    try:
        return json.loads(entry[8 : 8 + size]), entry[8 + size :]
    except ValueError:
        return None


def key_of(*parts) -> str | None:
    """The key of an entry on disk; None where what is computed cannot be told by one."""
    try:
        return code_cache.key_of(processor(), *parts)
    except code_cache.NoKeyError:
        return None
