"""Machine code of our own steps every kind of robot, in every kind of surroundings, as XLA does."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.robots.specs.squid import squid
from hydrostat.robots.variants import with_paper_muscles
from hydrostat.surroundings.objects import SOFT
from hydrostat.surroundings.shapes import Sphere

STEPS = 2
"""The second starts from what the first one left."""
ROUNDING = 1e-11
"""Of a first step, relative to the largest number of an array: what operations in another order leave."""
LATER = 1e-8


def activated(system, strength=0.2):
    like = system.rest().activation
    return hs.Control(
        activation=jax.tree.map(lambda y: strength * jnp.linspace(0.1, 1.0, y.size).reshape(y.shape), like)
    )


def held(system, drive, value):
    none = hs.mechanics.robot.no_inputs(system.robot)
    like = none.wires if drive in ("tension", "length") else none.torque
    return hs.Control(**{drive: jax.tree.map(lambda y: value * jnp.linspace(0.2, 1.0, y.size).reshape(y.shape), like)})


SEA = (hs.Water(current=(0.05, 0.0, 0.02)),)
HOLDING = (hs.Water(), hs.Ground(), hs.Suckers(), hs.Ball(0.01, 0.02, (0.1, 0.02, 0.01)))


def tentacle(**options):
    return hs.robots.load("tentacle", **options)


def pistons(segments, **options):
    """The octopus' arm with the muscles of the paper."""
    return build_robot(with_paper_muscles(octopus_arm(segments)), **options)


def two_limbs():
    """A limb of the squid with two segments and one with a single segment, on a body that does not move."""
    whole = squid()
    return build_robot(replace(whole, limbs=(whole.limbs[0], whole.limbs[-1])))


CASES = {
    "tendons by tension": lambda: (hs.System(tentacle()), lambda s: held(s, "tension", 2.0), 2e-3),
    "six strains": lambda: (hs.System(hs.robots.rod(0.2, 0.005, segments=6)), lambda s: held(s, "torque", 1e-4), 1e-3),
    "finger": lambda: (hs.System(hs.robots.finger()), lambda s: held(s, "torque", 0.01), 1e-3),
    "unequal limbs": lambda: (hs.System(two_limbs(), SEA), lambda s: held(s, "tension", 0.5), 1e-3),
    "unequal limbs on a free body": lambda: (
        hs.System(hs.robots.squid(free=True), [*SEA, hs.ArmContact()]), lambda s: held(s, "tension", 0.5), 1e-3),
    "platforms": lambda: (hs.System(hs.robots.stewart_arm(segments=5)), lambda s: held(s, "torque", 0.01), 1e-3),
    "muscles": lambda: (hs.System(hs.robots.octopus_arm(8), SEA), activated, 5e-3),
    "muscles of arcs": lambda: (hs.System(hs.robots.octopus_arm(6, "strain"), SEA), activated, 2e-3),
    "oblique muscles": lambda: (hs.System(hs.robots.octopus_arm(6, "strain", oblique=True), SEA), activated, 2e-3),
    "pressure": lambda: (hs.System(hs.robots.octopus_arm(6, bulk_modulus=1e5), SEA), activated, 1e-3),
    "pistons": lambda: (hs.System(pistons(5), [hs.Water(added_mass=1.0)]), activated, 5e-3),
    "pistons and pressure": lambda: (hs.System(pistons(4, bulk_modulus=1e5), SEA), activated, 1e-3),
    "added mass": lambda: (hs.System(hs.robots.octopus_arm(8), [hs.Water(added_mass=1.0)]), activated, 5e-3),
    "suckers and a ball": lambda: (hs.System(hs.robots.octopus_arm(8), HOLDING), activated, 2e-3),
    "obstacles": lambda: (
        hs.System(hs.robots.octopus_arm(8), [*SEA, hs.Obstacles(SOFT, [Sphere((0.1, 0.0, 0.0), 0.03)])]),
        activated, 2e-3),
    "three equal arms": lambda: (
        hs.System(hs.robots.octopus(3, 6), SEA, gravity=(0, 0, 0)), lambda s: activated(s, 0.02), 2e-3),
    "octopus": lambda: (
        hs.System(hs.robots.octopus(8, 6), [*HOLDING, hs.ArmContact(), hs.Jet()]), activated, 2e-3),
}  # fmt: skip


LONG = ("unequal limbs on a free body", "octopus")
"""Those that XLA compiles for a minute."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in CASES]
)
def test_steps_are_those_of_xla(name):
    system, control, dt = CASES[name]()
    found, wanted = (
        hs.rollout(system, control(system), steps=STEPS, dt=dt, backend=backend) for backend in ("native", "xla")
    )
    for a, b in zip(jax.tree.leaves(found.state), jax.tree.leaves(wanted.state), strict=True):
        own, other = np.asarray(a, float), np.asarray(b, float)
        size = max(np.max(np.abs(other), initial=0.0), 1e-3)
        np.testing.assert_allclose(own[1], other[1], rtol=0.0, atol=ROUNDING * size)
        np.testing.assert_allclose(own, other, rtol=0.0, atol=LATER * size)
