"""The names, units, dimensions and coordinates of a trajectory's quantities, for files and for xarray.

Of unequal arms everything has the shape of the largest arm; what the others lack is not a number.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from hydrostat.actuation.muscles import OBLIQUE
from hydrostat.actuation.section_muscles import MUSCLES
from hydrostat.errors import InputError, listed, shown
from hydrostat.mechanics.model import relaxed, slack
from hydrostat.results import analysis, rows
from hydrostat.results.variables import Coordinate, Variable
from hydrostat.surroundings.ground import Ground
from hydrostat.surroundings.jet import Jet
from hydrostat.surroundings.suckers import Suckers
from hydrostat.system import System

if TYPE_CHECKING:
    import xarray

    from hydrostat.results.trajectory import Trajectory

Variables = Sequence[str] | str | None
"""Names of quantities, "all", or None for those that are there by default."""


@dataclass(frozen=True)
class Quantity:
    """A quantity of a trajectory that can be recorded."""

    name: str
    dims: tuple[str, ...]
    """Dimensions without time; "arm" comes first for quantities of each arm, and is left out for a single arm."""
    unit: str
    description: str
    of: rows.RowFunction
    """Row function of the quantity."""
    there: Callable[[System], bool]
    """Whether a system has the quantity."""
    default: bool = True
    """Whether the quantity is recorded by default."""


def _always(system: System) -> bool:
    del system
    return True


def _has_body(system: System) -> bool:
    return system.robot.free_base or not system.robot.single


def _has_muscles(system: System) -> bool:
    return any(arm.muscles is not None for arm in system.robot.each)


def _tires(system: System) -> bool:
    return system.muscles.fatigue is not None


def _has_tendons(system: System) -> bool:
    return any(arm.wires is not None for arm in system.robot.each)


def _has_pressure(system: System) -> bool:
    return any(getattr(arm.tissue, "bulk", None) is not None for arm in system.robot.each)


def _has_objects(system: System) -> bool:
    return bool(rows.object_radii(system))


def _has(kind: type) -> Callable[[System], bool]:
    return lambda system: system.part(kind) is not None


def _holds_objects(system: System) -> bool:
    return _has_objects(system) and system.part(Suckers) is not None


def _holds_ground(system: System) -> bool:
    return system.part(Ground) is not None and system.part(Suckers) is not None


def _touches(system: System) -> bool:
    return any(isinstance(part, analysis.CONTACTS) for part in system.surroundings)


def _tip(system, row):
    return rows.tip_pose(system, row).position


def _body(system, row):
    del system
    return row.state.base_pose.position


def _rotation(system, row):
    del system
    return row.state.base_pose.rotation


def _q(system, row):
    del system
    return row.state.q


def _v(system, row):
    del system
    return row.state.v


def _activation(system, row):
    del system
    return row.state.activation


def _fatigue(system, row):
    del system
    return row.state.fatigue


def _objects(system, row):
    return rows.objects(system, row).position


def _energy(name: str):
    def of(system, row):
        return getattr(analysis.energy(system, row), name)

    return of


_OF_ARM = ("arm", "segment")
QUANTITIES = {
    one.name: one
    for one in (
        Quantity("tip", ("arm", "axis"), "m", "tip in the world", _tip, _always),
        Quantity("body", ("axis",), "m", "origin of the body in the world", _body, _has_body),
        Quantity("body_rotation", ("row", "axis"), "1", "from the body's axes to the world's", _rotation, _has_body),
        Quantity("plate_position", ("arm", "plate", "axis"), "m", "ends of the segments", rows.points, _always),
        Quantity("q", (*_OF_ARM, "coordinate"), "", "coordinates: strains [1/m, 1]; of platforms [rad, m]",
                 _q, _always),
        Quantity("stretch", _OF_ARM, "1", "length of each segment over that at rest", rows.stretch, _always),
        Quantity("bend", _OF_ARM, "rad", "bend of each segment", rows.bend, _always),
        Quantity("activation", (*_OF_ARM, "muscle"), "1", "of every muscle", _activation, _has_muscles),
        Quantity("fatigue", (*_OF_ARM, "muscle"), "1", "fatigued share of every muscle", _fatigue, _tires),
        Quantity("muscle_power", (), "W", "of all muscles", analysis.muscle_power, _has_muscles),
        Quantity("tension", ("arm", "tendon"), "N", "of every tendon", rows.tension, _has_tendons),
        Quantity("pressure", _OF_ARM, "Pa", "that keeps the volume of each segment", analysis.pressure, _has_pressure),
        Quantity("held", _OF_ARM, "1", "1 where suckers hold the ground", rows.held, _holds_ground),
        Quantity("taken", _OF_ARM, "1", "1 where suckers hold a free object", rows.taken, _holds_objects),
        Quantity("objects", ("object", "axis"), "m", "centres of the free objects", _objects, _has_objects),
        Quantity("thrust", ("axis",), "N", "of the jet, in world axes", rows.thrust, _has(Jet)),
        # What is large, or takes long to compile, is recorded where it is asked for.
        Quantity("v", (*_OF_ARM, "coordinate"), "", "rates of the coordinates, per second", _v, _always, False),
        Quantity("body_velocity", ("axis",), "m/s", "of the body's origin", rows.body_velocity, _has_body, False),
        Quantity("sucker_pull", _OF_ARM, "N", "how hard suckers are pulled", rows.sucker_pull, _has(Suckers), False),
        Quantity("contact_force", ("arm", "node", "axis"), "N", "of ground, arms, objects and obstacles on nodes",
                 analysis.NodeForce(analysis.CONTACTS), _touches, False),
        Quantity("kinetic_energy", (), "J", "of the robot", _energy("kinetic"), _always, False),
        Quantity("elastic_energy", (), "J", "of the robot", _energy("elastic"), _always, False),
        Quantity("gravitational_energy", (), "J", "of the robot", _energy("gravitational"), _always, False),
        Quantity("ground_depth", (), "1", "depth in the ground over the local radius, at most", analysis.ground_depth,
                 _has(Ground), False),
    )
}  # fmt: skip
"""All quantities that can be recorded, by name."""


def chosen(system: System, variables: Variables = None) -> list[Quantity]:
    """The quantities of some names, or those that a system has by default."""
    there = [one for one in QUANTITIES.values() if one.there(system)]
    if variables is None:
        return [one for one in there if one.default]
    if variables == "all":
        return there
    names = (variables,) if isinstance(variables, str) else tuple(variables)
    for name in names:
        if name not in [one.name for one in there]:
            known = listed(one.name for one in there)
            raise InputError(f'`variables` of this system must be taken from {known}, or be "all"; got {shown(name)}')
    return [QUANTITIES[name] for name in dict.fromkeys(names)]


def sizes(system: System) -> dict[str, int]:
    """The size of every dimension; of unequal arms, that of the largest."""
    robot = system.robot
    each = robot.each
    return {
        "axis": 3,
        "row": 3,
        "arm": robot.count,
        "segment": max(arm.arm.count for arm in each),
        "plate": max(arm.arm.count for arm in each) + 1,
        "coordinate": max(arm.arm.coordinates for arm in each),
        "muscle": max(relaxed(arm).shape[1] for arm in each),
        "tendon": max(slack(arm).shape[0] for arm in each),
        "node": max(system.environment.rows, default=0),
        "object": len(rows.object_radii(system)),
    }


def layout(system: System, quantities: Sequence[Quantity]) -> tuple[list[Variable], list[Coordinate]]:
    """The variables of a recording, and the coordinates of their dimensions; variables without entries are left out."""
    size = sizes(system)
    variables = []
    for one in quantities:
        dims = _dims(system, one)
        if all(size[dim] for dim in dims):
            shape = tuple(size[dim] for dim in dims)
            variables.append(Variable(one.name, dims, shape, one.unit, one.description))
    used = {dim for variable in variables for dim in variable.dims}
    return variables, [one for one in _coordinates(system, size) if one.dim in used]


def _dims(system: System, quantity: Quantity) -> tuple[str, ...]:
    return tuple(dim for dim in quantity.dims if dim != "arm" or not system.robot.single)


def _coordinates(system: System, size: dict[str, int]) -> list[Coordinate]:
    robot = system.robot
    modes = {arm.arm.segments.modes for arm in robot.each}
    longest = max(modes, key=len)
    same = all(mode == longest[: len(mode)] for mode in modes)
    coordinates = longest if same else np.arange(1, size["coordinate"] + 1)
    muscles = (*MUSCLES, *OBLIQUE)[: size["muscle"]]
    if len(muscles) < size["muscle"]:
        muscles = np.arange(1, size["muscle"] + 1)
    arms = robot.names if len(robot.names) == robot.count else np.arange(1, robot.count + 1)
    return [
        Coordinate("axis", ("x", "y", "z"), "", "of the world; of body_rotation, of the body"),
        Coordinate("row", ("x", "y", "z"), "", "of the world"),
        Coordinate("arm", arms, "", "name or number of the arm"),
        Coordinate("segment", np.arange(1, size["segment"] + 1), "", "from the base"),
        Coordinate("plate", np.arange(size["plate"]), "", "end of that segment; 0 is the base"),
        Coordinate("coordinate", coordinates, "", "what a coordinate of a segment is"),
        Coordinate("muscle", muscles, "", "of a segment, by azimuth [deg] or kind"),
        Coordinate("tendon", np.arange(1, size["tendon"] + 1), "", "as the robot's specification has them"),
        Coordinate("node", np.arange(1, size["node"] + 1), "", "contact nodes, from the base"),
        Coordinate("object", np.arange(1, size["object"] + 1), "", "as the surroundings have them"),
    ]


def blocks(trajectory: "Trajectory", variables: Sequence[Variable]) -> dict[str, np.ndarray]:
    """The rows of each variable, of its shape."""
    functions = [QUANTITIES[variable.name].of for variable in variables]
    found = trajectory.all_derived(*functions)
    return {one.name: _filled(one, value) for one, value in zip(variables, found, strict=True)}


def _filled(variable: Variable, value: Any) -> np.ndarray:
    """One array; of unequal arms, the smaller ones padded with NaN."""
    if not isinstance(value, tuple):
        return np.asarray(value)
    count = value[0].shape[0]
    whole = np.full((count, *variable.shape), np.nan)
    for arm, own in enumerate(value):
        whole[(slice(None), arm, *(slice(size) for size in own.shape[1:]))] = own
    return whole


def attributes(system: System) -> dict[str, Any]:
    """The attributes of a file that describe the whole trajectory."""
    parts = ", ".join(type(part).__name__ for part in system.surroundings)
    return {"robot": system.robot.name, "surroundings": parts or "none"}


def dataset(trajectory: "Trajectory", variables: Variables = None) -> "xarray.Dataset":
    """The rows as a labelled Dataset."""
    import xarray

    system = trajectory.system
    named, coordinates = layout(system, chosen(system, variables))
    found = jax.tree.map(np.asarray, blocks(trajectory, named)) if named else {}
    data = {
        one.name: (("time", *one.dims), found[one.name], {"units": one.unit, "description": one.description})
        for one in named
    }
    labels = {one.dim: (one.dim, one.values, _described(one)) for one in coordinates}
    time = ("time", np.asarray(trajectory.time), {"units": "s", "description": ""})
    return xarray.Dataset(data, {"time": time, **labels}, {"axis": "time", **attributes(system)})


def _described(one: Coordinate) -> dict[str, str]:
    return {"units": one.unit, "description": one.description}
