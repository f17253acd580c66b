"""Construction of a robot from its specification: the arrays that the mechanics works on."""

from collections.abc import Sequence
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.actuation import (
    HydrostatMuscles,
    NeoHookean,
    Stepper,
    Tendons,
    make_legs,
    make_muscles,
    make_pistons,
    make_tissue,
    rest_poses,
)
from hydrostat.bodies import Arm, Hull, Material, Section
from hydrostat.bodies.rod import damping
from hydrostat.constants import BALL_DRAG
from hydrostat.errors import InputError, choice
from hydrostat.lie import SE3
from hydrostat.mechanics.model import GRAVITY, ArmModel, Wires, make_arm_model
from hydrostat.mechanics.robot import BodyShape, Robot, equal_arms, single_arm
from hydrostat.robots.hull_spec import HullSpec
from hydrostat.robots.limbed import AnySpec, LimbedSpec
from hydrostat.robots.spec import MODES, BaseSpec, LegsSpec, MusclesSpec, RobotSpec
from hydrostat.segments import SWELL, AbstractSegment, StewartSegment, StrainSegment, StrutSegment, SwellingSegment
from hydrostat.segments.stewart import named_faults

WIRE_STIFFNESS = 2.0e5
"""Axial stiffness EA of the wires that are driven by their length [N]: steel cable of some 1.6 mm, assumed."""
WIRE_DAMPING_TIME = 1e-3
"""Ratio of a wire's damping to its stiffness [s], assumed."""


def build_robot(
    spec: AnySpec,
    *,
    free: bool | None = None,
    base_mass: float = 0.0,
    base_inertia: float = 0.0,
    arms: Sequence[int] | None = None,
    **options,
) -> Robot:
    """The robot that a specification describes.

    **Arguments:** `free`: whether its body, or the base of a single arm, moves by the forces on it; when not given, a
    body does if its specification says so, and a single arm's base does not; `base_mass` [kg], `base_inertia`
    [kg m^2]: of the free base of a single arm, a body with limbs has its own; `arms`: which limbs are there, by their
    numbers from 0, all when not given; `options`: of each arm's model, as those of `build_arm`.
    """
    # A specification is plain numbers, and what is made of it is not part of what may be traced around it.
    with jax.ensure_compile_time_eval():
        return _built(spec, free, base_mass, base_inertia, arms, options)


def _built(spec: AnySpec, free: bool | None, base_mass: float, base_inertia: float, arms, options: dict) -> Robot:
    if isinstance(spec, RobotSpec):
        if arms is not None:
            raise InputError(f"`arms` is for robots with limbs on a body; {spec.name} is a single arm")
        own = {"base_mass": base_mass, "base_inertia": base_inertia}
        return single_arm(build_arm(spec, **options), free_base=bool(free), name=spec.name, **own)
    kept = list(range(len(spec.limbs)) if arms is None else arms)
    if not kept:
        raise InputError(f"`arms` must keep one of the {len(spec.limbs)} limbs at least; got none")
    limbs = [spec.limbs[i] for i in kept]
    names = tuple(limb.name for limb in limbs)
    T_spec_body = SE3(jnp.eye(3), jnp.asarray(spec.body.centre))
    T_world_body = base_pose(spec.base) @ T_spec_body
    mounts = [T_spec_body.inverse() @ base_pose(limb.arm.base) for limb in limbs]
    inertia = _body_inertia(spec) if (spec.body.free if free is None else free) else None
    body = _body_shape(spec)
    common: dict = {"gravity": jnp.asarray(GRAVITY), "base_inertia": inertia, "body": body, "names": names}
    if spec.odd_limb() is None:
        batch = SE3(*(jnp.stack(part) for part in zip(*((m.rotation, m.position) for m in mounts), strict=True)))
        return equal_arms(build_arm(limbs[0].arm, **options), batch, T_world_body, name=spec.name, **common)
    models = tuple(
        eqx.tree_at(lambda m: m.arm.T_world_base, build_arm(limb.arm, **options), T_world_body @ mount)
        for limb, mount in zip(limbs, mounts, strict=True)
    )
    return Robot(models, tuple(mounts), T_world_body, name=spec.name, **common)


