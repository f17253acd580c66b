"""Debian's chromium for the tests of pages: one browser for all of them, with WebGL in software.

Where there is none those tests say so and are skipped, except under CI=true, where that is a failure.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
    page.set_default_timeout(120_000)
    page.on("request", lambda request: log["requests"].append(request.url))
    page.on("websocket", lambda socket: log["requests"].append(socket.url))
    page.on("pageerror", lambda error: log["errors"].append(str(error)))
    page.on("console", lambda said: log["errors"].append(said.text) if said.type == "error" else None)
    page.goto(address)
    page.wait_for_selector("canvas")
    page.wait_for_function(FADED_IN)
    return page, log
