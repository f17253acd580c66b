"""Robot files: TOML in; `file_text` has TOML out."""

import dataclasses
import tomllib
from pathlib import Path
from typing import Any

from hydrostat.errors import InputError, listed, shown, whole
from hydrostat.robots.file_limits import LARGEST_FILE, check_tables, check_text
from hydrostat.robots.file_text import format_robot
from hydrostat.robots.hull_spec import HullSpec
from hydrostat.robots.limbed import AnySpec, BodySpec, LimbedSpec, LimbSpec, RingSpec, ShapeSpec
from hydrostat.robots.spec import (
    BaseSpec,
    LegsSpec,
    MassSpec,
    MaterialSpec,
    MotorSpec,
    MusclesSpec,
    RobotSpec,
    SegmentSpec,
    TendonSpec,
)
from hydrostat.tables import read_bytes

__all__ = ["format_robot", "parse_robot", "read_robot"]

_PARTS = {"material": MaterialSpec, "motor": MotorSpec, "legs": LegsSpec, "muscles": MusclesSpec}
"""Tables of an arm."""
_LISTS = {"mass": ("masses", MassSpec), "tendon": ("tendons", TendonSpec)}
"""Arrays of tables of an arm, and what its specification calls them."""
_OF_LIMBS = ("body", "limbs", "limb")
_TOP = ("name", "notes", "base", "arm", *_PARTS, *_LISTS, *_OF_LIMBS)
_OF_LIMB = ("name", "role", "most_bend_deg", "length_range")
_START = "`hydrostat new FILE.toml` writes one to start from"


