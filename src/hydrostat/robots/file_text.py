"""Robots as commented TOML, which `file` reads back to the same robot."""

import dataclasses
from collections.abc import Collection
from typing import Any

from hydrostat.robots.limbed import AnySpec, LimbedSpec, LimbSpec
from hydrostat.robots.spec import RobotSpec

_SEGMENT = {
    "length": "m; with `count = 20` the segment is cut into 20, taper, preshape and friction shared",
    "radius": "m, of the body at base and tip",
    "modes": "of bend_x, bend_y, twist, shear_x, shear_y, stretch",
    "friction": "N m s, of the structure: torque per rate of the bend angle; viscosity comes on top",
    "preshape_deg": "bend of the unloaded segment about x and about y",
    "disc_radius": "m, of the discs that guide tendons outside the body; left out where tendons run inside it",
}
_PLATFORM = {"length": "m, distance of the plates at rest", "radius": "m, of the lower and the upper ring"}
_LIMITS = {
    "role": "what a tip is: tool, camera or light",
    "most_bend_deg": "largest bend of a segment, for kinematics and for exported joints",
    "length_range": "shortest and longest length of a segment over that at rest, likewise",
}
_COMMENTS: dict[str, dict[str, str]] = {
    "base": {"position": "m", "axis": "where the straight arm points", "roll_deg": "turn about that axis"},
    "body_base": {"position": "m", "axis": "where the body's z points", "roll_deg": "turn about that axis"},
    "limb_base": {
        "position": "m, in the body's frame",
        "axis": "where the straight limb points, in the body's frame",
        "roll_deg": "turn about that axis",
    },
    "material": {"youngs_modulus": "Pa", "density": "kg/m^3", "viscosity": "Pa s"},
    "mass": {
        "place": "along the arm at rest, from 0 at the base to 1 at the tip",
        "mass": "kg",
        "inertia": "kg m^2, about every axis",
    },
    "tendon": {
        "azimuth_deg": "in the cross-section, from +x towards +y",
        "offset": "m from the axis, at the first and the last point, or at every boundary of segments passed",
        "ends_at_segment": "counted from 1, after any `count`",
        "starts_at_segment": "1: passes through all segments before; same as ends_at_segment: acts on its own alone",
        "kind": "hard: guided all along; soft: straight from disc to disc",
        "bays": "between discs, per segment; counts for soft wires",
        "turn_deg": "by how much it winds round the axis from its first to its last point",
    },
    "motor": {
        "screw_pitch": "m of wire per turn",
        "max_speed": "m/s of the wire",
        "max_acceleration": "m/s^2",
        "max_jerk": "m/s^3, in S-curves",
        "max_pulse_rate": "1/s",
    },
    "muscles": {
        "stress": "Pa, largest active stress at the rest length",
        "stiffness": "Pa per relative length: the active stress falls as a muscle shortens",
        "segments": "strut: straight pieces, as Kang's; strain: arcs",
        "offset": "of the longitudinal muscles from the axis, over the radius",
        "oblique_deg": "winding of oblique muscles over a segment; 0: none; they need the mode twist",
        "fastest": "1/s, lengths per second at which a shortening muscle has no force left; 0: never",
        "activation_time": "s, lag between command and activation",
        "bend_limit_deg": "bend of a segment from where it stiffens",
        "law": "tissue: muscles in rubber-like tissue; paper: Kang's pistons, springs and dampers",
        "piston_share": "mass of a piston over its segment's, as of a cylinder and a radial piston; law paper",
    },
    "legs": {
        "lower_azimuths_deg": "of the six legs' joints on every lower plate, from +x towards +y",
        "upper_azimuths_deg": "of the same legs' joints on the upper plate",
        "length_range": "shortest and longest length of a leg, over that at rest",
        "max_stroke": "m, by which a leg can be longer or shorter than at rest",
        "max_rate": "m/s",
        "max_force": "N",
        "leg_mass": "kg, of one leg: half of it counts with either plate",
        "plate_thickness": "m; discs of the material above",
    },
    "body": {
        "volume": "m^3 of water that it displaces",
        "free": "whether it moves by the forces on it; scenarios let it go or hold it as their task asks",
    },
    "hull": {
        "length": "m, of the spheroid along the body's z",
        "width": "m, its largest diameter",
        "centre": "m, in the body's frame",
        "buoyancy_centre": "m, in the body's frame; above the centre of mass the body rights itself",
        "axial_drag": "on the largest cross-section, for flow along the axis",
        "cross_drag": "on the shadow, for flow across it",
        "linear_speed": "m/s, below which drag is rather linear than quadratic",
    },
    "shape": {
        "kind": "sphere, capsule, cylinder or box; their axes are those of the body",
        "size": "m; sphere: radius; capsule, cylinder: radius and length along z; box: edges along x, y, z",
        "position": "m, of its centre in the body's frame",
        "mass": "kg; `moments = [x, y, z]`, in kg m^2 about its centre, in place of those of even density",
    },
    "limbs": {
        "count": "of equal limbs, evenly around the body's z, the first one towards its x",
        "ring_radius": "m, of the circle of their bases",
        "height": "m, of that circle along the body's z",
        "pitch_deg": "by how much they point from straight outwards towards the body's -z",
        "name": "with a number behind it",
        "notes": "of their arm, which the tables below describe",
        **_LIMITS,
    },
    "limb": _LIMITS,
}
"""What keys mean, by kind of table."""


