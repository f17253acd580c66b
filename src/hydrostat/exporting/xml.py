"""The common part of both formats: numbers, comments, and a check that every number is finite."""

import math
from collections.abc import Iterable
from xml.etree import ElementTree as ET

import numpy as np

from hydrostat.errors import InputError, listed
from hydrostat.exporting.description import Twin
from hydrostat.exporting.solids import together

COLORS = {
    "skin": (0.78, 0.45, 0.38, 1.0),
    "body": (0.36, 0.45, 0.55, 1.0),
    "object": (0.72, 0.70, 0.64, 1.0),
    "leg": (0.20, 0.20, 0.18, 1.0),
}


def number(value: float) -> str:
    """A number with all its digits; zero without its sign."""
    return repr(float(value) + 0.0) if value else "0"


def numbers(values: Iterable[float]) -> str:
    """Numbers with blanks between them."""
    return " ".join(number(value) for value in values)


def check(twin: Twin) -> None:
    """Refuse numbers that no engine can load."""
    for link in twin.links:
        values = [*link.position, *np.ravel(link.rotation)]
        for joint in link.joints:
            values += [*joint.range, joint.stiffness, joint.damping, joint.rest, joint.armature]
            if min(joint.stiffness, joint.damping) < 0.0 or joint.range[0] > joint.range[1]:
                raise InputError(f"{twin.name} cannot be exported: joint {joint.name} has a negative spring or range")
        solid = together(link.solids)
        if solid is not None:
            values += [solid.mass, *solid.centre, *np.ravel(solid.inertia)]
            if np.linalg.eigvalsh(solid.inertia).min() < 0.0:
                raise InputError(f"{twin.name} cannot be exported: link {link.name} has a negative moment of inertia")
        if not all(map(math.isfinite, values)):
            raise InputError(f"{twin.name} cannot be exported: link {link.name} has a number that is not finite")


def text(root: ET.Element, twin: Twin, left_out: Iterable[str]) -> str:
    """The document, with comments above it: the rigid sections of each arm, and each property that is left out."""
    ET.indent(root)
    lines = ["<?xml version='1.0' encoding='utf-8'?>", f"<!-- {_plain(twin.name)}, written by hydrostat -->"]
    counts = listed(f"{chain.name} {chain.rigid_sections}" for chain in twin.chains)
    lines.append(f"<!-- {_plain(f'rigid sections of each arm: {counts}')} -->")
    lines += [f"<!-- {_plain(sentence)} -->" for sentence in left_out]
    return "\n".join([*lines, ET.tostring(root, encoding="unicode")]) + "\n"


def _plain(sentence: str) -> str:
    """A sentence as a comment may hold it: two dashes would end it."""
    while "--" in sentence:
        sentence = sentence.replace("--", "")
    return sentence.rstrip("-")
