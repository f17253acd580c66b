"""The same robot changed in one respect: without its tendons, without damping, with other segments."""

from dataclasses import replace
from typing import TYPE_CHECKING

from hydrostat.robots.spec import MODES, MassSpec, RobotSpec
from hydrostat.robots.specs.stewart_arm import stewart_arm

if TYPE_CHECKING:
    from hydrostat.mechanics.robot import Robot

_NO_LENGTH = 1e-12  # length of the segments that fill an array up, over that of the whole arm


def bare_rod(spec: RobotSpec, tip_mass: float = 0.0) -> RobotSpec:
    """The robot without tendons and motors, with the masses that it carries and one more at its tip [kg]."""
    carried = tuple(mass for mass in spec.masses if mass.mass > 0.0 or mass.inertia > 0.0)
    return replace(spec, tendons=(), motor=None, masses=(*carried, MassSpec(1.0, tip_mass)))


def with_size(spec: RobotSpec, length: float, radius: float) -> RobotSpec:
    """The robot with another length and radius of every segment [m], cylindrical; its tendons stay where they are."""
    sized = [replace(segment, length=length, radius=(radius, radius)) for segment in spec.segments]
    return replace(spec, segments=tuple(sized))


def without_damping(spec: RobotSpec) -> RobotSpec:
    """The robot without friction in its segments and without viscosity of its material."""
    return with_damping_time(without_friction(spec), 0.0)


def without_friction(spec: RobotSpec) -> RobotSpec:
    """The robot without friction in its segments."""
    return replace(spec, segments=tuple(replace(segment, friction=0.0) for segment in spec.segments))


def with_damping_time(spec: RobotSpec, seconds: float) -> RobotSpec:
    """The robot with another ratio of the viscosity of its material to Young's modulus [s]."""
    viscosity = seconds * spec.material.youngs_modulus
    return replace(spec, material=replace(spec.material, viscosity=viscosity))


def padded_chain(
    spec: RobotSpec, arcs: int, size: int, modes: tuple[str, ...] = ("bend_y",), among: tuple[str, ...] = ("bend_y",)
) -> "Robot":
    """A rod of two segments as a chain of arcs, in arrays of `size` segments with the modes `among`.

    All coordinates but those of the arcs and of their `modes` are locked, and the segments beyond the arcs have no
    length: the mechanics is that of the arcs alone, and all robots of one size share their compiled functions. A load
    can act at the tip.
    """
    import equinox as eqx
    import jax.numpy as jnp
    import numpy as np

    from hydrostat.robots.build import build_robot

    chain = spec.cut(arcs // 2, among)
    length = sum(segment.length for segment in spec.segments)
    none = replace(chain.segments[-1], length=_NO_LENGTH * length, preshape_deg=(0.0, 0.0), friction=0.0)
    chain = replace(chain, segments=(*chain.segments, *(none,) * (size - arcs)))
    ordered = [mode for mode in MODES if mode in among]
    free = np.outer(np.arange(size) < arcs, [mode in modes for mode in ordered])
    robot = build_robot(chain, load_places=[1.0])
    return eqx.tree_at(lambda robot: robot.one.arm.segments.free, robot, jnp.asarray(free))


def with_platforms(spec: RobotSpec, count: int) -> RobotSpec:
    """A chain of platforms with another number of segments of equal volume, its length and the radii at its ends kept.

    **Arguments:** `count`: number of segments.
    """
    first, last = spec.segments[0].radius[0], spec.segments[-1].radius[1]
    length = sum(segment.length for segment in spec.segments)
    other = stewart_arm(count, length, first, min((last / first) ** (1.0 / count), 1.0), spec.legs)
    return replace(other, base=spec.base, material=spec.material)


def tendons_at(spec: RobotSpec, azimuth_deg: float) -> list[float]:
    """1 for every tendon at an azimuth [deg], else 0."""
    return [float(tendon.azimuth_deg % 360.0 == azimuth_deg) for tendon in spec.tendons]