def format_robot(spec: AnySpec) -> str:
    """The robot as a commented TOML text that `parse_robot` reads back to the same robot."""
    text = _Text()
    text.lines += [
        "# A robot for hydrostat. SI units; angles in the units their names say.",
        "# hydrostat run SCENARIO --robot THIS_FILE; hydrostat list says which scenarios accept it.",
        f"name = {_string(spec.name)}",
    ]
    if spec.notes:
        text.lines.append(f"notes = {_string(spec.notes)}")
    if isinstance(spec, LimbedSpec):
        _limbed(text, spec)
    else:
        text.table("[base]", "base", spec.base)
        _arm(text, spec, "arm.segment")
    return "\n".join(text.lines) + "\n"


def _limbed(text: "_Text", spec: LimbedSpec) -> None:
    """A body, and its limbs: a ring of equal ones, or one after another."""
    text.table("[base]", "body_base", spec.base)
    text.table("[body]", "body", spec.body, without=("shapes", "hull"))
    if spec.body.hull is not None:
        text.table("[body.hull]", "hull", spec.body.hull)
    for shape in spec.body.shapes:
        text.table("[[body.shape]]", "shape", shape)
    ring, arm = spec.ring(), spec.limbs[0].arm
    if ring is not None:
        text.table("[limbs]", "limbs", ring, notes=arm.notes)
        _arm(text, arm, "arm.segment")
        return
    shared = all(limb.arm.material == arm.material for limb in spec.limbs)
    if shared:
        text.lines += ["", "# Of all limbs; [limb.material] would be that of one."]
        text.table("[material]", "material", arm.material, space=False)
    for limb in spec.limbs:
        _limb(text, limb, shared)


def _limb(text: "_Text", limb: LimbSpec, shared: bool) -> None:
    """One limb with its tables."""
    text.table("[[limb]]", "limb", limb, without=("arm",), notes=limb.arm.notes)
    text.table("[limb.base]", "limb_base", limb.arm.base)
    _arm(text, limb.arm, "limb.segment", "limb.", without=("material",) if shared else ())


def _arm(text: "_Text", spec: RobotSpec, of_segment: str, prefix: str = "", without: Collection[str] = ()) -> None:
    """The tables of an arm but for its base."""
    for segment in spec.segments:
        if spec.legs:
            rest = ("modes", "friction", "preshape_deg", "disc_radius")
            text.table(f"[[{of_segment}]]", "platform", segment, without=rest)
        else:
            text.table(f"[[{of_segment}]]", "segment", segment)
    if "material" not in without:
        text.table(f"[{prefix}material]", "material", spec.material)
    for mass in spec.masses:
        text.table(f"[[{prefix}mass]]", "mass", mass)
    for tendon in spec.tendons:
        text.table(f"[[{prefix}tendon]]", "tendon", tendon)
    for kind in ("motor", "muscles", "legs"):
        part = getattr(spec, kind)
        if part is not None:
            text.table(f"[{prefix}{kind}]", kind, part)


class _Text:
    """Lines of TOML; what a key means is said where its kind of table comes first."""

    def __init__(self):
        self.lines: list[str] = []
        self._comments = {**_COMMENTS, "segment": _SEGMENT, "platform": _PLATFORM}

    def table(
        self, heading: str, kind: str, part: Any, *, without: Collection[str] = (), notes: str = "", space: bool = True
    ) -> None:
        """A dataclass as a table of lines `key = value  # comment`; TOML has no word for None, which is left out."""
        comments = self._comments.pop(kind, {})
        self.lines += ["", heading] if space else [heading]
        values = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
        if notes:
            values["notes"] = notes
        for key, value in values.items():
            if value is not None and key not in without:
                line = f"{key} = {_value(value)}"
                self.lines.append(f"{line:<40} # {comments[key]}" if key in comments else line)


def _value(value) -> str:
    """A value in TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(_value(entry) for entry in value) + "]"
    return repr(value)


def _string(value: str) -> str:
    """A string in TOML, on one line."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
