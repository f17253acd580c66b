"""What drives a muscular arm: a brain that wants activations, muscles that answer with a lag, suckers, and the world.

A brain either plays what commands say, or feels the arm (the segments' bends and lengths, the suckers' touch) and
answers to it. Muscles may each have their own gain: the noise of a real arm.
"""

import abc
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from hydrostat.compiling import once
from hydrostat.control.commands import AbstractCommand, Anatomy
from hydrostat.lie import SE3
from hydrostat.mechanics.dynamics import base_of
from hydrostat.mechanics.model import Crown, Inputs, Model, no_inputs
from hydrostat.mechanics.motion import body_node
from hydrostat.mechanics.nodes import Nodes
from hydrostat.segments import SWELL
from hydrostat.stepping import AbstractController, State
from hydrostat.stepping.base import nodes_of, positions, velocities
from hydrostat.surroundings.sea import Sea, SeaState
from hydrostat.surroundings.world import World, WorldState, nodes_ahead


class Felt(NamedTuple):
    """What a brain knows of its arm, or of all its arms: then with the arm as leading axis."""

    q: Float[Array, "*arms n k"]
    """Bends and lengths of the segments; a swell is not felt."""
    v: Float[Array, "*arms n k"]
    """Their rates."""
    held: Float[Array, "*arms n"]
    """1 for segments whose suckers hold something."""
    pose: SE3 | None = None
    """Of the body that carries the arms."""
    twist: Float[Array, " 6"] | None = None
    """Of the body, in its own axes."""
    taken: Float[Array, "*arms n"] | None = None
    """1 for segments whose suckers hold prey; None where there is none."""
    prey: Float[Array, " 3"] | None = None
    """Where it is seen [m]."""


class Wanted(NamedTuple):
    """What a brain tells its arm, or all its arms."""

    activation: Float[Array, "*arms n m"]
    grip: Float[Array, "*arms n"]
    """1 for segments whose suckers shall hold."""
    jet: Float[Array, ""] | None = None
    """How hard the mantle shall press its water out, 0 to 1; None where it has no jet."""
    take: Float[Array, "*arms n"] | None = None
    """1 for segments whose suckers shall hold prey; None where there is none."""


class AbstractBrain(eqx.Module):
    """What decides on activations, step by step."""

    @abc.abstractmethod
    def begin(self, felt: Felt) -> PyTree[Array]:
        """What it remembers at the start."""

    @abc.abstractmethod
    def decide(self, time, dt, felt: Felt, memory) -> tuple[Wanted, PyTree[Array]]:
        """What it wants during the step of dt [s] that begins now, and what it remembers."""


class Played(AbstractBrain):
    """Activations and grips step by step: what a command that needs no feedback comes down to.

    Whatever the command, it is the same function that steps the arm, compiled once.
    """

    activation: Float[Array, "steps n m"]
    """During each step; the last one goes on."""
    grip: Float[Array, "steps n"]

    def begin(self, felt: Felt):
        """Nothing is remembered."""
        del felt
        return ()

    def decide(self, time, dt, felt: Felt, memory):
        """The row of the table."""
        del felt
        row = jnp.clip(jnp.round(time / dt).astype(int), 0, len(self.activation) - 1)
        return Wanted(self.activation[row], self.grip[row]), memory


@eqx.filter_jit
def played(command: AbstractCommand, anatomy: Anatomy, begins: Float[Array, " steps"], dt) -> Played:
    """What a command wants in steps of dt [s] that begin at given times [s]: its value in their middle."""
    middles = begins + 0.5 * dt
    return Played(
        jax.vmap(lambda time: command(time, anatomy))(middles),
        jax.vmap(lambda time: command.grip(time, anatomy))(middles),
    )


class PacedMemory(NamedTuple):
    """What a brain remembers that decides now and then."""

    brain: Any
    wanted: Wanted
    """The last decision."""
    left: Float[Array, ""]
    """Steps that it still holds for."""


class Paced(AbstractBrain):
    """A brain that decides once in so many steps, and stays with its decision between.

    Its decisions then are the same however finely the motion is stepped.
    """

    brain: AbstractBrain
    every: Float[Array, ""]
    """Steps from one decision to the next."""

    def begin(self, felt: Felt) -> PacedMemory:
        """The first decision is due."""
        inner = self.brain.begin(felt)
        shapes = jax.eval_shape(lambda: self.brain.decide(0.0, 1.0, felt, inner)[0])
        return PacedMemory(inner, jax.tree.map(lambda y: jnp.zeros(y.shape, y.dtype), shapes), jnp.zeros(()))

    def decide(self, time, dt, felt: Felt, memory: PacedMemory):
        """A new decision, for all of its steps, or the last one."""

        def anew():
            wanted, brain = self.brain.decide(time, self.every * dt, felt, memory.brain)
            return wanted, PacedMemory(brain, wanted, self.every - 1.0)

        def as_before():
            return memory.wanted, memory._replace(left=memory.left - 1.0)

        return jax.lax.cond(memory.left < 0.5, anew, as_before)


def steps_per_decision(period: float, dt: float) -> int:
    """How many steps of dt [s] make up a brain's period [s], to the nearest; at least one."""
    return max(1, round(period / dt))


def paced(brain: AbstractBrain, every: int) -> AbstractBrain:
    """A brain that decides once in so many steps; itself, where it is every step."""
    return brain if every == 1 else Paced(brain, jnp.asarray(every, float))


