"""LLVM IR as text: names, blocks, and instructions that are written once."""

import numpy as np

from hydrostat.native.values import Entry, Val, known


class Text:
    """The text of one function."""

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
        """A new name of a value."""
        self.count += 1
        return f"%{prefix}{self.count}"

    def label(self, prefix: str) -> str:
        """A new name of a block."""
        self.count += 1
        return f"{prefix}{self.count}"

    def say(self, line: str) -> None:
        """Write an instruction."""
        self.lines.append("  " + line)

    def begin(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        """Go on with a block."""
        self.say(f"br label %{label}")

    def type(self, kind: str, vec: bool) -> str:
        """The LLVM type of a number, or of one for each lane."""
        return f"<{self.width} x {kind}>" if vec else kind

    def seen(self, key):
        """What has been computed for a key here or before; None for nothing."""
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
        """A known number as LLVM writes it."""
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
