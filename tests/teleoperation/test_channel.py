"""A poor link: delay, loss and bandwidth are as set, and the same for the same seed."""

import numpy as np
import pytest

from hydrostat.errors import InputError
from hydrostat.teleoperation.channel import LinkConditions, Pipe, bits_per_second
from hydrostat.teleoperation.packets import IP_UDP_BYTES


def arrivals(conditions, count=2000, every=0.05, size=72, seed_stream=0):
    """Delays of packets by their number; those that are lost are missing."""
    pipe, found = Pipe(conditions, seed_stream), {}
    for tick in range(int(count * every / 1e-3) + 5000):
        now = 1e-3 * tick
        if tick % round(every / 1e-3) == 0 and tick < count * every / 1e-3:
            pipe.push(now, tick.to_bytes(size, "little"))
        for packet in pipe.pop(now):
            sent = 1e-3 * int.from_bytes(packet, "little")
            found[sent] = now - sent
    return found, pipe


def test_a_good_link_carries_all_at_once():
    found, pipe = arrivals(LinkConditions(), 100)
    assert len(found) == 100
    assert max(found.values()) <= 1e-3
    assert pipe.lost == 0


def test_delay_jitter_and_loss_are_as_set():
    found, pipe = arrivals(LinkConditions(delay=0.5, jitter=0.1, loss=0.2, seed=3))
    delays = np.array(list(found.values()))
    assert 0.4 <= delays.min() <= 0.41
    assert 0.59 <= delays.max() <= 0.602
    # Five deviations of a binomial share, and of the mean of an even distribution.
    assert abs(pipe.lost / 2000 - 0.2) < 5 * np.sqrt(0.2 * 0.8 / 2000)
    assert abs(delays.mean() - 0.5) < 1e-3 + 5 * 0.1 / np.sqrt(3 * len(delays))


def test_the_same_seed_loses_the_same_packets():
    one, other = (arrivals(LinkConditions(0.1, 0.05, 0.3, seed=s), 200)[0] for s in (1, 1))
    assert one == other
    assert set(one) != set(arrivals(LinkConditions(0.1, 0.05, 0.3, seed=2), 200)[0])


def test_bandwidth_is_kept():
    """Packets of 100 bytes every 50 ms are 16 kbit/s; a link of 10 kbit/s carries 12.5 of them a second."""
    found, pipe = arrivals(LinkConditions(bandwidth=1e4), 400, size=100 - IP_UDP_BYTES)
    assert pipe.carried_bits <= 1e4 * (400 * 0.05 + 1.0 + 0.08)
    assert abs(len(found) / (400 * 0.05 + 1.0) - 12.5) < 0.2
    assert max(found.values()) < 1.1 + 0.08


def test_an_outage_loses_all_that_is_sent_during_it():
    found, _ = arrivals(LinkConditions(delay=0.2, outages=((2.0, 3.0),)), 100)
    sent = np.array(sorted(found))
    assert not np.any((sent >= 2.0) & (sent < 3.0))
    assert np.any(sent < 2.0)
    assert np.any(sent >= 3.0)


@pytest.mark.parametrize(("text", "bits"), [("10kbit", 1e4), ("2.5Mbit/s", 2.5e6), ("800", 800.0), ("5 kbit", 5e3)])
def test_bandwidths_are_read(text, bits):
    assert bits_per_second(text) == bits


@pytest.mark.parametrize("text", ["", "fast", "-3kbit", "0", "10kB", "nan"])
def test_other_bandwidths_are_refused(text):
    with pytest.raises(InputError, match="10kbit"):
        bits_per_second(text)


@pytest.mark.parametrize("values", [{"delay": -1.0}, {"loss": 1.5}, {"delay": 0.1, "jitter": 0.2}, {"bandwidth": 0.0}])
def test_impossible_links_are_refused(values):
    with pytest.raises(InputError):
        LinkConditions(**values)
