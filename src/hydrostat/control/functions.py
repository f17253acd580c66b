"""Plain Python functions as controllers."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hydrostat import errors
from hydrostat.control.base import Controller, Recipe
from hydrostat.control.timing import hold, steps_per_decision
from hydrostat.errors import InputError, shown
from hydrostat.sensing import Observation, observe
from hydrostat.system import Control, System

Function = Callable[[float, Observation], Control]
"""A function from the time [s] and an observation made of NumPy arrays to a control."""


def controller(rate: float = 500.0) -> Callable[[Function], "FunctionController"]:
    """A decorator that makes a controller of a plain Python function, which is called at a rate [1/s].

        @hydrostat.controller(rate=500)
        def push(time, observation):
            return Control(tension=np.maximum(0.0, 5.0 - observation.q[0]))

    The function gets NumPy arrays, and may do what it likes with them, but must set the same fields of `Control` in
    every call. Between calls its control is held. That is slower than a controller made of JAX, and derivatives cannot
    be taken through it.
    """
    period = 1.0 / errors.number("rate", rate, above=0.0, most=1e6)

    def wrapped(function: Function) -> FunctionController:
        if not callable(function):
            raise InputError(f"`controller(rate=...)` decorates a function; got {shown(function)}")
        return FunctionController(function, period)

    return wrapped


class FunctionController(Recipe):
    """A plain Python function that decides at a rate of its own."""

    function: Function = eqx.field(static=True)
    period: float = eqx.field(static=True)
    """Period of the calls [s]."""

    def attach(self, system: System, dt: float) -> Controller:
        """The controller that calls the function; it is called once with the system at rest, to learn what it sets."""
        every = steps_per_decision(self.period, dt)
        with jax.ensure_compile_time_eval():
            observation = observe(system, system.rest(), Control(), every * dt)
        first = _numbers(system.check(_called(self.function, 0.0, observation)))
        shapes = jax.tree.map(lambda y: jax.ShapeDtypeStruct(y.shape, y.dtype), first)
        return hold(CallbackController(self.function, shapes), every)


class CallbackController(Controller):
    """A controller that calls a Python function in every step."""

    function: Function = eqx.field(static=True)
    shapes: Any = eqx.field(static=True)
    """The shapes of the control that the function returns."""

    def __call__(self, time, observation: Observation, memory):
        """The control that the function returns."""
        return self._call(jnp.asarray(time, float), observation), memory

    def _call(self, time, observation: Observation) -> Control:
        name = getattr(self.function, "__name__", "the function")

        def on_host(time, observation):
            found = _numbers(_called(self.function, float(time), observation))
            if jax.tree.structure(found) != jax.tree.structure(self.shapes):
                raise InputError(f"the controller {name} must set the same fields of `Control` in every call")
            return found

        @jax.custom_jvp
        def call(time, observation):
            return jax.pure_callback(on_host, self.shapes, time, observation, vmap_method="sequential")

        @call.defjvp
        def refuse(primals, tangents):
            del primals, tangents
            raise InputError(
                f"derivatives cannot be taken through {name}, a plain Python function; write it as a `Controller`"
            )

        return call(time, observation)


def _called(function: Function, time: float, observation: Observation) -> Control:
    """The function's result for NumPy arrays."""
    control = function(time, jax.tree.map(np.asarray, observation))
    if not isinstance(control, Control):
        raise InputError(f"a controller must give a `Control`; got {shown(control)}")
    return control


def _numbers(control: Control) -> Control:
    """The control as NumPy arrays."""
    return jax.tree.map(lambda y: np.asarray(y, float), control)
