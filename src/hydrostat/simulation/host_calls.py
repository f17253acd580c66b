"""Functions of arrays that are computed on the host, and that `jax.jit` and `jax.vmap` go through."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import custom_vmap

Batched = tuple[bool, ...]
"""Which arrays have a leading axis of robots."""
Prepare = Callable[[Batched, int | None], tuple[Callable, list[jax.ShapeDtypeStruct]]]
"""From which arrays are batched, and the number of robots (None for one without an axis of robots), to a function of
NumPy arrays, and to the shapes of its results.
"""


def called_on_host(prepare: Prepare, arrays: list, own: Batched, batched: Batched, count: int | None) -> list:
    """The results of a function on the host, which can be batched over and over.

    **Arguments:** `own`: which arrays each robot of a batch has for itself, whether they differ or not; `batched` and
    `count`: of the arrays, as in `Prepare`.
    """
    host, shapes = prepare(batched, count)

    @custom_vmap
    def call(*arrays):
        return jax.pure_callback(host, shapes, *arrays)

    @call.def_vmap
    def _(size, more, *arrays):
        both, joined = joined_batches(arrays, own, batched, more, size, count)
        found = called_on_host(prepare, joined, own, both, size * (count or 1))
        return parted(found, size, count), [True] * len(found)

    return call(*arrays)


def joined_batches(
    arrays: Iterable, own: Batched, batched: Batched, more: Iterable[bool], size: int, count: int | None
):
    """Which arrays have an axis of robots after a batch of batches has become one batch, and the arrays.

    **Arguments:** `more`: which arrays have a new leading axis, of length `size`.
    """
    both, joined = [], []
    for array, always, before, now in zip(arrays, own, batched, more, strict=True):
        both.append(always or before or now)
        joined.append(_joined(array, before, now, size, count) if both[-1] else array)
    return tuple(both), joined


def _joined(array, batched: bool, more: bool, size: int, count: int | None):
    """An array with one axis of robots instead of two, either of which it may lack."""
    array = array if more else jnp.broadcast_to(array, (size, *array.shape))
    if count is None:
        return array
    if not batched:
        array = jnp.broadcast_to(array[:, None], (size, count, *array.shape[1:]))
    return array.reshape(size * count, *array.shape[2:])


def parted(arrays: list, size: int, count: int | None) -> list:
    """Results of a batch as those of a batch of batches, the inverse of `joined_batches`."""
    return arrays if count is None else [y.reshape(size, count, *y.shape[1:]) for y in arrays]


def over_cores(function: Callable[[Any], None], items: Iterable) -> None:
    """Call a function that waits for machine code with each item, on all cores."""
    items = list(items)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if len(items) == 1 or cores == 1:
        for item in items:
            function(item)
        return
    with ThreadPoolExecutor(min(len(items), cores)) as pool:
        list(pool.map(function, items))


def of_robot(arrays: list[np.ndarray], batched: Batched, index) -> list[np.ndarray]:
    """The arrays of one robot, or of several."""
    return [y[index] if apart else y for y, apart in zip(arrays, batched, strict=True)]
