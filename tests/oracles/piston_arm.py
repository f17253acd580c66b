"""Kang's arm by Lagrange's equations, dense: every mass by its velocity in the world, every spring by its length.

Nothing here is taken from the package. Coordinates of a segment are those of its struts: tilts about x and y over the
rest length, the stretch, and the swell where the radius is a coordinate. Rods have their mass along their length, by a
quadrature of many points.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import expm

ROD_POINTS = 12
ANGLES = np.deg2rad([0.0, 90.0, 180.0, 270.0])


class Numbers(NamedTuple):
    """The numbers of the arm, of each of n segments."""

    rest: np.ndarray
    radii: np.ndarray
    """At the base and the tip (n, 2) [m]."""
    offset: float
    modulus: float
    viscosity: float
    density: float
    stress: float
    share: float
    bulk: float | None = None

    @property
    def volume(self):
        """Of the truncated cones at rest."""
        a, b = self.radii.T
        return np.pi * self.rest * (a * a + a * b + b * b) / 3.0

    @property
    def area(self):
        return self.volume / self.rest

    @property
    def radius(self):
        return np.sqrt(self.area / np.pi)


def radius_ratio(q):
    """Of every segment, over that at rest: the volume is kept, but for swell."""
    swell = q[:, 3] if q.shape[1] == 4 else 0.0
    return (1.0 + swell) / jnp.sqrt(1.0 + q[:, 2])


def _skew(w):
    return jnp.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def _plates(numbers, q, axes):
    """The positions and axes of all plates in the world, the first one's at the origin."""
    R, p, found = axes, jnp.zeros(3), [(jnp.zeros(3), axes)]
    for length, one in zip(numbers.rest, q, strict=True):
        p = p + R @ jnp.array([0.0, 0.0, length * (1.0 + one[2])])
        R = R @ expm(_skew(length * jnp.array([one[0], one[1], 0.0])))
        found.append((p, R))
    return found


def _ends(numbers, q, axes):
    """The two ends of all legs in the world (n, 5, 3) each: four muscles, then the strut."""
    plates, ratio = _plates(numbers, q, axes), radius_ratio(q)
    ring = np.stack([np.cos(ANGLES), np.sin(ANGLES), 0.0 * ANGLES], -1)
    rings = np.concatenate([ring, np.zeros((1, 3))])
    lower, upper = [], []
    for i, (a, b) in enumerate(numbers.radii):
        (p, R), (p_up, R_up) = plates[i], plates[i + 1]
        lower.append(p + numbers.offset * a * ratio[i] * rings @ R.T)
        upper.append(p_up + numbers.offset * b * ratio[i] * rings @ R_up.T)
    return jnp.stack(lower), jnp.stack(upper)


def leg_lengths(numbers, q):
    """The lengths of four muscles and the strut of every segment."""
    lower, upper = _ends(numbers, q, jnp.eye(3))
    return jnp.linalg.norm(upper - lower, axis=-1)


def _masses(numbers, q, axes):
    """The positions of all point masses in the world, and the masses; then the axes of the platforms."""
    lower, upper = _ends(numbers, q, axes)
    along = (upper - lower) / jnp.linalg.norm(upper - lower, axis=-1)[..., None]
    at, weight = np.polynomial.legendre.leggauss(ROD_POINTS)
    reach = 0.5 * numbers.rest[:, None] * 0.5 * (at + 1.0)
    part = (numbers.share * numbers.density * numbers.volume)[:, None] * 0.5 * weight
    steps = reach[:, None, :, None] * along[:, :, None, :]
    points = jnp.stack([lower[:, :, None] + steps, upper[:, :, None] - steps])
    masses = jnp.broadcast_to(part[None, :, None, :], points.shape[:-1])
    plates = _plates(numbers, q, axes)[1:]
    return points, masses, jnp.stack([p for p, _ in plates]), jnp.stack([R for _, R in plates])


