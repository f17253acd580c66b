"""Equations and blocks of a single index of an axis, with all that they need there."""

from typing import Any

import numpy as np

from hydrostat.native.axes import RULES
from hydrostat.native.axis import FREE, Axis, Chunk, Single, UnmappableError, fixed, without
from hydrostat.native.chunks import chunked
from hydrostat.native.program import Atom, Block, Const, Eqn, Var


def without_axis(eqn: Eqn, axes: list[Axis], target: int | None, size: int) -> tuple[list[Axis], list[Axis], Eqn]:
    """The axes of the inputs, those of the outputs, and the equation of a single index (its inputs are the old ones).

    **Arguments:** `axes`: of the inputs, FREE where it may be chosen; `target`: the axis of the first output, where no
    input has one; `size`: of the axis.
    """
    if any(isinstance(axis, Chunk) for axis in axes):
        ins, outs, params, blocks = chunked(eqn, axes, size)
    else:
        rule = _LOOPS.get(eqn.name) or RULES.get(eqn.name)
        if rule is None:
            raise UnmappableError(eqn.name)
        ins, outs, params, blocks = rule(eqn, axes, target, size)
    for atom, axis in zip(eqn.inputs, ins, strict=True):
        if isinstance(axis, int) and atom.shape[axis] != size:
            raise UnmappableError("another size")
        if isinstance(axis, Chunk) and atom.shape[axis.axis] != size * axis.rows:
            raise UnmappableError("another size")
    outputs = [Var(without(var.shape, axis), var.dtype) for var, axis in zip(eqn.outputs, outs, strict=True)]
    return ins, outs, Eqn(eqn.name, eqn.inputs, outputs, params, blocks)


def _scan(eqn, axes, target, size):
    p = eqn.params
    consts, carry = p["num_consts"], p["num_carry"]
    if not carry and not any(axes[i] not in (FREE, None) for i in range(consts)):
        own = fixed(axes)
        if (not own and target == 0) or (own and all(axis == 0 for axis in own)):
            # Every turn by itself.
            if p["length"] != size:
                raise UnmappableError("another length")
            ins = [None] * consts + [0] * (len(axes) - consts)
            return ins, [0] * len(eqn.outputs), {"turn": True, "num_consts": consts}, eqn.blocks
    if not fixed(axes):
        raise UnmappableError("no axis")
    # Of inputs along the scan the first axis is that of the turns.
    ins = [None if axis is FREE else axis for axis in axes]
    inner = [axis if axis is None or i < consts + carry else axis - 1 for i, axis in enumerate(ins)]
    if any(axis == -1 for axis in inner):
        raise UnmappableError("along the scan")
    block, inner, outer = _loop_axes(eqn.blocks[0], inner, slice(consts, consts + carry), slice(0, carry), size)
    ins = [axis if axis is None or i < consts + carry else axis + 1 for i, axis in enumerate(inner)]
    outs = [axis if axis is None or i < carry else axis + 1 for i, axis in enumerate(outer)]
    if any(axis is None for axis in outs[carry:]):
        raise UnmappableError("the same for all")
    return _some(ins), outs, p, [block]


def _loop_axes(block, inner, into, out, size) -> tuple[Block, list, list]:
    """The block of a loop without an axis, by trial: what is carried has the same axis before and after a turn."""
    inner = list(inner)
    places = list(zip(range(*into.indices(len(inner))), range(*out.indices(len(block.outputs))), strict=True))
    for _ in range(len(inner) + 2):
        target: list = [None] * len(block.outputs)
        for a, b in places:
            target[b] = inner[a]
        found, wished, outer = block_without_axis(block, inner, size, target)
        if wished is not None:
            index, axis = wished
            inner[index] = axis
            continue
        changed = False
        for a, b in places:
            if inner[a] is None and outer[b] is not None:
                inner[a], changed = outer[b], True
            elif inner[a] != outer[b]:
                raise UnmappableError("carried along another axis")
        if not changed:
            return found, inner, outer
    raise UnmappableError("no end of axes")


