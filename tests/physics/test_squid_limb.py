"""The squid's limb as hydrostat has it, with its own tendons: at rest against the table, and settling in water.

The table is that of `test_soft_limb`, SR: with shear and stretch. The squid's limb bends and stretches, and does not
shear: without gravity no force shears it, so that both agree; with gravity they differ by the shear.
"""

from dataclasses import replace
from itertools import pairwise

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.mechanics import kinematics
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.squid import ECOFLEX, LENGTH, WATER, squid_limb
from hydrostat.simulation import simulate
from hydrostat.statics import equilibrium
from hydrostat.surroundings import Water
from hydrostat.system import Control, System

ABOVE = 2  # of the four tendons, the one above the axis: a limb's x is down
HANGING_STRETCH = 0.6397826e-3  # m, the table's elongation in sea water, straight down


def at_rest(pieces, tension, gravity):
    """The horizontal limb's tip x, z and its angle upwards, with one tendon pulled, in the sea or without gravity."""
    limb = build_robot(squid_limb("camera", pieces))
    system = System(limb, [Water(WATER)]) if gravity == "sea" else System(limb, gravity=(0.0, 0.0, 0.0))
    robot = system.robot
    found = equilibrium(system, Control(tension=jnp.zeros(4).at[ABOVE].set(tension)), load_steps=8)
    tip = kinematics.tip_pose(robot.arm, found.q).position
    angle = -float(jnp.sum(found.q[:, 1] * robot.arm.segments.length))
    return np.array([float(tip[0]), float(tip[2]), angle])


@pytest.mark.parametrize(
    ("gravity", "tension", "x", "z", "degrees", "counts"),
    [
        pytest.param("none", 0.5, 0.58515031, 0.06940074, 35.633730, (10, 20, 40), marks=pytest.mark.slow),
        pytest.param("none", 2.0, 0.45718781, 0.20118757, 142.534921, (10, 20, 40), marks=pytest.mark.slow),
        pytest.param("sea", 0.0, 0.54483023, -0.22565610, -35.038698, (10, 20, 40), marks=pytest.mark.slow),
        pytest.param("sea", 1.5, 0.5586517, -0.0369319, 69.95328, (10, 20, 40), marks=pytest.mark.slow),
        pytest.param("sea", 0.5, 0.5670923, -0.1651017, -0.81542, (10, 20, 40), marks=pytest.mark.slow),
        ("sea", 0.0, 0.54483023, -0.22565610, -35.038698, (5, 10, 20)),
    ],
)
def test_the_squids_limb_rests_where_the_table_says(gravity, tension, x, z, degrees, counts):
    shapes = [at_rest(pieces, tension, gravity) for pieces in counts]
    # Of second order in a piece's length: a quarter each time it is halved, which gives the limit.
    coarse, fine = (4.0 * b - a for a, b in pairwise(shapes))
    limit, doubt = fine / 3.0, np.abs(fine - coarse) / 3.0 + 2e-6
    # Shear along the limb gives way by three times what pull does, since G = E / 3, and by no more than when straight.
    shear = 0.0 if gravity == "none" else 3.0 * HANGING_STRETCH
    allowed = doubt + np.array([shear, shear, 2.0 * shear / LENGTH])
    assert np.all(np.abs(limit - [x, z, np.deg2rad(degrees)]) <= allowed)
    assert np.all(doubt < 1e-3)


def test_a_limb_under_its_tendons_settles_in_water_to_where_statics_puts_it():
    # As viscous as its slowest swing needs to die out at once: where it comes to rest does not depend on that.
    spec = replace(squid_limb("camera", 5), material=replace(ECOFLEX, viscosity=6e4))
    system = System(build_robot(spec), [Water(WATER, added_mass=1.0)])
    tension = jnp.array([0.0, 0.2, 0.6, 0.0])
    rest = equilibrium(system, Control(tension=tension), load_steps=8)
    rows = simulate(system, Control(tension=tension), 30.0, 1e-2, every=100)
    tips = np.asarray(rows.tip)
    there = np.asarray(kinematics.tip_pose(system.robot.arm, rest.q).position)
    apart = np.linalg.norm(tips - there, axis=-1)
    assert apart[0] > 0.1 * LENGTH
    # Seven time constants of the slowest motion, some four seconds each, and it creeps on by less and less.
    assert apart[-1] < 1e-3 * LENGTH
    assert np.all(np.diff(apart[15:]) <= 1e-6)
    np.testing.assert_allclose(rows.state.q[-1], rest.q, atol=2e-2)