class Memory(NamedTuple):
    """What goes on from step to step besides the arm's own motion."""

    activation: Float[Array, "*arms n m"]
    """Of the muscles, at the step's end."""
    brain: Any
    world: WorldState | SeaState | None
    """As it was when the step began, and how it answers during the step."""


class Ramp(eqx.Module):
    """Activations that go straight from one level to another.

    Not a stair: what is stiff enough to follow at once, as a volume does, would leap at every step.
    """

    inputs: Inputs
    """All else that acts on the arm."""
    before: Float[Array, "*arms n m"]
    after: Float[Array, "*arms n m"]
    begin: Float[Array, ""]
    """[s]"""
    duration: Float[Array, ""]
    """[s]"""

    def __call__(self, time, state) -> Inputs:
        """The activations at a time."""
        del state
        elapsed = time - self.begin
        activation = self.before + elapsed / self.duration * (self.after - self.before)
        around = self.inputs.surroundings
        return self.inputs._replace(
            activation=activation, surroundings=None if around is None else around.after(elapsed)
        )


class Nerves(AbstractController):
    """A brain, muscles that lag behind it, and suckers in a world."""

    model: Model | Crown
    brain: AbstractBrain
    lag: Float[Array, ""]
    """Of activation behind what is wanted [s]."""
    gains: Float[Array, "*arms n m"]
    """Of every muscle: 1 for a perfect arm."""
    world: World | Sea | None = None
    """None for an arm that meets nothing but what its model says."""
    start: WorldState | SeaState | None = None
    """Of the world."""

    def begin(self, state: State) -> Memory:
        """Relaxed."""
        world = self.start if self.world is not None else None
        return Memory(jnp.zeros_like(self.gains), self.brain.begin(self._felt(state, world)), world)

    def act(self, time, dt, state: State, memory: Memory) -> tuple[Ramp, Memory]:
        """Activations go straight to where they are at the step's end, and the world is where it is then.

        The lag is exact for a command that is held during the step.
        """
        wanted, brain = self.brain.decide(time, dt, self._felt(state, memory.world), memory.brain)
        aim = jnp.clip(self.gains * wanted.activation, 0.0, 1.0)
        kept = jnp.where(self.lag > 0.0, jnp.exp(-dt / jnp.maximum(self.lag, 1e-9)), 0.0)
        activation = aim + (memory.activation - aim) * kept
        world = memory.world
        nodes = None if self.world is None else once(self._nodes(state))
        if self.world is not None and world is not None and nodes is not None:
            grip = self._of_nodes(wanted.grip)
            if isinstance(self.world, Sea):
                assert isinstance(world, SeaState)
                take = None if wanted.take is None else self._of_nodes(wanted.take)
                world = self.world.advance(world, nodes, self._body(state), grip, dt, jet=wanted.jet, take=take)
            else:
                assert isinstance(world, WorldState)
                world = self.world.advance(world, nodes, grip, dt)
        after = Memory(activation, brain, world)
        return self.during(time, dt, state, memory.activation, after, nodes), after

    def during(
        self, time, dt, state: State, before: Float[Array, "*arms n m"], after: Memory, nodes: Nodes | None = None
    ) -> Ramp:
        """What acts on the arm during a step of dt [s] that begins in a state.

        **Arguments:** `before`: the activations at its begin; `after`: what is remembered after it; `nodes`: those of
        the state, where they are known.
        """
        given = no_inputs(self.model)
        if self.world is not None and after.world is not None:
            ahead = nodes_ahead(self._nodes(state) if nodes is None else nodes, dt)
            around = self.world.around(after.world, ahead, dt, self._body(state))  # type: ignore[arg-type]
            given = given._replace(surroundings=around)
        return Ramp(given, before, after.activation, jnp.asarray(time), jnp.asarray(dt))

    @property
    def _arm(self) -> Model:
        """The arm, or one of equal ones."""
        return self.model.arm if isinstance(self.model, Crown) else self.model

    def _inputs(self, state: State) -> Inputs:
        """Nothing acts, and the body is where it is."""
        given = no_inputs(self.model)
        return given._replace(base_pose=state.base_pose) if self.model.free_base else given

    def _nodes(self, state: State) -> Nodes:
        """The nodes of the arm, or of all arms, that meet the world."""
        return nodes_of(self.model, positions(state), velocities(state), self._inputs(state))

    def _body(self, state: State) -> Nodes:
        """The body's origin."""
        return body_node(base_of(self.model, positions(state), velocities(state), self._inputs(state)))

    def _of_nodes(self, segments: Float[Array, "*arms n"]) -> Float[Array, " nodes"]:
        """What is said of segments, said of all their nodes."""
        return jnp.repeat(segments.reshape(-1), len(self._arm.skin_at))

    def _felt(self, state: State, world: WorldState | SeaState | None) -> Felt:
        shape = state.q.shape[:-1]

        def of_segments(held):
            return jnp.max(held.reshape(*shape, -1), -1)

        held = jnp.zeros(shape) if world is None else of_segments(world.held)
        taken = prey = None
        if isinstance(world, SeaState) and world.prey is not None:
            taken, prey = of_segments(world.prey.held[:-1]), world.prey.ball.position
        # A swell is the last mode.
        k = len([mode for mode in self._arm.arm.segments.modes if mode != SWELL])
        return Felt(state.q[..., :k], state.v[..., :k], held, state.base_pose, state.base_twist, taken, prey)
