"""Screenshots of live pages for the documentation: python docs/screenshots.py [NAME ...]

Each is a scenario that runs live in a real browser (Debian's chromium by Playwright) for some seconds. Look at them
before they are committed.
"""

import os
import sys
import threading
import time
from pathlib import Path

FOLDER = Path(__file__).parent / "assets"
CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]  # fmt: skip
FADED_IN = "[...document.querySelectorAll('canvas')].some(canvas => canvas.style.opacity === '1')"
PAGES = {
    "view-octopus": ("octopus-crawl", {"strokes": 200, "gait": "alternate", "current_m_s": 0.05}, 4.6, 0.55, False),
    "view-tracking": ("track-dynamics", {}, 4.0, 0.9, True),
}
"""Scenario, its settings, the simulated time of the picture [s], how near the camera is, and whether it is dark."""


def take(name: str) -> None:
    """Take one of the screenshots."""
    from playwright.sync_api import sync_playwright

    from hydrostat.live import LivePage, LiveSession, open_server
    from hydrostat.scenarios.live_motions import live_motion

    scenario, settings, moment, near, dark = PAGES[name]
    session = LiveSession(live_motion(scenario, settings=settings))
    server = open_server(port=0)
    page = LivePage(server, session, scenario, dark=dark, playing=False)
    framing = page.stage.framing
    server.initial_camera.position = framing.look_at + near * (framing.camera - framing.look_at)
    threading.Thread(target=page.run, daemon=True).start()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        view = browser.new_page(viewport={"width": 1500, "height": 820})
        view.set_default_timeout(120_000)
        view.goto(f"http://localhost:{server.get_port()}")
        view.wait_for_function(FADED_IN)
        # Software rendering is the page's own remark, not the scene's.
        view.locator("text=Software WebGL rendering detected").locator("xpath=ancestor::*[@role='alert']").locator(
            "button"
        ).click()
        page.do(lambda: page.play.set_playing(True))
        while session.running.time < moment:
            time.sleep(0.005)
        page.do(lambda: page.play.set_playing(False))
        time.sleep(6.0)
        view.screenshot(path=str(FOLDER / f"{name}.png"))
        browser.close()
    page.stop()
    print(FOLDER / f"{name}.png")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or PAGES:
        take(chosen)
    os._exit(0)  # without waiting for threads of compiled code
