"""Small robots of every kind, and observations of them that change in every component at every step."""

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.actuation import Tendons
from hydrostat.bodies import Arm, Material, Section
from hydrostat.lie import SE3, so3
from hydrostat.mechanics.model import Wires, make_arm_model
from hydrostat.mechanics.robot import equal_arms, single_arm, unequal_arms
from hydrostat.segments import StrainSegment
from hydrostat.sensing import observe
from hydrostat.surroundings.objects import Ball
from hydrostat.system import Control, System

LENGTHS = (0.1, 0.05, 0.2)
MODES = ("bend_x", "bend_y", "stretch")


def arm_model(lengths=LENGTHS, segments=None):
    n = len(lengths)
    marks = np.full((1, n, 2), 0.01)
    arm = Arm(
        segments=StrainSegment(jnp.asarray(lengths), MODES) if segments is None else segments,
        section=Section(jnp.full(n, 0.02), jnp.full(n, 0.02)),
        material=Material(jnp.full(n, 1e5), jnp.full(n, 0.4), jnp.full(n, 1e3), jnp.full(n, 10.0)),
        T_world_base=SE3.identity(),
    )
    tendons = Tendons(jnp.zeros(1), jnp.asarray(marks), jnp.ones((1, n)), (n - 1,), None)
    return make_arm_model(arm, wires=Wires(tendons, None, None), points=1)


def system_of(kind="single"):
    """A system with a ball in it: of a single arm, of two equal ones or of two unequal ones."""
    ball = Ball(0.01, 0.01, (1.0, 0.0, 0.0))
    if kind == "single":
        return System(single_arm(arm_model()), [ball])
    if kind == "equal":
        mounts = SE3(jnp.stack([jnp.eye(3)] * 2), jnp.array([[0.1, 0.0, 0.0], [-0.1, 0.0, 0.0]]))
        return System(equal_arms(arm_model(), mounts), [ball])
    return System(unequal_arms([arm_model(), arm_model((0.1, 0.1))]), [ball])


def truths_of(system, steps, *, constant=False, seed=7):
    """Observations with the step as leading axis; touch is 0 or 1 at random."""
    like = observe(system, system.rest(), Control(), 0.01)
    random = np.random.default_rng(seed)

    def numbers(y):
        values = random.normal(size=(1 if constant else steps, *np.shape(y)))
        return jnp.asarray(np.broadcast_to(values, (steps, *np.shape(y))))

    def of_field(name, value):
        if isinstance(value, SE3):
            return SE3(so3.exp(numbers(value.position)), numbers(value.position))
        if name in ("held", "taken"):
            return jax.tree.map(lambda y: (numbers(y) > 0.0).astype(float), value)
        return jax.tree.map(numbers, value)

    return type(like)(*(of_field(name, value) for name, value in like._asdict().items()))


def row(tree, index):
    return jax.tree.map(lambda y: y[index], tree)


def told_by(sensors, system, truths, dt, times=None):
    """What the sensors tell of observations one after another, through a scan."""
    steps = len(truths.period)
    times = dt * jnp.arange(steps) if times is None else jnp.asarray(times)
    memory = sensors.init(system, row(truths, 0), dt)

    def advance(memory, now):
        told, memory = sensors(*now, memory)
        return memory, told

    return jax.lax.scan(advance, memory, (times, truths))[1]


def same(one, other):
    """Whether two trees agree bit for bit."""
    leaves, others = jax.tree.leaves(one), jax.tree.leaves(other)
    return len(leaves) == len(others) and all(map(np.array_equal, leaves, others))
