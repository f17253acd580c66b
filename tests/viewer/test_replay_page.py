"""The page in a real browser: it draws, it moves, it asks nobody for anything."""

import io
import itertools
from pathlib import Path

import numpy as np
import pytest

from hydrostat.viewer import write_replay

pytest.importorskip("viser")
playwright = pytest.importorskip("playwright.sync_api")

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Debian's chromium"),
]

# The part of the window where the arm is, away from captions, notices and the player's bar.
MIDDLE = {"x": 220, "y": 180, "width": 200, "height": 190}
# viser fades the picture in once the sky's light is loaded; before that its canvas has no opacity of its own.
FADED_IN = "[...document.querySelectorAll('canvas')].some(canvas => canvas.style.opacity === '1')"


@pytest.fixture(scope="module")
def page_and_log(tmp_path_factory, swing):
    times, tubes, lines = swing()
    path = write_replay(tmp_path_factory.mktemp("replay") / "swing.html", times, tubes, lines, title="Swing")
    log = {"requests": [], "errors": []}
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        page = browser.new_page(viewport={"width": 640, "height": 480})
        page.set_default_timeout(120_000)
        page.on("request", lambda request: log["requests"].append(request.url))
        page.on("pageerror", lambda error: log["errors"].append(str(error)))
        page.on("console", lambda said: log["errors"].append(said.text) if said.type == "error" else None)
        page.goto(path.as_uri())
        page.wait_for_selector("canvas")
        page.wait_for_function(FADED_IN)
        yield page, log
        browser.close()


def picture(page) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(page.screenshot(clip=MIDDLE))).convert("RGB"), dtype=int)


def orange(image: np.ndarray) -> np.ndarray:
    """Where the arm is: much more red than blue."""
    return image[..., 0] - image[..., 2] > 50


def test_draws_an_arm_and_moves_it(page_and_log):
    page, log = page_and_log
    assert page.title() == "Swing"
    pictures = [picture(page)]
    for _ in range(5):
        page.wait_for_timeout(700)
        pictures.append(picture(page))
    assert all(np.ptp(image) > 100 for image in pictures)
    share = [orange(image).mean() for image in pictures]
    assert min(share) > 0.02
    assert max(share) < 0.5
    # Between at least two of the moments the arm has swept a good part of its own width.
    swept = max(np.mean(orange(a) != orange(b)) for a, b in itertools.pairwise(pictures))
    assert swept > 0.1 * min(share)
    assert not log["errors"]


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
