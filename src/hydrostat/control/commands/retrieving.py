"""A single arm that observes where a free object is, reaches for it, takes hold and brings it to its mouth.

What it does next follows from what it sees and touches: it approaches from above, comes down, and brings in what its
suckers hold. Where they do not take hold, or lose it, it begins anew.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from hydrostat import errors
from hydrostat.control.anatomy import Anatomy
from hydrostat.control.base import Controller, Recipe
from hydrostat.control.feedback import (
    KnownArm,
    bare_arm,
    check_volume_kept,
    correction,
    most_missing,
)
from hydrostat.control.muscle_allocation import holding_activations
from hydrostat.control.point_plans import arc_to_point, towards_point
from hydrostat.control.profiles import minimum_jerk
from hydrostat.control.timing import hold, steps_per_decision
from hydrostat.errors import InputError
from hydrostat.lie import small
from hydrostat.mechanics import kinematics
from hydrostat.sensing import Observation
from hydrostat.surroundings.objects import Ball
from hydrostat.surroundings.suckers import Suckers
from hydrostat.system import Control, System

APPROACH, DESCEND, BRING = 0, 1, 2
"""The phases of the motion."""
_TAUT = 0.9  # distance of an object over the length, at rest, of the part of the arm that reaches for it
_TAKES = (0.35, 0.85)  # of the arm: where it takes objects that are near, and far
_SPREAD = 0.12  # of the arm: how far from there its suckers may take hold
_HOVERS = 0.06  # of the arm, above the object, before it comes down
_PRESSES = 0.015  # of the arm: how deep it aims to be in the object
_CLEAR = 0.04  # of the arm, between its base and the place that holds the object, at the mouth
_NEWTON = 0.05  # of the arm: largest step of a plan's refinement
_SETTLING = 8.0  # 1/s: integral gain over the tissue's stiffness, for segments that are stiff for their mass
_MOST = 0.3  # rad s, that errors may sum up to: objects and ground are in the way of plans


class RetrieveMemory(NamedTuple):
    """The memory of an arm that retrieves an object."""

    phase: Int[Array, ""]
    """0 while it approaches, 1 while it comes down, 2 while it brings what it holds."""
    clock: Float[Array, ""]
    """Time since the phase began [s]."""
    tries: Int[Array, ""]
    """Number of approaches so far."""
    start: Float[Array, "n k"]
    """The planned shape when the phase began."""
    goal: Float[Array, "n k"]
    """The shape at its end, refined by one step of Newton's method at each decision."""
    last: Int[Array, ""]
    """Number of the segment, from 1, whose end takes or holds the object."""
    missing: Float[Array, "n k"]
    """Integral of the error of the shape [s times coordinates]."""


