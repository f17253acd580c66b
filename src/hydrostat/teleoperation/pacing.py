"""Rates of messages that keep within the bandwidth of a link."""

import math

from hydrostat.teleoperation.packets import IP_UDP_BYTES, OVERHEAD

SHARE = 0.8
"""Share of the bandwidth of a link that a side uses."""
_BURST = 1.5  # packets that may follow each other at once


class Pacer:
    """A bucket of bits that fills at a share of the bandwidth, and that messages are paid from."""

    def __init__(self, bandwidth: float, most_rate: float):
        """**Arguments:** `bandwidth`: of the link [bit/s]; `most_rate`: of messages on a link without limit [1/s]."""
        self._rate, self._period = SHARE * bandwidth, 1.0 / most_rate
        self._bits, self._last, self._next = 0.0, -math.inf, -math.inf

    def ready(self, now: float, body_bytes: int) -> bool:
        """Whether a message whose body takes some bytes may be sent now; it is paid for then."""
        size = 8.0 * (body_bytes + OVERHEAD + IP_UDP_BYTES)
        if math.isfinite(self._rate):
            elapsed = 0.0 if math.isinf(self._last) else now - self._last
            self._bits = min(self._bits + self._rate * elapsed, _BURST * size)
            self._last = now
            if self._bits < size:
                return False
        if now < self._next - 1e-9:
            return False
        self._bits -= size if math.isfinite(self._rate) else 0.0
        self._next = max(self._next + self._period, now)
        return True
