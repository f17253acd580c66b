"""The interface of all brains, and one that gives orders by the clock."""

import abc
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from hydrostat import errors
from hydrostat.control.anatomy import Anatomy
from hydrostat.control.hierarchy.messages import Message, Orders, Report
from hydrostat.control.hierarchy.motions import MOTIONS, Motion
from hydrostat.errors import InputError, listed, shown
from hydrostat.sensing import Observation


class Brain(eqx.Module):
    """The central nervous system: from what it observes and what arms report to messages, of which it sends few.

    It observes the body and what is around, but nothing of the arms' shapes and of what they hold: that they report.
    """

    motions: eqx.AbstractVar[tuple[Motion, ...]]
    """The motions that arms must know, in the order of the messages' indices."""
    parameters: eqx.AbstractVar[int]
    """Number of parameters of a message."""

    @abc.abstractmethod
    def init(self, observation: Observation) -> Any:
        """The memory at the start: a tree of arrays."""

    @abc.abstractmethod
    def __call__(self, time, observation: Observation, reports: Report, memory: Any) -> tuple[Orders, Any]:
        """The orders at a time [s], by the last report of every arm, and the new memory; numbers of messages are
        filled in by those who call it."""


class Order:
    """An order to an arm, or to several: a motion by name, when it begins, how long it takes, and its parameters.

    Order("bend", seconds=1.0, goal=1.2, azimuth=0.5, first=0.2, last=0.5)
    """

    def __init__(self, motion: str, *, seconds: float, at: float = 0.0, arms=None, **parameters: float):
        """**Arguments:** `motion`: one of `MOTIONS`; `seconds`: until it is to be complete [s]; `at`: when the brain
        decides on it [s]; `arms`: the numbers of the arms that get it, from 1, all when not given; and the parameters
        of the motion by their names.
        """
        self.motion = errors.choice("motion", motion, tuple(MOTIONS))
        self.seconds = errors.number("seconds", seconds, above=0.0, most=1e4)
        self.at = errors.number("at", at, least=0.0)
        self.arms = None if arms is None else tuple(errors.whole("arms", one, least=1, most=1000) for one in arms)
        known = MOTIONS[motion]
        unknown = sorted(set(parameters) - set(known.names))
        if unknown:
            names = listed(known.names) or "no parameters"
            raise InputError(f"parameters of {motion!r} must be among {names}; got {shown(unknown[0])}")
        values = {**dict(zip(known.names, known.defaults, strict=True)), **parameters}
        absent = [name for name, value in values.items() if value is None]
        if absent:
            raise InputError(f"an order to {motion} must have `{absent[0]}`; got none")
        self.values = tuple(errors.number(name, values[name]) for name in known.names)


class ScheduleMemory(NamedTuple):
    """The memory of a schedule of orders."""

    sent: Int[Array, " a"]
    """Number of orders that each arm has got."""


class Schedule(Brain):
    """A brain that gives its orders by the clock, each a message to the arms that are to move; it waits for nothing."""

    motions: tuple[Motion, ...]
    parameters: int = eqx.field(static=True)
    times: Float[Array, "a o"]
    """Times at which each arm gets its orders, in their order [s]; the last ones may be places without an order."""
    seconds: Float[Array, "a o"]
    """Duration of the motions [s]."""
    motion: Int[Array, "a o"]
    """Index of the motions."""
    values: Float[Array, "a o p"]
    """Parameters of the motions."""

    def __init__(self, orders: tuple[Order, ...], arms: int, anatomy: Anatomy):
        """**Arguments:** `orders`: in any order; `arms`: how many the robot has; `anatomy`: of each of them."""
        names = sorted({order.motion for order in orders}, key=list(MOTIONS).index)
        self.motions = tuple(MOTIONS[name] for name in names)
        for motion in self.motions:
            motion.check(anatomy)
        self.parameters = max(1, *(len(motion.names) for motion in self.motions))
        rows: list[list[Order]] = [[] for _ in range(arms)]
        for order in sorted(orders, key=lambda order: order.at):
            if order.arms is not None and max(order.arms) > arms:
                raise InputError(f"`arms` of an order must be among the arms 1 to {arms}; got {shown(max(order.arms))}")
            for arm in range(arms) if order.arms is None else (number - 1 for number in order.arms):
                rows[arm].append(order)
        most = max(1, *(len(row) for row in rows))
        shape = (arms, most)
        times, seconds, motion = np.full(shape, np.inf), np.ones(shape), np.zeros(shape, int)
        values = np.zeros((*shape, self.parameters))
        for arm, row in enumerate(rows):
            for i, order in enumerate(row):
                times[arm, i], seconds[arm, i] = order.at, order.seconds
                motion[arm, i] = names.index(order.motion)
                values[arm, i, : len(order.values)] = order.values
        # A place without an order has a time that never comes.
        self.times = jnp.asarray(np.where(np.isinf(times), 1e30, times))
        self.seconds, self.motion, self.values = jnp.asarray(seconds), jnp.asarray(motion), jnp.asarray(values)

    def init(self, observation: Observation) -> ScheduleMemory:
        """The memory at the start: no order is given."""
        del observation
        return ScheduleMemory(jnp.zeros(self.times.shape[0], int))

    def __call__(self, time, observation: Observation, reports: Report, memory: ScheduleMemory):
        """The order whose time has come, for each arm at most one in a step."""
        del reports
        arms, most = self.times.shape
        place = jnp.minimum(memory.sent, most - 1)
        times, seconds, motion, values = jax.vmap(lambda i, *each: tuple(y[i] for y in each))(
            place, self.times, self.seconds, self.motion, self.values
        )
        due = (memory.sent < most) & (time >= times - 0.5 * observation.period)
        begins = jnp.broadcast_to(jnp.asarray(time, float), (arms,))
        message = Message(jnp.zeros(arms, int), motion, begins, begins + seconds, values)
        orders = Orders(message, due, jnp.zeros(arms, bool))
        return orders, ScheduleMemory(memory.sent + jnp.where(due, 1, 0))
