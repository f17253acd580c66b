"""From a robot's specification to the arrays that the mechanics works on."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.actuation import Stepper, Tendons
from hydrostat.bodies import Arm, Material, Section
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.robots.spec import MODES, RobotSpec
from hydrostat.segments import StrainSegment


class LumpedMasses(eqx.Module):
    """The m lumped masses that an arm carries on its axis."""

    places: tuple[float, ...] = eqx.field(static=True)
    """Where each is, as a fraction of the arm's rest length."""
    mass: Float[Array, " m"]
    """[kg]"""
    inertia: Float[Array, " m"]
    """Moment of inertia, the same about every axis [kg m^2]."""


class Robot(eqx.Module):
    """An arm of n segments with the masses it carries, its tendons and its motors."""

    arm: Arm
    masses: LumpedMasses
    friction: Float[Array, " n"]
    """Torque of the structure's friction per rate of each segment's bend angle [N m s]."""
    tendons: Tendons
    motor: Stepper | None
    name: str = eqx.field(static=True)

    def require_motor(self) -> Stepper:
        """The motors, for those who cannot do without."""
        if self.motor is None:
            raise InputError(f"{self.name} has no motors; add a [motor] table")
        return self.motor


def build_robot(spec: RobotSpec) -> Robot:
    """The robot that a specification describes."""
    used = {mode for segment in spec.segments for mode in segment.modes}
    modes = tuple(mode for mode in MODES if mode in used)
    count = len(spec.segments)
    arm = Arm(
        segments=StrainSegment(
            length=[segment.length for segment in spec.segments],
            modes=modes,
            rest_strain=_rest_strain(spec),
            free=[[mode in segment.modes for mode in modes] for segment in spec.segments],
        ),
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
        T_world_base=SE3(jnp.array(_axes(spec.base.axis)), jnp.array(spec.base.position)),
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
    return Robot(arm, masses, friction, _tendons(spec), motor, spec.name)


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
