"""Robots: the papers' own with their parameters, and a user's from a file.

`hydrostat.robots.tentacle()` and its siblings give a robot that is ready to use; the `spec` and `file` modules hold the
numbers they are built from, and do not need JAX.
"""

from typing import TYPE_CHECKING

from hydrostat.robots.catalogue import ROBOTS, find_arm, find_robot
from hydrostat.robots.file import format_robot, parse_robot, read_robot
from hydrostat.robots.finger import FRICTION, LENGTHS, RADIUS, TENDON_OFFSET, YOUNGS_MODULUS
from hydrostat.robots.limbed import LimbedSpec
from hydrostat.robots.spec import LegsSpec, RobotSpec
from hydrostat.robots.stewart_arm import BASE_RADIUS, LENGTH, SEGMENTS

if TYPE_CHECKING:
    from hydrostat.mechanics import Model
    from hydrostat.robots.build import Robot
    from hydrostat.robots.build_limbed import Limbed

__all__ = [
    "ROBOTS",
    "LegsSpec",
    "LimbedSpec",
    "RobotSpec",
    "find_arm",
    "find_robot",
    "finger",
    "format_robot",
    "load_robot",
    "octopus_arm",
    "parse_robot",
    "read_robot",
    "robot_model",
    "squid",
    "squid_limb",
    "stewart_arm",
    "tentacle",
]


def load_robot(name_or_file: str) -> "Robot":
    """The robot of one arm of a name or of a TOML file, built."""
    from hydrostat.robots.build import build_robot

    return build_robot(find_arm(name_or_file))


def tentacle(shape: str = "cylinder", wires: str = "hard", routing: str = "decoupled", bays: int = 10) -> "Robot":
    """Boccolato's wire-driven tentacle, built; `hydrostat.robots.tentacle` the module says what is assumed."""
    from hydrostat.robots.build import build_robot
    from hydrostat.robots.tentacle import tentacle as specification

    return build_robot(specification(shape, wires, routing, bays))


def robot_model(robot: "Robot", **options) -> "Model":
    """The model of a robot for statics and dynamics; `hydrostat.robots.mechanical` says its options."""
    from hydrostat.robots.mechanical import robot_model as model

    return model(robot, **options)


def finger(
    lengths: tuple[float, ...] = LENGTHS,
    radius: float = RADIUS,
    *,
    tip_mass: float = 0.0,
    contact_mass: float = 0.0,
    tendon_offset: float = TENDON_OFFSET,
    friction: float = FRICTION,
    preshape_deg: tuple[float, ...] = (0.0, 0.0),
    youngs_modulus: float = YOUNGS_MODULUS,
    segments: int = 2,
    modes: tuple[str, ...] = ("bend_y",),
) -> "Robot":
    """Dehghani's planar finger, built; `hydrostat.robots.finger` the module says what is assumed, and its frame."""
    from hydrostat.robots.build import build_robot
    from hydrostat.robots.finger import finger as specification

    return build_robot(
        specification(
            lengths,
            radius,
            tip_mass=tip_mass,
            contact_mass=contact_mass,
            tendon_offset=tendon_offset,
            friction=friction,
            preshape_deg=preshape_deg,
            youngs_modulus=youngs_modulus,
            segments=segments,
            modes=modes,
        )
    )


def stewart_arm(
    segments: int = SEGMENTS,
    length: float = LENGTH,
    base_radius: float = BASE_RADIUS,
    taper: float | None = None,
    legs: LegsSpec | None = None,
) -> "Robot":
    """Lafmejani's chain of platforms, built; `hydrostat.robots.stewart_arm` the module says what is assumed."""
    from hydrostat.robots.build import build_robot
    from hydrostat.robots.stewart_arm import stewart_arm as specification

    return build_robot(specification(segments, length, base_radius, taper, legs))


def octopus_arm(segments: int = 20, kind: str = "strut", oblique: bool = False) -> "Robot":
    """The octopus arm after Kang, built; `hydrostat.robots.octopus_arm` the module says what is assumed."""
    from hydrostat.robots.build import build_robot
    from hydrostat.robots.octopus_arm import octopus_arm as specification

    return build_robot(specification(segments, kind, oblique))


def squid(pieces: int = 1, tendons: str = "tip") -> "Limbed":
    """The squid after Emet et al., built; `hydrostat.robots.squid` the module says what is assumed."""
    from hydrostat.robots.build_limbed import build_limbed
    from hydrostat.robots.squid import squid as specification

    return build_limbed(specification(pieces, tendons))


def squid_limb(name: str = "camera", pieces: int = 1, tendons: str = "tip") -> "Robot":
    """One of the squid's limbs on its own, built."""
    from hydrostat.robots.build import build_robot
    from hydrostat.robots.squid import squid_limb as specification

    return build_robot(specification(name, pieces, tendons=tendons))
