"""The page in a real browser: it draws, it moves, it asks nobody for anything."""

import io

import numpy as np
import pytest

from chromium import open_page, until
from hydrostat.viewer import write_replay

pytestmark = pytest.mark.browser

# The part of the window where the arm is, away from captions, notices and the player's bar.
MIDDLE = {"x": 220, "y": 180, "width": 200, "height": 190}


@pytest.fixture(scope="module")
def page_and_log(tmp_path_factory, swing, browser):
    times, tubes, lines = swing()
    path = write_replay(tmp_path_factory.mktemp("replay") / "swing.html", times, tubes, lines, title="Swing")
    page, log = open_page(browser, path.as_uri())
    yield page, log
    page.close()


def picture(page) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(page.screenshot(clip=MIDDLE))).convert("RGB"), dtype=int)


def orange(image: np.ndarray) -> np.ndarray:
    """Where the arm is: much more red than blue."""
    return image[..., 0] - image[..., 2] > 50


def test_draws_an_arm_and_moves_it(page_and_log):
    page, log = page_and_log
    assert page.title() == "Swing"
    first = picture(page)
    assert np.ptp(first) > 100
    share = orange(first).mean()
    assert 0.02 < share < 0.5
    # At some moment the arm has swept a good part of its own width.
    until(lambda: np.mean(orange(picture(page)) != orange(first)) > 0.1 * share)
    assert not log["errors"]


@pytest.mark.slow
def test_orbiting_outlasts_the_loop(page_and_log):
    page, log = page_and_log

    def still_at_start() -> np.ndarray:
        # Typing a time pauses the player there.
        page.fill("input[inputmode=decimal]", "0.0")
        page.wait_for_timeout(1500)
        return picture(page)

    before = still_at_start()
    page.mouse.move(500, 200)
    page.mouse.down()
    page.mouse.move(420, 120, steps=5)
    page.mouse.up()
    turned = still_at_start()
    page.locator("body").click(position={"x": 600, "y": 20})
    page.keyboard.press("Space")
    page.wait_for_timeout(7000)  # more than one loop of 4.5 s
    after = still_at_start()
    assert np.mean(np.abs(turned - before)) > 3 * np.mean(np.abs(after - turned))
    assert not log["errors"]


def test_asks_nobody_for_anything(page_and_log):
    _, log = page_and_log
    outside = [url for url in log["requests"] if not url.startswith(("file:", "data:", "blob:"))]
    assert not outside
    assert sum(url.startswith("file:") for url in log["requests"]) == 1
