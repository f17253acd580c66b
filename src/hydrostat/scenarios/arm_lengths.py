"""arm-elongate, arm-shorten, arm-bend, arm-twist: single motions of the octopus arm at several activations."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from hydrostat.control.commands import Bend, Elongate, Shorten, Twist, part
from hydrostat.results import Trajectory, figures
from hydrostat.results.digest import Digest
from hydrostat.results.drawing import Scene, draw_arm_side
from hydrostat.scenarios.arm import arm_system, kept_metrics, move
from hydrostat.scenarios.base import Outcome, Run

_HOLD = 10.0  # s that a command outlasts the run: it is watched while it is held
_WIDER = 2.5  # by which twisted arms are drawn wider than they are


@dataclass(frozen=True)
class _View:
    """What a figure shows of a motion."""

    heading: str
    unit: str
    course: Callable[[Trajectory], np.ndarray]
    """What is plotted over time (rows,)."""
    plane: tuple[int, int] = (0, 2)
    """The axes of the world that the arm is seen in."""
    marked: slice | None = None
    """Segments to mark."""
    apart: float = 0.0
    """By how much each arm is drawn below the one before [m]."""
    twisted: bool = False
    """Whether lines along the skin show a twist."""


def _length(rows: Trajectory) -> np.ndarray:
    """The length over that at rest."""
    rest = np.asarray(rows.system.robot.arm.segments.length)
    return (np.asarray(rows.stretch) * rest).sum(-1) / rest.sum()


def _angles(rows: Trajectory) -> np.ndarray:
    """The coordinates of the segments as angles from end to end (rows, n, k) [rad]."""
    return np.asarray(rows.q) * np.asarray(rows.system.robot.arm.segments.scale)[:, None]


_LENGTH = _View("length over that at rest", "", _length)
_SHORTER = replace(_LENGTH, apart=0.03)  # all of them would lie within the first


def elongate(run: Run) -> Outcome:
    """By radial muscles."""
    return _series(run, "arm-elongate", partial(Elongate, rise=run.settings.rise_seconds))


def shorten(run: Run) -> Outcome:
    """By longitudinal muscles."""
    return _series(run, "arm-shorten", Shorten, view=_SHORTER)


def bend(run: Run) -> Outcome:
    """By the longitudinal muscles of one side."""
    settings = run.settings
    first, last = part(settings.first_segment, settings.last_segment, len(run.robot.segments))
    chosen = slice(settings.first_segment - 1, settings.last_segment)
    azimuth = np.deg2rad(settings.azimuth_deg)

    def about(rows: Trajectory) -> np.ndarray:
        """The bend of these segments about x and y (rows, 2)."""
        return _angles(rows)[:, chosen, :2].sum(1)

    def measured(ends: list[Trajectory]) -> dict:
        x, y = np.array([about(one)[-1] for one in ends]).T
        return {
            "bend_deg": np.rad2deg(np.hypot(x, y)).tolist(),
            "bend_azimuth_deg": np.rad2deg(np.arctan2(-x, y)).tolist(),
        }

    def bent(rows: Trajectory) -> np.ndarray:
        return np.rad2deg(np.hypot(*about(rows).T))

    sideways = abs(np.sin(azimuth)) > np.sqrt(0.5)
    view = _View("bend of the marked segments", "[deg]", bent, (0, 1) if sideways else (0, 2), chosen)
    return _series(run, "arm-bend", lambda a, t: Bend(a, t, first, last, azimuth), measured, view)


def twist(run: Run) -> Outcome:
    """By an oblique muscle; the command refuses arms that have none."""
    modes = run.robot.segments[0].modes
    column = modes.index("twist") if "twist" in modes else 0

    def twisted(rows: Trajectory) -> np.ndarray:
        return np.rad2deg(_angles(rows)[:, :, column].sum(-1))

    view = _View("twist from base to tip", "[deg]", twisted, apart=0.05, twisted=True)
    return _series(run, "arm-twist", Twist, lambda ends: {"twist_deg": [float(twisted(e)[-1]) for e in ends]}, view)


def _series(run: Run, name: str, make, measured=None, view: _View = _LENGTH) -> Outcome:
    """One run for each activation, held until its end; the last one is recorded."""
    settings = run.settings
    system, amounts = arm_system(run), list(settings.activations)
    motions = []
    for i, amount in enumerate(amounts):
        share = (i / len(amounts), (i + 1) / len(amounts))
        record = name if i == len(amounts) - 1 else None
        command = make(amount, settings.seconds + _HOLD)
        motions.append(move(run, system, command, settings.seconds, share=share, record=record))
    ends = [one.shown[-1:] for one in motions]
    points = [np.asarray(end.points)[-1] for end in ends]
    metrics = {
        "activation": amounts,
        "length_ratio": [float(_length(end)[-1]) for end in ends],
        **(measured(ends) if measured else {}),
        "tip_distance_mm": [1e3 * float(np.linalg.norm(one[-1] - one[0])) for one in points],
        "muscle_work_mj": [1e3 * float(np.trapezoid(one.values["muscle_power"], one.time)) for one in motions],
        **kept_metrics(motions),
    }
    title, steps = f"{name}: {run.robot.name}", len(motions[0].time) - 1
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, motions, amounts, view, title),
        replay=lambda path: motions[-1].shown.replay(path, title),
        sim_seconds=len(amounts) * float(motions[0].time[-1]),
        dt=1e-3 * settings.dt_ms,
        steps=len(amounts) * steps,
    )


def _draw(path: Path, motions: list[Digest], amounts: list[float], view: _View, title: str) -> None:
    """The arm at the end of each run, what it did over time, and its muscles' power."""
    figure = figures.new_figure(13.0, 6.5)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 2, width_ratios=[1.4, 1])
    side = figure.add_subplot(grid[:, 0])
    courses, powers = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    for i, (motion, amount) in enumerate(zip(motions, amounts, strict=True)):
        color, shown = figures.COLORS[i % len(figures.COLORS)], motion.shown
        below = i * view.apart * np.eye(3)[2]
        scene = _moved(Scene.of(shown, [0, -1]), -below)
        points = 1e3 * (np.asarray(shown[-1:].points)[-1] - below)[:, list(view.plane)]
        if view.twisted:
            _draw_twisted(side, shown[-1:], below, color)
        else:
            draw_arm_side(side, scene, 0, view.plane, alpha=0.15 if i == 0 or view.apart else 0.0)
            draw_arm_side(side, scene, -1, view.plane, alpha=0.35 + 0.65 * (i + 1) / len(motions))
        if view.marked is not None:
            marked = points[view.marked.start : view.marked.stop + 1]
            side.plot(*marked.T, "o-", color=color, markersize=2.5, linewidth=2.2)
        side.annotate(f"{amount:g}", points[-1], fontsize=8, color=color, xytext=(4, 3), textcoords="offset points")
        courses.plot(shown.time, view.course(shown), color=color, linewidth=1.2, label=f"{amount:g}")
        powers.plot(motion.time, 1e3 * motion.values["muscle_power"], color=color, linewidth=1.2)
    side.set_aspect("equal")
    heading = "at the end of each run, by activation"
    heading += ", one below the other" if view.apart else ""
    heading += f"; width x {_WIDER:g}, lines along the skin" if view.twisted else " (pale: at rest)"
    heading += "; active segments marked" if view.marked is not None else ""
    figures.style_axes(side, heading, "x [mm]", f"{'xyz'[view.plane[1]]} [mm]")
    figures.style_axes(courses, view.heading, "time [s]", view.unit)
    courses.legend(fontsize=7, frameon=False, title="activation", title_fontsize=7)
    figures.style_axes(powers, "power of all muscles", "time [s]", "[mW]")
    figures.save(figure, path)


