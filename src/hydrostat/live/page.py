"""The live page: a motion that is simulated while it is watched, at the pace of the clock."""

import contextlib
import queue
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from hydrostat.errors import DivergedError, InputError
from hydrostat.live.controls import PlayControls, Rate, ViewControls
from hydrostat.live.plots import Plots
from hydrostat.live.scene import LiveScene, one_row
from hydrostat.live.served_page import ANSWER
from hydrostat.live.server import Stage
from hydrostat.live.session import LiveSession
from hydrostat.live.touching import TouchControls
from hydrostat.live.watchers import Watchers

if TYPE_CHECKING:
    from viser import ViserServer

FRAME = 1.0 / 60.0
"""Time from picture to picture [s]."""
_BEHIND = 3.0  # pictures by which the simulation may be late before it gives up catching up
_YIELD_SECONDS = 0.03  # that a page which draws by the processor has for itself, for what a user has done
_PLOT_SECONDS, _STATUS_SECONDS = 0.12, 0.4


def _nothing() -> None:
    """What is done to look for a picture that is due."""


class LivePage:
    """A motion in a page, with its controls; `run` keeps it going.

    Everything that changes the simulation happens in the thread of `run`, between two steps.
    """

    def __init__(
        self, server: "ViserServer", session: LiveSession, title: str, *, dark: bool = False, playing: bool = True
    ):
        self.server, self.session, self.title = server, session, title
        self._todo: queue.SimpleQueue[Callable[[], Any]] = queue.SimpleQueue()
        self.watchers = Watchers(server, lambda: self._todo.put(_nothing))
        self.scene = LiveScene(server, session.system, session.state)
        drawn = self.scene.scene
        points = np.concatenate([arm.positions[0] for arm in drawn.arms] + [drawn.objects[0]])
        ground, low = drawn.ground, float(points[:, 2].min())
        if ground is None and session.system.robot.free_base:
            # Nothing is below a robot that swims: the grid is out of its path.
            ground = low - float(np.max(np.ptp(points, axis=0)))
        self.stage = Stage(server, points, ground, dark)
        server.gui.set_panel_label(title)
        self.play = PlayControls(server, playing)
        self.touch = TouchControls(server, session, self.stage.framing.size, self.do)
        self.view = ViewControls(server, self.stage, lambda: self.scene, self.watchers)
        self._energy = True
        self.plots = Plots(server, self._plot_names())
        self._answer = server.scene.add_frame(ANSWER, show_axes=False)
        self.rate, self._lag = Rate(), 0.0
        self._plotted = self._told = 0.0
        self._before = time.perf_counter()
        self._stopped = self._touched = self._unanswered = self._answering = False
        self.pictures = 0
        """The number of pictures so far."""

    def do(self, function: Callable[[], Any]) -> None:
        """Have a function called between two steps, in the thread of `run`."""
        self._todo.put(function)

    def run(self, seconds: float | None = None) -> None:
        """Keep the page going for some seconds of the clock, or until `stop`."""
        begin = next_picture = self._before = time.perf_counter()
        while not self._stopped and (seconds is None or time.perf_counter() - begin < seconds):
            self.picture()
            next_picture = max(next_picture + FRAME, time.perf_counter() - _BEHIND * FRAME)
            if self._answering:
                next_picture = max(next_picture, time.perf_counter() + _YIELD_SECONDS)
            if self._wait(next_picture):
                next_picture = time.perf_counter()

    def stop(self) -> None:
        """Let `run` end after the present picture."""
        self._stopped = True
        self._todo.put(_nothing)

    def _wait(self, until: float) -> bool:
        """Wait for the next picture; whether it is due now, as a user has done something or a page can draw again."""
        left = until - time.perf_counter()
        if left > 0.0:
            with contextlib.suppress(queue.Empty):
                self._attempt(self._todo.get(timeout=left))
                return True
        return False

    def _attempt(self, function: Callable[[], Any]) -> None:
        """Do what a user asks for; what cannot be done is said in the page."""
        self._touched = self._touched or function is not _nothing
        try:
            function()
        except (InputError, DivergedError) as error:
            self._say("This cannot be done", str(error))

    def picture(self) -> None:
        """Do what was asked for, go on by the time that has passed where it plays, and draw."""
        now, self._answering = time.perf_counter(), False
        passed, self._before = min(now - self._before, _BEHIND * FRAME), now
        while not self._todo.empty():
            self._attempt(self._todo.get())
        if self.play.take_reset():
            self.session.reset()
            self.touch.reset()
            self.plots.clear()
            self._lag = 0.0
        touched, self._touched = self._touched, False
        if self.play.playing:
            self._advance(self.play.speed * passed, only_one=touched)
        elif self.play.take_step():
            self._advance(FRAME, at_least_one=True)
        # Pages that draw slowly get the newest picture when they are ready for one. What a user does is seen in a
        # picture of its own, after one step.
        self._unanswered = self._unanswered or touched
        if self.watchers.ready(ahead=touched):
            self._draw()

    def _advance(self, seconds: float, at_least_one: bool = False, only_one: bool = False) -> None:
        """Simulate whole steps for about some seconds; what is over is kept for the next picture."""
        dt = self.session.running.dt
        self._lag = min(self._lag + seconds, _BEHIND * max(self.play.speed * FRAME, dt))
        if self._lag < dt and not (at_least_one or only_one):
            return
        try:
            self._lag -= self.session.advance(dt if only_one else max(self._lag - 0.5 * dt, dt))
        except DivergedError as error:
            self.play.set_playing(False)
            self._say("The simulation cannot go on", f"{error}; reset it")

    def _draw(self) -> None:
        session = self.session
        if session.system.robot.count != self.scene.skin.count:
            shown = self.scene.shown
            self.scene.remove()
            self.scene = LiveScene(self.server, session.system, session.state)
            for name, visible in shown.items():
                self.scene.show(name, visible)
        self.scene.set_light(self.watchers.all_light)
        self._answering = self._unanswered and self.watchers.all_light
        with self.server.atomic():
            drawn = self.scene.update(session.state, session.control, session.system)
            self.touch.update(self.scene)
            self.touch.follow_objects(drawn)
            if self._unanswered:
                # A page that draws slowly waits for this picture, and does not begin those before it.
                self._unanswered = False
                self._answer.position = (0.0, 0.0, float(self.pictures))
        now = time.perf_counter()
        if now - self._plotted > _PLOT_SECONDS and self.play.playing:
            self._plotted = now
            self.plots.add(session.running.time, self._plot_values(drawn))
        if now - self._told > _STATUS_SECONDS:
            self._told = now
            self.plots.send()
            self.play.status.content = self._status()
        self.server.flush()
        self.watchers.sent(tell=self._answering)
        self.rate.tick()
        self.pictures += 1

    def _status(self) -> str:
        largest = " · ".join(f"largest {name} {value:.3g} N" for name, value in self.scene.legend().items())
        words = [
            f"**{self.session.running.time:.2f} s**",
            f"{self.rate.hertz:.0f} Hz",
            f"grid {self.stage.framing.grid:g} m",
        ]
        if self.watchers.light:
            words.append("light detail")
        return " · ".join([*words, largest] if largest else words)

    def _say(self, title: str, text: str) -> None:
        for client in self.server.get_clients().values():
            client.add_notification(title, text, auto_close_seconds=8.0)

    # What is plotted.

    def _plot_names(self) -> dict[str, tuple[str, ...]]:
        what = "body" if self.session.system.robot.free_base else "tip"
        names = {f"position of the {what} [mm]": ("x", "y", "z"), "energy [mJ]": ("kinetic", "elastic")}
        if self.session.mean_activation() is not None:
            names["mean activation [%]"] = ("muscles",)
        if self.session.target_error() is not None:
            names["distance to the target [mm]"] = ("left",)
        return names

    def _plot_values(self, drawn) -> dict[str, tuple[float, ...]]:
        session, values = self.session, {}
        for title in self._plot_names():
            if title.startswith("position"):
                values[title] = tuple(1e3 * drawn.path[-1, 0])
            elif title.startswith("energy"):
                found = one_row(session.system, session.state, session.control).energy()
                values[title] = (1e3 * float(found.kinetic[0]), 1e3 * float(found.elastic[0]))
            elif title.startswith("mean"):
                values[title] = (100.0 * (session.mean_activation() or 0.0),)
            else:
                values[title] = (1e3 * (session.target_error() or 0.0),)
        return values
