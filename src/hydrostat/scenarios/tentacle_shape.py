"""tentacle-shape: the configuration for a wanted tip pose or a wanted curve."""

from itertools import pairwise
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

from hydrostat.control.paths import read_points
from hydrostat.control.shapes import CurveFit, configuration, fit_curve, fit_pose
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import Robot
from hydrostat.results import Variable
from hydrostat.robots.build import build_robot
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.tentacle import boundaries, centrelines, pairs_to_bends, replay

_CURVE_POINTS = 150
_FAR = 1.3  # arm lengths: a target that no arm of fixed length can reach


def shape(run: Run) -> Outcome:
    """Fit the arm to a pose and to curves, and say what is left."""
    robot = build_robot(run.robot)
    set_ = run.settings
    own_curve = read_points(set_.curve) if set_.curve else None
    own_target = _target(set_.target) if set_.target else None
    made = pairs_to_bends(set_.alpha_deg, set_.theta_deg)
    length = float(robot.arm.length)
    T_world_made, made_points = _made(robot, made)
    curves = {
        "recovery": np.asarray(made_points),
        "helix": space_curve(robot, lambda s: set_.helix_curvature, lambda s: set_.helix_torsion),
        "scurve": space_curve(robot, lambda s: set_.scurve_curvature * np.sin(2.0 * np.pi * s / length), lambda s: 0.0),
    }
    if own_curve is not None:
        curves["file"] = own_curve
    far = SE3(T_world_made.rotation, robot.arm.T_world_base.apply(jnp.array([_FAR * length, 0.0, 0.0])))
    with run.compiling("compiling the solvers"):
        fit_pose(robot.arm, T_world_made, seed=run.seed)
        fit_curve(robot.arm, curves["helix"])

    with run.timed():
        run.progress("pose", 0.0)
        pose, beyond = (fit_pose(robot.arm, target, seed=run.seed) for target in (T_world_made, far))
        fits: dict[str, CurveFit] = {}
        for i, (name, points) in enumerate(curves.items()):
            run.progress(f"curve {name}", (i + 1) / (len(curves) + 1))
            fits[name] = fit_curve(robot.arm, points)
        bends = [pose.bend, *(fit.bend for fit in fits.values())]
        names = ["pose", *fits]
        metrics = {
            "residual_helix_mm": 1e3 * fits["helix"].rms,
            "residual_helix_max_mm": 1e3 * float(fits["helix"].distances.max()),
            "residual_scurve_mm": 1e3 * fits["scurve"].rms,
            "residual_scurve_max_mm": 1e3 * float(fits["scurve"].distances.max()),
            "residual_pose_mm": 1e3 * pose.miss,
            "residual_pose_deg": float(np.rad2deg(pose.turn)),
            "reachable_pose": pose.reachable,
            "recovery_error_mm": 1e3 * _recovery_error(robot, fits["recovery"].bend, made),
            "residual_far_mm": 1e3 * beyond.miss,
            "reachable_far": beyond.reachable,
        }
        notes = [_named("a target at 1.3 arm lengths", beyond.reachable, beyond.miss, beyond.turn)]
        if own_curve is not None:
            fit = fits["file"]
            metrics["residual_file_mm"] = 1e3 * fit.rms
            metrics["residual_file_max_mm"] = 1e3 * float(fit.distances.max())
            metrics["points_beyond_arm"] = int(len(own_curve) - 1 - fit.used.max())
            if metrics["points_beyond_arm"]:
                notes.append(f"{metrics['points_beyond_arm']} points of the curve lie beyond the arm and were left out")
        if own_target is not None:
            T_world_target, match = own_target
            fit = fit_pose(robot.arm, T_world_target, match, seed=run.seed)
            metrics["residual_target_mm"] = 1e3 * fit.miss
            metrics["residual_target_deg"] = float(np.rad2deg(fit.turn))
            metrics["reachable_target"] = fit.reachable
            notes.append(_named("your target", fit.reachable, fit.miss, fit.turn))
            bends, names = [*bends, fit.bend], [*names, "target"]
        _record(run, robot, names, np.stack(bends))

    shown_fits = {name: (curves[name], fit.bend) for name, fit in fits.items() if name != "recovery"}
    title = f"tentacle-shape: {run.robot.name}"
    order = np.stack([pose.bend, fits["helix"].bend, fits["scurve"].bend, pose.bend])
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, robot, shown_fits, (T_world_made, pose.bend), title),
        replay=lambda path: replay(path, robot, *_through(order), title),
        notes=notes,
    )


def _named(what: str, reachable: bool, miss: float, turn: float) -> str:
    """The outcome for a target, in words."""
    if reachable:
        return f"{what}: reached"
    return (
        f"{what}: out of reach; the nearest shape misses it by {1e3 * miss:.1f} mm and {np.rad2deg(turn):.1f} degrees"
    )


@eqx.filter_jit
def _made_by(arm, bends):
    q = configuration(arm, bends)
    points = _CURVE_POINTS // arm.count
    return kinematics.tip_pose(arm, q), kinematics.centreline(arm, q, points).position


