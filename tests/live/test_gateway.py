"""The door to other machines: nothing passes without the token."""

import http.server
import socket
import threading

import pytest

from hydrostat.live.gateway import Gateway, answer_to, head_inside

TOKEN = "abcdefgh12345678"


@pytest.fixture(scope="module")
def gateway():
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"the page")

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found = Gateway("127.0.0.1", 0, server.server_address[1], TOKEN)
    found.start()
    yield found
    found.stop()
    server.shutdown()


def asked(gateway, head: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=10.0) as connection:
        connection.sendall(head)
        connection.shutdown(socket.SHUT_WR)
        parts = []
        while part := connection.recv(4096):
            parts.append(part)
    return b"".join(parts)


def test_the_token_opens_the_door_and_is_remembered(gateway):
    first = asked(gateway, f"GET /?token={TOKEN} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert first.startswith(b"HTTP/1.1 303")
    cookie = next(line for line in first.decode().split("\r\n") if line.startswith("Set-Cookie"))
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    word = cookie.split(": ")[1].split(";")[0]
    assert asked(gateway, f"GET / HTTP/1.0\r\nHost: x\r\nCookie: a=b; {word}\r\n\r\n".encode()).endswith(b"the page")


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /?token= HTTP/1.1\r\n\r\n",
        b"GET /?token=abcdefgh1234567 HTTP/1.1\r\n\r\n",
        b"GET /?token=abcdefgh12345679 HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nCookie: hydrostat_token=wrong\r\n\r\n",
        b"GET / HTTP/1.1\r\nCookie: ;;=;\xff\r\n\r\n",
        b"GET / HTTP/1.1\r\nX-Token: abcdefgh12345678\r\n\r\n",
        b"\xff\xfe\x00 \x00 \x00\r\n\r\n",
        b"A" * 40_000,
    ],
)
def test_whoever_does_not_know_it_gets_a_refusal(gateway, head):
    before = gateway.refused
    assert b"the page" not in asked(gateway, head)
    assert gateway.refused == before + 1


def test_the_head_of_a_websocket_is_judged_like_any_other():
    upgrade = b"GET / HTTP/1.1\r\nUpgrade: websocket\r\nCookie: hydrostat_token=abcdefgh12345678\r\n\r\n"
    assert answer_to(upgrade, TOKEN) is None
    assert answer_to(upgrade.replace(b"12345678", b"12345670"), TOKEN) is not None


def test_a_page_of_another_server_is_refused_though_its_browser_knows_the_token():
    upgrade = b"GET / HTTP/1.1\r\nUpgrade: websocket\r\nHost: here:80\r\nCookie: hydrostat_token=abcdefgh12345678\r\n"
    assert answer_to(upgrade + b"Origin: http://here:80\r\n\r\n", TOKEN) is None
    for origin in (b"http://here:81", b"http://other.example", b"null", b"http://[", b"http://here:80.other.example"):
        assert answer_to(upgrade + b"Origin: " + origin + b"\r\n\r\n", TOKEN) is not None


def test_the_server_inside_is_asked_by_its_own_name():
    head = b"GET /a HTTP/1.1\r\nhost: here:80\r\nOrigin: http://here:80\r\nCookie: a=b\r\n\r\n"
    assert head_inside(head, 8080) == b"GET /a HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nCookie: a=b\r\n\r\n"
