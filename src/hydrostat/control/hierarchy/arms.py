"""The peripheral nervous system: each arm makes the motion that a message asks for by itself, and reports."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from hydrostat.control.anatomy import Anatomy
from hydrostat.control.hierarchy.messages import DONE, IDLE, TOO_LATE, UNDER_WAY, Message, Report, chosen
from hydrostat.control.hierarchy.motions import Drive, Moment, Motion, still
from hydrostat.control.hierarchy.senses import Feeling, Senses

_HASTE = 3.0  # how much faster an arm makes a motion that it begins late, at most
_LAST = 1e-9  # of its duration: how long before its end the clock of a motion stands still


class ArmMemory(NamedTuple):
    """The memory of one arm, or of each arm."""

    current: Message
    """The message that it is at."""
    waiting: Message
    """A message whose time has not come, or the one that it is at."""
    refused: Int[Array, "*arms"]
    """Number of the last message that came too late for it, 0 where none has."""
    began: Float[Array, "*arms"]
    """Time at which the motion began [s]."""
    felt_before: Float[Array, "*arms"]
    """Value of the motion's measure then."""
    effort: Float[Array, "*arms"]
    """Activation that it has added by itself to follow its goal."""
    released: Float[Array, "*arms n m"]
    """Activation at the end of the motion before."""
    active: Float[Array, "*arms n m"]
    """Activation of the last step."""
    answers: Bool[Array, "*arms"]
    """Whether it owes an answer to a message."""
    reported: Report
    """The report that it made last."""


class Arm(eqx.Module):
    """The controller of one arm: from a message and what the arm feels of itself to muscles and suckers."""

    motions: tuple[Motion, ...]
    """What the arm knows, in the order of the messages' indices."""
    anatomy: Anatomy
    senses: Senses

    def init(self, arms: int, parameters: int) -> ArmMemory:
        """The memory of arms that have got no message."""
        zero = jnp.zeros(arms)
        none, rest = Message.none(arms, parameters), jnp.zeros((arms, self.anatomy.count, self.anatomy.columns))
        whole, no = jnp.zeros(arms, int), jnp.zeros(arms, bool)
        return ArmMemory(none, none, whole, zero, zero, zero, rest, rest, no, Report.none(arms))

    def report(self, time, period, feeling: Feeling, memory: ArmMemory) -> tuple[Report, Bool[Array, ""], ArmMemory]:
        """The arm's report, whether there is something new in it, and the new memory."""
        number, last = memory.current.number, memory.reported
        now = self._moment(time, period, feeling, memory)
        status = jnp.where(now.over, 0, UNDER_WAY)
        for index, motion in enumerate(self.motions):
            mine = memory.current.motion == index
            latched = motion.latched & (last.number == number) & (last.status == DONE)
            done = latched | motion.done(now, self.anatomy)
            status = jnp.where(mine, jnp.where(done, DONE, jnp.where(now.over, motion.failure, UNDER_WAY)), status)
        status = jnp.where(number == 0, IDLE, status)
        late = memory.refused > number
        held = jnp.sum(jnp.maximum(feeling.held, feeling.taken))
        report = Report(
            jnp.where(late, memory.refused, number),
            jnp.where(late, TOO_LATE, status),
            jnp.where(late | (number == 0), 0.0, now.elapsed / now.duration),
            held,
        )
        changed = (report.number != last.number) | (report.status != last.status) | ((held > 0.0) != (last.held > 0.0))
        speaks = memory.answers | changed
        memory = memory._replace(reported=chosen(speaks, report, last), answers=jnp.zeros((), bool))
        return report, speaks, memory

    def act(self, time, period, feeling: Feeling, message: Message, arrived, memory: ArmMemory):
        """What muscles and suckers do in this step, and the new memory, after a message has arrived or not."""
        memory = self._taken_up(time, message, arrived, memory)
        begins = (memory.waiting.number != memory.current.number) & (time >= memory.waiting.begins - 0.5 * period)
        memory = self._begun(time, period, feeling, begins, memory)
        now = self._moment(time, period, feeling, memory)
        drive, rate, rise = still(self.anatomy.relaxed()), jnp.zeros(()), jnp.zeros(())
        for index, motion in enumerate(self.motions):
            mine = (memory.current.motion == index) & (memory.current.number > 0)
            drive = chosen(mine, motion.drive(now, self.anatomy), drive)
            rate = jnp.where(mine, motion.effort_rate(now, self.anatomy), rate)
            rise = jnp.where(mine, motion.rise, rise)
        # Muscles of the motion before let go as those of the new one contract.
        share = jnp.where(rise > 0.0, jnp.clip((time - memory.began) / jnp.maximum(rise, 1e-9), 0.0, 1.0), 1.0)
        activation = share * drive.activation + (1.0 - share) * memory.released
        effort = jnp.clip(memory.effort + period * rate, -1.0, 1.0)
        return drive._replace(activation=activation), memory._replace(effort=effort, active=activation)

    def _taken_up(self, time, message: Message, arrived, memory: ArmMemory) -> ArmMemory:
        """The memory after a message has come in: one that is known is answered once more, one that cannot be
        completed in time is refused, any other waits for its time.
        """
        known = jnp.maximum(memory.waiting.number, memory.refused)
        new = arrived & (message.number > known)
        planned, left = message.completes - message.begins, message.completes - jnp.maximum(message.begins, time)
        late = new & (_HASTE * left < planned)
        waiting = chosen(new & ~late, message, memory.waiting)
        refused = jnp.where(late, message.number, memory.refused)
        return memory._replace(waiting=waiting, refused=refused, answers=memory.answers | arrived)

    def _begun(self, time, period, feeling, begins, memory: ArmMemory) -> ArmMemory:
        """The memory after the motion that waits has begun, or not."""
        new = memory.waiting
        measured = jnp.zeros(())
        for index, motion in enumerate(self.motions):
            value = motion.measure(new.parameters, feeling, self.anatomy)
            measured = jnp.where(new.motion == index, value, measured)
        # The effort of a motion is of use for one of the same kind alone.
        effort = jnp.where(new.motion == memory.current.motion, memory.effort, 0.0)
        in_time = time <= new.begins + 0.5 * period
        after = memory._replace(
            current=new,
            began=jnp.where(in_time, new.begins, time),
            felt_before=measured,
            effort=effort,
            released=memory.active,
        )
        return chosen(begins, after, memory)

    def _moment(self, time, period, feeling: Feeling, memory: ArmMemory) -> Moment:
        """The moment of the motion that the arm is at."""
        message = memory.current
        duration = jnp.maximum(message.completes - message.begins, 1e-9)
        left = jnp.maximum(message.completes - memory.began, 1e-9)
        # An arm that began late makes haste.
        elapsed = (time - memory.began) * (duration / left)
        over = time >= message.completes - 0.5 * period
        elapsed = jnp.clip(elapsed, 0.0, (1.0 - _LAST) * duration)
        return Moment(message.parameters, elapsed, duration, over, memory.felt_before, memory.effort, feeling)


def reports_of(arm: Arm, time, period, feeling: Feeling, memory: ArmMemory):
    """The reports of all arms, with the arm as leading axis of what they feel and remember."""
    return jax.vmap(lambda own, past: arm.report(time, period, own, past))(feeling, memory)


def drives_of(arm: Arm, time, period, feeling: Feeling, message: Message, arrived, memory: ArmMemory):
    """The drives of all arms, with the arm as leading axis."""

    def of_arm(own, one, came, past) -> tuple[Drive, ArmMemory]:
        return arm.act(time, period, own, one, came, past)

    return jax.vmap(of_arm)(feeling, message, arrived, memory)
