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
# Counts the pictures that are drawn: the tasks of the page in which WebGL is asked to draw anything. A message that is
# posted to itself then arrives after the picture has been handed on to be shown.
COUNT = """
window.drawn = {calls: 0, frames: 0, look: () => {}};
const after = new MessageChannel();
let begun = false;
after.port1.onmessage = () => { begun = false; drawn.frames += 1; drawn.look(); };
for (const name of ['drawElements', 'drawElementsInstanced', 'drawArrays', 'drawArraysInstanced']) {
  const draw = WebGL2RenderingContext.prototype[name];
  WebGL2RenderingContext.prototype[name] = function (...rest) {
    drawn.calls += 1;
    if (!begun) { begun = true; after.port2.postMessage(0); }
    return draw.apply(this, rest);
  };
}
"""
# Watches one pixel in the middle of the picture for the marker's colour, from a key on until it appears or disappears.
# It is read after all that is drawn in a picture, and reading it waits until it is drawn. Nothing is asked of the
# browser that it would not do for a user: no picture is drawn, and no frame is asked for, so as to look.
WATCH = """() => {
  const canvas = [...document.querySelectorAll('canvas')].sort((a, b) => b.width * b.height - a.width * a.height)[0];
  const gl = canvas.getContext('webgl2'), pixel = new Uint8Array(4);
  window.seen = {shown: null, changed: 0, pressed: 0, waits: true};
  window.addEventListener('keydown', event => {
    // By the time of the event itself, before this or any other listener has run.
    if (event.key === 'End' || event.key === 'Home') { seen.pressed = event.timeStamp; seen.waits = true; }
  }, true);
  drawn.look = () => {
    if (!seen.waits) return;
    const bound = gl.getParameter(gl.READ_FRAMEBUFFER_BINDING);
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, null);
    gl.readPixels(canvas.width >> 1, canvas.height >> 1, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, bound);
    const [r, g, b] = pixel;
    const shown = r - g > 80 && b - g > 80;
    if (shown !== seen.shown) { seen.shown = shown; seen.changed = performance.now(); seen.waits = false; }
  };
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
    waits = _add_marker(server, page)
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
        begun = _processors()
        latencies = [one for one in (_press(view) for _ in range(inputs)) if one is not None]
        ended = _processors()
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
        "input_to_picture_ms_p90": round(sorted(latencies)[int(0.9 * (len(latencies) - 1))], 1) if latencies else None,
        "input_to_picture_ms_worst": round(max(latencies), 1) if latencies else None,
        "processors_busy_meanwhile": round((ended["own"] - begun["own"]) / (ended["clock"] - begun["clock"]), 2),
        "processors_busy_with_others": round(
            (ended["all"] - ended["own"] - begun["all"] + begun["own"]) / (ended["clock"] - begun["clock"]), 2
        ),
        "input_to_step_ms_median": round(1e3 * statistics.median(waits), 1) if waits else None,
        "inputs": len(latencies),
        "memory_mb": [round(one["memory"] / 2**20) for one in each],
        "browser_memory_mb": [round(one["browser"] / 2**20) for one in each],
        "browser_heap_mb": [round(one["heap"] / 2**20) for one in each],
        "seconds": round(passed, 1),
        "load_average": round(os.getloadavg()[0], 1),
    }


def _add_marker(server, page) -> list[float]:
    """A marker in the middle of the picture, and a slider whose key moves it away or back.

    Returns the times from a key's arrival here to the step that it comes before, one for each key so far [s].
    """
    import numpy as np

    from hydrostat.viewer.rendering import ball

    # The marker is what an arm is to the page: a mesh whose vertices are streamed with each picture of the robot, so
    # that it is seen to move when an arm would be. What is hidden is made anew in the page when it is shown: the marker
    # is moved instead, to behind the camera.
    look_at, camera = page.stage.framing.look_at, page.stage.framing.camera
    sphere = ball(np.zeros(3), 0.06, (255, 0, 255), 12)
    faces = np.concatenate([sphere.faces[:, [0, 1, 2]], sphere.faces[:, [0, 2, 3]]]).astype(np.uint32)
    shapes = [(sphere.vertices + look_at + share * (camera - look_at)).astype(np.float32) for share in (1.5, 0.5)]
    marker = server.scene.add_mesh_simple("/marker", shapes[1], faces, color=(255, 0, 255))
    slider = server.gui.add_slider("marker", 0, 1000, 1, 0)
    waits: list[float] = []
    wanted, update = [1, 1], page.touch.update

    def with_marker(scene) -> None:
        update(scene)
        if wanted[0] != wanted[1]:
            wanted[1] = wanted[0]
            marker.vertices = shapes[wanted[0]]

    page.touch.update = with_marker

    def toggled(event) -> None:
        begun = time.perf_counter()

        def toggle() -> None:
            wanted[0] = len(waits) % 2
            waits.append(time.perf_counter() - begun)

        page.do(toggle)

    slider.on_update(toggled)
    return waits


def _press(view) -> float | None:
    """The time from a key to the picture that shows what it has done [ms]."""
    view.wait_for_function("window.seen.shown !== null")
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


def _processors() -> dict:
    """The time that all processors were busy so far, and with the page, its server and its browser alone [s]."""
    tick = os.sysconf("SC_CLK_TCK")
    own = 0.0
    for one in _descendants():
        with contextlib.suppress(OSError):
            fields = (one / "stat").read_text().rsplit(")", 1)[1].split()
            own += (int(fields[11]) + int(fields[12])) / tick
    user, nice, system, _, _, *rest = (int(one) for one in Path("/proc/stat").read_text().split("\n")[0].split()[1:])
    return {"clock": time.perf_counter(), "all": (user + nice + system + rest[0] + rest[1]) / tick, "own": own}


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
