"""A traced function as a flat list of equations, ready to be lowered.

JAX traces a function to a jaxpr. Here calls are inlined, marks that are for XLA or for derivatives alone are dropped,
and what nobody uses is left out.
"""

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.extend.core as jex
import numpy as np


class NotLoweredError(Exception):
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
        """The size of each axis."""
        return self.value.shape

    @property
    def dtype(self) -> np.dtype:
        """The type of its numbers."""
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
    return used(from_jaxpr(jax.make_jaxpr(function)(*arguments)))


def from_jaxpr(closed) -> Block:
    """The equations of a closed jaxpr."""
    env: dict[Any, Atom] = {}
    inputs = []
    for var in closed.jaxpr.invars:
        own = Var(var.aval.shape, _dtype(var.aval))  # type: ignore[attr-defined]
        env[var] = Const(np.zeros(own.shape, own.dtype)) if 0 in own.shape else own
        inputs.append(own)
    for var, value in zip(closed.jaxpr.constvars, closed.consts, strict=True):
        env[var] = Const(np.asarray(value))
    eqns: list[Eqn] = []
    _inline(closed.jaxpr, env, eqns)
    return Block(inputs, eqns, [_read(env, var) for var in closed.jaxpr.outvars])


def _read(env, atom) -> Atom:
    return Const(np.asarray(atom.val, _dtype(atom.aval))) if isinstance(atom, jex.Literal) else env[atom]


def _inline(jaxpr, env, eqns) -> None:
    """Append the equations of a jaxpr whose inputs are in the environment."""
    for eqn in jaxpr.eqns:
        name, read = eqn.primitive.name, [_read(env, atom) for atom in eqn.invars]
        if name in _SAME:
            found = read
        elif name == "value_with_derivative":
            found = read[: eqn.params["count"]]
        elif name in _CALLS:
            found = _inlined(eqn.params[_CALLS[name]], read, eqns)
        elif name == "custom_linear_solve":
            solve, arguments = _solve(eqn.params, read)
            found = _inlined(solve, arguments, eqns)
        elif name == "pad" and any(min(low, high) < 0 == inner for low, high, inner in eqn.params["padding_config"]):
            found = [_cut_and_padded(eqn.params["padding_config"], read, eqns)]
        elif name in ("empty", "empty2"):
            (var,) = eqn.outvars
            found = [Const(np.zeros(var.aval.shape, _dtype(var.aval)))]
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
        raise NotLoweredError(f"random numbers, or other values of type {aval.dtype}") from None


def _cut_and_padded(config, read: list[Atom], eqns) -> Atom:
    """The array with its padding; what is cut by negative padding is cut first."""
    value, fill = read
    starts = tuple(max(-low, 0) for low, _, _ in config)
    ends = tuple(n - max(-high, 0) for n, (_, high, _) in zip(value.shape, config, strict=True))
    cut = Var(tuple(end - start for start, end in zip(starts, ends, strict=True)), value.dtype)
    eqns.append(Eqn("slice", [value], [cut], {"start_indices": starts, "limit_indices": ends, "strides": None}))
    rest = tuple((max(low, 0), max(high, 0), inner) for low, high, inner in config)
    shape = tuple(n + low + high + max(n - 1, 0) * inner
                  for n, (low, high, inner) in zip(cut.shape, rest, strict=True))  # fmt: skip
    padded = Var(shape, value.dtype)
    eqns.append(Eqn("pad", [cut, fill], [padded], {"padding_config": rest}))
    return padded


def _solve(params, read) -> tuple[Any, list[Atom]]:
    """The program that solves a system of equations which JAX can transpose, and its inputs."""
    counts = params["const_lengths"]
    first = counts.matvec + counts.vecmat
    # After the constants of all four programs come the right-hand sides.
    return params["jaxprs"].solve, [*read[first : first + counts.solve], *read[sum(counts) :]]


def _platform(platforms) -> int:
    """Which of several implementations is that of a CPU."""
    for index, names in enumerate(platforms):
        if names is None or "cpu" in names:
            return index
    raise NotLoweredError("an operation without an implementation for CPUs")


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
    return _pruned(block, [True] * len(block.inputs), [True] * len(block.outputs), {})


