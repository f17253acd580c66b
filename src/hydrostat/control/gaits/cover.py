"""How an octopus comes to lie with its mouth on its prey: arms raise the body, one draws the prey under it, it sinks.

The mouth is between the bases of the arms, which close the ring about it on the ground: prey can come from below alone.
Activations and gains were found by trying.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from hydrostat.bodies import Arm
from hydrostat.control.anatomy import BodyPlan
from hydrostat.control.feedback import Servo, ServoMemory
from hydrostat.control.gaits.prey_course import BENEATH, BRINGS, CLEAR, TIMES
from hydrostat.control.point_plans import ease_of_change
from hydrostat.control.profiles import minimum_jerk
from hydrostat.lie import SE3, small
from hydrostat.mechanics import kinematics
from hydrostat.sensing import Observation
from hydrostat.surroundings.objects import Ball
from hydrostat.system import System

PATIENCE = 6.0
"""Time for which the body waits for the prey to come under it, at most [s]."""
DWELLS = 0.3
"""Time for which the prey must be under the raised body before that sinks [s]: prey that swings past is not there."""
MISSES = 2.0
"""Time for which the mouth must be off the prey, once the body has sunk, before it rises again [s]."""
_GAINS = (4.0, 8.0)  # activation per height that is missing [1/m], and per its integral [1/(m s)]
_MISSING = (-0.01, 0.05)  # m s: bounds of that integral
_LEVELS = (-0.1, 0.6)  # bounds of the activation, downwards and upwards
_LIFTS = (0.0, 0.2, 0.45)  # of the arm: it bends down between the first two, up between the last two
_CLEARS = (0.2, 0.3)  # activation of arms that rise out of the way, and the part of them that bends
_PRESS = 3e-4  # m: depth of the body's skin at the prey, from which on it gives way
_AT = 1e-3  # m: gap up to which the mouth is at the prey
_SLIPS = 3e-3  # m: gap from which on prey has slipped out
_FARTHER = 0.014  # m by which it may sink farther than level prey would let it, with arms of 0.24 m
_SINKS = (2.0, 0.02)  # 1/s: rate at which a gap is closed; m/s: largest speed
_WITHIN = 0.4  # sine of the angle from the vertical below which prey is under the mouth
_STEERS = 1.0  # 1/s: rate at which the seen error of the prey's place fades
_KEEPS = 1.5  # displacement of the plan against that of prey under the body, over it
_FARTHEST = 0.06  # m: largest displacement of the plan, of an arm of 0.24 m
_LAGS, _PACE = 0.02, 0.25  # m by which the arm may be behind its plan, of 0.24 m, until that goes on at this pace
_BEFORE = 0.3  # s before the end of the course to the mouth, from when on the prey is steered
_EASES, _RELAXES = 1.0, 0.3  # s in which the arm relaxes when the body lies on the prey, and by which share
_OPPOSITE = np.array([2, 1, 0, 3, 4, 5, 6])  # muscles across the arm, in the plane of up and down


class CoverMemory(NamedTuple):
    """The memory of an octopus that brings its mouth and its prey together."""

    missing: Float[Array, " a"]
    """Integral of the height that the base of each arm lacks [m s]."""
    shift: Float[Array, " 2"]
    """Displacement of the plan along the arm and to its side by what is seen of the prey [m]."""
    waited: Float[Array, ""]
    """Time for which the body has waited for the prey to come under it [s]."""
    sunk: Float[Array, ""]
    """How far the body has been lowered on the prey [m]."""
    lain: Float[Array, ""]
    """Time for which it has lain on the prey [s], as far as the arm takes note of it."""
    under: Float[Array, ""]
    """Time for which the prey has been under the mouth [s]."""
    missed: Float[Array, ""]
    """Time for which the mouth has been off the prey [s]."""
    place: Float[Array, " 2"]
    """Where the prey was last seen, from the body's axis, along the arm and to its side [m]."""

    @staticmethod
    def fresh(arms: int) -> "CoverMemory":
        """The memory at the start, of a body with some arms."""
        zero = jnp.zeros(())
        return CoverMemory(jnp.zeros(arms), jnp.zeros(2), zero, zero, zero, zero, zero, jnp.zeros(2))

    @property
    def eased(self) -> Float[Array, ""]:
        """How far the octopus has relaxed since its body lies on the prey, from 0 to 1."""
        return self.lain / _EASES

    @property
    def held_back(self) -> Float[Array, ""]:
        """The share of its activation that the arm which holds the prey keeps."""
        return 1.0 - _RELAXES * self.eased


