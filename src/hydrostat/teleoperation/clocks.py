"""The clocks of the two sides: the machine's, or one that both share, so that a loaded machine changes no result.

With the shared clock a process that plays the link has the time. It grants a tick to both sides over a socket each,
waits until both have done its work, takes in what they sent, and delivers what is due before it grants the next: the
same packets over the same sockets as with the machine's clock, but simulated time waits for the slower side.
"""

import socket
import struct
import time
from typing import Protocol

_TICK = struct.Struct("<q")
END = -1
"""The tick that says that there is no more."""


class Clock(Protocol):
    """A clock that a side waits on once a tick."""

    @property
    def now(self) -> float:
        """Time since the start [s]."""
        ...

    def wait(self) -> bool:
        """Wait for the next tick; False where there is none any more."""
        ...


class RealClock:
    """The machine's clock, with ticks of a period; a side that is late goes on from where it is."""

    def __init__(self, period: float = 0.01):
        self.period, self._start, self._tick = period, time.monotonic(), 0
        self.late = 0
        """The number of ticks that were skipped."""

    @property
    def now(self) -> float:
        """Time since the start [s]."""
        return time.monotonic() - self._start

    def wait(self) -> bool:
        """Wait until the next tick."""
        self._tick += 1
        left = self._tick * self.period - self.now
        if left > 0.0:
            time.sleep(left)
        elif left < -self.period:
            skipped = int(-left / self.period)
            self.late += skipped
            self._tick += skipped
        return True


class SharedClock:
    """A clock that another process has: ticks come over a socket, and are answered when their work is done."""

    def __init__(self, port: int, name: str, period: float):
        """**Arguments:** `port`: of the process with the clock; `name`: of this side, eight characters at most."""
        self.period, self._tick = period, 0
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(name.encode().ljust(8))
        self._started = False

    @property
    def now(self) -> float:
        """Time since the start [s]."""
        return self._tick * self.period

    def wait(self) -> bool:
        """Say that this tick's work is done, and wait for the next."""
        if self._started:
            self._socket.sendall(_TICK.pack(self._tick))
        self._started = True
        self._tick = received(self._socket)
        return self._tick != END


class SharedTime:
    """The process that has the shared clock."""

    def __init__(self):
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        """The port that the sides connect to."""
        self._sides: dict[str, socket.socket] = {}

    def accept(self, seconds: float) -> str:
        """Wait for a side; its name."""
        self._server.settimeout(seconds)
        connection, _ = self._server.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(seconds)
        name = _exactly(connection, 8).decode().strip()
        self._sides[name] = connection
        return name

    def grant(self, tick: int) -> None:
        """Let all sides do the work of a tick, and wait until they have."""
        for side in self._sides.values():
            side.sendall(_TICK.pack(tick))
        if tick != END:
            for side in self._sides.values():
                received(side)

    def release(self) -> None:
        """Forget the sides, which come back for another episode."""
        for side in self._sides.values():
            side.close()
        self._sides = {}

    def close(self) -> None:
        """Close all sockets."""
        for one in (*self._sides.values(), self._server):
            one.close()


def received(one: socket.socket) -> int:
    """The next tick on a socket."""
    return _TICK.unpack(_exactly(one, _TICK.size))[0]


def _exactly(one: socket.socket, size: int) -> bytes:
    """A number of bytes of a socket; `ConnectionError` where the other side has gone."""
    data = b""
    while len(data) < size:
        part = one.recv(size - len(data))
        if not part:
            raise ConnectionError("the other side of the shared clock has gone")
        data += part
    return data
