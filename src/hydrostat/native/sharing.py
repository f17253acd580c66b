"""Equations that compute the same value twice become one.

Physics written as functions that can be read alone computes some things more than once: a radius, a rotation, forces
on a node that both a residual and a momentum need. LLVM finds repeated instructions within registers, but not those
whose results are in memory.
"""

from typing import Any

import numpy as np

from hydrostat.native.program import Atom, Block, Const, Eqn

_LARGEST = 64  # numbers of a constant that is compared by its value; larger ones by their identity


def shared(block: Block) -> Block:
    """The block, with every value computed once in it and in each of its own blocks."""
    seen: dict[Any, Eqn] = {}
    same: dict[int, Atom] = {}
    eqns = []
    for eqn in block.eqns:
        own = Eqn(eqn.name, [same.get(id(atom), atom) for atom in eqn.inputs], eqn.outputs, eqn.params,
                  [shared(inner) for inner in eqn.blocks])  # fmt: skip
        key = _key(own)
        before = seen.get(key) if key is not None else None
        if before is None:
            eqns.append(own)
            if key is not None:
                seen[key] = own
        else:
            same.update((id(var), kept) for var, kept in zip(eqn.outputs, before.outputs, strict=True))
    return Block(block.inputs, eqns, [same.get(id(atom), atom) for atom in block.outputs])


def _key(eqn: Eqn) -> Any:
    """What tells an equation from others; None for loops and branches, and where its parameters cannot be compared."""
    if eqn.blocks:
        return None
    key = eqn.name, tuple(_told(atom) for atom in eqn.inputs), tuple(sorted(eqn.params.items()))
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _told(atom: Atom) -> Any:
    """What tells a value from others."""
    if isinstance(atom, Const) and atom.value.size <= _LARGEST:
        value = np.asarray(atom.value)
        return value.dtype.str, value.shape, value.tobytes()
    return id(atom)
