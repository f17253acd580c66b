"""The page of the operator: the local model solid, the last known pose of the robot as a ghost, and the link's health.

The tip is dragged by a gizmo, or moved by sliders, keys (I, K, J, L, U, O) and gamepads. Contact forces are arrows. Of
a body with a camera arm and a light arm these look on, and the camera's view is a panel.
"""

import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from hydrostat.live import LiveScene, Stage, Watchers, open_server
from hydrostat.live.controls import LAYERS, ViewControls
from hydrostat.live.fixed_body import draw_fixed_body
from hydrostat.teleoperation.adaptation import Face, RoundObstacle
from hydrostat.teleoperation.gamepad import GamepadPage
from hydrostat.teleoperation.messages import unpacked
from hydrostat.teleoperation.onlookers import COLORS, Onlookers, patch
from hydrostat.teleoperation.operator_side import OperatorSide
from hydrostat.teleoperation.page_device import PageDevice
from hydrostat.viewer.rendering import ball

if TYPE_CHECKING:
    from viser import TransformControlsEvent, ViserServer

_KEYS = {"K": (-1, 0, 0), "I": (1, 0, 0), "J": (0, 1, 0), "L": (0, -1, 0), "O": (0, 0, 1), "U": (0, 0, -1)}
_STEP = 0.005  # m: of a key
_PICTURES = 25.0  # 1/s
_ARROW = 0.25  # of the limb's length per newton, scaled by the largest force that was seen
_FACE = 0.3  # of the limb's length: side of the patch that stands for a face
_MODEL_COLOR, _GHOST_COLOR, _FACE_COLOR = (224, 122, 95), (70, 130, 200), (150, 160, 120)
_FORCE_COLOR = (214, 60, 50)  # of the local model; that of the robot has the colour of its ghost