def _while(eqn, axes, target, size):
    if not fixed(axes):
        raise UnmappableError("no axis")
    nt, nb = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    test, body = eqn.blocks
    ins = [None if axis is FREE else axis for axis in axes]
    of_test, of_body = ins[:nt], ins[nt:]
    for _ in range(len(ins) + 2):
        carried = slice(nb, len(of_body))
        body_block, of_body, _ = _loop_axes(body, of_body, carried, slice(0, len(body.outputs)), size)
        test_block, wished, verdict = block_without_axis(test, [*of_test, *of_body[nb:]], size)
        if wished is None:
            break
        index, axis = wished
        if index < nt:
            of_test[index] = axis
        else:
            of_body[nb + index - nt] = axis
    else:
        raise UnmappableError("no end of axes")
    # Of a condition with axes each entry guards its own part of what is carried.
    if verdict[0] is not None and any(axis != verdict[0] for axis in of_body[nb:]):
        raise UnmappableError("a condition along another axis")
    return _some([*of_test, *of_body]), of_body[nb:], eqn.params, [test_block, body_block]


def _cond(eqn, axes, target, size):
    if axes[0] not in (FREE, None) or not fixed(axes):
        raise UnmappableError("no axis")
    ins = [None if axis is FREE else axis for axis in axes[1:]]
    outs: list = [None] * len(eqn.outputs)
    for _ in range(len(ins) + len(outs) + 2):
        blocks, again = [], False
        for branch in eqn.blocks:
            block, wished, outer = block_without_axis(branch, ins, size, outs)
            if wished is not None:
                ins[wished[0]], again = wished[1], True
                break
            if outs != outer:
                outs, again = outer, True
            blocks.append(block)
        if not again:
            break
    else:
        raise UnmappableError("branches differ")
    return _some([None, *ins]), outs, eqn.params, blocks


def _some(ins):
    if not fixed(ins):
        raise UnmappableError("no axis")
    return ins


_LOOPS = {"scan": _scan, "while": _while, "cond": _cond}


class Rows:
    """Values of a block at a single index of an axis.

    What has no axis, and is needed with one, is made so from what it was made of: zeros of every index are zeros.
    """

    def __init__(self, size: int, outside, chunks: bool = False):
        self.size, self.outside, self.chunks = size, outside, chunks
        self.inner: dict[int, tuple[Atom, Axis]] = {}
        self.made: dict[int, Eqn] = {}
        """Equations without the axis, by their results."""
        self.eqns: list[Eqn] = []
        self.copies: dict[tuple[int, Any], Atom] = {}

    def axis(self, atom: Atom) -> Axis:
        """The axis that a value has, None for none."""
        return None if isinstance(atom, Const) else self.inner.get(id(atom), (atom, None))[1]

    def add(self, eqn: Eqn, target: int | None = None, axes: list | None = None) -> None:
        """One more equation, of a single index."""
        axes = [FREE if self.axis(atom) is None else self.axis(atom) for atom in eqn.inputs] if axes is None else axes
        copy = Eqn(eqn.name, list(eqn.inputs), eqn.outputs, eqn.params, eqn.blocks)
        ins, outs, new = without_axis(copy, axes, target, self.size)
        new.inputs = [self.at(atom, axis) for atom, axis in zip(copy.inputs, ins, strict=True)]
        if any(axis is None for axis in outs):
            raise UnmappableError("the same for all")
        if not self.chunks and any(isinstance(axis, Chunk) for axis in (*ins, *outs)):
            raise UnmappableError("chunks")
        self.inner.update((id(a), (b, axis)) for a, b, axis in zip(eqn.outputs, new.outputs, outs, strict=True))
        self.append(new)

    def append(self, new: Eqn) -> None:
        """An equation of a single index; of a loop over the indices its body."""
        if not new.params.get("turn"):
            self.eqns.append(new)
            return
        (body,) = new.blocks
        env = {id(var): atom for var, atom in zip(body.inputs, new.inputs, strict=True)}
        for eqn in body.eqns:
            inputs = [env.get(id(atom), atom) for atom in eqn.inputs]
            self.eqns.append(Eqn(eqn.name, inputs, eqn.outputs, eqn.params, eqn.blocks))
        for var, atom in zip(new.outputs, body.outputs, strict=True):
            self.eqns.append(Eqn("same", [env.get(id(atom), atom)], [var]))

    def at(self, atom: Atom, axis: Any) -> Atom:
        """A value at the index, its axis being this one; None: the same for all."""
        inner, own = (atom, None) if isinstance(atom, Const) else self.inner.get(id(atom), (atom, None))
        if isinstance(axis, Single):
            if own is not None:
                raise UnmappableError("axes differ")
            if isinstance(inner, Const):
                return Const(np.squeeze(inner.value, axis.axis))
            out = Var(without(atom.shape, axis.axis), atom.dtype)
            self.eqns.append(Eqn("squeeze", [inner], [out], {"dimensions": (axis.axis,)}))
            return out
        if own is not None or axis is None:
            if own != axis:
                raise UnmappableError("axes differ")
            return inner
        if not isinstance(axis, Chunk) and atom.shape[axis] != self.size:
            raise UnmappableError("another size")
        key = (id(atom), axis)
        if key not in self.copies:
            self.copies[key] = self._copy(atom, axis)
        return self.copies[key]

    def _copy(self, atom: Atom, axis: Any) -> Atom:
        if isinstance(axis, Chunk):
            return self._copy_chunk(atom, axis)
        if isinstance(atom, Const):
            first = np.take(atom.value, 0, axis)
            if np.array_equal(atom.value, np.broadcast_to(np.expand_dims(first, axis), atom.shape)):
                return Const(first)
            return self.outside(atom, axis)
        eqn = self.made.get(id(atom))
        if eqn is None:
            return self.outside(atom, axis)
        try:
            return self._made_again(eqn, axis)
        except UnmappableError:
            return self.outside(atom, axis)

    def _copy_chunk(self, atom: Atom, chunk: Chunk) -> Atom:
        """Rows of a value that is not made here: of a constant that is the same everywhere, or from outside."""
        if isinstance(atom, Const):
            first = np.take(atom.value, range(chunk.rows), chunk.axis)
            if np.all(atom.value == atom.value.reshape(-1)[0]):
                return Const(first)
            return self.outside(atom, chunk)
        eqn = self.made.get(id(atom))
        if eqn is not None and eqn.name == "broadcast_in_dim" and chunk.axis not in eqn.params["broadcast_dimensions"]:
            shape = without(atom.shape, chunk)
            new = Eqn(
                eqn.name, [self.at(eqn.inputs[0], None)], [Var(shape, atom.dtype)], {**eqn.params, "shape": shape}
            )
            self.append(new)
            return new.outputs[0]
        return self.outside(atom, chunk)

    def _made_again(self, eqn: Eqn, axis: int) -> Atom:
        """The result of an equation without the axis, with it."""
        if len(eqn.outputs) > 1:
            raise UnmappableError("several results")
        copy = Eqn(eqn.name, list(eqn.inputs), eqn.outputs, eqn.params, eqn.blocks)
        ins, outs, new = without_axis(copy, [FREE] * len(eqn.inputs), axis, self.size)
        if outs != [axis]:
            raise UnmappableError("axes differ")
        new.inputs = [self.at(one, own) for one, own in zip(copy.inputs, ins, strict=True)]
        self.append(new)
        return new.outputs[0]


