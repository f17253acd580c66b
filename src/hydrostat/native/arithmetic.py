"""Arithmetic on values: what is known is folded, what has been computed is not computed again."""

import numpy as np

from hydrostat.native.text import Text
from hydrostat.native.values import FLAGS, MOST_PARTS, Entry, Val, bytes_of, is_float, known


class Arithmetic(Text):
    """Operations on single numbers or on one for each lane, for `Emitter`."""

    def key(self, x: Entry):
        """What tells a value from others."""
        return x if isinstance(x, Val) else ("c", repr(x))

    def _vec(self, *args) -> bool:
        return any(isinstance(x, Val) and x.vec for x in args)

    def op(self, op: str, kind: str, a: Entry, b: Entry, commutes: bool = False) -> Val:
        """The value of an instruction with two operands."""
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
            inside = own[1] if own is not None and own[0] == name else ((x.name if isinstance(x, Val) else repr(x), 1),)
            parts += [(key, sign * s) for key, s in inside]
        if len(parts) > MOST_PARTS:
            return None
        return name, tuple(sorted(parts, key=str))

    def add(self, kind: str, a: Entry, b: Entry) -> Entry:
        """The sum of two values."""
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

    def sub(self, kind: str, a: Entry, b: Entry) -> Entry:
        """The difference of two values."""
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

    def neg(self, kind: str, a: Entry) -> Entry:
        """A value with the other sign."""
        if known(a):
            return -a
        if not is_float(kind):
            return self.op("sub", kind, 0, a)
        if a in self.negative:
            return self.negative[a]
        out = self.emit(("fneg", a), kind, a.vec, f"fneg {FLAGS} {self.type(kind, a.vec)} {a.name}")
        self.negative[out] = a
        return out

    def mul(self, kind: str, a: Entry, b: Entry) -> Entry:
        """The product of two values."""
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
        """The quotient of two values."""
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
            # Towards zero, as the processor does.
            return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return self.op("sdiv" if signed else "udiv", kind, a, b)

    def remainder(self, kind, a, b, signed=True):
        """What a division of whole numbers leaves, with the sign of the first."""
        if known(a) and known(b):
            return abs(a) % abs(b) * (1 if a >= 0 else -1)
        return self.op("srem" if signed else "urem", kind, a, b)

    def compare(self, name: str, kind: str, a, b, signed: bool = True):
        """Whether two values compare as a name says: eq, ne, lt, le, gt or ge."""
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

    def select(self, kind: str, test: Entry, no: Entry, yes: Entry) -> Entry:
        """One of two values, as a test says."""
        if known(test):
            return yes if test else no
        if no is yes or (known(no) and known(yes) and no == yes):
            return no
        if kind == "i1" and known(no) and known(yes):
            return test if yes else self.invert("i1", test)
        vec = self._vec(test, no, yes)
        kinds = self.type(kind, vec)
        mask = self.text(test, "i1", True) if test.vec else test.name
        head = self.type("i1", test.vec)
        text = f"select {head} {mask}, {kinds} {self.text(yes, kind, vec)}, {kinds} {self.text(no, kind, vec)}"
        return self.emit(("select", test, self.key(no), self.key(yes), kind), kind, vec, text)

    def logic(self, op: str, kind: str, a: Entry, b: Entry) -> Entry:
        """The logical or bitwise combination of two values."""
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
        """The logical or bitwise opposite of a value."""
        if known(a):
            return (not a) if kind == "i1" else ~a
        return self.op("xor", kind, a, True if kind == "i1" else -1)

    def shift(self, op: str, kind: str, a: Entry, b: Entry) -> Entry:
        """A value shifted by some bits."""
        if known(a) and known(b):
            bits = 8 * bytes_of(kind)
            full = (1 << bits) - 1
            if b >= bits:
                return 0
            return {"shl": (a << b) & full, "lshr": (a & full) >> b, "ashr": a >> b}[op]
        return self.op(op, kind, a, b)

    def intrinsic(self, name: str, kind: str, *args, flags: bool = True):
        """The value of one of LLVM's own functions."""
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

    def any_lane(self, x: Entry, valid: Entry = True) -> Entry:
        """Whether something is true in any lane that counts."""
        x = self.logic("and", "i1", x, valid)
        if known(x) or not x.vec:
            return x
        full = f"@llvm.vector.reduce.or.v{self.width}i1"
        self.declared.add(f"declare i1 {full}({self.type('i1', True)})")
        return self.emit(("any", x), "i1", False, f"call i1 {full}({self.type('i1', True)} {x.name})")

    def convert(self, x: Entry, old: str, new: str, signed: bool = True) -> Entry:
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
