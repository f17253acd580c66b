"""Resolved rates within bounds: tip, limits of the legs, speeds of the plates, obstacle and the arm itself at once.

Each tick is one bounded least-squares problem. Its bounds are the rates and strokes of the legs, the room between
neighbouring plates, the speed of every plate in the world, the clearance from an obstacle, and the clearance of parts
of the arm from each other. Within them the tip comes first, and what it leaves free serves the posture: of all
motions that move the tip as nearly as desired, that nearest to the posture task, measured by what a segment's motion
costs. Where no bound is met that is the law of `central_rates`, and no problem has to be solved.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from hydrostat.actuation.legs import Legs
from hydrostat.control.quadratic_program import UNBOUNDED, Rows, bounded_least_squares
from hydrostat.control.resolved_rate import (
    GAP_LEAST,
    JOINT_SPEED,
    NOTHING_SENT,
    RATE_SHARE,
    STROKE_SHARE,
    Ask,
    Call,
    Law,
    Obstacle,
    Own,
    Rates,
    clearance,
    damping,
    ease,
    limited,
    point_rows,
    tip_task,
)
from hydrostat.errors import InputError
from hydrostat.lie import SE3, small
from hydrostat.surroundings.pairs import closest_points

# The tip's error counts this much more than the posture's, both measured by the mobility of the tip.
_TIP_WEIGHT = 1e6
# Clearances give way by this much per multiplier: where they cannot be kept, the least squares of what is missing.
_GIVE = 1e-10
# Share of the fastest speed of plates that is used: the way of a tick is curved.
_SPEED_SHARE = 0.99
_FASTEST_RETREAT = 1.0  # m/s: at which a clearance that is too small may have to grow
# Parts that are this much farther from each other along the arm than the sum of their radii must not overlap.
_FAR = 2.0
_SELF_GAIN = 10.0  # 1/s: how fast the clearance of parts of the arm from each other may be used up


class Motion(NamedTuple):
    """The arm at a tick, as all tasks see it."""

    T: SE3
    T_world: SE3
    own: Own
    A: Float[Array, "n m 6"]
    """The tip's velocity per relative twist."""
    asked: Call
    desired: Float[Array, " m"]
    weight: Float[Array, ""]


def bounded_rates(law: Law, T: SE3, ask: Ask, dt, scale=None) -> Rates:
    """The relative twists of all segments for a desired velocity of the tip, within all bounds.

    **Arguments:** `scale`: what `ease` gives, where it is known already.
    """
    if law.legs is None or law.plate_speed is None:
        raise InputError("`bounded_rates` needs a law with the limits of its legs and the speed of its plates")
    scale = ease(law) if scale is None else scale
    task = tip_task(law, T)
    T_world, own, A, gram = task.T_world, task.own, task.A, task.gram
    desired = _not_faster(ask(T_world[-1]), _SPEED_SHARE * law.plate_speed)
    asked = task.asked(desired, scale, dt)
    free = task.twist(asked)

    give = jnp.trace(gram) / (len(gram) * _TIP_WEIGHT) + damping(gram, scale)
    motion = Motion(T, T_world, own, A, asked, desired, 1.0 / give)
    rows = _rows(law, law.legs, motion, _SPEED_SHARE * law.plate_speed, dt)
    twist, solved = jax.lax.cond(_fits(rows, free), lambda: (free, jnp.asarray(True)), lambda: _solved(motion, rows))
    twist = limited(law.segments, law.legs, T, twist, dt)
    twist = twist * _slowed(T_world, twist, _SPEED_SHARE * law.plate_speed)
    return Rates(twist, T_world[-1], solved, jnp.asarray(NOTHING_SENT))


def _not_faster(velocity: Float[Array, " m"], fastest):
    """A velocity of the tip that is shortened to its plate's fastest, its direction kept."""
    speed = small.norm(velocity[-3:])
    return velocity * jnp.minimum(1.0, fastest / jnp.maximum(speed, 1e-12))


def _slowed(T_world: SE3, twist: Float[Array, "n 6"], fastest):
    """The factor by which the whole arm must move more slowly for no plate to be too fast."""
    speed = small.norm(plate_velocities(T_world, twist))
    return jnp.minimum(1.0, fastest / jnp.maximum(jnp.max(speed), 1e-12))


