"""A simulation without end, of which system, controller and state may change between steps."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat import errors
from hydrostat.compiling import quick_jit
from hydrostat.control.base import Controller
from hydrostat.errors import DivergedError
from hydrostat.sensing import Sensors
from hydrostat.simulation.loop import Carry
from hydrostat.simulation.simulate import Run, _first
from hydrostat.stepping.base import AbstractStepper
from hydrostat.stepping.step import first_memory
from hydrostat.system import Control, State, System


class Ongoing:
    """A system that its controller drives for as long as it is advanced, such as in a page that a user watches.

        running = Ongoing(system, Walk([[0, 0], [1, 0]]), dt=5e-3)
        while True:
            state = running.advance(steps=4)

    Numbers of the system and of the controller may be changed on the way, which compiles nothing. A system or a
    controller of another structure, such as one with fewer arms, is compiled anew.
    """

    def __init__(
        self,
        system: System,
        controller: Controller | Control | None = None,
        dt: float = 1e-3,
        *,
        state: State | None = None,
        stepper: AbstractStepper | None = None,
        sensors: Sensors | None = None,
        backend: str = "auto",
    ):
        """**Arguments:** as those of `simulate`."""
        self._run = Run(system, controller, dt, stepper=stepper, sensors=sensors, backend=backend)
        self._start = self._host(system.rest() if state is None else state)
        self.reset()

    @property
    def dt(self) -> float:
        """The step [s]."""
        return self._run.dt

    @property
    def system(self) -> System:
        """The system as it is now."""
        return self._run.loop.system

    @property
    def controller(self) -> Controller:
        """The controller as it is now, attached to the system."""
        return self._run.loop.controller

    @property
    def state(self) -> State:
        """The present state, of NumPy arrays."""
        return self._carry.state

    @property
    def control(self) -> Control:
        """The control of the last step."""
        return self._carry.control

    @property
    def memory(self) -> Any:
        """The memory of the controller."""
        return self._carry.memory

    @property
    def time(self) -> float:
        """The time [s]."""
        return float(self._carry.state.time)

    def advance(self, steps: int = 1) -> State:
        """The state after some steps; `DivergedError` where one cannot be made, and the state before them is kept."""
        steps = errors.whole("steps", steps, least=1, most=10**6)
        after, rows = self._run._piece(self._carry, 1, every=steps)
        if not bool(np.asarray(rows.good)[0]):
            raise DivergedError(
                f"a step after {self.time:.6g} s at dt = {self.dt:g} s could not be made; the state before is kept"
            )
        self._carry = self._host(after)
        return self.state

    def reset(self) -> State:
        """Start again from the first state, with a fresh memory of the controller."""
        self._carry = self._begun(self._start, None)
        return self.state

    def change(
        self,
        *,
        system: System | None = None,
        controller: Controller | None = None,
        state: State | None = None,
        memory: Any = None,
    ) -> None:
        """Go on with another system, controller, state or memory, each as it is where it is not given.

        **Arguments:** `controller`: attached to the system; with one of another structure, or with a system of another
        structure, the controller begins with a fresh memory unless one is given.
        """
        loop, before = self._run.loop, self._carry
        new = loop._replace(
            system=loop.system if system is None else system,
            controller=loop.controller if controller is None else controller,
        )
        same = _alike((new.system, new.controller), (loop.system, loop.controller))
        self._run.loop, self._run._native = new, None
        if same and state is None:
            if system is not None:
                # The momentum that a step remembers is that of the system before.
                stepping = _memory_of_stepper(new.system, before.state, new.stepper)
                before = before._replace(stepping=self._host(stepping))
            self._carry = before if memory is None else before._replace(memory=self._host(memory))
            return
        kept = before.memory if memory is None and same else memory
        self._carry = self._begun(before.state if state is None else self._host(state), kept)

    def restart_from(self, state: State) -> None:
        """Make a state the one that `reset` returns to."""
        self._start = self._host(state)

    def _begun(self, state: State, memory: Any) -> Carry:
        return self._host(_first(self._run.loop, state, self.dt, memory))

    @staticmethod
    def _host(tree: Any) -> Any:
        """Arrays of NumPy in the place of JAX's, which are slow to take apart."""
        return jax.tree.map(lambda y: np.asarray(y) if isinstance(y, jax.Array | jnp.ndarray) else y, tree)


_memory_of_stepper = quick_jit(first_memory)


def _alike(one: Any, other: Any) -> bool:
    """Whether two trees have the same structure, and arrays of the same shapes."""
    if jax.tree.structure(one) != jax.tree.structure(other):
        return False
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return all(np.shape(a) == np.shape(b) for a, b in pairs)
