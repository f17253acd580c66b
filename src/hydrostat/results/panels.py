"""Panels that figures are made of: curves over time, a robot at several moments, quantities along an arm over time.

A figure is a title and a grid; each function here fills one cell of it, or a row of cells, with labels and units.

    figure, grid = panels.new_panels("a crawl", 2, 4)
    panels.draw_moments(figure, grid[0, :], trajectory, 4, drawing.ABOVE)
    panels.draw_curves(figure.add_subplot(grid[1, :]), trajectory.time, {"x": x, "y": y}, "path", unit="[mm]")
    figures.save(figure, path)
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hydrostat.results import figures
from hydrostat.results.drawing import ABOVE, FRONT, SIDE, Scene, draw_view, scene_of

if TYPE_CHECKING:
    from hydrostat.results.trajectory import Trajectory

VIEWS = {FRONT: "from the side", SIDE: "from the end", ABOVE: "from above"}
"""Names of the planes of the world that robots are drawn in."""
_MM = 1e3
_MARGIN = 10.0  # mm around what moves, where a view is cut to it
_PALEST = 0.8
_POINTS = 2000  # of a curve, at most


def new_panels(title: str, rows: int, columns: int, size: tuple[float, float] = (13.0, 7.0), **options) -> tuple:
    """A figure with a title, and the grid of its panels.

    **Arguments:** `size`: width and height [inches]; `options`: of matplotlib's grid, such as `width_ratios`.
    """
    figure = figures.new_figure(*size)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure, figure.add_gridspec(rows, columns, **options)


def draw_curves(
    axes,
    x: Any,
    curves: Mapping[str, Any] | Any,
    title: str = "",
    unit: str = "",
    *,
    x_label: str = "time [s]",
    log: bool = False,
    floor: float = 0.0,
    colors: Sequence[int | str] = (),
    styles: Sequence[str] = (),
    width: float = 1.3,
    legend: bool = True,
    least: float = 0.0,
) -> None:
    """Curves in one panel, each in a colour of its own.

    **Arguments:** `x`: common to all curves, or one array for each by name; `curves`: values by name, named in a
    legend where there are several, or the values of a single curve; columns of an array share a colour; `log`: whether
    the scale of the values is logarithmic, with values below `floor` drawn there; `colors`: numbers of
    `figures.COLORS`, or colours of matplotlib's; `styles`: of the lines; `least`: how far from zero the panel reaches
    at least, up and down, so that rounding errors are a flat line.
    """
    named = isinstance(curves, Mapping)
    for i, (name, values) in enumerate((curves if named else {"": curves}).items()):
        color = colors[i % len(colors)] if colors else i % len(figures.COLORS)
        along = np.asarray(x[name] if isinstance(x, Mapping) else x)
        some = slice(None, None, max(1, len(along) // _POINTS))
        drawn = np.asarray(values)[some]
        lines = axes.plot(
            along[some],
            np.maximum(drawn, floor) if log else drawn,
            styles[i % len(styles)] if styles else "-",
            color=figures.COLORS[color] if isinstance(color, int) else color,
            linewidth=width,
            markersize=3,
        )
        lines[0].set_label(name or None)
    if log:
        axes.set_yscale("log")
    if least:
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, -least), max(high, least))
    if named and legend and len(curves) > 1:
        axes.legend(fontsize=7, frameon=False)
    figures.style_axes(axes, title, x_label, unit)


def draw_level(axes, level: float, label: str | None = None, *, upright: bool = False) -> None:
    """A dashed line across a panel: a set value, a bound, or with `upright` a moment."""
    line = axes.axvline if upright else axes.axhline
    line(level, color="#33322e", linewidth=0.8, linestyle="--", label=label)
    if label:
        axes.legend(fontsize=7, frameon=False)


def draw_moments(
    figure, cells, of: "Trajectory | Scene", moments: int | Sequence[int] | np.ndarray, plane: tuple[int, int] = FRONT
) -> None:
    """A robot at several moments, one panel each around it, all to one scale, with the path that it has come.

    **Arguments:** `cells`: a part of the figure's grid, one row high; `moments`: rows of the trajectory, or how many,
    evenly spread up to the last.
    """
    scene = scene_of(of)
    rows = np.linspace(0, len(scene.time) - 1, moments + 1).astype(int)[1:] if isinstance(moments, int) else moments
    places = cells.subgridspec(1, len(rows)) if hasattr(cells, "subgridspec") else cells
    frames = np.array([_frame(scene, int(row), plane) for row in rows])
    half = 0.5 * (frames[:, 1] - frames[:, 0]).max(0) + _MARGIN
    for column, (row, frame) in enumerate(zip(rows, frames, strict=True)):
        axes = figure.add_subplot(places[0, column])
        draw_view(axes, scene, int(row), plane)
        label_view(axes, plane, f"{VIEWS[plane]}, {scene.time[row]:.2f} s")
        (left, low), (right, high) = frame.mean(0) - half, frame.mean(0) + half
        axes.set(xlim=(left, right), ylim=(low, high))


def _frame(scene: Scene, row: int, plane: tuple[int, int]) -> np.ndarray:
    """The lower left and the upper right corner of the robot in a view at a row (2, 2) [mm]."""
    pick = list(plane)
    points = [arm.positions[row][:, pick] for arm in scene.arms]
    if scene.body is not None:
        around = scene.body_extents[row, pick] * np.array([[-1.0, -1.0], [1.0, 1.0]])
        points.append(scene.body_centre[row, pick] + around)
    every = _MM * np.concatenate(points)
    return np.stack([every.min(0), every.max(0)])


def draw_snapshots(
    axes,
    of: "Trajectory | Scene",
    moments: int | Sequence[int] | np.ndarray = 5,
    plane: tuple[int, int] = FRONT,
    title: str | None = None,
    *,
    path: bool = False,
    cut: bool = False,
) -> None:
    """A robot at several moments in one panel, later ones darker.

    **Arguments:** `moments`: rows, or how many, evenly spread; `path`: whether to draw the path up to the last of them;
    `cut`: whether the view ends where what moves does, and not with the ground or obstacles.
    """
    scene = scene_of(of)
    if isinstance(moments, int):
        moments = np.unique(np.linspace(0, len(scene.time) - 1, moments).round().astype(int))
    for i, row in enumerate(moments):
        last = i == len(moments) - 1
        paleness = _PALEST * (1.0 - i / max(len(moments) - 1, 1))
        draw_view(axes, scene, int(row), plane, paleness=paleness, path=path and last, surroundings=i == 0)
    if cut:
        (left, low), (right, high) = _MM * scene.bounds(plane)
        axes.set(xlim=(left - _MARGIN, right + _MARGIN), ylim=(low - _MARGIN, high + _MARGIN))
    label_view(axes, plane, f"{VIEWS[plane]}, later darker" if title is None else title)


def label_view(axes, plane: tuple[int, int], title: str) -> None:
    """Title and labels of a panel that shows a plane of the world [mm], to equal scales."""
    axes.set_aspect("equal")
    figures.style_axes(axes, title, *(f"{'xyz'[k]} [mm]" for k in plane))


def mark_points(axes, points: np.ndarray, plane: tuple[int, int], style: str = "o", **options) -> None:
    """Points of the world (m, 3) [m] in a panel that shows a plane of it [mm]."""
    options = {"color": figures.COLORS[1], "markersize": 5, "zorder": 5, **options}
    axes.plot(*(_MM * np.atleast_2d(points)[:, list(plane)].T), style, **options)


def draw_along_arm(axes, end: float, values: np.ndarray, title: str) -> None:
    """The activation of each segment over time (rows, n) as an image from base to tip, up to a time [s].

    All such images have the scale of colours from 0 to 1, beside the panel.
    """
    extent = (0.0, end, 0.0, 1.0)
    drawn = axes.imshow(values.T, origin="lower", aspect="auto", extent=extent, cmap="magma_r", vmin=0.0, vmax=1.0)
    axes.figure.colorbar(drawn, ax=axes, fraction=0.04, pad=0.02).ax.tick_params(labelsize=7)
    figures.style_axes(axes, title, "time [s]", "place along the arm")


def draw_twisted(axes, of: "Trajectory | Scene", row: int, color: str, *, widened: float = 1.0) -> None:
    """The first arm of a scene against y, with four lines that are straight along the skin of an arm without twist.

    Lines behind the arm are pale.

    **Arguments:** `widened`: factor by which the arm is drawn wider than it is.
    """
    arm = scene_of(of).arms[0]
    centres, radii = _MM * arm.positions[row][:, [0, 2]], widened * _MM * arm.radii[row]
    width = np.array([0.0, 1.0]) * radii[:, None]
    axes.fill(*np.concatenate([centres + width, (centres - width)[::-1]]).T, color=color, alpha=0.15, linewidth=0)
    # Between the points of the axis the lines wind on evenly.
    marks = np.arange(len(radii))
    fine = np.linspace(0.0, marks[-1], 12 * len(marks))
    x, z, radius = (np.interp(fine, marks, part) for part in (*centres.T, radii))
    rotations = arm.rotations[row]
    angle = np.interp(fine, marks, np.unwrap(np.arctan2(rotations[:, 1, 0], rotations[:, 2, 0])))
    for quarter in range(4):
        turn = angle + 0.5 * np.pi * (quarter + 0.5)
        line, front = z + radius * np.cos(turn), np.sin(turn) < 0.0  # seen from -y
        axes.plot(x, np.where(front, np.nan, line), color=color, alpha=0.2, linewidth=0.8)
        axes.plot(x, np.where(front, line, np.nan), color=color, linewidth=1.4)
