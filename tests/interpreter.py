"""Evaluates what JAX has traced with NumPy, as long as compiling it would take longer.

Most tests evaluate a function of a small robot a few times: XLA compiles for seconds what NumPy works out in
milliseconds. `install` puts this between tracing and compiling. Each program is interpreted until that has taken as
long as compiling it would, and compiled from then on, so that no program costs more than twice the better way; those
that are long from the start are compiled at once. What is computed is the same to rounding.
"""

import time
from math import prod
from typing import Any

import jax
import jaxlib
import numpy as np
from jax._src import core, pjit
from jax._src.interpreters import pxla

from hydrostat import executables
from numpy_loops import LOOPS
from numpy_operations import OPERATIONS

COMPILED = executables.Executables._made
"""How executables are made elsewhere than in the tests."""
_PER_EQUATION = 3e-6
"""Seconds that NumPy takes for an equation of few numbers."""
_PER_NUMBER = 1.5e-9
_COMPILE, _COMPILE_EQUATION = 12e-3, 0.27e-3
"""Seconds that JAX and XLA take to lower and to compile a program, and for each of its equations."""
_OFTEN = 20
"""Calls of a compiled program from which it matters how it is called."""
_TURNS = 4
"""Turns of a loop of which the number is not known."""


class TooLongError(Exception):
    """A program has been interpreted for as long as compiling takes."""


class NotPlainError(Exception):
    """A program has values of which NumPy has no arrays, such as keys of random numbers."""


class Clock:
    """When to give up."""

    end = float("inf")

    @classmethod
    def check(cls) -> None:
        """Give up where time is over."""
        if time.thread_time() > cls.end:
            raise TooLongError


class Program:
    """A jaxpr as a list of NumPy calls."""

    def __init__(self, jaxpr: core.Jaxpr):
        slots: dict[Any, int] = {}

        def slot(var) -> int:
            return slots.setdefault(var, len(slots))

        self.constvars = [slot(var) for var in jaxpr.constvars]
        self.invars = [slot(var) for var in jaxpr.invars]
        self.literals: list[tuple[int, Any]] = []
        known: dict[int, int] = {}

        def read(atom) -> int:
            if not isinstance(atom, core.Literal):
                return slots[atom]
            if id(atom) not in known:
                known[id(atom)] = slot(atom_key := object())
                self.literals.append((slots[atom_key], np.asarray(atom.val, atom.aval.dtype)))
            return known[id(atom)]

        self.calls = []
        self.weight, self.size = 0.0, 0
        for eqn in jaxpr.eqns:
            call, several, weight, size = call_of(eqn)
            ins = [read(atom) for atom in eqn.invars]
            outs = [slot(var) for var in eqn.outvars]
            self.calls.append((call, ins, outs if several else outs[0], several))
            self.weight += weight
            self.size += size
        self.outvars = [read(atom) for atom in jaxpr.outvars]
        self.count = len(slots)

    def __call__(self, consts, args) -> list:
        """The values of the outputs."""
        env: list = [None] * self.count
        for place, value in zip(self.constvars, consts, strict=True):
            env[place] = value
        for place, value in self.literals:
            env[place] = value
        for place, value in zip(self.invars, args, strict=True):
            env[place] = value
        for call, ins, outs, several in self.calls:
            if several:
                for place, value in zip(outs, call(*[env[i] for i in ins]), strict=True):
                    env[place] = value
            else:
                env[outs] = call(*[env[i] for i in ins])
        return [env[i] for i in self.outvars]


_PROGRAMS: dict[int, tuple[Any, Program, list]] = {}


def program_of(closed) -> tuple[Program, list]:
    """The program of a jaxpr, made once, and its constants."""
    entry = _PROGRAMS.get(id(closed))
    if entry is None:
        jaxpr = getattr(closed, "jaxpr", closed)
        consts = [np.asarray(c) for c in getattr(closed, "consts", ())]
        entry = _PROGRAMS[id(closed)] = (closed, Program(jaxpr), consts)
    return entry[1], entry[2]