def plate_velocities(T_world: SE3, twist: Float[Array, "n 6"]) -> Float[Array, "n 3"]:
    """The world velocities of the centres of the n upper plates [m/s]."""
    R, p = T_world.rotation[:-1], T_world.position
    angular = jnp.cumsum(small.matvec(R, twist[:, :3]), 0)
    before = jnp.concatenate([jnp.zeros((1, 3)), angular[:-1]])
    return jnp.cumsum(small.matvec(R, twist[:, 3:]) + small.cross(before, p[1:] - p[:-1]), 0)


def _fits(rows: Rows, twist: Float[Array, "n 6"]):
    """Whether twists are within all bounds."""
    own = jnp.einsum("nki,ni->nk", rows.local, twist)
    shared = jnp.einsum("mni,ni->m", rows.shared, twist)
    return (
        jnp.all((own >= rows.local_lower) & (own <= rows.local_upper))
        & jnp.all((shared >= rows.shared_lower) & (shared <= rows.shared_upper))
    )  # fmt: skip


def _solved(motion: Motion, rows: Rows) -> tuple[Float[Array, "n 6"], Bool[Array, ""]]:
    """The twists within bounds, and whether they were found.

    In coordinates u in which every segment's cost is |u|^2 / 2: twist = z + M u.
    """
    S = motion.own.S
    moves = S[:, 0, 0] > 0.0
    M = jnp.linalg.cholesky(jnp.where(moves[:, None, None], S, jnp.eye(6)))
    M = jnp.where(moves[:, None, None], M, 0.0)
    z = motion.asked.share * motion.own.posture_twist
    own = jnp.einsum("nki,ni->nk", rows.local, z)
    shared = jnp.einsum("mni,ni->m", rows.shared, z)
    scaled = Rows(
        jnp.einsum("nki,nij->nkj", rows.local, M),
        rows.local_lower - own,
        rows.local_upper - own,
        jnp.einsum("mni,nij->mnj", rows.shared, M),
        rows.shared_lower - shared,
        rows.shared_upper - shared,
        rows.shared_give,
    )
    E = jnp.einsum("nmi,nij->mnj", motion.A, M)
    left = motion.desired - jnp.einsum("nmi,ni->m", motion.A, z)
    found = bounded_least_squares(scaled, E, left, motion.weight)
    return jnp.where(found.solved, z + small.matvec(M, found.x), 0.0), found.solved


def _rows(law: Law, legs: Legs, motion: Motion, fastest, dt) -> Rows:
    """All bounds on the relative twists."""
    n = len(motion.A)
    parts = [_plate_rows(motion.T_world, fastest), _self_rows(law, motion)]
    if law.obstacle is not None:
        parts.append(_obstacle_rows(law.obstacle, law, motion))
    shared, lower, upper, give = (jnp.concatenate(part) for part in zip(*parts, strict=True))
    own, own_lower, own_upper = _local_rows(law, legs, motion.T, dt)
    return Rows(own, own_lower, own_upper, shared.reshape(-1, n, 6), lower, upper, give)


def _local_rows(law: Law, legs: Legs, T: SE3, dt):
    """Rates and strokes of legs, the room above the lower plate, and the speed of the upper plate's joints."""
    segments = law.segments
    length, gap = segments.leg_lengths(T), segments.gap(T)
    share = STROKE_SHARE / dt
    fastest = jnp.broadcast_to(RATE_SHARE * legs.rate[..., None], length.shape)
    most = jnp.minimum(fastest, share * jnp.maximum(legs.longest - length, 0.0))
    least = jnp.minimum(fastest, share * jnp.maximum(length - legs.shortest, 0.0))
    closest = segments.length * share * jnp.maximum(gap - GAP_LEAST, 0.0)
    ring, one = segments.rings(T)[:, 1], jnp.ones_like(gap)
    joints = jnp.stack([ring] * 3 + [one] * 3, -1)[..., None] * jnp.eye(6)
    bound = jnp.broadcast_to(0.5 * JOINT_SPEED * legs.rate[:, None], length.shape)
    none = jnp.full_like(gap, UNBOUNDED)[:, None]
    rows = [segments.leg_jacobian(T) + segments.radial_rates(T), segments.gap_row(T)[:, None], joints]
    lower, upper = [-least, -closest[:, None], -bound], [most, none, bound]
    return jnp.concatenate(rows, 1), jnp.concatenate(lower, 1), jnp.concatenate(upper, 1)


def _before(T_world: SE3, points: Float[Array, "m 3"], last: Int[Array, " m"]) -> Float[Array, "m n 3 6"]:
    """The world velocity of points, each fixed to the lower plate of segment `last`, per relative twist."""
    n = len(T_world.position) - 1
    rows = point_rows(T_world, points)
    return jnp.where((np.arange(n)[None, :] < last[:, None])[..., None, None], rows, 0.0)


