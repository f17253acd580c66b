"""Runs of a million steps: no number is lost, the memory stays, and so does the speed.

The speed is that of the processor's time. Blocks of a tenth of a run are compared after the first minute of it, or
after its first tenth where that comes later, each by its quickest pieces: what else a machine does slows some pieces,
by the caches that are shared; a run that becomes slower slows all of them.
"""

import math
import time
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.sensing.random_numbers import stream, uniform

EVERY = 100
"""Steps from row to row."""
MOST_MEMORY, MOST_SPEED = 0.05, 0.10
"""Largest change of the resident memory, and of the steps per second."""
_QUICK = 0.9  # quantile of the speeds of pieces that a block's speed is


class BangBang(hs.Controller):
    """Every muscle is relaxed or contracted in full, at random, anew each 0.1 s."""

    seed: int
    shape: tuple[int, int]
    """Segments and muscles."""

    def __call__(self, time, observation, memory):
        """The commands of the present tenth of a second."""
        number = jnp.floor(time / 0.1 + 1e-9).astype(int)
        chosen = uniform(stream(self.seed, 0), number, math.prod(self.shape)).reshape(self.shape)
        return hs.Control(activation=jnp.where(chosen < 0.5, 0.0, 1.0)), memory


def arm(seed: int) -> tuple:
    """The octopus arm in water under random commands, and its step [s]."""
    system = hs.System(hs.robots.octopus_arm(), [hs.Water()])
    return system, BangBang(seed, system.rest().activation.shape), 1.25e-3


def octopus(seed: int) -> tuple:
    """The octopus that swims, its body free, and its step [s]."""
    del seed
    return hs.System(hs.robots.octopus(pitch_deg=40.0), [hs.Water(), hs.ArmContact()]), hs.gaits.Swim(), 5e-3


RUNS = {"octopus arm, bang-bang": arm, "swimming octopus": octopus}


class Log:
    """The processor's time, the memory and the state of a run, as its pieces come."""

    def __init__(self):
        self.steps, self.processor, self.wall, self.memory, self.finite = [], [], [], [], True

    def append(self, piece: hs.Trajectory) -> None:
        """Note a piece of rows."""
        self.steps.append((self.steps[-1] if self.steps else 0) + len(piece) * EVERY)
        self.processor.append(time.process_time())
        self.wall.append(time.monotonic())
        self.memory.append(resident_bytes())
        self.finite &= all(np.all(np.isfinite(part)) for part in np_leaves(piece))

    def summary(self) -> dict[str, Any]:
        """Spread of memory and speed after the first minute."""
        steps, processor, wall, memory = (np.array(y) for y in (self.steps, self.processor, self.wall, self.memory))
        last = len(steps) - 1
        begin = min(max(int(np.argmax(wall >= wall[0] + 60.0)), last // 10), last // 2)
        marks = np.linspace(begin, last, 10).round().astype(int)
        pieces = np.diff(steps) / np.diff(processor)
        speeds = np.array([np.quantile(pieces[a:b], _QUICK) for a, b in pairwise(marks)])
        later = memory[begin:]
        return {
            "steps": int(steps[-1]),
            "finite": bool(self.finite),
            "memory_mb": float(memory[-1] / 2**20),
            "memory_change": float(np.max(np.abs(later / later[0] - 1.0))),
            "steps_per_second": float(np.median(speeds)),
            "speed_change": float(np.max(np.abs(speeds / np.median(speeds) - 1.0))),
            "processor_seconds": float(processor[-1] - processor[0]),
        }


def np_leaves(piece: hs.Trajectory) -> list[np.ndarray]:
    """All arrays of the state of a piece."""
    return [np.asarray(leaf) for leaf in jax.tree.leaves(piece.state)]


def resident_bytes() -> int:
    """The memory of this process that is in use."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def endure(name: str, steps: int, seed: int) -> dict[str, Any]:
    """Make a run of a number of steps; its outcome."""
    system, controller, dt = RUNS[name](seed)
    log = Log()
    hs.simulate(system, controller, steps * dt, dt, every=EVERY, keep=False, on_rows=log.append)
    return log.summary()


def wrong_run(found: dict[str, Any]) -> bool:
    """Whether a run was not as it must be."""
    return not found["finite"] or found["memory_change"] > MOST_MEMORY or found["speed_change"] > MOST_SPEED
