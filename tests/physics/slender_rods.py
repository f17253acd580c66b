"""Planar rods for the tests of whole-system truths, and the limit that a few resolutions point to.

Rods of one kind and resolution have the same shapes whatever their parameters, so that they share compiled functions.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from hydrostat.bodies import Arm, Material, Section
from hydrostat.lie import SE3
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import no_inputs, single_arm
from hydrostat.mechanics.statics import equilibrium, vibrations
from hydrostat.segments import StrainSegment

COUNTS = (16, 32, 64)
"""Numbers of segments, each twice the one before."""
EPS = np.finfo(float).eps
THIN = 1e-5
"""Radius of the ideal rod: rotary inertia changes none of its frequencies by more than 1e-8."""
UPRIGHT = SE3.identity()
"""The arm points up; a positive `bend_y` bends it towards x."""
HORIZONTAL = SE3(jnp.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), jnp.zeros(3))
"""The arm points along x; a positive `bend_y` bends it down."""

_segment_poses = eqx.filter_jit(kinematics.segment_poses)


def arm_from_radii(radius, length, young, density, modes=("bend_y",), base=UPRIGHT) -> Arm:
    """A straight cone or cylinder from its radii at base, segment ends and tip.

    A cone's radius is linear along its length, so radii in geometric progression make segments that are scaled copies
    of each other, the shortest at the thin end where it bends most; a cylinder has equal segments.
    """
    count = len(radius) - 1
    cone = radius[0] != radius[-1]
    lengths = length * np.diff(radius) / (radius[-1] - radius[0]) if cone else np.full(count, length / count)
    return Arm(
        StrainSegment(jnp.asarray(lengths), modes),
        Section(jnp.asarray(radius[:-1]), jnp.asarray(radius[1:])),
        Material(*(jnp.full(count, value) for value in (young, 0.5, density, 0.0))),
        base,
    )


def ideal_rod(count, *, bending_stiffness=1.0, radius=THIN, base=UPRIGHT) -> Arm:
    """The rod of the textbooks: length and mass per length are 1, and so is the bending stiffness unless given."""
    young, density = 4.0 * bending_stiffness / (np.pi * radius**4), 1.0 / (np.pi * radius**2)
    return arm_from_radii(np.full(count + 1, radius), 1.0, young, density, base=base)


class Shape(NamedTuple):
    """A rod in equilibrium."""

    q: np.ndarray
    x: np.ndarray
    """Positions of base and segment ends along the world's x."""
    z: np.ndarray
    """Their heights."""
    angle: float
    """How far the tip's tangent is turned from the base's; down is positive for a horizontal rod."""

    @property
    def tip(self) -> np.ndarray:
        """Angle, x and height of the tip."""
        return np.array([self.angle, self.x[-1], self.z[-1]])


def at_equilibrium(arm, start=None, *, gravity=0.0, force=(0.0, 0.0, 0.0), moment=0.0, along=None, loads=1) -> Shape:
    """Where the arm rests.

    **Arguments:** `gravity`, downwards; `force`: a dead force on the tip; `moment`: a moment about y on the tip, which
    turns with it; `along`: constant generalised forces per length on the coordinates; `loads`: 0 for a model without
    a load on its tip.
    """
    model = single_arm(arm, gravity=(0.0, 0.0, -gravity), load_places=[1.0] * loads)
    inputs = no_inputs(model)
    if loads:
        inputs = inputs._replace(
            force=jnp.array([[0.0, 0.0, 0.0, *force]]), follower=jnp.array([[0.0, moment, 0.0, 0.0, 0.0, 0.0]])
        )
    if along is not None:
        inputs = inputs._replace(torque=arm.segments.length[:, None] * jnp.asarray(along, float))
    q = equilibrium(model, inputs, q=start).q
    position = np.asarray(_segment_poses(arm, q).position)
    return Shape(q, position[:, 0], position[:, 2], float(jnp.sum(q[:, 0] * arm.segments.length)))


def refined(make_arm, *, from_angle=0.0, **forces) -> list[Shape]:
    """The equilibria of one rod at every number of segments.

    Newton's method starts from the arc that turns by `from_angle`, and on finer rods from the coarser equilibrium.
    """
    shapes = []
    for count in COUNTS:
        arm = make_arm(count)
        start = arm.straight().at[:, 0].set(from_angle / arm.length)
        if shapes:
            start = jnp.repeat(shapes[-1].q, 2, axis=0)
        shapes.append(at_equilibrium(arm, start, **forces))
    return shapes


def frequencies(arm, q=None, *, gravity=0.0, push=0.0, tip_mass=0.0) -> np.ndarray:
    """All natural frequencies about a configuration, the straight one if not given; `push`: dead force down on the tip.

    In radians per second, an imaginary one as a negative number.
    """
    model = single_arm(arm, gravity=(0.0, 0.0, -gravity), lumps=[(1.0, tip_mass)], load_places=[1.0])
    inputs = no_inputs(model)._replace(force=jnp.array([[0.0, 0.0, 0.0, 0.0, 0.0, -push]]))
    return 2.0 * np.pi * vibrations(model, arm.straight() if q is None else q, inputs).frequencies


def rounding_of_squares(spectrum) -> float:
    """By how much rounding may shift the squares of frequencies.

    They are eigenvalues of a full matrix, found to EPS of the largest; the errors of a sum of n terms that are rounded
    independently grow as sqrt(n).
    """
    return np.sqrt(len(spectrum)) * EPS * np.max(np.abs(spectrum)) ** 2


def rounding_of(spectrum, wanted) -> np.ndarray:
    """By how much rounding may shift some of the frequencies."""
    return rounding_of_squares(spectrum) / (2.0 * np.abs(wanted))


class Limit(NamedTuple):
    """What a sequence of values tends to."""

    value: np.ndarray
    doubt: np.ndarray
    """The last correction that was made: the error of what was known before it, so more than that of the value."""


def limit_of(values, *, ratio=2.0, powers=(2.0, 4.0)) -> Limit:
    """Romberg's limit of three values whose errors are a series in powers of what shrinks by `ratio` from each to next.

    Strains that are constant in every segment and balance forces on average have an error of second order in the
    number of segments. Everything here is smooth along the rod and the lengths of the segments change smoothly, so the
    next power is the fourth.
    """
    coarse, middle, fine = (np.asarray(value) for value in values)
    first = [b + (b - a) / (ratio ** powers[0] - 1.0) for a, b in ((coarse, middle), (middle, fine))]
    correction = (first[1] - first[0]) / (ratio ** powers[1] - 1.0)
    return Limit(first[1] + correction, np.abs(correction))


def assert_tip(shapes: list[Shape], exact, printed, length=1.0):
    """That the tips tend to a reference, within the doubt about the limit and the printed digits of the reference.

    **Arguments:** `exact`: angle, x and height; `printed`: half a unit of their last printed digits, one or three.
    """
    value, doubt = limit_of([shape.tip for shape in shapes])
    # One doubt for angle and, relative to the length, position: that of a single one may vanish by chance.
    scale = np.array([1.0, length, length])
    doubt = scale * np.max(doubt / scale)
    assert np.all(np.abs(value - exact) <= doubt + printed), (value - exact, doubt)
    assert np.all(doubt <= 1e-5 * scale), doubt
