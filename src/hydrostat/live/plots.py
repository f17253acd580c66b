"""Curves over time beside the scene: the last half minute of a few quantities, each with its unit."""

from typing import TYPE_CHECKING

import numpy as np

from hydrostat.viewer import colors

if TYPE_CHECKING:
    from viser import ViserServer

POINTS = 240
"""Points of a curve, at most."""
_INKS = (colors.ARMS[0], colors.ARMS[1], colors.ARMS[2])


class Plots:
    """A panel of curves, each plot with up to three of them."""

    def __init__(self, server: "ViserServer", plots: dict[str, tuple[str, ...]]):
        """**Arguments:** `plots`: names of the curves by the title of their plot, which has the unit in brackets."""
        from viser import uplot

        self._names = plots
        self._time = np.zeros(0)
        self._values = {title: np.zeros((len(curves), 0)) for title, curves in plots.items()}
        panel = server.gui.add_panel()
        self.handles = {}
        with panel.add_tab("Plots"):
            for title, curves in plots.items():
                lines = [
                    uplot.Series(label=name, stroke=colors.css(_INKS[i]), width=2) for i, name in enumerate(curves)
                ]
                self.handles[title] = server.gui.add_uplot(
                    (np.zeros(2), *(np.zeros(2) for _ in curves)),
                    (uplot.Series(label="time [s]"), *lines),
                    title=title,
                    scales={"x": uplot.Scale(time=False, auto=True), "y": uplot.Scale(auto=True)},
                    height=150,
                    padding=(10, 24, 0, 0),  # room above, or the highest number is cut
                )
        panel.dock_left()
        panel.set_width(330)

    def add(self, time: float, values: dict[str, tuple[float, ...]]) -> None:
        """Go on with the curves; the oldest points are dropped. A time before the last one begins them anew."""
        if len(self._time) and time <= self._time[-1]:
            self.clear()
        self._time = np.append(self._time, time)[-POINTS:]
        for title, own in values.items():
            self._values[title] = np.column_stack([self._values[title], own])[:, -POINTS:]

    def set(self, time: np.ndarray, values: dict[str, np.ndarray]) -> None:
        """Show whole curves (curve, time), thinned out."""
        kept = np.unique(np.linspace(0, len(time) - 1, min(len(time), 4 * POINTS)).round().astype(int))
        self._time = np.asarray(time)[kept]
        self._values = {title: np.asarray(own)[:, kept] for title, own in values.items()}
        self.send()

    def clear(self) -> None:
        """Drop all points."""
        self._time = np.zeros(0)
        self._values = {title: np.zeros((len(curves), 0)) for title, curves in self._names.items()}

    def send(self) -> None:
        """Show the curves in the page."""
        if len(self._time) < 2:
            return
        for title, handle in self.handles.items():
            own = self._values[title]
            if own.shape[1] == len(self._time):
                handle.data = (self._time, *own)
