"""Executables of XLA on disk: found again without tracing, by a key that tells what may not be confused."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.compilation_cache import compilation_cache

import interpreter
from hydrostat import code_cache
from hydrostat.compiling import quick_jit
from hydrostat.executables import Executables

SCRIPT = """
import sys, jax, hydrostat as hs
from hydrostat.mechanics import statics
traced = []
inner = statics.residual
def residual(*args):
    traced.append(1)
    return inner(*args)
statics.residual = residual
rest = hs.equilibrium(hs.System(hs.robots.rod(0.2, 0.005, segments=1, modes=("bend_y",))))
print(len(traced), rest.tip.tolist())
"""


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A cache folder that is empty, and JAX's own cache switched off: what it has is not kept again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(Executables, "_made", interpreter.COMPILED)
    jax.config.update("jax_enable_compilation_cache", False)
    compilation_cache.reset_cache()
    yield tmp_path
    jax.config.update("jax_enable_compilation_cache", True)
    compilation_cache.reset_cache()


def test_a_second_start_does_not_trace(own_cache):
    """The equilibrium of an arm, which solves linear systems: another process finds it compiled, and its value too."""
    said = [subprocess.check_output([sys.executable, "-c", SCRIPT], text=True) for _ in range(2)]
    (first, tip), (second, same) = (text.split(" ", 1) for text in said)
    assert int(first) > 0
    assert int(second) == 0
    assert tip == same


def _scaled(x, factor, kind):
    return {"sum": jnp.sum(x), "kind": kind, "scaled": (factor * x, None)}


def test_trees_constants_and_weak_types(own_cache, monkeypatch):
    monkeypatch.setattr(code_cache, "_OWN", ("builtins", __name__.split(".")[0], "jax", "jaxlib", "numpy"))
    for stored in (0, 3):  # the second time from the disk
        function = Executables(_scaled, {})
        assert len(list(own_cache.rglob("code/*"))) == stored
        found = function(np.arange(3.0), 2.0, kind="a")
        assert found["kind"] == "a"
        assert found["scaled"][1] is None
        np.testing.assert_array_equal(found["scaled"][0], [0.0, 2.0, 4.0])
        np.testing.assert_array_equal(function(np.arange(3.0), 3.0, kind="a")["scaled"][0], [0.0, 3.0, 6.0])
        assert function(jnp.asarray(1), 1, kind="b")["scaled"][0].dtype == int
    assert function(jnp.asarray(1.0), 1, kind="b")["scaled"][0].dtype == float


def test_a_damaged_entry_is_made_anew(own_cache):
    key = code_cache.key_of("some")
    code_cache.store(key, b"no executable")
    function = Executables(_scaled, {})
    function._key = lambda arguments, leaves: key
    np.testing.assert_array_equal(function(np.ones(2), 2.0, kind="a")["scaled"][0], [2.0, 2.0])


def test_functions_of_others_are_not_kept(own_cache):
    """A function without a name, or of a user's, is compiled, but cannot be told by a key."""
    function = quick_jit(lambda x: 2.0 * x)
    assert float(function(jnp.asarray(2.0))) == 4.0
    assert not any((own_cache / "hydrostat").rglob("*")) or not any((own_cache / "hydrostat" / "code").iterdir())


def _called(x):
    return jax.pure_callback(lambda y: np.asarray(y) + 1.0, jax.ShapeDtypeStruct((3,), float), x)


def test_what_calls_the_host_is_not_kept(own_cache, monkeypatch):
    """An address of this process is no good in another one."""
    monkeypatch.setattr(code_cache, "_OWN", ("builtins", __name__.split(".")[0], "jax", "jaxlib", "numpy"))
    assert Executables(_called, {})(np.zeros(3)) == pytest.approx(np.ones(3))
    assert not list(own_cache.rglob("code/*"))