class TeleopPage:
    """The page of one operator's side."""

    def __init__(self, side: OperatorSide, device: PageDevice, *, port: int = 8080, title: str = "teleop"):
        """**Arguments:** `device`: the side's own, that the page moves; `port`: of the page, 0 for any that is free."""
        self.side, self.device = side, device
        self.server: ViserServer = open_server(port, label=f"hydrostat: {title}")
        self.port = self.server.get_port()
        self.watchers = Watchers(self.server)
        self._lock, self._inputs = threading.Lock(), threading.Lock()
        self._dragging, self._slid_to = False, device.goal
        model = side.model
        self._length = model.limb.length
        self.model = LiveScene(self.server, model.system, model.state, root="/model", color=_MODEL_COLOR)
        self.ghost = LiveScene(self.server, model.system, model.state, root="/robot", ghost=True, color=_GHOST_COLOR)
        around = np.concatenate([arm.positions[0] for arm in self.model.scene.arms])
        self.stage = Stage(self.server, np.concatenate([around, [device.start - 0.2, device.start + 0.2]]), None)
        if model.limb.body is not None:
            draw_fixed_body(self.server.scene, "/body", model.limb.body)
        self.onlookers = Onlookers(model.limb, self.server, model.view.tip)
        self._faces: list = []
        self._balls: dict[int, Any] = {}
        self._arrows: dict[str, Any] = {}
        self._add_inputs()
        self._add_panels()
        self.gamepads = GamepadPage(self.port, device.set_velocity)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="teleop page")
        self._thread.start()

    def _add_inputs(self) -> None:
        """The gizmo, sliders and keys, each of which shows what the others do."""
        server, device = self.server, self.device
        size = 0.2 * self._length
        self.gizmo = server.scene.add_transform_controls(
            "/tip", scale=size, disable_rotations=True, position=tuple(device.start), depth_test=False
        )
        self.gizmo.on_update(self._dragged)
        with server.gui.add_folder("Place of the tip, from the start [mm]"):
            span = 1e3 * device.reach
            self.sliders = [
                server.gui.add_slider(axis, min=-span, max=span, step=0.5, initial_value=0.0) for axis in "xyz"
            ]
            self.home = server.gui.add_button("Home")
        for slider in self.sliders:
            slider.on_update(self._slid)
        self.home.on_click(lambda _: self._go_home())
        for key, direction in _KEYS.items():
            step = _STEP * np.array(direction)
            command = server.gui.add_command(f"move the tip by {_name(direction)}", hotkey=key)  # type: ignore[arg-type]
            command.on_trigger(lambda _, step=step: self.device.move_by(step))

    def _add_panels(self) -> None:
        """The camera arm, the link's health and the contact."""
        if self.onlookers.each:
            self.aim = self.server.gui.add_button("Look at the tip", hint="camera arm and light arm point at it")
            self.aim.on_click(lambda _: self._aim())
        with self.server.gui.add_folder("Link"):
            self.link = self.server.gui.add_markdown("no link yet")
        with self.server.gui.add_folder("Contact"):
            self.contact = self.server.gui.add_markdown("")
        # Contact forces are always shown here, those of both sides.
        layers = {name: words for name, words in LAYERS.items() if name != "forces"}
        self.view = ViewControls(
            self.server, self.stage, lambda: self.model, self.watchers, layers=layers, more=self._meanings()
        )

    def _meanings(self) -> list[tuple[str, tuple]]:
        """What colours mean."""
        return [
            ("local model", _MODEL_COLOR),
            ("robot, as it was last heard of", _GHOST_COLOR),
            ("contact force of the local model", _FORCE_COLOR),
            ("contact force of the robot", _GHOST_COLOR),
            ("faces and balls that the robot has estimated", _FACE_COLOR),
            *((f"{one.role} arm", COLORS[one.role]) for one in self.onlookers.each.values()),
        ]

    def _aim(self) -> None:
        """Let camera and light point at the tip of the local model."""
        with self._lock:
            self.onlookers.look_at(self.side.model.view.tip)

    async def _dragged(self, event: "TransformControlsEvent") -> None:
        """The gizmo was moved; while it is dragged the page does not move it.

        viser calls coroutines in the order of events, and functions in several threads, where the last may come first.
        """
        if event.phase == "update":
            self.device.move_to(np.array(self.gizmo.position))
        else:
            self._dragging = event.phase == "start"

    def _slid(self, event) -> None:
        """A slider was moved: by the operator where there is a client, else by the page itself."""
        if event.client is None:
            return
        with self._inputs:
            place = self.device.start + 1e-3 * np.array([one.value for one in self.sliders])
            self.device.move_to(place)
            self._slid_to = place

    def _go_home(self) -> None:
        """Ask for the place where it started."""
        self.device.move_to(self.device.start)
        self._show_sliders()

    def _run(self) -> None:
        looked = 0.0
        while not self._stop.wait(1.0 / _PICTURES):
            if self.watchers.ready():
                self.draw()
                self.watchers.sent()
            if self.onlookers.panel is not None and time.monotonic() - looked > self.onlookers.period:
                looked = time.monotonic()
                self.onlookers.show(self.camera_view())

    def camera_view(self) -> np.ndarray:
        """What the camera arm sees of the local model and of the known faces [row, column, 3]."""
        others = [patch(self._middle(one.face), one.face.normal, self._side, _FACE_COLOR) for one in self.side.faces]
        others += [ball(one.centre, one.radius, _FACE_COLOR) for one in self._seen_balls().values()]
        with self._lock:
            return self.onlookers.picture([self.model.scene], others)

    def draw(self) -> None:
        """One picture of all that is known now."""
        side, report = self.side, self.side.report
        with self._lock:
            self.model.set_light(self.watchers.all_light)
            self.model.update(side.model.state)
            if report is not None:
                q = unpacked(report.q)
                if q.size == side.model.q.size:
                    self.ghost.update(side.model.state._replace(q=q.reshape(side.model.q.shape)))
            self._show_inputs()
            self._show_forces()
            self._show_faces()
            self._show_balls()
            self._show_link()

    def _show_inputs(self) -> None:
        """Gizmo and sliders at the place that is asked for."""
        goal = self.device.goal
        if not self._dragging and np.linalg.norm(np.array(self.gizmo.position) - goal) > 1e-6:
            self.gizmo.position = tuple(goal)
        self._show_sliders()

    def _show_sliders(self) -> None:
        """The sliders at the place that is asked for, unless it is they that ask for it."""
        with self._inputs:
            goal = self.device.goal
            if np.linalg.norm(goal - self._slid_to) < 1e-9:
                return
            self._slid_to = goal
            for slider, value in zip(self.sliders, 1e3 * (goal - self.device.start), strict=True):
                rounded = float(np.clip(round(2.0 * value) / 2.0, slider.min, slider.max))
                if slider.value != rounded:
                    slider.value = rounded

    def _show_forces(self) -> None:
        """The contact forces of the local model and of the robot as arrows."""
        forces = {"model": self.side.model.view.force, "robot": self.side.remote_force}
        places = {"model": self.side.model.view.touch}
        places["robot"] = places["model"] if self.side.report is None else unpacked(self.side.report.touch, "<f4")
        colors = {"model": _FORCE_COLOR, "robot": _GHOST_COLOR}
        for name, force in forces.items():
            size = float(np.linalg.norm(force))
            reach = self._length * _ARROW * size / max(size, 0.5)
            points = np.array([[places[name], places[name] - reach * force / max(size, 1e-9)]])
            seen = size > self.side.model.touch_force
            if name not in self._arrows:
                self._arrows[name] = self.server.scene.add_line_segments(
                    f"/forces/{name}", points, colors[name], thickness=0.012 * self._length, visible=seen
                )
            elif seen:
                self._arrows[name].points = points.astype(np.float32)
            if self._arrows[name].visible != seen:
                self._arrows[name].visible = seen

    def _show_faces(self) -> None:
        """The estimated faces of obstacles as patches."""
        for number, estimate in enumerate(list(self.side.faces)):
            face, side = estimate.face, self._side
            thick = 0.02 * side
            middle = self._middle(face) - 0.5 * thick * face.normal
            if number < len(self._faces):
                self._faces[number].position = tuple(middle)
                continue
            box = self.server.scene.add_box(
                f"/faces/{number}", dimensions=(side, side, thick), color=_FACE_COLOR, opacity=0.5,
                wxyz=_turned(face.normal), position=tuple(middle),
            )  # fmt: skip
            self._faces.append(box)

    def _seen_balls(self) -> dict[int, RoundObstacle]:
        """The estimated balls, by their numbers."""
        return {number: one.ball for number, one in list(self.side.balls.items())}

    def _show_balls(self) -> None:
        """The estimated balls."""
        for number, seen in self._seen_balls().items():
            if number not in self._balls:
                self._balls[number] = self.server.scene.add_icosphere(
                    f"/balls/{number}", seen.radius, color=_FACE_COLOR, opacity=0.5, subdivisions=3
                )
            node = self._balls[number]
            node.position, radius = tuple(seen.centre), float(round(seen.radius, 4))
            if node.radius != radius:
                node.radius = radius

    @property
    def _side(self) -> float:
        """The side of the patch that stands for a face [m]."""
        return _FACE * self._length

    def _middle(self, face: Face) -> np.ndarray:
        """The point of a face that is nearest to the tip [m]."""
        tip = self.side.model.view.tip
        return tip - ((tip - face.point) @ face.normal) * face.normal

    def _show_link(self) -> None:
        """The health of the link and the contact in words."""
        side = self.side
        health = side.health(side.now)
        state = "**alive**" if health.alive else "**lost**"
        robot = "holds still" if health.holding else "follows"
        trip = "" if np.isnan(health.round_trip) else f"round trip {1e3 * health.round_trip:.0f} ms  \n"
        counts = f"{side.endpoint.counters.accepted} packets, {side.endpoint.counters.refused} dropped"
        poor = f"lost {100 * health.loss:.0f} %, silent {min(health.silence, 99.0):.1f} s"
        self.link.content = f"{state}, the robot {robot}  \n{trip}{poor}  \n{counts}"
        local, remote = (1e3 * float(np.linalg.norm(f)) for f in (side.model.view.force, side.remote_force))
        known = "".join(f"  \nface {i + 1}: {one.face.stiffness:.0f} N/m" for i, one in enumerate(side.faces))
        for i, one in self._seen_balls().items():
            known += f"  \nball {i + 1}: radius {1e3 * one.radius:.0f} mm, {one.stiffness:.0f} N/m"
        modulus = "" if side.estimate is None else f"  \nlimb: {100 * side.estimate.scale:.0f} % of its modulus"
        self.contact.content = f"local model {local:.0f} mN  \nrobot {remote:.0f} mN{known}{modulus}"

    def close(self) -> None:
        """End the page."""
        self._stop.set()
        self._thread.join()
        self.gamepads.close()
        self.server.stop()


def _name(direction: tuple[int, int, int]) -> str:
    """A direction in words."""
    axis = int(np.argmax(np.abs(direction)))
    return f"{'+' if direction[axis] > 0 else '-'}{'xyz'[axis]}"


def _turned(normal: np.ndarray) -> tuple[float, float, float, float]:
    """The quaternion (w, x, y, z) whose z is a direction."""
    from scipy.spatial.transform import Rotation

    found = Rotation.align_vectors([normal], [[0.0, 0.0, 1.0]])[0]
    w, x, y, z = found.as_quat(scalar_first=True)
    return float(w), float(x), float(y), float(z)
