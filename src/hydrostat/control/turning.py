"""An octopus that turns on the spot: all arms bend as in the paper's gait, to one side, take hold and become straight.

Pushes along the arms cancel, and what is left turns the body. The bends of an arm nearly cancel as well: the end of one
that bends to one side alone swings round, and drags the body back. After its last stroke the body springs back by an
angle that hardly depends on how strong that was.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from hydrostat.control.commands import Anatomy
from hydrostat.control.gaits import Stroke, mirrored, sideways, stiffened, sucking, three_bends
from hydrostat.control.nerves import AbstractBrain, Felt, Wanted

_EFFORT = 0.5  # power of its angle by which the activation of a stroke falls: measured, 0.7 of it turns 0.44 as far


class Turning(Stroke):
    """A stroke of all arms that turns the body to the left."""

    angle: Float[Array, ""]
    """By which each of many at full shares does, found by trying [rad]."""
    recoil: Float[Array, ""]
    """By which it springs back after the last one [rad]."""


def bend_one_way_and_straighten(anatomy: Anatomy) -> Turning:
    """The paper's way to crawl, with all arms alike. The numbers were found by trying.

    With two bends instead of three it turns three times as far, but weaker strokes turn it the other way.
    """
    bend, stiffen, first, last = 0.1, 0.4, 0.6, 0.8
    gather = sideways(anatomy, bend * three_bends(anatomy))
    numbers = (0.9, 0.8, 0.0, 0.4, 0.0, np.deg2rad(12.3), np.deg2rad(14.0))
    grip = sucking(anatomy, first, last)
    return Turning(gather[None], stiffened(anatomy, stiffen, last)[None], grip, *(jnp.asarray(x) for x in numbers))


class Facing(NamedTuple):
    """How far an octopus has turned, and what it does about it."""

    share: Float[Array, ""]
    """Of the stroke that is on; negative to turn to the right."""
    began: Float[Array, ""]
    """When that stroke began [s]."""
    turned: Float[Array, ""]
    """Since the start, when the stroke began; in open loop as it believes, and when the stroke will be over [rad]."""
    faced: Float[Array, ""]
    """Which way, when that was last looked at [rad]."""
    strokes: Int[Array, ""]
    """How many were begun."""


class Turn(AbstractBrain):
    """Turns by an angle, and stays turned.

    In closed loop it looks before every stroke how far it is turned. In open loop it believes that every stroke has
    turned it as it should.
    """

    stroke: Turning
    to: Float[Array, ""]
    """How far it shall turn, to the left where positive [rad]."""
    grip: Float[Array, " a"]
    """1 for arms whose suckers work, 0 for those whose suckers do not hold."""
    looks: Float[Array, ""]
    """1 for closed loop, 0 for open loop."""
    near: Float[Array, ""]
    """From there, where it need not turn [rad]."""

    def begin(self, felt: Felt) -> Facing:
        """The first stroke is due."""
        zero = jnp.zeros(())
        return Facing(zero, zero - self.stroke.duration, zero, _facing(felt), jnp.zeros((), int))

    def decide(self, time, dt, felt: Felt, memory: Facing):
        """Where in its stroke it is, and how hard the next one shall be."""
        due = time - memory.began >= self.stroke.duration - 0.5 * dt
        memory = jax.tree.map(lambda new, old: jnp.where(due, new, old), self._next(time, felt, memory), memory)
        wanted = self.stroke(time - memory.began, jnp.abs(memory.share) * jnp.ones_like(self.grip))
        activation = jnp.where(memory.share < 0.0, mirrored(wanted.activation), wanted.activation)
        return Wanted(activation, wanted.grip * self.grip[:, None]), memory

    def _next(self, time, felt: Felt, memory: Facing) -> Facing:
        """A stroke as strong as what is missing asks for."""
        faced = _facing(felt)
        seen = memory.turned + jnp.angle(jnp.exp(1j * (faced - memory.faced)))
        turned = jnp.where(self.looks > 0.5, seen, memory.turned)
        angle, recoil = self.stroke.angle, self.stroke.recoil
        springs = recoil * jnp.sign(memory.share)
        missing = self.to - turned + springs
        part = jnp.where(jnp.abs(missing) > self.near, jnp.clip(missing / angle, -1.0, 1.0), 0.0)
        share = jnp.sign(part) * jnp.abs(part) ** _EFFORT
        known = turned + jnp.where(self.looks > 0.5, 0.0, angle * part + recoil * jnp.sign(part) - springs)
        return Facing(share, jnp.asarray(time), known, faced, memory.strokes + jnp.where(part == 0.0, 0, 1))


def _facing(felt: Felt) -> Float[Array, ""]:
    assert felt.pose is not None
    return jnp.arctan2(felt.pose.rotation[1, 0], felt.pose.rotation[0, 0])
