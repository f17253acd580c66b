"""A brain, nerves and arms as one controller: few messages go out, and reports come back."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from hydrostat.control.anatomy import Anatomy
from hydrostat.control.base import Controller, Recipe
from hydrostat.control.hierarchy.arms import Arm, ArmMemory, drives_of, reports_of
from hydrostat.control.hierarchy.brain import Brain, Order, Schedule
from hydrostat.control.hierarchy.messages import Message, Orders, Report, chosen, failed, numbers_in
from hydrostat.control.hierarchy.nerves import NerveMemory, Nerves
from hydrostat.control.hierarchy.senses import Feeling, Senses
from hydrostat.errors import InputError, shown
from hydrostat.sensing import Observation
from hydrostat.surroundings.suckers import Suckers
from hydrostat.system import Control, System

_PATIENCE = 3  # steps beyond there and back after which an answer is overdue


class Outbox(NamedTuple):
    """The last message to every arm, until the arm has answered it."""

    message: Message
    """What was sent."""
    sent_at: Float[Array, " a"]
    """Time at which it was sent last [s]."""
    unanswered: Bool[Array, " a"]
    """Whether no report has answered it."""


class Traffic(NamedTuple):
    """The count of what was sent along the nerves of each arm so far."""

    messages: Int[Array, " a"]
    """Messages, those that were sent again included."""
    repeats: Int[Array, " a"]
    """Messages that were sent again."""
    reports: Int[Array, " a"]
    """Reports."""
    lost_messages: Int[Array, " a"]
    """Messages that did not arrive."""
    lost_reports: Int[Array, " a"]
    """Reports that did not arrive."""
    failures: Int[Array, " a"]
    """Messages whose motion failed, by the reports that came."""

    @staticmethod
    def none(arms: int) -> "Traffic":
        """The count at the start."""
        return Traffic(*(jnp.zeros(arms, int) for _ in Traffic._fields))


class HierarchyMemory(NamedTuple):
    """The memory of a hierarchy."""

    brain: Any
    """Memory of the brain."""
    arms: ArmMemory
    """Memories of the arms."""
    outbox: Outbox
    reports: Report
    """The last report that came from each arm."""
    down: NerveMemory
    """What is on its way to the arms."""
    up: NerveMemory
    """What is on its way to the brain."""
    traffic: Traffic


class HierarchyController(Controller):
    """A brain that sends messages, and arms that do what those ask for: muscles hear nothing of the brain.

    In each step arms feel how they are and report what is new; the brain hears what has come in and may decide; a
    message that no report has answered in time is sent again; arms act by the last message they have got.
    """

    brain: Brain
    nerves: Nerves
    arm: Arm
    working: Float[Array, " a"]
    """Indicator of arms whose suckers work: 1 for those, 0 for those whose suckers do not hold."""
    steps: int = eqx.field(static=True)
    """Time of conduction in steps."""
    suckers: bool = eqx.field(static=True)
    """Whether the robot has suckers."""
    single: bool = eqx.field(static=True, default=False)
    """Whether the robot is a single arm, without an axis for arms."""

    @property
    def count(self) -> int:
        """The number of arms."""
        return self.working.shape[0]

    @property
    def numbers_per_message(self) -> int:
        """How many numbers a message to an arm has."""
        return numbers_in(Message.none(self.count, self.brain.parameters), self.count)

    @property
    def numbers_per_report(self) -> int:
        """How many numbers the report of an arm has."""
        return numbers_in(Report.none(self.count), self.count)

    @property
    def numbers_per_step(self) -> int:
        """How many numbers a brain without arms that think would send to an arm in each step: the activation of every
        muscle, and the grip of every segment with a sucker."""
        return self.arm.anatomy.count * (self.arm.anatomy.columns + (1 if self.suckers else 0))

    def init(self, observation: Observation) -> HierarchyMemory:
        """The memory at the start: nothing was sent."""
        arms, size = self.count, self.brain.parameters
        none = Message.none(arms, size)
        return HierarchyMemory(
            brain=self.brain.init(_outer(observation)),
            arms=self.arm.init(arms, size),
            outbox=Outbox(none, jnp.zeros(arms), jnp.zeros(arms, bool)),
            reports=Report.none(arms),
            down=self.nerves.init(none, self.steps),
            up=self.nerves.init(Report.none(arms), self.steps),
            traffic=Traffic.none(arms),
        )

    def __call__(self, time, observation: Observation, memory: HierarchyMemory):
        """The control of the arms for a step."""
        period, feeling = observation.period, self._feeling(observation)
        # Arms report.
        report, speaks, arms = reports_of(self.arm, time, period, feeling, memory.arms)
        news, up = self.nerves(report, speaks, memory.up, 1)
        reports = chosen(news.arrived, news.contents, memory.reports)
        # The brain decides.
        orders, brain = self.brain(time, _outer(observation), reports, memory.brain)
        outbox, sends, again = self._posted(time, period, orders, reports, memory.outbox)
        mail, down = self.nerves(outbox.message, sends, memory.down, 0)
        # Arms act.
        drive, arms = drives_of(self.arm, time, period, feeling, mail.contents, mail.arrived, arms)
        fails = failed(reports.status) & (~failed(memory.reports.status) | (memory.reports.number != reports.number))
        more = (sends, again, speaks, mail.lost, news.lost, fails)
        traffic = Traffic(*(n + jnp.where(one, 1, 0) for n, one in zip(memory.traffic, more, strict=True)))
        return self._control(drive), HierarchyMemory(brain, arms, outbox, reports, down, up, traffic)

    def _posted(
        self, time, period, orders: Orders, reports: Report, before: Outbox
    ) -> tuple[Outbox, Bool[Array, " a"], Bool[Array, " a"]]:
        """What is sent to each arm, whether it is, and whether it is sent again."""
        message = orders.message._replace(number=before.message.number + 1)
        message = chosen(orders.present, message, before.message)
        answered = reports.number >= message.number
        unanswered = jnp.where(orders.present, True, before.unanswered) & ~answered
        overdue = time - before.sent_at >= (2 * self.steps + _PATIENCE - 0.5) * period
        again = ~orders.present & (unanswered | (orders.asks & (message.number > 0))) & overdue
        sends = orders.present | again
        sent_at = jnp.where(sends, time, before.sent_at)
        return Outbox(message, sent_at, unanswered), sends, again

    def _feeling(self, observation: Observation) -> Feeling:
        """What each arm feels of itself, with the arm first."""
        q, v = (jnp.asarray(y)[None] if self.single else jnp.asarray(y) for y in (observation.q, observation.v))
        none = jnp.zeros(q.shape[:2])
        held, taken = none, none
        if self.suckers:
            held, taken = (jnp.reshape(y, q.shape[:2]) for y in (observation.held, observation.taken))
        return jax.vmap(self.arm.senses)(q, v, held, taken)

    def _control(self, drive) -> Control:
        """The control of the robot's own shape."""
        activation, grip, take = drive
        grip, take = (y * self.working[:, None] for y in (grip, take))
        if self.single:
            activation, grip, take = activation[0], grip[0], take[0]
        return Control(activation=activation, grip=grip, take=take) if self.suckers else Control(activation=activation)


