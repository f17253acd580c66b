"""Maps between tendons and the arcs of a soft limb, in both directions.

Emet, Gur and Dede (2023) draw their limbs by tendons and do not say how these map to an arc's angle, azimuth and
length. Two maps are here, in both directions, for limbs whose segments bend and stretch:

- *by geometry*: where tendons end at every segment and are taut, their lengths say what every segment does;
- *by elasticity*: tensions T bring a limb without weight to K q = -J^T T, with the stiffness K of the coordinates q
  and the change J of the tendons' lengths with them. Lengths do it by the tensions that they need, and a tendon that
  would have to push is slack: so four tendons to the tip of a limb of two segments say what both do, though they
  cannot bend them apart.

Tendons pull, so that a bend comes with a shortening: of a limb with offset d that is pulled to a moment M on one side,
by M / d over its axial stiffness at least. The part of a shape that pulling cannot hold is returned as `lack`.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hydrostat.actuation.tendons import Tendons
from hydrostat.bodies import Arm
from hydrostat.compiling import quick_jit
from hydrostat.errors import InputError
from hydrostat.least_squares import least_squares
from hydrostat.mechanics.robot import Inputs, Robot, no_inputs
from hydrostat.mechanics.statics import at_rest
from hydrostat.mechanics.wires import wire_lengths
from hydrostat.segments import Arc, StrainSegment

_MODES = ("bend_x", "bend_y", "stretch")
_ITERATIONS = 30  # of lengths that are not linear in the coordinates; linear ones need one
_RIDGE = 1e-12  # of the largest entry: tendons that do the same share it
_LENGTH_COUNTS = 0.1  # a relative error of length against one of a bend in radians


class TendonShape(NamedTuple):
    """The shape of a limb, and the tensions that hold it."""

    q: Float[Array, "n k"]
    """The limb's coordinates."""
    arc: Arc
    """Angle, azimuth and length of every segment."""
    tension: Float[Array, " w"]
    """The tension of every tendon [N]."""


class TendonPull(NamedTuple):
    """The tensions for a shape, and the error of the shape that remains."""

    tension: Float[Array, " w"]
    """The tension of every tendon [N]."""
    lack: Float[Array, "n k"]
    """The error of the coordinates, segment by segment: the part of the shape that tendons, which only pull, cannot
    hold."""


def arcs_of(arm: Arm, q: Float[Array, "n k"]) -> Arc:
    """Angle, azimuth and length of every segment."""
    segments = _segments(arm)
    return jax.vmap(lambda segment, q: segment.to_arc(q))(segments, q)


def coordinates_of(arm: Arm, arc: Arc) -> Float[Array, "n k"]:
    """The coordinates of arcs, one for each segment."""
    return jax.vmap(lambda segment, arc: segment.from_arc(arc))(_segments(arm), arc)


def arc_coordinates(arm: Arm, theta: ArrayLike, phi: ArrayLike, length: ArrayLike) -> Float[Array, "m n k"]:
    """Coordinates of a limb whose segments are arcs of some angles, azimuths [rad] and lengths [m], (m, n) each."""
    arcs = Arc(*(jnp.asarray(x) for x in (theta, phi, length)))
    return jax.vmap(lambda arc: coordinates_of(arm, arc))(arcs)


def shape_from_tendon_lengths(arm: Arm, tendons: Tendons, lengths: Float[Array, " w"]) -> Float[Array, "n k"]:
    """The coordinates of the arcs along which taut tendons have these lengths [m], by geometry alone.

    For guided tendons at a constant offset this is the closed form l = mean of L_w and theta (cos phi, sin phi) =
    -2 / (w d) sum L_w (cos a_w, sin a_w), segment after segment.
    """
    _segments(arm)
    offset = jnp.sum(tendons.offsets * tendons.passes[..., None]) / (2.0 * jnp.sum(tendons.passes))
    scale = 1.0 / arm.segments.length[:, None]  # angles and relative lengths as unknowns

    def residual(flat):
        q = flat.reshape(arm.count, arm.coordinates) * scale
        return (tendons.lengths(arm, q) - lengths) / offset

    straight = jnp.zeros(arm.count * arm.coordinates)
    J = jax.jacfwd(residual)(straight)
    if not isinstance(J, Tracer) and np.linalg.matrix_rank(np.asarray(J), tol=1e-9) < J.shape[1]:
        raise InputError(
            f"{len(tendons.ends_at)} tendons do not say what {arm.count} segments do: at least three must end at each; "
            f"with the limb's elasticity `shape_under_lengths` does"
        )
    return least_squares(residual, straight).x.reshape(arm.count, arm.coordinates) * scale


@quick_jit
def shape_under_tensions(robot: Robot, tensions: Float[Array, " w"]) -> TendonShape:
    """The arcs of a limb without weight under tensions [N]: K (q - rest) = -J^T T.

    With its weight it is `mechanics.equilibrium` that knows.
    """
    model = robot.one
    _segments(model.arm)

    def improve(_, q):
        J = jax.jacrev(lambda q: wire_lengths(model, q))(q)
        return model.rest - jnp.tensordot(tensions, J, 1) / model.stiffness

    q = jax.lax.fori_loop(0, _ITERATIONS, improve, model.rest)
    return TendonShape(q, arcs_of(model.arm, q), tensions)


