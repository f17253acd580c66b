"""Resolved-rate control of a chain of platforms: the rates of all legs for a desired velocity of the tip.

Of all leg rates that give the tip its velocity the smallest are taken, which is the pseudo-inverse of the tip's
Jacobian. What is left free serves a task of lower priority, which never disturbs the tip: returning to a shape. Each
segment weighs its own motion by a 6 x 6 matrix, the inverse S of what a twist costs it. The whole law needs of the
segments only S, its effect A on the tip, and the 3 x 3 or 6 x 6 sum A S A^T over all of them: time linear in their
number. Limits shorten the twist of each segment by itself here; `bounded_rates` takes them into the problem, with the
speeds of plates and with obstacles.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from hydrostat.actuation.legs import Legs, leg_rates, rest_poses
from hydrostat.compiling import quick_jit
from hydrostat.errors import InputError
from hydrostat.lie import SE3, small, so3
from hydrostat.segments import StewartSegment
from hydrostat.segments.stewart import displaced, orthonormal

# Damping begins where the tip is this much harder to move than by pulling at a straight arm, and is then as large.
_DAMPED_BELOW = 0.005
# A leg's weight grows over the last fifth of its stroke.
_HEAVY_FROM = 0.8
_HEAVIEST = 100.0
# The rim of an upper plate is kept at least this far above the lower plate, and made heavy from that far on, over the
# plates' distance at rest.
GAP_LEAST = 0.15
_GAP_HEAVY = 0.5
# Turning of a segment is made heavy from 43 degrees on, hundredfold at 80: 2 tan(angle / 2).
_TURN_HEAVY = 0.8
_TURN_MOST = 1.7
# A leg may use at most this share of what is left of its stroke within one tick.
STROKE_SHARE = 0.2
JOINT_SPEED = 2.0  # of a joint in any direction, over the fastest rate of a leg
RATE_SHARE = 0.999  # of the fastest rate that is used: it is met to some 1e-4
_NOTHING = 1e-12
_FASTEST_POSTURE = 2.0  # share of a tick's error in the arm's straightness that a posture task may undo, an upper bound


class Posture(NamedTuple):
    """The secondary task of posture: the arm returns to its rest shape, as far as the tip's task leaves it free."""

    bend_gain: Float[Array, ""]
    """Rate at which rotations of segments decay [1/s]; alone, it favours elongation."""
    length_gain: Float[Array, ""]
    """Rate at which displacements of segments decay [1/s]; alone, it favours bending."""


class Obstacle(NamedTuple):
    """A ball that the arm keeps clear of."""

    centre: Float[Array, " 3"]
    radius: Float[Array, ""]
    margin: Float[Array, ""]
    """Clearance that is kept [m]."""
    gain: Float[Array, ""]
    """Rate at which clearance beyond the margin may be used up [1/s]."""


class Law(eqx.Module):
    """The law of resolved rates of an arm of n platforms."""

    segments: StewartSegment
    T_world_base: SE3
    posture: Posture | None = None
    obstacle: Obstacle | None = None
    legs: Legs | None = None
    """The limits in force; None for legs without limits, as in the paper."""
    plate_speed: Float[Array, ""] | None = None
    """Fastest speed of a plate in the world [m/s]; None for no limit."""
    frozen: Bool[Array, " n"] | None = None
    """Indices of segments that do not move."""
    orient: bool = eqx.field(static=True, default=False)
    """Whether the tip's orientation is controlled as well as its position."""


Ask = Callable[[SE3], Float[Array, " m"]]
"""The desired velocity of the tip as a function of its pose: 3 numbers, or 6 where its orientation counts."""


class Own(NamedTuple):
    """A segment's own part of the law."""

    S: Float[Array, "*batch 6 6"]
    """Mobility: relative twist per wrench."""
    posture_twist: Float[Array, "*batch 6"]
    """The relative twist of the segment's posture task."""


class Rates(NamedTuple):
    """The twists of all segments that the law commands."""

    twist: Float[Array, "n 6"]
    """Relative twists of the plates, (angular, linear) in the axes of their lower plates."""
    T_world_tip: SE3
    """Pose of the tip."""
    solved: Bool[Array, ""]
    """Whether the law found its twists; where its problem of bounds was not solved, the arm stays."""
    sent: Int[Array, "2 2"]
    """What agents sent up and down the arm: messages, and numbers in them; zeros for a controller of the whole arm."""


NOTHING_SENT = np.zeros((2, 2), int)
"""The messages of a controller of the whole arm."""


