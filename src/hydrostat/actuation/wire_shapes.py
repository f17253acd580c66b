"""The shape of an arm from the lengths of its wires.

Paper: Boccolato et al. 2009, equations 10 to 16 and 25, corrected. Three wires of a segment determine its bend vector
and one number more: how much longer all of them are than the bend needs. The paper calls this virtual compression,
because the robot would rather twist than shorten; a segment that moves well has none.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from hydrostat.actuation.tendons import Tendons
from hydrostat.bodies import Arm
from hydrostat.least_squares import least_squares
from hydrostat.lie import small

_LARGEST_GUESS = 2.5  # rad
_EXPLAINED = 1e-6  # of a wire's offset


class WireShape(NamedTuple):
    """The shape of an arm that follows from the lengths of its wires."""

    q: Float[Array, "n k"]
    """The configuration."""
    bend: Float[Array, "n 2"]
    """Bend vectors theta (cos phi, sin phi) [rad]."""
    compression: Float[Array, " n"]
    """Virtual compression: mean wire length minus the model's mean at that bend [m]; negative when too short."""
    misfit: Float[Array, " n"]
    """Largest wire length left unexplained in each segment [m]; more than three wires may not agree."""
    solved: Bool[Array, " n"]
    """Whether the solve of each segment converged."""


def shape_from_lengths(arm: Arm, tendons: Tendons, lengths: Float[Array, " w"]) -> WireShape:
    """The shape that the lengths of all wires [m] belong to.

    The first segment follows from the wires that end at it; the others are then shorter by what they leave in it, and
    the second follows in the same way. For hard wires on a cylinder this is the closed form
    theta (cos phi, sin phi) = -2 / (3 r) sum_n L_n (cos a_n, sin a_n); for cones and soft wires it is solved.
    """
    heights = arm.segments.length
    ends_here = jnp.arange(arm.count)[:, None] == jnp.array(tendons.ends_at)

    def solve_next(left, index):
        here = tendons.within(index)

        def along(bend):
            return here.along_arcs(bend[None], heights[index][None])[:, 0]

        offsets = jnp.mean(here.offsets[:, 0], -1)
        bend, compression, misfit, solved = _solve_segment(along, left, ends_here[index], tendons.directions, offsets)
        # What the wires leave here does not count for the segments to come.
        left = left - here.passes[:, 0] * (along(bend) + compression)
        return left, (bend, compression, misfit, solved)

    _, (bend, *rest) = jax.lax.scan(solve_next, lengths, jnp.arange(arm.count))
    q = jax.vmap(lambda segment, bend: segment.from_bend_vector(bend))(arm.segments, bend)
    return WireShape(q, bend, *rest)


def _solve_segment(model, lengths, mine, directions, offsets):
    """Bend vector and compression of one segment, from the lengths within it of the wires that end at it."""
    scale = jnp.sum(offsets * mine) / jnp.sum(mine)

    def residual(unknown):
        return jnp.where(mine, (model(unknown[:2]) - lengths) / scale + unknown[2], 0.0)

    # A cylinder is the first guess: its lengths are linear in the unknowns. Beyond about half a turn the models fold
    # back, and the wires cannot mean that.
    rows = jnp.concatenate([-offsets[:, None] * directions / scale, jnp.ones((len(lengths), 1))], -1) * mine[:, None]
    guess = jnp.linalg.solve(rows.T @ rows, rows.T @ ((lengths - model(jnp.zeros(2))) / scale))
    guess = guess.at[:2].multiply(jnp.minimum(1.0, _LARGEST_GUESS / jnp.maximum(small.norm(guess[:2]), 1e-9)))
    solution = least_squares(residual, guess)
    misfit = jnp.max(jnp.abs(solution.residual))
    # Lengths that no shape has end at a huge bend, or unexplained though three wires have three unknowns.
    plausible = (small.norm(solution.x[:2]) < 2.0 * jnp.pi) & ((misfit < _EXPLAINED) | (jnp.sum(mine) > 3))
    return solution.x[:2], scale * solution.x[2], scale * misfit, solution.converged & plausible
