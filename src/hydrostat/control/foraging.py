"""Foraging: an octopus crawls to its prey, takes it with one arm while others hold the ground, and brings it in.

It sees the prey. When that lies beside one of its arms, within reach of a sweep to the left or to the right, the arm
sweeps until its suckers have it, and follows a course of shapes to the mouth, as an arm that fetches by itself does.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from hydrostat.control.feedback import Servo, ServoMemory
from hydrostat.control.gaits import Crawl, OnTheWay, mirrored
from hydrostat.control.nerves import AbstractBrain, Felt, Wanted


class Reach(NamedTuple):
    """Where prey can lie for an arm to take it."""

    along: Float[Array, " 2"]
    """From where to where along the arm, from the middle of the body [m]."""
    beside: Float[Array, " 2"]
    """From where to where beside it [m]."""

    @property
    def best(self) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """In the middle of both."""
        return jnp.mean(self.along), jnp.mean(self.beside)


class Hunt(NamedTuple):
    """What a foraging octopus remembers."""

    way: OnTheWay
    course: ServoMemory
    arm: Int[Array, ""]
    """That takes the prey."""
    side: Float[Array, ""]
    """To which it sweeps: 1 for its left, -1 for its right."""
    start: Float[Array, " 2"]
    """Where the way began [m]."""
    there: Bool[Array, ""]
    """Whether the arm can take the prey."""


class Forage(AbstractBrain):
    """Crawl there, take it, bring it in."""

    crawl: Crawl
    """How it crawls; its path is made of what is seen."""
    fetch: Servo
    """How an arm moves that takes prey on its left."""
    reach: Reach
    hold: Float[Array, " n"]
    """1 for segments whose suckers hold the ground meanwhile, of arms that are not beside the one that fetches."""

    def begin(self, felt: Felt) -> Hunt:
        """Nothing is decided."""
        assert felt.pose is not None
        assert felt.prey is not None
        arm, side, _ = self._choice(felt)
        own = Felt(felt.q[0], felt.v[0], felt.held[0])
        here = felt.pose.position[:2]
        return Hunt(self.crawl.begin(felt), self.fetch.begin(own), arm, side, here, jnp.asarray(False))

    def decide(self, time, dt, felt: Felt, memory: Hunt):
        """Crawl, or fetch."""
        assert felt.taken is not None
        # Between strokes it looks whether an arm can take the prey.
        due = time - memory.way.began >= self.crawl.stroke.duration - 0.5 * dt
        arm, side, fits = self._choice(felt)
        there = memory.there | (due & fits)
        arm, side = (jnp.where(memory.there, *y) for y in ((memory.arm, arm), (memory.side, side)))
        path = jnp.stack([memory.start, self._goal(felt, arm, side)])
        crawling, way = eqx.tree_at(lambda crawl: crawl.path, self.crawl, path).decide(time, dt, felt, memory.way)
        # The arm is mirrored where it sweeps to its right.
        turn = jnp.concatenate([side[None], jnp.ones(felt.q.shape[-1] - 1)])
        own = Felt(turn * felt.q[arm], turn * felt.v[arm], felt.taken[arm])
        fetching, course = self.fetch.decide(time, dt, own, memory.course)
        course = jax.tree.map(lambda new, old: jnp.where(there, new, old), course, memory.course)
        activation = jnp.where(side > 0.0, fetching.activation, mirrored(fetching.activation))
        arms = jnp.arange(len(self.crawl.yaws))
        one = (arms == arm)[:, None]
        aside = jnp.mod(arms - arm + 1, len(arms)) <= 2  # itself, and those beside it
        holding = jnp.where(aside, 0.0, self.crawl.grip)[:, None] * self.hold
        wanted = Wanted(
            jnp.where(there, jnp.where(one[..., None], activation, 0.0), crawling.activation),
            jnp.where(there, holding, crawling.grip),
            take=jnp.where(one & there, fetching.grip, 0.0),
        )
        return wanted, Hunt(way, course, arm, side, memory.start, there)

    def _heading(self, felt: Felt) -> Float[Array, ""]:
        assert felt.pose is not None
        return jnp.arctan2(felt.pose.rotation[1, 0], felt.pose.rotation[0, 0])

    def _choice(self, felt: Felt) -> tuple[Int[Array, ""], Float[Array, ""], Bool[Array, ""]]:
        """The arm that the prey lies beside best, on which side, and whether it can take it."""
        assert felt.pose is not None
        assert felt.prey is not None
        gap = felt.prey[:2] - felt.pose.position[:2]
        angle = jnp.arctan2(gap[1], gap[0]) - self._heading(felt) - self.crawl.yaws
        far = jnp.sqrt(jnp.sum(gap**2))
        along, left = far * jnp.cos(angle), far * jnp.sin(angle)
        beside = jnp.abs(left)
        (near, most), (least, widest) = self.reach
        fits = (along >= near) & (along <= most) & (beside >= least) & (beside <= widest)
        best = self.reach.best
        # The one whose best place for it has the direction in which it lies.
        off = jnp.abs(jnp.abs(jnp.angle(jnp.exp(1j * angle))) - jnp.arctan2(best[1], best[0]))
        arm = jnp.argmin(jnp.where(fits, off, off + jnp.pi))
        return arm, jnp.where(left[arm] >= 0.0, 1.0, -1.0), jnp.any(fits)

    def _goal(self, felt: Felt, arm, side) -> Float[Array, " 2"]:
        """Where the octopus would have its prey at the best place beside an arm."""
        assert felt.prey is not None
        along, beside = self.reach.best
        angle = self._heading(felt) + self.crawl.yaws[arm] + side * jnp.arctan2(beside, along)
        return felt.prey[:2] - jnp.hypot(along, beside) * jnp.stack([jnp.cos(angle), jnp.sin(angle)])
