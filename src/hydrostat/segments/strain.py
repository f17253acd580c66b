"""The constant-strain segment: a piece of rod whose strains do not change along it."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from hydrostat.lie import SE3, se3, small
from hydrostat.segments.base import AbstractSegment, Fibres

MODES = ("bend_x", "bend_y", "twist", "shear_x", "shear_y", "stretch")
"""The six strains in the order of a twist: curvatures about x, y and z [1/m], then shear in x, in y, and stretch."""


class Arc(NamedTuple):
    """An arc of a circle: what a bent segment without shear and twist is."""

    theta: Float[Array, "*batch"]
    """Angle between the tangents of its two ends [rad], at least 0."""
    phi: Float[Array, "*batch"]
    """Azimuth, from +x towards +y, that it bends to [rad]; 0 where it is straight."""
    length: Float[Array, "*batch"]
    """Arc length [m]."""


class StrainSegment(AbstractSegment):
    """A segment of constant strain: T(q, s) = exp(s L (e + B q)).

    e = (0, 0, 0, 0, 0, 1) is the straight rod's strain plus the rest strain; B picks the strains that are free. The
    coordinates are those strains, so refining an arm does not change their meaning.
    """

    length: Float[Array, ""]
    """Rest length L [m]."""
    rest_strain: Float[Array, " 6"]
    """Strain of the unloaded segment beyond the straight one, in the order of `MODES`."""
    free: Bool[Array, " k"]
    """Which of `modes` this segment can use; segments of one arm may differ in it."""
    modes: tuple[str, ...] = eqx.field(static=True)
    """The strains that are coordinates, in the order of `MODES`."""

    def __init__(self, length, modes=("bend_x", "bend_y"), rest_strain=None, free=None):
        unknown = [mode for mode in modes if mode not in MODES]
        if unknown or not modes:
            raise ValueError(f"`modes` must be taken from {', '.join(MODES)}; got {', '.join(modes) or 'none'}")
        if list(modes) != sorted(set(modes), key=MODES.index):
            raise ValueError(f"`modes` must name each strain once, in the order {', '.join(MODES)}; got {modes}")
        self.length = jnp.asarray(length, float)
        self.modes = tuple(modes)
        shape = self.length.shape
        self.rest_strain = jnp.zeros((*shape, 6)) if rest_strain is None else jnp.asarray(rest_strain, float)
        self.free = jnp.ones((*shape, len(modes)), bool) if free is None else jnp.asarray(free, bool)

    @property
    def scale(self) -> Float[Array, "*batch"]:
        """The displacement of a unit of each strain over the whole segment: its length."""
        return self.length

    @property
    def basis(self) -> Float[Array, "*batch 6 k"]:
        """The matrix B that places the coordinates among the six strains; a locked coordinate's column is zero."""
        return jnp.asarray(self._columns) * self.free[..., None, :]

    @property
    def _columns(self) -> np.ndarray:
        """B without the locks, a constant."""
        return np.eye(6)[:, [MODES.index(mode) for mode in self.modes]]

    def strain(self, q: Float[Array, "*batch k"]) -> Float[Array, "*batch 6"]:
        """The six strains of the segment."""
        return self._placed(q) + self.rest_strain + np.eye(6)[5]

    def stretch(self, q: Float[Array, "*batch k"]) -> Float[Array, "*batch"]:
        """The axial strain component; 1 for a segment that cannot stretch."""
        return self.strain(q)[..., 5]

    def _placed(self, q: Float[Array, "*batch k"]) -> Float[Array, "*batch 6"]:
        """B q: the coordinates at their places among the six strains."""
        # Placing columns instead of multiplying by B keeps constant zeros visible to the compiler.
        q = jnp.where(self.free, q, 0.0)
        places = {MODES.index(mode): q[..., i] for i, mode in enumerate(self.modes)}
        zero = jnp.zeros_like(q[..., 0])
        return jnp.stack([places.get(i, zero) for i in range(6)], -1)

    def pose(self, q, s) -> SE3:
        """The pose of the material point s relative to the segment's base."""
        return se3.exp((s * self.length)[..., None] * self.strain(q))

    def jacobian(self, q, s) -> Float[Array, "6 k"]:
        """The body Jacobian of the material point s: s L T(s L strain) B, with SE(3)'s tangent operator T."""
        reach = (s * self.length)[..., None]
        # Picking columns instead of multiplying by B: a product with zeros and ones costs as much as any other.
        columns = se3.tangent(reach * self.strain(q))[..., [MODES.index(mode) for mode in self.modes]]
        return jnp.where(self.free[..., None, :], reach[..., None] * columns, 0.0)

    def twist(self, q, v, s) -> Float[Array, " 6"]:
        """The body twist of the material point s at the rates v: the Jacobian times v, without the matrix."""
        reach = (s * self.length)[..., None]
        return se3.tangent_times(reach * self.strain(q), reach * self._placed(v))

    def point(self, q, v, s):
        """Pose, Jacobian, twist and bias of the material point s, from one set of a rotation's coefficients."""
        reach = s * self.length
        T, tangent, Jv, c = se3.motion(reach * self.strain(q), reach * self._placed(v))
        columns = tangent[:, [MODES.index(mode) for mode in self.modes]]
        return T, jnp.where(self.free[None, :], reach * columns, 0.0), Jv, c

    def direction(self, q, T: SE3) -> Float[Array, "*points 3"]:
        """The axis along the linear strains, which shear turns away from z."""
        linear = self.strain(q)[..., 3:]
        linear = linear / small.norm(linear)[..., None]
        return small.matvec(T.rotation, jnp.broadcast_to(linear, T.position.shape))

    def fibres(self, q, radius, lower, upper) -> Fibres:
        """Fibres from points of the lower section to points of the upper one, straight in the section.

        Their tangent is u + k x c + c', with the strains u and k and the place c in the section. At the fibre's middle,
        which is exact for fibres along the axis, and for winding ones to the fourth power of what a segment turns.
        """
        strain = self.strain(q)
        middle = jnp.pad(0.5 * (lower + upper), ((0, 0), (0, 1)))
        drift = jnp.pad(upper - lower, ((0, 0), (0, 1))) / self.length
        by_radius = small.cross(jnp.broadcast_to(strain[:3], middle.shape), middle) + drift
        tangent = strain[3:] + radius * by_radius
        size = small.norm(tangent)
        unit = tangent / size[:, None]
        # (dk x c) . t = dk . (c x t)
        all_strains = jnp.concatenate([radius * small.cross(middle, unit), unit], -1)
        gradient = all_strains[:, [MODES.index(mode) for mode in self.modes]]
        gradient = jnp.where(self.free, self.length * gradient, 0.0)
        return Fibres(self.length * size, gradient, self.length * small.dot(unit, by_radius))

    def bend_vector(self, q: Float[Array, "*batch k"]) -> Float[Array, "*batch 2"]:
        """The bend as a vector of the cross-section, theta (cos phi, sin phi) [rad]: no singularity when straight."""
        strain = self.strain(q)
        return self.length[..., None] * jnp.stack([strain[..., 1], -strain[..., 0]], -1)

    def from_bend_vector(self, bend: Float[Array, "*batch 2"], length=None) -> Float[Array, "*batch k"]:
        """The coordinates of the arc with this bend vector [rad] and length [m] (the rest length when not given)."""
        rest = self.length
        strains = {"bend_x": -bend[..., 1] / rest, "bend_y": bend[..., 0] / rest}
        if length is not None:
            strains["stretch"] = length / rest - 1.0
        missing = [mode for mode in strains if mode not in self.modes]
        if missing:
            raise ValueError(f"an arc needs the modes {', '.join(strains)}; this segment lacks {', '.join(missing)}")
        zero = jnp.zeros_like(bend[..., 0])
        strain = jnp.stack([strains.get(mode, zero) for mode in self.modes], -1)
        return strain - jnp.take(self.rest_strain, jnp.array([MODES.index(mode) for mode in self.modes]), -1)

    def to_arc(self, q: Float[Array, "*batch k"]) -> Arc:
        """The arc parameters; the straight segment gets theta = phi = 0, with derivatives that are finite."""
        bend = self.bend_vector(q)
        square = jnp.sum(bend * bend, -1)
        straight = square == 0.0
        theta = jnp.where(straight, 0.0, jnp.sqrt(jnp.where(straight, 1.0, square)))
        phi = jnp.arctan2(bend[..., 1], jnp.where(straight, 1.0, bend[..., 0]))
        return Arc(theta, phi, self.length * self.strain(q)[..., 5])

    def from_arc(self, arc: Arc) -> Float[Array, "*batch k"]:
        """The coordinates of an arc; its length counts only where `stretch` is free."""
        bend = arc.theta[..., None] * jnp.stack([jnp.cos(arc.phi), jnp.sin(arc.phi)], -1)
        return self.from_bend_vector(bend, arc.length if "stretch" in self.modes else None)