def build_arm(
    spec: RobotSpec,
    *,
    drive: str = "tension",
    wire_stiffness: float = WIRE_STIFFNESS,
    bulk_modulus: float | None = None,
    points: int | None = None,
    **options,
) -> ArmModel:
    """The model of one arm.

    **Arguments:** `drive`: what the motors hold, the wires' tension or their length; `wire_stiffness`: tension per
    relative stretch of wires that are driven by their length [N]; `bulk_modulus` [Pa]: of a muscular hydrostat whose
    volume is kept by a pressure, None where it is kept exactly; `points`: Gauss points per segment, 2 for a muscular
    hydrostat and 3 for other arms when not given; `options`: as those of `make_arm_model`.
    """
    choice("drive", drive, ("tension", "length"))
    if bulk_modulus is not None and spec.muscles is None:
        raise InputError(f"`bulk_modulus` is for robots with [muscles]; {spec.name} has none")
    count = len(spec.segments)
    segments = _segments(spec)
    if bulk_modulus is not None:
        segments = SwellingSegment(segments)
    of_material = ("youngs_modulus", "poisson_ratio", "density", "viscosity")
    arm = Arm(
        segments=segments,
        section=Section(*jnp.array([segment.radius for segment in spec.segments]).T),
        material=Material(*(jnp.full(count, getattr(spec.material, name)) for name in of_material)),
        T_world_base=base_pose(spec.base),
    )
    options["lumps"] = [*((mass.place, mass.mass, mass.inertia) for mass in spec.masses), *options.get("lumps", ())]
    options["wires"] = _wires(spec, arm, drive, wire_stiffness)
    if spec.motor:
        limits = (spec.motor.max_speed, spec.motor.max_acceleration, spec.motor.max_jerk, spec.motor.max_pulse_rate)
        options["motor"] = Stepper(spec.motor.step, *limits)
    if spec.legs is not None and isinstance(segments, StewartSegment):
        limits = (spec.legs.length_range, spec.legs.max_stroke, spec.legs.max_rate, spec.legs.max_force)
        plates = jnp.asarray(_plates(spec, spec.legs))
        return make_arm_model(arm, plates=plates, legs=make_legs(segments, *limits), **options)
    # At one point the water would not resist a segment that turns about its middle, and an arm that elongates would
    # buckle in a zigzag. At two the drag of a segment that turns about its end is exact.
    options["points"] = points or (2 if spec.muscles else 3)
    options["friction"] = jnp.array([segment.friction for segment in spec.segments])
    if spec.muscles is None:
        return make_arm_model(arm, **options)
    options = {"constant_volume": True, "activation_time": spec.muscles.activation_time, **options}
    if spec.muscles.law == "paper":
        return _with_pistons(spec.muscles, arm, bulk_modulus, options)
    muscles, tissue = _hydrostat(spec, spec.muscles, arm, bulk_modulus)
    return make_arm_model(arm, **{"tissue": tissue, "muscles": muscles, **options})


def _with_pistons(muscles: MusclesSpec, arm: Arm, bulk_modulus: float | None, options: dict) -> ArmModel:
    """An arm whose elasticity, damping and masses are those of the paper's muscles; swell is damped as tissue's is."""
    limit = jnp.asarray(np.deg2rad(muscles.bend_limit_deg))
    own = make_pistons(arm, muscles.stress, muscles.offset, muscles.piston_share, limit, bulk_modulus)
    model = make_arm_model(arm, **{"tissue": own.springs, "muscles": own.muscles, **options})
    modes, rod = np.array(arm.segments.modes), damping(arm, options["points"])
    friction = model.damping - rod
    strut = own.strut_damping[:, None] * (modes == "stretch").astype(float)
    damped = friction + strut + rod * (modes == SWELL).astype(float)
    return replace(model, damping=damped, radial_inertia=own.radial_inertia, telescopes=own.telescopes)


def _wires(spec: RobotSpec, arm: Arm, drive: str, wire_stiffness: float) -> Wires | None:
    """The tendons, driven by their tension or by their length."""
    if not spec.tendons:
        if drive == "length":
            raise InputError(f"{spec.name} has no tendons to drive; add [[tendon]] tables")
        return None
    tendons = _tendons(spec)
    if drive == "tension":
        return Wires(tendons, None, None)
    stiffness = wire_stiffness / jnp.sum(tendons.along_segments(arm, arm.straight()), -1)
    return Wires(tendons, stiffness, WIRE_DAMPING_TIME * stiffness)


def _body_shape(spec: LimbedSpec) -> BodyShape:
    """The shape of the body: a ball that displaces as much water as the body does."""
    radius = (0.75 * spec.body.volume / np.pi) ** (1.0 / 3.0)
    numbers = (jnp.asarray(value, float) for value in (radius, BALL_DRAG, spec.body.volume))
    return BodyShape(*numbers, hull=None if spec.body.hull is None else _hull(spec.body.hull, spec.body.centre))


def _hull(spec: HullSpec, origin: np.ndarray) -> Hull:
    """The hull, with positions from the body's centre of mass."""
    places = (np.array(place) - origin for place in (spec.centre, spec.buoyancy_centre))
    numbers = (spec.length / 2.0, spec.width / 2.0, spec.added, spec.axial_drag, spec.cross_drag, spec.linear_speed)
    return Hull(*(jnp.asarray(value, float) for value in (*places, *numbers)))


def _body_inertia(spec: LimbedSpec) -> Float[Array, " 6"]:
    """The diagonal spatial inertia about the centre of mass; the body's axes must be its principal ones."""
    tensor = spec.body.inertia
    off = np.abs(tensor - np.diag(np.diag(tensor))).max()
    if off > 1e-9 * np.abs(tensor).max():
        raise InputError(f"the axes of the free body of {spec.name} must be its principal ones")
    return jnp.concatenate([jnp.asarray(np.diag(tensor)), jnp.full(3, spec.body.mass)])


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
    """The pose of a base: its z is this axis, turned from the outer z by the smallest rotation, then rolled about
    it."""
    roll = np.deg2rad(base.roll_deg)
    rolled = np.array([[np.cos(roll), -np.sin(roll), 0.0], [np.sin(roll), np.cos(roll), 0.0], [0.0, 0.0, 1.0]])
    return SE3(jnp.array(_axes(base.axis) @ rolled), jnp.array(base.position))


def _axes(axis: tuple[float, ...]) -> np.ndarray:
    """The rotation whose z is this direction, turned from the world's z by the smallest rotation."""
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
