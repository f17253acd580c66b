"""Equations some of whose axes go into a loop with several rows for each turn."""

from math import prod

from hydrostat.native.axes import RULES
from hydrostat.native.axis import FREE, Axis, Chunk, UnmappableError, without
from hydrostat.native.program import Eqn


def _split(old, new, chunk: Chunk, size: int) -> int:
    """The axis of the new shape that is the first of those that an axis of the old one is split into."""
    before, count = prod(old[: chunk.axis]), 1
    for i, n in enumerate(new):
        following = (prod(new[i + 1 : end]) for end in range(i + 2, len(new) + 1))
        if count == before and n == size and chunk.rows in following:
            return i
        count *= n
    raise UnmappableError("reshaped")


def chunked(eqn: Eqn, axes: list[Axis], size: int):
    """The rule of an equation some of whose inputs have an axis in chunks."""
    chunk = next(axis for axis in axes if isinstance(axis, Chunk))
    if eqn.name == "reshape":
        shape = eqn.outputs[0].shape
        try:
            out = _split(eqn.inputs[0].shape, shape, chunk, size)
            return [chunk], [out], {"new_sizes": without(shape, out)}, []
        except UnmappableError:
            pass
    if eqn.name not in RULES or eqn.name in ("gather", "dynamic_slice", "iota"):
        raise UnmappableError(eqn.name)
    if any(axis is not FREE and not isinstance(axis, Chunk) for axis in axes):
        raise UnmappableError("axes differ")
    plain = [axis.axis if isinstance(axis, Chunk) else axis for axis in axes]
    ins, outs, _, blocks = RULES[eqn.name](eqn, plain, None, chunk.rows * size)
    if any(isinstance(axis, Chunk) for axis in outs):
        raise UnmappableError("reshaped")
    params = dict(eqn.params)
    for name, axis in (("shape", outs[0]), ("new_sizes", outs[0]), ("limit_indices", ins[0])):
        if name in params:
            params[name] = without(tuple(params[name]), Chunk(axis, chunk.rows))

    def kept(axis):
        return Chunk(axis, chunk.rows) if isinstance(axis, int) else None

    return [kept(axis) for axis in ins], [kept(axis) for axis in outs], params, blocks
