"""The twin of a robot: rigid bodies built from its specification."""

from dataclasses import replace

import numpy as np

from hydrostat.exporting.description import Limb, Link, Shape, Twin
from hydrostat.exporting.elastic_chain import elastic_links
from hydrostat.exporting.limits import Limits
from hydrostat.exporting.platform_chain import lumps_on_plates, platform_links
from hydrostat.exporting.request import check_chain, is_rigid
from hydrostat.exporting.rrp_chain import rrp_links
from hydrostat.exporting.solids import Solid
from hydrostat.robots.build import base_pose
from hydrostat.robots.limbed import AnySpec, LimbedSpec
from hydrostat.robots.spec import BaseSpec, RobotSpec

_SECTIONS = 10
"""Number of sections of a segment, where an arm has few of them: the paper's number."""
_MANY_SEGMENTS = 10


def default_sections(spec: RobotSpec) -> int:
    """The default number of sections: ten for each arc, and one where the arm has many segments, or where a segment is
    a rigid piece already."""
    return 1 if is_rigid(spec) or len(spec.segments) >= _MANY_SEGMENTS else _SECTIONS


def make_twin(spec: AnySpec, sections: int | None = None, chain: str = "elastic", *, free_base: bool = False) -> Twin:
    """The robot as rigid bodies.

    **Arguments:** `sections`: of each segment of every arm, but for struts and platforms, which are rigid: for each arm
    as `default_sections` when not given; `chain`: `elastic`, for dynamics, or `rrp`, for kinematics; `free_base`:
    whether the body that carries the limbs floats.
    """
    check_chain(spec, sections, chain, free_base)
    if isinstance(spec, LimbedSpec):
        return _limbed(spec, sections, chain, free_base)
    base = _base("arm_base", None, spec.base)
    limb = _limb(spec, "arm", "arm_base", sections, chain, Limits())
    return _whole(spec.name, [base], [limb], ["tool"], _left_out(spec, chain))


def _limb(spec: RobotSpec, prefix: str, base: str, sections: int | None, chain: str, limits: Limits) -> Limb:
    """The chain of one arm, of the chosen kind."""
    # A rigid segment is one section, also on a body that has other limbs with more.
    count = default_sections(spec) if sections is None or is_rigid(spec) else sections
    if spec.legs is not None:
        return platform_links(spec, prefix, base, legs=chain == "elastic")
    if chain == "rrp":
        return rrp_links(spec, prefix, base, count, limits)
    # The ranges of the kinematics do not bind an elastic limb, which may hang longer than that by its weight.
    return elastic_links(spec, prefix, base, count, Limits())


def _limbed(spec: LimbedSpec, sections: int | None, chain: str, free_base: bool) -> Twin:
    """A body with its limbs."""
    body = spec.body
    matter = Solid(body.mass, body.centre, body.inertia, body.volume)
    x, y, z = range(3)
    shapes = tuple(
        Shape(s.kind, s.size, (s.position[x], s.position[y], s.position[z]), "body", s.name) for s in body.shapes
    )
    links = [replace(_base("body", None, spec.base), solids=(matter,), shapes=shapes, free=free_base)]
    limbs, left = [], []
    for limb in spec.limbs:
        links.append(_base(f"{limb.name}_base", "body", limb.arm.base))
        limits = Limits(float(np.deg2rad(limb.most_bend_deg)), (limb.length_range[0], limb.length_range[1]))
        limbs.append(_limb(limb.arm, limb.name, f"{limb.name}_base", sections, chain, limits))
        left += [sentence for sentence in _left_out(limb.arm, chain) if sentence not in left]
    return _whole(spec.name, links, limbs, [limb.role for limb in spec.limbs], left)


def _base(name: str, parent: str | None, base: BaseSpec) -> Link:
    """The link of a mounting frame."""
    pose = base_pose(base)
    return Link(name, parent, np.asarray(pose.position), np.asarray(pose.rotation))


def _whole(name: str, links: list[Link], limbs: list[Limb], roles: list[str], left_out: list[str]) -> Twin:
    """The whole robot, with the kinds of its tips."""
    for limb, role in zip(limbs, roles, strict=True):
        links += [replace(link, role=role) if link.name == limb.chain.tip else link for link in limb.links]
    return Twin(
        name=name,
        links=tuple(links),
        tendons=tuple(tendon for limb in limbs for tendon in limb.tendons),
        chains=tuple(limb.chain for limb in limbs),
        timestep=min(limb.timestep for limb in limbs),
        left_out=tuple(left_out),
        legs=tuple(leg for limb in limbs for leg in limb.legs),
        rings=tuple(ring for limb in limbs for ring in limb.rings),
        servos=tuple(servo for limb in limbs for servo in limb.servos),
    )


def _left_out(spec: RobotSpec, chain: str) -> list[str]:
    """The properties of an arm that rigid bodies cannot represent, in sentences."""
    left = []
    if spec.legs is not None:
        return _left_out_of_platforms(spec, chain)
    if chain == "rrp" and spec.tendons:
        left.append("tendons are left out of an RRP chain, which is for kinematics; --chain elastic has them")
    if spec.muscles is not None:
        left.append(
            "muscles, and the constant volume they work with, are left out; the tissue's stiffness is in the joints"
        )
    return left


def _left_out_of_platforms(spec: RobotSpec, chain: str) -> list[str]:
    """The properties of a chain of platforms that rigid bodies cannot represent, in sentences."""
    if chain == "rrp":
        left = ["the legs of the platforms are left out of a chain for kinematics; MJCF with --chain elastic has them"]
    else:
        left = [
            "the rule by which radial joints keep each segment's volume is left out: their servos hold them where they "
            "are told, at first at the radii at rest"
        ]
    between = lumps_on_plates(spec)[1]
    return [*left, f"masses between plates are left out, {between:.3g} kg"] if between else left
