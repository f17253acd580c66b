"""Batches of rollouts by machine code: the same rows as one run after the other, and derivatives."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from planar_rods import rod_system

import hydrostat as hs
from hydrostat.control.base import Controller, Idle
from hydrostat.errors import InputError
from hydrostat.simulation import backend, batches, rollout
from hydrostat.simulation.loop import Loop, first_carry
from hydrostat.system import Control

DT, STEPS = 2e-3, 10
TORQUES = jnp.linspace(-0.1, 0.2, 11)
"""More than a block of robots, and not a multiple of it."""


class Held(Controller):
    """A torque that is held, the same in both arcs."""

    torque: jax.Array

    def __call__(self, time, observation, memory):
        return Control(torque=self.torque * jnp.ones((2, 1))), memory


class Sorted(Held):
    """The same by way of a sort, of which there is no machine code."""

    def __call__(self, time, observation, memory):
        return Control(torque=jnp.sort(self.torque * jnp.ones((2, 1)))), memory


@pytest.fixture(scope="module")
def system():
    return rod_system(2)


@pytest.fixture(scope="module")
def angles(system):
    """The angles after a run, as a function of the torque."""

    def of(torque, backend="auto"):
        return rollout(system, Held(torque), steps=STEPS, dt=DT, backend=backend).state.q[..., 0]

    return of


@pytest.fixture(scope="module")
def one_by_one(angles):
    return np.stack([angles(torque) for torque in TORQUES])


def test_a_batch_gives_the_rows_of_each_run(angles, one_by_one):
    assert one_by_one.shape == (len(TORQUES), STEPS + 1, 2)
    assert np.abs(one_by_one[:, -1]).max() > 1e-3
    assert jax.vmap(angles)(TORQUES) == pytest.approx(one_by_one, abs=1e-12)


def test_a_batch_within_jit(angles, one_by_one):
    assert jax.jit(jax.vmap(angles))(TORQUES) == pytest.approx(one_by_one, abs=1e-12)
    assert jax.jit(angles)(TORQUES[1]) == pytest.approx(one_by_one[1], abs=1e-12)


def test_a_batch_of_batches(system, angles, one_by_one):
    """Robots that start elsewhere as well: the torque is of the inner batch, the start of the outer one."""
    rest = system.rest()

    def of(bend, torque):
        start = rest._replace(q=rest.q + bend)
        return rollout(system, Held(torque), start, steps=STEPS, dt=DT).state.q[..., 0]

    bends, torques = jnp.array([0.0, 0.1]), TORQUES[:5]
    both = jax.vmap(lambda bend: jax.vmap(lambda torque: of(bend, torque))(torques))(bends)
    assert both.shape == (2, 5, STEPS + 1, 2)
    assert both[0] == pytest.approx(one_by_one[:5], abs=1e-12)
    assert both[1] == pytest.approx(np.stack([of(bends[1], torque) for torque in torques]), abs=1e-12)


def test_few_robots_are_stepped_one_by_one(angles, one_by_one, monkeypatch):
    def none():
        raise AssertionError("a block was compiled")

    kernel = batches.Run.kernel
    monkeypatch.setattr(
        batches.Run, "kernel", lambda self, batched, lanes: none() if lanes > 1 else kernel(self, batched, lanes)
    )
    assert jax.vmap(angles)(TORQUES[:3]) == pytest.approx(one_by_one[:3], abs=1e-12)


def test_it_is_machine_code_that_runs(angles, monkeypatch):
    calls = []
    on_host = batches.Run._on_host
    monkeypatch.setattr(batches.Run, "_on_host", lambda *args: calls.append(1) or on_host(*args))
    jax.vmap(angles)(TORQUES)
    assert len(calls) == 1
    jax.vmap(lambda torque: angles(torque, "xla"))(TORQUES[:2])
    assert len(calls) == 1


def test_derivatives_of_a_batch_are_those_of_differences(angles):
    def end(torque):
        return angles(torque)[-1, 0]

    def difference(torque, step=2e-5):
        return (end(torque + step) - end(torque - step)) / (2 * step)

    some = TORQUES[2:4]
    wanted = np.array([difference(torque) for torque in some])
    summed = jax.jit(jax.grad(lambda y: jnp.sum(jax.vmap(end)(y))))
    assert summed(some) == pytest.approx(wanted, rel=1e-6)
    assert jax.vmap(jax.grad(end))(some) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.slow
def test_derivatives_of_derivatives_are_those_of_differences(system):
    rest = system.rest()

    def end(x):
        control = Control(torque=x[0] * jnp.ones((2, 1)))
        return rollout(system, control, rest._replace(q=rest.q + x[1]), steps=3, dt=DT).state.q[-1, 0, 0]

    x, step, gradient = jnp.array([0.05, 0.1]), 1e-5, jax.grad(end)
    differences = np.array([(gradient(x + step * e) - gradient(x - step * e)) / (2 * step) for e in jnp.eye(2)])
    assert jax.jacfwd(gradient)(x) == pytest.approx(differences, rel=1e-5)
    along = jax.grad(lambda x: jax.jvp(end, (x,), (jnp.array([1.0, 0.0]),))[1])
    assert along(x) == pytest.approx(differences[0], rel=1e-5)


def test_a_run_that_diverges_is_no_number_and_leaves_the_others(angles, one_by_one):
    torques = TORQUES.at[4].set(1e9)
    found = np.asarray(jax.vmap(angles)(torques))
    others = np.delete(np.arange(len(TORQUES)), 4)
    assert np.isnan(found[4, -1]).all()
    assert np.isfinite(found[4, 0]).all()
    assert found[others] == pytest.approx(one_by_one[others], abs=1e-12)


def test_parameters_of_the_robot_may_differ():
    robot = hs.robots.finger()

    def tip(factor):
        return rollout(hs.System(hs.robots.scaled(robot, youngs_modulus=factor)), steps=5, dt=DT).tip[-1]

    factors = jnp.array([0.5, 1.0, 1.5, 2.0])
    each = np.stack([tip(factor) for factor in factors])
    assert np.ptp(each, axis=0).max() > 1e-6
    assert jax.vmap(tip)(factors) == pytest.approx(each, abs=1e-12)


def test_an_operation_without_machine_code_goes_by_xla(system, one_by_one):
    def of(torque, backend="auto"):
        return rollout(system, Sorted(torque), steps=STEPS, dt=DT, backend=backend).state.q[..., 0]

    assert jax.vmap(of)(TORQUES[:2]) == pytest.approx(one_by_one[:2], abs=1e-11)
    with pytest.raises(InputError, match='`backend="native"` cannot run this'):
        jax.vmap(lambda torque: of(torque, "native"))(TORQUES[:2])


@pytest.mark.slow
def test_arms_of_an_octopus_stay_the_lanes():
    """Robots of equal arms go one by one over the cores."""
    system = hs.System(hs.robots.octopus(3, 2), [hs.Water()], gravity=(0, 0, 0))
    like = system.rest().activation

    def body(strength):
        control = Control(activation=strength * jnp.ones_like(like))
        return rollout(system, control, steps=4, dt=DT).state.q[..., 0]

    strengths = jnp.linspace(0.0, 0.1, 5)
    each = np.stack([body(strength) for strength in strengths])
    assert jax.vmap(body)(strengths) == pytest.approx(each, abs=1e-12)


def test_equal_arms_of_a_robot_are_lanes(monkeypatch):
    seen = []

    class Compiled:
        def __init__(self, *arguments, side_by_side, **more):
            seen.append(side_by_side)

    monkeypatch.setattr("hydrostat.native.function.Native", Compiled)
    monkeypatch.setattr(backend, "_COMPILED", {})
    monkeypatch.setattr("hydrostat.native.function.key_of", lambda *what: "")
    system = hs.System(hs.robots.octopus(3, 1))
    loop = Loop(system, Idle(), hs.Sensors(), hs.LinearImplicitEuler())
    carry = first_carry(loop, system.rest(), DT, None)
    dynamic, static = eqx.partition((loop, jnp.asarray(DT)), eqx.is_array)
    like, rest = eqx.partition(carry, eqx.is_array)
    backend.compiled_step(dynamic, like, (static, rest))
    assert seen == [3]
