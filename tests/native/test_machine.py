"""What is compiled runs on other processors too, is kept on disk with care, and is not needed."""

import logging
import os
import stat
import sys

import jax
import jax.numpy as jnp
import llvmlite.binding as llvm
import numpy as np
import pytest

import hydrostat as hs
from hydrostat import code_cache
from hydrostat.native.function import Native, key_of
from hydrostat.native.machine import compiled
from hydrostat.simulation import backend

FEATURES = {"AVX2": "+avx,+avx2,+fma", "SSE2": "+sse2"}


def turned(_, carry):
    q, v = carry
    return jax.lax.map(lambda own: (jnp.sin(own[0]) * own[1], jnp.cumsum(own[0][:4])[3] + own[1]), (q, v))


def result(native, carry):
    given, memory = native.parameters.new(), native.argument.new()
    native.argument.pack(memory, carry)
    return [y.copy() for y in native.argument.unpack(native.steps(given, memory, 1, 1, native.frame())[0])]


@pytest.mark.parametrize("name", FEATURES)
@pytest.mark.skipif("x86_64" not in llvm.get_default_triple(), reason="features of x86 processors")
def test_processors_with_fewer_features(name):
    carry = (jnp.linspace(0.0, 1.0, 160).reshape(8, 20), jnp.linspace(1.0, 2.0, 160).reshape(8, 20))
    native = Native(turned, (), carry, side_by_side=8, stepping=True, features=FEATURES[name])
    for a, b in zip(result(native, carry), turned((), carry), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_code_for_arm_processors_can_be_made():
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("aarch64-unknown-linux-gnu").create_target_machine()
    text = "define <8 x double> @f(<8 x double> %a) {\n  %b = fmul <8 x double> %a, %a\n  ret <8 x double> %b\n}"
    assert b"ELF" in target.emit_object(llvm.parse_assembly(text))[:8]
    assert compiled(text)


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "hydrostat" / "code"


def test_entries_are_private_and_damaged_ones_are_replaced(own_cache):
    carry = (jnp.ones((3, 20)), jnp.ones((3, 20)))
    key = key_of("test", carry)
    wanted = result(Native(turned, (), carry, stepping=True, key=key), carry)
    entry = own_cache / key
    assert stat.S_IMODE(own_cache.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    good = entry.read_bytes()
    for damaged in (b"", good[:1000], good[:-1] + bytes([good[-1] ^ 1])):
        entry.write_bytes(damaged)
        again = result(Native(turned, (), carry, stepping=True, key=key), carry)
        assert entry.read_bytes() == good
        for a, b in zip(again, wanted, strict=True):
            np.testing.assert_array_equal(a, b)


def test_an_entry_is_used(own_cache):
    carry = (jnp.ones((3, 20)), jnp.ones((3, 20)))
    key = key_of("test", carry)
    wanted = result(Native(turned, (), carry, stepping=True, key=key), carry)

    def not_traced(_, carry):
        raise AssertionError("traced")

    again = result(Native(not_traced, (), carry, stepping=True, key=key), carry)
    np.testing.assert_array_equal(again[0], wanted[0])


def test_the_cache_is_bounded(own_cache, monkeypatch):
    monkeypatch.setattr(code_cache, "_MOST_BYTES", 10_000)
    for number in range(8):
        code_cache.store(f"entry{number}", bytes(3000))
        os.utime(own_cache / f"entry{number}", (number, number))
    left = {entry.name for entry in own_cache.iterdir()}
    assert left <= {"entry5", "entry6", "entry7"}
    assert {"entry6", "entry7"} <= left


class Own(hs.Controller):
    """Somebody's own controller."""

    def __call__(self, time, observation, memory):
        return hs.Control(), memory


def test_keys_tell_structures_apart_and_know_only_what_is_ours():
    arm = hs.System(hs.robots.octopus_arm(6))
    assert key_of(arm) == key_of(hs.System(hs.robots.octopus_arm(6), gravity=(0, 0, 1)))
    assert key_of(arm) != key_of(hs.System(hs.robots.octopus_arm(7)))
    assert key_of(arm) != key_of(hs.System(hs.robots.octopus_arm(6), [hs.Water()]))
    assert key_of(arm, Own()) is None
    assert key_of(lambda: 0) is None


def test_without_llvmlite_xla_steps(monkeypatch, caplog):
    arm = hs.System(hs.robots.finger())
    monkeypatch.setattr(backend, "_COMPILED", {})
    monkeypatch.setattr(backend, "_REFUSED", {})
    for name in [name for name in sys.modules if name.startswith(("llvmlite", "hydrostat.native."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    with caplog.at_level(logging.WARNING, "hydrostat"):
        found = hs.rollout(arm, steps=3, dt=1e-3)
    assert "XLA computes it" in caplog.text
    assert np.all(np.isfinite(found.tip))
    with pytest.raises(hs.errors.InputError, match="native"):
        hs.rollout(arm, steps=3, dt=1e-3, backend="native")


class Follow(hs.Controller):
    """A torque against what is measured."""

    def __call__(self, time, observation, memory):
        return hs.Control(torque=-0.01 * observation.q), memory


class Sorting(hs.Controller):
    """What there is no machine code of our own for."""

    def __call__(self, time, observation, memory):
        q = observation.q[:, 0]
        return hs.Control(torque=1e-3 * jnp.linalg.eigh(jnp.outer(q, q))[0][:, None]), memory


def test_noisy_sensors_are_those_of_xla():
    sensor = hs.Sensor(noise=0.05, bias=0.01, rate=400.0, delay=2e-3, dropout=0.3)
    noisy = hs.Sensors(proprioception=sensor, seed=5)
    native, xla = (
        hs.rollout(hs.System(hs.robots.finger()), Follow(), steps=20, dt=1e-3, sensors=noisy, backend=backend)
        for backend in ("native", "xla")
    )
    np.testing.assert_allclose(native.control.torque, xla.control.torque, rtol=1e-9, atol=1e-15)
    assert len(np.unique(np.asarray(native.control.torque)[:, 0])) > 4


def test_what_is_left_to_xla_is_said_once(monkeypatch, caplog):
    monkeypatch.setattr(backend, "_REFUSED", {})
    with caplog.at_level(logging.WARNING, "hydrostat"):
        for _ in range(2):
            hs.rollout(hs.System(hs.robots.finger()), Sorting(), steps=2, dt=1e-3)
    assert caplog.text.count("eigh") == 1


def test_a_backend_that_is_none_is_refused():
    with pytest.raises(hs.errors.InputError, match="backend"):
        hs.simulate(hs.System(hs.robots.finger()), seconds=1e-3, backend="fast")