def _made(robot: Robot, bends: np.ndarray):
    """The tip pose and the curve that a shape of the robot itself has."""
    return _made_by(robot.arm, bends)


def _recovery_error(robot: Robot, found: np.ndarray, made: np.ndarray) -> float:
    """Largest distance between the axis of the found shape and that of the one that made the curve [m]."""
    positions, _ = centrelines(robot, np.stack([found, made]))
    return float(np.max(np.linalg.norm(positions[0] - positions[1], axis=-1)))


def space_curve(robot: Robot, curvature, torsion, points: int = _CURVE_POINTS) -> np.ndarray:
    """Points of the curve with given curvature and torsion [1/m] over arc length, from the base along its axis."""
    base = robot.arm.T_world_base

    def frenet(s, state):
        x, y, z = state[3:].reshape(3, 3).T
        bend, turn = curvature(s), torsion(s)
        # z' = bend x, x' = turn y - bend z, y' = -turn x
        return np.concatenate([z, np.stack([turn * y - bend * z, -turn * x, bend * x], -1).ravel()])

    start = np.concatenate([np.asarray(base.position), np.asarray(base.rotation).ravel()])
    marks = np.linspace(0.0, float(robot.arm.length), points)
    return solve_ivp(frenet, (0.0, marks[-1]), start, t_eval=marks, rtol=1e-10, atol=1e-12).y[:3].T


def _target(values: tuple[float, ...]) -> tuple[SE3, str]:
    """A tip target x, y, z [m], or with the azimuth and the polar angle of its direction [deg]."""
    if len(values) not in (3, 5):
        raise InputError(f"`target` must be x, y, z, or x, y, z, azimuth_deg, polar_deg; got {len(values)} numbers")
    position = jnp.array(values[:3])
    if len(values) == 3:
        return SE3(jnp.eye(3), position), "position"
    azimuth, polar = np.deg2rad(values[3:])
    z = np.array([np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)])
    helper = np.eye(3)[np.argmin(np.abs(z))]
    x = np.cross(helper, z) / np.linalg.norm(np.cross(helper, z))
    return SE3(jnp.array(np.stack([x, np.cross(z, x), z], -1)), position), "direction"


def _record(run: Run, robot: Robot, names: list[str], bends: np.ndarray) -> None:
    """Record the shapes found, one row each."""
    positions, _ = centrelines(robot, bends)
    variables = [
        Variable("bend", ("segment", "component"), bends.shape[1:], "rad", "theta (cos alpha, sin alpha)"),
        Variable("position", ("node", "axis"), positions.shape[1:], "m", "nodes of the axis in the world"),
    ]
    attributes = {"scenario": "tentacle-shape", "robot": run.robot.name, "targets": names}
    with run.recorder(variables, len(names), axis="target", axis_unit="1", attributes=attributes) as recorder:
        recorder.append(np.arange(len(names), dtype=float), bend=bends, position=positions)


def _through(shapes: np.ndarray, seconds: float = 2.0, rest: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    """A smooth tour through shapes (m, n, 2) for the replay: times and shapes."""
    ease = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 41))
    bends, times, now = [], [], 0.0
    for first, second in pairwise(shapes):
        bends += [first + part * (second - first) for part in ease]
        times += list(now + np.linspace(0.0, seconds, 41))
        now += seconds + rest
    return np.array(times), np.array(bends)


def _draw(path: Path, robot: Robot, fits: dict, pose: tuple, title: str) -> None:
    """Each target beside the shape found for it."""
    from hydrostat.results import figures

    panels = len(fits) + 1
    figure = figures.new_figure(4.4 * panels, 4.8)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    for i, (name, (points, bend)) in enumerate(fits.items(), 1):
        axes = figure.add_subplot(1, panels, i, projection="3d")
        nodes = centrelines(robot, bend[None])[0][0]
        figures.draw_arm(axes, nodes, boundaries(robot), width=3)
        axes.plot(*points.T, color="#111111", linewidth=1.2, linestyle="--")
        axes.set_title(f"{name}: dashed wanted, colour found", fontsize=9, loc="left")
        figures.frame_space(axes, np.concatenate([nodes, points]))
    T_world_target, bend = pose
    axes = figure.add_subplot(1, panels, panels, projection="3d")
    nodes = centrelines(robot, bend[None])[0][0]
    figures.draw_arm(axes, nodes, boundaries(robot), width=3)
    origin, size = np.asarray(T_world_target.position), 0.12 * float(robot.arm.length)
    for column, color in zip(np.asarray(T_world_target.rotation).T, ("#b03030", "#308030", "#3050b0"), strict=True):
        axes.plot(*np.stack([origin, origin + size * column]).T, color=color, linewidth=2)
    axes.set_title("pose: wanted frame and the arm found", fontsize=9, loc="left")
    figures.frame_space(axes, np.concatenate([nodes, origin[None]]))
    figures.save(figure, path)