class Cover(eqx.Module):
    """The motion of a body that is raised on its arms, and lowered on the prey that one of them draws under it."""

    bases: Float[Array, "a 3"]
    """Positions of the arms' bases in the body's frame [m]."""
    rest: Float[Array, ""]
    """Height of the arms' bases when the octopus lies on the ground [m]."""
    rise: Float[Array, ""]
    """How far the body is raised [m]."""
    sink: Float[Array, ""]
    """How far it is lowered on the prey at most [m]."""
    touch: Float[Array, ""]
    """Distance between the centres of body and prey that touch [m]."""
    lift: Float[Array, "n m"]
    """Activation of an arm that raises the body, per unit."""
    clear: Float[Array, "n m"]
    """Activation of an arm that rises out of the way."""
    mass: Float[Array, ""]
    """Mass of the prey [kg]."""
    near: Float[Array, ""]
    """Distance of the prey from the body's axis below which it is under the mouth [m]."""
    mouth: Float[Array, ""]
    """Sine of the angle from the vertical within which the underside of the body is its mouth."""
    goal: Float[Array, " 2"]
    """Where the prey is brought, from the body's axis, along the arm and to its side [m]."""
    change: Float[Array, "n k 3"]
    """Change of the shape for a displacement of the place that holds the prey, along the arm, to its side and up
    [1/m]."""
    lags: Float[Array, ""]
    """Distance of that place from the planned one at which the plan goes on slowest [m]."""
    farthest: Float[Array, ""]
    """Largest displacement of the plan [m]."""

    def shifted(self, observation: Observation, memory: CoverMemory, clock, prey, yaw, side) -> CoverMemory:
        """The plan displaced so that the prey comes under the mouth.

        **Arguments:** `clock`: time of the course [s]; `prey`: its position in the world [m]; `yaw`, `side`: the arm's
        azimuth on the body [rad], and 1 where it sweeps to its left, else -1.
        """
        own = _own(observation.pose, prey)
        along = jnp.cos(yaw) * own[0] + jnp.sin(yaw) * own[1]
        beside = side * (jnp.cos(yaw) * own[1] - jnp.sin(yaw) * own[0])
        place, lies = jnp.stack([along, beside]), memory.lain > 0.0
        steers = (clock > TIMES[5] - _BEFORE) & ~lies
        rate = jnp.where(steers, _STEERS * observation.period, 0.0)
        # Prey that the body lies on is kept where it is, not moved on: errors would sum up until the arm bursts out.
        kept = jnp.where(lies, _KEEPS, 0.0) * (memory.place - place)
        shift = memory.shift + rate * (self.goal - place) + kept
        size = jnp.maximum(jnp.hypot(shift[0], shift[1]), 1e-12)
        return memory._replace(shift=shift * jnp.minimum(1.0, self.farthest / size), place=place)

    def shape(self, memory: CoverMemory) -> Float[Array, "n k"]:
        """The change of the planned shape: by what is seen of the prey, and up to the body by as far as that is
        lowered, else the arm would press its prey on the ground, and hold the body up by it."""
        return jnp.sum(self.change * jnp.append(memory.shift, memory.sunk), -1)

    def pace(self, fetch: Servo, observation: Observation, course: ServoMemory) -> Float[Array, ""]:
        """The pace of the course, 1 where the arm follows: while it draws in prey that lags behind, the course waits
        for it. An arm that strained for a plan far ahead flung heavy prey against the body."""
        row = jnp.clip(course.step.astype(int), 0, len(fetch.table.wait) - 1)
        arm, clock = fetch.known.arm.arm, course.step * observation.period
        lag = small.norm(_held(arm, fetch.table.shape[row]) - _held(arm, observation.q))
        draws = (clock > TIMES[4]) & (clock < TIMES[5])
        return jnp.where(draws, jnp.clip(2.0 - 2.0 * lag / self.lags, _PACE, 1.0), 1.0)

    def carrying(self, fetch: Servo, taken: Float[Array, " n"]) -> Servo:
        """The servo of an arm that counts the mass of the prey where its suckers hold it."""
        share = taken / jnp.maximum(jnp.sum(taken), 1.0)
        return eqx.tree_at(lambda servo: servo.bare, fetch, fetch.bare.with_mass(share, self.mass, 0.0))

    def beneath(self, observation: Observation, prey: Float[Array, " 3"]) -> Bool[Array, ""]:
        """Whether the prey is under the mouth."""
        own = _own(observation.pose, prey)
        return jnp.hypot(own[0], own[1]) < self.near

    def at_mouth(self, observation: Observation, prey: Float[Array, " 3"]) -> Bool[Array, ""]:
        """Whether the mouth is at the prey."""
        own = _own(observation.pose, prey)
        within = jnp.hypot(own[0], own[1]) <= self.mouth * small.norm(own)
        return within & (own[2] < 0.0) & (self.gap(observation, prey) <= _AT)

    def gap(self, observation: Observation, prey: Float[Array, " 3"]) -> Float[Array, ""]:
        """The gap between the body's skin and the prey [m]; negative where it presses."""
        return small.norm(prey - observation.pose.position) - self.touch

    def lowered(self, observation: Observation, memory: CoverMemory, clock, prey) -> CoverMemory:
        """The body sinks until its skin is at the prey, stays, and rises where it presses too much."""
        h, gap = observation.period, self.gap(observation, prey)
        # Where it touches, it stays: light prey bears less than any depth that it would be pressed to.
        excess = jnp.maximum(gap, 0.0) + jnp.minimum(gap + _PRESS, 0.0)
        speed = jnp.clip(_SINKS[0] * excess, -_SINKS[1], _SINKS[1])
        sunk = jnp.clip(memory.sunk + h * jnp.where(clock > TIMES[6], speed, -_SINKS[1]), 0.0, self.sink)
        # A small gap is closed by sinking; the arm works again when the prey has slipped farther.
        on = jnp.where((clock > TIMES[6]) & (gap <= 0.0), h, jnp.where(gap > _SLIPS, -h, 0.0))
        lain = jnp.clip(memory.lain + on, 0.0, _EASES)
        under = jnp.where(self.beneath(observation, prey), memory.under + h, 0.0)
        missed = jnp.where(self.at_mouth(observation, prey), 0.0, memory.missed + h)
        return memory._replace(sunk=sunk, lain=lain, under=under, missed=missed)

    def raised(
        self, observation: Observation, memory: CoverMemory, clock, prey: Float[Array, " 3"]
    ) -> tuple[Float[Array, "a n m"], CoverMemory]:
        """The activations with which arms hold the body at its height, each that of its own base."""
        up = minimum_jerk(jnp.clip((clock - TIMES[3]) / (TIMES[4] - TIMES[3]), 0.0, 1.0))
        pose = observation.pose
        height = pose.position[2] + small.matvec(pose.rotation, self.bases)[:, 2]
        lacks = self.rest + self.rise * up - memory.sunk - height
        on = jnp.where(clock > TIMES[3], 1.0, 0.0)
        # While it lies on the prey, errors do not sum up either: its tilt would grow until it slides off.
        lies = (memory.lain > 0.0) & (self.gap(observation, prey) <= 0.0)
        more = jnp.where(lies, 0.0, observation.period) * lacks
        missing = on * jnp.clip(memory.missing + more, *_MISSING)
        level = (on * jnp.clip(_GAINS[0] * lacks + _GAINS[1] * missing, *_LEVELS))[:, None, None]
        across = self.lift[:, _OPPOSITE[: self.lift.shape[1]]]
        activation = jnp.maximum(level, 0.0) * self.lift + jnp.maximum(-level, 0.0) * across
        return activation, memory._replace(missing=missing)


