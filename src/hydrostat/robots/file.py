"""Robot files: TOML in, TOML out."""

import dataclasses
import tomllib
from pathlib import Path
from typing import Any

from hydrostat.errors import InputError, listed, shown, whole
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

_TOP = ("name", "notes", "base", "arm", "material", "mass", "tendon", "motor", "legs", "muscles")
_LARGEST_FILE = 1_000_000  # bytes
_START = "`hydrostat new FILE.toml` writes one to start from"


def read_robot(path: str | Path) -> RobotSpec:
    """The robot that a TOML file describes; a message about a fault names the file and the place in it."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no file name"
        raise InputError(f"robot file {shown(str(path))} could not be read: {reason}; {_START}") from None
    if len(raw) > _LARGEST_FILE:
        raise InputError(f"robot file {shown(str(path))} must be below {_LARGEST_FILE} bytes; {_START}")
    try:
        return parse_robot(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise InputError(f"robot file {shown(str(path))} must be UTF-8 text; it is not") from None
    except InputError as error:
        raise InputError(f"robot file {shown(str(path))}: {error}") from None


def parse_robot(text: str) -> RobotSpec:
    """The robot that a TOML text describes."""
    if not text.strip():
        raise InputError(f"it must hold at least one [[arm.segment]]; it is empty; {_START}")
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise InputError(f"it must be valid TOML; {' '.join(str(error).split())[:120]}") from None
    _known(table, _TOP, "the file")
    arm = _table(table.get("arm", {}), "[arm]")
    _known(arm, ("segment",), "[arm]")
    segments = _tables(arm.get("segment", []), "[[arm.segment]]")
    if not segments:
        raise InputError(f"it must hold at least one [[arm.segment]]; it has none; {_START}")
    parts: dict = {"name": table.get("name", "my arm"), "segments": _segments(segments)}
    for key, kind in (
        ("base", BaseSpec),
        ("material", MaterialSpec),
        ("motor", MotorSpec),
        ("legs", LegsSpec),
        ("muscles", MusclesSpec),
    ):
        if key in table:
            parts[key] = _build(kind, table[key], f"[{key}]")
    for key, name, kind in (("mass", "masses", MassSpec), ("tendon", "tendons", TendonSpec)):
        entries = _tables(table.get(key, []), f"[[{key}]]")
        parts[name] = tuple(_build(kind, entry, f"[[{key}]] {i}") for i, entry in enumerate(entries, 1))
    if "notes" in table:
        if not isinstance(table["notes"], str):
            raise InputError(f"`notes` must be text; got {shown(table['notes'])}")
        parts["notes"] = table["notes"]
    return RobotSpec(**parts)


def _segments(tables: list) -> tuple[SegmentSpec, ...]:
    """The segments; a table with `count` is cut into that number of pieces."""
    segments = []
    for index, entry in enumerate(tables, 1):
        where = f"[[arm.segment]] {index}"
        table = dict(_table(entry, where))
        count = table.pop("count", 1)
        try:
            whole("count", count, least=1, most=1000)
        except InputError as error:
            raise InputError(f"{error} in {where}") from None
        whole_segment = _build(SegmentSpec, table, where)
        try:
            segments += whole_segment.pieces(count)
        except InputError as error:
            raise InputError(f"{error} in each of the {count} pieces of {where}") from None
    return tuple(segments)


def _build(kind: type, table: object, where: str) -> Any:
    """One part of the robot from its table."""
    entries = _table(table, where)
    fields = dataclasses.fields(kind)
    optional = ("count",) if kind is SegmentSpec else ()
    _known(entries, tuple(field.name for field in fields) + optional, where)
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


def _known(table: dict, names: tuple[str, ...], where: str):
    """Refuse an unknown key: it is a slip, and its value would silently not count."""
    for key in table:
        if key not in names:
            raise InputError(f"unknown key {shown(key)} in {where}; known are {listed(names)}")


def format_robot(spec: RobotSpec) -> str:
    """The robot as a commented TOML text that `parse_robot` reads back to the same robot."""
    lines = [
        "# A robot for hydrostat. SI units; angles in the units their names say.",
        "# hydrostat run SCENARIO --robot THIS_FILE; hydrostat list says which scenarios accept it.",
        f"name = {_string(spec.name)}",
    ]
    if spec.notes:
        lines.append(f"notes = {_string(spec.notes)}")
    lines += ["", "[base]", *_entries(spec.base, {
        "position": "m", "axis": "where the straight arm points", "roll_deg": "turn about that axis"})]  # fmt: skip
    comments = {
        "length": "m; with `count = 20` the segment is cut into 20, taper, preshape and friction shared",
        "radius": "m, of the body at base and tip",
        "modes": "of bend_x, bend_y, twist, shear_x, shear_y, stretch",
        "friction": "N m s, of the structure: torque per rate of the bend angle; viscosity comes on top",
        "preshape_deg": "bend of the unloaded segment about x and about y",
        "disc_radius": "m, of the discs that guide tendons outside the body; left out where tendons run inside it",
    }
    if spec.legs:
        comments = {"length": "m, distance of the plates at rest", "radius": "m, of the lower and the upper ring"}
    for segment in spec.segments:
        entries = _entries(segment, comments)
        lines += ["", "[[arm.segment]]", *(entries[:2] if spec.legs else entries)]
        comments = {}
    units = {"youngs_modulus": "Pa", "density": "kg/m^3", "viscosity": "Pa s"}
    lines += ["", "[material]", *_entries(spec.material, units)]
    comments = {
        "place": "along the arm at rest, from 0 at the base to 1 at the tip",
        "mass": "kg",
        "inertia": "kg m^2, about every axis",
    }
    for mass in spec.masses:
        lines += ["", "[[mass]]", *_entries(mass, comments)]
        comments = {}
    comments = {
        "azimuth_deg": "in the cross-section, from +x towards +y",
        "offset": "m from the axis, at the first and the last point, or at every boundary of segments passed",
        "ends_at_segment": "counted from 1, after any `count`",
        "starts_at_segment": "1: passes through all segments before; same as ends_at_segment: acts on its own alone",
        "kind": "hard: guided all along; soft: straight from disc to disc",
        "bays": "between discs, per segment; counts for soft wires",
        "turn_deg": "by how much it winds round the axis from its first to its last point",
    }
    for tendon in spec.tendons:
        lines += ["", "[[tendon]]", *_entries(tendon, comments)]
        comments = {}
    if spec.motor:
        units = {
            "screw_pitch": "m of wire per turn",
            "max_speed": "m/s of the wire",
            "max_acceleration": "m/s^2",
            "max_jerk": "m/s^3, in S-curves",
            "max_pulse_rate": "1/s",
        }
        lines += ["", "[motor]", *_entries(spec.motor, units)]
    if spec.muscles:
        comments = {
            "stress": "Pa, largest active stress at the rest length",
            "stiffness": "Pa per relative length: the active stress falls as a muscle shortens",
            "segments": "strut: straight pieces, as Kang's; strain: arcs",
            "offset": "of the longitudinal muscles from the axis, over the radius",
            "oblique_deg": "winding of oblique muscles over a segment; 0: none; they need the mode twist",
            "fastest": "1/s, lengths per second at which a shortening muscle has no force left; 0: never",
            "activation_time": "s, lag between command and activation",
            "bend_limit_deg": "bend of a segment from where it stiffens",
        }
        lines += ["", "[muscles]", *_entries(spec.muscles, comments)]
    if spec.legs:
        comments = {
            "lower_azimuths_deg": "of the six legs' joints on every lower plate, from +x towards +y",
            "upper_azimuths_deg": "of the same legs' joints on the upper plate",
            "length_range": "shortest and longest length of a leg, over that at rest",
            "max_stroke": "m, by which a leg can be longer or shorter than at rest",
            "max_rate": "m/s",
            "max_force": "N",
            "leg_mass": "kg, of one leg: half of it counts with either plate",
            "plate_thickness": "m; discs of the material above",
        }
        lines += ["", "[legs]", *_entries(spec.legs, comments)]
    return "\n".join(lines) + "\n"


def _entries(part, comments: dict[str, str]) -> list[str]:
    """A dataclass as lines `key = value  # comment`; TOML has no word for None, which is left out."""
    lines = []
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        if value is None:
            continue
        line = f"{field.name} = {_value(value)}"
        lines.append(f"{line:<40} # {comments[field.name]}" if field.name in comments else line)
    return lines


def _value(value) -> str:
    """A value in TOML."""
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(_value(entry) for entry in value) + "]"
    return repr(value)


def _string(value: str) -> str:
    """A string in TOML, on one line."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
