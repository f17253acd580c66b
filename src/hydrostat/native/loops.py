"""Loops and branches.

What a loop carries is kept in memory of its own: in places on the stack, which LLVM turns into registers, where it is
short, and in a buffer where it is long. In lanes a condition differs from lane to lane: a loop goes on while it holds
in any of them, and lanes that have ended keep what they have.
"""

from typing import Any

import numpy as np

from hydrostat.native.program import Block, Const, Eqn, NotLoweredError
from hydrostat.native.storage import Storage
from hydrostat.native.table import Table
from hydrostat.native.values import Mem, kind_of, known

FEW = 40
"""Largest size of arrays that are carried in places of their own."""
LIGHT = 60
"""A body of so few equations may be written out for every turn."""


class Loops(Storage):
    """Scans, loops with a condition, and branches, for `Lowering`."""

    # What is carried.

    def places(self, shape, kind: str, vec: bool) -> np.ndarray:
        """Places on the stack, one for each entry."""
        names = np.empty(shape, object)
        for at in np.ndindex(*shape):
            names[at] = self.e.name("place")
            self.e.allocas.append(f"{names[at]} = alloca {self.e.type(kind, vec)}")
        return names

    def keep_in(self, places: np.ndarray, value: np.ndarray, kind: str, vec: bool) -> None:
        """Put values into their places."""
        for place, x in zip(places.reshape(-1), value.reshape(-1), strict=True):
            self.e.say(f"store {self.e.type(kind, vec)} {self.e.text(x, kind, vec)}, ptr {place}")

    def from_places(self, places: np.ndarray, kind: str, vec: bool) -> np.ndarray:
        """The values in their places."""
        found = np.empty(places.shape, object)
        for at in np.ndindex(*places.shape):
            found[at] = self.e.fresh(kind, vec, f"load {self.e.type(kind, vec)}, ptr {places[at]}")
        return found

    def home(self, shape, kind: str, vec: bool):
        """Where a value that changes is kept."""
        few = int(np.prod(shape)) <= FEW and self.axis_of(shape) is None
        return self.places(shape, kind, vec) if few else self.buffer(shape, kind, vec)

    def from_home(self, home, kind: str, vec: bool):
        """The value that is kept in a home."""
        return home if isinstance(home, Mem) else self.from_places(home, kind, vec)

    def bring_home(self, homes: list, values: list, kinds: list, vecs: list, masks: list) -> None:
        """Put values into their homes, all of them read before any is written."""
        own = {home.buffer for home in homes if isinstance(home, Mem)}
        ready = [
            self._read_before(home, value, kind, own) for home, value, kind in zip(homes, values, kinds, strict=True)
        ]
        for home, value, kind, vec, mask in zip(homes, ready, kinds, vecs, masks, strict=True):
            if not isinstance(home, Mem):
                self.keep_in(home, self._where(mask, home, value, kind, vec), kind, vec)
            elif not (isinstance(value, Mem) and self.one_place(value, home)):
                self.put(home, value, mask)

    def _read_before(self, home, value, kind: str, written: set):
        """A value that will stay the same when homes are written."""
        if not isinstance(home, Mem):
            return self.entries(value)
        if isinstance(value, Mem) and not self.one_place(value, home) and value.buffer in written:
            copy = self.buffer(value.shape, kind, value.vec)
            self.put(copy, value)
            return copy
        return value

    def _where(self, mask, home: np.ndarray, value: Any, kind: str, vec: bool) -> np.ndarray:
        """A value where a mask holds, and what is at home where it does not."""
        if known(mask) and mask:
            return value
        old = self.from_places(home, kind, vec)
        flat = zip(old.reshape(-1), value.reshape(-1), strict=True)
        chosen = [self.e.select(kind, mask, a, b) for a, b in flat]
        return np.array([*chosen, None], object)[:-1].reshape(home.shape)

    def varying(self, block: Block, flags: list[bool]) -> list[bool]:
        """Which outputs of a block differ from lane to lane, by which inputs do."""
        env = {id(var): flag for var, flag in zip(block.inputs, flags, strict=True)}

        def get(atom):
            if isinstance(atom, Const):
                return False
            if id(atom) in env:
                return env[id(atom)]
            return id(atom) in self.env and self.varies(self.env[id(atom)])

        for eqn in block.eqns:
            own = [get(atom) for atom in eqn.inputs]
            env.update((id(var), flag) for var, flag in zip(eqn.outputs, self._varying(eqn, own), strict=True))
        return [get(atom) for atom in block.outputs]

    def _varying(self, eqn: Eqn, flags: list[bool]) -> list[bool]:
        if not any(flags):
            return [False] * len(eqn.outputs)
        if eqn.name == "scan":
            consts, carry = eqn.params["num_consts"], eqn.params["num_carry"]
            now = list(flags)
            while True:
                out = self.varying(eqn.blocks[0], now)
                new = [a or b for a, b in zip(now[consts : consts + carry], out[:carry], strict=True)]
                if new == now[consts : consts + carry]:
                    return [*new, *out[carry:]]
                now[consts : consts + carry] = new
        if eqn.name == "while":
            return self._varying_while(eqn, flags)[0]
        if eqn.name == "cond":
            if flags[0]:
                return [True] * len(eqn.outputs)
            each = [self.varying(block, flags[1:]) for block in eqn.blocks]
            return [any(some) for some in zip(*each, strict=True)]
        return [True] * len(eqn.outputs)

    def _varying_while(self, eqn: Eqn, flags: list[bool]) -> tuple[list[bool], bool]:
        """What a loop carries that differs from lane to lane, and whether its condition does."""
        nt, nb = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
        test, body = eqn.blocks
        carry = flags[nt + nb :]
        while True:
            out = self.varying(body, [*flags[nt : nt + nb], *carry])
            goes_on = self.varying(test, [*flags[:nt], *carry])[0]
            new = [a or b or goes_on for a, b in zip(carry, out, strict=True)]
            if new == carry:
                return new, goes_on
            carry = new

    # Loops.

    def _do_while(self, eqn: Eqn):
        e, p = self.e, eqn.params
        nt, nb = p["cond_nconsts"], p["body_nconsts"]
        test, body = eqn.blocks
        operands = [self.read(atom) for atom in eqn.inputs]
        of_test, of_body, init = operands[:nt], operands[nt : nt + nb], operands[nt + nb :]
        vecs, _ = self._varying_while(eqn, [self.varies(value) for value in operands])
        kinds = [kind_of(var.dtype) for var in eqn.outputs]
        homes = [self.home(v.shape, k, vec) for v, k, vec in zip(eqn.outputs, kinds, vecs, strict=True)]
        self.bring_home(homes, init, kinds, vecs, [True] * len(homes))
        head, inside, done = e.label("while"), e.label("turn"), e.label("end")
        e.jump(head)
        e.begin(head)
        e.scopes.append({})
        outer, self.homes = self.homes, {home.buffer for home in homes if isinstance(home, Mem)}

        def carried():
            return [self.from_home(home, kind, vec) for home, kind, vec in zip(homes, kinds, vecs, strict=True)]

        carry = carried()
        goes_on = self.entries(self.call(test, [*of_test, *carry])[0])
        any_one = False
        for x in goes_on.reshape(-1):
            any_one = e.logic("or", "i1", any_one, x)
        any_one = e.any_lane(any_one, self.lanes.valid if self.lanes else True)
        rare = ", !prof !0" if is_light(eqn) else ""
        e.say(f"br i1 {e.text(any_one, 'i1', False)}, label %{inside}, label %{done}{rare}")
        e.begin(inside)
        e.scopes.append({})
        values = self.call(body, [*of_body, *carry])
        if goes_on.ndim == 0:
            one = goes_on.item()
            mask = one if not known(one) and one.vec else True
            masks = [mask] * len(homes)
        else:
            values, masks = self._masked(goes_on, carry, values, kinds), [True] * len(homes)
        self.bring_home(homes, values, kinds, vecs, masks)
        e.scopes.pop()
        e.scopes.pop()
        self.homes = outer
        e.jump(head)
        e.begin(done)
        return carried()

    def _masked(self, goes_on: np.ndarray, old: list, new: list, kinds: list) -> list:
        """What a turn gives, where a condition with axes says that the loop goes on, and else what was there."""
        found = []
        for a, b, kind in zip(old, new, kinds, strict=True):
            if a is b:
                found.append(a)
                continue
            before, after = self.entries(a), self.entries(b)
            mask = goes_on.reshape(goes_on.shape + (1,) * (before.ndim - goes_on.ndim))
            mask = np.broadcast_to(mask, before.shape)
            out = np.empty(before.shape, object)
            for at in np.ndindex(*before.shape):
                out[at] = self.e.select(kind, mask[at], before[at], after[at])
            found.append(out)
        return found

    def _do_scan(self, eqn: Eqn):
        p = eqn.params
        n, consts, carried = p["length"], p["num_consts"], p["num_carry"]
        (body,) = eqn.blocks
        if (n <= 2 and weight(body) <= LIGHT) or n <= 1:
            return self._unrolled(eqn, [self.read(atom) for atom in eqn.inputs])
        operands = [self.read(atom, table=i >= consts + carried) for i, atom in enumerate(eqn.inputs)]
        fixed, init, rows = operands[:consts], operands[consts : consts + carried], operands[consts + carried :]
        rows = [v if isinstance(v, Table) and 0 in v.axes else self.spilled(v, kind_of(atom.dtype))
                for v, atom in zip(rows, eqn.inputs[consts + carried :], strict=True)]  # fmt: skip
        flags = self._varying(eqn, [self.varies(value) for value in operands])
        vecs = flags[:carried]
        kinds = [kind_of(var.dtype) for var in eqn.outputs[:carried]]
        homes = [self.home(v.shape, k, vec) for v, k, vec in zip(eqn.outputs[:carried], kinds, vecs, strict=True)]
        self.bring_home(homes, init, kinds, vecs, [True] * carried)
        results = []
        lengths, self.lengths = self.lengths, self.lengths - {n}
        outer, self.homes = self.homes, {home.buffer for home in homes if isinstance(home, Mem)}
        with self.loop(n, p["reverse"]) as index:
            carry = [self.from_home(home, kind, vec) for home, kind, vec in zip(homes, kinds, vecs, strict=True)]
            out = self.call(body, [*fixed, *carry, *(self.at(row, 0, index) for row in rows)])
            results = self.rows_stored([(var, 0) for var in eqn.outputs[carried:]], index, out[carried:])
            self.bring_home(homes, out[:carried], kinds, vecs, [True] * carried)
        self.lengths, self.homes = lengths, outer
        last = [self.from_home(home, kind, vec) for home, kind, vec in zip(homes, kinds, vecs, strict=True)]
        return [*last, *results]

    def _unrolled(self, eqn: Eqn, operands: list):
        p = eqn.params
        n, consts, carried = p["length"], p["num_consts"], p["num_carry"]
        fixed, carry, rows = operands[:consts], operands[consts : consts + carried], operands[consts + carried :]
        turns = []
        for i in range(n - 1, -1, -1) if p["reverse"] else range(n):
            out = self.call(eqn.blocks[0], [*fixed, *carry, *(self.at(row, 0, i) for row in rows)])
            carry = out[:carried]
            turns.append(out[carried:])
        if p["reverse"]:
            turns.reverse()
        results = []
        for k, var in enumerate(eqn.outputs[carried:]):
            parts = []
            for i, turn in enumerate(turns):
                value = turn[k]
                value = (
                    value[None] if isinstance(value, np.ndarray) else value.part((1, *value.shape), (0, *value.strides))
                )
                parts.append((value, (slice(i, i + 1), *[slice(None)] * (len(var.shape) - 1))))
            results.append(self.assembled(Eqn("stack", [], [var]), parts))
        return [*carry, *results]

    # Branches.

    def _do_cond(self, eqn: Eqn):
        e = self.e
        which = self.entries(self.read(eqn.inputs[0])).item()
        kind = kind_of(eqn.inputs[0].dtype)
        operands = [self.read(atom) for atom in eqn.inputs[1:]]
        flags = [self.varies(value) for value in operands]
        apart = not known(which) and which.vec
        each = [self.varying(block, flags) for block in eqn.blocks]
        vecs = [apart or any(some) for some in zip(*each, strict=True)]
        kinds = [kind_of(var.dtype) for var in eqn.outputs]
        homes = [self._home_of(eqn, k, operands, kind_, vec)
                 for k, (kind_, vec) in enumerate(zip(kinds, vecs, strict=True))]  # fmt: skip
        count = len(eqn.blocks)
        after = e.label("joined")
        for k, block in enumerate(eqn.blocks):
            if count == 2 and kind == "i1":
                here = e.compare("eq", kind, which, bool(k))
            elif k == 0:
                here = e.compare("le", kind, which, 0)
            elif k == count - 1:
                here = e.compare("ge", kind, which, k)
            else:
                here = e.compare("eq", kind, which, k)
            inside, others = e.label("branch"), e.label("other")
            test = e.any_lane(here, self.lanes.valid) if apart and self.lanes else here
            e.say(f"br i1 {e.text(test, 'i1', False)}, label %{inside}, label %{others}")
            e.begin(inside)
            e.scopes.append({})
            values = self.call(block, operands)
            self.bring_home(homes, values, kinds, vecs, [here if apart else True] * len(homes))
            e.scopes.pop()
            e.jump(others if apart else after)
            e.begin(others)
        if not apart:
            e.jump(after)
            e.begin(after)
        return [self._seen_anew(home) if isinstance(home, Mem) else self.from_places(home, kind_, vec)
                for home, kind_, vec in zip(homes, kinds, vecs, strict=True)]  # fmt: skip

    def _home_of(self, eqn: Eqn, k: int, operands: list, kind: str, vec: bool):
        """Where a result of branches is kept: where a branch hands a carried array through, in its own place."""
        for block in eqn.blocks:
            for i, var in enumerate(block.inputs):
                value = operands[i]
                if block.outputs[k] is not var or not isinstance(value, Mem) or value.buffer not in self.homes:
                    continue
                atom = eqn.inputs[1 + i]
                alone = sum(one is atom for one in eqn.inputs) == self.uses.get(id(atom)) == 1
                if alone and value.vec == vec and value.shape == eqn.outputs[k].shape:
                    return value
        return self.home(eqn.outputs[k].shape, kind, vec)

    def _seen_anew(self, mem: Mem) -> Mem:
        """The same memory after it has been written, so that nothing is taken for what was there before."""
        ptr = self.e.fresh("ptr", False, f"getelementptr i8, ptr {mem.ptr}, i64 0").name
        self.aliases[ptr] = self.aliases.get(mem.ptr, mem.ptr)
        return Mem(ptr, mem.offset, mem.shape, mem.strides, mem.kind, mem.lane, mem.buffer)

    def one_place(self, a: Mem, b: Mem) -> bool:
        """Whether two arrays are the same memory in the same order."""
        roots = [self.aliases.get(mem.ptr, mem.ptr) for mem in (a, b)]
        return roots[0] == roots[1] and (a.offset, a.shape, a.strides, a.lane) == (b.offset, b.shape, b.strides, b.lane)


def weight(block: Block) -> int:
    """How many equations a block has."""
    return sum(1 + sum(weight(inner) for inner in eqn.blocks) for eqn in block.eqns)


def is_light(eqn: Eqn) -> bool:
    """Whether a loop does so little that it is one of a function, which most arguments need not enter."""
    return sum(weight(block) for block in eqn.blocks) <= LIGHT and all(np.prod(var.shape) <= FEW for var in eqn.outputs)


__all__ = ["Loops", "NotLoweredError", "is_light"]
