"""The requirements that scenarios have on a robot."""

import math

from hydrostat.errors import InputError, listed
from hydrostat.robots.limbed import AnySpec, LimbedSpec
from hydrostat.robots.spec import RobotSpec
from hydrostat.robots.specs.squid import squid
from hydrostat.robots.specs.squid_vehicle import squid_vehicle
from hydrostat.robots.variants import arms_of


def check_platforms(spec: RobotSpec) -> None:
    """Refuse a robot that is not a chain of platforms."""
    if spec.legs is None:
        raise InputError(f"this scenario needs a chain of platforms; got {spec.name} without [legs]")


def check_elastic(spec: AnySpec) -> None:
    """Refuse robots that nothing but their legs holds."""
    if any(arm.legs is not None for arm in arms_of(spec)):
        raise InputError(
            f"{spec.name} is a chain of platforms without stiffness of its own: see track-dynamics and stewart-motions"
        )


def check_continuum(spec: RobotSpec) -> None:
    """Refuse a chain of platforms."""
    if spec.legs is not None:
        raise InputError(f"this scenario needs a continuum arm, of segments with modes; got {spec.name} with [legs]")
    if spec.muscles is not None:
        raise InputError(f"this scenario needs an arm without muscles; got {spec.name} with [muscles]")


def check_hydrostat(spec: RobotSpec) -> None:
    """Refuse an arm without muscles."""
    if spec.muscles is None:
        raise InputError(f"this scenario needs a muscular arm; got {spec.name} without [muscles]")


def check_oblique(spec: RobotSpec) -> None:
    """Refuse an arm without oblique muscles."""
    check_hydrostat(spec)
    if spec.muscles is not None and not spec.muscles.oblique_deg:
        raise InputError(f"this scenario needs an arm with oblique muscles; got {spec.name} with `oblique_deg` 0")


def check_limbs_of_arcs(spec: LimbedSpec) -> None:
    """Refuse a robot whose limbs are not arcs of free length."""
    for limb in spec.limbs:
        check_continuum(limb.arm)
        for number, segment in enumerate(limb.arm.segments, 1):
            if segment.modes != ("bend_x", "bend_y", "stretch"):
                raise InputError(
                    f"this scenario needs segments with the modes bend_x, bend_y, stretch; got {listed(segment.modes)} "
                    f"in segment {number} of {limb.name}"
                )


def check_squid(spec: LimbedSpec) -> None:
    """Refuse any robot but the squid, whose limbs have their own tasks."""
    if spec != squid():
        own = "; it is another robot of that name" if spec.name == "squid" else ""
        raise InputError(f"this scenario needs squid as it is built in, without changes; got {spec.name}{own}")


def check_squid_vehicle(spec: LimbedSpec) -> None:
    """Refuse any robot but the squid as a vehicle, whose fins are made for its hull."""
    if spec != squid_vehicle():
        own = "; it is another robot of that name" if spec.name == squid_vehicle().name else ""
        raise InputError(f"this scenario needs squid_vehicle as it is built in, without changes; got {spec.name}{own}")


def check_wire_driven(spec: RobotSpec) -> None:
    """Refuse a robot whose shape its wires do not determine, or that has no motors to pull them."""
    check_continuum(spec)
    for number, tendon in enumerate(spec.tendons, 1):
        if tendon.turn_deg:
            raise InputError(
                f"this scenario needs tendons with a straight course; got `turn_deg` {tendon.turn_deg:g} "
                f"at tendon {number}"
            )
    for number, segment in enumerate(spec.segments, 1):
        if set(segment.modes) != {"bend_x", "bend_y"}:
            raise InputError(
                f"this scenario needs segments with the modes bend_x, bend_y; got {listed(segment.modes)} "
                f"in segment {number}"
            )
        azimuths = [t.azimuth_deg for t in spec.tendons if t.ends_at_segment == number]
        if not _determine(azimuths):
            raise InputError(
                f"this scenario needs three or more tendons of different azimuth that end at each segment; "
                f"got {len(set(azimuths))} at segment {number}"
            )
    if spec.motor is None:
        raise InputError("this scenario needs stepper motors; the robot has none: add a [motor] table")


