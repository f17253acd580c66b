"""The Stewart segment: two plates joined by six legs, whose rings narrow as the plates part (Lafmejani et al. 2020).

The relative pose of the upper plate has six freedoms, and the six legs hold all of them. Radial joints keep the volume
of the truncated cone between the plates: the rings' radii follow the distance of the plates' centres.

As printed the legs coincide in pairs, so that only three of six are distinct; here the joints of the upper plate are
shifted by one place, which makes the legs the edges of an octahedron.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from hydrostat.geometry import frustum_volume
from hydrostat.lie import SE3, small, so3
from hydrostat.segments.base import AbstractSegment

LOWER_DEG = (150.0, 150.0, 270.0, 270.0, 30.0, 30.0)
"""Azimuths of the legs' joints on the lower plate [deg]."""
UPPER_DEG = (90.0, 210.0, 210.0, 330.0, 330.0, 90.0)
"""Azimuths on the upper plate: each joint takes one leg from either neighbour of the joint below it [deg]."""

_MODES = ("turn_x", "turn_y", "turn_z", "move_x", "move_y", "move_z")
_NEWTON_STEPS = 40
_HALVINGS = 6
_LARGEST_TURN = 0.5  # rad, of one Newton step
_SINGULAR_BELOW = 1e-3  # smallest singular value of the leg Jacobian, rotations counted at the ring


