"""Robots: the papers' own with their parameters, and a user's from a file.

`hydrostat.robots.octopus()` and its siblings give a `Robot` that is ready for a `System`. All of them take, besides the
parameters of the robot, the options of `hydrostat.robots.build.build_robot`: `free`, whether the body moves by the
forces on it, `drive`, `points`, `load_places` and more. The specifications they are built from, with the sources of
their numbers, are in `specs`; these, `spec` and `file` do not need JAX.
"""

import importlib as _importlib
from typing import TYPE_CHECKING

from hydrostat.robots import checks, rrp_twin, specs
from hydrostat.robots.catalogue import ROBOTS, find_arm, find_robot
from hydrostat.robots.file import format_robot, parse_robot, read_robot
from hydrostat.robots.limbed import AnySpec, BodySpec, LimbedSpec
from hydrostat.robots.spec import MODES, BaseSpec, LegsSpec, RobotSpec
from hydrostat.robots.specs.finger import FRICTION, LENGTHS, RADIUS, TENDON_OFFSET, YOUNGS_MODULUS
from hydrostat.robots.specs.rod import SILICONE
from hydrostat.robots.specs.stewart_arm import BASE_RADIUS, LENGTH, SEGMENTS
from hydrostat.robots.tension_files import read_tensions
from hydrostat.robots.variants import (
    arms_of,
    detached_limb,
    limb_on_body,
    muscle_count,
    own_variant,
    softer,
    stronger,
    tendon_count,
    wire_variants,
    with_paper_muscles,
)

if TYPE_CHECKING:
    from hydrostat.mechanics.robot import Robot
    from hydrostat.robots import alterations
    from hydrostat.robots.drives import squid_fins, squid_jet
    from hydrostat.robots.elastica import Sag, sag
    from hydrostat.robots.grippers import hand

__all__ = [
    "MODES",
    "ROBOTS",
    "AnySpec",
    "BaseSpec",
    "BodySpec",
    "LegsSpec",
    "LimbedSpec",
    "RobotSpec",
    "Sag",
    "alterations",
    "arms_of",
    "build_robot",
    "checks",
    "detached_limb",
    "find_arm",
    "find_robot",
    "finger",
    "format_robot",
    "hand",
    "limb_on_body",
    "load",
    "muscle_count",
    "octopus",
    "octopus_arm",
    "own_variant",
    "parse_robot",
    "read_robot",
    "read_tensions",
    "rod",
    "rrp_twin",
    "sag",
    "scaled",
    "softer",
    "specs",
    "squid",
    "squid_fins",
    "squid_jet",
    "squid_limb",
    "squid_vehicle",
    "stewart_arm",
    "stronger",
    "tendon_count",
    "tentacle",
    "wire_variants",
    "with_paper_muscles",
]

_LATER = {"Sag": "elastica", "hand": "grippers", "sag": "elastica", "squid_fins": "drives", "squid_jet": "drives"}


def __getattr__(name: str):
    if name == "alterations":
        return _importlib.import_module("hydrostat.robots.alterations")
    if name in _LATER:
        return getattr(_importlib.import_module(f"hydrostat.robots.{_LATER[name]}"), name)
    raise AttributeError(f"module 'hydrostat.robots' has no attribute '{name}'; it has {', '.join(__all__)}")


def build_robot(spec: AnySpec, **options) -> "Robot":
    """The robot that a specification describes; `hydrostat.robots.build.build_robot` says the options."""
    from hydrostat.robots.build import build_robot as build

    return build(spec, **options)


def load(name_or_file: str, **options) -> "Robot":
    """The robot of a name, as `hydrostat list` has them, or of a TOML file.

    **Arguments:** `options`: as those of `build_robot`; `free` says whether the body moves by the forces on it, which
    else is as the file says, and fixed without a word about it.
    """
    return build_robot(find_robot(name_or_file), **options)


def scaled(robot: "Robot", **factors) -> "Robot":
    """The robot with parameters multiplied by factors, differentiable; `hydrostat.robots.scaling` says which."""
    from hydrostat.robots.scaling import scaled as other

    return other(robot, **factors)


def octopus(arms: int = 8, segments: int = 20, pitch_deg: float = 0.0, *, free: bool = True, **options) -> "Robot":
    """The octopus after Kang: equal arms on a body that moves freely; `specs.octopus` says what is assumed.

    **Arguments:** `arms`: how many, evenly around the body; `segments`: of each; `pitch_deg`: by how much they point
    down where they leave the body; `options`: as those of `build_robot`.
    """
    from hydrostat.robots.specs.octopus import octopus as specification

    return build_robot(specification(arms, segments, pitch_deg), free=free, **options)