def _strut_rows(T_world: SE3, segment, place, direction) -> Float[Array, "m n 6"]:
    """The speed along a direction of the point at a fraction of each segment's strut, per relative twist.

    **Arguments:** `segment`: its index (m,); `place` (m,): the fraction; `direction` (m, 3): in the world.
    """
    n = len(T_world.position) - 1
    a, b = T_world.position[segment], T_world.position[segment + 1]
    rows = jnp.sum(direction[:, None, :, None] * _before(T_world, a + place[:, None] * (b - a), segment), -2)
    within = small.matvec(jnp.swapaxes(T_world.rotation[segment], -1, -2), direction) * place[:, None]
    within = jnp.concatenate([jnp.zeros_like(within), within], -1)
    itself = (np.arange(n)[None, :] == segment[:, None])[..., None]
    return rows + jnp.where(itself, within[:, None, :], 0.0)


def _growth_rows(law: Law, T: SE3) -> Float[Array, "n 6"]:
    """The rate of each segment's wider ring per its own relative twist."""
    p = T.position
    ring = jnp.max(law.segments.rings(T), -1)
    linear = -0.5 * (ring / small.dot(p, p))[:, None] * p
    return jnp.concatenate([jnp.zeros_like(linear), linear], -1)


def _on(segment, rows: Float[Array, "n 6"]) -> Float[Array, "m n 6"]:
    """Rows of single segments as rows of all."""
    return jnp.where((np.arange(len(rows))[None, :] == segment[:, None])[..., None], rows[None], 0.0)


def _plate_rows(T_world: SE3, fastest):
    """The world velocities of all plates, component by component."""
    n = len(T_world.position) - 1
    rows = jnp.moveaxis(_before(T_world, T_world.position[1:], jnp.arange(1, n + 1)), 1, 2)
    bound = jnp.full(3 * n, fastest)
    return rows.reshape(3 * n, n, 6), -bound, bound, jnp.zeros(3 * n)


def _obstacle_rows(obstacle: Obstacle, law: Law, motion: Motion):
    """The rates of the clearances of all segments from the obstacle."""
    near = clearance(obstacle, law.segments, motion.T, motion.T_world)
    each = jnp.arange(len(near.place))
    rows = _strut_rows(motion.T_world, each, near.place, near.away) - _on(each, _growth_rows(law, motion.T))
    lower = jnp.minimum(-obstacle.gain * (near.distance - obstacle.margin), _FASTEST_RETREAT)
    return rows, lower, jnp.full_like(lower, UNBOUNDED), jnp.full_like(lower, _GIVE)


def _self_rows(law: Law, motion: Motion):
    """The rates of the clearances between each segment and that which comes nearest of those far along the arm."""
    p, T_world = motion.T_world.position, motion.T_world
    radius = jnp.max(law.segments.rings(motion.T), -1)
    near, s, t, away = _pairs(p)
    travelled = jnp.concatenate([jnp.zeros(1), jnp.cumsum(small.norm(p[1:] - p[:-1]))])
    reach = radius[:, None] + radius[None, :]
    between = travelled[None, :-1] - travelled[1:, None]  # from the end of the first to the start of the second
    apart = jnp.where(between > _FAR * reach, near - reach, UNBOUNDED)
    other = jnp.argmin(apart, 1)
    each = jnp.arange(len(radius))
    pick = lambda y: y[each, other]  # noqa: E731
    direction = pick(away)
    growth = _growth_rows(law, motion.T)
    rows = _strut_rows(T_world, each, pick(s), direction) - _strut_rows(T_world, other, pick(t), direction)
    rows = rows - _on(each, growth) - _on(other, growth)
    lower = jnp.minimum(-_SELF_GAIN * pick(apart), _FASTEST_RETREAT)
    return rows, lower, jnp.full_like(lower, UNBOUNDED), jnp.full_like(lower, _GIVE)


def _pairs(p: Float[Array, "m 3"]):
    """Distances, places on both and directions from the second to the first, of all pairs of struts."""
    a, b = p[:-1], p[1:]
    pair = lambda a, b, c, d: closest_points(jnp.stack([a, b, c, d]))  # noqa: E731
    found = jax.vmap(jax.vmap(pair, (None, None, 0, 0)), (0, 0, None, None))(a, b, a, b)
    near = small.norm(found.separation)
    return near, found.s, found.t, found.separation / jnp.maximum(near, 1e-12)[..., None]
