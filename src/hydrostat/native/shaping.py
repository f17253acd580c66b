"""Operations that move numbers without changing them."""

from math import prod
from typing import Any

import numpy as np

from hydrostat.native.program import Eqn, NotLoweredError
from hydrostat.native.summing import Summing
from hydrostat.native.table import Table
from hydrostat.native.values import Mem, Val, bytes_of, kind_of, known

_MOST_PICKED = 4096


class Shaping(Summing):
    """Views, concatenations and indices, for `Lowering`."""

    def view(self, eqn: Eqn):
        """The result of an operation that only says in another way where numbers are."""
        if eqn.name == "iota":
            p = eqn.params
            counted = np.arange(p["shape"][p["dimension"]], dtype=eqn.outputs[0].dtype)
            shape = [1] * len(p["shape"])
            shape[p["dimension"]] = -1
            return self.constant(np.broadcast_to(counted.reshape(shape), p["shape"]).copy())
        value = self.read(eqn.inputs[0], table=True)
        if isinstance(value, Table):
            found = value.viewed(eqn.name, eqn.params, eqn.outputs[0].shape)
            if found is not None:
                return found
            value = self.read(eqn.inputs[0])
        return getattr(self, f"_view_{eqn.name}")(eqn, value)

    def _view_broadcast_in_dim(self, eqn: Eqn, value):
        shape, dims = eqn.params["shape"], eqn.params["broadcast_dimensions"]
        long = self.axis_of(shape) is not None and prod(shape) > 36
        if isinstance(value, np.ndarray) and not long:
            spread = [1] * len(shape)
            for d, n in zip(dims, value.shape, strict=True):
                spread[d] = n
            return np.broadcast_to(value.reshape(spread), shape)
        if isinstance(value, np.ndarray) and not value.size:
            return np.empty(shape, object)
        mem = self.spilled(value, kind_of(eqn.outputs[0].dtype))
        strides = [0] * len(shape)
        for d, n, s in zip(dims, mem.shape, mem.strides, strict=True):
            strides[d] = s if n == shape[d] and n > 1 else 0
        return mem.part(shape, strides)

    def _view_transpose(self, eqn: Eqn, value):
        perm = eqn.params["permutation"]
        if isinstance(value, np.ndarray):
            return value.transpose(perm)
        return value.part([value.shape[p] for p in perm], [value.strides[p] for p in perm])

    def _view_squeeze(self, eqn: Eqn, value):
        gone = eqn.params["dimensions"]
        kept = [i for i in range(len(value.shape)) if i not in gone]
        if isinstance(value, np.ndarray):
            return value.reshape([value.shape[i] for i in kept])
        return value.part([value.shape[i] for i in kept], [value.strides[i] for i in kept])

    def _view_expand_dims(self, eqn: Eqn, value):
        return self._view_reshape(eqn, value)

    def _view_slice(self, eqn: Eqn, value):
        p = eqn.params
        start, stop = p["start_indices"], p["limit_indices"]
        step = p["strides"] or (1,) * len(start)
        if isinstance(value, np.ndarray):
            return value[tuple(slice(*cut) for cut in zip(start, stop, step, strict=True))]
        offset = sum(a * s for a, s in zip(start, value.strides, strict=True))
        strides = [s * k for s, k in zip(value.strides, step, strict=True)]
        return value.part(eqn.outputs[0].shape, strides, offset)

    def _view_rev(self, eqn: Eqn, value):
        dims = eqn.params["dimensions"]
        if isinstance(value, np.ndarray):
            return np.flip(value, dims)
        offset = sum((value.shape[d] - 1) * value.strides[d] for d in dims)
        return value.part(value.shape, [-s if d in dims else s for d, s in enumerate(value.strides)], offset)

    def _view_reshape(self, eqn: Eqn, value):
        shape = eqn.outputs[0].shape
        if isinstance(value, np.ndarray):
            return value.reshape(shape)
        strides = _reshaped(value.shape, value.strides, shape)
        axis = self.axis_of(shape) if self.lanes is None else None
        if strides is not None and (axis is None or strides[axis] in (0, 1)):
            return value.part(shape, strides)
        # Rows that will be lanes are laid side by side once, here.
        return self.copied(value, shape)

    def copied(self, value: Mem, shape) -> Mem:
        """An array in another shape, copied where it cannot be seen as one."""
        mem = self.buffer(shape, value.kind, value.vec)
        seen = _reshaped(mem.shape, mem.strides, value.shape)
        if seen is not None:
            self.put(mem.part(value.shape, seen), value)
            return mem
        seen = _reshaped(value.shape, value.strides, shape)
        if seen is not None:
            self.put(mem, value.part(shape, seen))
            return mem
        # Through a plain one, which has every shape.
        unit = self.e.width if value.vec else 1
        strides, step = [], unit * prod(shape)
        for n in shape:
            step //= n
            strides.append(step)
        whole = self.buffer((prod(shape) + self.e.width,), value.kind, value.vec)
        plain = Mem(whole.ptr, 0, tuple(shape), tuple(strides), value.kind, value.lane, whole.buffer)
        back = _reshaped(plain.shape, plain.strides, value.shape)
        self.put(plain.part(value.shape, back), value)
        return plain

    # Operations on their own.

    def _view(self, eqn: Eqn):
        return [self.view(eqn)]

    _do_broadcast_in_dim = _do_transpose = _do_squeeze = _do_expand_dims = _do_slice = _do_rev = _do_reshape = (
        _do_iota
    ) = _view

    def _do_concatenate(self, eqn: Eqn):
        axis, at, parts = eqn.params["dimension"], 0, []
        for atom in eqn.inputs:
            n = atom.shape[axis]
            place = tuple(slice(at, at + n) if i == axis else slice(None) for i in range(len(atom.shape)))
            parts.append((self.read(atom), place))
            at += n
        return [self.assembled(eqn, parts)]

    def _do_stack(self, eqn: Eqn):
        axis, parts = eqn.params["axis"], []
        rank = len(eqn.outputs[0].shape)
        for k, atom in enumerate(eqn.inputs):
            value = self.read(atom)
            place = tuple(slice(k, k + 1) if i == axis else slice(None) for i in range(rank))
            shape = (*value.shape[:axis], 1, *value.shape[axis:])
            if isinstance(value, np.ndarray):
                value = value.reshape(shape)
            else:
                value = value.part(shape, (*value.strides[:axis], 0, *value.strides[axis:]))
            parts.append((value, place))
        return [self.assembled(eqn, parts)]

    def _do_unstack(self, eqn: Eqn):
        axis, value = eqn.params["axis"], self.read(eqn.inputs[0])
        return [self.at(value, axis, i) for i in range(value.shape[axis])]

    def _do_split(self, eqn: Eqn):
        axis, value, at, found = eqn.params["axis"], self.read(eqn.inputs[0]), 0, []
        for n in eqn.params["sizes"]:
            if isinstance(value, np.ndarray):
                found.append(np.take(value, range(at, at + n), axis))
            else:
                shape = (*value.shape[:axis], n, *value.shape[axis + 1 :])
                found.append(value.part(shape, value.strides, at * value.strides[axis]))
            at += n
        return found

    def _do_pad(self, eqn: Eqn):
        value, fill = self.read(eqn.inputs[0]), self.entries(self.read(eqn.inputs[1])).item()
        place = []
        for (low, high, inner), n in zip(eqn.params["padding_config"], eqn.inputs[0].shape, strict=True):
            if low < 0 or high < 0:
                raise NotLoweredError("cutting by negative padding")
            place.append(slice(low, low + (n - 1) * (inner + 1) + 1, inner + 1))
        return [self.assembled(eqn, [(value, tuple(place))], fill)]

    def _do_tile(self, eqn: Eqn):
        value, reps = self.read(eqn.inputs[0]), eqn.params["reps"]
        if isinstance(value, np.ndarray):
            return [np.tile(value, reps)]
        shape = value.shape
        parts = []
        for at in np.ndindex(*reps):
            parts.append((value, tuple(slice(i * n, (i + 1) * n) for i, n in zip(at, shape, strict=True))))
        return [self.assembled(eqn, parts)]

    # Indices that are computed.

    def _clamped(self, index: Any, most: int, dtype) -> Any:
        """An index brought within bounds."""
        e, kind = self.e, kind_of(dtype)
        index = e.convert(index, kind, "i64", np.dtype(dtype).kind != "u")
        if known(index):
            return min(max(index, 0), most)
        index = e.select("i64", e.compare("lt", "i64", index, 0), index, 0)
        return e.select("i64", e.compare("gt", "i64", index, most), index, most)

    def _do_dynamic_slice(self, eqn: Eqn):
        value, sizes = self.read(eqn.inputs[0]), eqn.params["slice_sizes"]
        starts = [
            self._clamped(self.entries(self.read(atom)).item(), n - k, atom.dtype)
            for atom, n, k in zip(eqn.inputs[1:], value.shape, sizes, strict=True)
        ]
        return [self._cut(value, starts, sizes)]

    def _cut(self, value, starts, sizes):
        """A part of an array from places that are computed."""
        if isinstance(value, np.ndarray):
            if all(known(start) for start in starts):
                return value[tuple(slice(a, a + n) for a, n in zip(starts, sizes, strict=True))]
            value = self.spilled(value)
        e, size = self.e, bytes_of(value.kind)
        if any(isinstance(start, Val) and start.vec for start in starts):
            return self._cut_lanes(value, starts, sizes)
        ptr = value.ptr
        for start, stride in zip(starts, value.strides, strict=True):
            ptr = e.moved(ptr, start, stride * size)
        return Mem(ptr, value.offset, tuple(sizes), value.strides, value.kind, value.lane, value.buffer)

    def _cut_lanes(self, value: Mem, starts, sizes):
        """A part of an array from places that differ from lane to lane."""
        e, size = self.e, bytes_of(value.kind)
        parts = []
        for lane in range(e.width):
            ptr = value.ptr
            for start, stride in zip(starts, value.strides, strict=True):
                ptr = e.moved(ptr, e.extract(start, lane), stride * size)
            offset = value.offset + (value.lane or 0) * lane
            parts.append(self.entries(Mem(ptr, offset, tuple(sizes), value.strides, value.kind)))
        flat = [part.reshape(-1) for part in parts]
        found = np.empty(prod(sizes), object)
        for i in range(prod(sizes)):
            found[i] = e.vector([part[i] for part in flat], value.kind)
        return found.reshape(sizes)

    def _do_dynamic_update_slice(self, eqn: Eqn):
        value, new = (self.read(atom) for atom in eqn.inputs[:2])
        starts = [
            self._clamped(self.entries(self.read(atom)).item(), n - k, atom.dtype)
            for atom, n, k in zip(eqn.inputs[2:], value.shape, new.shape, strict=True)
        ]
        if any(isinstance(start, Val) and start.vec for start in starts):
            raise NotLoweredError("an update at places that differ from lane to lane")
        kind = kind_of(eqn.outputs[0].dtype)
        mem = self.buffer(value.shape, kind, self.varies(value) or self.varies(new))
        self.put(mem, value)
        ptr = mem.ptr
        for start, stride in zip(starts, mem.strides, strict=True):
            ptr = self.e.moved(ptr, start, stride * bytes_of(kind))
        self.put(Mem(ptr, mem.offset, new.shape, mem.strides, kind, mem.lane, mem.buffer), new)
        again = self.e.fresh("ptr", False, f"getelementptr i8, ptr {mem.ptr}, i64 0").name
        return [Mem(again, mem.offset, mem.shape, mem.strides, kind, mem.lane, mem.buffer)]

    def _do_gather(self, eqn: Eqn):
        p, e = eqn.params, self.e
        numbers, sizes = p["dimension_numbers"], p["slice_sizes"]
        operand, indices = self.read(eqn.inputs[0]), self.entries(self.read(eqn.inputs[1]))
        dtype = eqn.inputs[1].dtype
        rank = len(eqn.outputs[0].shape)
        batch = [d for d in range(rank) if d not in numbers.offset_dims]
        gone = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
        fills = "FILL" in str(p["mode"])
        found = np.empty(eqn.outputs[0].shape, object)
        if found.size > _MOST_PICKED:
            raise NotLoweredError(f"{found.size} numbers picked at once")
        for at in np.ndindex(*indices.shape[:-1]):
            starts: list[Any] = [0] * len(operand.shape)
            inside: Any = True
            for k, d in enumerate(numbers.start_index_map):
                raw = indices[(*at, k)]
                starts[d] = self._clamped(raw, operand.shape[d] - sizes[d], dtype)
                if fills and not known(raw):
                    wide = e.convert(raw, kind_of(dtype), "i64", np.dtype(dtype).kind != "u")
                    inside = e.logic("and", "i1", inside, e.compare("eq", "i64", wide, starts[d]))
                elif fills and raw != starts[d]:
                    inside = False
            for d, i in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True):
                starts[d] = at[i]
            part = self.entries(self._cut(operand, starts, sizes))
            part = part.reshape([n for d, n in enumerate(sizes) if d not in gone])
            place = [slice(None)] * rank
            for d, i in zip(batch, at, strict=True):
                place[d] = i
            if not (known(inside) and inside):
                kind = kind_of(eqn.outputs[0].dtype)
                nothing = float("nan") if kind in ("double", "float") else 0
                flat = [e.select(kind, inside, nothing, x) for x in part.reshape(-1)]
                part = np.array([*flat, None], object)[:-1].reshape(part.shape)
            found[tuple(place)] = part if part.ndim else part.item()
        return [found]


def _reshaped(old, strides, new) -> list[int] | None:
    """Strides of an array in another shape; None where there are none."""
    old, strides = (
        zip(*((n, s) for n, s in zip(old, strides, strict=True) if n != 1), strict=True)
        if any(n != 1 for n in old)
        else ((), ())
    )
    found, i, j = [], 0, 0
    new = list(new)
    while j < len(new):
        if new[j] == 1:
            found.append(0)
            j += 1
            continue
        if i >= len(old):
            return None
        # Axes of the old shape that make up axes of the new one.
        a, b, i0, j0 = old[i], new[j], i, j
        while a != b:
            if a < b:
                i += 1
                if i >= len(old):
                    return None
                a *= old[i]
            else:
                j += 1
                if j >= len(new):
                    return None
                b *= new[j]
        if any(strides[k] != strides[k + 1] * old[k + 1] for k in range(i0, i)):
            return None
        step, own = strides[i], []
        for k in range(j, j0 - 1, -1):
            own.append(step)
            step *= new[k]
        found += own[::-1]
        i, j = i + 1, j + 1
    return found