def kinetic(numbers, q, v):
    """The kinetic energy of rods, platforms and radial pistons."""

    def rate(function):
        return jax.jvp(function, (q,), (v,))

    (_, masses, _, axes), (velocities, _, plate_velocities, turning) = rate(lambda q: _masses(numbers, q, jnp.eye(3)))
    _, swelling = rate(radius_ratio)
    whole = numbers.density * numbers.volume
    plate = (1.0 - 10.0 * numbers.share) * whole
    about = 0.25 * plate * numbers.radius**2
    spin = jnp.einsum("nij,nik->njk", axes, turning)  # R^T R'
    omega = jnp.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], -1)
    moments = jnp.stack([about, about, 2.0 * about], -1)
    radial = 4.0 * numbers.share * whole * (numbers.radius * swelling) ** 2
    return 0.5 * (
        jnp.sum(masses[..., None] * velocities**2)
        + jnp.sum(plate[:, None] * plate_velocities**2)
        + jnp.sum(moments * omega**2)
        + jnp.sum(radial)
    )


def potential(numbers, q, gravity, axes):
    """The energy of springs, of the pressure, and of the weight."""
    lengths = leg_lengths(numbers, q)
    rest = leg_lengths(numbers, jnp.zeros_like(q))
    spring = numbers.modulus * numbers.area / (5.0 * numbers.rest)
    radial = numbers.modulus * np.pi * numbers.rest / 4.0
    ratio = radius_ratio(q)
    stored = 0.5 * jnp.sum(spring[:, None] * (lengths - rest) ** 2)
    stored = stored + 0.5 * jnp.sum(4.0 * radial * (numbers.radius * (ratio - 1.0)) ** 2)
    if numbers.bulk is not None:
        change = (1.0 + q[:, 2]) * ratio**2 - 1.0
        stored = stored + 0.5 * numbers.bulk * jnp.sum(numbers.volume * change**2)
    points, masses, plates, _ = _masses(numbers, q, axes)
    plate = (1.0 - 10.0 * numbers.share) * numbers.density * numbers.volume
    weight = jnp.sum(masses[..., None] * points, (0, 1, 2, 3)) + plate @ plates
    return stored - weight @ gravity


def pull(numbers, q, v, activation):
    """The generalised forces of active muscles and of dampers, by virtual work; swell is damped by its own rate."""

    def lengths(q):
        return leg_lengths(numbers, q), numbers.radius * radius_ratio(q)

    (_, _), (rates, swelling) = jax.jvp(lengths, (q,), (v,))
    spring = numbers.area / (5.0 * numbers.rest)
    force = numbers.stress * numbers.area / 4.0
    across = np.pi * numbers.rest / 4.0
    along = numbers.viscosity * spring[:, None] * rates
    along = along.at[:, :4].add(force[:, None] * activation[:, :4])
    round_ = 4.0 * across * (numbers.viscosity * swelling + numbers.stress * numbers.radius * activation[:, 4])
    _, back = jax.vjp(lengths, q)
    (forces,) = back((along, round_))
    if q.shape[1] == 4:
        damped = jnp.zeros_like(q).at[:, 3].set(4.0 * numbers.viscosity * numbers.volume * v[:, 3])
        forces = forces + damped
    return -forces


def acceleration(numbers, q, v, activation, gravity, axes):
    """The accelerations of Lagrange's equations, M a = Q + dL/dq - (d2L/dv dq) v."""
    shape, q, v = q.shape, q.ravel(), v.ravel()

    def lagrangian(q, v):
        q, v = q.reshape(shape), v.reshape(shape)
        return kinetic(numbers, q, v) - potential(numbers, q, gravity, axes)

    M = jax.hessian(lagrangian, 1)(q, v)
    coupled = jax.jvp(lambda q: jax.grad(lagrangian, 1)(q, v), (q,), (v,))[1]
    outer = pull(numbers, q.reshape(shape), v.reshape(shape), activation).ravel()
    return jnp.linalg.solve(M, outer + jax.grad(lagrangian)(q, v) - coupled).reshape(shape)
