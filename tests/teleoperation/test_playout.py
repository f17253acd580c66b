"""Commands over a poor link become one smooth motion: played late, held when nothing comes, resumed without a jump."""

import numpy as np
import pytest

from hydrostat.teleoperation.channel import LinkConditions, Pipe
from hydrostat.teleoperation.messages import Command, packed_points
from hydrostat.teleoperation.pacing import Pacer
from hydrostat.teleoperation.packets import IP_UDP_BYTES, OVERHEAD
from hydrostat.teleoperation.playout import Playout

TICK, PERIOD = 0.01, 0.05
OFFSET = 123.4  # s, of the operator's clock from the robot's


def hand(time):
    """A motion of at most 60 mm/s."""
    return np.array([0.03 * np.sin(2.0 * time), 0.0, 0.02 * np.cos(1.5 * time)])


def play(conditions, seconds, every=0.2, **options):
    """Rows of (time, place, operator's time played, holding) of commands sent over a link."""
    pipe, playout = Pipe(conditions, 0), Playout(hand(0.0), **options)
    heard, sent, rows = 0.0, {}, []
    for tick in range(1, round(seconds / TICK)):
        now = tick * TICK
        if tick % round(every / TICK) == 0:
            times = now - PERIOD * np.arange(9, -1, -1)
            sent[tick] = (Command(50, packed_points(np.array([hand(t) for t in times]))), now + OFFSET)
            pipe.push(now, tick.to_bytes(100, "little"))
        for packet in pipe.pop(now):
            playout.add(*sent[int.from_bytes(packet, "little")], now)
            heard = now
        rows.append((now, playout.at(now, heard, TICK).copy(), playout.played - OFFSET, playout.holding))
    return [np.array(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("loss", [0.0, 0.3])
def test_the_motion_is_that_of_the_hand_some_time_ago(loss):
    """Points are 50 ms apart: the sagitta of a chord of 0.03 sin(2 t) is 0.03 4 0.05^2 / 8, half the step 0.1 mm."""
    time, place, played, holding = play(LinkConditions(0.5, 0.1, loss, seed=2), 20.0)
    after = time > 3.0
    assert not holding[after].any()
    miss = np.linalg.norm(place - np.array([hand(t) for t in played]), axis=1)[after]
    allowed = 0.05 * 4.0 * PERIOD**2 / 8.0 + 1e-4
    # Where several packets in a row are lost, the place waits and then follows at its fastest.
    assert np.mean(miss < allowed) > (0.999 if loss == 0.0 else 0.9)
    assert np.all(np.diff(played) >= 0.0)
    delay = (time - played)[after]
    assert delay.min() > 0.4
    assert delay.max() < 0.6 + 0.2 + (0.1 if loss == 0.0 else 1.5)


def test_a_lost_link_holds_and_its_return_does_not_jump():
    """Four heartbeats after the last packet it stays; then it comes on at the speed that is set, where a command that
    was followed at once would have moved by centimetres."""
    outage = (5.0, 11.0)
    time, place, _, holding = play(LinkConditions(0.2, outages=(outage,)), 20.0, resume_speed=0.06)
    held = (time > 5.2 + 4.05) & (time < 11.2)
    assert holding[held].all()
    assert not holding[time > 11.5].any()
    assert np.ptp(place[held], axis=0).max() == 0.0
    steps = np.linalg.norm(np.diff(place, axis=0), axis=1)
    after = (time[1:] > 11.0) & (time[1:] < 12.0)
    gap = np.linalg.norm(hand(10.8) - place[held][-1])
    assert gap > 0.01
    assert steps[after].max() <= (0.06 + 0.01) * TICK * (1.0 + 1e-9)
    # In the end it is with the hand again.
    assert np.linalg.norm(place[-1] - hand(time[-1] - 0.4)) < 0.02


def test_nothing_moves_before_the_first_command():
    playout = Playout(np.ones(3))
    np.testing.assert_array_equal(playout.at(1.0, 0.9, TICK), np.ones(3))
    assert playout.played < 0.0


@pytest.mark.parametrize("bandwidth", [5e3, 1e4, 1e5])
def test_messages_keep_within_their_share_of_the_bandwidth(bandwidth):
    pacer, body = Pacer(bandwidth, 50.0), 70
    size = 8.0 * (body + OVERHEAD + IP_UDP_BYTES)
    sent = sum(pacer.ready(0.005 * tick, body) for tick in range(4000))
    assert sent * size <= 0.8 * bandwidth * 20.0 + 1.5 * size
    assert sent >= min(0.8 * bandwidth / size, 50.0) * 20.0 * 0.97


def test_a_link_without_limit_has_the_largest_rate():
    pacer = Pacer(np.inf, 50.0)
    assert sum(pacer.ready(0.005 * tick, 100) for tick in range(2000)) in range(495, 502)