def _pruned(block: Block, inputs: list[bool], outputs: list[bool], memo: dict) -> Block:
    """The block with some of its inputs and outputs only."""
    kept = _chosen(block.outputs, outputs)
    needed = {id(atom) for atom in kept}
    eqns = []
    for eqn in reversed(block.eqns):
        keep = [id(var) in needed for var in eqn.outputs]
        if not any(keep):
            continue
        kept_eqn = _pruned_equation(eqn, keep, memo) if eqn.blocks else eqn
        needed.update(id(atom) for atom in kept_eqn.inputs)
        eqns.append(kept_eqn)
    return Block(_chosen(block.inputs, inputs), eqns[::-1], kept)


def _pruned_equation(eqn: Eqn, keep: list[bool], memo: dict) -> Eqn:
    """An equation with blocks, with what of it is needed."""
    keep, reads = _needs(eqn, keep, memo)
    outputs = _chosen(eqn.outputs, keep)
    if eqn.name == "scan":
        consts, carry = eqn.params["num_consts"], eqn.params["num_carry"]
        params = {**eqn.params, "num_consts": sum(reads[:consts]), "num_carry": sum(keep[:carry])}
        return Eqn("scan", _chosen(eqn.inputs, reads), outputs, params, [_pruned(eqn.blocks[0], reads, keep, memo)])
    if eqn.name == "cond":
        blocks = [_pruned(block, reads[1:], keep, memo) for block in eqn.blocks]
        return Eqn("cond", _chosen(eqn.inputs, reads), outputs, eqn.params, blocks)
    nt, nb = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    test, body = eqn.blocks
    params = {"cond_nconsts": sum(reads[:nt]), "body_nconsts": sum(reads[nt : nt + nb])}
    blocks = [
        _pruned(test, [*reads[:nt], *keep], [True], memo),
        _pruned(body, [*reads[nt : nt + nb], *keep], keep, memo),
    ]
    return Eqn("while", _chosen(eqn.inputs, reads), outputs, params, blocks)


def _needs(eqn: Eqn, keep: list[bool], memo: dict) -> tuple[list[bool], list[bool]]:
    """Which results of an equation with blocks it must keep so that some can be had, and which inputs it needs."""
    keep = list(keep)
    if eqn.name == "cond":
        each = [_reads(block, keep, memo) for block in eqn.blocks]
        return keep, [True, *(any(some) for some in zip(*each, strict=True))]
    tested: list[bool] = []
    nt = 0
    if eqn.name == "scan":
        first, count, body = eqn.params["num_consts"], eqn.params["num_carry"], eqn.blocks[0]
    else:
        nt, nb = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
        first, count, body = nb, len(keep), eqn.blocks[1]
        tested = _reads(eqn.blocks[0], [True], memo)
        keep = [a or b for a, b in zip(keep, tested[nt:], strict=True)]
    while True:
        reads = _reads(body, keep, memo)
        more = [a or b for a, b in zip(keep[:count], reads[first : first + count], strict=True)]
        if more == keep[:count]:
            break
        keep[:count] = more
    reads = [*reads[:first], *keep[:count], *reads[first + count :]]
    return keep, reads if eqn.name == "scan" else [*tested[:nt], *reads]


def _reads(block: Block, outputs: list[bool], memo: dict) -> list[bool]:
    """Which inputs some outputs of a block need."""
    key = id(block), tuple(outputs)
    if key not in memo:
        needed = {id(atom) for atom, keep in zip(block.outputs, outputs, strict=True) if keep}
        for eqn in reversed(block.eqns):
            keep = [id(var) in needed for var in eqn.outputs]
            if any(keep):
                inputs = _chosen(eqn.inputs, _needs(eqn, keep, memo)[1]) if eqn.blocks else eqn.inputs
                needed.update(id(atom) for atom in inputs)
        memo[key] = [id(var) in needed for var in block.inputs]
    return memo[key]


def _chosen(items, keep) -> list:
    return [item for item, kept in zip(items, keep, strict=True) if kept]
