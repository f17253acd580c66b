"""The messages between the operator's side and the robot's side: what they hold, and how few bytes they take.

Bodies are msgpack arrays; numbers that come many at a time are packed as bytes of half or single precision, or as
whole steps of a length. The kind of a message is in the header of its packet (`hydrostat.teleoperation.packets`).
"""

from typing import Any

import numpy as np

from hydrostat.errors import InputError

try:
    import msgspec
except ImportError as error:
    raise ImportError("teleoperation needs msgspec: pip install 'hydrostat[teleop]'") from error

VERSION = 3
"""Version of the protocol; a side drops packets of any other."""
STEP = 2e-4
"""Step of a coordinate of a commanded point [m]: points reach 6.5 m from the origin."""
MOST_POINTS = 64
"""Largest number of points in a command."""
MOST_COORDINATES = 1024
"""Largest number of coordinates or actuator values in a report."""


class Hello(msgspec.Struct, array_like=True, frozen=True):
    """The operator's first message: a fresh number, and bytes that make it no shorter than the answer to it."""

    nonce: bytes
    padding: bytes


class Challenge(msgspec.Struct, array_like=True, frozen=True):
    """The robot's answer: its own fresh number, and the proof that it knows the token."""

    nonce: bytes
    proof: bytes


class Proof(msgspec.Struct, array_like=True, frozen=True):
    """The operator's proof that it knows the token; the session begins."""

    nonce: bytes
    proof: bytes


class Heartbeat(msgspec.Struct, array_like=True, frozen=True):
    """A sign of life, sent once a second where nothing else is."""


class Command(msgspec.Struct, array_like=True, frozen=True):
    """The last places that the tip was to be at, the newest last: each is sent several times, against losses."""

    period_ms: int
    """Time between two of the points [ms]; the last one belongs to the time of the packet."""
    points: bytes
    """x, y and z of each point in whole steps of `STEP`, 16 bits each."""


class Report(msgspec.Struct, array_like=True, frozen=True):
    """The state of the robot."""

    flags: int
    """Sum of `HOLDING` and `TOUCHING`, as far as they apply."""
    played_ms: int
    """Time of the command that is being followed, on the operator's clock [ms]; -1 before the first."""
    tip: bytes
    """Place of the tip, three numbers of single precision [m]."""
    force: bytes
    """Contact force on the limb, three numbers of single precision [N]."""
    touch: bytes
    """Place where the limb is touched, three numbers of single precision [m]."""
    correction: bytes
    """Correction of the target by the measured error of the tip, three numbers of half precision [m]."""
    q: bytes
    """Coordinates of the limb in half precision."""
    drive: bytes
    """Actuator values in half precision, as the drive of the robot has them."""


class Obstacle(msgspec.Struct, array_like=True, frozen=True):
    """A flat face of an obstacle that the robot's sensors estimate."""

    number: int
    place: bytes
    """A point of the face, three numbers of single precision [m]."""
    normal: bytes
    """The outward normal of the face, three numbers of single precision."""


class Ball(msgspec.Struct, array_like=True, frozen=True):
    """An obstacle that the robot's eyes estimate as a ball."""

    number: int
    shape: bytes
    """Centre and radius of the ball, four numbers of single precision [m]."""


HOLDING, TOUCHING = 1, 2
"""Flags of a report: the robot holds still since it hears nothing; something touches it."""

KINDS: dict[int, type] = {
    1: Hello,
    2: Challenge,
    3: Proof,
    4: Heartbeat,
    5: Command,
    6: Report,
    7: Obstacle,
    8: Ball,
}
"""The number of each kind of message in the header of a packet."""
NUMBER_OF = {kind: number for number, kind in KINDS.items()}
_ENCODER = msgspec.msgpack.Encoder()
_DECODERS = {number: msgspec.msgpack.Decoder(kind) for number, kind in KINDS.items()}


class MalformedError(ValueError):
    """A body that is no message of its kind."""


def encode(message: Any) -> bytes:
    """The body of a message."""
    return _ENCODER.encode(message)


def decode(kind: int, body: bytes) -> Any:
    """The message of a body; `MalformedError` where it is none."""
    try:
        message = _DECODERS[kind].decode(body)
    except (KeyError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedError(f"no message of kind {kind}") from error
    if not _CHECKS.get(type(message), lambda _: True)(message):
        raise MalformedError(f"a {type(message).__name__} with values out of range")
    return message


def packed_points(points: np.ndarray) -> bytes:
    """Points (m, 3) [m] as bytes of a command."""
    steps = np.rint(np.asarray(points, float) / STEP)
    if not np.all(np.abs(steps) < 2**15):
        raise InputError(f"commanded points must be within {2**15 * STEP:.1f} m of the origin; got {points}")
    return steps.astype("<i2").tobytes()


def unpacked_points(data: bytes) -> np.ndarray:
    """The points (m, 3) of a command [m]."""
    return np.frombuffer(data, "<i2").reshape(-1, 3) * STEP


def packed(values: Any, kind: str = "<f2") -> bytes:
    """Numbers as bytes: `<f2` for half, `<f4` for single precision; what is too large for it as the largest."""
    most = float(np.finfo(kind).max)
    return np.clip(np.asarray(values, float).ravel(), -most, most).astype(kind).tobytes()


def unpacked(data: bytes, kind: str = "<f2") -> np.ndarray:
    """The numbers of some bytes."""
    return np.frombuffer(data, kind).astype(float)


def _vector(data: bytes) -> bool:
    """Whether bytes are three finite numbers of single precision."""
    return len(data) == 12 and bool(np.all(np.isfinite(np.frombuffer(data, "<f4"))))


def _row(data: bytes) -> bool:
    """Whether bytes are finite numbers of half precision, not too many."""
    return len(data) % 2 == 0 and len(data) <= 2 * MOST_COORDINATES and bool(np.all(np.isfinite(unpacked(data))))


def _unit(data: bytes) -> bool:
    """Whether bytes are a unit vector."""
    return _vector(data) and abs(float(np.linalg.norm(unpacked(data, "<f4"))) - 1.0) < 1e-3


def _ball(data: bytes) -> bool:
    """Whether bytes are a place and a radius above zero."""
    return len(data) == 16 and _vector(data[:12]) and 0.0 < float(np.frombuffer(data, "<f4")[3]) < np.inf


_CHECKS = {
    Hello: lambda m: len(m.nonce) == 16,
    Challenge: lambda m: len(m.nonce) == 16 and len(m.proof) == 32,
    Proof: lambda m: len(m.nonce) == 16 and len(m.proof) == 32,
    Command: lambda m: 1 <= m.period_ms <= 10_000 and 0 < len(m.points) <= 6 * MOST_POINTS and len(m.points) % 6 == 0,
    Report: lambda m: (
        0 <= m.flags <= 3 and -1 <= m.played_ms < 2**32 and _vector(m.tip) and _vector(m.force) and _vector(m.touch)
        and _row(m.correction) and len(m.correction) == 6 and _row(m.q) and _row(m.drive)
    ),
    Obstacle: lambda m: 0 <= m.number < 256 and _vector(m.place) and _unit(m.normal),
    Ball: lambda m: 0 <= m.number < 256 and _ball(m.shape),
}  # fmt: skip
