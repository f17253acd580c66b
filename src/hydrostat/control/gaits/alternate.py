"""Crawling by turns: every other arm holds the ground and works while those between let go of it and recover.

Of the arms that hold, those ahead of the body become shorter and pull it, and those behind become longer and push it.
Of the arms that recover, those ahead reach out, and those behind gather themselves. Some arms always hold the ground,
so that a current does not carry the body back, and an octopus without arms behind it is pulled by those ahead.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.control.anatomy import BodyPlan
from hydrostat.control.gaits.base import downwards, stiffened, window

_BESIDE = 0.15  # share below which an arm is beside the body: it holds, and neither pulls nor pushes
_LEAST = 2.0  # arms that must hold before those of the other group let go


class Alternation(eqx.Module):
    """A stroke of two groups of arms by turns: each holds and works for half of it, and recovers for the other half."""

    pull: Float[Array, "n m"]
    """Activation of every muscle of an arm ahead that works with a share of 1."""
    reach: Float[Array, "n m"]
    """The same of an arm ahead that recovers."""
    push: Float[Array, "n m"]
    """The same of an arm behind that works."""
    gather: Float[Array, "n m"]
    """The same of an arm behind that recovers."""
    lower: Float[Array, "n m"]
    """Activation with which arms lie down on the ground before they hold it."""
    grip: Float[Array, " n"]
    """1 for segments whose suckers hold."""
    rise_s: Float[Array, ""]
    """Time over which muscles contract and relax [s]."""
    delay_s: Float[Array, ""]
    """Time from the hand-over until an arm works [s]."""
    lead_s: Float[Array, ""]
    """Time before the hand-over from which arms that have recovered try to take hold [s]."""
    reach_s: Float[Array, ""]
    """Time for which an arm that recovers reaches out or gathers itself, before it lies down again [s]."""
    patience_s: Float[Array, ""]
    """Time for which a group that holds waits for the other to take hold, at most [s]."""
    settle_s: Float[Array, ""]
    """Time before the first stroke in which all arms lie down and take hold [s]."""
    period_s: Float[Array, ""]
    """Duration of a stroke [s]."""
    length: Float[Array, ""]
    """Displacement of the body by one stroke at full shares, found by trying [m]."""

    def __call__(self, time, period, share: Float[Array, " a"], group: Float[Array, " a"]):
        """Activation and grip of the arms.

        **Arguments:** `time`: since the stroke began [s]; `period`: of a stroke [s]; `share`: of each arm, positive for
        those that pull, negative for those that push; `group`: 0 for arms that work first, 1 for the others.
        """
        half, rise = 0.5 * period, self.rise_s
        since = jnp.mod(time + half * group, period)
        # What an arm that works has contracted stays so until the other group holds.
        working = window(since, self.delay_s, half + 0.5 * rise, 0.5 * rise) * window(since, self.delay_s, period, rise)
        recovering = window(since, half, half + self.reach_s, 0.5 * rise)
        lowering = window(since, -rise, self.delay_s + rise, rise) + window(
            since, half + self.reach_s, 2.0 * period, rise
        )
        ahead, behind = jnp.maximum(share, 0.0), jnp.maximum(-share, 0.0)
        beside = jnp.where(share == 0.0, 1.0, 0.0)
        each = (
            (ahead * working, self.pull),
            (ahead * recovering, self.reach),
            (behind * working, self.push),
            (behind * recovering, self.gather),
            (beside + (1.0 - beside) * lowering, self.lower),
        )
        activation = jnp.zeros((len(share), *self.lower.shape))
        for level, muscles in each:
            activation = activation + level[:, None, None] * muscles
        on = jnp.where((since < half) | (since >= period - self.lead_s), 1.0, 0.0)
        return activation, on[:, None] * self.grip

    def may_let_go(self, share: Float[Array, " a"], own: Float[Array, " a"], held: Float[Array, " a"], waited):
        """Whether the other arms may let go, since those of a group that pull hold the ground, or it has waited too
        long. Where none of them pulls, any two that hold are enough.

        **Arguments:** `share`: as above; `own`: 1 for arms of the group that are to hold, else 0; `held`: 1 for arms
        that feel that they hold; `waited`: how long it has waited already [s].
        """
        pulls = own * jnp.where(share > 0.0, 1.0, 0.0)
        holding = jnp.where(jnp.any(pulls > 0.0), pulls, own)
        least = jnp.minimum(jnp.sum(holding), _LEAST)
        return (jnp.sum(holding * held) >= least) | (waited >= self.patience_s)

    def standing(self, count: int) -> tuple[Float[Array, "a n m"], Float[Array, "a n"]]:
        """Activation and grip of arms that all lie on the ground and hold it."""
        return jnp.repeat(self.lower[None], count, 0), jnp.repeat(self.grip[None], count, 0)


def pull_and_push(plan: BodyPlan) -> Alternation:
    """The stroke by turns. Its numbers were found by a random search that asked for the least of four advances: in
    still water, against a current of 0.1 m/s, without the three arms behind, and with their suckers failed.

    Suckers hold nearer to the body than in a stroke of all arms behind together: the thick part of an arm bears the
    drag of the body without being stretched by much. An arm is pressed to the ground by its part before the suckers
    alone. Bent down beyond them too, it stands on its outer part as an arch: without the three arms behind, when the
    body leans back, the suckers of the others then hardly touch.
    """
    anatomy = plan.anatomy
    first, last = 0.27, 0.4
    near = anatomy.inside(0.0, last)
    below = downwards(anatomy, anatomy.inside(0.0, 0.58))

    def shortened(level):
        sides = jnp.repeat(level * near[:, None], 4, 1)
        return anatomy.muscles(sides, jnp.zeros(anatomy.count)) + 0.066 * below

    def elongated(level, stiffen):
        return anatomy.muscles(jnp.zeros((anatomy.count, 4)), level * near) + stiffened(anatomy, stiffen, last)

    return Alternation(
        pull=shortened(0.167),
        reach=elongated(0.033, 0.066),
        push=elongated(0.063, 0.052),
        gather=shortened(0.04),
        lower=0.03 * downwards(anatomy, anatomy.inside(0.0, first)) + stiffened(anatomy, 0.064, last),
        grip=anatomy.within(first, last),
        rise_s=jnp.asarray(0.35),
        delay_s=jnp.asarray(0.24),
        lead_s=jnp.asarray(0.27),
        reach_s=jnp.asarray(0.116),
        patience_s=jnp.asarray(0.6),
        settle_s=jnp.asarray(0.6),
        period_s=jnp.asarray(0.9 + 0.8),
        length=0.045 * plan.scale,
    )


def pull_by_outer_suckers(plan: BodyPlan) -> Alternation:
    """The stroke by turns that holds by the suckers of the segments 17 to 19 of 20, as those of Kang et al. 2012.

    Its numbers were found by a search (CMA-ES) for the least advance of the strokes 3 to 7 towards 0, 22.5 and 37
    degrees, with muscles whose gains are wrong by 5 %, with and without the water that arms carry along. Arms ahead
    pull, by muscles that are the more active the thicker the arm is: what lies between these and the suckers is a rope
    under tension. Arms behind push by their thick half alone, stiffened, which spares the thin part. Those that recover
    reach far out, stiffened, or are relaxed.
    """
    anatomy = plan.anatomy
    first, last = 0.8, 0.95
    below = 0.063 * downwards(anatomy, anatomy.inside(0.0, 0.59))

    def shortened(level):
        sides = jnp.repeat(level[:, None], 4, 1)
        return anatomy.muscles(sides, jnp.zeros(anatomy.count)) + below

    def elongated(level, stiffen, last):
        longer = anatomy.muscles(jnp.zeros((anatomy.count, 4)), level * anatomy.inside(0.0, last))
        return longer + stiffened(anatomy, stiffen, last)

    outer = stiffened(anatomy, 0.032) - stiffened(anatomy, 0.032, 0.6)
    return Alternation(
        pull=shortened(0.183 * anatomy.grade**0.88 * anatomy.inside(0.0, last)),
        reach=elongated(0.101, 0.11, 0.5),
        push=elongated(0.089, 0.184, 0.52) + outer,
        gather=below,
        lower=0.013 * downwards(anatomy, anatomy.inside(0.0, 0.85)),
        grip=anatomy.within(first, last),
        rise_s=jnp.asarray(0.5),
        delay_s=jnp.asarray(0.499),
        lead_s=jnp.asarray(0.1),
        reach_s=jnp.asarray(0.489),
        patience_s=jnp.asarray(0.6),
        settle_s=jnp.asarray(0.6),
        period_s=jnp.asarray(1.93),
        length=0.045 * plan.scale,
    )


ALTERNATIONS = {"alternate": pull_and_push, "outer": pull_by_outer_suckers}
"""Strokes by turns, by name: each is a function of a body plan."""


def groups_of(yaws: Float[Array, " a"]) -> Float[Array, " a"]:
    """The group of each arm, 0 or 1: neighbours around the body are in different ones."""
    order = np.argsort(np.argsort(np.mod(np.asarray(yaws) + 1e-9, 2.0 * np.pi)))
    return jnp.asarray(order % 2, float)


def shares_by_turns(
    direction, yaws: Float[Array, " a"], group: Float[Array, " a"], able: Float[Array, " a"] | None = None
) -> Float[Array, " a"]:
    """The share of each arm in the work of its group, so that each group moves the body in a direction [rad].

    **Arguments:** `able`: 1 for arms that hold the ground, 0 for those that do not, whose work the others of their
    group do; all of them hold it when not given.

    With c the cosine and s the sine of an arm's angle from the direction, the smallest shares x whose forces add up to
    the direction, sum x s = 0, are x = c sum s^2 - s sum c s up to a factor, the sums over its group: positive for arms
    that pull, negative for arms that push.
    """
    c, s = jnp.cos(yaws - direction), jnp.sin(yaws - direction)
    share = jnp.zeros_like(c)
    for number in (0.0, 1.0):
        own = jnp.where(group == number, 1.0, 0.0) * (1.0 if able is None else able)
        # A group whose arms all lie along the direction has no sine; its shares are the cosines.
        x = own * (c * (jnp.sum(own * s * s) + 1e-6) - s * jnp.sum(own * c * s))
        share = share + x / jnp.maximum(jnp.max(jnp.abs(x)), 1e-9)
    return jnp.where(jnp.abs(share) > _BESIDE, share, 0.0)
