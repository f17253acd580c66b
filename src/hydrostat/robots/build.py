"""From a robot's specification to the arrays that the mechanics works on."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.actuation import (
    HydrostatMuscles,
    Legs,
    NeoHookean,
    Stepper,
    Tendons,
    make_legs,
    make_muscles,
    make_tissue,
    rest_poses,
)
from hydrostat.bodies import Arm, Material, Section
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.robots.spec import MODES, BaseSpec, LegsSpec, MusclesSpec, RobotSpec
from hydrostat.segments import AbstractSegment, StewartSegment, StrainSegment, StrutSegment, SwellingSegment
from hydrostat.segments.stewart import named_faults


class LumpedMasses(eqx.Module):
    """The m lumped masses that an arm carries on its axis."""

    places: tuple[float, ...] = eqx.field(static=True)
    """Where each is, as a fraction of the arm's rest length."""
    mass: Float[Array, " m"]
    """[kg]"""
    inertia: Float[Array, " m"]
    """Moment of inertia, the same about every axis [kg m^2]."""


class Robot(eqx.Module):
    """An arm of n segments with the masses it carries, its tendons and its motors, or its legs."""

    arm: Arm
    masses: LumpedMasses
    friction: Float[Array, " n"]
    """Torque of the structure's friction per rate of each segment's bend angle [N m s]."""
    tendons: Tendons
    motor: Stepper | None
    legs: Legs | None
    plates: Float[Array, "n 6"] | None
    """Diagonal spatial inertias of a chain of platforms' plates; None for a continuum arm."""
    muscles: HydrostatMuscles | None
    tissue: NeoHookean | None
    """What a muscular hydrostat is made of; None for arms of linear elasticity."""
    activation_time: float = eqx.field(static=True)
    """Lag between command and activation [s]."""
    name: str = eqx.field(static=True)

    def require_motor(self) -> Stepper:
        """The motors, for those who cannot do without."""
        if self.motor is None:
            raise InputError(f"{self.name} has no motors; add a [motor] table")
        return self.motor


def build_robot(spec: RobotSpec, bulk_modulus: float | None = None) -> Robot:
    """The robot that a specification describes.

    **Arguments:** `bulk_modulus` [Pa]: of a muscular hydrostat whose volume is kept by a pressure; None where it is
    kept exactly.
    """
    count = len(spec.segments)
    if bulk_modulus is not None and spec.muscles is None:
        raise InputError(f"`bulk_modulus` is for robots with [muscles]; {spec.name} has none")
    segments = _segments(spec)
    if bulk_modulus is not None:
        segments = SwellingSegment(segments)
    arm = Arm(
        segments=segments,
        section=Section(*jnp.array([segment.radius for segment in spec.segments]).T),
        material=Material(
            *(
                jnp.full(count, value)
                for value in (
                    spec.material.youngs_modulus,
                    spec.material.poisson_ratio,
                    spec.material.density,
                    spec.material.viscosity,
                )
            )
        ),
        T_world_base=base_pose(spec.base),
    )
    motor = None
    if spec.motor:
        limits = (spec.motor.max_speed, spec.motor.max_acceleration, spec.motor.max_jerk, spec.motor.max_pulse_rate)
        motor = Stepper(spec.motor.step, *limits)
    masses = LumpedMasses(
        places=tuple(mass.place for mass in spec.masses),
        mass=jnp.array([mass.mass for mass in spec.masses], float),
        inertia=jnp.array([mass.inertia for mass in spec.masses], float),
    )
    friction = jnp.array([segment.friction for segment in spec.segments])
    legs = plates = None
    if spec.legs is not None and isinstance(segments, StewartSegment):
        limits = (spec.legs.length_range, spec.legs.max_stroke, spec.legs.max_rate, spec.legs.max_force)
        legs = make_legs(segments, *limits)
        plates = jnp.asarray(_plates(spec, spec.legs))
    muscles = tissue = None
    if spec.muscles is not None:
        muscles, tissue = _hydrostat(spec, spec.muscles, arm, bulk_modulus)
    lag = spec.muscles.activation_time if spec.muscles else 0.0
    return Robot(arm, masses, friction, _tendons(spec), motor, legs, plates, muscles, tissue, lag, spec.name)


def _segments(spec: RobotSpec) -> AbstractSegment:
    """The segments of the robot's kind."""
    if spec.legs is not None:
        return _platforms(spec, spec.legs)
    if spec.muscles is not None and spec.muscles.segments == "strut":
        return StrutSegment([segment.length for segment in spec.segments], spec.segments[0].modes)
    return _strain_segments(spec)


def _hydrostat(
    spec: RobotSpec, muscles: MusclesSpec, arm: Arm, bulk_modulus: float | None
) -> tuple[HydrostatMuscles, NeoHookean]:
    """The muscles and the tissue of a muscular hydrostat."""
    fastest = muscles.fastest or None
    made = make_muscles(arm, muscles.stress, muscles.stiffness, muscles.offset, fastest, muscles.oblique_deg)
    limit = jnp.asarray(np.deg2rad(muscles.bend_limit_deg))
    return made, make_tissue(arm, spec.material.youngs_modulus, limit, bulk_modulus)


