"""The legs of a chain of platforms as actuators: what they can do, and the forces they need."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import SE3, small
from hydrostat.segments import StewartSegment


class Legs(eqx.Module):
    """The limits of the six legs of each of n segments."""

    shortest: Float[Array, "n 6"]
    """Shortest length of a leg [m]."""
    longest: Float[Array, "n 6"]
    """Longest length of a leg [m]."""
    rate: Float[Array, " n"]
    """Fastest rate of a leg [m/s]."""
    force: Float[Array, " n"]
    """Largest force of a leg [N]."""


def make_legs(segments: StewartSegment, length_range, stroke: float, rate: float, force: float) -> Legs:
    """The limits of an arm's legs.

    **Arguments:** `length_range`: shortest and longest length over that at rest; `stroke`: by how much a leg can be
    longer or shorter than at rest [m], whichever is less; `rate` [m/s]; `force` [N].
    """
    rest = segments.leg_lengths(rest_poses(segments))
    low, high = length_range
    n = segments.length.shape
    return Legs(
        shortest=rest - jnp.minimum((1.0 - low) * rest, stroke),
        longest=rest + jnp.minimum((high - 1.0) * rest, stroke),
        rate=jnp.full(n, float(rate)),
        force=jnp.full(n, float(force)),
    )


def rest_poses(segments: StewartSegment) -> SE3:
    """The relative poses of an arm's plates at rest."""
    return SE3(jnp.broadcast_to(jnp.eye(3), (*segments.length.shape, 3, 3)), segments.rest)


def leg_rates(segments: StewartSegment, T: SE3, twist: Float[Array, "*batch 6"]) -> Float[Array, "*batch 6"]:
    """The rates of the legs at a relative twist, while the radial joints keep the volume [m/s]."""
    return small.matvec(segments.leg_jacobian(T) + segments.radial_rates(T), twist)


def leg_forces(segments: StewartSegment, q: Float[Array, "n 6"], torque: Float[Array, "n 6"]) -> Float[Array, "n 6"]:
    """The forces that the legs must push with for generalised forces on the coordinates [N].

    The radial joints hold their rings against the legs; their own forces are `radial_forces`.
    """
    # f = G^-T t = G (G^T G)^-1 t, without a library call.
    G = _rates_of_coordinates(segments, q)
    return small.matvec(G, small.matvec(small.inverse_positive(small.matmul(jnp.swapaxes(G, -1, -2), G)), torque))


def generalised_forces(
    segments: StewartSegment, q: Float[Array, "n 6"], forces: Float[Array, "n 6"]
) -> Float[Array, "n 6"]:
    """The generalised forces on the coordinates that result from forces along the legs [N]."""
    return small.matvec(jnp.swapaxes(_rates_of_coordinates(segments, q), -1, -2), forces)


def radial_forces(
    segments: StewartSegment, T: SE3, forces: Float[Array, "*rows n 6"]
) -> tuple[Float[Array, "*rows n 6"], Float[Array, "*rows n 6"]]:
    """The outward forces of the radial joints at the lower and the upper ends of the legs that bear their forces [N].

    A leg that pushes drives its joints apart: along its direction at its upper end, against it at its lower end.
    """
    legs = segments.leg_vectors(T, segments.rings(T))
    along = legs / small.norm(legs)[..., None]
    outward = [jnp.stack([jnp.cos(a), jnp.sin(a), jnp.zeros_like(a)], -1) for a in (segments.lower, segments.upper)]
    upper = small.matvec(T.rotation[..., None, :, :], outward[1])
    return forces * small.dot(along, outward[0]), -forces * small.dot(along, upper)


def _rates_of_coordinates(segments: StewartSegment, q: Float[Array, "n 6"]) -> Float[Array, "n 6 6"]:
    """The rates of the legs per rate of the coordinates, the rings held."""
    return small.matmul(segments.leg_jacobian(segments.pose(q, 1.0)), segments.twist_rates(q))
