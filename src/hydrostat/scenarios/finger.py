"""What the finger's scenarios share: the rod without its tendons, cut into arcs, with a weight at its tip."""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import root_scalar

from hydrostat.bodies import Arm
from hydrostat.errors import UnsolvedError
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import Robot, no_inputs
from hydrostat.mechanics.statics import equilibrium
from hydrostat.robots.build import build_robot
from hydrostat.robots.spec import MODES, MassSpec, RobotSpec
from hydrostat.scenarios.replaying import tube_of
from hydrostat.segments import StrainSegment
from hydrostat.viewer import Line, Tube

_POINTS = 24  # of the drawn axis, per arc
_LOAD_STEPS = 4
_NO_LENGTH = 1e-12  # of the finger's: a segment that is there in name only
_HELD_WITHIN = 1e-3  # deg
_DRAWN_RADIUS = 0.004  # of the finger's length, at least: thinner rods are lost on a screen
_BRASS = 8500.0  # kg/m^3, assumed for drawing the weights


def with_weight(spec: RobotSpec, grams: float) -> RobotSpec:
    """The bare rod of the experiment: no tendons and motors, what it carries, and a weight at its tip."""
    carried = tuple(mass for mass in spec.masses if mass.mass > 0.0 or mass.inertia > 0.0)
    return replace(spec, tendons=(), motor=None, masses=(*carried, MassSpec(1.0, 1e-3 * grams)))


def undamped(spec: RobotSpec) -> RobotSpec:
    """The robot without friction and viscosity."""
    segments = tuple(replace(segment, friction=0.0) for segment in spec.segments)
    return replace(spec, segments=segments, material=replace(spec.material, viscosity=0.0))


