"""Turn resampled motions into a page with viser's recorder, on a server that nobody sees."""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hydrostat.viewer import framing
from hydrostat.viewer.mesh import bind, tube_mesh
from hydrostat.viewer.shapes import Color, Track
from hydrostat.viewer.skin_marks import Copies

if TYPE_CHECKING:
    from viser import BatchedMeshHandle, MeshSkinnedHandle, SceneApi, ViserServer

_TURN_BITS = 10  # of the numbers of a copy's orientation after the point: a tenth of a degree

# viser speaks through rich's console when it starts and stops; one recording at a time may silence it.
_silence = threading.Lock()


@dataclass(frozen=True)
class Arm:
    """A tube to record: name in the scene tree, motion, colour, and opacity where it is seen through."""

    name: str
    track: Track
    color: Color
    opacity: float | None = None


@dataclass(frozen=True)
class Curve:
    """A line to record: name in the scene tree, points [frame or 1, point, 3] [m], colour, width [m]."""

    name: str
    points: np.ndarray
    color: Color
    width: float


@dataclass(frozen=True)
class Swarm:
    """Copies of a small mesh to record: name in the scene tree, vertices and faces of the mesh, the copies by frame."""

    name: str
    mesh: tuple[np.ndarray, np.ndarray]
    frames: Sequence[Copies]


def record(
    arms: Sequence[Arm], curves: Sequence[Curve], swarms: Sequence[Swarm], sleeps: np.ndarray
) -> tuple[str, float]:
    """Return the HTML page that shows frame k for `sleeps[k]` seconds, and the size of its grid's cells [m]."""
    clouds = [framing.surroundings(arm.track) for arm in arms] + [curve.points.reshape(-1, 3) for curve in curves]
    lows = [framing.lowest(arm.track) for arm in arms] + [curve.points[..., 2].min() for curve in curves]
    view = framing.frame(np.concatenate(clouds), float(min(lows)))
    # Numbers that end in zero bits compress well: a step of 1/2^15 of the scene is finer than a pixel.
    step = 2.0 ** (np.floor(np.log2(view.size)) - 15)

    with _quiet_server() as server:
        _set_stage(server, view)
        skins = [_add_arm(server.scene, arm) for arm in arms]
        strips = [
            server.scene.add_line_segments(
                f"/lines/{curve.name}", _segments(curve.points[0], step), curve.color, thickness=curve.width
            )
            for curve in curves
        ]
        flocks = [_add_swarm(server.scene, swarm, step) for swarm in swarms]
        recorder = server.get_scene_serializer()
        # Nobody listens: `atomic` spares the server's thread from waking at each of many thousand messages.
        with server.atomic():
            for k, sleep in enumerate(sleeps):
                for arm, skin in zip(arms, skins, strict=True):
                    _pose(skin, arm.track, k, step)
                for curve, strip in zip(curves, strips, strict=True):
                    if k > 0 and len(curve.points) > 1:
                        strip.points = _segments(curve.points[k], step)
                for swarm, flock in zip(swarms, flocks, strict=True):
                    if k > 0:
                        _move(flock, swarm.frames[k], step)
                recorder.insert_sleep(float(sleep))
        return recorder.as_html(), view.grid


@contextlib.contextmanager
def _quiet_server() -> Iterator["ViserServer"]:
    """Run a viser server on a free local port, without a word, and stop it whatever happens."""
    try:
        import rich
        import viser
    except ImportError as error:
        raise ImportError("replays need viser: pip install 'hydrostat[view]'") from error
    console = rich.get_console()
    with _silence:
        was_quiet, console.quiet = console.quiet, True
        try:
            server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
            try:
                yield server
            finally:
                server.stop()
        finally:
            console.quiet = was_quiet


def _set_stage(server: "ViserServer", view: framing.Framing) -> None:
    """Place camera, lights and ground."""
    camera = server.initial_camera
    camera.fov = framing.FIELD_OF_VIEW
    camera.position = view.camera
    camera.look_at = view.look_at
    camera.near = view.size / 100

    # To viser's sun and sky add a lamp above the viewer's left shoulder. (A sky or sun of our own would be taken down
    # and put up again, visibly, whenever the player starts a new loop: it resets both, but not the scene's nodes.)
    back = (view.camera - view.look_at) / np.linalg.norm(view.camera - view.look_at)
    lamp = back + np.cross(back, [0.0, 0.0, 1.0]) + np.array([0.0, 0.0, 0.8])
    server.scene.add_light_directional("/lamp", color=(255, 240, 226), intensity=2.0, position=tuple(lamp))

    server.scene.add_grid(
        "/ground",
        position=(0.0, 0.0, view.ground),
        cell_size=view.grid,
        section_size=5 * view.grid,
        cell_color=(222, 226, 231),
        section_color=(196, 203, 211),
        infinite_grid=True,
        fade_distance=3 * view.size,
        fade_from="origin",
        fade_strength=1.0,
        shadow_opacity=0.35,
        plane_color=(247, 248, 250),
        plane_opacity=1.0,
    )


