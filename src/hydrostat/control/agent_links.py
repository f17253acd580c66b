"""Agents whose messages are late, lost or wrong.

An agent that has not heard from a neighbour in a tick acts on what it heard last. A message that is d ticks late at
every joint makes the tip's feedback 2 (n - 1) d ticks late in an arm of n segments: up goes where the arm is, down what
it should do.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat import errors
from hydrostat.compiling import fast_jit
from hydrostat.control.agents import Agent, Upward, agents_of, call_of, numbers_of, tip_call
from hydrostat.control.resolved_rate import Ask, Law, Rates, desired_velocity, ease, moved
from hydrostat.control.tip_goals import TipGoals
from hydrostat.control.tracking import Tracked
from hydrostat.lie import SE3

_UP, _DOWN = 39, 7  # numbers of a message


class Links(eqx.Module):
    """The lines between neighbouring agents."""

    delay: int = eqx.field(static=True)
    """Ticks that a message takes from one agent to the next; 0 for none."""
    loss: Float[Array, ""]
    """Share of the messages that are lost."""
    noise: Float[Array, ""]
    """Standard deviation of each number's relative error."""

    def __init__(self, delay: int = 0, loss: float = 0.0, noise: float = 0.0):
        self.delay = errors.whole("delay", delay, least=0, most=1000)
        self.loss = jnp.asarray(errors.number("loss", loss, least=0.0, most=1.0), float)
        self.noise = jnp.asarray(errors.number("noise", noise, least=0.0), float)

    def read(self, sent: Float[Array, " numbers"], before: Float[Array, " numbers"], key) -> Float[Array, " numbers"]:
        """A message as it is read: with errors, or the one read before where it is lost."""
        lost, wrong = jax.random.split(key)
        heard = sent * (1.0 + self.noise * jax.random.normal(wrong, sent.shape))
        return jnp.where(jax.random.uniform(lost) < self.loss, before, heard)


class Mail(NamedTuple):
    """What agents have read, and what is on its way to them."""

    up: Float[Array, "n 39"]
    """The last message that each agent read from below."""
    down: Float[Array, "n 7"]
    """The last message that each agent read from above."""
    sent_up: Float[Array, "delay n 39"]
    """The messages that each agent sent upwards, the oldest first."""
    sent_down: Float[Array, "delay n 7"]
    """The messages that each agent sent downwards, the oldest first."""


def linked_rates(law: Law, T: SE3, ask: Ask, dt, scale, links: Links, mail: Mail, key) -> tuple[Rates, Mail]:
    """The relative twists of all segments, each found by its own agent from the messages that it has read."""
    agents, n = agents_of(law), len(T.position)
    keys = jax.random.split(key, (2, n))
    none = {"up": jnp.zeros((n, _UP)), "down": jnp.zeros((n, _DOWN))}
    # What the neighbour sent, where it arrives later than in the same tick.
    early = none if links.delay == 0 else {"up": mail.sent_up[0], "down": mail.sent_down[0]}
    from_below, from_above = jnp.roll(early["up"], 1, 0), jnp.roll(early["down"], -1, 0)

    def up(fresh, own):
        i, agent, T, before, late, key = own
        heard = links.read(fresh if links.delay == 0 else late, before, key)
        heard = jnp.where(i == 0, base, heard)  # the lowest agent knows the base
        sent = agent.upward(T, Upward.unpacked(heard)).packed()
        return sent, (heard, sent)

    base = Upward(law.T_world_base, jnp.zeros((6, 6)), jnp.zeros(6)).packed()
    last, (read_up, sent_up) = jax.lax.scan(up, base, (jnp.arange(n), agents, T, mail.up, from_below, keys[0]))

    def down(fresh, own):
        i, agent, T, before, late, key = own
        heard = links.read(fresh if links.delay == 0 else late, before, key)
        heard = jnp.where(i == n - 1, reply, heard)  # the last agent decides itself
        message, twist = agent.downward(T, call_of(heard), dt)
        sent = numbers_of(message)
        return sent, (heard, sent, twist)

    reply = numbers_of(tip_call(law, Upward.unpacked(last), ask, scale, dt))
    rows = (jnp.arange(n), agents, T, mail.down, from_above, keys[1])
    _, (read_down, sent_down, twists) = jax.lax.scan(down, reply, rows, reverse=True)
    tip, _ = jax.lax.scan(lambda below, T: (below @ T, None), law.T_world_base, T)
    waiting = mail
    if links.delay:
        later = (jnp.concatenate([old[1:], new[None]]) for old, new in zip(mail[2:], (sent_up, sent_down), strict=True))
        waiting = Mail(mail.up, mail.down, *later)
    counts = (n - 1) * jnp.array([[1, _UP], [1, _DOWN]])
    return Rates(twists, tip, jnp.asarray(True), counts), waiting._replace(up=read_up, down=read_down)


def first_mail(law: Law, T: SE3, links: Links) -> Mail:
    """The mail of an arm that has been at rest for long, so that everybody has heard where it is."""
    agents = agents_of(law)

    def up(heard, own: tuple[Agent, SE3]):
        agent, T = own
        return agent.upward(T, Upward.unpacked(heard)).packed(), heard

    base = Upward(law.T_world_base, jnp.zeros((6, 6)), jnp.zeros(6)).packed()
    last, heard = jax.lax.scan(up, base, (agents, T))
    sent = jnp.concatenate([heard[1:], last[None]])
    still = jnp.zeros((len(sent), _DOWN))
    return Mail(heard, still, *(jnp.repeat(y[None], links.delay, 0) for y in (sent, still)))


@fast_jit
def _follow(law: Law, T: SE3, goals: SE3, forward, gain, dt, links: Links, key) -> Tracked:
    """The rows of an arm that follows goals, one for each tick."""
    scale = ease(law)

    def tick(carry, inputs):
        T, mail = carry
        goal, forward, key = inputs
        ask = lambda tip: desired_velocity(law, tip, goal, forward, gain)  # noqa: E731
        asked, mail = linked_rates(law, T, ask, dt, scale, links, mail, key)
        return (moved(T, asked.twist, dt), mail), Tracked(T, *asked)

    keys = jax.random.split(key, len(forward))
    return jax.lax.scan(tick, (T, first_mail(law, T, links)), (goals, forward, keys))[1]


def follow_by_links(goals: TipGoals, law: Law, gain: float, links: Links, seed: int = 0) -> Tracked:
    """The motion of an arm of agents that follows goals, with its messages as the links deliver them.

    **Arguments:** `gain`: decay of errors [1/s]; `seed`: of what is lost and of errors.
    """
    key, forward = jax.random.PRNGKey(seed), jnp.asarray(goals.forward)
    return jax.block_until_ready(_follow(law, goals.arm.rest, goals.poses, forward, gain, goals.dt, links, key))
