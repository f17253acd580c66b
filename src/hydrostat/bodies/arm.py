"""An arm: a chain of segments on a base."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.bodies.material import Material
from hydrostat.bodies.section import Section
from hydrostat.lie import SE3
from hydrostat.segments import AbstractSegment


class Arm(eqx.Module):
    """A chain of n segments of one kind with k coordinates each, every parameter given per segment.

    `segments`, `section` and `material` are stacked: their arrays carry the segment as leading axis. A configuration
    of the arm is an array q of shape (n, k).
    """

    segments: AbstractSegment
    section: Section
    material: Material
    T_world_base: SE3

    @property
    def count(self) -> int:
        """The number of segments n."""
        return self.segments.length.shape[0]

    @property
    def coordinates(self) -> int:
        """The number of coordinates of one segment, k."""
        return self.segments.coordinates

    @property
    def length(self) -> Float[Array, ""]:
        """The rest length of the whole arm [m]."""
        return jnp.sum(self.segments.length)

    def first(self, count: int) -> "Arm":
        """The arm that consists of the first `count` segments of this one."""
        segments, section, material = jax.tree.map(lambda y: y[:count], (self.segments, self.section, self.material))
        return Arm(segments, section, material, self.T_world_base)

    def straight(self) -> Float[Array, "n k"]:
        """The coordinates of the unloaded arm: no strain beyond the rest strain."""
        return jnp.zeros((self.count, self.coordinates))
