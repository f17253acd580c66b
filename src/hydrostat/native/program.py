"""A traced function as a flat list of equations, ready to be lowered.

JAX traces a function to a jaxpr. Here calls are inlined, marks that are for XLA or for derivatives alone are dropped,
and what nobody uses is left out.
"""

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.extend.core as jex
import numpy as np


class NotLowered(Exception):
    """Something has no machine code of our own; XLA must do it."""


@dataclass(eq=False, slots=True)
class Var:
    """A value: its shape and its type."""

    shape: tuple[int, ...]
    dtype: np.dtype


@dataclass(eq=False, slots=True)
class Const:
    """A value that is known."""

    value: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def dtype(self) -> np.dtype:
        return self.value.dtype


Atom = Var | Const


@dataclass(eq=False, slots=True)
class Eqn:
    """An operation; blocks of a loop or a branch are in `blocks`."""

    name: str
    inputs: list[Atom]
    outputs: list[Var]
    params: dict[str, Any] = field(default_factory=dict)
    blocks: list["Block"] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Block:
    """Equations with their inputs and outputs."""

    inputs: list[Var]
    eqns: list[Eqn]
    outputs: list[Atom]


_CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr",
          "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr", "custom_vjp_call_jaxpr": "fun_jaxpr",
          "checkpoint": "jaxpr", "remat": "jaxpr", "remat2": "jaxpr", "custom_lin": "jaxpr"}  # fmt: skip
_SAME = {"stop_gradient", "optimization_barrier", "copy", "copy_p", "real", "reduce_precision", "pvary"}


def trace(function, *arguments) -> Block:
    """The equations of a function of trees of arrays; inputs and outputs are the leaves of the trees."""
    return from_jaxpr(jax.make_jaxpr(function)(*arguments))


def from_jaxpr(closed) -> Block:
    """The equations of a closed jaxpr."""
    env: dict[Any, Atom] = {}
    inputs = []
    for var in closed.jaxpr.invars:
        own = Var(var.aval.shape, _dtype(var.aval))
        env[var] = Const(np.zeros(own.shape, own.dtype)) if 0 in own.shape else own
        inputs.append(own)
    for var, value in zip(closed.jaxpr.constvars, closed.consts, strict=True):
        env[var] = Const(np.asarray(value))
    eqns: list[Eqn] = []
    _inline(closed.jaxpr, env, eqns)
    return used(Block(inputs, eqns, [_read(env, var) for var in closed.jaxpr.outvars]))


def _read(env, atom) -> Atom:
    return Const(np.asarray(atom.val, atom.aval.dtype)) if isinstance(atom, jex.Literal) else env[atom]


def _inline(jaxpr, env, eqns) -> None:
    """Append the equations of a jaxpr whose inputs are in the environment."""
    for eqn in jaxpr.eqns:
        name, read = eqn.primitive.name, [_read(env, atom) for atom in eqn.invars]
        if name in _SAME:
            found = read
        elif name in _CALLS:
            found = _inlined(eqn.params[_CALLS[name]], read, eqns)
        elif name == "platform_index":
            found = [Const(np.asarray(_platform(eqn.params["platforms"]), np.int32))]
        elif name == "cond" and isinstance(read[0], Const):
            branches = eqn.params["branches"]
            which = min(max(int(read[0].value), 0), len(branches) - 1)
            found = _inlined(branches[which], read[1:], eqns)
        else:
            found = [Var(var.aval.shape, _dtype(var.aval)) for var in eqn.outvars]
            if not all(0 in var.shape for var in found):
                eqns.append(Eqn(name, read, found, *_parts(name, eqn.params)))
            # Of arrays without entries nothing needs to be computed.
            found = [Const(np.zeros(var.shape, var.dtype)) if 0 in var.shape else var for var in found]
        env.update(zip(eqn.outvars, found, strict=True))


def _dtype(aval) -> np.dtype:
    try:
        return np.dtype(aval.dtype)
    except TypeError:
        raise NotLowered(f"values of type {aval.dtype}") from None


def _platform(platforms) -> int:
    """Which of several implementations is that of a CPU."""
    for index, names in enumerate(platforms):
        if names is None or "cpu" in names:
            return index
    raise NotLowered("an operation without an implementation for CPUs")


def _inlined(closed, read, eqns) -> list[Atom]:
    jaxpr = getattr(closed, "jaxpr", closed)
    env: dict[Any, Atom] = dict(zip(jaxpr.invars, read, strict=True))
    env.update((var, Const(np.asarray(value))) for var, value in
               zip(jaxpr.constvars, getattr(closed, "consts", ()), strict=True))  # fmt: skip
    _inline(jaxpr, env, eqns)
    return [_read(env, var) for var in jaxpr.outvars]


