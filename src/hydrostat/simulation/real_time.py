"""Single steps for a control loop: a command in, the state out, with little delay."""

from collections.abc import Callable, Sequence
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from numpy.typing import ArrayLike

from hydrostat import errors
from hydrostat.compiling import as_one_function, compiled, quick_jit
from hydrostat.errors import DivergedError
from hydrostat.mechanics.robot import Inputs, Robot, no_inputs
from hydrostat.mechanics.state import RobotState
from hydrostat.simulation.backend import native_call
from hydrostat.stepping.base import AbstractStepper, Stepped, finite
from hydrostat.stepping.step import Advanced, advance, default_stepper, first_memory
from hydrostat.surroundings.water import Water
from hydrostat.system import Control, State, System

_DRIVES = ("tension", "length", "activation", "torque")


class RealTime:
    """A system that is stepped by its caller, at the pace of a control loop.

        robot = RealTime(system, dt=1e-3)
        while True:
            state = robot.step(controller(state))

    Everything is compiled when it is made, so that the first step is as quick as the others. State and command are one
    vector each on the way in and out, since a call of a compiled function pays for every array by itself. Limbs on a
    body that stays where it is do not interact, unless they touch: they are stepped apart, those that are alike
    as a batch.
    """

    def __init__(
        self,
        system: System,
        dt: float,
        stepper: AbstractStepper | None = None,
        *,
        state: State | None = None,
        control: Control | None = None,
        drives: str | None = None,
        backend: str = "auto",
    ):
        """**Arguments:** `dt`: the step [s]; `stepper`: as `default_stepper` says when not given; `state`: where it
        starts, at rest when not given; `control`: what is set besides the commands; `drives`: what a command is, one of
        tension, length, activation and torque: what the robot has when not given; `backend`: "native" for machine code
        of our own, "xla" for XLA's, "auto" for the first where it can.
        """
        drives = _drive_of(system) if drives is None else errors.choice("drives", drives, _DRIVES)
        self.dt = errors.number("dt", dt, above=0.0, most=1e3)
        self.system = system
        base = system.check(Control() if control is None else control)
        none = no_inputs(system.robot)
        like = {"tension": none.wires, "length": none.wires, "activation": none.activation, "torque": none.torque}
        system.check(eqx.tree_at(lambda c: getattr(c, drives), base, like[drives], is_leaf=lambda x: x is None))
        stepper = default_stepper(system) if stepper is None else stepper
        self._first = system.rest() if state is None else state
        self._memory = quick_jit(partial(_first_memory, stepper))
        start, to_state = ravel_pytree((self._first, self._memory(system, self._first)))
        leaves, self._structure = jax.tree.flatten(self._first)
        self._shapes = [np.shape(leaf) for leaf in leaves]
        self._ends = np.cumsum([0, *(np.size(leaf) for leaf in leaves)])
        command, to_command = ravel_pytree(like[drives])
        self.commands = command.size
        """The number of values in a command."""

        def step(plant, argument):
            (system, base, stepper, dt), (flat, command) = plant, argument
            set_to = eqx.tree_at(lambda c: getattr(c, drives), base, to_command(command), is_leaf=lambda x: x is None)
            state, memory = to_state(flat)
            new = _step(stepper, system, state, memory, set_to, dt)
            flat = ravel_pytree((new.state, new.memory))[0]
            return jnp.concatenate([flat, jnp.stack([new.converged, new.iterations]).astype(float)])

        self._plant = (system, base, stepper, jnp.asarray(self.dt))
        found = native_call(backend, step, self._plant, (start, command), ("real time", drives, self._first), system)
        self._step = _ByXla(step, self._plant, (start, command)) if found is None else found
        self.reset()

    def alter(self, system: System) -> None:
        """Go on with other numbers of the same system, such as its stiffness or the place of an obstacle, without
        compiling anew; the state stays as it is.

        **Arguments:** `system`: of the same parts and shapes as the one before.
        """
        plant = (system, *self._plant[1:])
        before, after = (eqx.partition(one, eqx.is_array) for one in (self._plant, plant))
        kinds = [[(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(one[0])] for one in (before, after)]
        if not eqx.tree_equal(before[1], after[1]) or kinds[0] != kinds[1]:
            raise errors.InputError("`system` must have the same parts and shapes as the one that is stepped")
        self._step.alter(jax.tree.leaves(after[0]))
        self.system, self._plant = system, plant
        self._flat = self._begin(self.state)

    def _begin(self, state: State) -> np.ndarray:
        """A state and the memory of the stepper before the first step from it, as one vector."""
        return np.asarray(ravel_pytree((state, self._memory(self.system, state)))[0])

    def reset(self, state: State | None = None) -> State:
        """Start anew, from a state or from the first one."""
        state = self._first if state is None else state
        size = ravel_pytree(state)[0].size
        if size != self._ends[-1]:
            raise errors.InputError(f"`state` must have {self._ends[-1]} numbers, as the system's own; got {size}")
        self._flat, self.steps, self.iterations = self._begin(state), 0, 0
        return self.state

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self.steps * self.dt

    @property
    def state(self) -> State:
        """The present state, NumPy arrays that are not written to again."""
        return jax.tree.unflatten(self._structure, self._pieces())

    def step(self, command: ArrayLike) -> State:
        """The state after a step during which the command is held.

        **Arguments:** `command`: one number for each tendon, or what else drives, those of the first limb first.
        """
        vector = np.asarray(command, float)
        if vector.shape != (self.commands,):
            raise errors.InputError(f"`command` must be {self.commands} numbers; got an array of shape {vector.shape}")
        out = np.asarray(self._step(self._flat, vector))
        if not out[-2]:
            raise DivergedError(
                f"the step after {self.time:.6g} s at dt = {self.dt:g} s could not be made; "
                f"the state before it is kept: try a shorter step, or a gentler command"
            )
        self._flat, self.iterations = out[:-2], int(out[-1])
        self.steps += 1
        return self.state

    def _pieces(self) -> list[np.ndarray]:
        """The arrays of the state, views of one vector."""
        ends = self._ends
        return [
            self._flat[first:last].reshape(shape)
            for first, last, shape in zip(ends[:-1], ends[1:], self._shapes, strict=True)
        ]


class _ByXla:
    """The step compiled by XLA, as one machine function where that is possible."""

    def __init__(self, step, plant, arguments):
        self._step, self._arguments = step, arguments
        self._dynamic, self._static = eqx.partition(plant, eqx.is_array)
        self._general: Callable | None = None
        try:
            self._call = compiled(lambda *own: as_one_function(lambda both: step(plant, both), own), *arguments)
        except jax.errors.JaxRuntimeError as error:
            if "UNIMPLEMENTED" not in str(error):
                raise
            # Some operation cannot be part of a single function.
            self._call = compiled(lambda *own: step(plant, own), *arguments)

    def __call__(self, *arguments):
        return self._call(*arguments)

    def alter(self, leaves: list) -> None:
        """Go on with other parameters: from the first time on they are arguments of the compiled function."""
        dynamic = jax.tree.unflatten(jax.tree.structure(self._dynamic), leaves)
        if self._general is None:
            self._general = compiled(
                lambda dynamic, *own: self._step(eqx.combine(dynamic, self._static), own), dynamic, *self._arguments
            )
        self._call = partial(self._general, dynamic)


def _drive_of(system: System) -> str:
    """The kind of command that drives the robot."""
    if any(arm.wires is not None for arm in system.robot.each):
        return "length" if system.by_length else "tension"
    return "activation" if any(arm.muscles is not None for arm in system.robot.each) else "torque"


def _step(stepper: AbstractStepper, system: System, state: State, memory, control: Control, dt: float) -> Advanced:
    """A step, limb by limb where limbs do not interact."""
    if not _apart(system):
        return advance(system, state, system.place(state), control, dt, stepper, memory)
    # Nothing of the surroundings evolves: there is water at most.
    inputs = system.inputs(control, state, state.activation, 1.0, system.part(Water))
    new = _limb_by_limb(stepper, system.robot, state.robot, memory, state.time, dt, inputs)
    moved = state._replace(time=state.time + dt).moved(new.state)
    return Advanced(moved, None, new.converged & finite(new.state), new.iterations, new.memory)


def _first_memory(stepper: AbstractStepper, system: System, state: State):
    """The memory of the stepper before the first step, for each group of limbs where limbs do not interact."""
    if not _apart(system):
        return first_memory(system, state, stepper)
    inputs = system.inputs(Control(), state, state.activation, 0.0, system.part(Water))
    groups = _groups_of_limbs(system.robot, state.robot, inputs)
    return tuple(eqx.filter_vmap(stepper.init)(*alike) for _, alike in groups)


def _apart(system: System) -> bool:
    """Whether limbs do not interact: unequal ones on a body that stays where it is, in nothing but water."""
    robot = system.robot
    plain = all(isinstance(part, Water) for part in system.surroundings)
    return (
        isinstance(robot.arms, tuple) and not robot.free_base and plain and all(a.muscles is None for a in robot.each)
    )


def _limb_by_limb(
    stepper: AbstractStepper, robot: Robot, state: RobotState, memories: tuple, time, dt: float, inputs: Inputs
) -> Stepped:
    """A step of every limb, those that are alike as a batch."""
    q: list = [None] * robot.count
    v: list = [None] * robot.count
    converged, iterations, after = jnp.asarray(True), jnp.asarray(0), []
    for (indices, alike), memory in zip(_groups_of_limbs(robot, state, inputs), memories, strict=True):
        robots, states, own_inputs = alike
        new = _batch(stepper, robots, states, own_inputs, memory, time, dt)
        for place, i in enumerate(indices):
            q[i], v[i] = new.state.q[place], new.state.v[place]
        converged = converged & jnp.all(new.converged)
        iterations = jnp.maximum(iterations, jnp.max(new.iterations))
        after.append(new.memory)
    moved = RobotState(tuple(q), tuple(v), state.base_pose, state.base_twist)
    return Stepped(moved, converged, iterations, tuple(after))


def _groups_of_limbs(robot: Robot, state: RobotState, inputs: Inputs) -> list[tuple[list[int], tuple]]:
    """The limbs that are alike: their indices, and robots, states and inputs of each group with a leading axis."""
    limbs = [_alone(robot, inputs, i) for i in range(robot.count)]
    found = []
    for alike in _groups(limbs):
        states = [RobotState(state.q[i], state.v[i], limbs[i][0].T_world_body, jnp.zeros(6)) for i in alike]
        each = [limbs[i][0] for i in alike], states, [limbs[i][1] for i in alike]
        found.append((alike, tuple(_stack(some) for some in each)))
    return found


def _alone(robot: Robot, inputs: Inputs, index: int) -> tuple[Robot, Inputs]:
    """One limb with its own inputs, its base where the body holds it."""
    base = inputs.base_pose @ robot.mounts[index]  # type: ignore[index]
    arm = eqx.tree_at(lambda a: a.arm.T_world_base, robot.each[index], base)
    still = jnp.zeros(6)
    fields = {name: getattr(inputs, name)[index] for name in ("force", "follower", "torque", "wires", "activation")}
    inputs = Inputs(
        **fields, base_pose=base, base_twist=still, base_acceleration=still, surroundings=inputs.surroundings
    )
    return Robot(arm, None, base, robot.gravity), inputs


def _groups(limbs: Sequence[tuple[Robot, Inputs]]) -> list[list[int]]:
    """The indices of limbs that are alike in structure and shapes."""
    groups: dict = {}
    for i, limb in enumerate(limbs):
        arrays, static = eqx.partition(limb, eqx.is_array)
        kind = (jax.tree.structure(limb), tuple(x.shape for x in jax.tree.leaves(arrays)), str(jax.tree.leaves(static)))
        groups.setdefault(kind, []).append(i)
    return list(groups.values())


def _stack(trees):
    """Trees of arrays as one, with a leading axis; what is no array is that of the first."""
    return jax.tree.map(lambda *x: jnp.stack(x) if eqx.is_array(x[0]) else x[0], *trees)


def _batch(stepper: AbstractStepper, robots, states, inputs, memory, time, dt: float) -> Stepped:
    """A step of limbs that are alike."""

    def one(robot, state, inputs, memory):
        return stepper.step(robot, state, time, dt, lambda time, state: inputs, memory=memory)

    return eqx.filter_vmap(one)(robots, states, inputs, memory)
