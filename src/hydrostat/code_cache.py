"""Compiled code kept on disk, so that a second start neither traces nor compiles.

Entries are keyed by what the code depends on: the program's own source, the versions of JAX and LLVM, the processor,
and the structure of what is computed. The folder belongs to the user alone and is bounded in size; an entry that is
damaged, or belongs to somebody else, is not used.
"""

import hashlib
import platform
import types
from functools import cache
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from hydrostat.kept_files import MOST_BYTES, KeptFiles

_MOST_BYTES = MOST_BYTES
_OWN = ("hydrostat", "builtins", "jax", "jaxlib", "numpy")
"""Packages whose code is told by this program's source and by JAX's version."""


class NoKeyError(Exception):
    """What is computed cannot be told by a key."""


_KEPT = KeptFiles("code")


def load(key: str) -> bytes | None:
    """An entry; None where there is none that can be used."""
    return _KEPT.load(key)


def store(key: str, data: bytes) -> None:
    """Keep an entry, and drop those not used for longest where all would take more than 200 MiB."""
    _KEPT.store(key, data, _MOST_BYTES)


def key_of(*parts: Any) -> str:
    """A key for code that depends on trees of arrays, functions and settings, by shapes but not by numbers."""
    said = [_text(part) for part in parts]
    own = any(f"hydrostat.{part.removesuffix('.py')}" in text for part in _NOT_COMPILED for text in said)
    text = "\n".join([_source(own), jax.__version__, *said])
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def processor() -> str:
    """What tells the processor of one machine from another's: its model and its instruction sets."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    said = [line for line in lines if line.lower().startswith(("model name", "flags", "features", "cpu part"))]
    return "\n".join([platform.machine(), platform.processor(), *sorted(set(said))])


_NOT_COMPILED = (
    "scenarios",
    "viewer",
    "exporting",
    "benchmarking",
    "cli.py",
    "_terminal.py",
    "_entry.py",
    "_leaving.py",
    "_arguments.py",
    "_stream_command.py",
    "streaming",
)
"""Parts of the package on which no other part depends, so that a change there leaves what is compiled as it is."""


@cache
def _source(whole: bool) -> str:
    """What tells one state of this program's own source from another.

    **Arguments:** `whole`: whether those parts count as well of which code is compiled only for themselves.
    """
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        if whole or place.parts[0] not in _NOT_COMPILED:
            digest.update(f"{place}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _text(part: Any) -> str:
    """What of a part of the key matters."""
    if isinstance(part, str | int | float | bool | None):
        return repr(part)
    leaves, structure = jax.tree.flatten(part)
    classes = sorted(_classes(part), key=lambda node: (node.__module__, node.__qualname__))
    for node in classes:
        if node.__module__.split(".")[0] not in _OWN:
            raise NoKeyError(f"{node.__qualname__} is not this program's own")
    said = [str(structure), *(f"{node.__module__}.{node.__qualname__}" for node in classes)]
    for leaf in leaves:
        if _has_shape(leaf):
            said.append(f"{np.shape(leaf)} {leaf.dtype}")
        else:
            said.append(_named(leaf))
    text = "\n".join(said)
    if " at 0x" in text:
        raise NoKeyError("a function without a name")
    return text


def _has_shape(leaf: Any) -> bool:
    """Whether a leaf is an array, or stands for one."""
    return eqx.is_array(leaf) or isinstance(leaf, np.ndarray | jax.ShapeDtypeStruct)


def _named(leaf: Any) -> str:
    """A leaf that is no array."""
    if isinstance(leaf, types.FunctionType):
        if leaf.__closure__ or leaf.__module__.split(".")[0] not in _OWN or "<" in leaf.__qualname__:
            raise NoKeyError(f"the function {leaf.__qualname__}")
        return f"{leaf.__module__}.{leaf.__qualname__}"
    if isinstance(leaf, str | int | float | bool | None):
        return repr(leaf)
    if type(leaf).__module__.split(".")[0] != "hydrostat":
        raise NoKeyError(f"a {type(leaf).__qualname__}")
    return f"{type(leaf).__module__}.{type(leaf).__qualname__} {leaf!r}"


def structure_of(tree: Any, rows_of: Any = None) -> Any:
    """What trees have in common that share their compiled code; a new object where that cannot be told.

    **Arguments:** `rows_of`: a part of the tree whose leading axis is that of rows, however many.
    """
    leaves, structure = jax.tree.flatten(tree)
    apart = {id(leaf) for leaf in jax.tree.leaves(rows_of)}
    key = (
        structure,
        tuple((np.shape(x)[1 if id(x) in apart else 0 :], str(x.dtype)) if _has_shape(x) else x for x in leaves),
    )
    try:
        hash(key)
    except TypeError:
        return object()
    return key


def _classes(tree: Any) -> set[type]:
    """The classes of a tree's nodes."""
    found: set[type] = set()

    def visit(node) -> bool:
        if not eqx.is_array(node):
            found.add(type(node))
        return False

    jax.tree.flatten(tree, is_leaf=visit)
    return found
