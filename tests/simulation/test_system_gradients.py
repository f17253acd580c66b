"""Gradients of rollouts of whole systems against central differences, in both modes.

Each system is differentiated by factors on what it is made of and by what acts on it, all 1. Differences of steps
eps^(1/3) balance truncation and rounding: they are good to some 1e-9 of the largest derivative, and what is compared is
asked for to 1e-5, in contact to 1e-3.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.compiling import quick_jit
from hydrostat.stepping import SDIRK2

DT = 5e-3
DIRECTION = np.array([0.3, 1.0, -0.7])
# The iteration inside the step goes to rounding, so that differences are those of the exact steps.
STEPPER = SDIRK2(tolerance=1e-13)
FACTORS = ("youngs_modulus", "radius", "muscle_stress", "activation", "water", "rate")


def pattern(segments: int) -> np.ndarray:
    """One side and the radial muscles, more towards the tip."""
    return np.linspace(0.1, 0.3, segments)[:, None] * np.array([1.0, 0.5, 0.0, 0.0, 0.7])


def arm_in_water(factors, kind="strut", segments=4, parts=(), take=None, steps=60):
    """The tip of an octopus arm that starts in motion and whose muscles contract, in water."""
    made = {name: factors[name] for name in ("youngs_modulus", "radius", "muscle_stress")}
    robot = hs.robots.scaled(hs.robots.octopus_arm(segments, kind), **made)
    system = hs.System(robot, [hs.Water(1022.0 * factors["water"]), *parts])
    control = hs.Control(activation=factors["activation"] * pattern(segments), take=take)
    rate = 0.5 * np.random.default_rng(0).normal(size=(segments, 3))
    state = system.rest(v=factors["rate"] * rate)
    return hs.rollout(system, control, state, steps=steps, dt=DT, every=steps, stepper=STEPPER).tip[-1] @ DIRECTION


def arm_with_ball(factors):
    """The same with a ball of 10 g that it holds with its suckers from the start."""
    ball = hs.Ball.of_density(0.01, 1100.0, position=(0.09, 0.0, -0.018))
    return arm_in_water(factors, segments=3, parts=[hs.Suckers(reach=0.02), ball], take=jnp.array([0.0, 1.0, 0.0]))


def swimming(factors):
    """The first tip of a small octopus that closes its arms in open water."""
    made = {name: factors[name] for name in ("youngs_modulus", "radius", "muscle_stress")}
    robot = hs.robots.scaled(hs.robots.octopus(arms=3, segments=3, pitch_deg=40.0), **made)
    system = hs.System(robot, [hs.Water(1022.0 * factors["water"])])
    control = hs.Control(activation=factors["activation"] * np.broadcast_to(pattern(3), (3, 3, 5)))
    rate = 0.5 * np.random.default_rng(0).normal(size=(3, 3, 3))
    state = system.rest(v=factors["rate"] * rate)
    return hs.rollout(system, control, state, steps=60, dt=DT, every=60, stepper=STEPPER).tip[-1, 0] @ DIRECTION


def touching(factors):
    """The tip of a tendon arm that is pulled onto a plane and presses on it."""
    made = {name: factors[name] for name in ("youngs_modulus", "radius")}
    robot = hs.robots.scaled(hs.robots.squid_limb("camera", pieces=3), **made)
    plane = hs.surroundings.Plane(point=(0.0, 0.0, -0.02), normal=(0.0, 0.0, 1.0))
    law = hs.ContactLaw(stiffness=300.0, damping=2.0, friction=0.3, slip_speed=0.02, onset=5e-3)
    system = hs.System(robot, [hs.Obstacles(law, [plane]), hs.Water(1022.0 * factors["water"])])
    control = hs.Control(tension=factors["activation"] * jnp.array([0.2, 1.5, 0.2, 0.1]))
    rate = 0.3 * np.random.default_rng(0).normal(size=system.rest().q.shape)
    state = system.rest(v=factors["rate"] * rate)
    return hs.rollout(system, control, state, steps=60, dt=DT, every=60, stepper=STEPPER).tip[-1] @ DIRECTION


def check(tip, names, relative, forward=True):
    ones = {name: jnp.asarray(1.0) for name in names}
    value = quick_jit(tip)
    reverse = quick_jit(jax.grad(tip))(ones)
    modes = [reverse, quick_jit(jax.jacfwd(tip))(ones)] if forward else [reverse]
    for name in names:
        h = 3e-5
        slope = float(value({**ones, name: 1.0 + h}) - value({**ones, name: 1.0 - h})) / (2.0 * h)
        assert np.isfinite(slope), name
        for mode in modes:
            assert float(mode[name]) == pytest.approx(slope, rel=relative), name


def test_muscles_in_water():
    """Reverse mode, by machine code; XLA compiles forward mode for half a minute."""
    check(lambda factors: arm_in_water(factors, segments=3, steps=8), FACTORS, 1e-5, forward=False)


@pytest.mark.slow
def test_arcs_with_muscles_in_water():
    check(lambda factors: arm_in_water(factors, kind="strain"), FACTORS, 1e-5)


@pytest.mark.slow
def test_muscles_in_water_for_two_seconds():
    check(lambda factors: arm_in_water(factors, steps=400), FACTORS, 1e-5)


@pytest.mark.slow
def test_a_ball_that_suckers_hold():
    check(arm_with_ball, FACTORS, 1e-5)


@pytest.mark.slow
def test_a_swimming_octopus():
    check(swimming, FACTORS, 1e-5)


@pytest.mark.slow
def test_tendons_and_a_plane_that_is_touched():
    check(touching, ("youngs_modulus", "radius", "activation", "water", "rate"), 1e-3)
