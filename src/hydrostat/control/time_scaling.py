"""Time scaling of a plan: at what pace the legs' strength suffices for it, with the braking that comes before.

Along a plan the forces of the legs are h + A u + B x, affine in the square x = s^2 of the pace s, plan time per time,
and in its rate of change u = ds/dt. Between places that are d apart, x changes by 2 d u. So the largest square at each
place from which the next ones can still be passed follows from that at the next, from the last place back to the
present one: time-optimal path parametrisation by reachability (Pham and Pham 2018).
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.control.leg_demand import LegDemand, PlanDemand

_SHARE = 0.9
"""The share of the legs' strength that a plan may take; errors are corrected with the rest."""
_LEVELS = _SHARE * np.concatenate([[1.0], 1.0 + np.geomspace(0.01, 10.0, 16)])
"""The same share, and larger ones for when it does not suffice."""
_AHEAD = 50
"""Places of the plan that are looked at ahead; the pace is such that it can come to rest within them."""
_SPEEDING_TIME = 0.25
"""Time constant with which the pace comes back to 1 [s]; it is braked as fast as the legs can."""
_RATIOS = np.concatenate([[0.0], 1.0 - np.geomspace(0.7, 0.005, 14), [1.0]])
"""How hard to brake: the square of the pace at the next place over that at this one. Any set is safe, a finer one is
faster."""


def pace_after(demand: PlanDemand, payload, strength: Float[Array, " n"], phase, pace, dt) -> Float[Array, ""]:
    """The pace for the step that begins now.

    **Arguments:** `payload` [kg]; `strength`: of the legs of each platform [N]; `phase`: the time of the plan that is
    reached [s]; `pace`: that of the last step; `dt`: of the step [s].
    """
    # The places from the last that was passed on; the arm stays at the plan's end.
    count = len(demand.alone.hold)
    place = jnp.clip(phase / demand.spacing, 0.0, count - 1.0)
    first = place.astype(int)
    rows = jnp.minimum(first + jnp.arange(_AHEAD + 1), count - 1)
    ahead = demand.at(rows, payload)
    squares, ratios = reachable_squares(ahead, _SHARE * strength, demand.spacing)

    # Back to the plan's pace, but no faster than what can be braked from at the end of the step.
    within = place - first
    end = within + pace * dt / demand.spacing
    next_one = end.astype(int)
    square = squares[next_one] + (end - next_one) * (squares[next_one + 1] - squares[next_one])
    change = jnp.minimum(dt / (_SPEEDING_TIME + dt) * (1.0 - pace), jnp.sqrt(square) - pace)

    # And such that the legs suffice now. From a smaller square than the largest they do where it falls in proportion.
    # Where a payload is new to the controller, they may not: then as nearly as they can.
    hold, more, motion = (part[0] + within * (part[1] - part[0]) for part in ahead)
    least, most = changes_within(hold + pace**2 * motion, more, strength)
    largest = jnp.maximum(squares[0] * (1.0 - (1.0 - ratios[0]) * within), 1e-12)
    safe = 0.5 * (ratios[0] - 1.0) * squares[0] / demand.spacing * jnp.minimum(pace**2 / largest, 1.0)
    change = jnp.clip(change, jnp.minimum(least, safe) * dt, jnp.maximum(most, safe) * dt)
    return jnp.maximum(pace + change, 0.0)


def reachable_squares(
    demand: LegDemand, most: Float[Array, " n"], spacing
) -> tuple[Float[Array, " places"], Float[Array, " places"]]:
    """The largest square of the pace, up to 1, with which the legs can pass each place and what follows it, and rest.

    It is 0 where they could not hold the arm, and one place before. Beside it stands how much of it may be left at the
    next place.

    **Arguments:** `most`: the largest force of the legs of each platform [N]; `spacing`: from place to place [s].
    """
    strength = most[:, None]
    holds = jnp.all(jnp.abs(demand.hold) <= strength, (1, 2))
    holds = holds & jnp.append(holds[1:], True)

    # At a ratio r the square x falls by (1 - r) x to the next place: from h on, forces grow in proportion to x. The
    # legs are to suffice at both ends of the way.
    ratio = _RATIOS[:, None, None, None]
    per_square = (ratio - 1.0) / (2.0 * spacing)
    following = jax.tree.map(lambda part: jnp.concatenate([part[1:], part[-1:]]), demand)
    used = [
        jnp.maximum(growth / _room(strength - hold), -growth / _room(strength + hold))
        for growth, hold in (
            (demand.motion + per_square * demand.change, demand.hold),
            (ratio * following.motion + per_square * following.change, following.hold),
        )
    ]
    largest = 1.0 / jnp.maximum(jnp.max(jnp.maximum(*used), (2, 3)), 1.0)

    def before(after, place):
        holds, largest = place
        each = jnp.minimum(largest, jnp.where(_RATIOS > 0.0, after / np.maximum(_RATIOS, 1e-9), 1.0))
        square = jnp.where(holds, jnp.max(each), 0.0)
        # Of the ways to brake that do, the gentlest.
        return square, (square, jnp.max(jnp.where(each >= square, _RATIOS, 0.0)))

    return jax.lax.scan(before, jnp.zeros(()), (holds, largest.T), reverse=True)[1]


def _room(force):
    return jnp.maximum(force, 1e-9)


def changes_within(
    forces: Float[Array, "n 6"], change: Float[Array, "n 6"], strength: Float[Array, " n"]
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The least and the largest rate of the pace with which the legs suffice; with the least excess where none does.

    **Arguments:** `forces`: without any [N]; `change`: more of them per rate [N s].
    """
    per_rate = jnp.where(jnp.abs(change) > 1e-9, change, 1e-9)
    middle, half = -forces / per_rate, strength[:, None] / jnp.abs(per_rate)
    levels = _LEVELS[:, None, None]
    least, most = jnp.max(middle - levels * half, (1, 2)), jnp.min(middle + levels * half, (1, 2))
    level = jnp.argmax(least <= most)
    return least[level], most[level]


def part_within(forces: Float[Array, "n 6"], more: Float[Array, "n 6"], most) -> Float[Array, "n 6"]:
    """The largest part, up to 1, of more force that each leg can add to its forces within the most that it has."""
    room = most - jnp.where(more > 0.0, forces, -forces)
    return jnp.clip(room / jnp.maximum(jnp.abs(more), 1e-9), 0.0, 1.0)
