"""Active muscles and suckers that hold something are seen in a saved replay, in a real browser."""

import io

import numpy as np
import pytest

from chromium import open_page, until
from hydrostat.viewer import Marks, Tube, colors, write_replay
from hydrostat.viewer.skin_marks import AlikeArms, Copies, disc, muscles_of, patch, suckers_of

SEGMENTS = 10
OBJECT = np.array([[0.8, 0.0, 0.6]])


def arm_along_x(activation=0.0, takes=0.0, holds=0.0) -> AlikeArms:
    """A straight arm of ten segments that lies along x."""
    positions = np.linspace([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], SEGMENTS + 1)[None]
    frame = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    rotations = np.broadcast_to(frame, (1, SEGMENTS + 1, 3, 3))
    muscles, ones = np.zeros((1, SEGMENTS, 5)), np.ones((1, SEGMENTS))
    muscles[:, : SEGMENTS // 2, :4] = activation
    # The suckers of the outer half.
    ones[:, : SEGMENTS // 2] = 0.0
    return AlikeArms(
        (0,), positions, rotations, np.full((1, SEGMENTS + 1), 0.06), (holds + takes) * ones, takes * ones, muscles, 1
    )


def marks_of(arm) -> list[Marks]:
    skin = np.array([(62, 128, 146)])
    return [
        Marks("muscles", patch(), lambda time: muscles_of(arm(time), skin), 80),
        Marks("suckers", disc(), lambda time: suckers_of(arm(time), OBJECT), 20),
    ]


def test_suckers_are_coloured_by_what_they_hold():
    shades = {
        tuple(own) for own in suckers_of(arm_along_x(holds=1.0), OBJECT).colors[SEGMENTS:].reshape(-1, 3).tolist()
    }
    assert shades == {tuple(colors.of_instances(np.array(colors.HOLDS_GROUND)).tolist())}
    taken = suckers_of(arm_along_x(takes=1.0), OBJECT)
    assert tuple(taken.colors[-1].tolist()) == tuple(colors.of_instances(np.array(colors.HOLDS_OBJECT)).tolist())
    # They sit on the side of the arm that looks to the object.
    assert np.all(taken.positions[SEGMENTS:, 2] > 0.03)


def test_patches_are_those_of_active_muscles():
    found = muscles_of(arm_along_x(activation=0.5), np.array([(10, 20, 30)]))
    assert isinstance(found, Copies)
    bright = np.any(found.colors != found.colors[-1], axis=-1)
    assert np.count_nonzero(bright) == 4 * SEGMENTS // 2
    assert np.all(found.positions[bright, 0] < 0.5)


@pytest.mark.browser
def test_the_saved_page_shows_them_and_they_change_with_time(tmp_path, browser):
    from PIL import Image

    def arm(time):
        on = float(time < 1.0)
        return arm_along_x(activation=on, takes=on)

    path, times = tmp_path / "marks.html", np.linspace(0.0, 2.0, 5)
    still = arm_along_x()
    tube = Tube(
        "arm", np.repeat(still.positions, 5, 0), np.repeat(still.rotations, 5, 0), still.radii[0], (62, 128, 146)
    )
    write_replay(path, times, [tube], title="marks", marks=marks_of(arm))
    plain = tmp_path / "plain.html"
    write_replay(plain, times, [tube], title="plain")
    assert path.stat().st_size - plain.stat().st_size < 200_000
    page, log = open_page(browser, path.as_uri(), 640, 420)

    def seen(time: str) -> tuple[float, float]:
        """Shares of yellow and orange in the left half, where muscles are, and in the right, where suckers hold."""
        page.fill("input[inputmode=decimal]", time)
        page.wait_for_timeout(400)
        clip = {"x": 0, "y": 140, "width": 640, "height": 110}
        r, g, b = np.moveaxis(np.asarray(Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB"), int), -1, 0)
        bright = (r - b > 70) & (g - b > 40)
        return float(bright[:, :310].mean()), float(bright[:, 330:].mean())

    until(lambda: min(seen("0.2")) > 2e-3)
    until(lambda: max(seen("1.6")) < 3e-4)
    assert not log["errors"]
    assert [url for url in log["requests"] if not url.startswith(("file:", "data:", "blob:"))] == []
    page.close()
