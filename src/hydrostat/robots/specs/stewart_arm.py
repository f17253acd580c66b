"""Lafmejani's hyper-redundant arm: twenty Gough-Stewart platforms on top of each other, thinner from base to tip.

From the paper (Lafmejani et al. 2020): 20 segments of equal volume, the base's radius 0.25 m, 5 m in all, each segment
a platform on six legs. Its ratio of radii is printed as 0.095, which is absurd for a segment (the tip would be 1e-21 m
wide); read as 0.95 for each segment, one digit misplaced, all its paths are tracked with sane poses. The legs are
paired as the edges of an octahedron, because as printed they coincide two by two. What the actuators can do, and every
mass, is assumed: the paper is about kinematics.
"""

from itertools import pairwise

from hydrostat.errors import number, whole
from hydrostat.robots.spec import BaseSpec, LegsSpec, MaterialSpec, RobotSpec, SegmentSpec

SEGMENTS = 20
LENGTH = 5.0  # m
BASE_RADIUS = 0.25  # m
TAPER = 0.95  # of each segment
ALUMINIUM = MaterialSpec(youngs_modulus=69e9, poisson_ratio=0.33, density=2700.0)


def stewart_arm(
    segments: int = SEGMENTS,
    length: float = LENGTH,
    base_radius: float = BASE_RADIUS,
    taper: float | None = None,
    legs: LegsSpec | None = None,
) -> RobotSpec:
    """The arm's specification.

    **Arguments:** `segments`: how many; `length`: of the whole arm at rest [m]; `base_radius` [m]; `taper`: radius of a
    segment's upper ring over that of its lower one; when not given, such that the arm's tip is as wide as with 20
    segments of 0.95; `legs`: their geometry and limits, octahedral when not given.
    """
    count = whole("segments", segments, least=1, most=1000)
    length = number("length", length, above=0.0, most=1e3)
    radius = number("base_radius", base_radius, above=0.0, most=1e3)
    ratio = TAPER ** (SEGMENTS / count) if taper is None else number("taper", taper, above=0.0, most=1.0)
    radii = [radius * ratio**i for i in range(count + 1)]
    # Equal volumes: length times squared radius is the same in all.
    shares = [r**-2 for r in radii[:-1]]
    lengths = [length * share / sum(shares) for share in shares]
    return RobotSpec(
        name=f"stewart arm ({count} segments)",
        base=BaseSpec(position=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)),
        segments=tuple(SegmentSpec(part, radii_of) for part, radii_of in zip(lengths, pairwise(radii), strict=True)),
        material=ALUMINIUM,
        legs=legs or LegsSpec(),
        notes="Lafmejani et al. 2020: 20 platforms of equal volume, 5 m, base radius 0.25 m; taper read as 0.95; "
        "limits and masses are assumed.",
    )
