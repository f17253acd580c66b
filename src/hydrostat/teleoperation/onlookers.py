"""The limbs that look on while another one is driven: the camera arm with its view, and the light arm with its lamp.

Both point at the tip that is driven: their tensions are planned by statics (`control.plan_tension`), and they are shown
where these hold them. They are no part of what the robot simulates. The view is drawn from the local model and from
what is known of the obstacles: a link of some kilobits a second carries no film.
"""

import base64
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from hydrostat.control import TipTask, plan_tension
from hydrostat.lie import SE3
from hydrostat.live import LiveScene
from hydrostat.live.controls import png_bytes
from hydrostat.mechanics import kinematics
from hydrostat.results.filming import surfaces_of
from hydrostat.results.scene import Scene
from hydrostat.sensing import Camera, Spotlight
from hydrostat.teleoperation.limbs import Limb
from hydrostat.viewer.framing import Framing
from hydrostat.viewer.rendering import Renderer, Surface
from hydrostat.viewer.skin_marks import quaternions

if TYPE_CHECKING:
    from viser import ViserServer

_LEAST = 0.1  # N, that every tendon keeps
_GUESS = (1.8, 0.6, 0.1, 0.1)  # N, from which plans start, by tendon around the axis
_ABOVE = np.array([-0.1, 0.0, 0.25])  # m: from the place that is looked at, where a tip would best be
_PLACE_COUNTS = 0.3  # of a tip's place against its direction
COLORS = {"camera": (140, 112, 168), "light": (206, 168, 84)}
"""Colours of the limbs that look on, by role."""
_PICTURE = Camera(width=288, height=216, field_of_view=np.deg2rad(60.0), rate=3.0)
_DARKNESS = 0.25  # share of colours that is seen outside the lamp's cone
_DEEP = "#17384a"  # what the camera sees where nothing is


class Onlooker:
    """A limb that is held by its tendons so that its tip points at a place."""

    def __init__(self, limb: Limb, role: str, server: "ViserServer", place: np.ndarray):
        """**Arguments:** `role`: camera or light; `place`: that it points at first [m]."""
        self.limb, self.role = limb, role
        self._robot = limb.statics_model("tension")
        self._tension = np.resize(_GUESS, len(limb.spec.tendons))
        self._system = limb.system([])
        self.pose = self._planned(place)
        """Pose of its tip."""
        state = self._system.rest(jnp.asarray(self._q))
        self.scene = LiveScene(server, self._system, state, root=f"/{limb.name}", color=COLORS[role])

    def _planned(self, place: np.ndarray) -> SE3:
        """Plan the tensions that point at a place; the pose of the tip there."""
        task = TipTask(np.asarray(place) + _ABOVE, place, _PLACE_COUNTS)
        plan = plan_tension(self._robot, task, self._tension, least=_LEAST)
        self._tension, self._q = plan.tension, plan.q
        return kinematics.tip_pose(self._robot.arm, jnp.asarray(plan.q))

    def look_at(self, place: np.ndarray) -> None:
        """Point at a place [m]."""
        self.pose = self._planned(place)
        self.scene.update(self._system.rest(jnp.asarray(self._q)))


class Onlookers:
    """The camera and the light of a body, in a page."""

    def __init__(self, driven: Limb, server: "ViserServer", place: np.ndarray):
        """**Arguments:** `driven`: the limb that is driven, itself no onlooker; `place`: of its tip [m]."""
        body = driven.body
        limbs = [] if body is None else [one for one in body.limbs if one.name != driven.name]
        self.each = {
            one.role: Onlooker(Limb(one.arm, body), one.role, server, place)
            for one in limbs
            if one.role in COLORS and one.arm.tendons
        }
        self.lamp, self._handle = Spotlight(), None
        if "light" in self.each:
            self._handle = server.scene.add_light_spot(
                "/lamp of the light arm", color=(255, 236, 190), angle=self.lamp.half_angle, penumbra=0.4, decay=1.0,
                intensity=4.0,
            )  # fmt: skip
            self._shine()
        self.panel: Any = None
        """The panel of the camera's view; None without a camera."""
        if "camera" in self.each:
            with server.gui.add_folder("Camera arm"):
                self.panel = server.gui.add_html("")
            self._renderer = Renderer(
                self._view(0.5), _PICTURE.width, _PICTURE.height, _DEEP, _PICTURE.field_of_view, grid=False
            )

    @property
    def period(self) -> float:
        """Time between two pictures of the camera [s]."""
        return 1.0 / _PICTURE.rate

    def look_at(self, place: np.ndarray) -> None:
        """Let camera and light point at a place [m]."""
        for one in self.each.values():
            one.look_at(place)
        if self._handle is not None:
            self._shine()

    def _shine(self) -> None:
        """Let the lamp shine from the tip of the light arm, along it."""
        pose = self.each["light"].pose
        # The lamp shines along its -z.
        turned = np.asarray(pose.rotation) @ np.diag([1.0, -1.0, -1.0])
        self._handle.position, self._handle.wxyz = tuple(np.asarray(pose.position)), quaternions(turned)  # type: ignore[union-attr]

    def _view(self, size: float) -> Framing:
        """The camera's view, as drawings have it."""
        pose = self.each["camera"].pose
        place, ahead = np.asarray(pose.position), np.asarray(pose.rotation)[:, 2]
        return Framing(place, place + ahead, float(place[2]) - 1.0, size, 0.1)

    def picture(self, scenes: list[Scene], others: list[Surface]) -> np.ndarray:
        """What the camera sees [row, column, 3] of scenes of one row, and of other surfaces."""
        surfaces = [surface for scene in scenes for surface in surfaces_of(scene, 0)[0]] + others
        if "light" in self.each:
            surfaces = [self._lit(surface) for surface in surfaces]
        self._renderer.look_from(self._view(0.5))
        return self._renderer.draw(surfaces, np.zeros((0, 3)), "")

    def show(self, picture: np.ndarray) -> None:
        """Show a picture in the camera's panel."""
        # Within the text of the page: a picture with an address of its own may be gone before it is loaded.
        data = base64.b64encode(png_bytes(picture)).decode()
        self.panel.content = (
            f'<img alt="view of the camera arm" style="width:100%;display:block" src="data:image/png;base64,{data}">'
        )

    def _lit(self, surface: Surface) -> Surface:
        """A surface in the light of the lamp."""
        middles = surface.vertices[surface.faces].mean(1)
        light = np.clip(self.lamp.light(self.each["light"].pose, middles), 0.0, 1.0)
        return Surface(
            surface.vertices, surface.faces, surface.colors * (_DARKNESS + (1.0 - _DARKNESS) * light)[:, None]
        )


def patch(middle: np.ndarray, normal: np.ndarray, side: float, color: tuple[int, int, int], cells: int = 8) -> Surface:
    """A square about a point [m], seen from both sides, in cells that may be lit each for itself."""
    first = np.cross(normal, [0.0, 1.0, 0.0] if abs(normal[1]) < 0.9 else [1.0, 0.0, 0.0])
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    marks = side * np.linspace(-0.5, 0.5, cells + 1)
    vertices = middle + marks[:, None, None] * first + marks[None, :, None] * second
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    front = np.stack([corner, corner + cells + 1, corner + cells + 2, corner + 1], -1)
    faces = np.concatenate([front, front[:, ::-1]])
    return Surface(vertices.reshape(-1, 3), faces, np.broadcast_to(np.asarray(color, float), (len(faces), 3)))
