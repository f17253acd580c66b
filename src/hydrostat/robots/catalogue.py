"""The robots that hydrostat knows by name."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hydrostat.errors import InputError, listed, shown
from hydrostat.robots.file import read_robot
from hydrostat.robots.limbed import AnySpec, LimbedSpec
from hydrostat.robots.spec import RobotSpec
from hydrostat.robots.specs.finger import finger, finger_spatial
from hydrostat.robots.specs.octopus import octopus
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.robots.specs.rod import rod
from hydrostat.robots.specs.squid import squid, squid_limb
from hydrostat.robots.specs.squid_vehicle import squid_vehicle
from hydrostat.robots.specs.stewart_arm import stewart_arm
from hydrostat.robots.specs.tentacle import tentacle


@dataclass(frozen=True)
class Entry:
    """A robot by name."""

    name: str
    summary: str
    make: Callable[[], AnySpec]


ROBOTS = {
    entry.name: entry
    for entry in (
        Entry("tentacle", "three cylindrical segments, nine wires on stepper motors, 1.05 m (Boccolato)", tentacle),
        Entry("tentacle_cone", "the same with truncated-cone segments", partial(tentacle, shape="cone")),
        Entry("tentacle_soft", "the cone with wires straight from disc to disc", partial(tentacle, "cone", "soft")),
        Entry(
            "tentacle_through",
            "the cylinder whose distal wires pass through the segments before",
            partial(tentacle, routing="through"),
        ),
        Entry("finger", "two planar arcs of a Nitinol rod, a pair of tendons, 0.6 m, horizontal (Dehghani)", finger),
        Entry("finger_spatial", "the same rod with three cables, which bends to all sides", finger_spatial),
        Entry("rod", "a Nitinol rod of 20 segments with all six strains and 50 g at its tip, 0.6 m, horizontal", rod),
        Entry(
            "stewart_arm",
            "twenty platforms on six legs each, of constant volume, 5 m, upright (Lafmejani)",
            stewart_arm,
        ),
        Entry("octopus_arm", "a muscular hydrostat of 20 struts, 0.24 m, horizontal (Kang)", octopus_arm),
        Entry("octopus_arm_arcs", "the same with arcs of constant strain", partial(octopus_arm, kind="strain")),
        Entry("octopus_arm_oblique", "the same with oblique muscles", partial(octopus_arm, oblique=True)),
        Entry("octopus", "eight such arms on a free body (Kang)", octopus),
        Entry("octopus_swimmer", "the same, its arms pointing down by 40 degrees", partial(octopus, pitch_deg=40.0)),
        Entry("squid", "a body with four soft limbs of 0.6 m, four tendons each (Emet et al.)", squid),
        Entry("squid_vehicle", "the same, free to swim: a hull, with drives for fins and jet", squid_vehicle),
        Entry("squid_grasper", "its grasper limb alone: two segments", partial(squid_limb, "grasper")),
        Entry("squid_camera", "its camera limb alone: one segment", partial(squid_limb, "camera")),
    )
}
"""All robots that have a name, as `hydrostat list` prints them."""


def find_robot(name_or_file: str) -> AnySpec:
    """The robot of a name, or of a TOML file."""
    if name_or_file in ROBOTS:
        return ROBOTS[name_or_file].make()
    if name_or_file.endswith(".toml") or os.path.exists(name_or_file):
        return read_robot(Path(name_or_file))
    raise InputError(
        f"robot must be one of {listed(ROBOTS)}, or a .toml file as `hydrostat new` writes; got {shown(name_or_file)}"
    )


def find_arm(name_or_file: str) -> RobotSpec:
    """The robot of one arm of a name, or of a TOML file."""
    spec = find_robot(name_or_file)
    if isinstance(spec, LimbedSpec):
        raise InputError(f"the robot must be a single arm; got {spec.name} with {len(spec.limbs)} limbs")
    return spec