def _add_arm(scene: "SceneApi", arm: Arm) -> "MeshSkinnedHandle":
    """Add a skinned tube in its widest shape, one bone per node, or two where the radius changes with time.

    Bones cannot grow. But the mean of two that are turned by +phi and -phi about the tangent shrinks the section by
    cos(phi), so a node whose radius changes has two, and phi = acos(radius / widest radius). Of their positions too
    only the mean counts: the second bone stays at the origin, and the first goes twice as far.
    """
    stations, widest = arm.track.stations, arm.track.radii.max(axis=0)
    surface = tube_mesh(stations, widest)
    per_node = 1 if arm.track.steady else 2
    nodes = np.repeat(stations, per_node)[:, None] * np.array([0.0, 0.0, 1.0])
    skin = scene.add_mesh_skinned(
        f"/arms/{arm.name}",
        bind(surface.vertices),
        surface.faces,
        bone_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (len(nodes), 1)),
        bone_positions=bind(nodes),
        skin_weights=np.repeat(surface.weights / per_node, per_node, axis=1),
        color=arm.color,
        opacity=arm.opacity,
    )
    if not arm.track.steady:
        for bone in skin.bones[1::2]:
            bone.position = (0.0, 0.0, 0.0)
    return skin


def _pose(skin: "MeshSkinnedHandle", track: Track, frame: int, step: float) -> None:
    """Move the bones of a tube to where its nodes are in one frame."""
    wxyz, positions, carriers = track.wxyz[frame], track.positions[frame], skin.bones
    if not track.steady:
        half = np.arccos(np.clip(track.radii[frame] / track.radii.max(axis=0), 0, 1)) / 2
        wxyz = np.stack([_turned(wxyz, half), _turned(wxyz, -half)], axis=1).reshape(-1, 4)
        positions, carriers = 2 * positions, skin.bones[::2]
    for bone, orientation in zip(skin.bones, np.round(wxyz * 2**15) / 2**15, strict=True):
        bone.wxyz = orientation
    for bone, position in zip(carriers, np.round(positions / step) * step, strict=True):
        bone.position = position


def _rounded(copies: Copies, step: float) -> Copies:
    """Copies whose numbers end in zero bits."""
    wxyzs = (np.round(copies.wxyzs * 2**_TURN_BITS) / 2**_TURN_BITS).astype(np.float32)
    positions, scales = ((np.round(y / step) * step).astype(np.float32) for y in (copies.positions, copies.scales))
    # The shades of activation in sixteen steps are as many as are told apart.
    return Copies(positions, wxyzs, scales, copies.colors & 0xF8)


def _add_swarm(scene: "SceneApi", swarm: Swarm, step: float) -> "BatchedMeshHandle":
    """Add copies as they are in the first frame."""
    first = _rounded(swarm.frames[0], step)
    return scene.add_batched_meshes_simple(
        f"/marks/{swarm.name}",
        *swarm.mesh,
        first.wxyzs,
        first.positions,
        batched_scales=first.scales,
        batched_colors=first.colors,
        lod="off",
        cast_shadow=False,
    )


def _move(flock: "BatchedMeshHandle", copies: Copies, step: float) -> None:
    """Move copies to where they are in one frame."""
    found = _rounded(copies, step)
    flock.batched_positions, flock.batched_wxyzs, flock.batched_scales, flock.batched_colors = found


def _turned(wxyz: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Multiply quaternions [node, 4] by turns of twice `half` [node] about their own z."""
    w, x, y, z = wxyz.T
    c, s = np.cos(half), np.sin(half)
    return np.stack([w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s], axis=-1)


def _segments(points: np.ndarray, step: float) -> np.ndarray:
    """Return the pieces [piece, 2, 3] of a polyline [point, 3], rounded to `step`."""
    points = (np.round(points / step) * step).astype(np.float32)
    return np.stack([points[:-1], points[1:]], axis=1)
