"""Figures that the scenarios of whole octopuses share."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

import hydrostat as hs
from hydrostat.results import drawing, figures, panels
from hydrostat.results.measures import displacement, distance_covered

LEAST = 1.0
"""Least half height of a panel [mm or degrees]: what is less in all is drawn as such."""


def yaw(trajectory: hs.Trajectory) -> np.ndarray:
    """The turn of the body about the vertical (rows,) [deg]."""
    return np.rad2deg(trajectory.yaw)


def draw_on_ground(
    path: Path, motions: Mapping[str, hs.Trajectory], title: str, ahead: np.ndarray | None = None
) -> None:
    """The first motion from above at four moments, and the distance and the turn of the body in all of them.

    **Arguments:** `ahead`: direction (2,) in which the advance is drawn instead of the distance from the start.
    """
    figure, grid = panels.new_panels(title, 2, 4)
    shown = next(iter(motions.values()))
    panels.draw_moments(figure, grid[0, :], shown, 4, drawing.ABOVE)
    times = {name: one.time for name, one in motions.items()}
    curves = (
        (
            "distance of the body from its start" if ahead is None else "advance of the body",
            {
                name: 1e3 * (distance_covered(one, 2) if ahead is None else displacement(one)[:, :2] @ ahead)
                for name, one in motions.items()
            },
        ),
        ("turn of the body", {name: yaw(one) for name, one in motions.items()}),
    )
    for cell, (heading, values), unit in zip((grid[1, :2], grid[1, 2:]), curves, ("[mm]", "[deg]"), strict=True):
        axes = figure.add_subplot(cell)
        panels.draw_curves(axes, times, values, heading, unit, colors=[0, 2], least=LEAST)
    figures.save(figure, path)
