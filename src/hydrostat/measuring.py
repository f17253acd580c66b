"""Clocks and conditions of a measurement."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def best_of(repetitions: int, function: Callable[[], object]) -> float:
    """The shortest time that a function takes [s]: what is longer was spent by others."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


@contextmanager
def on_one_core() -> Iterator[None]:
    """Run on a single core, where the system can be told so."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    # The last one: the first is where systems put their own work.
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


@contextmanager
def compiling_anew() -> Iterator[None]:
    """Leave the compilation cache alone, so that compile times are those of the compiler."""
    import jax

    before = jax.config.values["jax_enable_compilation_cache"]
    jax.config.update("jax_enable_compilation_cache", False)
    try:
        yield
    finally:
        jax.config.update("jax_enable_compilation_cache", before)
