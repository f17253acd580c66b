"""The server of a page: on this machine alone unless told otherwise, silent, and without a way out of the machine."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hydrostat.errors import whole
from hydrostat.live.own_requests import LOOPBACK
from hydrostat.live.served_page import served
from hydrostat.viewer import framing

if TYPE_CHECKING:
    from viser import GridHandle, ViserServer

PORT = 8080
"""Port at which pages are served when none is given, or the next one that is free."""
_FARTHER = 1.6  # than where all points just fit in: room to move, and for narrow windows
_LIGHT = {"cell": (222, 226, 231), "section": (190, 198, 207), "plane": (247, 248, 250)}
_DARK = {"cell": (58, 66, 76), "section": (84, 95, 108), "plane": (30, 35, 42)}


def open_server(port: int = PORT, host: str = "127.0.0.1", label: str | None = None) -> "ViserServer":
    """Start a server that serves pages to this machine alone.

    Pages for other machines go through a `Gateway`, which asks for a token.

    **Arguments:** `port`: 0 for any that is free; `host`: an address of this machine for itself; `label`: title of the
    page's panel.
    """
    try:
        import rich
        import viser
    except ImportError as error:
        raise ImportError("the live page needs viser: pip install 'hydrostat[view]'") from error
    if host not in LOOPBACK:
        raise ValueError(f"`host` must be an address of this machine for itself, such as 127.0.0.1; got {host!r}")
    whole("port", port, least=0, most=2**16 - 1)  # viser would wait for ever
    console = rich.get_console()
    was_quiet, console.quiet = console.quiet, True
    try:
        with served():
            server = viser.ViserServer(host=host, port=port, label=label, verbose=False)
    finally:
        console.quiet = was_quiet
    # A page could ask for an address on the internet that leads here: there is none.
    server.request_share_url = lambda verbose=True: None  # type: ignore[method-assign]
    return server


class Stage:
    """Camera, lights, ground and theme of a page."""

    def __init__(self, server: "ViserServer", points: np.ndarray, ground: float | None, dark: bool = False):
        """**Arguments:** `points`: that the camera sees (m, 3) [m]; `ground`: its height, below the points when
        not given [m].
        """
        self.server, self.points, self._ground = server, points, ground
        low = float(points[:, 2].min())
        view = framing.frame(points, low if ground is None else ground)
        self.framing = view = replace(view, camera=view.look_at + _FARTHER * (view.camera - view.look_at))
        camera = server.initial_camera
        camera.fov = framing.FIELD_OF_VIEW
        camera.position, camera.look_at = view.camera, view.look_at
        camera.near, camera.far = view.size / 100, 100 * view.size
        back = (view.camera - view.look_at) / np.linalg.norm(view.camera - view.look_at)
        lamp = back + np.cross(back, [0.0, 0.0, 1.0]) + np.array([0.0, 0.0, 0.8])
        server.scene.add_light_directional("/lamp", color=(255, 240, 226), intensity=2.0, position=tuple(lamp))
        self.dark = dark
        self.grid: GridHandle = self._add_grid(view.ground)
        self.set_dark(dark)
        # Beside the scene, not over it.
        server.gui.main_panel.dock_right()

    def _add_grid(self, height: float) -> "GridHandle":
        view, theme = self.framing, _DARK if self.dark else _LIGHT
        return self.server.scene.add_grid(
            "/ground",
            position=(0.0, 0.0, height),
            cell_size=view.grid,
            section_size=5 * view.grid,
            cell_color=theme["cell"],
            section_color=theme["section"],
            infinite_grid=True,
            fade_distance=6 * view.size,
            fade_strength=1.0,
            shadow_opacity=0.35,
            plane_color=theme["plane"],
            plane_opacity=1.0,
        )

    def set_dark(self, dark: bool) -> None:
        """Make the page dark or light."""
        self.dark = dark
        theme = _DARK if dark else _LIGHT
        self.server.gui.configure_theme(
            dark_mode=dark, show_logo=False, show_share_button=False, brand_color=(196, 104, 88)
        )
        self.grid.cell_color, self.grid.section_color = theme["cell"], theme["section"]
        self.grid.plane_color = theme["plane"]
        self.server.scene.set_background_image(None)

    def presets(self, centre: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Positions and targets of the camera by name, about a centre [m]."""
        view = self.framing
        far = float(np.linalg.norm(view.camera - view.look_at))
        own = view.camera - view.look_at
        sides = {
            "start": own,
            "front": far * np.array([0.0, -1.0, 0.12]),
            "side": far * np.array([1.0, 0.0, 0.12]),
            "above": far * np.array([0.0, -1e-3, 1.0]),
            "near": 0.45 * own,
        }
        return {name: (centre + away, centre) for name, away in sides.items()}
