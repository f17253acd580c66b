"""What the limbs of squid-reach did, looked at afterwards: what they touched, where they pointed, and how well."""

from itertools import combinations
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.bodies import Arm
from hydrostat.compiling import quick_jit
from hydrostat.control.tendon_servo import pointing_error
from hydrostat.lie import SE3, small
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.state import nodes_of, rest_state
from hydrostat.results.trajectory import Trajectory
from hydrostat.surroundings import Obstacles, contact_with_shapes
from hydrostat.system import System

_TOUCHING = 1e-3  # N: what counts as touching
_SETTLED_SECONDS = 1.0  # at the end, over which pointing and pressing are judged


class Watched(NamedTuple):
    """What is looked at afterwards, at every row."""

    bar_force: np.ndarray
    """Of the bar on each node of the grasper [N]."""
    bar_angle: np.ndarray
    """Where round the bar each of them is [rad]."""
    tip_gap: np.ndarray
    """Between the grasper's tip and the bar [m]."""
    obstacle_force: np.ndarray
    """Of all limbs on the obstacles [N]."""
    depth: np.ndarray
    """The deepest touch, over the radius of what touches."""
    camera_error: np.ndarray
    """[rad]"""
    light_error: np.ndarray
    """From what the camera looks at [rad]."""
    gap: np.ndarray
    """The least between two limbs [m]."""
    tips: np.ndarray
    """(rows, 4, 3) [m]"""


def camera_aims(arm: Arm, q: Float[Array, "m n k"], looked_at) -> Float[Array, "m 3"]:
    """The points in the middle of the camera's picture over time, as far away as what it is to look at."""
    return _aims(arm, jnp.asarray(q), jnp.asarray(looked_at))


@quick_jit
def _aims(arm: Arm, q, looked_at) -> Array:
    def at(q):
        tip = kinematics.tip_pose(arm, q)
        return tip.position + small.norm(looked_at - tip.position) * tip.rotation[:, 2]

    return jax.lax.map(at, q)


class _Touch(NamedTuple):
    """One limb at every row."""

    position: Array
    radius: Array
    forces: Array
    """On every node of every shape, (rows, shapes, nodes) [N]."""
    depth: Array
    gap: Array
    """Of the tip from the bar [m]."""
    tips: SE3


@quick_jit
def _touch(system: System, q, v) -> _Touch:
    """How a limb touches what is around it, over rows."""
    robot, around = system.robot, system.part(Obstacles)
    arm = robot.arm

    def at(q, v):
        nodes = nodes_of(robot, rest_state(robot, q)._replace(v=v))
        each = [contact_with_shapes(around.law, nodes, [shape])[0] for shape in around.shapes]
        tip = kinematics.tip_pose(arm, q)
        depth = jnp.max(jnp.stack([touch.penetration for touch in each]) / nodes.radius)
        gap = around.shapes[0].distance_and_normal(tip.position).distance - arm.section.radius_tip[-1]
        forces = jnp.stack([small.norm(touch.force) for touch in each])
        return _Touch(nodes.position, nodes.radius, forces, depth, gap, tip)

    return jax.lax.map(lambda row: at(*row), (q, v))


def look(systems: dict[str, System], rows: dict[str, Trajectory], looked_at) -> Watched:
    """What the limbs did, from their rows, beside a bar, obstacles and a wall, in this order."""
    each = {
        name: _touch(system, jnp.asarray(rows[name].state.q), jnp.asarray(rows[name].state.v))
        for name, system in systems.items()
    }
    grasper = each["grasper"]
    away = np.asarray(grasper.position) - np.array(looked_at)
    seen = camera_aims(systems["camera"].robot.arm, rows["camera"].state.q, looked_at)
    gaps = []
    for a, b in combinations(each.values(), 2):
        apart = np.linalg.norm(np.asarray(a.position)[:, :, None] - np.asarray(b.position)[:, None], axis=-1)
        apart = apart - np.asarray(a.radius)[:, :, None] - np.asarray(b.radius)[:, None]
        gaps.append(apart.min((1, 2)))
    errors = jax.vmap(pointing_error)
    return Watched(
        bar_force=np.asarray(grasper.forces)[:, 0],
        bar_angle=np.arctan2(away[..., 2], away[..., 0]),
        tip_gap=np.asarray(grasper.gap),
        obstacle_force=np.sum([np.asarray(t.forces)[:, 1:-1].sum((1, 2)) for t in each.values()], 0),
        depth=np.max([np.asarray(t.depth) for t in each.values()], 0),
        camera_error=np.asarray(errors(each["camera"].tips, jnp.broadcast_to(jnp.array(looked_at), seen.shape))),
        light_error=np.asarray(errors(each["light"].tips, seen)),
        gap=np.min(gaps, 0),
        tips=np.stack([np.asarray(t.tips.position) for t in each.values()], 1),
    )


def metrics_of(rows: dict[str, Trajectory], seen: Watched, press: float, presses_from: float) -> dict:
    """How well it went, where a force [N] was to be pressed with from some time on [s]."""
    times, arm = rows["grasper"].time, rows["palpation"].memory
    end = times >= times[-1] - _SETTLED_SECONDS
    touching = seen.bar_force[-1] > _TOUCHING
    angles = np.unwrap(seen.bar_angle[-1])[touching]
    nodes_of_piece = len(touching) // rows["grasper"].state.q.shape[1]
    pieces = np.flatnonzero(touching) // nodes_of_piece
    force, felt = arm.force, arm.force > _TOUCHING
    pressed = float(force[end].mean())
    first = np.flatnonzero(felt)
    before = times < presses_from
    return {
        "wrap_angle_deg": float(np.rad2deg(np.ptp(angles))) if len(angles) else 0.0,
        "wrap_pieces": len(set(pieces.tolist())),
        "grasp_force_n": float(seen.bar_force[-1].sum()),
        "grasp_distance_mm": 1e3 * float(seen.tip_gap[-1]),
        "obstacle_force_max_n": float(seen.obstacle_force.max()),
        "press_force_n": pressed,
        "press_error_percent": 100.0 * abs(pressed - press) / press,
        "press_worst_error_percent": 100.0 * float(np.abs(force[end] - press).max()) / press,
        "press_overshoot_percent": 100.0 * max(float(force.max()) / press - 1.0, 0.0),
        "press_first_touch_s": float(times[first[0]]) if len(first) else None,
        "press_elongation_mm": 1e3 * float(seen.tips[-1, 1, 0] - seen.tips[before, 1, 0][-1]),
        "camera_pointing_error_deg": float(np.rad2deg(seen.camera_error[end].max())),
        "light_pointing_error_deg": float(np.rad2deg(seen.light_error[end].max())),
        "penetration_max_radii": float(max(seen.depth.max(), 0.0)),
        "limb_gap_min_mm": 1e3 * float(seen.gap.min()),
        "tension_max_n": float(max(np.max(each.memory.tension) for each in rows.values())),
    }
