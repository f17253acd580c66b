"""Straight-line Python statements as LLVM vector code: the compiler behind the hand-written kernel of `dry_kernel`.

Statements assign sums, differences, products and quotients of names, numbers and entries of arrays. A name is a vector
whose lanes are arms, kept in a register; an entry `W[j, 3, b]` is loaded from and stored to memory, lanes next to each
other; `P[j, 3]` is one number for all lanes.
"""

import ast
import ctypes
import struct

from hydrostat.native.machine import Machine, compiled

_OPERATIONS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}


class Writer:
    """The text of one function `steps(pointers..., tau, dt, count, links)`: loops over steps and over links."""

    def __init__(self, lanes: int, columns: dict[str, int], broadcast: tuple[str, ...]):
        """**Arguments:** `columns`: rows per link of every array; `broadcast`: arrays without lanes."""
        self.lanes, self.columns, self.broadcast = lanes, columns, broadcast
        self.type = f"<{lanes} x double>"
        self.lines: list[str] = []
        self.count = 0

    def new(self, text: str) -> str:
        """A new value."""
        self.count += 1
        self.lines.append(f"  %x{self.count} = {text}")
        return f"%x{self.count}"

    def splat(self, scalar: str) -> str:
        """A number in all lanes."""
        one = self.new(f"insertelement {self.type} poison, double {scalar}, i64 0")
        return self.new(f"shufflevector {self.type} {one}, {self.type} poison, <{self.lanes} x i32> zeroinitializer")

    def place(self, entry: ast.Subscript, link: str) -> tuple[str, bool]:
        """The address of an entry, and whether it has lanes."""
        assert isinstance(entry.value, ast.Name)
        assert isinstance(entry.slice, ast.Tuple)
        name, index = entry.value.id, entry.slice.elts
        lanes = name not in self.broadcast
        parts = index[: 2 if lanes else len(index)] if isinstance(index[0], ast.Name) else index[:1]
        row = ast.literal_eval(parts[-1])
        width = self.lanes if lanes else 1
        offset = str(row * width)
        if isinstance(index[0], ast.Name):
            scaled = self.new(f"mul nsw i64 {link}, {self.columns[name] * width}")
            offset = self.new(f"add nsw i64 {scaled}, {row * width}")
        return self.new(f"getelementptr inbounds double, ptr %{name}, i64 {offset}"), lanes

    def value(self, node: ast.expr, names: dict[str, str], link: str) -> str:
        """The value of an expression."""
        if isinstance(node, ast.Name):
            return names[node.id]
        if isinstance(node, ast.Constant):
            assert isinstance(node.value, float)
            bits = struct.unpack("<Q", struct.pack("<d", node.value))[0]
            return self.splat(f"0x{bits:016X}")
        if isinstance(node, ast.UnaryOp):
            return self.new(f"fneg fast {self.type} {self.value(node.operand, names, link)}")
        if isinstance(node, ast.Subscript):
            place, lanes = self.place(node, link)
            if lanes:
                return self.new(f"load {self.type}, ptr {place}, align 8")
            return self.splat(self.new(f"load double, ptr {place}, align 8"))
        assert isinstance(node, ast.BinOp)
        left, right = (self.value(part, names, link) for part in (node.left, node.right))
        return self.new(f"{_OPERATIONS[type(node.op)]} fast {self.type} {left}, {right}")

    def block(self, statements: list[str], link: str) -> None:
        """Statements one after another."""
        names = {"dt": "%dts", "tau": "%taus"}
        for statement in statements:
            (assign,) = ast.parse(statement).body
            assert isinstance(assign, ast.Assign)
            found, (target,) = self.value(assign.value, names, link), assign.targets
            if isinstance(target, ast.Name):
                names[target.id] = found
            else:
                assert isinstance(target, ast.Subscript)
                self.lines.append(f"  store {self.type} {found}, ptr {self.place(target, link)[0]}, align 8")

    def sweep(self, label: str, before: str, statements: list[str], down: bool) -> str:
        """A loop over links; gives the label of what comes after."""
        first, change = ("%top", -1) if down else ("0", 1)
        self.lines += [f"  br label %{label}", f"{label}:"]
        self.lines.append(f"  %{label}_j = phi i64 [{first}, %{before}], [%{label}_next, %{label}]")
        self.block(statements, f"%{label}_j")
        self.lines.append(f"  %{label}_next = add nsw i64 %{label}_j, {change}")
        end = "-1" if down else "%links"
        self.lines.append(f"  %{label}_end = icmp eq i64 %{label}_next, {end}")
        self.lines += [f"  br i1 %{label}_end, label %{label}_done, label %{label}", f"{label}_done:"]
        return f"{label}_done"

    def function(self, sweeps: list[tuple[list[str], list[str], bool]]) -> str:
        """The whole text; a sweep has statements before it, those of a link, and whether it goes down."""
        self.lines = ["  %top = sub nsw i64 %links, 1"]
        dt, tau = self.splat("%dt"), self.splat("%tau")
        zero = "zeroinitializer"
        self.lines += [f"  %dts = fadd {self.type} {dt}, {zero}", f"  %taus = fadd {self.type} {tau}, {zero}"]
        self.lines += ["  br label %step", "step:", "  %done = phi i64 [0, %entry], [%more, %last]"]
        before = "step"
        for number, (start, link, down) in enumerate(sweeps):
            self.block(start, "0")
            before = self.sweep(f"sweep{number}", before, link, down)
        self.lines += ["  br label %last", "last:", "  %more = add nsw i64 %done, 1"]
        self.lines += ["  %end = icmp eq i64 %more, %count", "  br i1 %end, label %exit, label %step"]
        pointers = ", ".join(f"ptr noalias %{name}" for name in self.columns)
        head = f"define void @steps({pointers}, double %tau, double %dt, i64 %count, i64 %links) {{\nentry:\n"
        return head + "\n".join(self.lines) + "\nexit:\n  ret void\n}\n"


class Kernel:
    """The compiled function, called with NumPy arrays in the order of its pointers."""

    def __init__(self, text: str, pointers: int):
        self._machine = Machine(compiled(text))
        kinds = [ctypes.c_void_p] * pointers + [ctypes.c_double] * 2 + [ctypes.c_int64] * 2
        self._call = ctypes.CFUNCTYPE(None, *kinds)(self._machine.address("steps"))

    def __call__(self, arrays, tau: float, dt: float, count: int, links: int) -> None:
        """Make some steps; the interpreter is free meanwhile, so that threads can run others."""
        self._call(*(array.ctypes.data for array in arrays), tau, dt, count, links)
