"""LLVM IR as text: values, arithmetic with what is known folded, and memory.

A value is a number that is known, or a `Val`: one number, or a vector with one for each lane. What has been computed in
a block, or before it, is not computed again.
"""

import math
from dataclasses import dataclass

import numpy as np

from hydrostat.native.program import NotLowered

FLAGS = "nsz arcp contract"
_BAG = 24
"""Products and sums of so many parts are recognised in any order."""

_TYPES = {"float64": "double", "float32": "float", "int64": "i64", "uint64": "i64", "int32": "i32", "uint32": "i32",
          "bool": "i1", "int16": "i16", "uint16": "i16", "int8": "i8", "uint8": "i8"}  # fmt: skip


def kind_of(dtype) -> str:
    """The LLVM type of a number."""
    name = np.dtype(dtype).name
    if name not in _TYPES:
        raise NotLowered(f"numbers of type {name}")
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


Entry = bool | int | float | Val


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
    buffer: object = None
    """What it is a part of."""

    @property
    def vec(self) -> bool:
        return self.lane is not None

    @property
    def size(self) -> int:
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


class Emitter:
    """Writes one function."""

    def __init__(self, width: int):
        self.width = width
        self.lines: list[str] = []
        self.count = 0
        self.block = "entry"
        self.scopes: list[dict] = [{}]
        self.declared: set[str] = set()
        self.allocas: list[str] = []
        self.globals: list[str] = []
        self.negative: dict[Val, Val] = {}
        self.bags: dict[Val, tuple] = {}

    # Text.

    def name(self, prefix: str = "v") -> str:
        self.count += 1
        return f"%{prefix}{self.count}"

    def label(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def say(self, line: str) -> None:
        self.lines.append("  " + line)

    def begin(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        self.say(f"br label %{label}")

    def type(self, kind: str, vec: bool) -> str:
        return f"<{self.width} x {kind}>" if vec else kind

    def seen(self, key):
        for scope in reversed(self.scopes):
            if key in scope:
                return scope[key]
        return None

    def emit(self, key, kind: str, vec: bool, text: str) -> Val:
        """The value of an instruction, which is written once."""
        found = self.seen(key)
        if found is None:
            found = Val(self.name(), kind, vec)
            self.say(f"{found.name} = {text}")
            self.scopes[-1][key] = found
        return found

    def fresh(self, kind: str, vec: bool, text: str) -> Val:
        """The value of an instruction."""
        found = Val(self.name(), kind, vec)
        self.say(f"{found.name} = {text}")
        return found

    def literal(self, x, kind: str) -> str:
        if kind == "double":
            return f"0x{int(np.float64(x).view(np.uint64)):016X}"
        if kind == "float":
            return f"0x{int(np.float64(np.float32(x)).view(np.uint64)):016X}"
        if kind == "i1":
            return "true" if x else "false"
        return str(int(x))

    def text(self, x: Entry, kind: str, vec: bool) -> str:
        """An operand."""
        if known(x):
            one = self.literal(x, kind)
            return f"splat ({kind} {one})" if vec else one
        if vec and not x.vec:
            x = self.splat(x)
        return x.name

    def splat(self, x: Val) -> Val:
        """The same number in all lanes."""
        vector = self.type(x.kind, True)
        first = self.emit(("first", x), x.kind, True, f"insertelement {vector} poison, {x.kind} {x.name}, i64 0")
        return self.emit(
            ("splat", x), x.kind, True,
            f"shufflevector {vector} {first.name}, {vector} poison, <{self.width} x i32> zeroinitializer",
        )  # fmt: skip

    def extract(self, x: Entry, lane: int) -> Entry:
        """The number of one lane."""
        if known(x) or not x.vec:
            return x
        text = f"extractelement {self.type(x.kind, True)} {x.name}, i64 {lane}"
        return self.emit(("lane", x, lane), x.kind, False, text)

    def vector(self, entries: list, kind: str) -> Entry:
        """A vector of numbers, one for each lane."""
        if all(known(x) for x in entries):
            if all(x == entries[0] for x in entries):
                return entries[0]
            inside = ", ".join(f"{kind} {self.literal(x, kind)}" for x in entries)
            start, todo = f"<{inside}>", []
        else:
            if all(x is entries[0] for x in entries):
                return entries[0]
            start, todo = "poison", list(enumerate(entries))
        now, vector = start, self.type(kind, True)
        if not todo:
            return self.emit(("vector", start), kind, True, f"select i1 true, {vector} {start}, {vector} {start}")
        for lane, x in todo:
            now = self.fresh(
                kind, True, f"insertelement {vector} {now}, {kind} {self.text(x, kind, False)}, i64 {lane}"
            ).name
        return Val(now, kind, True)

    # Arithmetic.

    def key(self, x: Entry):
        return x if isinstance(x, Val) else ("c", repr(x))

    def _vec(self, *args) -> bool:
        return any(isinstance(x, Val) and x.vec for x in args)

    def op(self, op: str, kind: str, a: Entry, b: Entry, commutes: bool = False) -> Val:
        vec = self._vec(a, b)
        keys = [self.key(a), self.key(b)]
        if commutes:
            keys.sort(key=lambda k: k.name if isinstance(k, Val) else k[1])
        flags = f" {FLAGS}" if is_float(kind) else ""
        bag = self._bag(op, a, b) if is_float(kind) else None
        if bag is not None:
            found = self.seen(bag)
            if found is not None:
                return found
        text = f"{op}{flags} {self.type(kind, vec)} {self.text(a, kind, vec)}, {self.text(b, kind, vec)}"
        out = self.emit((op, kind, *keys), kind, vec, text)
        if bag is not None:
            self.scopes[-1].setdefault(bag, out)
            self.bags[out] = bag
        return out

    def _bag(self, op: str, a: Entry, b: Entry):
        """The factors of a product, or the terms of a sum, in any order: both halves of a symmetric matrix are one."""
        if op not in ("fmul", "fadd", "fsub"):
            return None
        name = "product" if op == "fmul" else "sum"
        parts: list = []
        for x, sign in ((a, 1), (b, -1 if op == "fsub" else 1)):
            own = self.bags.get(x) if isinstance(x, Val) else None
            if own is not None and own[0] == name:
                inside = own[1]
            else:
                inside = ((x.name if isinstance(x, Val) else repr(x), 1),)
            parts += [(key, sign * s) for key, s in inside]
        if len(parts) > _BAG:
            return None
        return name, tuple(sorted(parts, key=str))

    def add(self, kind, a, b):
        if known(a) and known(b):
            return a + b
        if known(a) and a == 0:
            return b
        if known(b) and b == 0:
            return a
        if not is_float(kind):
            return self.op("add", kind, a, b, True)
        if (c := self.negative.get(b)) is not None:
            return self.sub(kind, a, c)
        if (c := self.negative.get(a)) is not None:
            return self.sub(kind, b, c)
        return self.op("fadd", kind, a, b, True)

    def sub(self, kind, a, b):
        if known(a) and known(b):
            return a - b
        if known(b) and b == 0:
            return a
        if not is_float(kind):
            return self.op("sub", kind, a, b)
        if known(a) and a == 0:
            return self.neg(kind, b)
        if (c := self.negative.get(b)) is not None:
            return self.add(kind, a, c)
        return self.op("fsub", kind, a, b)

    def neg(self, kind, a):
        if known(a):
            return -a
        if not is_float(kind):
            return self.op("sub", kind, 0, a)
        if a in self.negative:
            return self.negative[a]
        out = self.emit(("fneg", a), kind, a.vec, f"fneg {FLAGS} {self.type(kind, a.vec)} {a.name}")
        self.negative[out] = a
        return out

    def mul(self, kind, a, b):
        if known(a) and known(b):
            return a * b
        if known(b):
            a, b = b, a
        if known(a):
            if a == 0:
                return 0.0 if is_float(kind) else 0
            if a == 1:
                return b
            if a == -1:
                return self.neg(kind, b)
        if not is_float(kind):
            return self.op("mul", kind, a, b, True)
        c, d = self.negative.get(a), self.negative.get(b)
        if c is not None and d is not None:
            return self.mul(kind, c, d)
        if c is not None or d is not None:
            return self.neg(kind, self.mul(kind, a if c is None else c, b if d is None else d))
        return self.op("fmul", kind, a, b, True)

    def div(self, kind, a, b, signed=True):
        if is_float(kind):
            if known(a) and known(b):
                with np.errstate(all="ignore"):
                    return float(np.float64(a) / np.float64(b))
            if known(a) and a == 0:
                return 0.0
            if known(b):
                return self.mul(kind, a, float(np.float64(1.0) / np.float64(b)))
            if known(a) and a == 1:
                return self.op("fdiv", kind, a, b)
            # A division takes as long as ten products: one for all that have the same divisor.
            return self.mul(kind, a, self.op("fdiv", kind, 1.0, b))
        if known(a) and known(b):
            return int(a / b)
        return self.op("sdiv" if signed else "udiv", kind, a, b)

    def compare(self, name: str, kind: str, a, b, signed: bool = True):
        if known(a) and known(b):
            return bool({"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[name])
        vec = self._vec(a, b)
        if is_float(kind):
            code = "fcmp " + {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}[name]
        else:
            sign = "" if name in ("eq", "ne") else "s" if signed and kind != "i1" else "u"
            code = f"icmp {sign}{name}"
        text = f"{code} {self.type(kind, vec)} {self.text(a, kind, vec)}, {self.text(b, kind, vec)}"
        return self.emit((code, self.key(a), self.key(b)), "i1", vec, text)

    def select(self, kind: str, test, no, yes):
        if known(test):
            return yes if test else no
        if no is yes or (known(no) and known(yes) and no == yes and not (no != no)):
            return no
        if kind == "i1" and known(no) and known(yes):
            return test if yes else self.invert("i1", test)
        vec = self._vec(test, no, yes)
        kinds = self.type(kind, vec)
        mask = self.text(test, "i1", True) if test.vec else test.name
        head = self.type("i1", test.vec)
        text = f"select {head} {mask}, {kinds} {self.text(yes, kind, vec)}, {kinds} {self.text(no, kind, vec)}"
        return self.emit(("select", test, self.key(no), self.key(yes), kind), kind, vec, text)

    def logic(self, op: str, kind: str, a, b):
        if known(a) and known(b):
            if kind == "i1":
                return {"and": bool(a and b), "or": bool(a or b), "xor": bool(a) != bool(b)}[op]
            return {"and": a & b, "or": a | b, "xor": a ^ b}[op]
        if known(b):
            a, b = b, a
        if known(a) and kind == "i1" and op != "xor":
            return b if bool(a) == (op == "and") else bool(a)
        if a is b and op != "xor":
            return a
        return self.op(op, kind, a, b, True)

    def invert(self, kind: str, a):
        if known(a):
            return (not a) if kind == "i1" else ~a
        return self.op("xor", kind, a, True if kind == "i1" else -1)

    def shift(self, op: str, kind: str, a, b):
        if known(a) and known(b):
            bits = 8 * bytes_of(kind)
            full = (1 << bits) - 1
            if b >= bits:
                return 0
            return {"shl": (a << b) & full, "lshr": (a & full) >> b, "ashr": a >> b}[op]
        return self.op(op, kind, a, b)

    def intrinsic(self, name: str, kind: str, *args, flags: bool = True):
        vec = self._vec(*args)
        each, suffix = self.type(kind, vec), {"double": "f64", "float": "f32"}.get(kind, kind)
        full = f"@llvm.{name}.{f'v{self.width}' if vec else ''}{suffix}"
        self.declared.add(f"declare {each} {full}({', '.join([each] * len(args))})")
        inside = ", ".join(f"{each} {self.text(x, kind, vec)}" for x in args)
        flag = f"{FLAGS} " if flags and is_float(kind) else ""
        return self.emit((name, *(self.key(x) for x in args)), kind, vec, f"call {flag}{each} {full}({inside})")

    def library(self, name: str, kind: str, *args):
        """A function of the C library, lane by lane."""
        self.declared.add(f"declare {kind} @{name}({', '.join([kind] * len(args))}) nounwind willreturn memory(none)")

        def call(*own):
            inside = ", ".join(f"{kind} {self.text(x, kind, False)}" for x in own)
            return self.emit((name, *(self.key(x) for x in own)), kind, False, f"call {kind} @{name}({inside})")

        if not self._vec(*args):
            return call(*args)
        key = (name, *(self.key(x) for x in args))
        found = self.seen(key)
        if found is None:
            lanes = [call(*(self.extract(x, lane) for x in args)) for lane in range(self.width)]
            found = self.vector(lanes, kind)
            self.scopes[-1][key] = found
        return found

    def any_lane(self, x, valid: Entry = True):
        """Whether something is true in any lane that counts."""
        x = self.logic("and", "i1", x, valid)
        if known(x) or not x.vec:
            return x
        full = f"@llvm.vector.reduce.or.v{self.width}i1"
        self.declared.add(f"declare i1 {full}({self.type('i1', True)})")
        return self.emit(("any", x), "i1", False, f"call i1 {full}({self.type('i1', True)} {x.name})")

    def convert(self, x, old: str, new: str, signed: bool = True):
        """A number of another type."""
        if known(x):
            if is_float(new):
                return float(x)
            return bool(x) if new == "i1" else int(x)
        if old == new:
            return x
        t, u = self.type(old, x.vec), self.type(new, x.vec)
        if new == "i1":
            return self.compare("ne", old, x, 0.0 if is_float(old) else 0)
        if is_float(new):
            if is_float(old):
                op = "fpext" if bytes_of(new) > bytes_of(old) else "fptrunc"
            else:
                op = "uitofp" if old == "i1" or not signed else "sitofp"
        elif is_float(old):
            op = "fptosi" if signed else "fptoui"
        elif bytes_of(new) > bytes_of(old) or old == "i1":
            op = "zext" if old == "i1" or not signed else "sext"
        else:
            op = "trunc"
        return self.emit((op, x, new), new, x.vec, f"{op} {t} {x.name} to {u}")

    # Memory.

    def pointer(self, ptr: str, offset: int) -> str:
        if not offset:
            return ptr
        return self.emit(("at", ptr, offset), "ptr", False, f"getelementptr i8, ptr {ptr}, i64 {offset}").name

    def moved(self, ptr: str, index: Val, stride: int) -> str:
        """A pointer moved by an index times a stride in bytes."""
        if known(index):
            return self.pointer(ptr, index * stride)
        if not stride:
            return ptr
        step = self.emit(("times", index, stride), "i64", False, f"mul nsw i64 {index.name}, {stride}")
        return self.emit(("move", ptr, step), "ptr", False, f"getelementptr i8, ptr {ptr}, i64 {step.name}").name

    def load(self, mem: Mem, offset: int) -> Entry:
        """What is at a place of an array."""
        kind, size = mem.kind, bytes_of(mem.kind)
        at = (mem.offset + offset) * size
        key = ("load", mem.ptr, at, mem.lane, kind)
        found = self.seen(key)
        if found is not None:
            return found
        stored = "i8" if kind == "i1" else kind
        if mem.lane in (None, 1):
            text = f"load {self.type(stored, mem.vec)}, ptr {self.pointer(mem.ptr, at)}, align {size}"
            out = self.fresh(stored, mem.vec, text)
        else:
            lanes = []
            for lane in range(self.width):
                place = self.pointer(mem.ptr, at + lane * mem.lane * size)
                lanes.append(self.fresh(stored, False, f"load {stored}, ptr {place}, align {size}"))
            out = self.vector(lanes, stored)
        if kind == "i1":
            out = self.compare("ne", "i8", out, 0)
        self.scopes[-1][key] = out
        return out

    def store(self, mem: Mem, offset: int, x: Entry, mask: Entry = True) -> None:
        """Put a number, or one for each lane, at a place of an array; where a mask is false what was there stays."""
        kind, size = mem.kind, bytes_of(mem.kind)
        at = (mem.offset + offset) * size
        if not (known(mask) and mask):
            old = Mem(mem.ptr, mem.offset, (), (), kind, mem.lane)
            stored = "i8" if kind == "i1" else kind
            now: Entry = self.fresh(
                stored, mem.vec, f"load {self.type(stored, mem.vec)}, ptr {self.pointer(old.ptr, at)}, align {size}"
            )
            if kind == "i1":
                now = self.compare("ne", "i8", now, 0)
            x = self.select(kind, mask, now, x)
        stored = kind
        if kind == "i1":
            stored = "i8"
            x = (
                int(x)
                if known(x)
                else self.emit(
                    ("byte", x), "i8", x.vec, f"zext {self.type('i1', x.vec)} {x.name} to {self.type('i8', x.vec)}"
                )
            )
        if mem.lane not in (None, 1):
            raise NotLowered("lanes apart")
        text = f"store {self.type(stored, mem.vec)} {self.text(x, stored, mem.vec)}"
        self.say(f"{text}, ptr {self.pointer(mem.ptr, at)}, align {size}")
