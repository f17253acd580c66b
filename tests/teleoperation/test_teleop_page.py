"""The operator's page in a real browser: gizmo, slider and key move the tip in Python; the ghost is the robot, and the
camera arm looks on."""

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from chromium import drag_up, open_page, until

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def driven():
    """An operator's side with its page, and a robot's end that says where the robot is; both in threads."""
    from hydrostat.teleoperation import Endpoint, OperatorSide, PageDevice, Report, SimulatedLimb, TeleopPage, find_limb
    from hydrostat.teleoperation.messages import packed

    limb = SimulatedLimb(find_limb("squid", "light"), faces=1, balls=1)
    robot = Endpoint()
    device = PageDevice(limb.view.tip, 0.1)
    side = OperatorSide(limb, None, Endpoint(peer=("127.0.0.1", robot.port)), device, bandwidth=np.inf)
    page = TeleopPage(side, device, port=0, title="test")
    place, force = (packed(x, "<f4") for x in (limb.view.tip, [0.0, 0.0, 0.1]))
    said = Report(0, 100, place, force, place, packed(np.zeros(3)), packed(0.5 * limb.q), b"")
    page.says = []  # what the robot says once, besides
    stop, ticking, start = threading.Event(), threading.Lock(), time.monotonic()

    def work():
        while not stop.wait(0.005):
            with ticking:
                now = time.monotonic() - start
                robot.poll(now)
                robot.send(said, now)
                while page.says:
                    robot.send(page.says.pop(), now)
                side.tick(now)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield side, device, page, ticking
    stop.set()
    thread.join(10.0)
    page.close()


@pytest.fixture(scope="module")
def opened(driven, browser):
    page, log = open_page(browser, f"http://localhost:{driven[2].port}", 1000, 560)
    yield page, log
    page.close()


def test_the_gizmo_is_dragged_and_the_tip_comes_after(driven, opened):
    side, device, shown, _ = driven
    page, _ = opened
    start, size = device.goal, 0.2 * side.model.limb.length
    drag_up(page, shown.server, start, size)
    until(lambda: device.goal[2] - start[2] > 0.02)
    np.testing.assert_allclose(device.goal[:2], start[:2], atol=1e-3)
    until(lambda: np.linalg.norm(side.model.view.tip - device.goal) < 0.003)
    until(lambda: np.allclose(shown.gizmo.position, device.goal, atol=1e-6))
    page.get_by_role("button", name="Home").click()
    until(lambda: np.allclose(device.goal, device.start))


def test_the_camera_arm_sees_the_tip(driven, opened):
    side, device, shown, ticking = driven
    page, _ = opened
    until(lambda: np.linalg.norm(side.model.view.tip - device.goal) < 0.01)
    # From another test the tip still swings through its goal, and the camera points at where it was when asked to:
    # nothing moves while this looks.
    with ticking:
        tip, pose = side.model.view.tip, shown.onlookers.each["camera"].pose
        page.get_by_role("button", name="Look at the tip").click()
        until(lambda: shown.onlookers.each["camera"].pose is not pose)
        # The tip is in the middle of the picture, and it is not of the colour of the water.
        view = shown.camera_view().astype(int)
        pose = shown.onlookers.each["camera"].pose
    away = tip - np.asarray(pose.position)
    # It is to be some way off as well: within a tenth of the field of view the tip is in the middle.
    assert np.arccos(away @ np.asarray(pose.rotation)[:, 2] / np.linalg.norm(away)) < np.deg2rad(6.0)
    height, width, _ = view.shape
    assert np.any(view[height // 2 - 12 : height // 2 + 12, width // 2 - 12 : width // 2 + 12, 0] > 80)
    assert view[2, 2, 0] < 60
    page.get_by_alt_text("view of the camera arm").wait_for()


def test_a_slider_moves_the_tip(driven, opened):
    side, device, *_ = driven
    page, _ = opened
    before = side.model.view.tip.copy()
    thumb = page.locator("[role=slider]").nth(1)
    thumb.focus()
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    until(lambda: abs(device.goal[1] - device.start[1] + 0.010) < 1e-6)
    until(lambda: np.linalg.norm(side.model.view.tip - device.goal) < 0.003)
    assert np.linalg.norm(side.model.view.tip - before) > 0.006


def test_a_slider_that_moves_on_is_not_put_back(driven, monkeypatch):
    """The page draws while a slider's place is on its way to the device, and the slider has been moved further."""
    _, device, shown, _ = driven
    slider, move_to = shown.sliders[0], device.move_to
    event = SimpleNamespace(client="operator")

    def slowly(place):
        move_to(place)
        slider._impl.value = 2.0
        drawing.start()
        drawing.join(0.3)

    drawing = threading.Thread(target=shown._show_inputs)
    monkeypatch.setattr(device, "move_to", slowly)
    slider._impl.value = 1.0
    shown._slid(event)
    monkeypatch.undo()
    drawing.join()
    assert slider.value == 2.0
    shown._slid(event)
    assert device.goal[0] - device.start[0] == pytest.approx(2e-3)
    slider.value = 0.0
    shown._slid(event)


def test_a_key_moves_the_tip(driven, opened):
    side, device, *_ = driven
    page, _ = opened
    before = device.goal
    page.mouse.click(60, 500)
    page.keyboard.press("j")
    until(lambda: device.goal[1] > before[1] + 0.004)
    until(lambda: np.linalg.norm(side.model.view.tip - device.goal) < 0.003)


def test_the_ghost_is_the_robot_and_its_force_is_shown(driven, opened):
    side, _, shown, _ = driven
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


def test_a_ball_that_the_robot_sees_is_shown_and_felt(driven, opened):
    from hydrostat.teleoperation import Ball
    from hydrostat.teleoperation.messages import packed

    side, device, shown, _ = driven
    page, _ = opened
    device.move_to(device.start)
    until(lambda: np.linalg.norm(side.model.view.tip - device.start) < 0.003)
    # Below the tip, and some millimetres into it.
    centre, radius = device.start - [0.0, 0.0, 0.025], 0.02
    shown.says.append(Ball(0, packed([*centre, radius], "<f4")))
    until(lambda: side.model.view.force[2] > 0.01)
    until(lambda: 0 in shown._balls)
    np.testing.assert_allclose(shown._balls[0].position, centre, atol=1e-6)
    page.get_by_text("ball 1: radius 20 mm").wait_for()


def test_a_gamepad_of_the_browser_moves_the_tip(driven, browser):
    # Headless browsers have no gamepads: a virtual one is put where the page looks for them.
    _, device, shown, _ = driven
    pad = "window.pad = {id: 'virtual pad', index: 0, connected: true, axes: [0, 0, 0, 0], buttons: []};"
    page = browser.new_page(viewport={"width": 800, "height": 500})
    page.add_init_script(pad + "navigator.getGamepads = () => [null, window.pad];")
    page.goto(f"http://127.0.0.1:{shown.gamepads.port}/")
    page.get_by_text("gamepad: virtual pad").wait_for()
    device.move_to(device.start)
    until(lambda: np.allclose(device.goal, device.start))
    before = device.goal
    page.evaluate("window.pad.axes = [0, -1, 0, 0]")
    until(lambda: device.goal[1] > before[1] + 0.01)
    np.testing.assert_allclose(device.goal[[0, 2]], before[[0, 2]], atol=1e-9)
    page.evaluate("window.pad.axes = [0.05, 0.05, 0, 0]")  # a stick at rest is not quite in the middle

    def rests():
        goal = device.goal
        time.sleep(0.5)
        return np.array_equal(device.goal, goal)

    until(rests)
    page.close()