def local(segment: StewartSegment, legs: Legs | None, frozen, posture: Posture | None, T: SE3) -> Own:
    """The segments' own parts of the law, for any batch."""
    S = small.inverse_positive(_cost(segment, legs, T), mended=False)
    posture_twist = jnp.zeros((*T.position.shape[:-1], 6))
    if posture is not None:
        posture_twist = -jnp.concatenate(
            [posture.bend_gain * _turn(T.rotation), posture.length_gain * (T.position - segment.rest)], -1
        )
    if frozen is not None:
        S = jnp.where(frozen[..., None, None], 0.0, S)
        posture_twist = jnp.where(frozen[..., None], 0.0, posture_twist)
    return Own(S, posture_twist)


def _cost(segment: StewartSegment, legs: Legs | None, T: SE3) -> Float[Array, "*batch 6 6"]:
    """The cost of a relative twist of a segment, a quadratic form.

    Without limits it is the sum of the squared leg rates, whose least gives the pseudo-inverse of the tip's Jacobian.
    That measure makes flat segments move the more the flatter they are, until they fold. So with limits in force a
    segment costs what an elastic one would, stretch and turn over its length. Legs near an end of their stroke, rims
    near the lower plate and turns near a quarter of a circle, where legs lose their hold, are made heavy.
    """
    G = segment.leg_jacobian(T)
    if legs is None:
        # A singular platform still gets finite rates.
        ground = 1e-9 * jnp.stack([segment.radius**2] * 3 + [jnp.ones_like(segment.radius)] * 3, -1)
        return small.matmul(jnp.swapaxes(G, -1, -2), G) + ground[..., None] * jnp.eye(6)
    turned = _excess(small.norm(_turn(T.rotation)), _TURN_HEAVY, _TURN_MOST)
    turn = 2.0 * segment.radius**2 * (1.0 + _HEAVIEST * turned)
    shear, stretch = 0.5 * jnp.ones_like(segment.radius), jnp.ones_like(segment.radius)
    elastic = jnp.stack([turn, turn, turn, shear, shear, stretch], -1) / segment.length[..., None]
    length = segment.leg_lengths(T)
    middle, half = 0.5 * (legs.longest + legs.shortest), 0.5 * (legs.longest - legs.shortest)
    strained = _excess(jnp.abs(length - middle) / half, _HEAVY_FROM, 1.0)
    low = _excess(-segment.gap(T), -_GAP_HEAVY, -GAP_LEAST)
    rows = jnp.concatenate([G, segment.gap_row(T)[..., None, :]], -2)
    weights = _HEAVIEST * jnp.concatenate([strained, low[..., None]], -1) / segment.length[..., None]
    penalty = small.matmul(jnp.swapaxes(rows, -1, -2), weights[..., None] * rows)
    return elastic[..., None] * jnp.eye(6) + penalty


def _turn(R: Float[Array, "*batch 3 3"]) -> Float[Array, "*batch 3"]:
    """A rotation as a vector of length 2 tan(angle / 2): cheaper than the logarithm; it grows up to 178 degrees."""
    trace = R[..., 0, 0] + R[..., 1, 1] + R[..., 2, 2]
    return 4.0 * so3.vee(R) / jnp.maximum(1.0 + trace, 1e-3)[..., None]


def _excess(value, begin: float, end: float):
    """A ramp that is 0 up to `begin`, 1 at `end`, smooth, and more beyond."""
    share = jnp.maximum((value - begin) / (end - begin), 0.0)
    return share * share


def limited(segment: StewartSegment, legs: Legs | None, T: SE3, twist: Float[Array, "*batch 6"], dt):
    """Twists shortened so that no leg is too fast or runs into an end of its stroke, and no plate into its base.

    First by the rates at the tick's begin, then by where the tick would end, which is computed twice. For that to be
    enough, no joint moves much faster in any direction than a leg may.
    """
    if legs is None:
        return twist
    length, gap = segment.leg_lengths(T), segment.gap(T)
    share = STROKE_SHARE / dt
    fastest = jnp.broadcast_to(RATE_SHARE * legs.rate[..., None], length.shape)
    most = jnp.minimum(fastest, share * jnp.maximum(legs.longest - length, 0.0))
    least = jnp.minimum(fastest, share * jnp.maximum(length - legs.shortest, 0.0))
    closest = share * jnp.maximum(gap - GAP_LEAST, 0.0)

    def fitting(rates, closing):
        scale = jnp.minimum(_fitting(rates, most), _fitting(-rates, least))
        return jnp.minimum(jnp.min(scale, -1), _fitting(closing, closest))

    rim = small.norm(twist[..., :3]) * segment.rings(T)[..., 1] + small.norm(twist[..., 3:])
    scale = jnp.minimum(
        fitting(leg_rates(segment, T, twist), -small.dot(segment.gap_row(T), twist) / segment.length),
        _fitting(rim, JOINT_SPEED * legs.rate),
    )
    for _ in range(2):
        end = displaced(T, dt * scale[..., None] * twist)
        scale = scale * fitting((segment.leg_lengths(end) - length) / dt, (gap - segment.gap(end)) / dt)
    return scale[..., None] * twist


