"""One end of the link: a UDP socket, the handshake by which both sides prove the token, and the session after it.

    operator                                 robot
    Hello(a)                        ->
                                    <-       Challenge(b, HMAC(k, "robot", a, b))
    Proof(a, HMAC(k, "operator", a, b)) ->
    packets under HMAC keys that follow from k, a and b, one for each direction

k is the key of the token, a and b are fresh numbers. The robot keeps nothing of a Hello: its number b is an HMAC, under
a secret of its own process, of a, of the sender's address and of a count of sessions, so that no flood of greetings
fills its memory and no old Proof opens a second session. A Hello is no shorter than its answer, so that a forged
address is sent no more than the forger spent.
"""

import hmac
import ipaddress
import secrets
import socket

from hydrostat.errors import InputError, shown
from hydrostat.teleoperation import messages, packets
from hydrostat.teleoperation.packets import Counters, Opened, Seal

HEARTBEAT_SECONDS = 1.0
"""Time between two signs of life [s]."""
MISSED_HEARTBEATS = 4
"""Number of heartbeats that are missed before a link counts as lost."""
_NEW_SESSION_AFTER = 10.0  # s without a packet, after which the operator's side greets anew
_SHORTEST_TOKEN = 16
_MOST_AT_ONCE = 1000  # packets that one poll reads, so that a flood does not keep a side from its work
_PADDING = bytes(40)


def check_door(host: str, token: str) -> None:
    """Refuse to listen beyond this machine without a token, and tokens that are soon guessed."""
    try:
        local = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host).is_loopback
    except ValueError:
        raise InputError(f"`host` must be an IP address such as 127.0.0.1; got {shown(host)}") from None
    if not local and not token:
        raise InputError(f"listening on {host} needs a token that both sides prove; give one, or listen on 127.0.0.1")
    if token and len(token) < _SHORTEST_TOKEN:
        raise InputError(f"a token must have at least {_SHORTEST_TOKEN} characters; got {len(token)}")


