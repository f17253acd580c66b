"""Warns when robot-files.md and the robot's specification name different keys or defaults."""

import dataclasses
import logging
import re

from hydrostat.robots.hull_spec import HullSpec
from hydrostat.robots.limbed import BodySpec, LimbSpec, RingSpec, ShapeSpec
from hydrostat.robots.spec import (
    BaseSpec,
    LegsSpec,
    MassSpec,
    MaterialSpec,
    MotorSpec,
    MusclesSpec,
    SegmentSpec,
    TendonSpec,
)

_log = logging.getLogger("mkdocs.hooks.robot_keys")
_PAGE = "robot-files.md"
_TABLES = {
    "[base]": BaseSpec,
    "[[arm.segment]]": SegmentSpec,
    "[material]": MaterialSpec,
    "[[tendon]]": TendonSpec,
    "[motor]": MotorSpec,
    "[[mass]]": MassSpec,
    "[legs]": LegsSpec,
    "[muscles]": MusclesSpec,
    "[body]": BodySpec,
    "[body.hull]": HullSpec,
    "[[body.shape]]": ShapeSpec,
    "[limbs]": RingSpec,
    "[[limb]]": LimbSpec,
}
_OWN_TABLES = ("shapes", "hull", "arm")
"""Fields of a class that the file has as tables of their own."""


def on_page_markdown(markdown: str, page, **_) -> str:
    """Compare each section's table, whose columns are key, unit, default, ..., with the fields of its class."""
    if page.file.src_uri == _PAGE:
        for heading, kind in _TABLES.items():
            section = markdown.split(f"## `{heading}`", 1)[-1].split("\n## ", 1)[0]
            rows = re.findall(r"^\| `(\w+)` \|[^|]*\| ([^|]*) \|", section, re.MULTILINE)
            written = {key: default.strip().strip("`") for key, default in rows if key != "count" or kind is RingSpec}
            for difference in _differences(written, kind):
                _log.warning("%s, %s: %s", _PAGE, heading, difference)
    return markdown


def _differences(written: dict[str, str], kind: type) -> list[str]:
    """What the page has wrong, in words."""
    wrong = []
    for field in dataclasses.fields(kind):
        if field.name in _OWN_TABLES:
            continue
        default = "required" if field.default is dataclasses.MISSING else _as_toml(field.default)
        if written.pop(field.name, None) != default:
            wrong.append(f"`{field.name}` must stand there with the default `{default}`")
    return wrong + [f"`{key}` is no key of it" for key in written]


def _as_toml(value) -> str:
    """A default as the page writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return "[" + ", ".join(_as_toml(entry) for entry in value) + "]"
    return repr(value)
