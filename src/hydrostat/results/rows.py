"""Quantities that are derived from the rows of a trajectory: each is a function of one row, evaluated for all rows.

A row function is `function(system, row)`, a module-level function of one moment, so that it is compiled once for each
system. `of_rows` takes it of all rows: traced where the rows are, else some rows at a time, so that the memory for
intermediate results does not grow with the length of a trajectory.
"""

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from hydrostat.code_cache import structure_of
from hydrostat.compiling import in_pieces, quick_jit
from hydrostat.lie import SE3, small, so3
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.model import ArmModel
from hydrostat.mechanics.robot import PerArm, joined, over_arms, split, stacked
from hydrostat.mechanics.wires import wire_tensions
from hydrostat.segments import StewartSegment
from hydrostat.surroundings.fins import Fins
from hydrostat.surroundings.jet import Jet
from hydrostat.surroundings.mantle_jet import MantleJet
from hydrostat.surroundings.objects import Ball
from hydrostat.surroundings.suckers import Suckers
from hydrostat.system import Control, State, System

PIECE = 64
"""Number of rows that are computed together."""
FIN_RAYS = 9
"""Number of rays of a section of a fin that are drawn."""


class Row(NamedTuple):
    """One moment of a trajectory, and the step that ended there."""

    before: State
    """The row before; in the first row, that row itself."""
    state: State
    control: Control
    """The control during the step that ended there."""
    dt: Float[Array, ""]
    """Time since the row before [s]; in the first row, until the second."""


RowFunction = Callable[[System, Row], Any]


def of_rows(system: System, state: State, control: Control, *functions: RowFunction) -> tuple:
    """The value of each function, a tree of arrays, with the row as leading axis.

    NumPy arrays, unless the rows or the system are being traced.

    **Arguments:** `state`, `control`: with the row as leading axis.
    """
    count = state.time.shape[0]
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((system, state, control))):
        return _many(functions, system, _rows(state, control, jnp.arange(count)), min(count, PIECE))
    state, control = jax.tree.map(np.asarray, (state, control))
    found = _by_machine_code(functions, system, _rows(state, control, np.arange(count)))
    if found is not None:
        return found
    return in_pieces(lambda index: _piece(functions, system, _rows(state, control, index)), np.arange(count), PIECE)


_COMPILED: dict[Any, Any] = {}
_MOST_COMPILED = 64


class _Ready(NamedTuple):
    """Machine code for rows of one system, with the system's numbers where it reads them."""

    system: System
    """Kept, so that no other system has its identity."""
    native: Any
    packed: np.ndarray


_READY: dict[Any, _Ready] = {}
_BLOCK_BYTES = 2**20  # of rows that are packed together
_MOST_READY = 8  # a live page asks for rows of the same system with every picture