class StewartSegment(AbstractSegment):
    """A platform on six legs. The coordinates are the upper plate's rotation vector and its displacement from rest.

    Poses T are those of the upper plate relative to the lower one; twists of the upper plate relative to the lower one
    are (angular velocity, velocity of its centre), in the axes of the lower plate.
    """

    length: Float[Array, "*batch"]
    """Distance of the plates at rest, L [m]."""
    radius: Float[Array, "*batch"]
    """Radius of the lower ring at rest [m]."""
    taper: Float[Array, "*batch"]
    """The upper ring's radius over the lower one's."""
    lower: Float[Array, "*batch 6"]
    """Azimuths of the joints on the lower plate [rad]."""
    upper: Float[Array, "*batch 6"]
    """Azimuths of the joints on the upper plate, in its own axes [rad]."""
    free: Bool[Array, "*batch 6"]
    """Which coordinates are free: all six."""

    modes = _MODES

    def __init__(self, length, radius, taper, lower_deg=LOWER_DEG, upper_deg=UPPER_DEG):
        self.length = jnp.asarray(length, float)
        shape = self.length.shape
        self.radius = jnp.broadcast_to(jnp.asarray(radius, float), shape)
        self.taper = jnp.broadcast_to(jnp.asarray(taper, float), shape)
        self.lower = jnp.broadcast_to(jnp.deg2rad(jnp.asarray(lower_deg, float)), (*shape, 6))
        self.upper = jnp.broadcast_to(jnp.deg2rad(jnp.asarray(upper_deg, float)), (*shape, 6))
        self.free = jnp.ones((*shape, 6), bool)

    @property
    def scale(self) -> Float[Array, "*batch"]:
        """The scale of each coordinate: 1, as all are radians or metres already."""
        return jnp.ones_like(self.length)

    @property
    def rest(self) -> Float[Array, "*batch 3"]:
        """Where the upper plate's centre is at rest [m]."""
        return self.length[..., None] * np.eye(3)[2]

    def pose(self, q, s) -> SE3:
        """The pose of the point s of the strut between the plates' centres; 1 is the upper plate."""
        s = jnp.asarray(s, float)
        return SE3(so3.exp(s[..., None] * q[..., :3]), s[..., None] * (self.rest + q[..., 3:]))

    def jacobian(self, q, s) -> Float[Array, "6 k"]:
        """The body Jacobian of the point s."""
        s = jnp.asarray(s, float)[..., None, None]
        turn = s[..., 0] * q[..., :3]
        angular = s * so3.tangent(turn)
        linear = s * jnp.swapaxes(so3.exp(turn), -1, -2)
        zero = jnp.zeros_like(angular)
        return jnp.concatenate(
            [jnp.concatenate([angular, zero], -1), jnp.concatenate([zero, jnp.broadcast_to(linear, zero.shape)], -1)],
            -2,
        )

    def twist(self, q, v, s) -> Float[Array, " 6"]:
        """The body twist of the point s at the rates v."""
        s = jnp.asarray(s, float)[..., None]
        turn = s * q[..., :3]
        angular = small.matvec(so3.tangent(turn), s * v[..., :3])
        linear = small.matvec(jnp.swapaxes(so3.exp(turn), -1, -2), s * v[..., 3:])
        return jnp.concatenate([angular, linear], -1)

    def direction(self, q, T: SE3) -> Float[Array, "*points 3"]:
        """The axis, straight from the centre of the lower plate to that of the upper one."""
        across = self.rest + q[..., 3:]
        return jnp.broadcast_to(across / small.norm(across)[..., None], T.position.shape)

    def coordinates_of(self, T: SE3) -> Float[Array, "*batch 6"]:
        """The coordinates of a relative pose."""
        return jnp.concatenate([so3.log(T.rotation), T.position - self.rest], -1)

    def twist_rates(self, q: Float[Array, "*batch 6"]) -> Float[Array, "*batch 6 6"]:
        """The twist of the upper plate, in the axes of the lower plate, per rate of the coordinates."""
        turn = so3.tangent(-q[..., :3])  # angular velocity in the outer axes
        zero, one = jnp.zeros_like(turn), jnp.broadcast_to(jnp.eye(3), turn.shape)
        return jnp.concatenate([jnp.concatenate([turn, zero], -1), jnp.concatenate([zero, one], -1)], -2)

    # Rings and legs, by the relative pose.

    def stretch(self, q) -> Float[Array, "*batch"]:
        """The distance of the plates' centres over that at rest."""
        return small.norm(self.rest + q[..., 3:]) / self.length

    def rings(self, T: SE3) -> Float[Array, "*batch 2"]:
        """The radii of the lower and of the upper ring that keep the rest volume [m]."""
        lower = self.radius * jnp.sqrt(self.length / small.norm(T.position))
        return jnp.stack([lower, self.taper * lower], -1)

    def volume(self, T: SE3, rings: Float[Array, "*batch 2"]) -> Float[Array, "*batch"]:
        """The volume of the truncated cone between two rings [m^3], its height the distance of their centres."""
        return frustum_volume(small.norm(T.position), rings[..., 0], rings[..., 1])

    def body_volume(self, T: SE3, rings: Float[Array, "*batch 2"]) -> Float[Array, "*batch"]:
        """The volume of the body between two rings as they lie in space, its skin of straight lines [m^3].

        The section at the fraction s is the ellipse with the conjugate radii b1 and b2, each (1 - s) a + s R b of the
        rings' own; V = pi int p . (b1 x b2) ds. Of rings that are parallel, not twisted and not sheared it is that of
        the truncated cone; tilt, twist and shear make it smaller.
        """
        R, x, y, z = T.rotation, *np.eye(3)
        lower, upper = rings[..., :1], rings[..., 1:]
        mixed = small.cross(jnp.broadcast_to(x, T.position.shape), R[..., 1]) + small.cross(
            R[..., 0], jnp.broadcast_to(y, T.position.shape)
        )
        area = (lower**2 * z + upper**2 * R[..., 2]) / 3.0 + lower * upper * mixed / 6.0
        return np.pi * small.dot(T.position, area)

    def leg_vectors(self, T: SE3, rings: Float[Array, "*batch 2"]) -> Float[Array, "*batch 6 3"]:
        """The vector from each leg's lower joint to its upper one, in the axes of the lower plate [m]."""
        return T.position[..., None, :] + self._upper_joints(T, rings) - self._lower_joints(rings)

    def leg_lengths(self, T: SE3, rings: Float[Array, "*batch 2"] | None = None) -> Float[Array, "*batch 6"]:
        """The lengths of the legs [m], by default with the rings that keep the volume."""
        return small.norm(self.leg_vectors(T, self.rings(T) if rings is None else rings))

    def leg_jacobian(self, T: SE3, rings: Float[Array, "*batch 2"] | None = None) -> Float[Array, "*batch 6 6"]:
        """The rates of the legs per relative twist while the radial joints hold still: rows (R b x u, u)."""
        rings = self.rings(T) if rings is None else rings
        upper = self._upper_joints(T, rings)
        legs = T.position[..., None, :] + upper - self._lower_joints(rings)
        along = legs / small.norm(legs)[..., None]
        return jnp.concatenate([small.cross(upper, along), along], -1)

    def radial_rates(self, T: SE3) -> Float[Array, "*batch 6 6"]:
        """The part of the rates of the legs per relative twist that comes from the radial joints as they keep the
        volume."""
        rings = self.rings(T)
        upper, lower = self._upper_joints(T, rings), self._lower_joints(rings)
        legs = T.position[..., None, :] + upper - lower
        by_size = small.dot(legs, upper - lower) / small.norm(legs)  # leg rate per relative rate of the radii
        p = T.position
        by_move = -0.5 * p / small.dot(p, p)[..., None]
        linear = by_size[..., :, None] * by_move[..., None, :]
        return jnp.concatenate([jnp.zeros_like(linear), linear], -1)

    def gap(self, T: SE3) -> Float[Array, "*batch"]:
        """How far the lowest point of the upper rim is above the lower plate, over the plates' distance at rest."""
        return (T.position[..., 2] + self._lowest(T)[..., 2]) / self.length

    def gap_row(self, T: SE3) -> Float[Array, "*batch 6"]:
        """The rate of the rim's height per relative twist, the radial joints held [m/s]."""
        lowest = self._lowest(T)
        up = jnp.broadcast_to(jnp.asarray(np.eye(3)[2]), lowest.shape)
        return jnp.concatenate([small.cross(lowest, up), up], -1)

    def _lowest(self, T: SE3) -> Float[Array, "*batch 3"]:
        """The lowest point of the upper rim, from its centre in the axes of the lower plate."""
        tilt = T.rotation[..., 2, :2]
        towards = -tilt / jnp.sqrt(small.dot(tilt, tilt) + 1e-12)[..., None]
        flat = jnp.concatenate([towards, jnp.zeros_like(towards[..., :1])], -1)
        return self.rings(T)[..., 1:] * small.matvec(T.rotation, flat)

    def _lower_joints(self, rings) -> Float[Array, "*batch 6 3"]:
        return rings[..., :1, None] * _circle(self.lower)

    def _upper_joints(self, T: SE3, rings) -> Float[Array, "*batch 6 3"]:
        """The joints of the upper plate relative to its centre, in the axes of the lower plate."""
        return rings[..., 1:, None] * small.matvec(T.rotation[..., None, :, :], _circle(self.upper))


