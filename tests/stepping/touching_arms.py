"""A soft arm with contact nodes, laws of contact and shapes for it, and rollouts that show what it touches."""

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.bodies import Arm, Material, Section
from hydrostat.compiling import quick_jit
from hydrostat.lie import SE3
from hydrostat.mechanics.energy import energy, external_wrench, momentum
from hydrostat.mechanics.robot import no_inputs
from hydrostat.mechanics.state import nodes_of, positions, velocities
from hydrostat.segments import StrainSegment
from hydrostat.stepping import SDIRK2
from hydrostat.stepping.base import acting
from hydrostat.surroundings import Box, Capsule, ContactLaw, Obstacles, Plane, Sphere

G = 9.81
RADIUS, LENGTH, BASE_MASS, NODES = 0.01, 0.2, 0.02, 6
STIFFNESS, DAMPING, FRICTION, SLIP, ONSET = 2e3, 2.0, 0.5, 0.01, 1e-4
MASS = 1000.0 * np.pi * RADIUS**2 * LENGTH + BASE_MASS
ALONG_X = SE3(jnp.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), jnp.zeros(3))
AWAY = np.array([0.0, 0.0, -100.0])
ROWS = 200


def an_arm(base, viscosity=2e3):
    return Arm(
        StrainSegment(jnp.asarray(np.full(2, LENGTH / 2)), ("bend_x", "bend_y")),
        Section(*(jnp.asarray(np.full(2, RADIUS)),) * 2),
        Material(*(jnp.asarray(np.full(2, value)) for value in (2e6, 0.4, 1000.0, viscosity))),
        base,
    )


def law(stiffness=STIFFNESS, damping=DAMPING):
    return ContactLaw(stiffness, damping, FRICTION, SLIP, ONSET)


def shapes(plane=AWAY, sphere=AWAY, capsule=AWAY, box=AWAY):
    """All four kinds, those that are not placed far away: they share what is compiled."""
    half = np.array([0.0, 0.1, 0.0])
    return (
        Plane(plane, [0.0, 0.0, 1.0]),
        Sphere(sphere, 0.05),
        Capsule(capsule - half, capsule + half, 0.05),
        Box(SE3(jnp.eye(3), jnp.asarray(box)), [0.15, 0.1, 0.05]),
    )


def ground(height=0.0, velocity=(0.0, 0.0, 0.0)):
    """A plane alone: every shape more is compiled into each of a step's many looks at contact."""
    return (Plane([0.0, 0.0, height], [0.0, 0.0, 1.0], velocity=velocity),)


@quick_jit
def roll(model, inputs, state, dt, every, keep: bool):
    """Steps of SDIRK2, with momentum kept if asked for, and what can be seen every so many of them."""

    def given(time, state):
        return inputs

    def row(state, _):
        def step(_, carry):
            state, good = carry
            new = SDIRK2().step(model, state, 0.0, dt, given, keep_momentum=keep)
            return new.state, good & new.converged

        state, good = jax.lax.fori_loop(0, every, step, (state, jnp.asarray(True)))
        here, x, v = acting(model, state, 0.0, given), positions(state), velocities(state)
        touch, _ = here.surroundings.contact(nodes_of(model, state, here))
        seen = {
            "good": good,
            "energy": energy(model, x, v, here).total + stored(here.surroundings.law, touch.penetration),
            "momentum": momentum(model, x, v, here),
            "wrench": external_wrench(model, x, v, here)[0],
            "force": touch.force,
            "depth": touch.penetration,
            "state": state,
        }
        return state, seen

    return jax.lax.scan(row, state, None, length=ROWS)[1]


def stored(law, depth):
    """The energy of compressed contact, the integral of k p(d) [J]."""
    onset = law.onset
    shallow, deep = depth**3 / (6.0 * onset), 0.5 * depth**2 - 0.5 * onset * depth + onset**2 / 6.0
    return law.stiffness * jnp.sum(jnp.where(depth < onset, shallow, deep))


def run(model, state, around, *, dt=2e-3, every=1, keep=False, contact=None):
    """A rollout of a body from a state among shapes, everything in NumPy."""
    inputs = no_inputs(model, Obstacles(law() if contact is None else contact, around))
    found = jax.tree.map(np.asarray, roll(model, inputs, state, jnp.asarray(dt, float), jnp.asarray(every), keep))
    assert np.all(found["good"])
    return found
