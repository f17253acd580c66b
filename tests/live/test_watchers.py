"""Pages that watch: who is waited for, and who is drawn with less detail."""

import json
import threading
import time

import pytest

from chromium import until
from hydrostat.live.served_page import REPORT, with_script
from hydrostat.live.watchers import Watchers


class Page:
    """A page by numbers: it answers with its report when it is let."""

    def __init__(self, number: int, report: str):
        self.client_id, self.report = number, report
        self.open, self.said = threading.Event(), []
        self.local_storage = self.scene = self

    def get_item(self, key, timeout):
        assert key == REPORT
        if not self.open.wait(timeout):
            raise TimeoutError
        return self.report

    def __getattr__(self, name):
        return lambda *values, **named: self.said.append((name, values, named)) or _Nothing()


class _Nothing:
    def __enter__(self):
        return self

    def __exit__(self, *rest):
        return None


class Server:
    def on_client_connect(self, call):
        self.connect = call

    def on_client_disconnect(self, call):
        self.disconnect = call


@pytest.fixture
def server():
    return Server()


def test_a_page_that_has_not_answered_is_waited_for_but_not_for_ever(server):
    watchers, page = Watchers(server), Page(1, "{}")
    server.connect(page)
    sent = 0
    while watchers.ready():
        watchers.sent()
        sent += 1
    assert sent == 2
    # What a user has done is not to wait for its turn.
    assert watchers.ready(ahead=True)
    begin = time.monotonic()
    until(watchers.ready, 10.0)
    assert 0.5 < time.monotonic() - begin < 5.0
    page.open.set()
    for _ in range(20):
        until(watchers.ready, 10.0)
        watchers.sent()
    server.disconnect(page)
    for _ in range(10):
        watchers.sent()
    assert watchers.ready()


def test_who_waits_for_a_page_is_told_when_it_has_drawn(server):
    told = threading.Event()
    watchers, page = Watchers(server, told.set), Page(1, "{}")
    server.connect(page)
    while watchers.ready():
        watchers.sent()
    assert not told.is_set()
    page.open.set()
    assert told.wait(10.0)
    server.disconnect(page)


def test_muscles_and_suckers_are_light_where_all_pages_are(server):
    watchers = Watchers(server)
    assert not watchers.all_light
    pages = [Page(1, json.dumps({"software": True})), Page(2, json.dumps({"software": False}))]
    for page in pages:
        page.open.set()
        server.connect(page)
    watchers.sent()
    until(lambda: watchers.light == 1, 10.0)
    assert not watchers.all_light
    server.disconnect(pages[1])
    assert watchers.all_light
    server.disconnect(pages[0])


@pytest.mark.parametrize(
    ("report", "light"),
    [({"software": True, "frame_ms": 16}, True), ({"software": False, "frame_ms": 16}, False),
     ({"software": False, "frame_ms": 60}, True)],
)  # fmt: skip
def test_pages_that_draw_slowly_get_less_detail(server, report, light):
    watchers, page = Watchers(server), Page(1, json.dumps(report))
    page.open.set()
    server.connect(page)
    for _ in range(60):
        until(watchers.ready, 10.0)
        watchers.sent()
        time.sleep(0.002)
    if light:
        until(lambda: watchers.light == 1, 10.0)
        assert ("configure_default_lights", (True,), {"cast_shadow": False}) in page.said
    assert watchers.light == int(light)
    watchers.set_detail("full")
    assert watchers.light == 0
    watchers.set_detail("light")
    assert watchers.light == 1
    server.disconnect(page)


@pytest.mark.parametrize("report", ["", "[]", "no", "null", '{"frame_ms": "x"}', '{"frame_ms": []}'])
def test_reports_that_make_no_sense_are_answers_all_the_same(server, report):
    watchers, page = Watchers(server), Page(1, report)
    page.open.set()
    server.connect(page)
    for _ in range(8):
        until(watchers.ready, 10.0)
        watchers.sent()
    assert watchers.light == 0
    server.disconnect(page)


def test_the_script_comes_before_all_that_a_page_loads():
    page = with_script("<html><head><script>theirs</script></head><body></body></html>")
    assert page.index("hydrostat") < page.index("theirs")
