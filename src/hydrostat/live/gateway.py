"""A gateway to a page for other machines: whoever does not know the token gets nothing but a refusal.

The server of a page listens to this machine alone. The gateway listens to others, reads the head of each connection's
first request, and passes the connection on to the server where it carries the token: in the address that a user opens
(`/?token=...`), from then on in a cookie.
"""

import asyncio
import contextlib
import hmac
import threading
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

_COOKIE = "hydrostat_token"
_MOST_HEAD = 16 * 1024  # bytes
_PATIENCE = 5.0  # s for a whole head
_REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 16\r\nConnection: close\r\n\r\ntoken is missing"


class Gateway:
    """A door at an address of this machine to a server that listens to this machine alone."""

    def __init__(self, host: str, port: int, server_port: int, token: str):
        """**Arguments:** `host`, `port`: to listen at, any free port for 0; `server_port`: of the server; `token`: that
        each connection must carry.
        """
        self.host, self.port, self._server_port, self._token = host, port, server_port, token
        self.refused = 0
        """The number of connections that were refused."""
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._error: OSError | None = None

    def start(self) -> None:
        """Begin to listen, in a thread of its own."""
        threading.Thread(target=self._serve, daemon=True, name="gateway").start()
        self._ready.wait()
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Stop listening, and cut all connections."""
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            listening = self._loop.run_until_complete(
                asyncio.start_server(self._connected, self.host, self.port, limit=_MOST_HEAD)
            )
            self.port = listening.sockets[0].getsockname()[1]
        except OSError as error:
            self._error = error
            return
        finally:
            self._ready.set()
        self._loop.run_forever()
        listening.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass a connection on, or refuse it."""
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _PATIENCE)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, OSError):
            head = b""
        answer = answer_to(head, self._token)
        if answer is not None:
            self.refused += answer is _REFUSED
            with contextlib.suppress(OSError):
                writer.write(answer)
                await writer.drain()
            writer.close()
            return
        with contextlib.suppress(OSError):
            inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._server_port)
            inner_writer.write(head_inside(head, self._server_port))
            await asyncio.gather(_pass_on(reader, inner_writer), _pass_on(inner_reader, writer))
            inner_writer.close()
        writer.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass bytes on until there are no more, and say so; the other direction may still go on."""
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


def answer_to(head: bytes, token: str) -> bytes | None:
    """The answer to the head of a request that is not passed on; None for one that is.

    One with the token in its address is sent to the page, with a cookie to remember it by.
    """
    lines = head.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ")
    if len(parts) != 3:
        return _REFUSED
    if any(_same(word, token) for word in parse_qs(urlsplit(parts[1]).query).get("token", [])):
        cookie = f"{_COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict"
        moved = f"HTTP/1.1 303 See Other\r\nLocation: /\r\nSet-Cookie: {cookie}\r\n"
        return f"{moved}Content-Length: 0\r\nConnection: close\r\n\r\n".encode("latin-1")
    for line in lines[1:]:
        name, _, value = line.partition(":")
        if name.strip().lower() == "cookie":
            try:
                found = SimpleCookie(value.strip()).get(_COOKIE)
            except CookieError:
                found = None
            if found is not None and _same(found.value, token) and _is_own(lines[1:]):
                return None
    return _REFUSED


def _is_own(lines: list[str]) -> bool:
    """Whether a request was not made by a page of another server, which a browser names as its origin."""
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    try:
        return "origin" not in fields or urlsplit(fields["origin"]).netloc == fields.get("host")
    except ValueError:
        return False


def head_inside(head: bytes, port: int) -> bytes:
    """The head of a request as the server inside gets it: it answers to this machine's own names alone."""
    lines = [line for line in head.split(b"\r\n") if line[:7].lower() != b"origin:" and line[:5].lower() != b"host:"]
    return b"\r\n".join([lines[0], f"Host: 127.0.0.1:{port}".encode(), *lines[1:]])


def _same(one: str, other: str) -> bool:
    """Whether two words are the same, in a time that does not tell how much of them is."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode())