class Endpoint:
    """One end of the link; nothing that comes over the line raises an error."""

    def __init__(self, token: str = "", *, host: str = "127.0.0.1", port: int = 0, peer: tuple[str, int] | None = None):
        """**Arguments:** `token`: shared secret of at least 16 characters, empty for none on one machine; `host`,
        `port`: where to listen, 0 for any port that is free; `peer`: address of the robot's side, for the operator's;
        None for the robot's side, which waits.
        """
        check_door(host, token)
        if peer is not None:
            check_door(peer[0], token)
        self._key, self.peer, self.operator = packets.token_key(token), peer, peer is not None
        self._secret, self._generation, self._nonce = secrets.token_bytes(32), 0, secrets.token_bytes(16)
        self._seal: Seal | None = None
        self._fresh: Seal | None = None
        self._proof: bytes | None = None
        self._answered: bytes | None = None
        self._greeted = self._began = -1e9
        self.counters, self.last_heard = Counters(), -1e9
        self._socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((host, port))
        self._socket.setblocking(False)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._socket.getsockname()[1]

    @property
    def connected(self) -> bool:
        """Whether a session has begun; the link may still be silent."""
        return self._seal is not None

    def alive(self, now: float) -> bool:
        """Whether a packet of the session came within the last four heartbeats."""
        return self.connected and now - self.last_heard <= MISSED_HEARTBEATS * HEARTBEAT_SECONDS

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def fileno(self) -> int:
        """The descriptor of the socket, for `select`."""
        return self._socket.fileno()

    def poll(self, now: float) -> list[Opened]:
        """All messages that have come, in the order in which they came; the operator's side greets where it must."""
        found = []
        for _ in range(_MOST_AT_ONCE):
            try:
                packet, address = self._socket.recvfrom(packets.MOST_BYTES + 1)
            except BlockingIOError:
                break
            except OSError:  # such as a port of the other side at which nobody listens
                continue
            opened = self._opened(packet, address, now)
            if opened is not None:
                found.append(opened)
        if self.operator:
            self._greet(now)
        return found

    def send(self, message, now: float) -> int:
        """Send a message of the session; the bytes that it took on the line, 0 where there is no session."""
        if self._seal is None or self.peer is None:
            return 0
        if self._seal.spent:
            self._seal = None
            return 0
        packet = self._seal.close(message, now)
        return self._put(packet, self.peer)

    def _put(self, packet: bytes, address) -> int:
        """Send a packet; what cannot be sent now is lost, as on any such line."""
        assert address is not None
        size = len(packet) + packets.IP_UDP_BYTES
        try:
            self._socket.sendto(packet, address)
        except OSError:
            return 0
        self.counters.sent += 1
        self.counters.sent_bytes += size
        return size

    def _opened(self, packet: bytes, address, now: float) -> Opened | None:
        """The message of a packet; None where it is of the handshake, or dropped and counted."""
        reason = packets.fault(packet)
        if reason is None and packet[1] <= messages.NUMBER_OF[messages.Proof]:
            if self._shake_hands(packets.handshake_message(packet), address):
                return None
            reason = "handshake"
        if reason is None:
            result = self._seal.open(packet) if self._seal is not None else "session"
            if result == "session" and self._fresh is not None:
                # The robot's first packet of a new session ends the old one, and the handshake.
                result = self._fresh.open(packet)
                if isinstance(result, Opened):
                    self._seal, self._fresh, self._proof = self._fresh, None, None
            if isinstance(result, Opened):
                self.counters.accepted += 1
                self.last_heard = now
                if not self.operator:
                    self.peer = address
                return result
            reason = result
        self.counters.dropped[reason] += 1
        return None

    def _shake_hands(self, message, address) -> bool:
        """Take a step of the handshake; False where the packet is dropped."""
        if isinstance(message, messages.Challenge) and self.operator:
            return self._challenged(message)
        if self.operator or not isinstance(message, messages.Hello | messages.Proof):
            return False
        nonces = (message.nonce, self._robot_nonce(message.nonce, address))
        if isinstance(message, messages.Hello):
            if len(message.padding) < len(_PADDING):
                return False
            answer = messages.Challenge(nonces[1], packets.derived(self._key, "robot", *nonces))
            self._put(packets.plain(answer), address)
            return True
        if not hmac.compare_digest(packets.derived(self._key, "operator", *nonces), message.proof):
            return False
        self._seal = Seal(packets.session_keys(self._key, *nonces, operator=False))
        self.peer, self._generation = address, self._generation + 1
        self.send(messages.Heartbeat(), 0.0)
        return True

    def _robot_nonce(self, nonce: bytes, address) -> bytes:
        """The robot's fresh number for a greeting: nothing about it needs to be kept."""
        where = f"{address[0]} {address[1]} {self._generation}".encode()
        return packets.derived(self._secret, "nonce", nonce, where)[:16]

    def _challenged(self, message: messages.Challenge) -> bool:
        """Check the robot's proof, and answer with one's own."""
        nonces = (self._nonce, message.nonce)
        if not hmac.compare_digest(packets.derived(self._key, "robot", *nonces), message.proof):
            return False
        if message.nonce != self._answered:
            self._answered = message.nonce
            self._fresh = Seal(packets.session_keys(self._key, *nonces, operator=True))
            self._proof = packets.plain(messages.Proof(self._nonce, packets.derived(self._key, "operator", *nonces)))
            self._put(self._proof, self.peer)
        return True

    def _greet(self, now: float) -> None:
        """Greet the robot once a second until it answers, then prove until it is heard; anew where that takes long."""
        shaking = self._fresh is not None or not self.connected or now - self.last_heard > _NEW_SESSION_AFTER
        if not shaking or now - self._greeted < HEARTBEAT_SECONDS:
            return
        if now - self._began > _NEW_SESSION_AFTER:
            self._began, self._nonce = now, secrets.token_bytes(16)
            self._fresh = self._proof = self._answered = None
        self._greeted = now
        self._put(self._proof or packets.plain(messages.Hello(self._nonce, _PADDING)), self.peer)
