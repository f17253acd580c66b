"""A robot and its surroundings in a page, moved from state to state.

server = open_server()
scene = LiveScene(server, system)
while True:
    state = robot.step(command)
    scene.update(state, control)
"""

import contextlib
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from hydrostat.live.arm_layers import LegsAndRings, Muscles, Skin, SuckerMarks, TendonLines
from hydrostat.live.pictures import Picture
from hydrostat.live.surrounding_layers import Current, ForceArrows, Things, Trails
from hydrostat.results import analysis
from hydrostat.results.rows import Row
from hydrostat.results.scene import Scene, per_arm
from hydrostat.results.trajectory import Trajectory
from hydrostat.system import Control, State, System

if TYPE_CHECKING:
    from viser import ViserServer

_NOTHING = 1e-6  # N: smaller tensions and forces are rounding


class LiveScene:
    """All that is seen of one system: arms, muscles, suckers, tendons, legs, body, objects, trails, current, forces.

    Several may share a page, each under a root of its own.
    """

    def __init__(
        self,
        server: "ViserServer",
        system: System,
        state: State | None = None,
        *,
        root: str = "/robot",
        ghost: bool = False,
        color: tuple[int, int, int] | None = None,
    ):
        """**Arguments:** `server`: of the page; `state`: at the start, at rest when not given; `root`: name in the
        scene tree, such as `/robot`; `ghost`: whether to draw it as a transparent shape, without the activation of its
        muscles, trails, current and forces; `color`: of all arms, when not their own.
        """
        self.server, self.system, self.root = server, system, root
        self.scene = snapshot(system, system.rest() if state is None else state)
        """What is drawn, as arrays of one row."""
        self.shown: dict[str, bool] = {}
        """Which of the layers with a name are seen."""
        self.light = False
        """Whether it is drawn with less detail, for browsers that draw by the processor."""
        api, scene, opacity = server.scene, self.scene, 0.3 if ghost else None
        picture = Picture(scene, 0)
        self._forces: ForceArrows | None = None
        self.trails: Trails | None = None
        self._layers: dict[str, Any] = {}
        with server.atomic():
            self.skin = Skin(api, root, picture, opacity, color)
            self.things = Things(api, root, picture, opacity)
            if ghost:
                return
            if any(arm.tendons for arm in scene.arms):
                self._layers["tendons"] = TendonLines(api, root, picture)
            if all(arm.activation.shape[2] >= 5 for arm in scene.arms):
                self._layers["muscles"] = Muscles(api, root, picture, self.skin)
            if scene.suckers:
                self._layers["suckers"] = SuckerMarks(api, root, picture)
            if any(arm.frame is not None for arm in scene.arms):
                self._layers["legs"] = LegsAndRings(api, root, picture)
            self.trails = Trails(api, root, picture)
            self._layers["trails"] = self.trails
            if scene.current is not None:
                self._layers["current"] = Current(api, root, picture)
            self._forces = ForceArrows(api, root, picture)
        self.shown = {name: True for name in self._layers} | {"forces": False}

    def update(self, state: State, control: Control | None = None, system: System | None = None) -> Scene:
        """Move everything to a state, in one picture; returns what is drawn.

        **Arguments:** `control`: that led there, of which the tensions are drawn; `system`: where it has changed since
        the scene was made, such as the water's current.
        """
        self.system = self.system if system is None else system
        return self.draw(snapshot(self.system, state, control), 0, state, control)

    def draw(self, scene: Scene, row: int, state: State | None = None, control: Control | None = None) -> Scene:
        """Move everything to a row of a scene of the same system.

        **Arguments:** `state`, `control`: of that row, from which contact forces are computed where they are shown.
        """
        picture = Picture(scene, row)
        with self.server.atomic():
            self.skin.update(picture)
            self.things.update(picture)
            for layer in self._layers.values():
                layer.update(picture)
            if self._forces is not None and self.shown["forces"] and state is not None:
                self._forces.update(*contact_forces(self.system, state, control))
        self.scene = scene
        return scene

    def restart_trails(self, scene: Scene, row: int) -> None:
        """Begin the trails anew at a row of a scene."""
        if self.trails is not None:
            self.trails.restart(Picture(scene, row))

    def show(self, layer: str, visible: bool) -> None:
        """Show or hide a layer: tendons, muscles, suckers, legs, trails, current or forces."""
        self.shown[layer] = visible
        if layer == "forces":
            if not visible and self._forces is not None:
                self._forces.hide()
        else:
            self._layers[layer].show(visible)

    def set_light(self, light: bool) -> None:
        """Draw with less detail, for browsers that draw by the processor, or with all of it."""
        if light == self.light:
            return
        self.light = light
        picture = Picture(self.scene, -1)
        with self.server.atomic():
            for layer in self._layers.values():
                if hasattr(layer, "set_light"):
                    layer.set_light(light, picture)

    def legend(self) -> dict[str, float]:
        """The largest tension and the largest force that colours and arrows stand for [N]."""
        found = {}
        tendons = self._layers.get("tendons")
        if tendons is not None:
            found["tension"] = tendons.most
        if self._forces is not None and self.shown.get("forces"):
            found["force"] = self._forces.most
        return {name: value for name, value in found.items() if value > _NOTHING}

    def remove(self) -> None:
        """Take everything out of the page."""
        with contextlib.suppress(KeyError):
            self.server.scene.remove_by_name(self.root)


def snapshot(system: System, state: State, control: Control | None = None) -> Scene:
    """The scene of one state, as arrays of one row."""
    return Scene.of(one_row(system, state, control))


def one_row(system: System, state: State, control: Control | None) -> Trajectory:
    """The trajectory whose only row is a state, after a control."""
    held = Control() if control is None else control
    state, held = jax.tree.map(lambda y: np.asarray(y)[None], (state, held))
    return Trajectory(system, state, held, (), np.ones(1, bool), np.zeros(1, int))  # type: ignore[arg-type]


def contact_forces(system: System, state: State, control: Control | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The contact nodes of all arms (nodes, 3) [m], and the contact forces on them (nodes, 3) [N]."""
    if not system.surroundings:
        return np.zeros((0, 3)), np.zeros((0, 3))
    one = one_row(system, state, control)
    places, found = one.all_derived(_contact_nodes, analysis.NodeForce(analysis.CONTACTS))
    return np.asarray(places)[0], np.concatenate([np.asarray(own)[0] for own in per_arm(system.robot, found)])


def contact_nodes(system: System, state: State) -> np.ndarray:
    """The contact nodes of all arms, arm after arm (nodes, 3) [m]."""
    return np.asarray(one_row(system, state, None).derived(_contact_nodes))[0]


def _contact_nodes(system: System, row: Row):
    """A row function: the contact nodes of all arms."""
    place = system.place(row.state)
    assert place is not None
    return place.nodes.position
