"""Pages that watch: who is waited for, and who is drawn with less detail."""

import json
import stat
import threading

import pytest

from chromium import until
from hydrostat.live.served_page import REPORT, copied, remove_folders, with_script
from hydrostat.live.watchers import PATIENCE, Watchers


class Page:
    """A page by numbers: it answers with its report when it is let."""

    def __init__(self, number: int, report: str):
        self.client_id, self.report, self.asked = number, report, 0
        self.open, self.said = threading.Event(), []
        self.local_storage = self.scene = self

    def get_item(self, key, timeout):
        assert key == REPORT
        if not self.open.wait(timeout):
            raise TimeoutError
        self.asked += 1
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


def send_while_ready(watchers):
    """The number of pictures that are sent until pages are waited for, or ten."""
    for sent in range(10):
        if not watchers.ready():
            return sent
        watchers.sent()
    return 10


def test_a_page_that_has_not_answered_is_waited_for_but_not_for_ever(server):
    watchers, page = Watchers(server), Page(1, "{}")
    assert watchers.patience == PATIENCE
    watchers.patience = 1e3
    server.connect(page)
    assert send_while_ready(watchers) == 2
    # What a user has done is not to wait for its turn.
    assert watchers.ready(ahead=True)
    assert not watchers.ready()
    watchers.patience = 0.0
    assert watchers.ready()
    watchers.patience = 1e3
    page.open.set()
    for _ in range(20):
        until(watchers.ready)
        watchers.sent()
    server.disconnect(page)
    for _ in range(10):
        watchers.sent()
    assert watchers.ready()


def test_who_waits_for_a_page_is_told_when_it_has_drawn(server):
    told = threading.Event()
    watchers, page = Watchers(server, told.set), Page(1, "{}")
    watchers.patience = 1e3
    server.connect(page)
    assert send_while_ready(watchers) == 2
    assert not told.is_set()
    page.open.set()
    assert told.wait(200.0)
    server.disconnect(page)


def test_who_does_something_is_told_of_the_next_picture_that_is_drawn(server):
    told = threading.Event()
    watchers, page = Watchers(server, told.set), Page(1, "{}")
    server.connect(page)
    watchers.sent(tell=True)
    assert not told.is_set()
    page.open.set()
    assert told.wait(200.0)
    server.disconnect(page)


def test_a_slow_page_does_not_hold_up_a_fast_one(server):
    watchers = Watchers(server)
    watchers.patience = 1e3
    fast, slow = Page(1, "{}"), Page(2, "{}")
    fast.open.set()
    for page in (fast, slow):
        server.connect(page)
    for _ in range(20):
        until(watchers.ready)
        watchers.sent()
    assert watchers.under_way == 20
    # When the fast one has gone, the slow one is waited for.
    server.disconnect(fast)
    assert not watchers.ready()
    slow.open.set()
    until(watchers.ready)
    server.disconnect(slow)


def test_muscles_and_suckers_are_light_where_all_pages_are(server):
    watchers = Watchers(server)
    assert not watchers.all_light
    pages = [Page(1, json.dumps({"software": True})), Page(2, json.dumps({"software": False}))]
    for page in pages:
        page.open.set()
        server.connect(page)
    watchers.sent()
    until(lambda: watchers.light == 1)
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
    while page.asked < 60:
        until(watchers.ready)
        watchers.sent()
    if light:
        until(lambda: watchers.light == 1)
        assert ("configure_default_lights", (True,), {"cast_shadow": False}) in page.said
    assert watchers.light == int(light)
    watchers.set_detail("full")
    assert watchers.light == 0
    watchers.set_detail("light")
    assert watchers.light == 1
    server.disconnect(page)


@pytest.mark.parametrize(
    "report",
    ["", "[]", "no", "null", '{"frame_ms": "x"}', '{"frame_ms": []}', "[" * 100_000, '{"frame_ms": 1' + "0" * 400 + "}",
     '{"software": true, "more": "' + "x" * 200 + '"}'],
    ids=lambda report: report[:20],
)  # fmt: skip
def test_reports_that_make_no_sense_are_answers_all_the_same(server, report):
    watchers, page = Watchers(server), Page(1, report)
    page.open.set()
    server.connect(page)
    for _ in range(8):
        until(watchers.ready)
        watchers.sent()
    assert watchers.light == 0
    server.disconnect(page)


def test_the_copy_of_a_page_that_is_read_only_can_be_written_and_goes(tmp_path):
    root = tmp_path / "build"
    (root / "assets").mkdir(parents=True)
    (root / "index.html").write_text("<html><head></head></html>")
    (root / "assets" / "one.js").write_text("1")
    for path in (root / "index.html", root / "assets" / "one.js"):
        path.chmod(0o444)
    for path in (root / "assets", root):
        path.chmod(0o555)
    folder = copied(root)
    try:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert all(path.stat().st_mode & stat.S_IWUSR for path in folder.rglob("*"))
        assert (folder / "assets" / "one.js").read_text() == "1"
        assert "hydrostat" in (folder / "index.html").read_text()
    finally:
        remove_folders()
        for path in (root, root / "assets"):
            path.chmod(0o755)
    assert not folder.exists()


def test_the_script_comes_before_all_that_a_page_loads():
    page = with_script("<html><head><script>theirs</script></head><body></body></html>")
    assert page.index("hydrostat") < page.index("theirs")
