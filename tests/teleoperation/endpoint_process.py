"""A process with one end of a link: it says its port, answers every command with a report, and ends when told to.

python endpoint_process.py TOKEN [PEER_PORT]
"""

import json
import select
import sys
import time

import numpy as np

from hydrostat.teleoperation.endpoint import Endpoint
from hydrostat.teleoperation.messages import Command, Heartbeat, Report, packed, packed_points

token, peer = sys.argv[1], sys.argv[2:]
end = Endpoint(token, peer=("127.0.0.1", int(peer[0])) if peer else None)
print(json.dumps({"port": end.port}), flush=True)
vector = packed(np.zeros(3), "<f4")
start = time.monotonic()
while not select.select([sys.stdin], [], [], 0.0)[0]:
    now = time.monotonic() - start
    for opened in end.poll(now):
        if isinstance(opened.message, Command):
            end.send(Report(0, round(1e3 * opened.time), vector, vector, vector, bytes(6), b"", b""), now)
    end.send(Command(50, packed_points(np.zeros((1, 3)))) if end.operator else Heartbeat(), now)
    time.sleep(0.002)
print(json.dumps({"accepted": end.counters.accepted, "dropped": end.counters.dropped}), flush=True)