def _circle(azimuths: Float[Array, "*batch 6"]) -> Float[Array, "*batch 6 3"]:
    """Points on the unit circle of a plate."""
    return jnp.stack([jnp.cos(azimuths), jnp.sin(azimuths), jnp.zeros_like(azimuths)], -1)


class LegSolution(NamedTuple):
    """The pose at which the legs have prescribed lengths."""

    T: SE3
    miss: Float[Array, "*batch"]
    """Largest difference between a prescribed length and that of the pose [m]."""
    found: Bool[Array, "*batch"]


@eqx.filter_jit
def pose_from_legs(
    segments: StewartSegment,
    lengths: Float[Array, "*batch 6"],
    start: SE3,
    rings: Float[Array, "*batch 2"] | None = None,
    tolerance: float = 1e-12,
) -> LegSolution:
    """The relative poses near `start` at which the legs have prescribed lengths [m], for any batch.

    **Arguments:** `rings`: radii that the radial joints hold; when not given they keep the volume, and then plates
    wide for their distance have two poses for the same legs: the one on the side of the start is taken; `tolerance`:
    relative to the rest length.
    """
    batch, own = lengths.shape[:-1], segments.length.ndim
    segments = jax.tree.map(lambda x: jnp.broadcast_to(x, (*batch, *x.shape[own:])), segments)
    solve = lambda segment, lengths, start, rings: _newton(segment, lengths, start, rings, tolerance)  # noqa: E731
    for _ in range(lengths.ndim - 1):
        solve = jax.vmap(solve, in_axes=(0, 0, 0, None if rings is None else 0))
    return solve(segments, lengths, start, rings)