def cover(system: System, plan: BodyPlan, ball: Ball, fetch: Servo) -> Cover:
    """The motion for some prey and the servo of the arm that draws it in."""
    robot, anatomy, scale = system.robot, plan.anatomy, plan.scale
    assert robot.body is not None
    assert isinstance(robot.mounts, SE3)
    bases = robot.mounts.position
    first, middle, last = _LIFTS
    level = anatomy.grade * (anatomy.inside(first, middle) - 0.5 * anatomy.inside(middle, last))
    zero, aside = jnp.zeros_like(level), _CLEARS[0] * anatomy.grade * anatomy.inside(0.0, _CLEARS[1])
    bends = jnp.stack([jnp.maximum(level, 0.0), zero, jnp.maximum(-level, 0.0), zero], -1)
    return Cover(
        bases=bases,
        rest=robot.T_world_body.position[2] + bases[0, 2],
        rise=2.0 * ball.radius + CLEAR * scale,
        sink=(CLEAR + _FARTHER) * scale,
        touch=robot.body.radius + ball.radius,
        lift=anatomy.muscles(bends, 0.25 * jnp.abs(level)),
        clear=anatomy.muscles(jnp.stack([zero, zero, aside, zero], -1), 0.5 * aside),
        mass=ball.mass,
        near=_WITHIN * (robot.body.radius + ball.radius),
        mouth=jnp.hypot(bases[0, 0], bases[0, 1]) / small.norm(bases[0]),
        goal=scale * jnp.asarray(BENEATH),
        change=_change(fetch),
        lags=jnp.asarray(_LAGS * scale),
        farthest=_FARTHEST * scale,
    )


def _change(fetch: Servo) -> Float[Array, "n k 3"]:
    """The least change of the last shape of a course that displaces the held place along the arm, to its side, and
    up."""
    arm, home = fetch.known.arm.arm, fetch.table.shape[-1]
    up, along = jnp.array([0.0, 0.0, 1.0]), arm.T_world_base.rotation[:, 2]
    axes = jnp.stack([along, small.cross(up, along), up])
    J = jax.jacfwd(lambda q: small.matvec(axes, _held(arm, q)))(home).reshape(3, -1)
    JW = J * ease_of_change(arm).reshape(-1)
    change = small.matmul(JW.T, small.inverse_positive(small.matmul(JW, J.T)))
    return change.reshape(*home.shape, 3)


def _held(arm: Arm, q: Float[Array, "n k"]) -> Float[Array, " 3"]:
    """The position of the place that holds the prey, in a shape [m]."""
    return kinematics.segment_poses(arm, q)[max(1, round(BRINGS * arm.count))].position


def _own(pose: SE3, point: Float[Array, " 3"]) -> Float[Array, " 3"]:
    """A point of the world in the body's frame [m]."""
    return small.matvec(pose.rotation.T, point - pose.position)
