"""The live page in a real browser: it plays, and what is done in it happens to the simulated arm."""

import io
import threading
import time

import numpy as np
import pytest
from PIL import Image

from chromium import drag_up, open_page, until

pytestmark = pytest.mark.browser
WIDTH, HEIGHT = 1240, 560


@pytest.fixture(scope="module")
def live(arm_session, browser):
    from hydrostat.live import LivePage, open_server

    arm_session.reset()
    server = open_server(port=0)
    shown = LivePage(server, arm_session, "bending arm", playing=False)
    thread = threading.Thread(target=shown.run, daemon=True)
    thread.start()
    page, log = open_page(browser, f"http://localhost:{server.get_port()}", WIDTH, HEIGHT)
    yield page, log, shown
    shown.stop()
    thread.join(10.0)
    page.close()
    server.stop()


def wait_for_pictures(shown, count: int) -> None:
    """Wait until some pictures have been made that were begun from now on."""
    pictures = shown.pictures
    until(lambda: shown.pictures > pictures + count)


def test_play_lets_time_pass_and_pause_stops_it(live):
    page, _, shown = live
    running = shown.session.running
    assert running.time == 0.0
    page.get_by_role("button", name="Play", exact=True).click()
    until(lambda: running.time > 0.2)
    page.get_by_role("button", name="Pause", exact=True).click()
    until(lambda: not shown.play.playing)
    wait_for_pictures(shown, 2)  # the one that is being made when it pauses still goes on
    now = running.time
    wait_for_pictures(shown, 3)
    assert running.time == now
    page.get_by_role("button", name="Step", exact=True).click()
    until(lambda: running.time > now)


def test_a_handle_pulls_the_tip_to_its_place(live):
    page, _, shown = live
    session, touch = shown.session, shown.touch
    page.get_by_role("button", name="Step", exact=True).click()
    until(lambda: session.running.time > 0.0)
    page.get_by_role("button", name="Reset", exact=True).click()
    until(lambda: session.running.time == 0.0)
    wait_for_pictures(shown, 2)
    page.get_by_label("hold the arm").check()
    until(lambda: touch.handle.visible)
    start = np.array(touch.handle.position)
    np.testing.assert_allclose(start, session.node_position(session.node_of(0, 1.0)), atol=1e-6)
    # Grab the arrow that points up once it is seen, and pull it up.
    size = 0.22 * shown.stage.framing.size
    drag_up(page, shown.server, start, size)
    until(lambda: touch.handle.position[2] - start[2] > 0.15 * size)
    np.testing.assert_allclose(touch.handle.position[:2], start[:2], atol=1e-3)
    # A stiff hand, and time: the tip is where the handle is.
    page.get_by_label("spring [N/m]").fill("200")
    page.keyboard.press("Enter")
    until(lambda: float(session.system.surroundings[-1].stiffness) == 200.0)
    page.get_by_role("button", name="Play", exact=True).click()
    until(lambda: np.linalg.norm(session.node_position(session.node_of(0, 1.0)) - touch.handle.position) < 2e-3)
    page.get_by_role("button", name="Pause", exact=True).click()
    page.get_by_label("hold the arm").uncheck()
    until(lambda: not np.any(session.push_force()))


def test_a_slider_turns_the_current_on(live):
    page, _, shown = live
    # The page's camera listens to arrow keys as well: the tests that need it in its place come before, or put it back.
    thumb = page.locator("[role=slider]").nth(1)  # after that of the place along the arm
    thumb.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    until(lambda: np.linalg.norm(shown.session.system.surroundings[0].current) == pytest.approx(0.05))
    thumb.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    until(lambda: not np.any(np.asarray(shown.session.system.surroundings[0].current)))


def test_the_screenshot_shows_the_arm_and_the_page_turns_dark(live):
    page, _, shown = live
    page.get_by_text("start", exact=True).click()
    page.get_by_role("checkbox", name="dark", exact=True).check()
    until(lambda: shown.stage.dark)
    button = page.get_by_role("button", name="Screenshot")
    button.scroll_into_view_if_needed()
    with page.expect_download() as download:
        button.click()
    with open(download.value.path(), "rb") as file:
        image = np.asarray(Image.open(io.BytesIO(file.read())).convert("RGB"), int)
    assert image.shape[0] > 300
    arm = image[..., 0] - image[..., 2] > 40
    assert 0.001 < arm.mean() < 0.5


def test_reset_and_camera(live):
    page, _, shown = live
    client = next(iter(shown.server.get_clients().values()))
    page.get_by_text("above", exact=True).click()
    until(lambda: client.camera.position[2] > 0.8 * np.linalg.norm(client.camera.position - client.camera.look_at))
    page.get_by_role("button", name="Reset", exact=True).click()
    until(lambda: shown.session.running.time == 0.0)


def test_a_browser_that_draws_by_the_processor_gets_light_detail(live):
    page, _, shown = live
    until(lambda: shown.watchers.light == 1)
    page.get_by_text("light detail").wait_for()
    canvas = "[...document.querySelectorAll('canvas')].sort((a, b) => b.width * b.height - a.width * a.height)[0]"
    assert page.evaluate(f"{canvas}.getContext('webgl2').getContextAttributes().antialias") is False
    shown.watchers.set_detail("full")
    assert shown.watchers.light == 0
    page.get_by_text("light detail").wait_for(state="detached")
    shown.watchers.set_detail("automatic")
    until(lambda: shown.watchers.light == 1)


def test_no_more_pictures_are_sent_than_the_page_draws(live, monkeypatch):
    page, _, shown = live
    # A page that is busy for a while draws nothing: it is sent what was under way, and no more.
    # (However slow the machine is, the page counts as one that answers, once it has caught up with what was before.)
    monkeypatch.setattr(shown.watchers, "patience", 60.0)
    until(lambda: shown.watchers.under_way <= 1)
    page.evaluate("() => { setTimeout(() => { const begun = Date.now(); while (Date.now() - begun < 500) {} }, 0); }")
    begin, most = time.perf_counter(), 0
    while time.perf_counter() - begin < 0.4:
        most = max(most, shown.watchers.under_way)
        time.sleep(0.01)
    assert 1 <= most <= 2
    before = shown.pictures
    until(lambda: shown.pictures > before + 3)


def test_no_error_and_no_request_off_the_machine(live):
    _, log, _ = live
    assert not log["errors"]
    local = ("http://localhost:", "ws://localhost:", "data:", "blob:")
    assert [url for url in log["requests"] if not url.startswith(local)] == []