def _by_machine_code(functions: tuple[RowFunction, ...], system: System, rows: Row) -> tuple | None:
    """The functions of all rows by machine code of our own; None where there is none."""
    if jax.default_backend() != "cpu":
        return None
    key = structure_of((functions, id(system), rows), rows_of=rows)
    ready = _READY.get(key) or _made_ready(functions, system, rows)
    if ready is None:
        return None
    # The numbers of functions that have some are no part of the key.
    if key not in _READY and not any(eqx.is_array(leaf) for leaf in jax.tree.leaves(functions)):
        while len(_READY) >= _MOST_READY:
            _READY.pop(next(iter(_READY)))
        _READY[key] = ready
    native, leaves, count = ready.native, jax.tree.leaves(rows), len(rows.dt)
    # In memory that stays in the cache: pages that are touched for the first time cost more than what is written there.
    size = min(count, max(1, _BLOCK_BYTES // native.argument.bytes))
    memory, found = native.argument.new(size), native.result.new(count)
    for begin in range(0, count, size):
        end = min(begin + size, count)
        native.argument.pack(memory[: end - begin], [leaf[begin:end] for leaf in leaves])
        native.rows(ready.packed, memory[: end - begin], found[begin:end])
    return jax.tree.unflatten(native.structure, native.result.unpack(found))


def _made_ready(functions: tuple[RowFunction, ...], system: System, rows: Row) -> _Ready | None:
    """The machine code of functions of a system's rows; None where there is none."""
    parameters, fixed = eqx.partition((functions, system), eqx.is_array)
    kind = structure_of((functions, system, rows), rows_of=rows)
    if kind not in _COMPILED:
        while len(_COMPILED) >= _MOST_COMPILED:
            _COMPILED.pop(next(iter(_COMPILED)))
        _COMPILED[kind] = _compiled(functions, system, rows, parameters, fixed)
    native = _COMPILED[kind]
    if native is None:
        return None
    packed = native.parameters.new()
    native.parameters.pack(packed, jax.tree.leaves(parameters))
    return _Ready(system, native, packed)


def _compiled(functions, system: System, rows: Row, parameters, fixed):
    """The machine code of functions of a row; None where there is none."""
    one = jax.tree.map(lambda y: y[0], rows)

    def of_row(parameters, row):
        functions, system = eqx.combine(parameters, fixed)
        return tuple(function(system, row) for function in functions)

    try:
        from hydrostat.native.function import Native, key_of

        side_by_side = system.robot.count if system.robot.equal else 0
        return Native(of_row, parameters, one, side_by_side=side_by_side, key=key_of("rows", functions, system, one))
    except Exception as error:
        logging.getLogger("hydrostat").info("XLA works rows out: %s", error)
        return None


def _rows(state: State, control: Control, index) -> Row:
    """The rows of these numbers, each with the one before it."""
    library = jnp if isinstance(index, jax.Array) else np
    before = library.maximum(index - 1, 0)
    # The first row has no step before it: as long as the next one, if there is one.
    following = library.minimum(library.maximum(index, 1), state.time.shape[0] - 1)
    dt = state.time[following] - state.time[library.maximum(following - 1, 0)]
    dt = library.where(dt > 0.0, dt, 1.0)
    first, last = (jax.tree.map(lambda y, i=i: y[i], state) for i in (before, index))
    return Row(first, last, jax.tree.map(lambda y: y[index], control), dt)  # type: ignore[arg-type]


def _many(functions: tuple[RowFunction, ...], system: System, rows: Row, size: int) -> tuple:
    """The functions of all rows, `size` rows side by side."""

    def of_row(row):
        return tuple(function(system, row) for function in functions)

    if rows.dt.shape[0] <= size:
        return jax.vmap(of_row)(rows)
    return jax.lax.map(of_row, rows, batch_size=size)


@quick_jit
def _piece(functions: tuple[RowFunction, ...], system: System, rows: Row) -> tuple:
    return _many(functions, system, rows, PIECE)


# Where the arms are.


class Shape(NamedTuple):
    """The ends of the segments of an arm, the base first."""

    pose: SE3
    """Poses of the ends in the world (n + 1)."""
    radius: Float[Array, " n+1"]
    """Radius of the arm at the ends [m]; where two segments join with unlike radii, their mean."""


def each_arm(system: System, row: Row, function, *values: PerArm) -> PerArm:
    """The values of function(arm, pose of its base, its coordinates, values of the arm ...) for every arm."""
    robot = system.robot

    def of_arm(arm, mount, q, *own):
        base = row.state.base_pose if mount is None else row.state.base_pose @ mount
        return function(arm, base, q, *own)

    each = (row.state.q, *values)
    if isinstance(robot.arms, tuple):
        return over_arms(robot.mounts, lambda m, arm, *own: (of_arm(arm, m, *own),), robot.arms, *each)[0]
    arm = robot.arms
    return over_arms(robot.mounts, lambda m, *own: (of_arm(arm, m, *own),), *each, together=True)[0]


def _placed(arm: ArmModel, base: SE3):
    """The geometry of the arm with its base at this pose."""
    return eqx.tree_at(lambda geometry: geometry.T_world_base, arm.arm, base)


def tip_pose(system: System, row: Row) -> SE3:
    """The poses of the tips."""
    found = each_arm(system, row, lambda arm, base, q: kinematics.tip_pose(_placed(arm, base), q))
    return stacked(system.robot, found) if isinstance(found, tuple) else found


def widths(arm: ArmModel, q: Float[Array, "n k"]) -> Float[Array, " n"]:
    """The radius of each segment over that at rest."""
    segments = arm.arm.segments
    if isinstance(segments, StewartSegment):
        return 1.0 / jnp.sqrt(segments.stretch(q))  # of the rings
    return jnp.sqrt(segments.area_ratio(q)) if arm.constant_volume else jnp.ones(arm.arm.count)


def shape_of(arm: ArmModel, base: SE3, q: Float[Array, "n k"]) -> Shape:
    """The ends of the segments of an arm."""
    lower, upper = (radius * widths(arm, q) for radius in (arm.arm.section.radius_base, arm.arm.section.radius_tip))
    radius = jnp.concatenate([lower[:1], 0.5 * (upper[:-1] + lower[1:]), upper[-1:]])
    return Shape(kinematics.segment_poses(_placed(arm, base), q), radius)


def shape(system: System, row: Row) -> PerArm:
    """The ends of the segments of every arm."""
    return each_arm(system, row, shape_of)


def points(system: System, row: Row) -> PerArm:
    """The positions of the ends of the segments."""
    return each_arm(system, row, lambda arm, base, q: kinematics.segment_poses(_placed(arm, base), q).position)


class Centreline(eqx.Module):
    """A row function: poses and radii along the axis of every arm, at some points of each segment."""

    points_per_segment: int = eqx.field(static=True)

    def __call__(self, system: System, row: Row) -> PerArm:
        """The axis of every arm."""

        def of_arm(arm, base, q):
            fine = kinematics.centreline(_placed(arm, base), q, self.points_per_segment)
            # The radius goes straight from end to end.
            inner = jnp.arange(1, self.points_per_segment + 1) / self.points_per_segment
            lower, upper = (r * widths(arm, q) for r in (arm.arm.section.radius_base, arm.arm.section.radius_tip))
            along = lower[:, None] + inner * (upper - lower)[:, None]
            return Shape(fine, jnp.concatenate([lower[:1], along.reshape(-1)]))

        return each_arm(system, row, of_arm)


def stretch(system: System, row: Row) -> PerArm:
    """The length of each segment over that at rest."""
    return each_arm(system, row, lambda arm, base, q: arm.arm.segments.stretch(q))


def bend(system: System, row: Row) -> PerArm:
    """The bend angle of each segment: from the bends among its coordinates, or the angle between its end sections."""

    def of_arm(arm, base, q):
        del base
        segments = arm.arm.segments
        if hasattr(segments, "bend_vector"):
            return small.norm(segments.bend_vector(q))
        index = [i for i, mode in enumerate(segments.modes) if mode in ("bend_x", "bend_y")]
        if index:
            return segments.scale * small.norm(jnp.stack([q[:, i] for i in index], -1))
        ends = jax.vmap(lambda segment, q: segment.pose(q, 1.0))(segments, q)
        return jnp.arctan2(jnp.hypot(ends.rotation[:, 0, 2], ends.rotation[:, 1, 2]), ends.rotation[:, 2, 2])

    return each_arm(system, row, of_arm)


class SegmentTurns(eqx.Module):
    """A row function: the rotation vector from the base of each segment to its end, of segments cut into pieces."""

    pieces: int = eqx.field(static=True, default=1)

    def __call__(self, system: System, row: Row) -> PerArm:
        """Rotation vectors of every arm (n / pieces, 3) [rad], in the axes of the segment's base."""

        def of_arm(arm, base, q):
            ends = kinematics.segment_poses(_placed(arm, base), q).rotation[:: self.pieces]
            return so3.log(small.matmul(jnp.swapaxes(ends[:-1], -1, -2), ends[1:]))

        return each_arm(system, row, of_arm)


# What drives them, and what they hold.


def tension(system: System, row: Row) -> PerArm:
    """The tension of every tendon."""
    robot = system.robot
    inputs = system.inputs(row.control, row.state, row.state.activation, 1.0, None)
    each = zip(robot.each, *(split(robot, y) for y in (row.state.q, row.state.v, inputs.wires)), strict=True)
    return joined(robot, [wire_tensions(arm, q, v, setpoint) for arm, q, v, setpoint in each])


def fins(system: System, row: Row) -> Float[Array, "f a 2 3"]:
    """Both ends of the rays of a body's fins, at the root and at the edge [m]."""
    membrane = system.part(Fins).membrane(system.part_state(row.state, Fins), FIN_RAYS)
    pose = row.state.base_pose
    return pose.position + small.matvec(pose.rotation, membrane)


def per_segment(system: System, nodes: Float[Array, " n"]) -> PerArm:
    """The largest value among the contact nodes of each segment."""
    robot, parts, begin = system.robot, [], 0
    for arm, count in zip(robot.each, system.environment.rows, strict=True):
        own = nodes[begin : begin + count].reshape(arm.arm.count, -1)
        parts.append(jnp.max(own, -1) if own.shape[1] else jnp.zeros(arm.arm.count))
        begin += count
    return joined(robot, parts)


def attachments(system: System, state: State) -> tuple[list, list]:
    """The attachments of all contact nodes to the ground, and to each free object."""
    count = system.environment.count
    ground = [
        own for part, own in zip(system.surroundings, state.surroundings, strict=True) if isinstance(part, Suckers)
    ]
    held = [jax.tree.map(lambda y: y[:count], own.attachment) for own in system.objects(state)]
    return ground, held


def _most(system: System, each: list) -> PerArm:
    none = jnp.zeros(system.environment.count)
    return per_segment(system, jnp.max(jnp.stack([none, *each]), 0))


def held(system: System, row: Row) -> PerArm:
    """The indicator of segments whose suckers hold the ground."""
    return _most(system, [own.held for own in attachments(system, row.state)[0]])


def taken(system: System, row: Row) -> PerArm:
    """The indicator of segments whose suckers hold a free object."""
    return _most(system, [own.held for own in attachments(system, row.state)[1]])


def sucker_pull(system: System, row: Row) -> PerArm:
    """The largest tension of the suckers of each segment."""
    ground, objects = attachments(system, row.state)
    return _most(system, [own.held * own.pull for own in ground + objects])


class Object(NamedTuple):
    """The states of the free objects (o)."""

    position: Float[Array, "o 3"]
    rotation: Float[Array, "o 3 3"]
    velocity: Float[Array, "o 3"]


def objects(system: System, row: Row) -> Object:
    """The positions of the free objects."""
    balls = [own.ball for own in system.objects(row.state)]
    if not balls:
        return Object(jnp.zeros((0, 3)), jnp.zeros((0, 3, 3)), jnp.zeros((0, 3)))
    return Object(*(jnp.stack([getattr(ball, name) for ball in balls]) for name in Object._fields))


def object_radii(system: System) -> list:
    """The radii of the free objects [m]."""
    return [part.radius for part in system.surroundings if isinstance(part, Ball)]


def thrust(system: System, row: Row) -> Float[Array, " 3"]:
    """The thrust of the jet during the step that ended there; zero without one."""
    jet = system.part_state(row.state, MantleJet if system.part(Jet) is None else Jet)
    return jnp.zeros(3) if jet is None else jet.thrust


def body_velocity(system: System, row: Row) -> Float[Array, " 3"]:
    """The velocity of the body's origin in world axes."""
    del system
    return small.matvec(row.state.base_pose.rotation, row.state.base_twist[3:])


# Arrays of rows.


def plain(values):
    """The values as NumPy arrays, unless they are being traced."""
    return jax.tree.map(lambda y: y if isinstance(y, Tracer) else np.asarray(y), values)


def concatenated(parts) -> np.ndarray:
    """Arrays of rows, one after another."""
    return np.concatenate([np.asarray(part) for part in parts])
