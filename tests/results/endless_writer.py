"""Record without end until killed: `endless_writer.py FOLDER LOG PAUSE`.

Every value is a known function of its row. After each append that has returned, LOG grows by the number of rows (8
bytes). PAUSE is the longest sleep between two appends [s], 0 for a tight loop.
"""

import os
import random
import signal
import sys
import time

import numpy as np

from hydrostat.results import Recorder, Variable

VARIABLES = [Variable("position", ("node", "component"), (5, 3), "m"), Variable("energy", unit="J")]
TOTAL = 10_000_000


def expected(first: int, last: int) -> dict[str, np.ndarray]:
    rows = np.arange(first, last, dtype=float)
    return {
        "time": rows / 1024,
        "position": rows[:, None, None] + np.arange(15).reshape(5, 3) / 16,
        "energy": np.sqrt(rows),
    }


def main() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder, log_path, pause = sys.argv[1], sys.argv[2], float(sys.argv[3])
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with Recorder(folder, VARIABLES, TOTAL) as recorder:
        while True:
            blocks = expected(recorder.rows, recorder.rows + random.randint(1, 60))
            recorder.append(blocks.pop("time"), **blocks)
            os.write(log, recorder.rows.to_bytes(8, "little"))
            if pause:
                time.sleep(random.uniform(0, pause))


if __name__ == "__main__":
    main()
