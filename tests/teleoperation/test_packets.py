"""Messages and packets: what goes in comes out, and what is not as it was sealed is dropped and counted."""

import numpy as np
import pytest

from hydrostat.errors import InputError
from hydrostat.teleoperation import messages, packets
from hydrostat.teleoperation.messages import Ball, Command, Obstacle, Report, packed, packed_points, unpacked_points

NONCES = b"a" * 16, b"b" * 16
KEY = packets.token_key("t" * 20)


def pair():
    """Both ends of one session."""
    return tuple(packets.Seal(packets.session_keys(KEY, *NONCES, operator=one)) for one in (True, False))


def report(**changes):
    vector = packed([0.1, 0.2, 0.3], "<f4")
    values = dict(
        flags=1,
        played_ms=5,
        tip=vector,
        force=vector,
        touch=vector,
        correction=bytes(6),
        q=packed([1.0, 2.0]),
        drive=packed([3.0]),
    )
    return Report(**(values | changes))


def test_a_message_comes_out_as_it_went_in():
    operator, robot = pair()
    points = np.array([[0.12345, -0.5, 3.2], [0.0, 1e-5, -1e-4]])
    opened = robot.open(operator.close(Command(50, packed_points(points)), 1.25))
    assert opened.time == 1.25
    assert opened.sequence == 0
    np.testing.assert_allclose(unpacked_points(opened.message.points), points, atol=0.5 * messages.STEP)
    assert operator.open(robot.close(report(), 2.0)).message == report()


def test_a_command_is_small():
    """Ten points in a packet of fewer bytes than one such in text."""
    operator, _ = pair()
    packet = operator.close(Command(50, packed_points(np.ones((10, 3)))), 0.0)
    assert len(packet) == packets.OVERHEAD + 1 + 1 + 2 + 60


def test_every_changed_bit_is_found():
    operator, robot = pair()
    packet = operator.close(Command(50, packed_points(np.zeros((1, 3)))), 0.0)
    for bit in range(8 * len(packet)):
        changed = bytearray(packet)
        changed[bit // 8] ^= 1 << bit % 8
        assert packets.fault(bytes(changed)) is not None or isinstance(robot.open(bytes(changed)), str), bit
    assert isinstance(robot.open(packet), packets.Opened)


def test_a_packet_counts_once_and_not_in_the_other_direction():
    operator, robot = pair()
    sent = [operator.close(messages.Heartbeat(), 0.0) for _ in range(100)]
    assert operator.open(sent[0]) == "tag"
    assert isinstance(robot.open(sent[1]), packets.Opened)
    assert robot.open(sent[1]) == "replayed"
    assert isinstance(robot.open(sent[0]), packets.Opened)  # late, but new
    assert isinstance(robot.open(sent[99]), packets.Opened)
    assert robot.open(sent[35]) == "replayed"  # 64 before the newest: too old to know
    assert isinstance(robot.open(sent[36]), packets.Opened)
    assert robot.open(sent[36]) == "replayed"


@pytest.mark.parametrize(
    "message",
    [
        Command(0, packed_points(np.zeros((1, 3)))),
        Command(50, b""),
        Command(50, b"12345"),
        Command(50, bytes(6 * 65)),
        report(flags=4),
        Ball(0, packed([0.1, 0.2, 0.3, 0.0], "<f4")),
        Ball(0, packed([0.1, 0.2, 0.3], "<f4")),
        Ball(300, packed([0.1, 0.2, 0.3, 0.4], "<f4")),
        report(tip=packed([np.inf] * 3, "<f4")[:11]),
        report(tip=np.array([np.nan] * 3, "<f4").tobytes()),
        report(q=b"1"),
        report(drive=bytes(2 * messages.MOST_COORDINATES + 2)),
        Obstacle(0, packed([0.0] * 3, "<f4"), packed([0.0] * 3, "<f4")),
        Obstacle(256, packed([0.0] * 3, "<f4"), packed([0.0, 0.0, 1.0], "<f4")),
    ],
)
def test_values_out_of_range_are_malformed(message):
    operator, robot = pair()
    assert robot.open(operator.close(message, 0.0)) == "malformed"


def test_points_beyond_the_range_are_refused():
    with pytest.raises(InputError, match=r"within 6\.6 m"):
        packed_points(np.array([[7.0, 0.0, 0.0]]))


def test_keys_differ_by_direction_nonce_and_token():
    keys = packets.session_keys(KEY, *NONCES, operator=True)
    others = [
        packets.session_keys(KEY, b"c" * 16, NONCES[1], operator=True),
        packets.session_keys(packets.token_key("u" * 20), *NONCES, operator=True),
    ]
    found = {keys.send, keys.receive, *(one.send for one in others), *(one.receive for one in others)}
    assert len(found) == 6
