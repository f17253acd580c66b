"""Pages of other servers, which a browser has open beside ours, get nothing from ours and cannot move anything."""

import http.client

import pytest
import viser
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from hydrostat.live import open_server
from hydrostat.live.own_requests import is_own


@pytest.fixture(scope="module")
def port():
    server = open_server(0)
    yield server.get_port()
    server.stop()


def open_socket(port, host="127.0.0.1", **options):
    address = f"ws://{host}:{port}/"
    return connect(address, subprotocols=[f"viser-v{viser.__version__}"], proxy=None, open_timeout=20.0, **options)


def asked(port, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20.0)
    connection.request("GET", "/", headers=headers)
    return connection.getresponse().status


def test_our_page_and_programs_are_answered(port):
    assert asked(port) == 200
    for origin in (None, f"http://127.0.0.1:{port}"):
        with open_socket(port, origin=origin) as own:
            assert own.recv(timeout=20.0)


@pytest.mark.parametrize("origin", ["http://other.example", "http://127.0.0.1:1", "https://127.0.0.1", "null"])
def test_pages_of_others_are_refused(port, origin):
    with pytest.raises(InvalidStatus, match="403"):
        open_socket(port, origin=origin)


def test_a_name_on_the_internet_that_leads_here_is_refused(port):
    assert asked(port, Host=f"other.example:{port}") == 403


@pytest.mark.parametrize(
    ("host", "origin", "own"),
    [
        ("localhost:8080", "http://localhost:8080", True),
        ("[::1]:8080", "http://[::1]:8080", True),
        ("127.0.0.1:8080", None, True),
        ("", None, False),
        (None, None, False),
        ("127.0.0.1.other.example:8080", None, False),
        ("localhost:8080", "http://localhost:8080.other.example", False),
        ("localhost:8080", "http://[", False),
        ("[", None, False),
    ],
)
def test_hosts_and_origins(host, origin, own):
    assert is_own(host, origin) == own
