"""Executables that XLA has compiled, kept on disk.

JAX's own cache is keyed by the lowered program, so that a second start traces and lowers everything again before it
finds what it looked for: seconds for a robot's equilibrium. These are keyed by the function's name and by the
structure of its arguments, which is known without tracing.
"""

import pickle
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.extend.core
from jax.experimental import serialize_executable

from hydrostat import code_cache
from hydrostat.collecting import paused_collector
from hydrostat.kept_files import KeptFiles, private_folder


class _KeptByJAX:
    """JAX's own entries, kept with the same care as ours: JAX writes them in place, does not check what it reads, and
    never replaces one that it could not read."""

    def __init__(self, path: str):
        self._path, self._kept = Path(path), KeptFiles("jax")

    def get(self, key: str) -> bytes | None:
        """An entry; None where there is none that can be used."""
        return self._kept.load(f"{key}.kept")

    def put(self, key: str, value: bytes) -> None:
        """Keep an entry."""
        self._kept.store(f"{key}.kept", value)


def _keep_jax_entries() -> None:
    """Let JAX keep what it compiles by `_KeptByJAX`, where its folder is the one of this program.

    The function that is replaced is a private one of JAX; where it is not there, JAX keeps its entries itself.
    """
    try:
        from jax._src import compilation_cache

        made = compilation_cache.get_file_cache
    except (ImportError, AttributeError):
        return

    def get_file_cache(path: str) -> Any:
        own = private_folder("jax")
        return (_KeptByJAX(path), path) if own is not None and path == str(own) else made(path)

    compilation_cache.get_file_cache = get_file_cache


_keep_jax_entries()


class _Hits:
    """Counts what JAX found in its own cache."""

    def __init__(self):
        self.count = 0
        jax.monitoring.register_event_listener(self._listen)

    def _listen(self, event: str, **_) -> None:
        self.count += event == "/jax/compilation_cache/cache_hits"


_HITS = _Hits()
_ALL: "weakref.WeakSet[Executables]" = weakref.WeakSet()


def forget_all() -> None:
    """Let all executables in memory go, as `jax.clear_caches` does with JAX's own."""
    for executables in _ALL:
        executables.forget()


class Executables:
    """The executables of a function, one for each structure of its arguments.

    **Arguments:** `options`: for XLA's compiler.
    """

    def __init__(self, function: Callable, options: dict[str, Any]):
        self._function, self._options = function, options
        self._loaded: dict[Any, tuple[Any, Any]] = {}
        _ALL.add(self)

    def __call__(self, *args, **kwargs) -> Any:
        """The function's value."""
        dynamic, static = eqx.partition((args, kwargs), eqx.is_array)
        leaves, structure = jax.tree.flatten(dynamic)
        leaves = [jax.numpy.asarray(leaf) for leaf in leaves]
        kind = (structure, tuple((leaf.shape, leaf.dtype, leaf.weak_type) for leaf in leaves), _fixed(static))
        if kind not in self._loaded:
            self._loaded[kind] = self._load((args, kwargs), leaves, structure, static)
        executable, result = self._loaded[kind]
        arrays = jax.tree.unflatten(result[0], executable(leaves))
        return eqx.combine(arrays, result[1])

    def forget(self) -> None:
        """Let the executables in memory go; those on disk stay."""
        self._loaded.clear()

    def _load(self, arguments, leaves: list, structure, static) -> tuple[Any, Any]:
        """The executable from the disk, or compiled and stored; and its result's structure and constant part."""
        key = self._key(arguments, leaves)
        entry = None if key is None else code_cache.load(key)
        if entry is not None:
            try:
                return _unpickled(entry)
            except Exception:  # an entry of another version: whatever is wrong with it, it is made anew
                pass
        found: list[Any] = []

        def flat(leaves):
            args, kwargs = eqx.combine(jax.tree.unflatten(structure, leaves), static)
            arrays, constant = eqx.partition(self._function(*args, **kwargs), eqx.is_array)
            flat_arrays, tree = jax.tree.flatten(arrays)
            found.append((tree, constant))
            return flat_arrays

        hits = _HITS.count
        function = jax.jit(flat, compiler_options=self._options)
        executable = self._made(function, leaves)
        # One that JAX's own cache had is not complete when it is written a second time, and one that calls the host
        # holds an address of this process.
        if key is not None and _HITS.count == hits and not _calls_host(function.trace(leaves).jaxpr.jaxpr):
            _store(key, executable, found[-1])
        return executable, found[-1]

    def _made(self, function, leaves: list) -> Any:
        """The executable of a function of these arrays."""
        with paused_collector():
            return function.lower(leaves).compile()

    def _key(self, arguments, leaves: list) -> str | None:
        """The key of the entry on disk; None where the function cannot be told by one."""
        weak = [leaf.weak_type for leaf in leaves]
        settings = (sorted(self._options.items()), jax.config.jax_enable_x64)  # type: ignore[attr-defined]
        try:
            return code_cache.key_of("xla", code_cache.processor(), str(settings), str(weak), self._function, arguments)
        except code_cache.NoKeyError:
            return None


def _calls_host(jaxpr) -> bool:
    """Whether a program calls a function of Python."""
    for eqn in jaxpr.eqns:
        if eqn.primitive.name in ("pure_callback", "io_callback", "debug_callback"):
            return True
        for inner in jax.tree.leaves(eqn.params, is_leaf=_is_jaxpr):
            if _is_jaxpr(inner) and _calls_host(getattr(inner, "jaxpr", inner)):
                return True
    return False


def _is_jaxpr(value) -> bool:
    return isinstance(value, jax.extend.core.ClosedJaxpr | jax.extend.core.Jaxpr)


def _fixed(static) -> Any:
    """The part of the arguments that is no array, such that equal ones have equal code."""
    leaves, structure = jax.tree.flatten(static)
    return structure, tuple((type(leaf), leaf) for leaf in leaves)


def _store(key: str, executable, result) -> None:
    """Keep an executable on disk, where it can be kept."""
    tree, constant = result
    try:
        data = serialize_executable.serialize(executable)
        marked = jax.tree.unflatten(tree, range(tree.num_leaves))
        code_cache.store(key, pickle.dumps((data, marked, constant)))
    except Exception:  # it runs all the same: what cannot be kept is compiled again the next time
        return


def _unpickled(entry: bytes) -> tuple[Any, Any]:
    """The inverse of `_store`."""
    # Its linear algebra is JAX's, which is made ready when a program that uses it is lowered: here none is.
    from jaxlib.cpu import _lapack  # type: ignore[attr-defined]

    _lapack.initialize()
    data, marked, constant = pickle.loads(entry)
    executable = serialize_executable.deserialize_and_load(*data, execution_devices=jax.devices("cpu")[:1])
    return executable, (jax.tree.structure(marked), constant)
