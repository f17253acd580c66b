"""finger-force: the contact of Dehghani's paper, a given force where the two arcs meet, and another at the tip.

The paper does not model the object: its contact is a force F_c at a fixed point of the finger, which enters the
equations of motion as J_c^T F_c.
"""

from pathlib import Path

import numpy as np

from hydrostat import Control, System, equilibrium
from hydrostat.control import ScheduledLoad, SmoothSchedule
from hydrostat.errors import UnsolvedError
from hydrostat.mechanics import planar
from hydrostat.results import Trajectory, figures, panels, planar_figures
from hydrostat.robots import alterations, build_robot
from hydrostat.scenarios.base import Outcome, Run

_ROW_SECONDS = 0.01
_ARROW = 0.2  # of the finger's length: the longest arrow of a force
_STROBES = 6  # moments that are drawn


def press(run: Run) -> Outcome:
    """Let the forces grow, watch the finger, and compare where it ends with its equilibrium under them."""
    set_ = run.settings
    lengths = [segment.length for segment in run.robot.segments]
    system = System(build_robot(run.robot, load_places=[lengths[0] / sum(lengths), 1.0]))
    forces = np.array([[x, 0.0, z] for x, z in (set_.contact_force_n, set_.tip_force_n)])
    loads = np.concatenate([np.zeros((2, 3)), forces], 1)
    below, above = (np.array(alterations.tendons_at(run.robot, side)) for side in (0.0, 180.0))
    tension = set_.tension_n[0] * below + set_.tension_n[1] * above
    schedules = [SmoothSchedule([0.0], [set_.ramp_seconds], [change]) for change in (tension, loads.ravel())]
    with run.compiling("the finger at rest"):
        start = system.rest(planar.rest(system.robot))
    motion = run.simulate(
        system, ScheduledLoad(*schedules), set_.seconds, state=start, record=True,
        every=run.steps_per_row(_ROW_SECONDS), label="pressing",
    )  # fmt: skip
    with run.compiling("the equilibrium under the forces"):
        try:
            rest = np.asarray(equilibrium(system, Control(tension=tension, load=loads), motion.final.q).q)
        except UnsolvedError:
            rest = None
    arm, q = system.robot.arm, np.asarray(motion.q)
    theta, tips = planar.arc_angles(arm, q), planar_figures.plane_axes(arm, q)
    middle = tips.shape[1] // 2
    rest_tip = None if rest is None else planar.tip_in_plane(arm, rest)
    metrics = {
        "theta_deg": [float(angle) for angle in np.rad2deg(theta[-1])],
        "theta_rest_deg": None if rest is None else [float(t) for t in np.rad2deg(planar.arc_angles(arm, rest))],
        "contact_point_mm": [float(x) for x in 1e3 * tips[-1, middle]],
        "tip_mm": [float(x) for x in 1e3 * tips[-1, -1]],
        "tip_from_rest_mm": None if rest_tip is None else float(1e3 * np.linalg.norm(tips[-1, -1] - rest_tip)),
        "overshoot_deg": [
            float(x) for x in np.rad2deg(np.max(np.abs(theta - theta[0]), 0) - np.abs(theta[-1] - theta[0]))
        ],
    }
    notes = [] if rest is not None else ["no equilibrium under these forces was found from where the motion ended"]
    title = f"finger-force: {run.robot.name} under given forces"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, motion, forces, theta, rest, title),
        replay=lambda path: motion.replay(path, title, min_radius=0.004),
        sim_seconds=float(motion.time[-1]),
        dt=run.dt,
        steps=(len(motion) - 1) * run.steps_per_row(_ROW_SECONDS),
        notes=notes,
    )


def _draw(path: Path, motion: Trajectory, forces: np.ndarray, theta: np.ndarray, rest, title: str) -> None:
    """The finger at some moments with its forces, and the angles of its arcs."""
    arm, q, time = motion.system.robot.arm, np.asarray(motion.q), np.asarray(motion.time)
    figure, grid = panels.new_panels(title, 1, 2, (13.0, 5.0))
    axes = figure.add_subplot(grid[0, 0])
    shapes, rows = planar_figures.plane_axes(arm, q), np.linspace(0, len(q) - 1, _STROBES).astype(int)
    for row in rows:
        last = row == rows[-1]
        planar_figures.draw_plane_arm(axes, arm, q[row], figures.COLORS[0], alpha=1.0 if last else 0.25)
    if rest is not None:
        axes.plot(*planar_figures.plane_axes(arm, rest[None])[0].T, "--", color=planar_figures.INK, linewidth=1.0)
    planar_figures.draw_clamp(axes, arm)
    flat = planar.in_plane(arm, forces + np.asarray(arm.T_world_base.position))
    size = _ARROW * float(arm.length) / max(float(np.max(np.linalg.norm(flat, axis=-1))), 1e-9)
    for place, force, color in zip((shapes.shape[1] // 2, -1), flat, ("#c1121f", figures.COLORS[1]), strict=True):
        if np.linalg.norm(force) > 0.0:
            end = shapes[-1, place]
            axes.annotate(
                "", end, end - size * force, arrowprops={"arrowstyle": "->", "color": color, "linewidth": 1.5}
            )
    figures.style_axes(axes, "arrows: forces; dashed: equilibrium", "along [m]", "up [m]")
    cell = figure.add_subplot(grid[0, 1])
    angles = {f"arc {i + 1}": np.rad2deg(theta[:, i]) for i in range(2)}
    panels.draw_curves(cell, time, angles, "angles of the arcs, positive downwards", "[deg]")
    if rest is not None:
        for level, color in zip(np.rad2deg(planar.arc_angles(arm, rest)), figures.COLORS, strict=False):
            cell.axhline(float(level), color=color, linewidth=0.8, linestyle=":")
    figures.save(figure, path)