def read_robot(path: str | Path) -> AnySpec:
    """The robot that a TOML file describes; a message about a fault names the file and the place in it."""
    name = f"robot file {shown(str(path))}"
    try:
        raw = read_bytes(path, LARGEST_FILE, name)
    except InputError as error:
        raise InputError(f"{error}; {_START}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no file name"
        raise InputError(f"{name} could not be read: {reason}; {_START}") from None
    try:
        return parse_robot(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise InputError(f"{name} must be UTF-8 text; it is not") from None
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def parse_robot(text: str) -> AnySpec:
    """The robot that a TOML text describes: one arm, or a body with limbs."""
    if not text.strip():
        raise InputError(f"it must hold at least one [[arm.segment]]; it is empty; {_START}")
    check_text(text)
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise InputError(f"it must be valid TOML; {' '.join(str(error).split())[:120]}") from None
    _known(table, _TOP, "the file")
    check_tables(table)
    own: dict = {"notes": _notes(table, "")}
    if "base" in table:
        own["base"] = _build(BaseSpec, table["base"], "[base]")
    if any(key in table for key in _OF_LIMBS):
        return _limbed(table, own)
    return RobotSpec(name=table.get("name", "my arm"), **own, **_top_arm(table))


def _top_arm(table: dict) -> dict:
    """What the tables at the top of a file say of its arm."""
    arm = _table(table.get("arm", {}), "[arm]")
    _known(arm, ("segment",), "[arm]")
    return _arm_parts(table, arm.get("segment", []), "arm.segment", "", "")


def _arm_parts(table: dict, segments: object, of_segment: str, prefix: str, within: str) -> dict:
    """What tables say of one arm, as the fields of its specification.

    **Arguments:** `table`: that holds them; `segments`: those of its segments, and `of_segment`: how the file calls
    them; `prefix`: before the names of the other tables; `within`: what they are in, for messages.
    """
    entries = _tables(segments, f"[[{of_segment}]]{within}")
    if not entries:
        raise InputError(f"it must hold at least one [[{of_segment}]]{within}; it has none; {_START}")
    parts: dict = {"segments": _segments(entries, of_segment, within)}
    for key, kind in _PARTS.items():
        if key in table:
            parts[key] = _build(kind, table[key], f"[{prefix}{key}]{within}")
    for key, (name, kind) in _LISTS.items():
        entries = _tables(table.get(key, []), f"[[{prefix}{key}]]{within}")
        parts[name] = tuple(_build(kind, entry, f"[[{prefix}{key}]] {i}{within}") for i, entry in enumerate(entries, 1))
    return parts


def _limbed(table: dict, own: dict) -> LimbedSpec:
    """A body with its limbs: equal ones of [limbs], whose arm the tables at the top describe, and those of [[limb]]."""
    for key in ("limbs", "limb"):
        if "body" not in table and key in table:
            raise InputError(f"[body] is missing; a file with {'[limbs]' if key == 'limbs' else '[[limb]]'} needs it")
    body = dict(_table(table["body"], "[body]"))
    _known(body, ("volume", "free", "shape", "hull"), "[body]")
    shapes = _tables(body.pop("shape", []), "[[body.shape]]")
    body["shapes"] = tuple(_build(ShapeSpec, shape, f"[[body.shape]] {i}") for i, shape in enumerate(shapes, 1))
    if "hull" in body:
        body["hull"] = _build(HullSpec, body["hull"], "[body.hull]")
    whole_body = _build(BodySpec, body, "[body]")
    limbs: list[LimbSpec] = []
    if "limbs" in table:
        limbs += _equal_limbs(table)
    else:
        for key in ("arm", *_PARTS, *_LISTS):
            if key in table and key != "material":
                raise InputError(f"`{key}` at the top of the file is that of the limbs of [limbs]; there is no [limbs]")
    for i, entry in enumerate(_tables(table.get("limb", []), "[[limb]]"), 1):
        limbs.append(_limb(entry, table, i))
    if not limbs:
        raise InputError("a [body] must carry limbs: add [limbs] for equal ones, or [[limb]] for each; it has none")
    return LimbedSpec(name=table.get("name", "my robot"), body=whole_body, limbs=tuple(limbs), **own)


def _equal_limbs(table: dict) -> tuple[LimbSpec, ...]:
    """The limbs of [limbs]."""
    entries = dict(_table(table["limbs"], "[limbs]"))
    notes = _notes(entries, " in [limbs]")
    entries.pop("notes", None)
    ring = _build(RingSpec, entries, "[limbs]", ("notes",))
    arm = RobotSpec(name=ring.name, notes=notes, **_top_arm(table))
    try:
        return ring.limbs(arm)
    except InputError as error:
        raise InputError(f"{error} in [limbs]") from None


def _limb(entry: object, top: dict, number: int) -> LimbSpec:
    """One limb of [[limb]]; it is of the material at the top where it has none of its own."""
    where, within = f"[[limb]] {number}", f" of [[limb]] {number}"
    table = dict(_table(entry, where))
    _known(table, (*_OF_LIMB, "notes", "base", "segment", *_PARTS, *_LISTS), where)
    if "name" not in table:
        raise InputError(f"`name` is missing in {where}")
    parts = {"material": top["material"]} if "material" in top else {}
    fields = _arm_parts(parts | table, table.get("segment", []), "limb.segment", "limb.", within)
    fields["notes"] = _notes(table, f" in {where}")
    if "base" in table:
        fields["base"] = _build(BaseSpec, table["base"], f"[limb.base]{within}")
    own = _with_tuples({key: table[key] for key in _OF_LIMB if key in table})
    try:
        return LimbSpec(arm=RobotSpec(name=table["name"], **fields), **own)
    except InputError as error:
        raise InputError(f"{error} in {where}") from None


def _notes(table: dict, where: str) -> str:
    """Where the numbers come from: any text."""
    notes = table.get("notes", "")
    if not isinstance(notes, str):
        raise InputError(f"`notes` must be text; got {shown(notes)}{where}")
    return notes


def _segments(tables: list, of_segment: str, within: str) -> tuple[SegmentSpec, ...]:
    """The segments; a table with `count` is cut into that number of pieces."""
    segments = []
    for index, entry in enumerate(tables, 1):
        where = f"[[{of_segment}]] {index}{within}"
        table = dict(_table(entry, where))
        count = table.pop("count", 1)
        try:
            whole("count", count, least=1, most=1000)
        except InputError as error:
            raise InputError(f"{error} in {where}") from None
        whole_segment = _build(SegmentSpec, table, where, ("count",))
        try:
            segments += whole_segment.pieces(count)
        except InputError as error:
            raise InputError(f"{error} in each of the {count} pieces of {where}") from None
    return tuple(segments)


def _build(kind: type, table: object, where: str, more: tuple[str, ...] = ()) -> Any:
    """One part of the robot from its table.

    **Arguments:** `more`: keys that the table may have besides, which have been taken out.
    """
    entries = _table(table, where)
    fields = dataclasses.fields(kind)
    names = tuple(field.name for field in fields)
    _known(entries, names, where, more)
    missing = [f.name for f in fields if f.default is dataclasses.MISSING and f.name not in entries]
    if missing:
        raise InputError(f"`{missing[0]}` is missing in {where}")
    try:
        return kind(**_with_tuples(entries))
    except InputError as error:
        raise InputError(f"{error} in {where}") from None


def _with_tuples(entries: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entries.items()}


def _table(value: object, where: str) -> dict:
    if not isinstance(value, dict):
        raise InputError(f"{where} must be a table; got {shown(value)}")
    return value


def _tables(value: object, where: str) -> list:
    if not isinstance(value, list):
        raise InputError(f"{where} must be an array of tables, in double brackets; got {shown(value)}")
    return value


def _known(table: dict, names: tuple[str, ...], where: str, more: tuple[str, ...] = ()):
    """Refuse an unknown key: it is a slip, and its value would silently not count."""
    for key in table:
        if key not in names:
            raise InputError(f"unknown key {shown(key)} in {where}; known are {listed((*names, *more))}")
