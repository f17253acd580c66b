"""What a scenario may ask of a robot."""

import math

from hydrostat.errors import InputError, listed
from hydrostat.robots.spec import RobotSpec


def check_wire_driven(spec: RobotSpec) -> None:
    """Refuse a robot whose shape its wires do not determine, or that has no motors to pull them."""
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


def _determine(azimuths_deg: list[float]) -> bool:
    """Whether wires at these azimuths determine a bend vector and a common length: three of them differ."""
    angles = sorted({round(math.radians(a) % (2.0 * math.pi), 6) for a in azimuths_deg})
    return len(angles) >= 3