def _outer(observation: Observation) -> Observation:
    """The observation without what arms feel of themselves."""
    hidden = {name: () for name in ("q", "v", "held", "taken", "tip", "tension", "tip_force")}
    return observation._replace(**hidden)


def attached(brain: Brain, nerves: Nerves, system: System, dt: float, working) -> HierarchyController:
    """The controller of a brain for the equal arms, or the single one, of a system's robot."""
    robot = system.robot
    if not (robot.single or robot.equal):
        raise InputError(f"a hierarchy needs a single arm or equal ones; {robot.name} has unequal arms")
    anatomy = Anatomy.of(robot)
    for motion in brain.motions:
        motion.check(anatomy)
    return HierarchyController(
        brain=brain,
        nerves=nerves,
        arm=Arm(brain.motions, anatomy, Senses.of(robot.one)),
        working=jnp.asarray(working, float),
        steps=nerves.steps(dt),
        suckers=system.part(Suckers) is not None,
        single=robot.single,
    )


class Commanded(Recipe):
    """Arms that make motions which a brain orders by the clock.

    Commanded(Order("bend", seconds=1.0, goal=1.2), Order("relax", seconds=0.5, at=2.0), nerves=Nerves(delay=0.03))
    """

    orders: tuple[Order, ...] = eqx.field(static=True)
    nerves: Nerves

    def __init__(self, *orders: Order, nerves: Nerves | None = None):
        if not orders or not all(isinstance(order, Order) for order in orders):
            raise InputError(f'orders must be one or more of `Order("bend", ...)`; got {shown(orders)}')
        self.orders = orders
        self.nerves = Nerves() if nerves is None else nerves

    def attach(self, system: System, dt: float) -> HierarchyController:
        """The controller that gives these orders to the arms of a system's robot."""
        brain = Schedule(self.orders, system.robot.count, Anatomy.of(system.robot))
        return attached(brain, self.nerves, system, dt, jnp.ones(system.robot.count))
