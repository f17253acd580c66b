"""Robots made from others: the same arm with other wires, another taper, other strength, or one limb of many."""

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from hydrostat.robots.limbed import AnySpec, LimbedSpec
from hydrostat.robots.spec import BaseSpec, RobotSpec

if TYPE_CHECKING:
    from hydrostat.mechanics import Robot

_Spec = TypeVar("_Spec", RobotSpec, LimbedSpec)
_TAPER = 0.8  # ratio of the tip's wire circle to the base's, in each segment of a cone that is made from a cylinder
_BAYS = 10  # where soft wires are made from hard ones
_MUSCLES, _OBLIQUE = 5, 2  # of a segment: four longitudinal ones and the radial ones; a pair of oblique ones


def arms_of(spec: AnySpec) -> list[RobotSpec]:
    """The single arm of a specification, or the arms of its body."""
    return [limb.arm for limb in spec.limbs] if isinstance(spec, LimbedSpec) else [spec]


def tendon_count(spec: AnySpec) -> int:
    """The number of tendons of all arms of a robot."""
    return sum(len(arm.tendons) for arm in arms_of(spec))


def muscle_count(spec: AnySpec) -> int:
    """The number of muscles of each segment of a robot; 0 for one without muscles."""
    muscles = arms_of(spec)[0].muscles
    return 0 if muscles is None else _MUSCLES + (_OBLIQUE if muscles.oblique_deg else 0)


def is_tapered(spec: RobotSpec) -> bool:
    """Whether the wire circles of an arm change along a segment."""
    return any(a != b for tendon in spec.tendons for a, b in spec.offsets(tendon).values())


def wire_variants(spec: RobotSpec) -> dict[str, RobotSpec]:
    """An arm as a cylinder and as a cone, each with hard and with soft wires, by names such as `cone_hard`.

    Where the arm is a cylinder, the cone narrows its wire circles by a fifth in each segment; where it is a cone, the
    cylinder has their means.
    """
    bays = None if spec.tendons[0].kind == "soft" else _BAYS
    return {
        f"{shape}_{wires}": _shaped(spec, shape).with_wires(wires, bays)
        for shape in ("cylinder", "cone")
        for wires in ("hard", "soft")
    }


def own_variant(spec: RobotSpec) -> str:
    """The name that an arm itself has among its `wire_variants`."""
    soft = spec.tendons[0].kind == "soft"
    return f"{'cone' if is_tapered(spec) else 'cylinder'}_{'soft' if soft else 'hard'}"


def _shaped(spec: RobotSpec, shape: str) -> RobotSpec:
    """The arm with wire circles that are constant within each segment, or that narrow."""
    if (shape == "cone") == is_tapered(spec):
        return spec
    tendons = []
    for tendon in spec.tendons:
        marks = [pair[0] for pair in spec.offsets(tendon).values()]
        if shape == "cone":
            first = tendon.starts_at_segment - 1
            offset = tuple(marks[0] * _TAPER ** (i + first) for i in range(len(marks) + 1))
        else:
            mean = sum(sum(pair) / 2.0 for pair in spec.offsets(tendon).values()) / len(marks)
            offset = (mean, mean)
        tendons.append(replace(tendon, offset=offset))
    widest = max(max(tendon.offset) for tendon in tendons)
    segments = tuple(replace(s, radius=tuple(max(r, widest) for r in s.radius)) for s in spec.segments)
    return replace(spec, tendons=tuple(tendons), segments=segments)


def softer(spec: _Spec, percent: float) -> _Spec:
    """A robot whose arms have a Young's modulus that is lower by a percentage; negative: higher."""
    if isinstance(spec, LimbedSpec):
        return replace(spec, limbs=tuple(replace(limb, arm=softer(limb.arm, percent)) for limb in spec.limbs))
    modulus = spec.material.youngs_modulus * (1.0 - 0.01 * percent)
    return replace(spec, material=replace(spec.material, youngs_modulus=modulus))


def with_paper_muscles(spec: RobotSpec) -> RobotSpec:
    """A muscular arm with the muscles of Kang et al. (2012), and without what they do not have.

    They sit at sqrt(5/8) of the radius, where four muscles and a strut that are as stiff bend as a solid section. An
    arm that has them already stays as it is.
    """
    muscles = spec.muscles
    if muscles is None or muscles.law == "paper":
        return spec
    pistons = replace(muscles, law="paper", stiffness=0.0, fastest=0.0, offset=0.625**0.5)
    return replace(spec, muscles=pistons)


def stronger(spec: LimbedSpec, factor: float) -> LimbedSpec:
    """A muscular robot with stiffness, viscosity and muscle stress of its arms multiplied by a factor.

    Inertia and water then matter less by the factor: arms follow their muscles more closely.
    """

    def arm(one: RobotSpec) -> RobotSpec:
        tissue, muscles = one.material, one.muscles
        assert muscles is not None
        return replace(
            one,
            material=replace(
                tissue, youngs_modulus=factor * tissue.youngs_modulus, viscosity=factor * tissue.viscosity
            ),
            muscles=replace(muscles, stress=factor * muscles.stress, stiffness=factor * muscles.stiffness),
        )

    return replace(spec, limbs=tuple(replace(limb, arm=arm(limb.arm)) for limb in spec.limbs))


def detached_limb(spec: LimbedSpec, name: str, axis: tuple[float, ...] | None = None) -> RobotSpec:
    """A limb on its own without tendons, at the origin and pointing as on the body, or along an axis of the world."""
    return replace(spec.limb(name).arm, base=BaseSpec(axis=spec.base.axis if axis is None else axis), tendons=())


def limb_on_body(spec: LimbedSpec, arm: RobotSpec, gravity: tuple[float, ...] | None = None, **options) -> "Robot":
    """One limb of a robot as an arm of its own, mounted in the world where the fixed body holds it.

    **Arguments:** `arm`: the limb, maybe cut into pieces or of another material; `gravity`: such as less the buoyancy
    of water, for statics [m/s^2]; `options`: as those of `build_robot`.
    """
    import equinox as eqx
    import jax.numpy as jnp

    from hydrostat.mechanics import single_arm
    from hydrostat.robots.build import base_pose, build_arm

    limb = build_arm(arm, **options)
    place = base_pose(spec.base) @ limb.arm.T_world_base
    robot = single_arm(eqx.tree_at(lambda limb: limb.arm.T_world_base, limb, place), name=arm.name)
    return robot if gravity is None else eqx.tree_at(lambda robot: robot.gravity, robot, jnp.asarray(gravity))
