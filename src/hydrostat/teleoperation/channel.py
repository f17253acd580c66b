"""A poor link between two real sockets: delay, jitter, loss, bandwidth and outages, the same for the same seed."""

import heapq
import math
import re
import socket
import threading
from dataclasses import dataclass
from select import select

import numpy as np

from hydrostat import errors
from hydrostat.errors import InputError, shown
from hydrostat.teleoperation.clocks import RealClock
from hydrostat.teleoperation.packets import IP_UDP_BYTES

_MOST_QUEUED = 1.0  # s of the bandwidth that wait before a narrow link; more is lost
_UNITS = {"": 1.0, "k": 1e3, "m": 1e6}
_WAIT = 0.002  # s at most from one check of what is due to the next


def bits_per_second(text: str) -> float:
    """The bandwidth that a text such as `10kbit` or `2.5Mbit` says [bit/s]; `none` for no limit."""
    if text.strip().lower() in ("none", "inf"):
        return math.inf
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([kKmM]?)(?:bit(?:/s)?)?\s*", text)
    if not found or not float(found[1]) > 0.0:
        raise InputError(f"a bandwidth must be a number of bits per second such as 10kbit or 2Mbit; got {shown(text)}")
    return float(found[1]) * _UNITS[found[2].lower()]


@dataclass(frozen=True)
class LinkConditions:
    """The conditions of a link, the same in both directions."""

    delay: float = 0.0
    """Time that a packet travels [s]."""
    jitter: float = 0.0
    """Largest change of that time, evenly distributed between less and more [s]."""
    loss: float = 0.0
    """Share of the packets that are lost, 0 to 1."""
    bandwidth: float = math.inf
    """Bandwidth [bit/s], the headers of IP and UDP included."""
    outages: tuple[tuple[float, float], ...] = ()
    """Begins and ends of times during which every packet that is sent is lost [s]."""
    seed: int = 0

    def __post_init__(self):
        for name, most in (("delay", 60.0), ("jitter", 60.0), ("loss", 1.0)):
            object.__setattr__(self, name, errors.number(name, getattr(self, name), least=0.0, most=most))
        if self.jitter > self.delay:
            raise InputError(f"`jitter` must be at most the delay, {self.delay:g} s; got {self.jitter:g}")
        if not self.bandwidth > 0.0:
            raise InputError(f"`bandwidth` must be positive; got {shown(self.bandwidth)}")


class Pipe:
    """One direction of a link: packets go in at a time, and come out later, or not."""

    def __init__(self, conditions: LinkConditions, stream: int):
        """**Arguments:** `stream`: which of the random streams of the seed, another for each direction."""
        self.conditions = conditions
        self._random = np.random.default_rng((conditions.seed, stream))
        self._waiting: list[tuple[float, int, bytes]] = []
        self._free_at, self._count = -math.inf, 0
        self.lost = 0
        self.carried_bits = 0.0
        """Bits that went into the link, lost ones included."""

    def push(self, now: float, packet: bytes) -> None:
        """Send a packet at a time [s]."""
        link, bits = self.conditions, 8.0 * (len(packet) + IP_UDP_BYTES)
        # Two numbers for every packet, so that the fate of one does not depend on that of others.
        luck, late = self._random.random(2)
        begins = max(now, self._free_at)
        if begins - now > _MOST_QUEUED:
            self.lost += 1
            return
        self.carried_bits += bits
        self._free_at = begins + bits / link.bandwidth
        if luck < link.loss or any(start <= now < end for start, end in link.outages):
            self.lost += 1
            return
        due = self._free_at + link.delay + link.jitter * (2.0 * late - 1.0)
        self._count += 1
        heapq.heappush(self._waiting, (due, self._count, packet))

    def pop(self, now: float) -> list[bytes]:
        """The packets that have come out by a time [s]."""
        found = []
        while self._waiting and self._waiting[0][0] <= now:
            found.append(heapq.heappop(self._waiting)[2])
        return found

    @property
    def next_due(self) -> float:
        """When the next packet comes out [s]."""
        return self._waiting[0][0] if self._waiting else math.inf


class Link:
    """A poor link between real sockets: the operator's side sends to `port`, and it goes on to the robot's side.

    with Link(conditions, ("127.0.0.1", robot_port)) as link:
        operator = Endpoint(token, peer=("127.0.0.1", link.port))
    """

    def __init__(self, conditions: LinkConditions, robot: tuple[str, int], host: str = "127.0.0.1"):
        """**Arguments:** `robot`: address of the robot's side; `host`: where to listen for the operator's side."""
        self._front, self._back = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        self._front.bind((host, 0))
        self._back.bind((host, 0))
        for one in (self._front, self._back):
            one.setblocking(False)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._robot, self._operator = robot, None
        self.port = self._front.getsockname()[1]
        """The port that the operator's side sends to."""
        self.set(conditions)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def set(self, conditions: LinkConditions) -> None:
        """Begin anew under other conditions; what was on its path is lost."""
        self.to_robot, self.to_operator = Pipe(conditions, 0), Pipe(conditions, 1)

    def collect(self, now: float) -> None:
        """Take in all that was sent to the link."""
        for one, pipe in ((self._front, self.to_robot), (self._back, self.to_operator)):
            while True:
                try:
                    packet, address = one.recvfrom(65536)
                except BlockingIOError:
                    break
                except OSError:
                    continue
                if pipe is self.to_robot:
                    self._operator = address
                elif address != self._robot:
                    continue
                pipe.push(now, packet)

    def deliver(self, now: float) -> None:
        """Send on all that is due."""
        for packet in self.to_robot.pop(now):
            _send(self._back, packet, self._robot)
        for packet in self.to_operator.pop(now):
            if self._operator is not None:
                _send(self._front, packet, self._operator)

    def __enter__(self) -> "Link":
        """Run by itself, in a thread, on the clock of the machine."""
        self._thread = threading.Thread(target=self._run, name="hydrostat link", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """End the thread and close the sockets."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self._front.close()
        self._back.close()

    def _run(self) -> None:
        clock = RealClock()
        while not self._stop.is_set():
            now = clock.now
            self.collect(now)
            self.deliver(now)
            due = min(self.to_robot.next_due, self.to_operator.next_due) - clock.now
            if due > 0.0:
                wait = _WAIT if math.isfinite(due) else 0.05
                select([self._front, self._back], [], [], min(max(due, 0.0), wait))


def _send(out: socket.socket, packet: bytes, address) -> None:
    """Send a packet; one that the machine cannot take is lost."""
    try:
        out.sendto(packet, address)
    except OSError:
        return
