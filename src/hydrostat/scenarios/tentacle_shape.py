"""tentacle-shape: the configuration for a tip pose and for curves."""

from itertools import pairwise
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.control import CurveFit, PoseFit, bends_of_angles, fit_curve, fit_pose, read_points, space_curve
from hydrostat.errors import InputError
from hydrostat.results import along_bends, drawing, figures, panels, replay_with_tendons
from hydrostat.results.measures import direction
from hydrostat.robots import build_robot
from hydrostat.scenarios.base import Outcome, Run

_CURVE_POINTS = 150
_AT_BASE = 1e-6  # arm lengths: a curve that begins nearer begins at the base
_FAR = 1.3  # arm lengths: a target that no arm of fixed length can reach


def shape(run: Run) -> Outcome:
    """Fit the arm to a pose and to curves, and measure the residuals."""
    robot, settings = build_robot(run.robot), run.settings
    arm, length = robot.arm, float(robot.arm.length)
    own_curve = read_points(settings.curve) if settings.curve else None
    own_target = _target(settings.target) if settings.target else None
    made = bends_of_angles(settings.alpha_deg, settings.theta_deg)
    source = along_bends(robot, np.zeros(1), made[None])
    T_world_made = jax.tree.map(lambda y: jnp.asarray(y[0]), source.tip_pose)
    curves = {
        "recovery": np.asarray(source.centreline(_CURVE_POINTS // arm.count).pose.position)[0],
        "helix": space_curve(arm, lambda s: settings.helix_curvature, lambda s: settings.helix_torsion),
        "scurve": space_curve(
            arm, lambda s: settings.scurve_curvature * np.sin(2.0 * np.pi * s / length), lambda s: 0.0
        ),
    }
    if own_curve is not None:
        curves["file"] = own_curve
    far = hs.SE3(T_world_made.rotation, arm.T_world_base.apply(jnp.array([_FAR * length, 0.0, 0.0])))
    with run.compiling("compiling the solvers"):
        fit_pose(arm, T_world_made, seed=run.seed)
        fit_curve(arm, curves["helix"])
    with run.timed():
        run.progress("pose", 0.0)
        pose, beyond = (fit_pose(arm, target, seed=run.seed) for target in (T_world_made, far))
        fits: dict[str, CurveFit] = {}
        for i, (name, points) in enumerate(curves.items()):
            run.progress(f"curve {name}", (i + 1) / (len(curves) + 1))
            fits[name] = fit_curve(arm, points)
        bends = {"pose": pose.bend, **{name: fit.bend for name, fit in fits.items()}}
        both = along_bends(robot, np.arange(2.0), np.stack([fits["recovery"].bend, made]))
        recovered = np.asarray(both.centreline(12).pose.position)
        metrics = {
            **_residuals("helix", fits["helix"]),
            **_residuals("scurve", fits["scurve"]),
            "residual_pose_mm": 1e3 * pose.miss,
            "residual_pose_deg": float(np.rad2deg(pose.turn)),
            "reachable_pose": pose.reachable,
            "recovery_error_mm": 1e3 * float(np.max(np.linalg.norm(recovered[0] - recovered[1], axis=-1))),
            "residual_far_mm": 1e3 * beyond.miss,
            "reachable_far": beyond.reachable,
        }
        notes = [_named("a target at 1.3 arm lengths", beyond)]
        if own_curve is not None:
            metrics |= _residuals("file", fits["file"])
            metrics["curve_start_mm"] = 1e3 * fits["file"].start
            metrics["points_beyond_arm"] = int(len(own_curve) - 1 - fits["file"].used.max())
            if fits["file"].start > _AT_BASE * length:
                notes.append(
                    f"the curve does not begin at the arm's base but {1e3 * fits['file'].start:.3g} mm from it; "
                    "the arm needs at least that much of its length to come to it"
                )
            if metrics["points_beyond_arm"]:
                notes.append(f"{metrics['points_beyond_arm']} points of the curve lie beyond the arm and were left out")
        if own_target is not None:
            fit = fit_pose(arm, *own_target, seed=run.seed)
            metrics["residual_target_mm"] = 1e3 * fit.miss
            metrics["residual_target_deg"] = float(np.rad2deg(fit.turn))
            metrics["reachable_target"] = fit.reachable
            notes.append(_named("your target", fit))
            bends["target"] = fit.bend
        rows = along_bends(robot, np.arange(float(len(bends))), np.stack(list(bends.values())))
        columns = {
            "bend": (np.stack(list(bends.values())), ("segment", "component"), "rad", "theta (cos alpha, sin alpha)"),
            "position": (rows.centreline(12).pose.position, ("node", "axis"), "m", "nodes of the axis in the world"),
        }
        options = {"axis": "target", "axis_unit": "1", "attributes": {"targets": list(bends)}}
        run.record("tentacle-shape", rows.time, columns, **options)
    title = f"tentacle-shape: {run.robot.name}"
    shown = [(name, list(bends).index(name), curves[name]) for name in fits if name != "recovery"]
    tour = _through(np.stack([bends[name] for name in ("pose", "helix", "scurve", "pose")]))
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, rows, shown, T_world_made, title),
        replay=lambda path: replay_with_tendons(along_bends(robot, *tour), path, title),
        notes=notes,
    )