def padded_robot(spec: RobotSpec, arcs: int, size: int, modes=("bend_y",), among=("bend_y",)) -> Robot:
    """The rod as so many arcs with the given modes, in arrays of `size` segments with the modes `among`.

    The other coordinates are locked, the other segments have no length: the mechanics is that of the arcs alone, and
    all robots of one size share their compiled functions. A load can act at the tip.
    """
    chain = spec.cut(arcs // 2, among)
    length = sum(segment.length for segment in spec.segments)
    none = replace(chain.segments[-1], length=_NO_LENGTH * length, preshape_deg=(0.0, 0.0), friction=0.0)
    chain = replace(chain, segments=(*chain.segments, *(none,) * (size - arcs)))
    ordered = [mode for mode in MODES if mode in among]
    free = np.outer(np.arange(size) < arcs, [mode in modes for mode in ordered])
    robot = build_robot(chain, load_places=[1.0])
    return eqx.tree_at(lambda robot: robot.one.arm.segments.free, robot, jnp.asarray(free))


def plane_of(arm: Arm, positions) -> np.ndarray:
    """Positions in the plane of bending: along the clamp's axis, and up, away from where a positive bend leads [m]."""
    local = (np.asarray(positions) - np.asarray(arm.T_world_base.position)) @ np.asarray(arm.T_world_base.rotation)
    return np.stack([local[..., 2], -local[..., 0]], -1)


def bends_of(arm: Arm, q: np.ndarray) -> np.ndarray:
    """The bend of every arc, the preshape included, (..., n) for configurations (..., n, 1) [rad]."""
    segments = arm.segments
    assert isinstance(segments, StrainSegment)
    return (q[..., 0] + np.asarray(segments.rest_strain)[:, 1]) * np.asarray(segments.length)


tip_position = eqx.filter_jit(lambda arm, q: kinematics.tip_pose(arm, q).position)


def sagged(robot: Robot) -> np.ndarray:
    """The coordinates at rest under the weights."""
    return np.asarray(equilibrium(robot, load_steps=_LOAD_STEPS).q)


class Held(NamedTuple):
    """A finger whose tip is held."""

    q: np.ndarray
    force: float
    """Across the clamp, upwards [N]."""


def held(robot: Robot, degrees: float) -> Held:
    """The finger at rest with its tip held by a force across the clamp's axis, so that it is seen there at an angle.

    **Arguments:** `degrees`: between the clamp's axis and the line from the clamp to the tip, upwards.
    """
    up = -np.asarray(robot.arm.T_world_base.rotation)[:, 0]

    def rest(force: float):
        inputs = no_inputs(robot)._replace(force=jnp.asarray([[0.0, 0.0, 0.0, *(force * up)]]))
        q = equilibrium(robot, inputs, load_steps=_LOAD_STEPS).q
        along, above = plane_of(robot.arm, tip_position(robot.arm, q))
        return np.asarray(q), np.rad2deg(np.arctan2(above, along))

    def missing(force: float) -> float:
        return rest(force)[1] - degrees

    # From the free finger on, a growing force until the angle is passed.
    arm = robot.one
    mass = float(jnp.sum(arm.inertia[..., 3]) + jnp.sum(arm.lump_inertia[:, 3]))
    weight = mass * float(np.linalg.norm(np.asarray(robot.gravity)))
    bending = float(arm.stiffness[0, 0] / robot.arm.segments.length[0] / robot.arm.length**2)
    near, far = 0.0, np.copysign(weight + bending, degrees - rest(0.0)[1])
    for _ in range(20):
        if missing(far) * far > 0.0:
            force = float(root_scalar(missing, bracket=(near, far), xtol=1e-10 * abs(far), rtol=1e-10).root)
            q, angle = rest(force)
            if abs(angle - degrees) > _HELD_WITHIN:
                break  # a soft finger snaps past it
            return Held(q, force)
        near, far = far, 2.0 * far
    raise UnsolvedError(f"no force across the clamp holds the tip at {degrees:g} degrees")


@eqx.filter_jit
def _axes(arm: Arm, q):
    return jax.vmap(lambda q: kinematics.centreline(arm, q, _POINTS).position)(q)


def axes_of(arm: Arm, q: np.ndarray) -> np.ndarray:
    """The drawn axes (m, points, 2) in the plane of bending, for configurations (m, n, k)."""
    return plane_of(arm, _axes(arm, jnp.asarray(q)))


def distances_of(arm: Arm) -> np.ndarray:
    """How far along the arm the points of `axes_of` are [m]."""
    ends = np.concatenate([[0.0], np.cumsum(np.asarray(arm.segments.length))])
    return np.interp(np.arange(arm.count * _POINTS + 1) / _POINTS, np.arange(arm.count + 1), ends)


def thick_tube(name: str, arm: Arm, q: np.ndarray, shift: np.ndarray, **options) -> Tube:
    """The finger as a tube that can be seen, moved aside by `shift` [m]."""
    tube = tube_of(name, arm, q, **options)
    radii = np.maximum(tube.radii, _DRAWN_RADIUS * float(arm.length))
    return replace(tube, positions=tube.positions + shift, radii=radii)


def ball(name: str, tube: Tube, grams: float | np.ndarray, **options) -> Tube:
    """The weight at the tip of a tube, as a ball of brass."""
    radius = np.cbrt(3e-3 * np.broadcast_to(grams, len(tube.positions)) / (4.0 * np.pi * _BRASS))
    radius = np.maximum(radius, 1.2 * tube.radii.max())
    polar = np.linspace(0.02, 0.98, 9) * np.pi
    offsets = -radius[:, None, None] * np.cos(polar)[:, None] * tube.rotations[:, -1, None, :, 2]
    positions = tube.positions[:, -1:] + offsets
    rotations = np.broadcast_to(tube.rotations[:, -1:], (*positions.shape[:2], 3, 3))
    return Tube(name, positions, rotations, radius[:, None] * np.sin(polar), **options)


def aside(arm: Arm, index: int, count: int, gap: float = 0.2) -> np.ndarray:
    """Where to draw one of several fingers side by side: moved across their planes by `gap` of their length."""
    normal = np.asarray(arm.T_world_base.rotation)[:, 1]
    return normal * gap * float(arm.length) * (index - 0.5 * (count - 1))


def clamp(arm: Arm, shift: np.ndarray, name: str) -> Line:
    """The wall that holds a finger."""
    across = np.asarray(arm.T_world_base.rotation)[:, 0] * 0.05 * float(arm.length)
    middle = np.asarray(arm.T_world_base.position) + shift
    return Line(name, np.stack([middle - across, middle + across]), width=0.02 * float(arm.length))


def rgb(color: str) -> tuple[int, int, int]:
    """The three channels of a colour written as #rrggbb."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)
