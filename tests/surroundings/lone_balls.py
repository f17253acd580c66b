"""A ball alone, or among nodes of an arm that stand still: what happens to it in a step, and in many."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.surroundings import Commands, ContactLaw, Environment, Nodes, Place, Water
from hydrostat.surroundings.objects import Ball

LAW = ContactLaw(100.0, 5.0, 0.5, 0.01, 1e-3)
DOWN, NOWHERE = (0.0, 0.0, -9.81), (0.0, 0.0, 0.0)
WATER = Water()
BALL = Ball.of_density(0.01, 1100.0, law=LAW)
RADIUS = float(BALL.radius)
SUBMERGED = 0.01 * (1.0 - 1022.0 / 1100.0) * 9.81
"""Weight less buoyancy [N]."""


def make_nodes(position, velocity=None, radius=4e-3, spin=None):
    position = jnp.asarray(position, float)
    zero, n = jnp.zeros_like(position), len(position)
    velocity, spin = (zero if x is None else jnp.asarray(x, float) for x in (velocity, spin))
    return Nodes(position, velocity, spin, zero.at[:, 0].set(1.0), jnp.full(n, radius), jnp.full(n, 0.01))


FAR = make_nodes([[9.0, 9.0, 9.0]])


def surrounded(count=1, *, gravity=DOWN, water=WATER, ground=None, suckers=None) -> Environment:
    """What a ball knows of an arm with so many nodes and of all else."""
    return Environment(jnp.asarray(gravity, float), None, water, ground, suckers, (count,), False)


def launched(ball: Ball, environment, position=NOWHERE, velocity=NOWHERE, spin=NOWHERE):
    """A ball that moves at the start."""
    state = ball.init(environment)
    moving = (jnp.asarray(y, float) for y in (position, velocity, spin))
    return state._replace(ball=state.ball._replace(**dict(zip(("position", "velocity", "spin"), moving, strict=True))))


@eqx.filter_jit
def begun(ball: Ball, environment, state, nodes, take, dt):
    """The state at the begin of a step, and the forces during it."""
    commands = Commands(jnp.zeros_like(take), take, jnp.zeros(()))
    return ball.begin(state, Place(nodes, None), environment, commands, dt)


@eqx.filter_jit
def stepped(ball: Ball, environment, state, nodes, take, dt, end=None):
    """The state after a step from some nodes to others, the same when not given."""
    begin, forces = begun(ball, environment, state, nodes, take, dt)
    return ball.finish(begin, forces, Place(nodes if end is None else end, None), environment, dt)


@eqx.filter_jit
def _travelled(ball, environment, state, nodes, dt, count: int):
    def step(state, _):
        state = stepped(ball, environment, state, nodes, jnp.zeros(len(nodes.radius)), dt)
        return state, state.ball

    return jax.lax.scan(step, state, None, length=count)[1]


MOST = 1000


def passed(ball, environment, state, seconds, dt=2.5e-3, nodes=FAR):
    """Where the ball is after every step, the nodes standing still; all paths share what is compiled."""
    count = round(seconds / dt)
    rows = _travelled(ball, environment, state, nodes, jnp.asarray(dt), max(count, MOST))
    return jax.tree.map(lambda y: np.asarray(y)[:count], rows)
