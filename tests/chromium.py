"""Debian's chromium for the tests of pages: one browser for all of them, with WebGL in software.

Where there is none those tests say so and are skipped, except under CI=true, where that is a failure.
"""

import io
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

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
PATIENCE = 300_000  # ms: of a machine on which much else runs
# viser fades the picture in once the sky's light is loaded; before that its canvas has no opacity of its own.
FADED_IN = "[...document.querySelectorAll('canvas')].some(canvas => canvas.style.opacity === '1')"


def reason_for_no_browser() -> str | None:
    """Why there is no browser; None where there is one."""
    for module in ("viser", "playwright"):
        try:
            __import__(module)
        except ImportError:
            return f"needs {module}"
    return None if CHROMIUM.exists() else f"needs Debian's chromium at {CHROMIUM}"


@contextmanager
def browser() -> Iterator:
    """The browser; the test is skipped where there is none, or fails under CI=true."""
    reason = reason_for_no_browser()
    if reason is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"pages are not tested: {reason}")
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield found
        found.close()


def open_page(browser, address: str, width: int = 640, height: int = 480):
    """A page that is drawn, and a log of its requests and errors."""
    log: dict[str, list[str]] = {"requests": [], "errors": []}
    page = browser.new_page(viewport={"width": width, "height": height}, accept_downloads=True)
    page.set_default_timeout(PATIENCE)
    page.on("request", lambda request: log["requests"].append(request.url))
    page.on("websocket", lambda socket: log["requests"].append(socket.url))
    page.on("pageerror", lambda error: log["errors"].append(str(error)))
    page.on("console", lambda said: log["errors"].append(said.text) if said.type == "error" else None)
    page.goto(address)
    page.wait_for_selector("canvas")
    page.wait_for_function(FADED_IN, polling=100)  # not by frames, which a busy machine may leave out
    return page, log


def until(condition, seconds: float = 1e-3 * PATIENCE):
    """Wait for a condition."""
    begin = time.perf_counter()
    while not condition():
        assert time.perf_counter() - begin < seconds, "it did not happen"
        time.sleep(0.02)


def draw(page, pictures: int):
    """Wait until the page has drawn some pictures."""
    page.evaluate(
        "count => new Promise(done => { let n = 0;"
        " const next = () => ++n > count ? done() : requestAnimationFrame(next); next(); })",
        pictures,
    )


def color_at(page, place) -> np.ndarray:
    """The colours about a place in the window (81, 3)."""
    from PIL import Image

    clip = {"x": place[0] - 4, "y": place[1] - 4, "width": 9, "height": 9}
    return np.asarray(Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB"), int).reshape(-1, 3)


def blue(page, place) -> bool:
    """Whether there is something blue at a place in the window."""
    r, _, b = color_at(page, place).T
    return bool(np.any(b - r > 60))


def yellow(page, place) -> bool:
    """Whether there is something yellow at a place in the window."""
    r, g, b = color_at(page, place).T
    return bool(np.any((r - b > 60) & (g - b > 60)))


def pixel(page, client, point) -> np.ndarray:
    """Where a point of the world is seen in the window [pixels]."""
    canvas = max((one.bounding_box() for one in page.locator("canvas").all()), key=lambda box: box["height"])
    camera = client.camera
    w, x, y, z = camera.wxyz
    across = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])
    down = np.array([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)])
    away = np.asarray(point) - camera.position
    far = away @ np.cross(across, down)
    scale = 0.5 * camera.image_height / np.tan(0.5 * camera.fov) / far
    middle = [canvas["x"] + 0.5 * canvas["width"], canvas["y"] + 0.5 * canvas["height"]]
    return np.array(middle) + scale * np.array([away @ across, away @ down])


def drag_up(page, server, start, size: float) -> None:
    """Grab the arrow of a handle that points up, once it is seen and is yellow under the mouse, and pull it up.

    **Arguments:** `server`: viser's; `start`: where the handle is [m]; `size`: of the handle [m].
    """
    client = next(iter(server.get_clients().values()))

    def place(share: float) -> np.ndarray:
        return pixel(page, client, start + np.array([0, 0, share * size]))

    def is_under_the_mouse() -> bool:
        # The window may still settle, and the arrow with it: where it is is found anew each time.
        page.mouse.move(*place(0.35))
        draw(page, 2)
        return yellow(page, place(0.35))

    until(lambda: blue(page, place(0.35)))
    until(is_under_the_mouse)
    grab, goal = place(0.35), place(1.0)
    page.mouse.down()
    page.mouse.move(*(0.5 * (grab + goal)), steps=3)
    page.mouse.move(*goal, steps=3)
    draw(page, 4)
    page.mouse.up()
