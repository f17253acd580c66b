"""Films and notebooks: the motion as files that play anywhere."""

import resource
import subprocess

import numpy as np
import pytest

import hydrostat as hs
from hydrostat.errors import InputError
from hydrostat.results.filming import surfaces_of
from hydrostat.results.scene import Scene
from hydrostat.viewer import colors
from hydrostat.viewer.framing import Framing
from hydrostat.viewer.rendering import Renderer, ball

LENGTH = 0.6


@pytest.fixture(scope="module")
def swing():
    """An arm that goes from bent to straight."""
    system = hs.System(hs.robots.octopus_arm())
    q = np.array(np.broadcast_to(np.asarray(system.rest().q), (13, 20, 3)))
    q[:, :, 0] = np.linspace(8.0, 0.0, 13)[:, None]
    found = hs.results.along_configurations(system, np.linspace(0.0, LENGTH, 13), q)
    activation = np.zeros((13, 20, 5))
    activation[:, 5, 2] = 1.0
    return hs.results.Trajectory.of_states(system, found.state._replace(activation=activation))


def test_a_film_has_its_length_and_its_pictures(swing, tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = swing.video(tmp_path / "film" / "swing.mp4", "swing", frames_per_second=10, speed=0.5, size=(160, 120))
    pictures = imageio_ffmpeg.read_frames(str(path))
    about = next(pictures)
    frames = [np.frombuffer(one, np.uint8).reshape(120, 160, 3).astype(int) for one in pictures]
    assert about["size"] == (160, 120)
    assert len(frames) == round(LENGTH / 0.5 * 10) + 1
    assert np.abs(frames[-1] - frames[0]).max() > 100
    assert not list(path.parent.glob("partial-*"))


def test_a_film_that_cannot_be_written_is_no_film(swing, tmp_path):
    """With a limit of 8 KB to every file: what ffmpeg leaves then is none that plays."""
    pytest.importorskip("imageio_ffmpeg")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, before[1]))
    try:
        with pytest.raises(OSError, match="could not be written: ") as caught:
            swing.video(tmp_path / "swing.mp4", "swing")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_film_needs_a_name_that_says_so(swing, tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    with pytest.raises(InputError, match=r"must end in \.mp4"):
        swing.video(tmp_path / "swing.avi")


def test_active_muscles_are_coloured_on_their_side(swing):
    (tube,), marks = surfaces_of(Scene.of(swing, [0]), 0)
    assert len(marks) == 0
    full = np.flatnonzero(np.all(tube.colors == colors.LONGITUDINAL, -1))
    centres = tube.vertices[tube.faces[full]].mean(1)
    arm = Scene.of(swing, [0]).arms[0]
    piece = slice(5 * arm.per_segment, 6 * arm.per_segment + 1)
    axis, frame = arm.positions[0, piece].mean(0), arm.rotations[0, piece].mean(0)
    # The third muscle is at 180 degrees: on the side of -x.
    assert np.all((centres - axis) @ frame[:, 0] < 0.0)
    assert len(full) > 0


def test_a_picture_is_in_perspective():
    view = Framing(np.array([0.0, -2.0, 0.0]), np.zeros(3), -1.0, 1.0, 0.1)
    renderer = Renderer(view, 200, 200)
    flat, far = renderer.project(np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.2], [0.1, 2.0, 0.2]]))
    np.testing.assert_allclose(flat[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(far, [2.0, 2.0, 4.0])
    np.testing.assert_allclose(flat[1], 2.0 * flat[2])
    image = renderer.draw([ball(np.zeros(3), 0.3, (200, 0, 0))], np.zeros((0, 3)), "").astype(int)
    red = image[..., 0] - image[..., 2] > 40
    # A ball of radius r at a distance d is seen under the angle asin(r / d).
    seen = np.sqrt(red.sum() / np.pi) / 100.0
    np.testing.assert_allclose(seen, np.tan(np.arcsin(0.15)) / np.tan(0.5 * np.radians(38.0)), rtol=0.03)


def test_a_notebook_gets_a_whole_page(swing):
    pytest.importorskip("viser")
    shown = swing.show(height=300)
    text = shown._repr_html_()
    assert text.startswith("<iframe srcdoc=")
    assert 'height="300"' in text
    assert text.count('"') < 20  # all others are escaped, or they would end the page
    assert "<title>" in shown.page


def test_ffmpeg_is_a_file_of_the_package():
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    done = subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-version"], capture_output=True, check=False)
    assert b"libx264" in done.stdout
