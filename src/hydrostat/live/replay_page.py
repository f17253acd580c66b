"""The page of a motion that is known as a whole: a slider over time."""

import threading
import time
from typing import TYPE_CHECKING

import numpy as np

from hydrostat.live.controls import PlayControls, Rate, ViewControls
from hydrostat.live.page import FRAME
from hydrostat.live.plots import Plots
from hydrostat.live.scene import LiveScene
from hydrostat.live.server import Stage
from hydrostat.live.watchers import Watchers
from hydrostat.results.scene import Scene
from hydrostat.results.trajectory import Trajectory

if TYPE_CHECKING:
    from viser import ViserServer

_STATUS_SECONDS = 0.4


class ReplayPage:
    """A trajectory in a page, with a slider over time; `run` keeps it going."""

    def __init__(self, server: "ViserServer", trajectory: Trajectory, title: str, *, dark: bool = False):
        self.server, self.trajectory = server, trajectory
        self.drawn = Scene.of(trajectory)
        self.time = np.asarray(trajectory.time, float)
        self.watchers = Watchers(server)
        self.scene = LiveScene(server, trajectory.system, trajectory[0])
        points = np.concatenate([arm.positions[[0, -1]].reshape(-1, 3) for arm in self.drawn.arms])
        self.stage = Stage(server, np.concatenate([points, self.drawn.objects[0]]), self.drawn.ground, dark)
        server.gui.set_panel_label(title)
        self.play = PlayControls(server)
        first, last = float(self.time[0]), float(self.time[-1])
        step = max((last - first) / max(len(self.time) - 1, 1), 1e-6)
        self.slider = server.gui.add_slider("time [s]", first, max(last, first + step), step, first)
        self.view = ViewControls(server, self.stage, lambda: self.scene, self.watchers)
        self.plots = Plots(server, {title: names for title, (names, _) in self._curves().items()})
        self.plots.set(self.time, {title: values for title, (_, values) in self._curves().items()})
        self.row = 0
        """The row that is shown."""
        self._now, self._asked = first, threading.Event()
        self._told, self._stopped, self.rate = 0.0, False, Rate()

        @self.slider.on_update
        def _(event) -> None:
            # A user's own, not the page's: go there, and stay.
            if event.client is not None:
                self._now = float(self.slider.value)
                self.play.set_playing(False)
                self._asked.set()

    def run(self, seconds: float | None = None) -> None:
        """Keep the page going for some seconds of the clock, or until `stop`."""
        begin = before = time.perf_counter()
        while not self._stopped and (seconds is None or time.perf_counter() - begin < seconds):
            now = time.perf_counter()
            self.picture(now - before)
            before = now
            self._asked.wait(max(0.0, now + FRAME - time.perf_counter()))

    def stop(self) -> None:
        """Let `run` end after the present picture."""
        self._stopped = True
        self._asked.set()

    def picture(self, seconds: float) -> None:
        """Go on by some seconds of the clock where it plays, and draw; after the last row comes the first."""
        self._asked.clear()
        row = self.row
        if self.play.take_reset():
            self._now, row = float(self.time[0]), -1
        if self.play.playing:
            self._now += self.play.speed * seconds
            if self._now > self.time[-1]:
                self._now, row = float(self.time[0]), -1
        elif self.play.take_step():
            self._now = float(self.time[min(row + 1, len(self.time) - 1)])
        new = int(np.clip(np.searchsorted(self.time, self._now + 1e-9) - 1, 0, len(self.time) - 1))
        if row == -1 and self.scene.trails is not None:
            self.scene.restart_trails(self.drawn, new)
        if (new != self.row or row == -1) and self.watchers.ready():
            self.row = new
            self.scene.set_light(self.watchers.all_light)
            self.scene.draw(self.drawn, new, self.trajectory[new])
            if self.play.playing:
                self.slider.value = float(self.time[new])
            self.server.flush()
            self.watchers.sent()
        self.rate.tick()
        if time.perf_counter() - self._told > _STATUS_SECONDS:
            self._told = time.perf_counter()
            grid = f"grid {self.stage.framing.grid:g} m"
            self.play.status.content = f"**{self.time[self.row]:.2f} s** of {self.time[-1]:.2f} s · {grid}"

    def _curves(self) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
        """What is plotted: names of the curves and their values (curve, row), by title."""
        what = "body" if self.trajectory.system.robot.free_base else "tip"
        place = f"position of the {what} [mm]"
        found: dict[str, tuple[tuple[str, ...], np.ndarray]] = {place: (("x", "y", "z"), 1e3 * self.drawn.path[:, 0].T)}
        activation = [arm.activation.reshape(len(self.time), -1) for arm in self.drawn.arms]
        if sum(own.shape[1] for own in activation):
            mean = 100.0 * np.concatenate(activation, 1).mean(1)
            found["mean activation [%]"] = (("muscles",), mean[None])
        tension = [arm.tension for arm in self.drawn.arms if arm.tension.shape[1]]
        if tension:
            found["tension [N]"] = (("largest",), np.concatenate(tension, 1).max(1)[None])
        return found
