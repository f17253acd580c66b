"""LLVM IR of one function: arithmetic, and memory."""

from hydrostat.native.arithmetic import Arithmetic
from hydrostat.native.program import NotLoweredError
from hydrostat.native.values import Entry, Mem, bytes_of, known


class Emitter(Arithmetic):
    """Writes one function."""

    def pointer(self, ptr: str, offset: int) -> str:
        """A pointer moved by some bytes."""
        if not offset:
            return ptr
        return self.emit(("at", ptr, offset), "ptr", False, f"getelementptr i8, ptr {ptr}, i64 {offset}").name

    def moved(self, ptr: str, index: Entry, stride: int) -> str:
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
            raise NotLoweredError("lanes apart")
        text = f"store {self.type(stored, mem.vec)} {self.text(x, stored, mem.vec)}"
        self.say(f"{text}, ptr {self.pointer(mem.ptr, at)}, align {size}")
