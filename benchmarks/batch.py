"""Batches of arms: how many steps of an arm a second, from one arm to 1024, through `jax.vmap(hydrostat.rollout)`.

The arm is the octopus arm of 20 segments with its muscles, in water, and dry with the weight it has in water. By
machine code robots are lanes of vectors; on one core, and on all. XLA is beside it up to 64 arms. Beside the dry arm is
a kernel written by hand (`peers/dry_kernel.py`), on the same cores: an arm of the same 60 coordinates without muscles
and without constant volume, one linearly implicit solve a step where hydrostat makes two implicit stages, each
iterated. It tells what this hardware can do, and is no competitor. The passive arm is that arm in hydrostat, with the
kernel's own method: the linearly implicit Euler method on segments of constant strain.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from peers.dry_kernel import DryArms
from peers.rods import RODS

import hydrostat as hs
from hydrostat.measuring import best_of, on_one_core

COUNTS, XLA_COUNTS = (1, 8, 64, 1024), (1, 8, 64)
SEGMENTS, DT, STEPS = 20, 5e-3, 300
WEIGHT_IN_WATER = (0.0, 0.0, -0.19)
"""Gravity less buoyancy of the arm's tissue in sea water [m/s^2]."""
LANES, ACTIVATION = 8, 0.03
"""Arms of a block of the kernel, and the most that muscles of one side are active."""


def systems(segments: int) -> dict[str, hs.System]:
    """The arm in water, dry, and dry without muscles."""
    robot = hs.robots.octopus_arm(segments)
    passive = hs.robots.build_robot(RODS["water"].specification(segments, ("bend_x", "bend_y", "stretch")))
    return {
        "water": hs.System(robot, [hs.Water()]),
        "dry": hs.System(robot, gravity=WEIGHT_IN_WATER),
        "passive": hs.System(passive, gravity=WEIGHT_IN_WATER),
    }


def rate(system: hs.System, count: int, steps: int, backend: str, repetitions: int) -> float:
    """Steps of one arm a second, of some arms whose muscles are active, or that are bent, to various degrees."""
    muscular = any(arm.muscles is not None for arm in system.robot.each)
    stepper = None if muscular else hs.LinearImplicitEuler()
    rest = system.rest()
    pattern = jnp.zeros_like(rest.activation if muscular else rest.q).at[:, 0].set(ACTIVATION)

    def tip(level):
        control = hs.Control(activation=level * pattern) if muscular else hs.Control()
        start = None if muscular else rest._replace(q=level * pattern)
        options = {"steps": steps, "dt": DT, "every": steps, "stepper": stepper, "backend": backend}
        return hs.rollout(system, control, start, **options).tip[-1]

    levels = jnp.linspace(0.2, 1.0, count)
    batch = jax.jit(jax.vmap(tip))
    tips = np.asarray(batch(levels))
    if not np.isfinite(tips).all():
        raise RuntimeError(f"{np.isnan(tips).any(-1).sum()} of {count} arms broke off")
    return count * steps / best_of(repetitions, lambda: jax.block_until_ready(batch(levels)))


def kernel_rate(count: int, segments: int, steps: int, repetitions: int) -> float:
    """The same of the kernel written by hand, in blocks over the cores of this process."""
    rod = RODS["water"]
    lanes = LANES if count >= LANES else 1
    blocks = [DryArms(rod, segments, lanes) for _ in range(-(-count // lanes))]
    for block in blocks:
        block.gravity[:] = np.roll(np.array(WEIGHT_IN_WATER), -1)[:, None]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        wall = best_of(repetitions, lambda: list(pool.map(lambda block: block.step(DT, steps), blocks)))
    if not all(np.isfinite(block.q).all() and np.linalg.norm(block.tip()) < 1.1 * rod.length for block in blocks):
        raise RuntimeError("the kernel's arms broke off")
    return count * steps / wall


def measure(
    counts: tuple[int, ...] = COUNTS,
    xla_counts: tuple[int, ...] = XLA_COUNTS,
    segments: int = SEGMENTS,
    steps: int = STEPS,
    repetitions: int = 3,
) -> dict[str, Any]:
    """Steps of one arm a second on the cores of this process; lists have one entry for each number of arms."""
    found: dict[str, Any] = {"counts": list(counts), "xla_counts": list(xla_counts), "segments": segments}
    found |= {"dt_ms": 1e3 * DT, "steps": steps, "cores": len(os.sched_getaffinity(0))}
    for name, system in systems(segments).items():
        found[f"{name}_native"] = [rate(system, count, steps, "native", repetitions) for count in counts]
        if xla_counts and name != "passive":
            found[f"{name}_xla"] = [rate(system, count, steps, "xla", 1) for count in xla_counts]
            pairs = zip(found[f"{name}_native"], found[f"{name}_xla"], strict=False)
            found[f"{name}_native_times_xla"] = [a / b for a, b in pairs]
    found["passive_kernel"] = [kernel_rate(count, segments, steps, repetitions) for count in counts]
    pairs = zip(found["passive_kernel"], found["passive_native"], strict=True)
    found["passive_kernel_times_native"] = [a / b for a, b in pairs]
    return found


def main() -> None:
    if sys.argv[1:] == ["one-core"]:
        print(json.dumps(measure(xla_counts=())))
        return
    found = measure()
    # In a process of its own: a thread that JAX has started before keeps the cores that it was started with.
    command = [sys.executable, __file__, "one-core"]
    with on_one_core():
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    alone = json.loads(done.stdout.splitlines()[-1])
    if alone["cores"] != 1:
        raise RuntimeError(f"one core was asked for; the process has {alone['cores']}")
    found |= {
        f"{name}_one_core": alone[name] for name in ("water_native", "dry_native", "passive_native", "passive_kernel")
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