def call_of(eqn) -> tuple[Any, bool, float, int]:
    """An equation as a function of arrays; whether it has several results; seconds that it takes; its equations."""
    name = eqn.primitive.name
    if not all(_plain(var.aval) for var in eqn.outvars):
        raise NotPlainError
    out = eqn.outvars[0].aval if eqn.outvars else None
    seconds = _PER_EQUATION + (_PER_NUMBER * prod(out.shape) if hasattr(out, "shape") else 0.0)
    if name in LOOPS:
        return LOOPS[name](eqn, program_of, Clock, _TURNS)
    if name in OPERATIONS:
        return OPERATIONS[name](eqn), False, seconds, 1
    primitive, params = eqn.primitive, eqn.params

    def call(*args):
        found = primitive.bind(*map(jax.numpy.asarray, args), **params)
        return [np.asarray(y) for y in found] if primitive.multiple_results else np.asarray(found)

    return call, primitive.multiple_results, 100 * _PER_EQUATION, 1


class Tier:
    """How long a program has been interpreted, and whether it still is."""

    def __init__(self, closed):
        self.closed = closed
        self.spent, self.compile, self.calls = 0.0, 0.0, 0
        self.program, self.consts = None, []
        jaxpr = closed.jaxpr
        if jaxpr.effects or not all(_plain(var.aval) for var in (*jaxpr.constvars, *jaxpr.invars)):
            return
        if len(jaxpr.eqns) == 1 and jaxpr.eqns[0].primitive.name not in OPERATIONS.keys() | LOOPS.keys():
            return
        try:
            program, self.consts = program_of(closed)
        except NotPlainError:
            return
        self.compile = _COMPILE + _COMPILE_EQUATION * program.size
        if program.weight < self.compile:
            self.program = program

    def __call__(self, args) -> list | None:
        """The values of the outputs; None where the program is to be compiled."""
        if self.program is None:
            return None
        begin = time.thread_time()
        outer = Clock.end
        Clock.end = min(outer, begin + self.compile)
        try:
            with np.errstate(all="ignore"):
                found = self.program(self.consts, [np.asarray(arg) for arg in args])
        except TooLongError:
            found = None
        finally:
            Clock.end = outer
        self.spent += time.thread_time() - begin + 1e-4
        if found is None or self.spent > self.compile:
            self.program = None
        return found


def _plain(aval) -> bool:
    """Whether NumPy has arrays of this kind."""
    return hasattr(aval, "dtype") and isinstance(aval.dtype, np.dtype) and aval.dtype.kind in "biufc"


_TIERS: dict[int, Tier] = {}


def forget() -> None:
    """Let all programs go."""
    _TIERS.clear()
    _PROGRAMS.clear()


def install() -> None:
    """From now on programs are interpreted first."""
    compiled = pjit._pjit_call_impl_python

    def call(*args, jaxpr, **params):
        tier = _TIERS.get(id(jaxpr))
        if tier is None:
            tier = _TIERS[id(jaxpr)] = Tier(jaxpr)
        found = tier(args)
        if found is None:
            tier.calls += 1
            if tier.calls == _OFTEN:
                _forget_that_python_was_asked()
            return compiled(*args, jaxpr=jaxpr, **params)
        types = [var.aval for var in jaxpr.jaxpr.outvars]
        arrays = [_array(np.asarray(y, t.dtype).reshape(t.shape), t) for y, t in zip(found, types, strict=True)]
        return arrays, None, None, []

    pjit._pjit_call_impl_python = call
    executables.Executables._made = lambda self, function, leaves: _traced(function, leaves)  # type: ignore


def _forget_that_python_was_asked() -> None:
    """Let JAX look anew how functions are called: one that was not compiled at first is called by way of Python
    ever after.
    """
    pjit._cpp_pjit_cache_fun_only.clear()
    pjit._cpp_pjit_cache_explicit_attributes.clear()
    jaxlib._jax.PjitFunctionCache.clear_all()


def _traced(function, leaves):
    """A function that is traced already, and compiled when that pays."""
    function.trace(leaves)
    return function


def _array(value: np.ndarray, aval):
    """An array of JAX's."""
    device = jax.devices()[0]
    return pxla.batched_device_put(aval, jax.sharding.SingleDeviceSharding(device), [value], [device], committed=False)