def _fitting(used, allowed):
    """The factor by which a quantity must be scaled to fit; 1 where it does."""
    return jnp.where(used > allowed, allowed / jnp.maximum(used, _NOTHING), 1.0)


class Call(NamedTuple):
    """The tip's demand on all segments."""

    wrench: Float[Array, " m"]
    """Wrench at the tip, in world axes."""
    share: Float[Array, ""]
    """Share of their posture tasks that the segments may follow."""


def ease(law: Law) -> Float[Array, ""]:
    """The axial mobility of the straight arm's tip, by which damping is measured: a constant of the arm."""
    if law.legs is None:
        square = jnp.mean(law.segments.leg_lengths(rest_poses(law.segments)) ** 2, -1) / law.segments.length**2
        return jnp.sum(square) / 6.0
    return jnp.sum(law.segments.length)


def call(gram: Float[Array, "m m"], turns, desired: Float[Array, " m"], drift: Float[Array, " m"], scale, dt) -> Call:
    """The call that gives the tip its desired velocity while the segments' posture tasks would let it drift.

    Damped least squares: 1 / |inverse| is a lower bound of the smallest eigenvalue. Above a threshold there is no
    damping at all; below, it grows smoothly, and the tip gives up what would take extreme rates.

    Posture tasks that the tip holds up act as a tension in the arm, which straightens it at a rate of up to its size
    times the angular mobility; where a tick is too long for that rate, the tasks are followed more slowly.

    **Arguments:** `turns`: the sum of the segments' angular mobilities, the traces of S's angular block; `scale`: what
    `ease` gives.
    """
    eye = jnp.eye(gram.shape[-1])
    inverse = small.inverse_positive(gram + (_NOTHING + 1e-12 * jnp.trace(gram)) * eye)
    damped = _damping(inverse, scale)
    inverse = jnp.where(damped > 0.0, small.inverse_positive(gram + (damped + _NOTHING) * eye), inverse)
    holding = small.matvec(inverse, drift)
    moves = gram[-1, -1] + gram[-2, -2] + gram[-3, -3]
    rate = small.norm(holding[-3:]) * jnp.sqrt(jnp.maximum(turns * moves, 0.0))
    share = jnp.minimum(1.0, _FASTEST_POSTURE / jnp.maximum(rate * dt, _NOTHING))
    return Call(small.matvec(inverse, desired) - share * holding, share)


def damping(gram: Float[Array, "m m"], scale) -> Float[Array, ""]:
    """The damping of the least squares: 0 unless the tip is hard to move in some direction.

    **Arguments:** `scale`: what `ease` gives.
    """
    return _damping(small.inverse_positive(gram + (_NOTHING + 1e-12 * jnp.trace(gram)) * jnp.eye(len(gram))), scale)


def _damping(inverse: Float[Array, "m m"], scale) -> Float[Array, ""]:
    threshold = _DAMPED_BELOW * scale
    lack = jnp.maximum(1.0 - 1.0 / (threshold * jnp.sqrt(jnp.sum(inverse * inverse))), 0.0)
    return threshold * lack * lack


def plates(law: Law, T: SE3) -> SE3:
    """The world poses of all n + 1 plates, the base's first."""

    def advance(T_world, T):
        T_world = T_world @ T
        return T_world, T_world

    _, ends = jax.lax.scan(advance, law.T_world_base, T, unroll=4)
    return jax.tree.map(lambda base, ends: jnp.concatenate([base[None], ends]), law.T_world_base, ends)


def point_rows(T_world: SE3, point: Float[Array, "*batch 3"]) -> Float[Array, "*batch n 3 6"]:
    """The world velocity of a point that is fixed to the last plate, per relative twist of every segment."""
    R = T_world.rotation[:-1]
    lever = point[..., None, :] - T_world.position[1:]
    crossed = jnp.swapaxes(small.cross(jnp.swapaxes(R, -1, -2), lever[..., None, :]), -1, -2)
    return jnp.concatenate([crossed, jnp.broadcast_to(R, crossed.shape)], -1)