def _parts(name: str, params: dict) -> tuple[dict, list[Block]]:
    """The parameters of an equation that matter here, and its blocks."""
    if name == "scan":
        keep = {key: params[key] for key in ("length", "reverse", "num_consts", "num_carry")}
        return keep, [from_jaxpr(params["jaxpr"])]
    if name == "while":
        keep = {key: params[key] for key in ("cond_nconsts", "body_nconsts")}
        return keep, [from_jaxpr(params[key]) for key in ("cond_jaxpr", "body_jaxpr")]
    if name == "cond":
        return {}, [from_jaxpr(branch) for branch in params["branches"]]
    return dict(params), []


def used(block: Block) -> Block:
    """The block without equations whose results nobody uses; loops lose what they carry in vain."""
    needed = {id(atom) for atom in block.outputs}
    eqns = []
    for eqn in reversed(block.eqns):
        if not any(id(var) in needed for var in eqn.outputs):
            continue
        if eqn.name == "scan":
            eqn = _used_scan(eqn, needed)
        elif eqn.name == "cond":
            eqn = _used_cond(eqn, needed)
        elif eqn.name == "while":
            eqn = _used_while(eqn, needed)
        needed.update(id(atom) for atom in eqn.inputs)
        eqns.append(eqn)
    return Block(block.inputs, eqns[::-1], block.outputs)


def _pruned(block: Block, inputs: list[bool], outputs: list[bool]) -> Block:
    kept = [atom for atom, keep in zip(block.outputs, outputs, strict=True) if keep]
    return used(Block([var for var, keep in zip(block.inputs, inputs, strict=True) if keep], block.eqns, kept))


def _reads(block: Block, outputs: list[bool]) -> list[bool]:
    """Which inputs some outputs of a block need."""
    part = _pruned(block, [True] * len(block.inputs), outputs)
    needed = {id(atom) for eqn in part.eqns for atom in eqn.inputs} | {id(atom) for atom in part.outputs}
    return [id(var) in needed for var in block.inputs]


def _chosen(items, keep) -> list:
    return [item for item, kept in zip(items, keep, strict=True) if kept]


def _used_cond(eqn: Eqn, needed: set) -> Eqn:
    keep = [id(var) in needed for var in eqn.outputs]
    reads = [any(each) for each in zip(*(_reads(block, keep) for block in eqn.blocks), strict=True)]
    blocks = [_pruned(block, reads, keep) for block in eqn.blocks]
    return Eqn("cond", [eqn.inputs[0], *_chosen(eqn.inputs[1:], reads)], _chosen(eqn.outputs, keep), eqn.params, blocks)


def _used_scan(eqn: Eqn, needed: set) -> Eqn:
    (body,), consts, carry = eqn.blocks, eqn.params["num_consts"], eqn.params["num_carry"]
    keep = [id(var) in needed for var in eqn.outputs]
    while True:
        reads = _reads(body, keep)
        more = [a or b for a, b in zip(keep[:carry], reads[consts : consts + carry], strict=True)]
        if more == keep[:carry]:
            break
        keep[:carry] = more
    reads[consts : consts + carry] = keep[:carry]
    params = {**eqn.params, "num_consts": sum(reads[:consts]), "num_carry": sum(keep[:carry])}
    return Eqn("scan", _chosen(eqn.inputs, reads), _chosen(eqn.outputs, keep), params, [_pruned(body, reads, keep)])


def _used_while(eqn: Eqn, needed: set) -> Eqn:
    (test, body), nt, nb = eqn.blocks, eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    tested = _reads(test, [True])
    keep = [id(var) in needed or read for var, read in zip(eqn.outputs, tested[nt:], strict=True)]
    while True:
        reads = _reads(body, keep)
        more = [a or b for a, b in zip(keep, reads[nb:], strict=True)]
        if more == keep:
            break
        keep = more
    tests, bodies = [*tested[:nt], *keep], [*reads[:nb], *keep]
    inputs = [*_chosen(eqn.inputs[:nt], tested[:nt]), *_chosen(eqn.inputs[nt : nt + nb], reads[:nb]),
              *_chosen(eqn.inputs[nt + nb :], keep)]  # fmt: skip
    params = {"cond_nconsts": sum(tested[:nt]), "body_nconsts": sum(reads[:nb])}
    blocks = [_pruned(test, tests, [True]), _pruned(body, bodies, keep)]
    return Eqn("while", inputs, _chosen(eqn.outputs, keep), params, blocks)
