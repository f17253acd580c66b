"""The controls that all pages have: play, pause, step, speed, reset; camera, theme, layers, screenshot."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hydrostat.live.scene import LiveScene
from hydrostat.live.server import Stage
from hydrostat.live.watchers import DETAILS, Watchers
from hydrostat.viewer import colors

if TYPE_CHECKING:
    from viser import GuiEvent, ViserServer

_SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
LAYERS = {
    "muscles": "activation of muscles",
    "suckers": "suckers and what they hold",
    "tendons": "tendons, by tension",
    "legs": "legs and rings",
    "trails": "trails",
    "current": "current of the water",
    "forces": "contact forces",
}
"""Words for the layers of a scene that can be hidden."""


def one_at_a_time(function: Callable[[], object]) -> Callable[[object], None]:
    """A callback that does what a function does, which reads the newest value of its control.

    viser calls back in several threads: the last that is called has to read last, too.
    """
    lock = threading.Lock()

    def call(event: object) -> None:
        with lock:
            function()

    return call


class PlayControls:
    """Play, pause, step, speed and reset."""

    def __init__(self, server: "ViserServer", playing: bool = True):
        gui = server.gui
        self.playing = playing
        self.speed = 1.0
        """Simulated time over the clock's."""
        self._steps, self._reset = 0, False
        self.status = gui.add_markdown("starting ...")
        self.play = gui.add_button("Pause" if playing else "Play")
        self.step = gui.add_button("Step", hint="one picture further")
        self.reset = gui.add_button("Reset", hint="start again")
        names = [f"{speed:g} ×" for speed in _SPEEDS]
        self.speeds = gui.add_dropdown("speed", names, initial_value="1 ×", hint="simulated time over the clock's")

        @self.play.on_click
        def _(event) -> None:
            self.set_playing(not self.playing)

        @self.step.on_click
        def _(event) -> None:
            self.set_playing(False)
            self._steps += 1

        @self.reset.on_click
        def _(event) -> None:
            self._reset = True

        def set_speed() -> None:
            self.speed = _SPEEDS[names.index(self.speeds.value)]

        self.speeds.on_update(one_at_a_time(set_speed))

    def set_playing(self, playing: bool) -> None:
        """Play or pause."""
        self.playing = playing
        self.play.label = "Pause" if playing else "Play"

    def take_step(self) -> bool:
        """Whether a single step is asked for; it counts as taken."""
        asked = self._steps > 0
        self._steps -= asked
        return asked

    def take_reset(self) -> bool:
        """Whether a new start is asked for; it counts as taken."""
        asked, self._reset = self._reset, False
        return asked


class ViewControls:
    """Camera, theme, layers and screenshot."""

    def __init__(
        self,
        server: "ViserServer",
        stage: Stage,
        scene: Callable[[], LiveScene],
        watchers: Watchers,
        *,
        layers: Mapping[str, str] = LAYERS,
        more: Sequence[tuple[str, tuple]] = (),
    ):
        """**Arguments:** `scene`: gives the scene that is shown at the moment; `watchers`: the pages that show it;
        `layers`: words for those that can be hidden; `more`: what other colours mean.
        """
        gui = server.gui
        with gui.add_folder("View"):
            self.cameras = gui.add_button_group("camera", ["start", "front", "side", "above", "near"])
            self.dark = gui.add_checkbox("dark", stage.dark)
            self.detail = gui.add_dropdown(
                "detail", DETAILS, hint="light: without shadows; automatic: light where the browser draws slowly"
            )
            self.layers = {
                name: gui.add_checkbox(layers[name], shown) for name, shown in scene().shown.items() if name in layers
            }
            self.shot = gui.add_button("Screenshot", hint="the picture as a PNG file")
            gui.add_markdown(legend([*meanings(scene()), *more]))

        @self.cameras.on_click
        def _(event: "GuiEvent") -> None:
            position, target = stage.presets(centre_of(scene()))[self.cameras.value]
            clients = [event.client] if event.client is not None else list(server.get_clients().values())
            for client in clients:
                with client.atomic():
                    client.camera.position, client.camera.look_at = position, target

        self.dark.on_update(one_at_a_time(lambda: stage.set_dark(self.dark.value)))
        self.detail.on_update(one_at_a_time(lambda: watchers.set_detail(self.detail.value)))
        for name, box in self.layers.items():
            box.on_update(one_at_a_time(lambda name=name, box=box: scene().show(name, box.value)))

        @self.shot.on_click
        def _(event: "GuiEvent") -> None:
            if event.client is not None:
                camera = event.client.camera
                picture = event.client.get_render(camera.image_height, camera.image_width, transport_format="png")
                event.client.send_file_download("hydrostat.png", png_bytes(picture), save_immediately=True)


def png_bytes(picture: np.ndarray) -> bytes:
    """A picture [row, column, channel] as the content of a PNG file."""
    import io

    from matplotlib.image import imsave

    file = io.BytesIO()
    imsave(file, np.ascontiguousarray(picture), format="png")
    return file.getvalue()


def centre_of(scene: LiveScene) -> np.ndarray:
    """The middle of a robot [m]."""
    points = np.concatenate([arm.positions[-1] for arm in scene.scene.arms])
    return 0.5 * (points.min(0) + points.max(0))


def meanings(scene: LiveScene) -> list[tuple[str, tuple]]:
    """What the colours of a scene mean."""
    rows: list[tuple[str, tuple]] = []
    if "muscles" in scene.shown:
        rows += [("longitudinal muscle, fully active", colors.LONGITUDINAL), ("radial muscle", colors.RADIAL)]
    if "suckers" in scene.shown:
        rows += [("sucker holds the ground", colors.HOLDS_GROUND), ("holds an object", colors.HOLDS_OBJECT)]
    if "legs" in scene.shown:
        rows += [("leg", colors.LEG), ("ring, as wide as keeps the volume", colors.RING)]
    if "tendons" in scene.shown:
        rows += [("tendon at the largest tension so far", colors.TIGHT)]
    return rows


def legend(rows: Sequence[tuple[str, tuple]]) -> str:
    """What colours mean, as Markdown."""
    return "  \n".join(f'<span style="color:{colors.css(color)}">■</span> {text}' for text, color in rows)


class Rate:
    """The number of events in a second, over the last second or so."""

    def __init__(self) -> None:
        self._times: list[float] = []

    def tick(self) -> None:
        """An event has happened."""
        now = time.perf_counter()
        self._times = [*(t for t in self._times if now - t < 1.0), now]

    @property
    def hertz(self) -> float:
        """The rate [Hz]."""
        times = self._times
        return (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 and times[-1] > times[0] else 0.0