@quick_jit
def shape_under_lengths(
    robot: Robot, lengths: Float[Array, " w"], compliance: float | Float[Array, " w"] = 1e-6
) -> TendonShape:
    """The arcs of a limb without weight whose tendons are drawn in to these lengths [m].

    The shape of least energy: tensions T >= 0 with (J K^-1 J^T + C) T >= what the tendons are too long by, and equality
    where a tendon pulls.

    **Arguments:** `compliance`: C, stretch of a tendon per tension [m/N]; four tendons round one segment need one, as
    three of them already say what it does.
    """
    model = robot.one
    _segments(model.arm)

    def improve(_, carry):
        q, _ = carry
        lengths_here, J = wire_lengths(model, q), jax.jacrev(lambda q: wire_lengths(model, q))(q)
        softness = jnp.einsum("wnk,nk,vnk->wv", J, 1.0 / model.stiffness, J) + jnp.diag(compliance * ones)
        # What the tendons would be long by if nothing pulled.
        free = lengths_here + jnp.sum(J * (model.rest - q), (1, 2))
        tension = least_pull(softness, free - lengths)
        return model.rest - jnp.tensordot(tension, J, 1) / model.stiffness, tension

    ones = jnp.ones_like(lengths)
    q, tension = jax.lax.fori_loop(0, _ITERATIONS, improve, (model.rest, jnp.zeros_like(lengths)))
    return TendonShape(q, arcs_of(model.arm, q), tension)


@quick_jit
def tensions_for_shape(
    robot: Robot, q: Float[Array, "n k"], inputs: Inputs | None = None, least: float | Float[Array, " w"] = 0.0
) -> TendonPull:
    """The smallest tensions that hold a shape, against the limb's weight and its other loads.

    With r the residual of a limb without tendons at rest there, J^T T = -r; where pulling cannot
    give all of it, bends come before lengths.

    **Arguments:** `inputs`: loads besides the tendons; `least`: tension that every tendon has in any case [N].
    """
    model = robot.one
    _segments(model.arm)
    inputs = no_inputs(robot) if inputs is None else inputs
    count = model.wires.course.along_segments(model.arm, q).shape[0] if model.wires is not None else 0
    if not count:
        raise InputError("this arm has no tendons to pull")
    base = jnp.broadcast_to(jnp.asarray(least, float), (count,))
    residual = at_rest(robot, q, inputs._replace(wires=base))
    assert isinstance(residual, Array)  # of one arm
    J = jax.jacrev(lambda q: wire_lengths(model, q))(q)
    # Rows as angles and relative lengths.
    worth = jnp.where(jnp.array([mode == "stretch" for mode in model.arm.segments.modes]), _LENGTH_COUNTS, 1.0)
    worth = worth * jnp.where(worth == 1.0, model.arm.segments.length[:, None], 1.0) / model.stiffness
    rows, target = (J * worth).reshape(count, -1), (residual * worth).ravel()
    more = least_pull(rows @ rows.T, -rows @ target)
    left = residual + jnp.tensordot(more, J, 1)
    return TendonPull(base + more, left / model.stiffness)


def least_pull(G: Float[Array, "w w"], g: Float[Array, " w"], ridge: float = _RIDGE) -> Float[Array, " w"]:
    """The x >= 0 that makes x^T G x / 2 - g^T x least: after Lawson and Hanson (1974), chapter 23.

    **Arguments:** `G`: symmetric, not negative; `ridge`: of its largest entry, added to the diagonal, so that of many
    solutions the smallest is found.
    """
    size = len(g)
    G = G + ridge * jnp.max(jnp.diagonal(G)) * jnp.eye(size)
    small_gain = 1e-12 * jnp.max(jnp.abs(g))

    def improve(state):
        x, pulls, _, count = state
        both = pulls[:, None] & pulls[None]
        s = jnp.linalg.solve(jnp.where(both, G, jnp.eye(size)), jnp.where(pulls, g, 0.0))
        pushing = pulls & (s <= 0.0)
        # Some would push: go as far as the first of them is slack, and let go of it.
        share = jnp.where(pushing, x / jnp.maximum(x - s, 1e-300), jnp.inf)
        first = jnp.min(share)
        back = x + jnp.where(jnp.isfinite(first), first, 0.0) * (s - x)
        fewer = pulls & ~(share <= first)
        # All pull: take on the one that gains the most.
        gain = jnp.where(pulls, -jnp.inf, g - G @ s)
        best = jnp.argmax(gain)
        done = gain[best] <= small_gain
        more = pulls | ((jnp.arange(size) == best) & ~done)
        wrong = jnp.any(pushing)
        x = jnp.where(wrong, jnp.where(fewer, back, 0.0), jnp.where(pulls, s, 0.0))
        return x, jnp.where(wrong, fewer, more), ~wrong & done, count + 1

    def going_on(state):
        return ~state[2] & (state[3] < 6 * size)

    start = (jnp.zeros(size), jnp.zeros(size, bool), jnp.asarray(False), jnp.asarray(0))
    return jax.lax.while_loop(going_on, improve, start)[0]


def _segments(arm: Arm) -> StrainSegment:
    """The segments of a limb, arcs of free length."""
    segments = arm.segments
    if not isinstance(segments, StrainSegment) or segments.modes != _MODES:
        modes = getattr(segments, "modes", type(segments).__name__)
        raise InputError(f"a limb's segments need the modes {', '.join(_MODES)}; got {modes}")
    return segments
