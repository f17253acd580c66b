"""Both ends of a link over real sockets: who knows the token gets in, nobody else, and nothing crashes either end."""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from hydrostat.errors import InputError
from hydrostat.teleoperation import messages, packets
from hydrostat.teleoperation.channel import Link, LinkConditions
from hydrostat.teleoperation.endpoint import Endpoint, check_door
from hydrostat.teleoperation.messages import Command, Heartbeat, Report, packed_points

TOKEN, OTHER = "right-token-right", "wrong-token-wrong"
HERE = "127.0.0.1"


class Clock:
    """Seconds that pass as fast as the test likes."""

    now = 0.0


def exchange(ends, seconds=3.0, step=0.1, message=Heartbeat):
    """Let ends talk for some seconds of their own clocks; the messages that each got."""
    got = [[] for _ in ends]
    for _ in range(round(seconds / step)):
        Clock.now += step
        for i, end in enumerate(ends):
            got[i] += end.poll(Clock.now)
            end.send(message(), Clock.now)
        time.sleep(0.001)
    return got


@pytest.fixture
def ends():
    robot = Endpoint(TOKEN)
    operator = Endpoint(TOKEN, peer=(HERE, robot.port))
    yield operator, robot
    operator.close()
    robot.close()


def test_both_prove_the_token_and_talk(ends):
    operator, robot = ends
    got = exchange(ends)
    assert operator.alive(Clock.now)
    assert robot.alive(Clock.now)
    assert min(map(len, got)) > 20
    assert operator.counters.refused == robot.counters.refused == 0


def test_a_wrong_token_stays_outside_and_disturbs_nobody(ends):
    operator, robot = ends
    exchange(ends, 1.0)
    stranger = Endpoint(OTHER, peer=(HERE, robot.port))
    before = robot.counters.accepted
    got = exchange([operator, robot, stranger], 5.0)
    assert not stranger.connected
    assert not got[2]
    assert stranger.counters.dropped["handshake"] > 0  # the robot's proof is of another token
    assert robot.counters.accepted - before >= 49
    assert robot.peer == (HERE, operator.port)


def test_a_stranger_who_skips_the_robots_proof_is_refused(ends):
    """It answers the challenge with a proof that it cannot make."""
    operator, robot = ends
    exchange(ends, 1.0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.settimeout(2.0)
        line.sendto(packets.plain(messages.Hello(b"n" * 16, bytes(40))), (HERE, robot.port))
        exchange(ends, 0.2)
        answer = packets.handshake_message(line.recv(2000))
        key = packets.token_key(OTHER)
        proof = packets.derived(key, "operator", b"n" * 16, answer.nonce)
        line.sendto(packets.plain(messages.Proof(b"n" * 16, proof)), (HERE, robot.port))
        exchange(ends, 0.2)
    assert robot.counters.dropped["handshake"] == 1
    assert robot.peer == (HERE, operator.port)


def test_an_answer_is_no_longer_than_the_greeting():
    greeting = packets.plain(messages.Hello(b"n" * 16, bytes(40)))
    assert len(packets.plain(messages.Challenge(b"n" * 16, bytes(32)))) <= len(greeting)


def test_a_recorded_session_cannot_be_played_again(ends):
    """All packets of a whole session, handshake included, sent once more."""
    operator, robot = ends
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as tap:
        tap.bind((HERE, 0))
        tap.setblocking(False)
        operator.peer = tap.getsockname()
        recorded = []
        for _ in range(30):
            exchange([operator], 0.1)
            try:
                while True:
                    packet, _ = tap.recvfrom(2000)
                    recorded.append(packet)
                    tap.sendto(packet, (HERE, robot.port))
            except BlockingIOError:
                pass
            exchange([robot], 0.1)
            try:
                while True:
                    packet, source = tap.recvfrom(2000)
                    if source[1] == robot.port:
                        tap.sendto(packet, (HERE, operator.port))
                    else:
                        recorded.append(packet)
            except BlockingIOError:
                pass
        assert robot.connected
        accepted = robot.counters.accepted
        assert accepted > 5
        for packet in recorded:
            tap.sendto(packet, (HERE, robot.port))
        exchange([robot], 1.0)
        assert robot.counters.accepted <= accepted + 2  # those that were still on their path
        assert robot.counters.dropped["replayed"] >= accepted - 2
        assert robot.counters.dropped["handshake"] >= 1


def test_a_robot_that_starts_again_is_found_again(ends):
    operator, robot = ends
    exchange(ends, 2.0)
    port = robot.port
    robot.close()
    exchange([operator], 12.0)
    again = Endpoint(TOKEN, port=port)
    got = exchange([operator, again], 25.0)
    assert again.connected
    assert got[0][-1].sequence > 10
    again.close()


def test_the_handshake_gets_through_a_poor_link():
    robot = Endpoint(TOKEN)
    with Link(LinkConditions(delay=0.02, jitter=0.01, loss=0.4, seed=1), (HERE, robot.port)) as link:
        operator = Endpoint(TOKEN, peer=(HERE, link.port))
        got, begin = [[], []], time.monotonic()
        while not all(got):
            assert time.monotonic() - begin < 120.0
            got = [old + new for old, new in zip(got, exchange([operator, robot], 0.1), strict=True)]
            time.sleep(0.005)


@pytest.mark.parametrize(
    ("host", "token", "message"),
    [
        ("0.0.0.0", "", "needs a token"),
        ("192.0.2.1", "", "needs a token"),
        (HERE, "short", "16"),
        ("nowhere", "", "IP"),
    ],
)
def test_the_door_is_shut(host, token, message):
    with pytest.raises(InputError, match=message):
        check_door(host, token)
    check_door("0.0.0.0", TOKEN)
    check_door("localhost", "")


def start(*arguments):
    """A process with one end, and the port that it says."""
    script = Path(__file__).parent / "endpoint_process.py"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, script, *map(str, arguments)], **pipes)
    return process, json.loads(process.stdout.readline())["port"]


