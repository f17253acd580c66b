"""The controls by which a user touches what is simulated: a hand on an arm, prey, current, a point to crawl to."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from hydrostat.live.scene import LiveScene
from hydrostat.live.session import LiveSession
from hydrostat.results.scene import Scene
from hydrostat.surroundings.water import Water
from hydrostat.viewer import colors

if TYPE_CHECKING:
    from viser import SceneClickEvent, TransformControlsEvent, ViserServer

Do = Callable[[Callable[[], Any]], None]
"""Has a function called between two steps."""


class TouchControls:
    """The hand, the objects, the current, the target and the arms of a live page.

    What a user does in the page arrives in other threads: it is handed to `do`, and done between two steps.
    """

    def __init__(self, server: "ViserServer", session: LiveSession, size: float, do: Do):
        """**Arguments:** `size`: of the scene [m]."""
        self._server, self._session, self._do, self._size = server, session, do, size
        with server.gui.add_folder("Touch"):
            self._add_hand()
            self._add_objects()
            if session.system.part(Water) is not None:
                self._add_current()
            if session.can_crawl:
                self._add_target()
            if session.can_lose_an_arm:
                self._add_loss()

    # A hand on an arm.

    def _add_hand(self) -> None:
        server, session, gui = self._server, self._session, self._server.gui
        self.arm = gui.add_dropdown("arm", self._arm_names(), hint="the arm to push")
        self.share = gui.add_slider("place along it", 0.0, 1.0, 0.01, 1.0, hint="0 at its base, 1 at its tip")
        self.stiffness = gui.add_number(
            "spring [N/m]", round(session.default_stiffness, 3), min=0.0, step=0.1, hint="between the hand and the arm"
        )
        self.hold = gui.add_checkbox("hold the arm", False, hint="then drag the handle in the scene")
        self.handle = server.scene.add_transform_controls(
            "/hand", scale=0.22 * self._size, disable_rotations=True, visible=False, depth_test=False
        )
        self._spring = server.scene.add_line_segments(
            "/spring",
            np.zeros((1, 2, 3), np.float32),
            colors.FORCE,
            thickness=3.0,
            thickness_units="screen",
            visible=False,
        )
        self._force = server.scene.add_label("/force", "0 N", visible=False, anchor="bottom-left")

        @self.hold.on_update
        def _(event) -> None:
            self._do(self._hold_or_not)

        for control in (self.arm, self.share):
            control.on_update(lambda event: self._do(self._hold_or_not) if self.hold.value else None)
        self.stiffness.on_update(lambda event: self._do(self._push) if self.hold.value else None)

        @self.handle.on_update
        async def _(event) -> None:
            self._do(self._push)

    def _arm_names(self) -> tuple[str, ...]:
        robot = self._session.system.robot
        return robot.names if len(robot.names) == robot.count else tuple(f"arm {i + 1}" for i in range(robot.count))

    def _held(self) -> tuple[int, float]:
        return self._arm_names().index(self.arm.value), float(self.share.value)

    def _hold_or_not(self) -> None:
        """What the box says by now: it may have been changed again since."""
        if self.hold.value:
            self._take_hold()
        elif self.handle.visible:
            self._let_go()

    def _take_hold(self) -> None:
        self.handle.position = self._session.node_position(self._session.node_of(*self._held()))
        self._show_hand(True)
        self._push()

    def _push(self) -> None:
        if self.hold.value:
            self._session.push(*self._held(), np.asarray(self.handle.position), float(self.stiffness.value))

    def _let_go(self) -> None:
        self._session.release()
        self._show_hand(False)

    def _show_hand(self, visible: bool) -> None:
        for node in (self.handle, self._spring, self._force):
            node.visible = visible

    # Objects.

    def _add_objects(self) -> None:
        self.objects, self._dragged = [], set[int]()
        for index in range(self._session.objects):
            box = self._server.gui.add_checkbox(f"move object {index + 1}", False, hint="then drag its handle")
            handle = self._server.scene.add_transform_controls(
                f"/move object {index + 1}",
                scale=0.15 * self._size,
                disable_rotations=True,
                visible=False,
                depth_test=False,
            )
            self.objects.append((box, handle))
            box.on_update(lambda event, index=index: self._do(lambda: self._show_object(index)))

            async def moved(event: "TransformControlsEvent", index=index, handle=handle) -> None:
                if event.phase == "update":
                    self._do(lambda: self._session.move_object(index, np.asarray(handle.position)))
                else:
                    (self._dragged.add if event.phase == "start" else self._dragged.discard)(index)

            handle.on_update(moved)

    def _show_object(self, index: int) -> None:
        box, handle = self.objects[index]
        handle.position = np.asarray(self._session.system.objects(self._session.state)[index].ball.position)
        handle.visible = box.value

    # The current.

    def _add_current(self) -> None:
        gui, water = self._server.gui, self._session.system.part(Water)
        velocity = np.asarray(water.current)
        level = float(np.hypot(*velocity[:2]))
        angle = float(np.rad2deg(np.arctan2(velocity[1], velocity[0])))
        self.current = gui.add_slider("current [m/s]", 0.0, max(0.5, level), 0.01, level)
        self.towards = gui.add_slider("flows towards [deg]", -180.0, 180.0, 1.0, round(angle), hint="from the x axis")

        def flow() -> None:
            # Read when it is done: events come in several threads, and the last may come first.
            angle = np.deg2rad(self.towards.value)
            level = self.current.value * np.array([np.cos(angle), np.sin(angle)])
            self._session.set_current(np.append(level, velocity[2]))

        for slider in (self.current, self.towards):
            slider.on_update(lambda event: self._do(flow))

    # A point to crawl to.

    def _add_target(self) -> None:
        gui = self._server.gui
        self.sends = gui.add_checkbox("a click on the ground sends it there", True)
        self._flag = self._server.scene.add_cylinder(
            "/target", 0.03 * self._size, 0.004 * self._size, color=colors.TARGET, visible=False
        )
        self._distance = self._server.scene.add_label("/distance", "", visible=False, anchor="bottom-center")

        @self._server.scene.on_click()
        def _(event: "SceneClickEvent") -> None:
            point = ground_point(np.asarray(event.ray_origin), np.asarray(event.ray_direction), 0.0)
            if self.sends.value and point is not None:
                self._do(lambda: self.send_to(point))

    def send_to(self, point: np.ndarray) -> None:
        """Send the robot to a point on the ground [m], and mark it."""
        self._session.crawl_to(point)
        self._flag.position, self._flag.visible = (*point[:2], 0.002), True
        self._distance.position, self._distance.visible = (*point[:2], 0.05 * self._size), True

    # An arm that is lost.

    def _add_loss(self) -> None:
        self.lose = self._server.gui.add_button("Lose this arm", hint="the arm above; what is left is compiled anew")

        @self.lose.on_click
        def _(event) -> None:
            self._do(lambda: self._lose(self._held()[0]))

    def _lose(self, arm: int) -> None:
        note = [client.add_notification("An arm is lost", "the others are compiled anew: this takes some seconds",
                                        loading=True, with_close_button=False)
                for client in self._server.get_clients().values()]  # fmt: skip
        self.hold.value = False
        self._let_go()
        self._session.lose_arm(arm)
        self._session.advance(self._session.running.dt)
        self.arm.options = self._arm_names()
        self.lose.visible = self._session.can_lose_an_arm
        for one in note:
            one.remove()

    # Every picture.

    def update(self, scene: LiveScene) -> None:
        """Move springs, labels and handles to where what they belong to is now."""
        if self.hold.value and self.handle.visible:
            node = self._session.node_position(self._session.node_of(*self._held()))
            ends = np.stack([node, np.asarray(self.handle.position)])[None]
            force = float(np.linalg.norm(self._session.push_force()))
            self._spring.points = ends.astype(np.float32)
            self._force.position, self._force.text = tuple(ends.mean((0, 1))), f"{force:.3g} N"
        left = self._session.target_error()
        if self._session.can_crawl and self._session.target is not None and left is not None:
            self._distance.text = f"{1e3 * left:.0f} mm to go"

    def follow_objects(self, scene: Scene) -> None:
        """Move the handles that are seen, and that nobody drags, to where their objects are."""
        for index, ((box, handle), place) in enumerate(zip(self.objects, scene.objects[-1], strict=True)):
            if box.value and index not in self._dragged:
                handle.position = place

    def reset(self) -> None:
        """Take the hand off and forget the target."""
        self.hold.value = False
        self._show_hand(False)
        if self._session.can_crawl:
            self._flag.visible = self._distance.visible = False


def ground_point(origin: np.ndarray, direction: np.ndarray, height: float) -> np.ndarray | None:
    """The point where a ray meets the plane of some height [m]; None where it does not."""
    if abs(direction[2]) < 1e-9:
        return None
    along = (height - origin[2]) / direction[2]
    return origin + along * direction if along > 0.0 else None