def _moved(scene: Scene, by: np.ndarray) -> Scene:
    """The arms of a scene, elsewhere."""
    return replace(scene, arms=tuple(replace(arm, positions=arm.positions + by) for arm in scene.arms))


def _draw_twisted(axes, rows: Trajectory, below: np.ndarray, color: str) -> None:
    """The arm in the last row with four lines that were straight along its skin, those behind it pale."""
    pose, radius = rows.shape.pose, rows.shape.radius
    centres, radii = 1e3 * (np.asarray(pose.position)[-1] - below)[:, [0, 2]], _WIDER * 1e3 * np.asarray(radius)[-1]
    rotations = np.asarray(pose.rotation)[-1]
    width = np.array([0.0, 1.0]) * radii[:, None]
    axes.fill(*np.concatenate([centres + width, (centres - width)[::-1]]).T, color=color, alpha=0.15, linewidth=0)
    # Between the plates the lines wind on evenly.
    plates = np.arange(len(radii))
    fine = np.linspace(0.0, plates[-1], 12 * len(plates))
    x, z, radius = (np.interp(fine, plates, part) for part in (*centres.T, radii))
    turned = np.unwrap(np.arctan2(rotations[:, 1, 0], rotations[:, 2, 0]))
    for quarter in range(4):
        turn = np.interp(fine, plates, turned) + 0.5 * np.pi * (quarter + 0.5)
        line, front = z + radius * np.cos(turn), np.sin(turn) < 0.0  # seen from -y
        axes.plot(x, np.where(front, np.nan, line), color=color, alpha=0.2, linewidth=0.8)
        axes.plot(x, np.where(front, line, np.nan), color=color, linewidth=1.4)