class RetrieveController(Controller):
    """The controller of an arm that retrieves an object."""

    known: KnownArm
    """The arm, ready to carry."""
    bare: KnownArm
    """The same with its masses alone."""
    seconds: Float[Array, " 3"]
    """Duration of the phases [s]."""
    rate: Float[Array, " 3"]
    """Bandwidth in each phase: the rate at which errors decay [1/s]."""
    stiffen: Float[Array, " n"]
    most: Float[Array, "n k"]
    elastic: Float[Array, "n k k"]
    """Forces for the integral of the error besides those of the mass [1/s times stiffness]."""
    radius: Float[Array, ""]
    """Radius of the object [m]."""
    mass: Float[Array, ""]
    """Mass of the object [kg]."""
    volume: Float[Array, ""]
    """Volume of the object [m^3]."""

    def init(self, observation: Observation) -> RetrieveMemory:
        """The memory at the start of the first approach."""
        q, last = observation.q, self._place(observation.objects[0])
        none, zero = jnp.zeros_like(q), jnp.zeros(())
        goal = arc_to_point(self.known.arm.arm, self._target(observation.objects[0], APPROACH, last, 0.0), last)
        return RetrieveMemory(jnp.asarray(APPROACH), zero, jnp.asarray(1), none, goal, last, none)

    def _place(self, seen: Float[Array, " 3"]) -> Int[Array, ""]:
        """The number of the segment that reaches for an object."""
        arm = self.known.arm.arm
        length = jnp.sum(arm.segments.length)
        share = small.norm(seen - arm.T_world_base.position) / (_TAUT * length)
        along = jnp.cumsum(arm.segments.length) / length
        return 1 + jnp.sum(along < jnp.clip(share, *_TAKES) - 1e-6)

    def _target(self, seen: Float[Array, " 3"], phase, last, side) -> Float[Array, " 3"]:
        """The point to which the end of the chosen segment is brought; an object that it holds hangs below it."""
        arm = self.known.arm.arm
        up, axis, length = jnp.array([0.0, 0.0, 1.0]), arm.T_world_base.rotation[:, 2], jnp.sum(arm.segments.length)
        skin = self.radius + arm.section.radius_tip[last - 1]
        above = skin + length * jnp.where(phase == APPROACH, _HOVERS, -_PRESSES)
        # Beside the base, on the side from which it comes.
        across = small.cross(up, axis)
        across = across / jnp.maximum(small.norm(across), 1e-6)
        away = arm.section.radius_base[0] + arm.section.radius_tip[last - 1] + _CLEAR * length
        mouth = arm.T_world_base.position + side * away * across
        return jnp.where(phase == BRING, mouth, seen + above * up)

    def _planned(self, memory: RetrieveMemory):
        """The planned shape now, its rate and its acceleration."""
        span = self.seconds[memory.phase]
        t = jnp.clip(memory.clock / span, 0.0, 1.0)
        change = memory.goal - memory.start
        rate, acceleration = 30.0 * t**2 * (1.0 - t) ** 2 / span, 60.0 * t * (1.0 - t) * (1.0 - 2.0 * t) / span**2
        return memory.start + minimum_jerk(t) * change, rate * change, acceleration * change

    def _next(self, observation: Observation, memory: RetrieveMemory) -> RetrieveMemory:
        """The phase by what is seen and touched, and its plan after one more step of refinement."""
        arm, seen, phase = self.known.arm.arm, observation.objects[0], memory.phase
        holds, over = jnp.max(observation.taken) > 0.5, memory.clock >= self.seconds[phase]
        taken = (phase != BRING) & holds
        again = ((phase == BRING) & ~holds) | ((phase == DESCEND) & over & ~holds)
        lower = (phase == APPROACH) & over & ~holds
        new = taken | again | lower
        phase = jnp.where(taken, BRING, jnp.where(again, APPROACH, jnp.where(lower, DESCEND, phase)))
        holder = 1 + jnp.argmax(observation.taken)
        last = jnp.where(taken, holder, jnp.where(again, self._place(seen), memory.last))
        across = small.cross(jnp.array([0.0, 0.0, 1.0]), arm.T_world_base.rotation[:, 2])
        # A load that weighs more than the arm multiplies what errors there are: the plan begins where the arm is.
        start = jnp.where(taken, observation.q, jnp.where(new, self._planned(memory)[0], memory.start))
        # From which side it comes is decided when it takes hold, by the shape that it then has.
        reached = kinematics.segment_poses(arm, start)[last].position - arm.T_world_base.position
        side = jnp.where(small.dot(reached, across) >= 0.0, 1.0, -1.0)
        target = self._target(seen, phase, last, side)
        goal = jnp.where(taken | again, arc_to_point(arm, target, last), memory.goal)
        goal = towards_point(arm, goal, target, last, _NEWTON * jnp.sum(arm.segments.length))
        return memory._replace(
            phase=phase,
            clock=jnp.where(new, 0.0, memory.clock + observation.period),
            tries=memory.tries + jnp.where(again, 1, 0),
            start=start,
            goal=goal,
            last=last,
        )

    def __call__(self, time, observation: Observation, memory: RetrieveMemory):
        """The activations that hold the plan and draw the arm to it, and suckers about the chosen place."""
        del time
        memory = self._next(observation, memory)
        shape, rate, acceleration = self._planned(memory)
        n = len(shape)
        carried = jnp.where((jnp.arange(n) == memory.last - 1) & (memory.phase == BRING), 1.0, 0.0)
        known, bare = (arm.with_mass(carried, self.mass, self.volume) for arm in (self.known, self.bare))
        behind = shape - observation.q
        missing = jnp.clip(memory.missing + observation.period * behind, -self.most, self.most)
        force = known.needed(shape, rate, acceleration) + correction(
            bare, self.rate[memory.phase], observation.q, behind, rate - observation.v, jnp.zeros_like(missing)
        )
        force = force + small.matvec(self.elastic, missing)
        near = jnp.abs(jnp.arange(n) + 1 - memory.last) <= _SPREAD * n
        take = jnp.where(memory.phase == BRING, observation.taken, jnp.where(near, 1.0, 0.0))
        activation = holding_activations(known.arm, shape, force, self.stiffen)
        return Control(activation=activation, take=take), memory._replace(missing=missing)


