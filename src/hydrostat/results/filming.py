"""Films of trajectories: MP4 files that play anywhere, drawn without a browser."""

import os
import subprocess
import tempfile
import warnings
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hydrostat import errors
from hydrostat.results.folders import PART
from hydrostat.results.platform_frame import PlatformFrame
from hydrostat.results.scene import DrawnArm, Scene, membrane_faces
from hydrostat.surroundings.shapes import Sphere
from hydrostat.viewer import colors
from hydrostat.viewer.framing import frame
from hydrostat.viewer.platform_marks import hoop, legs_of, rings_of, rod
from hydrostat.viewer.rendering import Renderer, Surface, ball, spheroid
from hydrostat.viewer.skin_marks import Copies, placed
from hydrostat.viewer.tubes import SIDES, tube_faces, tube_vertices

if TYPE_CHECKING:
    from hydrostat.results.trajectory import Trajectory


def film(
    trajectory: "Trajectory",
    path: str | os.PathLike[str],
    title: str | None = None,
    *,
    frames_per_second: int = 25,
    speed: float = 1.0,
    size: tuple[int, int] = (960, 540),
) -> Path:
    """Write the motion of a robot as an MP4 file (H.264): arms with the activation of their muscles, suckers that hold,
    legs and rings of platforms, the body, balls.

    **Arguments:** `speed`: simulated time over that of the film; `size`: width and height of the pictures [pixels],
    even numbers.
    """
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise ImportError("films need imageio-ffmpeg: pip install 'hydrostat[video]'") from error
    rate = errors.whole("frames_per_second", frames_per_second, least=1, most=240)
    speed = errors.number("speed", speed, above=0.0, most=1e6)
    width, height = (errors.whole("size", one, least=16, most=8192) // 2 * 2 for one in size)
    path = Path(path)
    if path.suffix.lower() != ".mp4":
        raise errors.InputError(f"`path` of a film must end in .mp4; got {str(path)!r}")
    time = np.asarray(trajectory.time, float)
    count = max(1, round((time[-1] - time[0]) / speed * rate) + 1)
    shown = np.minimum(time[0] + np.arange(count) * speed / rate, time[-1])
    scene = Scene.of(trajectory, np.clip(np.searchsorted(time, shown + 1e-9) - 1, 0, len(time) - 1))
    renderer = Renderer(_framing(scene), width, height)
    name = trajectory.system.robot.name if title is None else title
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{PART}{path.name}")
    pictures = (
        np.ascontiguousarray(renderer.draw(*surfaces_of(scene, row), f"{name} · {shown[row]:.2f} s"))
        for row in range(count)
    )
    try:
        _encode(imageio_ffmpeg.get_ffmpeg_exe(), part, pictures, (width, height), rate)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    part.replace(path)
    return path


def _encode(ffmpeg: str, path: Path, pictures: Iterable[np.ndarray], size: tuple[int, int], rate: int) -> None:
    """Have ffmpeg write pictures to a file; its own words where it could not write all of it."""
    taken = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", str(rate), "-i", "-"]
    made = ["-an", "-vcodec", "libx264", "-pix_fmt", "yuv420p", "-crf", "15"]
    command = [ffmpeg, "-y", "-v", "error", *taken, *made, str(path)]
    with tempfile.TemporaryFile() as said, warnings.catch_warnings():
        # Python warns of any child process beside JAX's threads; this one begins with a new program at once.
        warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called", category=RuntimeWarning)
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=said, start_new_session=True)
        assert process.stdin is not None
        try:
            with suppress(BrokenPipeError), process.stdin as sink:  # it has ended, and has said why
                for picture in pictures:
                    sink.write(picture)
            failed = process.wait() != 0
        finally:
            process.kill()
            process.wait()
        if failed:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines() or ["ffmpeg gave no reason"]
            raise OSError(f"the film {str(path)!r} could not be written: {lines[0]}")


def _framing(scene: Scene):
    """The camera that has the whole motion in the picture."""
    clouds = [arm.positions.reshape(-1, 3) for arm in scene.arms] + [scene.objects.reshape(-1, 3)]
    if scene.body is not None:
        clouds += [scene.body_centre + scene.body_extents * axis for axis in np.eye(3)]
    points = np.concatenate(clouds)
    low = float(points[:, 2].min()) if scene.ground is None else scene.ground
    return frame(points, low)