def tip_rows(T_world: SE3, orient: bool) -> Float[Array, "n m 6"]:
    """The tip's velocity, with its angular velocity before it where that counts, per relative twist."""
    rows = point_rows(T_world, T_world.position[-1])
    if not orient:
        return rows
    R = T_world.rotation[:-1]
    return jnp.concatenate([jnp.concatenate([R, jnp.zeros_like(R)], -1), rows], -2)


class TipTask(NamedTuple):
    """The task of the tip at a tick: how all segments together can move it."""

    T_world: SE3
    """Poses of the plates, the base first."""
    own: Own
    A: Float[Array, "n m 6"]
    """The tip's velocity per relative twist."""
    SA: Float[Array, "n 6 m"]
    gram: Float[Array, "m m"]
    """The tip's mobility."""

    def asked(self, desired: Float[Array, " m"], scale, dt) -> Call:
        """The wrench and the share of the posture that give the tip a desired velocity."""
        S = self.own.S
        drift = jnp.sum(small.matvec(self.A, self.own.posture_twist), 0)
        return call(self.gram, jnp.sum(S[:, 0, 0] + S[:, 1, 1] + S[:, 2, 2]), desired, drift, scale, dt)

    def twist(self, asked: Call) -> Float[Array, "n 6"]:
        """The relative twists that follow."""
        return asked.share * self.own.posture_twist + small.matvec(self.SA, asked.wrench[None])


def tip_task(law: Law, T: SE3) -> TipTask:
    """The tip's task in some poses."""
    T_world = plates(law, T)
    own = local(law.segments, law.legs, law.frozen, law.posture, T)
    A = tip_rows(T_world, law.orient)
    SA = small.matmul(own.S, jnp.swapaxes(A, -1, -2))
    return TipTask(T_world, own, A, SA, jnp.sum(small.matmul(A, SA), 0))


def central_rates(law: Law, T: SE3, ask: Ask, dt, scale=None) -> Rates:
    """The relative twists of all segments for a desired velocity of the tip, computed centrally, each within limits.

    **Arguments:** `scale`: what `ease` gives, where it is known already.
    """
    scale = ease(law) if scale is None else scale
    task = tip_task(law, T)
    tip = task.T_world[-1]
    twist = task.twist(task.asked(ask(tip), scale, dt))
    twist = limited(law.segments, law.legs, T, twist, dt)
    return Rates(twist, tip, jnp.asarray(True), jnp.asarray(NOTHING_SENT))


class Clearance(NamedTuple):
    """The clearance of each segment's strut from the middle of an obstacle."""

    distance: Float[Array, " n"]
    """Distance between the surfaces [m]."""
    away: Float[Array, "n 3"]
    """Unit vector from the obstacle to the nearest point of the strut."""
    place: Float[Array, " n"]
    """Fraction of the strut at which the nearest point is, from 0 at the lower plate to 1 at the upper one."""


def clearance(obstacle: Obstacle, segments: StewartSegment, T: SE3, T_world: SE3) -> Clearance:
    """The clearance of every segment, as a capsule of its wider ring's radius."""
    a, b = T_world.position[:-1], T_world.position[1:]
    along = b - a
    place = jnp.clip(small.dot(obstacle.centre - a, along) / small.dot(along, along), 0.0, 1.0)
    offset = a + place[:, None] * along - obstacle.centre
    far = small.norm(offset)
    away = offset / jnp.maximum(far, _NOTHING)[:, None]
    return Clearance(far - obstacle.radius - jnp.max(segments.rings(T), -1), away, place)


@quick_jit
def clearances(law: Law, T: SE3) -> Float[Array, " rows"]:
    """The least distance between an arm and the obstacle of its law at every row of poses (rows, n) [m]."""
    obstacle = law.obstacle
    if obstacle is None:
        raise InputError("`clearances` needs a law with an obstacle; it has none")
    return jax.lax.map(lambda T: jnp.min(clearance(obstacle, law.segments, T, plates(law, T)).distance), T)


def desired_velocity(law: Law, T_world_tip: SE3, goal: SE3, forward: Float[Array, " 6"], gain) -> Float[Array, " m"]:
    """The tip velocity that follows a goal: the goal's own velocity, and the error's decay at `gain` [1/s]."""
    linear = forward[3:] + gain * (goal.position - T_world_tip.position)
    if not law.orient:
        return linear
    turn = so3.log(small.matmul(goal.rotation, T_world_tip.rotation.T))
    return jnp.concatenate([forward[:3] + gain * turn, linear])


def moved(T: SE3, twist: Float[Array, "n 6"], dt) -> SE3:
    """The relative poses after a tick of constant twists."""
    T = displaced(T, dt * twist)
    return SE3(orthonormal(T.rotation), T.position)