class _WishError(Exception):
    """An input of a block has to have an axis."""


def block_without_axis(block: Block, axes: list, size: int, target: list | None = None) -> Any:
    """The block of a single index; or which input would have to have which axis; and the axes of its outputs.

    **Arguments:** `target`: axes that outputs must have; None for those that they have by themselves.
    """
    index = {id(var): i for i, var in enumerate(block.inputs)}

    def outside(atom, axis):
        if id(atom) not in index:
            raise UnmappableError("computed within, the same for all")
        raise _WishError(index[id(atom)], axis)

    rows = Rows(size, outside)
    inputs = []
    for var, axis in zip(block.inputs, axes, strict=True):
        inner = Var(without(var.shape, axis), var.dtype)
        rows.inner[id(var)] = (inner, axis)
        inputs.append(inner)
    try:
        for eqn in block.eqns:
            if all(rows.axis(atom) is None for atom in eqn.inputs):
                own = [atom if isinstance(atom, Const) else rows.inner.get(id(atom), (atom,))[0] for atom in eqn.inputs]
                if eqn.name in ("scan", "while", "cond"):
                    # It would be done for all, beside what differs: better the whole by itself.
                    raise UnmappableError("a loop that is the same for all")
                rows.eqns.append(Eqn(eqn.name, own, eqn.outputs, eqn.params, eqn.blocks))
                rows.made.update((id(var), eqn) for var in eqn.outputs)
            else:
                rows.add(eqn)
        outs = []
        for atom, axis in zip(block.outputs, target or [None] * len(block.outputs), strict=True):
            own = rows.axis(atom) if axis is None else axis
            outs.append((rows.at(atom, own), own))
    except _WishError as wish:
        return None, wish.args, None
    return Block(inputs, rows.eqns, [atom for atom, _ in outs]), None, [axis for _, axis in outs]
