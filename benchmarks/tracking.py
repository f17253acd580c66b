"""A control tick of a chain of platforms: hydrostat beside the same law in NumPy, in one process on one core.

The law is the paper's: the smallest leg rates that give the tip its velocity, E' = -K E, and a step of the poses.
The NumPy controller is written as one would write it well: everything that can be is done for all segments at once.
"""

import json
import time

import jax
import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.control import PAPER_PATHS, Law, Platforms, plan_tip_goals, switch, tracking_law
from hydrostat.control.resolved_rate import central_rates, moved
from hydrostat.measuring import best_of
from hydrostat.scenarios.track_segments import PAPER_STEP_MS, TIMED_SEGMENTS

GAIN, DT, TICKS = 20.0, 2e-3, 500


class NumpyArm:
    """The same arm and law in NumPy."""

    def __init__(self, segments):
        self.length, self.radius, self.taper = (
            np.asarray(part) for part in (segments.length, segments.radius, segments.taper)
        )
        self.lower, self.upper = (
            np.stack([np.cos(a), np.sin(a), np.zeros_like(a)], -1)
            for a in (np.asarray(segments.lower), np.asarray(segments.upper))
        )
        n = len(self.length)
        self.R = np.broadcast_to(np.eye(3), (n, 3, 3)).copy()
        self.p = np.zeros((n, 3))
        self.p[:, 2] = self.length

    def tick(self, target):
        """One control tick; gives the tip."""
        distance = np.sqrt(np.einsum("ni,ni->n", self.p, self.p))
        ring = self.radius * np.sqrt(self.length / distance)
        b = (self.taper * ring)[:, None, None] * np.einsum("nij,nkj->nki", self.R, self.upper)
        legs = self.p[:, None] + b - ring[:, None, None] * self.lower
        along = legs / np.sqrt(np.einsum("nki,nki->nk", legs, legs))[..., None]
        G = np.concatenate([np.cross(b, along), along], -1)
        J = np.linalg.inv(G)
        n = len(self.p)
        R_world, p_world = np.empty((n + 1, 3, 3)), np.empty((n + 1, 3))
        R_world[0], p_world[0] = np.eye(3), 0.0
        for i in range(n):
            p_world[i + 1] = p_world[i] + R_world[i] @ self.p[i]
            R_world[i + 1] = R_world[i] @ self.R[i]
        tip = p_world[-1]
        lever = tip - p_world[1:]
        hat = np.zeros((n, 3, 3))
        hat[:, 0, 1], hat[:, 0, 2], hat[:, 1, 2] = -lever[:, 2], lever[:, 1], -lever[:, 0]
        hat[:, 1, 0], hat[:, 2, 0], hat[:, 2, 1] = lever[:, 2], -lever[:, 1], lever[:, 0]
        A = np.concatenate([-hat @ R_world[:-1], R_world[:-1]], -1) @ J
        flat = A.transpose(1, 0, 2).reshape(3, -1)
        rates = flat.T @ np.linalg.solve(flat @ flat.T, GAIN * (target - tip))
        twist = np.einsum("nij,nj->ni", J, rates.reshape(n, 6))
        self.p = self.p + DT * twist[:, 3:]
        w = DT * twist[:, :3]
        angle = np.sqrt(np.einsum("ni,ni->n", w, w))
        hat = np.zeros((n, 3, 3))
        hat[:, 0, 1], hat[:, 0, 2], hat[:, 1, 2] = -w[:, 2], w[:, 1], -w[:, 0]
        hat[:, 1, 0], hat[:, 2, 0], hat[:, 2, 1] = w[:, 2], -w[:, 1], w[:, 0]
        first = np.sinc(angle / np.pi)[:, None, None]
        second = (0.5 * np.sinc(angle / (2.0 * np.pi)) ** 2)[:, None, None]
        self.R = (np.eye(3) + first * hat + second * hat @ hat) @ self.R
        return tip


def main():
    results = {"segments": list(TIMED_SEGMENTS), "paper_control_step_ms": list(PAPER_STEP_MS)}
    ours, limited, calls, numpy_ms, differences = [], [], [], [], []
    target = PAPER_PATHS["line"](np.zeros(1))[0]
    for count in TIMED_SEGMENTS:
        arm = Platforms.of(hs.robots.stewart_arm(count))
        law = Law(arm.segments, arm.base)
        aims = jnp.asarray(target)[None]
        roll = lambda: jax.block_until_ready(switch(law, arm.rest, aims, 0, 1e-9, GAIN, DT, TICKS))  # noqa: E731, B023
        (T, _), (rows, _) = roll()
        ours.append(1e3 * best_of(7, roll) / TICKS)

        goals = plan_tip_goals(arm, PAPER_PATHS["line"], 0.2, TICKS * DT - 0.2, DT)
        full = tracking_law(arm)
        smooth = lambda: goals.follow(full, 100.0)  # noqa: E731, B023
        smooth()
        limited.append(1e3 * best_of(7, smooth) / TICKS)

        def tick(T, law=law):
            asked = central_rates(law, T, lambda T_tip: GAIN * (target - T_tip.position), DT)
            return moved(T, asked.twist, DT)

        call = jax.jit(tick)
        T = arm.rest
        jax.block_until_ready(call(T))
        calls.append(1e3 * best_of(200, lambda: jax.block_until_ready(call(T))))  # noqa: B023

        best = np.inf
        for _ in range(3):
            other = NumpyArm(arm.segments)
            start = time.perf_counter()
            for _ in range(TICKS):
                tip = other.tick(target)
            best = min(best, time.perf_counter() - start)
        numpy_ms.append(1e3 * best / TICKS)
        differences.append(float(np.max(np.abs(tip - np.asarray(rows.T_world_tip.position[-1])))))
    results |= {
        "control_step_ms": ours,
        "control_step_with_limits_ms": limited,
        "single_call_ms": calls,
        "numpy_step_ms": numpy_ms,
        "times_faster_than_numpy": [a / b for a, b in zip(numpy_ms, ours, strict=True)],
        "times_faster_than_paper": [a / b for a, b in zip(PAPER_STEP_MS, ours, strict=True)],
        "tip_difference_from_numpy_m": max(differences),
        "exponent": float(np.polyfit(np.log(TIMED_SEGMENTS), np.log(ours), 1)[0]),
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
