"""The operator's page in a real browser: slider and key move the tip in Python; the ghost is the robot."""

import threading
import time

import numpy as np
import pytest

from chromium import open_page

pytestmark = pytest.mark.browser


def until(condition, seconds: float = 200.0):
    """Wait for a condition."""
    begin = time.perf_counter()
    while not condition():
        assert time.perf_counter() - begin < seconds, "it did not happen"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def driven():
    """An operator's side with its page, and a robot's end that says where the robot is; both in threads."""
    from hydrostat.teleoperation import Endpoint, OperatorSide, PageDevice, Report, SimulatedLimb, TeleopPage, find_limb
    from hydrostat.teleoperation.messages import packed

    limb = SimulatedLimb(find_limb("squid", "camera"), faces=1)
    robot = Endpoint()
    device = PageDevice(limb.view.tip, 0.1)
    side = OperatorSide(limb, None, Endpoint(peer=("127.0.0.1", robot.port)), device, bandwidth=np.inf)
    page = TeleopPage(side, device, port=0, title="test")
    place, force = (packed(x, "<f4") for x in (limb.view.tip, [0.0, 0.0, 0.1]))
    said = Report(0, 100, place, force, place, packed(np.zeros(3)), packed(0.5 * limb.q), b"")
    stop, start = threading.Event(), time.monotonic()

    def work():
        while not stop.wait(0.005):
            now = time.monotonic() - start
            robot.poll(now)
            robot.send(said, now)
            side.tick(now)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield side, device, page
    stop.set()
    thread.join(10.0)
    page.close()


@pytest.fixture(scope="module")
def opened(driven, browser):
    page, log = open_page(browser, f"http://localhost:{driven[2].port}", 1000, 560)
    yield page, log
    page.close()


def test_a_slider_moves_the_tip(driven, opened):
    side, device, _ = driven
    page, _ = opened
    before = side.model.view.tip.copy()
    thumb = page.locator("[role=slider]").nth(1)
    thumb.focus()
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    until(lambda: abs(device.goal[1] - device.start[1] + 0.010) < 1e-6)
    until(lambda: np.linalg.norm(side.model.view.tip - device.goal) < 0.003)
    assert np.linalg.norm(side.model.view.tip - before) > 0.006


def test_a_key_moves_the_tip(driven, opened):
    side, device, _ = driven
    page, _ = opened
    before = device.goal
    page.mouse.click(60, 500)
    page.keyboard.press("j")
    until(lambda: device.goal[1] > before[1] + 0.004)
    until(lambda: np.linalg.norm(side.model.view.tip - device.goal) < 0.003)


def test_the_ghost_is_the_robot_and_its_force_is_shown(driven, opened):
    side, _, shown = driven
    page, log = opened
    until(lambda: side.report is not None)
    drawn = shown.ghost.scene.arms[0].positions[0]
    assert np.linalg.norm(drawn[-1] - shown.model.scene.arms[0].positions[0][-1]) > 0.01
    page.get_by_text("robot 100 mN").wait_for()
    page.get_by_text("alive").wait_for()
    assert np.ptp(np.frombuffer(page.screenshot(), np.uint8)) > 100
    assert log["errors"] == []
    hosts = {
        address.split("/")[2].split(":")[0] for address in log["requests"] if not address.startswith(("data:", "blob:"))
    }
    assert hosts <= {"localhost", "127.0.0.1"}