def _newton(segment: StewartSegment, lengths, start: SE3, rings, tolerance) -> LegSolution:
    """Newton's method on the twist from pose to pose, each step shortened until it helps."""

    def missing(T):
        return lengths - segment.leg_lengths(T, rings)

    def turn(state):
        T, left, _, count = state
        G = segment.leg_jacobian(T, rings)
        if rings is None:
            G = G + segment.radial_rates(T)
        step = jnp.linalg.solve(G, left)
        step = jnp.where(jnp.all(jnp.isfinite(step)), step, 0.0)
        size = jnp.maximum(small.norm(step[:3]) / _LARGEST_TURN, small.norm(step[3:]) / (0.5 * segment.length))
        step = step / jnp.maximum(1.0, size)
        tries = jax.vmap(lambda share: displaced(T, share * step))(0.5 ** jnp.arange(_HALVINGS))
        left_of = jax.vmap(missing)(tries)
        best = jnp.argmin(jnp.max(jnp.abs(left_of), -1))
        better = jnp.max(jnp.abs(left_of[best])) < jnp.max(jnp.abs(left))
        T, left = jax.tree.map(lambda new, old: jnp.where(better, new[best], old), (tries, left_of), (T, left))
        return T, left, better, count + 1

    def wanting(state):
        _, left, better, count = state
        return (jnp.max(jnp.abs(left)) > tolerance * segment.length) & better & (count < _NEWTON_STEPS)

    begin = (start, missing(start), jnp.asarray(True), jnp.asarray(0))
    T, left, *_ = jax.lax.while_loop(wanting, turn, begin)
    miss = jnp.max(jnp.abs(left))
    # Rounding may stop the search just short of a tight tolerance.
    return LegSolution(T, miss, miss <= jnp.maximum(tolerance, 1e-12) * segment.length)


def displaced(T: SE3, twist: Float[Array, "*batch 6"]) -> SE3:
    """The pose after a relative twist, in the axes of the lower plate, has acted for unit time."""
    return SE3(small.matmul(so3.exp(twist[..., :3]), T.rotation), T.position + twist[..., 3:])


def orthonormal(R: Float[Array, "*batch 3 3"]) -> Float[Array, "*batch 3 3"]:
    """A rotation rid of the rounding that many products leave, by one step of Newton's method."""
    return 1.5 * R - 0.5 * small.matmul(R, small.matmul(jnp.swapaxes(R, -1, -2), R))


class Faults(NamedTuple):
    """The singular and the folded ones among poses."""

    conditioning: Float[Array, "*batch"]
    """Smallest singular value of the leg Jacobian, rotations counted at the ring; 0 where legs cannot hold."""
    singular: Bool[Array, "*batch"]
    """The legs do not hold every motion of the upper plate."""
    folded: Bool[Array, "*batch"]
    """The rim of the upper plate is not above the lower plate."""


@eqx.filter_jit
def faults(segments: StewartSegment, T: SE3) -> Faults:
    """Singular and folded poses, for any batch that the segments broadcast to."""
    rings = segments.rings(T)
    scaled = segments.leg_jacobian(T, rings).at[..., :3].divide(rings[..., 1, None, None])
    usable = jnp.all(jnp.isfinite(scaled), (-2, -1), keepdims=True)
    least = jnp.linalg.svd(jnp.where(usable, scaled, 0.0), compute_uv=False)[..., -1]
    return Faults(least, least < _SINGULAR_BELOW, segments.gap(T) <= 0.0)


def named_faults(segments: StewartSegment, T: SE3) -> list[str]:
    """The faults of an arm's n segments in words; empty where there is none."""
    found = faults(segments, T)
    words = []
    for bad, what in ((found.singular, "singular: its legs cannot hold it"), (found.folded, "folded through its base")):
        if np.any(bad):
            words.append(f"segment {_numbered(np.asarray(bad))} is {what}")
    return words


def _numbered(chosen: np.ndarray) -> str:
    """The numbers of the chosen segments, counted from 1."""
    return ", ".join(str(i + 1) for i in np.flatnonzero(chosen))
