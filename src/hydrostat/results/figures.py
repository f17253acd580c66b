"""Figures in one style, and arms drawn in space. Arrays in, pictures out."""

from itertools import pairwise
from pathlib import Path

import numpy as np

COLORS = ("#c8553d", "#28666e", "#e0a030", "#5b5f97", "#7c9885", "#33322e")
"""The colours of segments and methods, in order."""


def new_figure(width: float, height: float):
    """An empty figure [inches] that needs no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def style_axes(axes, title: str = "", x: str = "", y: str = "") -> None:
    """Set a title, labels with units, and no more ink than needed."""
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.5)


def draw_arm(axes, positions: np.ndarray, boundaries: np.ndarray, *, alpha: float = 1.0, width: float = 4.0) -> None:
    """Draw an arm's axis in space, a colour per segment.

    **Arguments:** `positions`: nodes from base to tip, (nodes, 3) [m]; `boundaries`: indices of the nodes where
    segments begin and end, the first and the last included.
    """
    for i, (first, last) in enumerate(pairwise(boundaries)):
        part = positions[first : last + 1]
        axes.plot(*part.T, color=COLORS[i % len(COLORS)], alpha=alpha, linewidth=width, solid_capstyle="round")
    axes.plot(*positions[boundaries].T, "o", color="#33322e", alpha=alpha, markersize=0.8 * width)


def frame_space(axes, points: np.ndarray) -> None:
    """Set equal scales in space around all of these points, (m, 3) [m]."""
    low, high = points.min(0), points.max(0)
    middle, half = (low + high) / 2.0, max(float((high - low).max()) / 2.0, 1e-3)
    for set_limits, centre in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), middle, strict=True):
        set_limits(centre - half, centre + half)
    axes.set_box_aspect((1, 1, 1), zoom=0.88)
    for name, set_label in (("x [m]", axes.set_xlabel), ("y [m]", axes.set_ylabel), ("z [m]", axes.set_zlabel)):
        set_label(name, fontsize=8)
    axes.tick_params(labelsize=7)


def save(figure, path: Path) -> None:
    """Write the picture; what it says is text, whatever signs for mathematics a robot's name holds."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        # Labels of ticks are not set yet: powers of ten among them are mathematics.
        if text.get_text():
            text.set_parse_math(False)
    figure.savefig(path, dpi=130)
