"""Both sides as the processes that they are in use: garbage and strangers neither crash them nor stop them."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from test_endpoint import HERE, OTHER, TOKEN, bombard, overheard

from hydrostat.teleoperation import Endpoint, Episode, SideSettings, start_side
from hydrostat.teleoperation.messages import Command, packed_points

SECONDS = 120.0  # of a session, which a loaded machine may need for all packets
COUNT = 100_000


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind((HERE, 0))
        return line.getsockname()[1]


def side(name: str, port: int, log: str) -> SideSettings:
    face = ((0.5, 0.0, -0.6), (0.0, 0.0, 1.0))
    return SideSettings(name, "squid", "camera", (Episode(SECONDS, np.inf, port),), TOKEN, faces=(face,), log=log)


@pytest.mark.slow
def test_a_hundred_thousand_packets_at_each_process(tmp_path):
    port = free_port()
    with ThreadPoolExecutor(2) as pool:
        started = [pool.submit(start_side, side(name, port, str(tmp_path / name))) for name in ("robot", "operator")]
        (robot, robot_port), (operator, operator_port) = (one.result() for one in started)
    assert robot_port == port
    try:
        stranger, began = Endpoint(OTHER, peer=(HERE, port)), time.monotonic()
        for number, target in enumerate((robot_port, operator_port)):
            for _ in bombard(target, overheard(TOKEN) + overheard(OTHER), COUNT, seed=number):
                now = time.monotonic() - began
                stranger.poll(now)
                stranger.send(Command(50, packed_points(np.zeros((2, 3)))), now)
        fired = time.monotonic() - began
        assert robot.poll() is None
        assert operator.poll() is None
        assert not stranger.connected
        assert fired < SECONDS - 40.0, "the machine was too slow to tell what comes after the packets"
        assert robot.wait(2.0 * SECONDS) == 0
        assert operator.wait(2.0 * SECONDS) == 0
    finally:
        for process in (robot, operator):
            process.kill()
            process.wait()
    logs = {name: np.load(tmp_path / f"{name}-0.npz") for name in ("robot", "operator")}
    for name, log in logs.items():
        accepted, refused, sent, _ = log["counters"][0]
        assert accepted > 500, name
        assert refused > 10_000, name
        assert sent > 500, name
    # Commands still came when all packets had been sent, and the robot followed them.
    time_, played = logs["robot"]["time"], logs["robot"]["played"]
    late = time_ > fired + 5.0
    assert late.any()
    assert np.ptp(played[late]) > 5.0
    print({name: log["counters"][0].tolist() for name, log in logs.items()}, f"fired for {fired:.0f} s")