def _strain_segments(spec: RobotSpec) -> StrainSegment:
    """The segments of a continuum arm."""
    used = {mode for segment in spec.segments for mode in segment.modes}
    modes = tuple(mode for mode in MODES if mode in used)
    return StrainSegment(
        length=[segment.length for segment in spec.segments],
        modes=modes,
        rest_strain=_rest_strain(spec),
        free=[[mode in segment.modes for mode in modes] for segment in spec.segments],
    )


def _platforms(spec: RobotSpec, legs: LegsSpec) -> StewartSegment:
    """The segments of a chain of platforms; legs that cannot hold their plate are refused."""
    segments = StewartSegment(
        length=[segment.length for segment in spec.segments],
        radius=[segment.radius[0] for segment in spec.segments],
        taper=[segment.radius[1] / segment.radius[0] for segment in spec.segments],
        lower_deg=legs.lower_azimuths_deg,
        upper_deg=legs.upper_azimuths_deg,
    )
    for fault in named_faults(segments, rest_poses(segments)):
        raise InputError(f"the legs of {spec.name} do not hold it at rest: {fault}; their joints must be other ones")
    return segments


def _plates(spec: RobotSpec, legs: LegsSpec) -> np.ndarray:
    """The upper plates as discs of their rest radius, with the pistons below and the cylinders above on their rims."""
    rows = []
    for number, segment in enumerate(spec.segments, 1):
        rim = segment.radius[1]
        disc = spec.material.density * np.pi * rim**2 * legs.plate_thickness
        halves = 3.0 * legs.leg_mass * (1 if number == len(spec.segments) else 2)
        about_axis = (0.5 * disc + halves) * rim**2
        about_diameter = about_axis / 2.0 + disc * legs.plate_thickness**2 / 12.0
        rows.append([about_diameter, about_diameter, about_axis] + [disc + halves] * 3)
    return np.array(rows)


def _rest_strain(spec: RobotSpec) -> np.ndarray:
    """The strains of the unloaded segments: curvature is angle over length."""
    rest = np.zeros((len(spec.segments), 6))
    for row, segment in zip(rest, spec.segments, strict=True):
        row[:2] = np.radians(segment.preshape_deg) / segment.length
    return rest


def _tendons(spec: RobotSpec) -> Tendons:
    """The tendons as arrays over tendons and segments."""
    shape = (len(spec.tendons), len(spec.segments))
    offsets, passes, turns = np.full((*shape, 2), 1e-3), np.zeros(shape), np.zeros((*shape, 2))
    for wire, tendon in enumerate(spec.tendons):
        for number, marks in spec.offsets(tendon).items():
            offsets[wire, number - 1] = marks
            passes[wire, number - 1] = 1.0
        for number, marks in spec.turns(tendon).items():
            turns[wire, number - 1] = np.deg2rad(marks)
    soft = bool(spec.tendons) and spec.tendons[0].kind == "soft"
    return Tendons(
        azimuth=jnp.deg2rad(jnp.array([tendon.azimuth_deg for tendon in spec.tendons], float)),
        offsets=jnp.array(offsets),
        passes=jnp.array(passes),
        ends_at=tuple(tendon.ends_at_segment - 1 for tendon in spec.tendons),
        bays=spec.tendons[0].bays if soft else None,
        turns=jnp.array(turns) if np.any(turns) else None,
    )


def base_pose(base: BaseSpec) -> SE3:
    """Where a base is: its z is the given axis, turned from the outer z by the shortest way, then rolled about it."""
    roll = np.deg2rad(base.roll_deg)
    rolled = np.array([[np.cos(roll), -np.sin(roll), 0.0], [np.sin(roll), np.cos(roll), 0.0], [0.0, 0.0, 1.0]])
    return SE3(jnp.array(_axes(base.axis) @ rolled), jnp.array(base.position))


def _axes(axis: tuple[float, ...]) -> np.ndarray:
    """The rotation whose z is the given direction, turned from the world's z by the shortest way."""
    z = np.array(axis) / np.linalg.norm(axis)
    across = z[0] ** 2 + z[1] ** 2
    if z[2] < 0.0 and across == 0.0:  # straight down: half a turn about x
        return np.diag([1.0, -1.0, -1.0])
    # (1 - cos) / sin^2 of the turn; downwards 1 + z would cancel.
    factor = 1.0 / (1.0 + z[2]) if z[2] > 0.0 else (1.0 - z[2]) / across
    x, y = z[0], z[1]
    return np.array(
        [
            [1.0 - factor * x * x, -factor * x * y, x],
            [-factor * x * y, 1.0 - factor * y * y, y],
            [-x, -y, z[2]],
        ]
    )