def _residuals(name: str, fit: CurveFit) -> dict[str, float]:
    """How far the points of a curve are from the arm that was fitted to it."""
    return {f"residual_{name}_mm": 1e3 * fit.rms, f"residual_{name}_max_mm": 1e3 * float(fit.distances.max())}


def _named(what: str, fit: PoseFit) -> str:
    """The outcome for a target, in words."""
    left = f"the nearest shape misses it by {1e3 * fit.miss:.1f} mm and {np.rad2deg(fit.turn):.1f} degrees"
    return f"{what}: reached" if fit.reachable else f"{what}: out of reach; {left}"


def _target(values: tuple[float, ...]) -> tuple[hs.SE3, str]:
    """A tip target x, y, z [m], or with the azimuth and the polar angle of its direction [deg]."""
    if len(values) not in (3, 5):
        raise InputError(f"`target` must be x, y, z, or x, y, z, azimuth_deg, polar_deg; got {len(values)} numbers")
    position = jnp.array(values[:3])
    if len(values) == 3:
        return hs.SE3(jnp.eye(3), position), "position"
    z = direction(values[4], values[3])
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return hs.SE3(jnp.array(np.stack([x, np.cross(z, x), z], -1)), position), "direction"


def _through(shapes: np.ndarray, seconds: float = 2.0, rest: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    """A smooth tour through shapes (m, n, 2): times and shapes."""
    ease = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 41))
    parts = [first + ease[:, None, None] * (second - first) for first, second in pairwise(shapes)]
    times = [i * (seconds + rest) + np.linspace(0.0, seconds, 41) for i in range(len(parts))]
    return np.concatenate(times), np.concatenate(parts)


def _draw(path: Path, rows: hs.Trajectory, fits: list, target: hs.SE3, title: str) -> None:
    """Each target, dashed, with the arm that was fitted to it, from two sides."""
    size = 0.12 * float(rows.system.robot.arm.length)
    ends = np.asarray(target.position) + size * np.asarray(target.rotation).T
    frame = [np.stack([np.asarray(target.position), end]) for end in ends]
    scene = drawing.Scene.of(rows)
    figure, grid = panels.new_panels(title, 2, len(fits) + 1, (3.6 * (len(fits) + 1), 8.5))
    for column, (name, index, lines) in enumerate([*((n, i, [c]) for n, i, c in fits), ("pose", 0, frame)]):
        for row, plane in enumerate((drawing.FRONT, drawing.SIDE)):
            axes = figure.add_subplot(grid[row, column])
            drawing.draw_view(axes, scene, index, plane, paleness=0.35, path=False)
            for line in lines:
                panels.mark_points(axes, line, plane, "--" if name != "pose" else "-", color="#111111", linewidth=1.6)
            panels.label_view(axes, plane, f"{name}: {'the target frame' if name == 'pose' else 'dashed the target'}")
    figures.save(figure, path)