class Retrieve(Recipe):
    """A single arm with suckers reaches for the free object that it sees, takes hold and brings it to its mouth.

    The mouth is at the base of the arm. When the suckers do not take hold or lose the object, the arm tries again. The
    controller knows the object's size, mass and volume.
    """

    seconds: tuple[float, float, float]
    """Duration of approach, descent and bringing [s]."""
    rate: float
    loaded_rate: float
    stiffen: float
    period: float
    known: KnownArm | None

    def __init__(
        self,
        seconds: float = 4.0,
        *,
        approach: float = 1.2,
        descend: float = 0.8,
        rate: float = 10.0,
        loaded_rate: float = 4.0,
        stiffen: float = 0.1,
        period: float = 4e-3,
        known: KnownArm | None = None,
    ):
        """**Arguments:** `seconds`: how long it takes to bring the object in; `approach`, `descend`: how long it takes
        to come above it, and down to it [s]; `rate`, `loaded_rate`: how fast errors fade without and with the object
        [1/s], which swings on a soft arm and is torn off in haste; `stiffen`: co-contraction of all muscles, of which
        errors of their gains make bends; `period`: from one decision to the next [s]; `known`: the arm as the
        controller knows it, the system's own in still water when not given.
        """
        spans = {"approach": approach, "descend": descend, "seconds": seconds}
        self.seconds = tuple(errors.number(name, value, above=0.0) for name, value in spans.items())  # type: ignore
        self.rate = errors.number("rate", rate, above=0.0)
        self.loaded_rate = errors.number("loaded_rate", loaded_rate, above=0.0)
        self.stiffen = errors.number("stiffen", stiffen, least=0.0, most=0.5)
        self.period = errors.number("period", period, above=0.0)
        self.known = known

    def attach(self, system: System, dt: float) -> Controller:
        """The controller that retrieves the first of the system's free objects."""
        if not system.robot.single:
            raise InputError(f"`Retrieve` is for a single arm; {system.robot.name} has {system.robot.count}")
        Anatomy.of(system.robot)  # refuses arms without muscles
        ball = system.part(Ball)
        if ball is None or system.part(Suckers) is None:
            raise InputError("to retrieve, a system needs `Suckers()` and a `Ball(...)` among its surroundings")
        known = (KnownArm.of(system) if self.known is None else self.known).ready_to_carry()
        check_volume_kept(known.arm.arm)
        tissue = known.arm.tissue
        assert tissue is not None
        every = steps_per_decision(self.period, dt)
        return hold(
            RetrieveController(
                known=known,
                bare=bare_arm(known).ready_to_carry(),
                seconds=jnp.asarray(self.seconds),
                rate=jnp.array([self.rate, self.rate, self.loaded_rate]),
                stiffen=jnp.full(known.arm.arm.count, self.stiffen),
                most=most_missing(known.arm.arm, _MOST),
                elastic=_SETTLING * tissue.stiffness(known.arm.arm, known.arm.arm.straight()),
                radius=ball.radius,
                mass=ball.mass,
                volume=ball.volume,
            ),
            every,
        )