def mutated(rng, legitimate):
    """Garbage: random bytes, or a packet that was overheard, with some of its bytes changed, cut, doubled or added."""
    kind = rng.integers(6)
    if kind == 0:
        return rng.bytes(rng.integers(0, 1500))
    packet = bytearray(legitimate[rng.integers(len(legitimate))])
    if kind == 1:
        return bytes(packet[: rng.integers(len(packet))])
    if kind == 2:
        return bytes(packet) + rng.bytes(rng.integers(1, 2000))
    if kind == 3:
        return bytes(packet)  # as it was: a replay
    for place in rng.integers(len(packet), size=rng.integers(1, 8)):
        packet[place] = rng.integers(256)
    if kind == 5:
        packet[:2] = bytes([messages.VERSION, rng.integers(1, 1 + len(messages.KINDS))])
    return bytes(packet)


def bombard(port, legitimate, count, seed):
    """Send garbage to a port from another address."""
    rng = np.random.default_rng(seed)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        for number in range(count):
            line.sendto(mutated(rng, legitimate), (HERE, port))
            if number % 100 == 99:
                time.sleep(0.005)
                yield


def overheard(token):
    """Packets of sessions of a token: of all kinds, sealed and open."""
    key = packets.token_key(token)
    seal = packets.Seal(packets.session_keys(key, b"a" * 16, b"b" * 16, operator=True))
    vector = messages.packed(np.zeros(3), "<f4")
    sent = [
        Heartbeat(),
        Command(50, packed_points(np.zeros((10, 3)))),
        Report(0, 1, vector, vector, vector, bytes(6), b"", b""),
        messages.Ball(0, messages.packed([0.1, 0.2, 0.3, 0.4], "<f4")),
    ]
    plain = [
        messages.Hello(b"n" * 16, bytes(40)),
        messages.Challenge(b"n" * 16, bytes(32)),
        messages.Proof(b"n" * 16, bytes(32)),
    ]
    return [seal.close(message, 1.0) for message in sent for _ in range(5)] + [packets.plain(one) for one in plain]


def survive(count):
    """Bombard a process with either end while it talks to an end of ours; what each counted."""
    results = []
    for robot in (True, False):
        own = None if robot else Endpoint(TOKEN)
        process, port = start(TOKEN) if robot else start(TOKEN, own.port)
        own = own or Endpoint(TOKEN, peer=(HERE, port))
        stranger = Endpoint(OTHER, peer=(HERE, port))
        began, before = time.monotonic(), 0
        for _ in bombard(port, overheard(TOKEN) + overheard(OTHER), count, seed=int(robot)):
            now = time.monotonic() - began
            for end in (own, stranger):
                end.poll(now)
                end.send(Command(50, packed_points(np.zeros((2, 3)))), now)
        before = own.counters.accepted
        while own.counters.accepted < before + 10:
            assert time.monotonic() - began < 120.0 + count / 100
            own.poll(time.monotonic() - began)
            own.send(Command(50, packed_points(np.zeros((2, 3)))), time.monotonic() - began)
            time.sleep(0.005)
        assert process.poll() is None
        output, _ = process.communicate("end\n", timeout=60.0)
        assert process.returncode == 0
        assert not stranger.connected
        results.append(json.loads(output))
    return results


def test_garbage_crashes_nobody_and_nobody_gets_in():
    for counted in survive(2000):
        assert counted["accepted"] > 10
        assert sum(counted["dropped"].values()) > 1000
        assert sum(value > 0 for value in counted["dropped"].values()) >= 6


@pytest.mark.slow
def test_a_hundred_thousand_packets_of_garbage():
    for counted in survive(100_000):
        assert counted["accepted"] > 100
        assert sum(counted["dropped"].values()) > 50_000
