"""The default figure of a trajectory: the robot from the side and from above at some moments, and quantities over
time."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hydrostat.actuation.muscles import OBLIQUE
from hydrostat.actuation.section_muscles import MUSCLES
from hydrostat.results import figures
from hydrostat.results.drawing import ABOVE, FRONT, SIDE, Scene, draw_view
from hydrostat.results.scene import per_arm

if TYPE_CHECKING:
    from hydrostat.results.trajectory import Trajectory

_MOMENTS = 4
_WIDTH = 13.0  # of the figure [inches]
_POINTS = 2000  # rows that are drawn of a curve, at most
_LEGEND = 8  # lines up to which they are named


def plot(trajectory: "Trajectory", path: str | os.PathLike[str] | None = None, title: str | None = None):
    """Draw the figure; with a path it is written there as well. Of a single row it is the robot alone."""
    # Rows enough for curves and paths, and the moments among them.
    thin = np.unique(np.linspace(0, len(trajectory) - 1, min(len(trajectory), _POINTS)).astype(int))
    shown: Any = trajectory[thin]
    scene = Scene.of(shown)
    moments = np.unique(np.linspace(0, len(thin) - 1, _MOMENTS).round().astype(int))
    robot = trajectory.system.robot
    name = robot.name if title is None else title
    if len(thin) == 1:
        return _written(_still(scene, name), path)
    views = [(_side_plane(scene), "from the side"), (ABOVE, "from above")]
    heights = [*(_height(_window(scene, plane), len(moments)) for plane, _ in views), 3.0]
    figure = figures.new_figure(_WIDTH, sum(heights) + 0.3)
    figure.suptitle(f"{name}, {scene.time[-1] - scene.time[0]:.3g} s", x=0.01, ha="left", fontsize=11)
    parts: Any = figure.subfigures(3, 1, height_ratios=heights)
    *upper, lower = parts
    for part, (plane, words) in zip(upper, views, strict=True):
        _draw_views(part, scene, moments, plane, words)
    place, drive, state = lower.subplots(1, 3)
    _draw_place(place, shown, scene)
    _draw_drive(lower, drive, shown, scene)
    _draw_state(lower, state, shown, scene)
    return _written(figure, path)


def _written(figure, path: str | os.PathLike[str] | None):
    """The figure, written to a path where there is one."""
    if path is not None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        figures.save(figure, Path(path))
    return figure


def _still(scene: Scene, name: str):
    """The figure of a single state: the robot from the side and from above."""
    views = [(_side_plane(scene), "from the side"), (ABOVE, "from above")]
    figure = figures.new_figure(0.7 * _WIDTH, max(_height(_window(scene, plane), 3) for plane, _ in views) + 0.3)
    figure.suptitle(name, x=0.01, ha="left", fontsize=11)
    for axes, (plane, words) in zip(figure.subplots(1, 2), views, strict=True):
        draw_view(axes, scene, 0, plane)
        _frame_view(axes, _window(scene, plane), plane, words, with_y=True)
    return figure


def _frame_view(axes, window: np.ndarray, plane: tuple[int, int], title: str, with_y: bool) -> None:
    """The limits, labels and title of a view."""
    x, y = ("xyz"[k] for k in plane)
    axes.set_xlim(*window[:, 0])
    axes.set_ylim(*window[:, 1])
    figures.style_axes(axes, title, f"{x} [mm]", f"{y} [mm]" if with_y else "")


def _side_plane(scene: Scene) -> tuple[int, int]:
    """The vertical plane in which the robot moves more."""
    wide = {plane: np.ptp(scene.bounds(plane)[:, 0]) for plane in (FRONT, SIDE)}
    return SIDE if wide[SIDE] > 1.2 * wide[FRONT] else FRONT


def _window(scene: Scene, plane: tuple[int, int]) -> np.ndarray:
    """The common bounds of all views of a plane (2, 2) [mm], no flatter than one to four."""
    low, high = 1e3 * scene.bounds(plane)
    middle, size = 0.5 * (low + high), 1.08 * (high - low)
    size = np.maximum(size, 0.25 * size.max())
    return np.stack([middle - 0.5 * size, middle + 0.5 * size])


def _height(window: np.ndarray, count: int) -> float:
    """The height of a row of views [inches]."""
    wide, high = window[1] - window[0]
    return float(np.clip((_WIDTH / count - 0.8) * high / wide, 0.8, 3.2)) + 0.8


def _draw_views(figure, scene: Scene, moments, plane: tuple[int, int], name: str) -> None:
    """The robot at some moments, all to one scale."""
    window = _window(scene, plane)
    for i, (axes, row) in enumerate(zip(figure.subplots(1, len(moments), squeeze=False)[0], moments, strict=True)):
        draw_view(axes, scene, int(row), plane)
        _frame_view(axes, window, plane, f"{name}, {scene.time[row]:.3g} s", with_y=not i)


def _draw_place(axes, trajectory: "Trajectory", scene: Scene) -> None:
    """The position of the body or the tip over time, or the displacements of the tips."""
    robot, time = trajectory.system.robot, scene.time
    if robot.free_base or robot.single:
        for k, axis in enumerate("xyz"):
            moved = scene.path[:, 0, k] - scene.path[0, 0, k]
            axes.plot(time, 1e3 * moved, color=figures.COLORS[k], linewidth=1.4, label=axis)
        axes.legend(fontsize=8, frameon=False)
        what = "body" if robot.free_base else "tip"
        figures.style_axes(axes, f"{what}, from where it began", "time [s]", "[mm]")
        return
    for i, name in enumerate(scene.names):
        moved = np.linalg.norm(scene.path[:, i] - scene.path[0, i], axis=-1)
        axes.plot(time, 1e3 * moved, color=figures.COLORS[i % len(figures.COLORS)], linewidth=1.4, label=name)
    if len(scene.names) <= _LEGEND:
        axes.legend(fontsize=8, frameon=False)
    figures.style_axes(axes, "tips, from where they began", "time [s]", "[mm]")


def _draw_drive(figure, axes, trajectory: "Trajectory", scene: Scene) -> None:
    """The drive of the arms over time: the activation of muscles, or the tension of tendons; else the energy."""
    robot, time = trajectory.system.robot, scene.time
    if any(arm.muscles is not None for arm in robot.each):
        activation = per_arm(robot, trajectory.activation)
        if robot.single:
            names = (*MUSCLES, *OBLIQUE)[: activation[0].shape[-1]]
            groups = [(name, activation[0][:, :, k]) for k, name in enumerate(names)]
            title = "activation, each muscle from base to tip"
        else:
            groups = [(name, one.max(-1)) for name, one in zip(scene.names, activation, strict=True)]
            title = "strongest activation, each arm from base to tip"
        _draw_image(figure, axes, time, groups, title, 1.0, "magma_r")
        return
    if any(arm.wires is not None for arm in robot.each):
        each = [np.asarray(one) for one in per_arm(robot, trajectory.tension)]
        count = sum(one.shape[1] for one in each)
        number = 0
        for name, one in zip(scene.names, each, strict=True):
            for k in range(one.shape[1]):
                label = f"{k + 1}" if robot.single else f"{name}, {k + 1}"
                color = figures.COLORS[number % len(figures.COLORS)]
                style = ("-", "--", ":")[number // len(figures.COLORS) % 3]
                axes.plot(time, one[:, k], style, color=color, linewidth=1.2, label=label)
                number += 1
        if count <= 12:
            axes.legend(fontsize=7, frameon=False, ncols=2)
        figures.style_axes(axes, "tension of the tendons", "time [s]", "[N]")
        return
    for name, values in trajectory.energy()._asdict().items():
        axes.plot(time, values, linewidth=1.2, label=name)
    axes.legend(fontsize=8, frameon=False)
    figures.style_axes(axes, "energy", "time [s]", "[J]")


def _draw_state(figure, axes, trajectory: "Trajectory", scene: Scene) -> None:
    """The attachment of suckers over time, where there are any, else the bends of the segments."""
    robot, time = trajectory.system.robot, scene.time
    if any(arm.holds.any() for arm in scene.arms):
        groups = [(name, arm.holds) for name, arm in zip(scene.names, scene.arms, strict=True)]
        _draw_image(figure, axes, time, groups, "suckers that hold, each arm from base to tip", 1.0, "Greys")
        return
    bends = [np.rad2deg(one) for one in per_arm(robot, trajectory.bend)]
    groups = [(name if not robot.single else "", one) for name, one in zip(scene.names, bends, strict=True)]
    most = max(float(np.nanmax(one, initial=0.0)) for one in bends)
    _draw_image(figure, axes, time, groups, "bend of the segments [deg], from base to tip", max(most, 1e-9), "viridis")


def _draw_image(figure, axes, time, groups: list, title: str, most: float, colors: str) -> None:
    """Values over time as an image, group above group, each from base to tip upwards."""
    values = np.concatenate([np.asarray(one) for _, one in groups], 1).T
    ends = np.cumsum([0, *(one.shape[1] for _, one in groups)])
    # Each row of a trajectory fills the time up to the next.
    edges = np.append(time, time[-1] + (time[-1] - time[-2] if len(time) > 1 else 1.0))
    drawn = axes.pcolormesh(edges, np.arange(len(values) + 1), values, vmin=0.0, vmax=most, cmap=colors)
    drawn.set_rasterized(True)
    figures.style_axes(axes, title, "time [s]", "")
    axes.grid(False)
    for end in ends[1:-1]:
        axes.axhline(end, color="white" if colors == "viridis" else "#33322e", linewidth=0.6)
    if any(name for name, _ in groups):
        axes.set_yticks(0.5 * (ends[1:] + ends[:-1]), [name for name, _ in groups])
    else:
        every = max(1, len(values) // 10)
        axes.set_yticks(np.arange(0, len(values), every) + 0.5, np.arange(1, len(values) + 1, every))
        axes.set_ylabel("segment", fontsize=9)
    figure.colorbar(drawn, ax=axes, fraction=0.04, pad=0.02).ax.tick_params(labelsize=7)
