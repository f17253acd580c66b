"""Screenshots of live pages for the documentation: python docs/screenshots.py [NAME ...]

Each is a scenario that runs live in a real browser (Debian's chromium by Playwright) for some seconds, or a limb that
is driven over a poor link. Look at them before they are committed.
"""

import os
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "assets"
CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]  # fmt: skip
FADED_IN = "[...document.querySelectorAll('canvas')].some(canvas => canvas.style.opacity === '1')"
_CRAWL = {"strokes": 200, "gait": "alternate", "current_m_s": 0.05}
LIVE = {
    "view-octopus": ("octopus-crawl", _CRAWL, 4.6, 0.55, False, "full"),
    "view-octopus-light": ("octopus-crawl", _CRAWL, 4.6, 0.55, False, "light"),
    "view-suckers": ("octopus-crawl", {"strokes": 200}, 3.0, 0.3, False, "full"),
    "view-tracking": ("track-dynamics", {}, 4.0, 0.6, True, "full"),
    "view-squid": ("squid-swim", {}, 4.0, 0.9, True, "full"),
}
"""Scenario, its settings, the simulated time of the picture [s], how near the camera is, whether it is dark, detail."""
LOW = {"view-suckers": 0.12}
"""How high above what it looks at the camera is, over its distance, where it is not that of the page."""

TELEOP = "view-teleop"
"""The page of teleoperation: the squid's palpation arm over a poor link, its ghost late."""


@contextmanager
def opened(port: int):
    """A page in the browser, without its remark on software rendering."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        view = browser.new_page(viewport={"width": 1500, "height": 820})
        view.set_default_timeout(300_000)
        view.goto(f"http://localhost:{port}")
        view.wait_for_function(FADED_IN, polling=100)
        # Software rendering is the page's own remark, not the scene's.
        view.locator("text=Software WebGL rendering detected").locator("xpath=ancestor::*[@role='alert']").locator(
            "button"
        ).click()
        yield view
        browser.close()


def take(name: str) -> None:
    """Take one of the screenshots."""
    if name == TELEOP:
        take_teleop()
    else:
        take_live(name)
    print(FOLDER / f"{name}.png")


def take_teleop() -> None:
    """The tip is moved into the obstacle and aside, and the robot comes after it, late."""
    from hydrostat.teleoperation import Driving, LinkConditions

    with Driving("squid", LinkConditions(delay=1.5, jitter=0.1, loss=0.1, bandwidth=20e3), page_port=0) as driving:
        begin, taken = time.monotonic(), threading.Event()

        def work() -> None:
            with opened(driving.page.port) as view:
                driving.page.watchers.set_detail("full")
                driving.device.move_to(driving.device.start + np.array([0.0, 0.10, 0.09]))
                time.sleep(8.0)
                driving.device.move_to(driving.device.start + np.array([0.0, 0.11, 0.012]))
                time.sleep(8.0)
                view.get_by_role("button", name="Look at the tip").click()
                time.sleep(8.0)
                # The hand goes on, and the robot has not heard of it.
                driving.device.move_to(driving.device.start + np.array([-0.02, -0.03, 0.05]))
                time.sleep(1.5)
                view.screenshot(path=str(FOLDER / f"{TELEOP}.png"))
            taken.set()

        threading.Thread(target=work, daemon=True).start()
        driving.run(until=lambda: taken.is_set() or time.monotonic() - begin > 600.0)
        if not taken.is_set():
            raise SystemExit(f"{TELEOP}: the picture was not taken within ten minutes")


def take_live(name: str) -> None:
    """A scenario that runs live."""
    from hydrostat.live import LivePage, LiveSession, open_server
    from hydrostat.scenarios.live_motions import live_motion

    scenario, settings, moment, near, dark, detail = LIVE[name]
    session = LiveSession(live_motion(scenario, settings=settings))
    server = open_server(port=0)
    page = LivePage(server, session, scenario, dark=dark, playing=False)
    framing = page.stage.framing
    away = near * (framing.camera - framing.look_at)
    if name in LOW:
        away[2] = LOW[name] * np.linalg.norm(away)
    server.initial_camera.position = framing.look_at + away
    page.watchers.set_detail(detail)
    threading.Thread(target=page.run, daemon=True).start()
    with opened(server.get_port()) as view:
        page.do(lambda: page.play.set_playing(True))
        while session.running.time < moment:
            time.sleep(0.005)
        page.do(lambda: page.play.set_playing(False))
        time.sleep(6.0)
        view.screenshot(path=str(FOLDER / f"{name}.png"))
    page.stop()


if __name__ == "__main__":
    for chosen in sys.argv[1:] or [*LIVE, TELEOP]:
        take(chosen)
    os._exit(0)  # without waiting for threads of compiled code
