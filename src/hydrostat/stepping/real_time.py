"""One step at a time, as a control loop calls it: a command in, the state out, and little time between."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from numpy.typing import ArrayLike

from hydrostat import errors
from hydrostat.compiling import as_one_function, compiled
from hydrostat.errors import DivergedError
from hydrostat.mechanics.model import AnyModel, Branched, Inputs, Model, check_inputs, no_inputs
from hydrostat.stepping.base import AbstractStepper, State, Stepped, finite, rest_state
from hydrostat.stepping.momentum import KeepMomentum
from hydrostat.stepping.sdirk2 import SDIRK2
from hydrostat.surroundings.water import Water

_DRIVES = ("wires", "activation", "torque")


class RealTime:
    """A robot that is stepped by its caller, at the pace of a control loop.

        robot = RealTime(model, dt=1e-3)
        while True:
            state = robot.step(controller(state))

    Everything is compiled when it is made, so that the first step is as quick as the others. State and command are one
    vector each on the way in and out, since a call of a compiled function pays for every array by itself. Limbs on a
    body that stays where it is do not feel each other, unless they touch: they are stepped apart, those that are alike
    as a batch.
    """

    def __init__(
        self,
        model: AnyModel,
        dt: float,
        stepper: AbstractStepper | None = None,
        *,
        state: State | None = None,
        inputs: Inputs | None = None,
        drives: str = "wires",
    ):
        """**Arguments:** `dt`: the step [s]; `stepper`: as that of `Simulation`; `state`: where it starts, at rest and
        unstressed when not given; `inputs`: what acts besides the commands; `drives`: what a command is: the `wires`'
        tensions or lengths, the muscles' `activation`, or the `torque` on the coordinates.
        """
        errors.choice("drives", drives, _DRIVES)
        self.dt = errors.number("dt", dt, above=0.0, most=1e3)
        given = no_inputs(model) if inputs is None else inputs
        check_inputs(given)
        if stepper is None:
            stepper = KeepMomentum(SDIRK2()) if model.free_base else SDIRK2()
        self._first = rest_state(model) if state is None else state
        start, to_state = ravel_pytree(self._first)
        leaves, self._structure = jax.tree.flatten(self._first)
        self._shapes = [np.shape(leaf) for leaf in leaves]
        self._ends = np.cumsum([0, *(np.size(leaf) for leaf in leaves)])
        command, to_command = ravel_pytree(getattr(given, drives))
        self.commands = command.size
        """How many numbers a command has."""

        def step(argument):
            flat, command, time = argument
            acting = given._replace(**{drives: to_command(command)})
            new = _step(stepper, model, to_state(flat), time, self.dt, acting)
            good = new.converged & finite(new.state)
            return jnp.concatenate([ravel_pytree(new.state)[0], jnp.stack([good, new.iterations]).astype(float)])

        shapes = (start, command, jnp.zeros(()))
        try:
            self._step = compiled(lambda *argument: as_one_function(step, argument), *shapes)
        except jax.errors.JaxRuntimeError as error:
            if "UNIMPLEMENTED" not in str(error):
                raise
            # Some operation cannot be part of a single function.
            self._step = compiled(lambda *argument: step(argument), *shapes)
        self.reset()

    def reset(self, state: State | None = None) -> State:
        """Start anew, from a state or from where it began."""
        flat = np.asarray(ravel_pytree(self._first if state is None else state)[0])
        if flat.size != self._ends[-1]:
            raise ValueError(f"`state` must have {self._ends[-1]} numbers, as the robot's own; got {flat.size}")
        self._flat, self.steps, self.iterations = flat, 0, 0
        return self.state

    @property
    def time(self) -> float:
        """Since the start [s]."""
        return self.steps * self.dt

    @property
    def state(self) -> State:
        """The present state, NumPy arrays that are not written to again."""
        return jax.tree.unflatten(self._structure, self._pieces())

    def step(self, command: ArrayLike) -> State:
        """The state after a step during which the command is held.

        **Arguments:** `command`: one number for each wire, or what else drives, those of the first limb first.
        """
        vector = np.asarray(command, float)
        if vector.shape != (self.commands,):
            raise ValueError(f"`command` must be {self.commands} numbers; got an array of shape {vector.shape}")
        out = np.asarray(self._step(self._flat, vector, self.time))
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


def _step(stepper: AbstractStepper, model: AnyModel, state: State, time, dt: float, given: Inputs) -> Stepped:
    """A step of the robot, limb by limb where limbs do not feel each other."""
    if not isinstance(model, Branched) or not _apart(model, given):
        return stepper.step(model, state, time, dt, lambda time, state: given)
    limbs = [_alone(model, given, i) for i in range(len(model.arms))]
    q: list = [None] * len(limbs)
    v: list = [None] * len(limbs)
    converged, iterations = jnp.asarray(True), jnp.asarray(0)
    for alike in _groups(limbs):
        states = [
            State(state.q[i], state.v[i], limbs[i][0].T_world_body, jnp.zeros(6))  # type: ignore[index]
            for i in alike
        ]
        models, inputs, states = (
            _stack(x) for x in ([limbs[i][0] for i in alike], [limbs[i][1] for i in alike], states)
        )
        new = _batch(stepper, models, states, time, dt, inputs)
        for place, i in enumerate(alike):
            q[i], v[i] = new.state.q[place], new.state.v[place]
        converged = converged & jnp.all(new.converged)
        iterations = jnp.maximum(iterations, jnp.max(new.iterations))
    return Stepped(State(tuple(q), tuple(v), state.base_pose, state.base_twist), converged, iterations)


def _apart(model: Branched, given: Inputs) -> bool:
    """Whether limbs do not feel each other: the body stays where it is, and there is nothing but water around."""
    return not model.free_base and (given.surroundings is None or isinstance(given.surroundings, Water))


def _alone(model: Branched, given: Inputs, index: int) -> tuple[Model, Inputs]:
    """One limb and what acts on it, its base where the body holds it."""
    arm = model.arms[index]
    base = given.base_pose @ model.mounts[index]
    own = eqx.tree_at(lambda m: (m.arm.T_world_base, m.gravity), arm, (base, model.gravity))
    still = jnp.zeros(6)
    fields = {name: getattr(given, name)[index] for name in ("force", "follower", "torque", "wires", "activation")}
    own = eqx.tree_at(lambda m: m.surroundings, own, given.surroundings, is_leaf=lambda x: x is None)
    return own, Inputs(
        **fields, base_pose=base, base_twist=still, base_acceleration=still, surroundings=given.surroundings
    )


def _groups(limbs: Sequence[tuple[Model, Inputs]]) -> list[list[int]]:
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


def _batch(stepper: AbstractStepper, models, states, time, dt: float, inputs) -> Stepped:
    """A step of limbs that are alike."""

    def one(model, state, inputs):
        return stepper.step(model, state, time, dt, lambda time, state: inputs)

    return eqx.filter_vmap(one)(models, states, inputs)
