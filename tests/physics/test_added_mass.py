"""Water that an arm carries along: how it falls and vibrates with it, and that energy and momentum balance."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rollouts import at, orders, path, soft_arm, some_state
from slender_rods import COUNTS, frequencies, ideal_rod, rounding_of

from hydrostat.lie import SE3, so3
from hydrostat.mechanics.dynamics import Coordinates, accelerations
from hydrostat.mechanics.energy import dissipation, energy, external_wrench, momentum, power
from hydrostat.mechanics.model import GRAVITY
from hydrostat.mechanics.robot import no_inputs, single_arm, unequal_arms
from hydrostat.mechanics.state import positions, rest_state, velocities
from hydrostat.mechanics.statics import vibrations
from hydrostat.simulation import simulate
from hydrostat.stepping import RK4, SDIRK2
from hydrostat.surroundings import Together, Water
from hydrostat.system import System

ARM_DENSITY, WATER_DENSITY = 1100.0, 1022.0
CURRENT = (0.3, -0.2, 0.1)


def water(added_mass=1.0, current=(0.0, 0.0, 0.0), drag=0.0):
    return Water(WATER_DENSITY, drag, 0.1 * drag, current, added_mass)


def swimmer(*, free_base=True, gravity=(0.5, 0.3, -2.0)):
    """A soft arm of three segments, all strains free, that meets its surroundings at two nodes each."""
    arm = soft_arm(3, viscosity=20.0, modes=("bend_x", "bend_y", "twist", "stretch"))
    base = {"free_base": True, "base_mass": 0.3, "base_inertia": 1e-3} if free_base else {}
    return single_arm(arm, points=2, gravity=gravity, skin_points=2, lumps=[(1.0, 0.02, 1e-5)], **base)


class Within(eqx.Module):
    """Nothing acts but the water, whatever the time."""

    water: Water

    def __call__(self, time, state, model):
        return no_inputs(model, self.water)


def moving(model, seed):
    """Bent and stretched, and quick."""
    state = some_state(model, seed)
    size = jnp.array([1.0, 1.0, 1.0, 0.05])
    return state._replace(q=size * state.q, v=size * state.v)


# --- Falling


def falling(axis, surroundings) -> System:
    """A rod of one segment that cannot bend, on a base without mass whose flywheel holds its direction."""
    turn = so3.exp(jnp.asarray(axis) * 0.5 * np.pi)
    arm = soft_arm(1, base=SE3(turn, jnp.zeros(3)))
    arm = eqx.tree_at(lambda a: a.material.density, arm, jnp.full(1, ARM_DENSITY))
    model = single_arm(arm, free_base=True, base_inertia=1e9)
    return System(eqx.tree_at(lambda m: m.arms.arm.segments.free, model, jnp.zeros((1, 3), bool)), [surroundings])


@pytest.mark.slow
@pytest.mark.parametrize("coefficient", [0.5, 1.0])
def test_a_cylinder_falls_broadside_with_the_mass_of_the_water_and_upright_without(coefficient):
    weight = -GRAVITY[2] * (ARM_DENSITY - WATER_DENSITY)
    for axis, inertia in (
        ((0.0, 1.0, 0.0), ARM_DENSITY + coefficient * WATER_DENSITY),
        ((0.0, 0.0, 0.0), ARM_DENSITY),
    ):
        system = falling(axis, water(coefficient))
        rows = simulate(system, None, 0.5, 0.01)
        expected = weight / inertia
        # Steps are exact where the acceleration is constant; a millionth of the fall is the stepper's tolerance.
        fallen = np.asarray(rows.body)
        np.testing.assert_allclose(fallen[:, 2], -0.5 * expected * rows.time**2, rtol=0, atol=1e-6 * expected)
        np.testing.assert_allclose(fallen[:, :2], 0.0, rtol=0, atol=1e-12)
        first, last = rows.energy().total[[0, -1]]
        kinetic = 0.5 * float(jnp.sum(system.robot.one.inertia[..., 3])) / ARM_DENSITY * inertia * (0.5 * expected) ** 2
        assert abs(last - first) < 1e-6 * kinetic


def test_a_cylinder_falls_aslant_to_the_side_that_water_gives_way_to():
    # Along and across its axis it accelerates by its weight over different masses.
    model = falling((0.0, 0.5, 0.0), water()).robot
    x = Coordinates(jnp.zeros((1, 3)), jnp.zeros(6))
    found = accelerations(model, x, x, no_inputs(model, water())).base
    borne = 1.0 - WATER_DENSITY / ARM_DENSITY  # weight less buoyancy, over weight
    local = borne * np.asarray(model.T_world_body.rotation).T @ np.asarray(model.gravity)
    across = ARM_DENSITY / (ARM_DENSITY + WATER_DENSITY)
    np.testing.assert_allclose(found[3:], local * [across, across, 1.0], rtol=1e-9)


# --- Vibrating


def test_a_submerged_beam_vibrates_as_one_that_is_as_heavy_as_its_water_too():
    arm = ideal_rod(COUNTS[0])
    dry = frequencies(arm)[:3]
    density = float(arm.material.density[0])
    for share in (0.3, 1.0, 4.0):
        model = single_arm(arm, gravity=(0.0, 0.0, 0.0))
        inputs = no_inputs(model, Water(share * density, 0.0, 0.0, added_mass=1.0))
        spectrum = 2.0 * np.pi * vibrations(model, arm.straight(), inputs).frequencies
        expected = dry / np.sqrt(1.0 + share)
        # Rotary inertia, to which water adds nothing, changes none by more than 1e-8.
        tolerance = 1e-8 * expected + 2.0 * rounding_of(spectrum, expected)
        assert np.all(np.abs(spectrum[:3] - expected) <= tolerance)


# --- Balances


@eqx.filter_jit
def rates(model, state, around):
    """Rates of energy and momentum along the motion, and what they should be."""
    x, v, inputs = positions(state), velocities(state), at(model, state, no_inputs(model, around))
    along = ((x, v), (v, accelerations(model, x, v, inputs)))
    of_energy = jax.jvp(lambda x, v: energy(model, x, v, inputs).total, *along)[1]
    of_momentum = jax.jvp(lambda x, v: momentum(model, x, v, inputs), *along)[1]
    net = power(model, x, v, inputs) - dissipation(model, x, v)
    return of_energy, net, of_momentum, external_wrench(model, x, v, inputs)[0]


@pytest.mark.parametrize("current", [(0.0, 0.0, 0.0), CURRENT])
@pytest.mark.parametrize("free_base", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_energy_and_momentum_change_by_what_acts_from_outside(current, free_base):
    model, around = swimmer(free_base=free_base), water(0.8, current, drag=1.0)
    for seed in range(3):
        of_energy, net, of_momentum, wrench = (np.asarray(y) for y in rates(model, moving(model, seed), around))
        assert abs(net) > 1e-3
        assert of_energy == pytest.approx(net, rel=1e-9, abs=1e-10)
        if free_base:
            np.testing.assert_allclose(of_momentum, wrench, rtol=0, atol=1e-10 * np.abs(wrench).max())


def test_what_drifts_with_a_current_does_not_know_of_it():
    model, still, drifting = swimmer(), water(drag=1.0), water(current=CURRENT, drag=1.0)

    @eqx.filter_jit
    def found(around, state):
        return accelerations(model, positions(state), velocities(state), at(model, state, no_inputs(model, around)))

    for seed in range(3):
        state = moving(model, seed)
        turned = state.base_pose.rotation.T
        drift = jnp.concatenate([jnp.zeros(3), turned @ jnp.asarray(CURRENT)])
        one, other = found(still, state), found(drifting, state._replace(base_twist=state.base_twist + drift))
        # The twist's rate in the body's axes has the current turn against the body.
        turning = jnp.cross(state.base_twist[:3], turned @ jnp.asarray(CURRENT))
        np.testing.assert_allclose(other.q, one.q, rtol=0, atol=1e-9 * float(jnp.abs(one.q).max()))
        np.testing.assert_allclose(other.base[:3], one.base[:3], rtol=0, atol=1e-8)
        np.testing.assert_allclose(other.base[3:], one.base[3:] - turning, rtol=0, atol=1e-8)


@pytest.mark.parametrize("stepper", [RK4(), SDIRK2(tolerance=1e-13)], ids=["rk4", "sdirk2"])
def test_without_drag_an_arm_in_water_keeps_its_energy_by_the_order_of_the_stepper(stepper):
    model, within = swimmer(free_base=False), Within(water())
    model = eqx.tree_at(lambda m: m.arms.damping, model, jnp.zeros_like(model.one.damping))
    start, errors = moving(model, 5), []
    for count in (100, 200):
        energies = energies_of(model, within.water, path(model, stepper, start, 0.05, count, within, most=200))
        errors.append(np.abs(energies - energies[0]).max())
    assert orders(errors)[0] > stepper.order - 0.3, errors
    assert errors[-1] < 1e-3 * energies[0]


@eqx.filter_jit
def energies_of(model, around, states):
    inputs = no_inputs(model, around)
    return jax.lax.map(lambda state: energy(model, positions(state), velocities(state), inputs).total, states)


def test_water_slows_the_motion_that_it_joins():
    model = swimmer(free_base=False, gravity=(0.0, 0.0, 0.0))
    start = rest_state(model)._replace(q=jnp.ones((3, 4)) * jnp.array([2.0, 2.0, 0.0, 0.0]))
    states = [path(model, SDIRK2(), start, 0.05, 50, Within(water(c))) for c in (1.0, None)]
    bends = [np.asarray(state.q)[:, 0, 0] for state in states]
    assert np.all(bends[0][1:20] > bends[1][1:20])


# --- Where it is asked for


def test_water_is_found_among_other_surroundings_and_by_the_arms_of_a_body():
    plain, together = water(0.7, CURRENT), Together((water(None, CURRENT), water(0.7, CURRENT)))
    assert water(None).entrained() is None
    assert Together((water(None),)).entrained() is None
    found = [together.entrained(), plain.entrained()]
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    # One arm on a body, as a branch of it.
    single = swimmer()
    branched = unequal_arms([single.one], single.T_world_body, gravity=single.gravity, base_mass=0.3, base_inertia=1e-3)
    state = moving(single, 1)
    x, v = positions(state), velocities(state)
    one = accelerations(single, x, v, at(single, state, no_inputs(single, plain)))
    many = accelerations(
        branched, *(Coordinates((y.q,), y.base) for y in (x, v)), at(branched, state, no_inputs(branched, plain))
    )
    np.testing.assert_allclose(many.q[0], one.q, rtol=1e-9)
    np.testing.assert_allclose(many.base, one.base, rtol=1e-9, atol=1e-9)
