"""The gradient of a rollout of 1000 steps of the octopus arm in water: its time in rollouts, and its memory.

The gradient is that of the tip's last position by the activation of every muscle, in reverse mode, by machine code;
the rollouts beside it are those of XLA and of machine code. Memory is what XLA allots to the compiled function besides
its arguments; compiling itself takes more, which the peak of the process shows.
"""

import json
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.measuring import best_of, compiling_anew, on_one_core

SEGMENTS, STEPS, DT = 20, 1000, 5e-3


def functions(segments: int, steps: int):
    """The tip's height after a rollout as a function of activations, by XLA and by machine code, and activations."""
    system = hs.System(hs.robots.octopus_arm(segments), [hs.Water()])
    activation = jnp.zeros_like(system.rest().activation).at[:, 0].set(0.05)

    def height(activation, backend):
        control = hs.Control(activation=activation)
        return hs.rollout(system, control, steps=steps, dt=DT, every=steps, backend=backend).tip[-1, 2]

    return height, activation


def peak_mb() -> float | None:
    """The most memory that this process has had [MB]; not that of `getrusage`, in which a parent's is counted too."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((float(line.split()[1]) / 1024.0 for line in lines if line.startswith("VmHWM")), None)


def measure(segments: int = SEGMENTS, steps: int = STEPS, repetitions: int = 2) -> dict[str, Any]:
    """Times and memory."""
    height, activation = functions(segments, steps)
    times, compiling, memory = {}, {}, {}
    slope = jax.grad(lambda a: height(a, "auto"))
    rolls = {name: (lambda a, name=name: height(a, name)) for name in ("native", "xla")}
    made = {}
    for name, function in {**rolls, "gradient": slope}.items():
        start = time.perf_counter()
        made[name] = jax.jit(function).lower(activation).compile()
        compiling[name] = time.perf_counter() - start
        memory[name] = made[name].memory_analysis().temp_size_in_bytes / 2**20
        found = jax.block_until_ready(made[name](activation))
        times[name] = best_of(repetitions, lambda f=made[name]: jax.block_until_ready(f(activation)))
    if not np.isfinite(np.asarray(found)).all():
        raise RuntimeError("the gradient is not a number")
    # A central difference in the direction of the gradient itself, which is the least lost in rounding.
    direction = found / jnp.linalg.norm(found)
    ahead, behind = (float(made["native"](activation + s * direction)) for s in (1e-5, -1e-5))
    return {
        "steps": steps,
        "coordinates": 3 * segments,
        "parameters": int(activation.size),
        "gradient_s": times["gradient"],
        "xla_rollout_s": times["xla"],
        "native_rollout_s": times["native"],
        "gradient_in_xla_rollouts": times["gradient"] / times["xla"],
        "gradient_in_native_rollouts": times["gradient"] / times["native"],
        "finite_differences_in_native_rollouts": int(activation.size) + 1,
        "difference_from_finite_difference": abs((ahead - behind) / 2e-5 / float(jnp.linalg.norm(found)) - 1.0),
        "gradient_compile_s": compiling["gradient"],
        "gradient_memory_mb": memory["gradient"],
        "xla_rollout_memory_mb": memory["xla"],
        "peak_memory_with_compiling_mb": peak_mb(),
    }


def main() -> None:
    with on_one_core(), compiling_anew():
        print(json.dumps(measure()))


if __name__ == "__main__":
    main()
