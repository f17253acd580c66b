"""Shapes that bring a segment's end to a point in space: an arc as first guess, and changes by Newton's method.

Which segment may be chosen while the motion runs: those beyond it do not count.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.bodies import Arm
from hydrostat.lie import small
from hydrostat.mechanics import kinematics

_SLACK = 1.08  # length of an arm over the distance that it reaches to: with less, its base must bend sharply
_EASY_LENGTHS = (0.8, 1.5)  # over the rest length, that a plan starts from
_BASE = 0.5  # of the arm, that turns it to the side


def ease_of_change(arm: Arm) -> Float[Array, "n k"]:
    """The ease with which a plan changes each coordinate: 1 rad of bend as much as 0.3 of the length."""
    length = arm.segments.length
    columns = [jnp.full(arm.count, 0.1) if mode == "stretch" else 1.0 / length**2 for mode in arm.segments.modes]
    return jnp.stack(columns, -1)


def arc_to_point(arm: Arm, point: Float[Array, " 3"], last=None) -> Float[Array, "n k"]:
    """An arc whose end is near a point, stretched or shortened a little, that starts with a bend to its side.

    It has the chord's length and direction as if arm and arc were continuous.

    **Arguments:** `last`: number of segments, from the base, that are bent; the others stay as at rest; all of them
    when not given.
    """
    segments, n = arm.segments, arm.count
    within = jnp.ones(n) if last is None else jnp.where(jnp.arange(n) < last, 1.0, 0.0)
    lengths = within * segments.length
    length = jnp.sum(lengths)
    local = small.matvec(arm.T_world_base.rotation.T, point - arm.T_world_base.position)
    sideways = jnp.hypot(local[0], local[1])
    azimuth, aside = jnp.arctan2(local[1], local[0]), jnp.arctan2(sideways, local[2])
    far = small.norm(local) / length
    stretch = jnp.clip(_SLACK * far, *_EASY_LENGTHS)
    # sin(x) / x = chord over length, by its series: x^2 = 6 (1 - c) (1 + 3/10 (1 - c) + ...).
    slack = jnp.clip(1.0 - far / stretch, 0.0, 0.9)
    half = jnp.sqrt(6.0 * slack * (1.0 + 0.3 * slack + 0.2 * slack**2))
    middle = (jnp.cumsum(segments.length) - 0.5 * segments.length) / length
    base = jnp.where(middle <= _BASE, lengths, 0.0)
    bend = 2.0 * half * lengths / length + (aside - half) * base / jnp.sum(base)
    parts = {
        "bend_x": -jnp.sin(azimuth) * bend / segments.length,
        "bend_y": jnp.cos(azimuth) * bend / segments.length,
        "twist": jnp.zeros(n),
        "stretch": within * (stretch - 1.0),
    }
    return jnp.stack([parts[mode] for mode in segments.modes], -1)


def towards_point(
    arm: Arm, q: Float[Array, "n k"], point: Float[Array, " 3"], last, most: Float[Array, ""] | float
) -> Float[Array, "n k"]:
    """A shape after one step of Newton's method, by the least changes, that takes the end of a segment to a point.

    The Jacobian has closed form: end i of a segment turns and moves by its own Jacobian, and what is beyond it
    rigidly with it.

    **Arguments:** `last`: number of the segment, from 1; `most`: the largest step towards the point [m].
    """
    ends = kinematics.segment_poses(arm, q)
    end = ends[last].position
    own = jax.vmap(lambda segment, q: segment.jacobian(q, 1.0))(arm.segments, q)
    R, lever = ends.rotation[1:], end - ends.position[1:]
    spin, shift = (jnp.swapaxes(small.matmul(R, part), -1, -2) for part in (own[:, :3], own[:, 3:]))
    each = shift + small.cross(spin, jnp.broadcast_to(lever[:, None], spin.shape))
    J = jnp.where((jnp.arange(arm.count) < last)[:, None, None], each, 0.0).reshape(-1, 3)
    JW = J * ease_of_change(arm).reshape(-1, 1)
    gap = point - end
    gap = gap * jnp.minimum(1.0, most / jnp.maximum(small.norm(gap), 1e-12))
    change = small.matvec(JW, small.matvec(small.inverse_positive(small.matmul(JW.T, J)), gap))
    return q + change.reshape(q.shape)