def surfaces_of(scene: Scene, row: int) -> tuple[list[Surface], np.ndarray]:
    """All surfaces of a row of a scene, and the places of suckers that hold (m, 3) [m]."""
    found, marks = [], [np.zeros((0, 3))]
    for i, arm in enumerate(scene.arms):
        if arm.frame is None:
            found.append(_tube(arm, row, colors.SKIN if len(scene.arms) > 4 else colors.ARMS[i % 4]))
        else:
            found += _legs_and_rings(arm, arm.frame, row)
        ends = slice(arm.per_segment, None, arm.per_segment)
        marks.append(arm.positions[row][ends][arm.holds[row] > 0.0])
    if scene.body is not None and scene.body_sizes.min() > 0.0:
        found.append(spheroid(scene.body_centre[row], scene.body_rotation[row], scene.body_sizes, colors.BODY))
    if scene.fins is not None:
        found.append(_membrane(scene.fins[row]))
    for place, radius in zip(scene.objects[row], scene.object_radii, strict=True):
        found.append(ball(place, float(radius), colors.PREY))
    for shape, shift in zip(scene.obstacles, scene.obstacle_shifts[row], strict=True):
        if isinstance(shape, Sphere):
            found.append(ball(np.asarray(shape.centre) + shift, float(shape.radius), colors.OBSTACLE))
    return found, np.concatenate(marks)


def _membrane(fins: np.ndarray) -> Surface:
    """The membranes between the rays of fins (sections, rays, 2, 3) [m], with both sides."""
    front = membrane_faces(fins)
    faces = np.concatenate([front, front[:, ::-1]])
    return Surface(fins.reshape(-1, 3), faces, np.broadcast_to(np.asarray(colors.FIN, float), (len(faces), 3)))


def _legs_and_rings(arm: DrawnArm, frame: PlatformFrame, row: int) -> list[Surface]:
    """A chain of platforms as its legs and its rings."""
    place = arm.positions[row], arm.rotations[row]
    rings = frame.rings(*place)
    kinds = (
        (rod(4), legs_of(frame.legs(*place), frame.radius.max()), colors.LEG),
        (hoop(16, 3), rings_of(rings.centres, rings.rotations, rings.radii), colors.RING),
    )
    return [_copies(*mesh, copies, color) for mesh, copies, color in kinds]


def _copies(vertices: np.ndarray, faces: np.ndarray, copies: Copies, color: tuple) -> Surface:
    """Copies of a small mesh as one surface of one colour."""
    count = len(copies.positions)
    every = (len(vertices) * np.arange(count)[:, None, None] + faces).reshape(-1, 3)
    shades = np.broadcast_to(np.asarray(color, float), (len(every), 3))
    return Surface(placed(vertices, copies).reshape(-1, 3), every, shades)


def _tube(arm: DrawnArm, row: int, skin: tuple) -> Surface:
    """An arm as a tube, the activation of its muscles as colour."""
    vertices = tube_vertices(arm.positions[row], arm.rotations[row], arm.radii[row])
    faces = tube_faces(arm.positions.shape[1])
    shades = np.broadcast_to(np.asarray(skin, float), (len(faces), 3)).copy()
    activation = arm.activation[row]
    if activation.shape[1] >= 5:
        # The wall's triangles come in two halves, each ring by ring; those of the rings before the tip have a segment.
        rings = arm.positions.shape[1] - 1
        share = np.sqrt(np.clip(np.repeat(activation, arm.per_segment, 0)[:rings], 0.0, 1.0))
        around = (np.arange(SIDES) + 0.5) / SIDES
        side = np.round(4.0 * around).astype(int) % 4
        strong = share[:, side]
        radial = np.broadcast_to(share[:, 4:5], strong.shape)
        mixed = colors.mixed(colors.mixed(skin, colors.RADIAL, radial), colors.LONGITUDINAL, strong)
        half = (len(faces) - 2 * SIDES) // 2
        for begin in (0, half):
            shades[begin : begin + rings * SIDES] = mixed.reshape(-1, 3)
    return Surface(vertices, faces, shades)
