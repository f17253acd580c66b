"""The live page while an octopus crawls: rate of its pictures, time from input to picture, memory.

    python benchmarks/viewer.py [--seconds 30] [--json]

A browser (Debian's chromium by Playwright, WebGL in software) shows the page. Time from input to picture is measured
in the browser: from a key's event to the first picture in which a marker that Python moves between two steps has come
or gone, with the octopus simulating all the while.
"""

import argparse
import contextlib
import json
import os
import resource
import statistics
import threading
import time
from pathlib import Path

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader", "--enable-precise-memory-info",
]  # fmt: skip
_MOMENTS = 10  # at which memory is looked at, after the first
FADED_IN = "[...document.querySelectorAll('canvas')].some(canvas => canvas.style.opacity === '1')"
# Counts the pictures that are drawn: those in which WebGL is asked to draw anything.
COUNT = """
window.drawn = {calls: 0, before: 0, frames: 0};
for (const name of ['drawElements', 'drawElementsInstanced', 'drawArrays', 'drawArraysInstanced']) {
  const draw = WebGL2RenderingContext.prototype[name];
  WebGL2RenderingContext.prototype[name] = function (...rest) { drawn.calls += 1; return draw.apply(this, rest); };
}
const count = () => {
  if (drawn.calls !== drawn.before) { drawn.before = drawn.calls; drawn.frames += 1; }
  requestAnimationFrame(count);
};
requestAnimationFrame(count);
"""
# Watches the middle of the picture for the marker's colour, from a key on until it appears or disappears. Pixels are
# read after all that is drawn in a frame, and reading them waits until it is drawn. (Read at all times they would hold
# up frames that nobody waits for.)
WATCH = """() => {
  const canvas = [...document.querySelectorAll('canvas')].sort((a, b) => b.width * b.height - a.width * a.height)[0];
  const small = document.createElement('canvas');
  small.width = small.height = 8;
  const context = small.getContext('2d', {willReadFrequently: true});
  const drawn = new MessageChannel();
  window.seen = {shown: true, changed: 0, pressed: 0, waits: true};
  window.addEventListener('keydown', event => {
    // By the time of the event itself, before this or any other listener has run.
    if (event.key === 'End' || event.key === 'Home') { seen.pressed = event.timeStamp; seen.waits = true; }
  }, true);
  drawn.port1.onmessage = () => {
    context.drawImage(canvas, 0.5 * canvas.width - 4, 0.5 * canvas.height - 4, 8, 8, 0, 0, 8, 8);
    const [r, g, b] = context.getImageData(4, 4, 1, 1).data;
    const shown = r - g > 80 && b - g > 80;
    if (shown !== seen.shown) { seen.shown = shown; seen.changed = performance.now(); seen.waits = false; }
  };
  const look = () => {
    if (seen.waits) drawn.port2.postMessage(0);
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="over which rate and memory are measured")
    parser.add_argument("--inputs", type=int, default=20, help="keys that are pressed")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report = measure(options.seconds, options.inputs)
    if options.json:
        print(json.dumps(report))
    else:
        for name, value in report.items():
            print(f"{name:<36} {value}")


def measure(seconds: float, inputs: int) -> dict:
    from playwright.sync_api import sync_playwright

    from hydrostat.live import LivePage, LiveSession, open_server
    from hydrostat.scenarios.live_motions import live_motion

    session = LiveSession(live_motion("octopus-crawl", settings={"strokes": 600, "gait": "alternate"}))
    session.running.advance(1)
    server = open_server(port=0)
    page = LivePage(server, session, "octopus-crawl")
    # What is hidden is made anew in the page when it is shown: the marker is moved instead, to behind the camera.
    look_at, camera = page.stage.framing.look_at, page.stage.framing.camera
    places = [look_at + share * (camera - look_at) for share in (1.5, 0.5)]
    marker = server.scene.add_icosphere("/marker", 0.06, color=(255, 0, 255), position=tuple(places[1]))
    slider = server.gui.add_slider("marker", 0, 1000, 1, 0)
    waits: list[float] = []

    def toggled(event) -> None:
        begun = time.perf_counter()

        def toggle() -> None:
            marker.position = places[len(waits) % 2]
            waits.append(time.perf_counter() - begun)

        page.do(toggle)

    slider.on_update(toggled)
    threading.Thread(target=page.run, daemon=True).start()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        view = browser.new_page(viewport={"width": 1000, "height": 420})
        view.set_default_timeout(120_000)
        view.add_init_script(COUNT)
        view.goto(f"http://localhost:{server.get_port()}")
        view.wait_for_selector("canvas")
        view.wait_for_function(FADED_IN)
        view.evaluate(WATCH)
        time.sleep(5.0)
        latencies = [one for one in (_press(view) for _ in range(inputs)) if one is not None]
        each = [_usage(view, page, session)]
        for _ in range(_MOMENTS):
            time.sleep(seconds / _MOMENTS)
            each.append(_usage(view, page, session))
        before, after = each[0], each[-1]
        browser.close()
    page.stop()
    passed = after["clock"] - before["clock"]
    return {
        "pictures_hz": round((after["pictures"] - before["pictures"]) / passed, 1),
        "browser_pictures_hz": round((after["frames"] - before["frames"]) / passed, 1),
        "simulated_over_clock": round((after["simulated"] - before["simulated"]) / passed, 2),
        "cpu_ms_per_picture": round(
            1e3 * (after["cpu"] - before["cpu"]) / max(after["pictures"] - before["pictures"], 1), 2
        ),
        "input_to_picture_ms_median": round(statistics.median(latencies), 1) if latencies else None,
        "input_to_picture_ms_worst": round(max(latencies), 1) if latencies else None,
        "input_to_step_ms_median": round(1e3 * statistics.median(waits), 1) if waits else None,
        "inputs": len(latencies),
        "memory_mb": [round(one["memory"] / 2**20) for one in each],
        "browser_memory_mb": [round(one["browser"] / 2**20) for one in each],
        "browser_heap_mb": [round(one["heap"] / 2**20) for one in each],
        "seconds": round(passed, 1),
        "load_average": round(os.getloadavg()[0], 1),
    }


def _press(view) -> float | None:
    """The time from a key to the picture that shows what it has done [ms]."""
    before = view.evaluate("window.seen.shown")
    view.locator("[role=slider]").last.focus()
    # Arrow keys would turn the camera as well.
    view.keyboard.press("End" if before else "Home")
    try:
        view.wait_for_function(f"window.seen.shown !== {str(before).lower()}", timeout=5_000)
    except Exception:
        return None
    found = view.evaluate("window.seen")
    time.sleep(0.4)
    return found["changed"] - found["pressed"]


def _usage(view, page, session) -> dict:
    """Counters, clocks and memory at a moment."""
    with open("/proc/self/statm") as file:
        resident = int(file.read().split()[1]) * resource.getpagesize()
    browser = [int((one / "statm").read_text().split()[1]) for one in _descendants()]
    return {
        "clock": time.perf_counter(),
        "cpu": time.process_time(),
        "pictures": page.pictures,
        "simulated": session.running.time,
        "frames": view.evaluate("window.drawn.frames"),
        "heap": view.evaluate("performance.memory ? performance.memory.usedJSHeapSize : 0"),
        "memory": resident,
        "browser": sum(browser) * resource.getpagesize(),
    }


def _descendants() -> list[Path]:
    """The folders in /proc of all processes that this one has started, and that these have."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    found, begun = [], [os.getpid()]
    while begun:
        more = children.get(begun.pop(), [])
        found += more
        begun += more
    return [Path(f"/proc/{number}") for number in found]


if __name__ == "__main__":
    main()
    os._exit(0)  # without waiting for threads of compiled code