def octopus_arm(segments: int = 20, kind: str = "strut", oblique: bool = False, **options) -> "Robot":
    """The octopus arm after Kang; `specs.octopus_arm` says what is assumed.

    **Arguments:** `segments`: how many; `kind`: strut, as the paper's, or strain, arcs; `oblique`: whether it has
    oblique muscles, which twist it; `options`: as those of `build_robot`.
    """
    from hydrostat.robots.specs.octopus_arm import octopus_arm as specification

    return build_robot(specification(segments, kind, oblique), **options)


def squid(pieces: int = 1, tendons: str = "tip", **options) -> "Robot":
    """The squid after Emet et al., a body with four limbs; `specs.squid` says what is assumed.

    **Arguments:** `pieces`: equal pieces of each segment; `tendons`: where they end, tip or segments; `options`: as
    those of `build_robot`.
    """
    from hydrostat.robots.specs.squid import squid as specification

    return build_robot(specification(pieces, tendons), **options)


def squid_vehicle(pieces: int = 1, tendons: str = "segments", buoyancy: float = 1.01, **options) -> "Robot":
    """The squid after Emet et al. as a vehicle that swims; `specs.squid_vehicle` says what is assumed.

    Its drives are surroundings: `squid_fins()`, `squid_jet()`, in `Water(added_mass=1.0)`.

    **Arguments:** as those of `squid`; `buoyancy`: lift over weight in sea water, 1 where ballast makes it hover.
    """
    from hydrostat.robots.specs.squid_vehicle import squid_vehicle as specification

    return build_robot(specification(pieces, tendons, buoyancy), **options)


def squid_limb(name: str = "camera", pieces: int = 1, tendons: str = "tip", **options) -> "Robot":
    """One of the squid's limbs on its own; the arguments are those of `squid`, and `name`, which limb."""
    from hydrostat.robots.specs.squid import squid_limb as specification

    return build_robot(specification(name, pieces, tendons=tendons), **options)


def tentacle(
    shape: str = "cylinder", wires: str = "hard", routing: str = "decoupled", bays: int = 10, **options
) -> "Robot":
    """Boccolato's wire-driven tentacle; `specs.tentacle` says what is assumed.

    **Arguments:** `shape`: cylinder or cone; `wires`: hard or soft; `routing`: decoupled or through; `bays`: between
    the discs of each segment; `options`: as those of `build_robot`.
    """
    from hydrostat.robots.specs.tentacle import tentacle as specification

    return build_robot(specification(shape, wires, routing, bays), **options)


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
    azimuths_deg: tuple[float, ...] = (0.0, 180.0),
    **options,
) -> "Robot":
    """Dehghani's planar finger; `specs.finger` says its arguments, its frame and what is assumed.

    **Arguments:** `options`: as those of `build_robot`.
    """
    from hydrostat.robots.specs.finger import finger as specification

    spec = specification(
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
        azimuths_deg=azimuths_deg,
    )
    return build_robot(spec, **options)


def stewart_arm(
    segments: int = SEGMENTS,
    length: float = LENGTH,
    base_radius: float = BASE_RADIUS,
    taper: float | None = None,
    legs: LegsSpec | None = None,
    **options,
) -> "Robot":
    """Lafmejani's chain of platforms; `specs.stewart_arm` says its arguments and what is assumed.

    **Arguments:** `options`: as those of `build_robot`.
    """
    from hydrostat.robots.specs.stewart_arm import stewart_arm as specification

    return build_robot(specification(segments, length, base_radius, taper, legs), **options)


def rod(
    length: float,
    radius: float | tuple[float, float],
    segments: int = 10,
    *,
    modes: tuple[str, ...] = MODES,
    youngs_modulus: float = SILICONE.youngs_modulus,
    poisson_ratio: float = SILICONE.poisson_ratio,
    density: float = SILICONE.density,
    viscosity: float = 0.0,
    tip_mass: float = 0.0,
    axis: tuple[float, ...] = (1.0, 0.0, 0.0),
    **options,
) -> "Robot":
    """A plain elastic rod without actuators; the Nitinol rod of the papers is `load("rod")`.

    **Arguments:** `length` [m]; `radius` [m]: one, or that of the base and that of the tip; `segments`: number of equal
    segments; `modes`: the strains that every segment is free in; `youngs_modulus` [Pa]; `poisson_ratio`; `density`
    [kg/m^3]; `viscosity` [Pa s]; `tip_mass` [kg]; `axis`: where its base points; `options`: as those of `build_robot`.
    """
    from hydrostat.robots.specs.rod import elastic_rod

    spec = elastic_rod(
        length,
        radius,
        segments,
        modes=modes,
        youngs_modulus=youngs_modulus,
        poisson_ratio=poisson_ratio,
        density=density,
        viscosity=viscosity,
        tip_mass=tip_mass,
        axis=axis,
    )
    return build_robot(spec, **options)
