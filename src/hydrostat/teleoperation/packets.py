"""Authenticated packets: sealing and opening them, and what is counted of those that are dropped.

    version (1) | kind (1) | session (4) | sequence number (4) | time (4) | body | tag (16)

The tag is the first half of HMAC-SHA-256 (RFC 2104, RFC 4868) over all that comes before it, with a key of the session
and of the direction. Time is the sender's, in tenths of a millisecond since its session began. Sequence numbers that
were seen, or that are older than the window of 64 before the newest, are dropped (as in RFC 4303, section 3.4.3).
Bodies are not encrypted: who listens on the line can read, but neither change nor add anything.
"""

import hashlib
import hmac
import struct
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hydrostat.teleoperation import messages

_HEADER = struct.Struct("<BBIII")
TAG_BYTES = 16
OVERHEAD = _HEADER.size + TAG_BYTES
"""Bytes of a packet besides its body."""
MOST_BYTES = 1200
"""Largest packet [bytes]: it fits into one frame of any network."""
IP_UDP_BYTES = 28
"""Bytes that IPv4 and UDP add to a packet, which count against the bandwidth of a link."""
_WINDOW = 64
_TICKS = 1e4  # per second of a packet's time

DROPPED = ("truncated", "oversized", "version", "kind", "session", "tag", "replayed", "malformed", "handshake")
"""The reasons for which a packet is dropped."""


@dataclass
class Counters:
    """Counts of the packets that a side has got and sent."""

    accepted: int = 0
    sent: int = 0
    sent_bytes: int = 0
    """Bytes sent, those of IP and UDP included."""
    dropped: dict[str, int] = field(default_factory=lambda: dict.fromkeys(DROPPED, 0))
    """Dropped packets by reason, as `DROPPED` has them."""

    @property
    def refused(self) -> int:
        """The number of dropped packets."""
        return sum(self.dropped.values())


class Opened(NamedTuple):
    """A packet that is what it says."""

    message: Any
    sequence: int
    time: float
    """Time of the sender [s]."""


class ReplayWindow:
    """The sequence numbers that were seen, among the last 64."""

    def __init__(self):
        self._newest, self._seen = -1, 0

    def is_new(self, sequence: int) -> bool:
        """Whether a packet of this number may still be taken."""
        age = self._newest - sequence
        return age < 0 or (age < _WINDOW and not self._seen >> age & 1)

    def take(self, sequence: int) -> None:
        """Mark a number as seen; only after its tag was found to be right."""
        ahead = sequence - self._newest
        if ahead > 0:
            self._seen = (self._seen << ahead | 1) & (2**_WINDOW - 1)
            self._newest = sequence
        else:
            self._seen |= 1 << -ahead


class Keys(NamedTuple):
    """The keys of a session: one for each direction."""

    session: int
    send: bytes
    receive: bytes


def token_key(token: str) -> bytes:
    """The key of a shared token, by scrypt (RFC 7914), so that guessing short tokens is slow."""
    return hashlib.scrypt(token.encode(), salt=b"hydrostat teleoperation 1", n=2**14, r=8, p=1, dklen=32)


def derived(key: bytes, label: str, *parts: bytes) -> bytes:
    """A key or a proof for one purpose from a key and from the fresh numbers of both sides; all of fixed lengths."""
    return hmac.digest(key, b"|".join((label.encode(), *parts)), "sha256")


def session_keys(key: bytes, nonce_operator: bytes, nonce_robot: bytes, operator: bool) -> Keys:
    """The keys of a session for one of its sides."""
    nonces = (nonce_operator, nonce_robot)
    to_robot, to_operator = (derived(key, label, *nonces) for label in ("to robot", "to operator"))
    session = int.from_bytes(derived(key, "session", *nonces)[:4], "little") or 1
    return Keys(session, to_robot, to_operator) if operator else Keys(session, to_operator, to_robot)


def plain(message: Any) -> bytes:
    """A packet of the handshake: it belongs to no session yet, and its tag is of zeros, since it proves by itself."""
    header = _HEADER.pack(messages.VERSION, messages.NUMBER_OF[type(message)], 0, 0, 0)
    return header + messages.encode(message) + bytes(TAG_BYTES)


class Seal:
    """One side of a session: it seals what is sent, and opens what comes."""

    def __init__(self, keys: Keys):
        self.keys, self._next, self._window = keys, 0, ReplayWindow()

    @property
    def spent(self) -> bool:
        """Whether sequence numbers are used up, so that a new session must begin."""
        return self._next >= 2**32 - 1

    def close(self, message: Any, time: float) -> bytes:
        """The packet of a message at a time of the sender [s]."""
        ticks = round(time * _TICKS) % 2**32
        kind = messages.NUMBER_OF[type(message)]
        body = _HEADER.pack(messages.VERSION, kind, self.keys.session, self._next, ticks) + messages.encode(message)
        self._next += 1
        return body + hmac.digest(self.keys.send, body, "sha256")[:TAG_BYTES]

    def open(self, packet: bytes) -> Opened | str:
        """The message of a packet of this session, or the reason for which it is dropped."""
        _, kind, session, sequence, ticks = _HEADER.unpack_from(packet)
        if session != self.keys.session:
            return "session"
        signed, tag = packet[:-TAG_BYTES], packet[-TAG_BYTES:]
        if not hmac.compare_digest(hmac.digest(self.keys.receive, signed, "sha256")[:TAG_BYTES], tag):
            return "tag"
        if not self._window.is_new(sequence):
            return "replayed"
        self._window.take(sequence)
        try:
            message = messages.decode(kind, signed[_HEADER.size :])
        except messages.MalformedError:
            return "malformed"
        return Opened(message, sequence, ticks / _TICKS)


def fault(packet: bytes) -> str | None:
    """The reason for which a packet is dropped whatever session it belongs to; None for one to be read further."""
    if len(packet) < OVERHEAD:
        return "truncated"
    if len(packet) > MOST_BYTES:
        return "oversized"
    if packet[0] != messages.VERSION:
        return "version"
    return None if packet[1] in messages.KINDS else "kind"


def handshake_message(packet: bytes) -> Any:
    """The message of a packet of the handshake, or None where it is none."""
    if _HEADER.unpack_from(packet)[2:] != (0, 0, 0):
        return None
    try:
        message = messages.decode(packet[1], packet[_HEADER.size : -TAG_BYTES])
    except messages.MalformedError:
        return None
    return message if isinstance(message, messages.Hello | messages.Challenge | messages.Proof) else None
