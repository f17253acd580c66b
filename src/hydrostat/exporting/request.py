"""The options of an export, checked before JAX is imported."""

from hydrostat.errors import InputError, choice, whole
from hydrostat.robots.limbed import AnySpec, LimbedSpec
from hydrostat.robots.spec import RobotSpec

FORMATS = ("mjcf", "urdf")
"""The file formats that robots are exported to."""
CHAINS = ("elastic", "rrp")
"""Chains of rigid bodies: with springs, for dynamics; or of revolute, revolute and prismatic joints, for kinematics."""
MOST_SECTIONS = 200


def default_chain(spec: AnySpec, kind: str) -> str:
    """The default chain: with springs where the format has them; else exact, where the robot can be an RRP chain."""
    if kind == "mjcf":
        return "elastic"
    return "elastic" if any(_beyond_arcs(arm) for arm in _arms(spec)) else "rrp"


def check_request(
    spec: AnySpec,
    kind: str,
    sections: int | None = None,
    chain: str = "elastic",
    water: bool = False,
    free: bool = False,
) -> None:
    """Refuse options that cannot be exported.

    **Arguments:** as the options of `hydrostat export`.
    """
    choice("format", kind, FORMATS)
    if water and kind == "urdf":
        raise InputError("URDF cannot hold water; --water is for --format mjcf")
    check_chain(spec, sections, chain, free)


def check_chain(spec: AnySpec, sections: int | None, chain: str, free: bool) -> None:
    """Refuse a chain that the robot cannot be."""
    choice("chain", chain, CHAINS)
    if sections is not None:
        whole("sections", sections, least=1, most=MOST_SECTIONS)
    if free and not isinstance(spec, LimbedSpec):
        raise InputError(f"only a robot with a body can float; {spec.name} is an arm on a fixed base")
    arms = _arms(spec)
    if sections not in (None, 1) and all(map(is_rigid, arms)):
        what = "platforms" if arms[0].legs else "struts"
        raise InputError(f"`sections` must be 1 for {spec.name}: its segments are {what}, rigid pieces; got {sections}")
    for arm in arms:
        _check_arm(arm, chain)


def is_rigid(spec: RobotSpec) -> bool:
    """Whether the segments of an arm are rigid pieces: platforms or struts."""
    return spec.legs is not None or (spec.muscles is not None and spec.muscles.segments == "strut")


def _arms(spec: AnySpec) -> list[RobotSpec]:
    """The arms of a robot."""
    return [limb.arm for limb in spec.limbs] if isinstance(spec, LimbedSpec) else [spec]


def _beyond_arcs(spec: RobotSpec) -> str:
    """The reasons, in words, why an arm cannot be an RRP chain; empty where it can."""
    if is_rigid(spec):
        return ""
    for number, segment in enumerate(spec.segments, 1):
        for mode in ("twist", "shear_x", "shear_y"):
            if mode in segment.modes:
                return f"segment {number} has the mode {mode}"
    return ""


def _check_arm(spec: RobotSpec, chain: str) -> None:
    """Refuse an arm that cannot become a chain."""
    beyond = _beyond_arcs(spec)
    if chain == "rrp" and beyond:
        raise InputError(
            f"{spec.name} cannot be an RRP chain, which holds bends and stretch: {beyond}; use --chain elastic"
        )
    if spec.legs is not None or chain == "rrp":
        return
    for number, segment in enumerate(spec.segments, 1):
        for angle, mode in zip(segment.preshape_deg, ("bend_x", "bend_y"), strict=True):
            if angle and mode not in segment.modes:
                raise InputError(
                    f"{spec.name} cannot be an elastic chain: segment {number} is bent at rest in {mode}, which is "
                    f"none of its modes, so that no joint holds it; add the mode, or export it with --chain rrp"
                )
