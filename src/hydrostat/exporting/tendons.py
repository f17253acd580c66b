"""Tendons along a chain of elastic sections.

A tendon that is guided all along runs at its offset d from the axis: over a section its length changes by that of the
slide less d times the bend towards it. It is written so. Were it drawn straight between the sections' ends, it would
pass the hinge nearer by a quarter of length times bend, which is much of d in a slender limb. Tendons that are straight
from disc to disc, and tendons that wind, pass sites at the sections' ends.
"""

from dataclasses import replace

import numpy as np

from hydrostat.exporting.description import Link, Tendon
from hydrostat.robots.spec import RobotSpec, TendonSpec

_TENSION = 0.5  # of EA at the base: what a tendon's motor pulls with at most, assumed


def section_end(link: Link) -> float:
    """The place on a link's z at which its section ends, which is the end of its first shape."""
    half = link.shapes[0]
    return half.position[2] + 0.5 * half.size[1]


def add_tendons(
    cut: RobotSpec, prefix: str, names: list[str], links: list[Link]
) -> tuple[list[Link], tuple[Tendon, ...]]:
    """The links with the sites that tendons pass, and the tendons.

    **Arguments:** `cut`: the arm, a segment for each section; `names`: of the sections; `links`: from the root to the
    tip.
    """
    most = _TENSION * cut.material.youngs_modulus * np.pi * cut.segments[0].radius[0] ** 2
    sites: dict[str, dict[str, tuple[float, float, float]]] = {}
    tendons = []
    for number, tendon in enumerate(cut.tendons, 1):
        name = f"{prefix}_tendon_{number}"
        arcs = all(mode in ("bend_x", "bend_y", "stretch") for segment in cut.segments for mode in segment.modes)
        if tendon.kind == "hard" and not tendon.turn_deg and arcs:
            tendons.append(Tendon(name, most, lever=_lever(cut, tendon, names)))
            continue
        course = []
        for step, (link, place) in enumerate(_course(cut, tendon, prefix, names, links)):
            sites.setdefault(link, {})[f"{name}_site_{step}"] = place
            course.append(f"{name}_site_{step}")
        tendons.append(Tendon(name, most, sites=tuple(course)))
    return [replace(link, sites=sites.get(link.name, {})) for link in links], tuple(tendons)


def _lever(cut: RobotSpec, tendon: TendonSpec, names: list[str]) -> dict[str, float]:
    """The change of length per joint value, of a tendon that is guided all along: stretch less d times the bend."""
    azimuth = np.deg2rad(tendon.azimuth_deg)
    lever = {}
    for section, (base, tip) in cut.offsets(tendon).items():
        offset, modes = 0.5 * (base + tip), cut.segments[section - 1].modes
        own = {"bend_x": offset * np.sin(azimuth), "bend_y": -offset * np.cos(azimuth), "stretch": 1.0}
        lever |= {f"{names[section - 1]}_{mode}": float(own[mode]) for mode in modes}
    return lever


def _course(cut: RobotSpec, tendon: TendonSpec, prefix: str, names: list[str], links: list[Link]):
    """The links and the places on them that a tendon passes, at the ends of sections."""
    ends = {link.name: section_end(link) for link in links if link.name in names}
    offsets, turns = cut.offsets(tendon), cut.turns(tendon)
    first = min(offsets)
    marks = [(first - 1, offsets[first][0], turns[first][0])]
    marks += [(section, offsets[section][1], turns[section][1]) for section in offsets]
    for section, offset, turn in marks:
        link = names[section - 1] if section else f"{prefix}_root"
        azimuth = np.deg2rad(tendon.azimuth_deg + turn)
        yield link, (float(offset * np.cos(azimuth)), float(offset * np.sin(azimuth)), ends.get(link, 0.0))