def check_octopus(spec: LimbedSpec) -> None:
    """Refuse a robot that has not equal muscular arms on its body."""
    for limb in spec.limbs:
        if limb.arm.muscles is None:
            raise InputError(
                f"this scenario needs equal muscular arms on a body; got {spec.name}, whose {limb.name} is without "
                f"[muscles]"
            )
    odd = spec.odd_limb()
    if odd is not None:
        raise InputError(f"this scenario needs equal arms; {odd.name} differs from {spec.limbs[0].name}")


def check_finger(spec: RobotSpec) -> None:
    """Refuse a robot that is not a planar finger of two arcs with a tendon on either side."""
    check_continuum(spec)
    if len(spec.segments) != 2:
        raise InputError(f"this scenario needs a finger of 2 segments, its arcs; got {len(spec.segments)}")
    for number, segment in enumerate(spec.segments, 1):
        if set(segment.modes) != {"bend_y"}:
            raise InputError(
                f"this scenario needs segments with the mode bend_y alone; got {listed(segment.modes)} "
                f"in segment {number}"
            )
    sides = sorted(tendon.azimuth_deg % 360.0 for tendon in spec.tendons if tendon.ends_at_segment == 2)
    if sides != [0.0, 180.0]:
        got = listed(f"{side:g}" for side in sides) or "none"
        raise InputError(f"this scenario needs tendons at azimuths 0 and 180 that end at segment 2; got {got}")


def check_closing_finger(spec: RobotSpec) -> None:
    """Refuse a robot that is not a finger of two arcs, planar or spatial, which a tendon at azimuth 0 closes."""
    check_continuum(spec)
    if len(spec.segments) != 2:
        raise InputError(f"this scenario needs a finger of 2 segments, its arcs; got {len(spec.segments)}")
    for number, segment in enumerate(spec.segments, 1):
        if set(segment.modes) not in ({"bend_y"}, {"bend_x", "bend_y"}):
            raise InputError(
                f"this scenario needs segments with the mode bend_y, and maybe bend_x; got {listed(segment.modes)} "
                f"in segment {number}"
            )
    ends = {tendon.ends_at_segment for tendon in spec.tendons if tendon.azimuth_deg % 360.0 == 0.0}
    if ends != {2}:
        raise InputError("this scenario needs a tendon at azimuth 0 that ends at segment 2, which closes the finger")


def check_two_arcs(spec: RobotSpec) -> None:
    """Refuse a robot that is not a planar arm of two arcs, with any actuators."""
    check_continuum(spec)
    if len(spec.segments) != 2:
        raise InputError(f"this scenario needs an arm of 2 segments, its arcs; got {len(spec.segments)}")
    for number, segment in enumerate(spec.segments, 1):
        if segment.modes != ("bend_y",):
            raise InputError(
                f"this scenario needs segments with the mode bend_y alone; got {listed(segment.modes)} "
                f"in segment {number}"
            )
        if segment.preshape_deg[0] != 0.0:
            raise InputError(
                f"this scenario needs an arm in one plane, with a preshape about y alone; got "
                f"{segment.preshape_deg[0]:g} deg about x in segment {number}"
            )


def check_bends_both_ways(spec: RobotSpec) -> None:
    """Refuse a robot that cannot be pulled out of a plane."""
    check_continuum(spec)
    for number, segment in enumerate(spec.segments, 1):
        if not {"bend_x", "bend_y"} <= set(segment.modes):
            raise InputError(
                f"this scenario needs segments with the modes bend_x and bend_y, and maybe others; "
                f"got {listed(segment.modes)} in segment {number}"
            )


def _determine(azimuths_deg: list[float]) -> bool:
    """Whether wires at these azimuths determine a bend vector and a common length: three of them differ."""
    angles = sorted({round(math.radians(a) % (2.0 * math.pi), 6) for a in azimuths_deg})
    return len(angles) >= 3
