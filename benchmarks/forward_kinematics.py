"""Forward kinematics of one million three-segment shapes: hydrostat against vectorised NumPy, one thread.

NumPy gets three chances: the same formulas (the exponential of a twist, then products of poses) over the whole batch at
once, the same in pieces that fit the cache, and a version written by hand for arcs, in pieces as well.
"""

import json
import time

import numpy as np

SHAPES = 1_000_000
LENGTH = 0.35  # m
PIECE = 4096


def numpy_exponential(q):
    """Rotations and offsets of constant-strain segments, the formulas of `hydrostat.lie.se3.exp`."""
    w = np.stack([LENGTH * q[..., 0], LENGTH * q[..., 1], np.zeros(q.shape[:-1])], -1)
    v = np.broadcast_to(np.array([0.0, 0.0, LENGTH]), w.shape)
    x = np.sum(w * w, -1)
    small = x < 1e-8
    x_safe = np.where(small, 1.0, x)
    t = np.sqrt(x_safe)
    c1 = np.where(small, 1.0 - x / 6.0, np.sin(t) / t)
    c2 = np.where(small, 0.5 - x / 24.0, (1.0 - np.cos(t)) / x_safe)
    c3 = np.where(small, 1.0 / 6.0 - x / 120.0, (1.0 - c1) / x_safe)
    hat = np.zeros((*w.shape, 3))
    hat[..., 0, 1], hat[..., 0, 2], hat[..., 1, 2] = -w[..., 2], w[..., 1], -w[..., 0]
    hat[..., 1, 0], hat[..., 2, 0], hat[..., 2, 1] = w[..., 2], -w[..., 1], w[..., 0]
    square = w[..., :, None] * w[..., None, :] - x[..., None, None] * np.eye(3)
    rotation = np.eye(3) + c1[..., None, None] * hat + c2[..., None, None] * square
    left = np.eye(3) + c2[..., None, None] * hat + c3[..., None, None] * square
    return rotation, (left @ v[..., None])[..., 0]


def numpy_arc(q):
    """Rotations and offsets of arcs, written out entry by entry."""
    u, v = LENGTH * q[..., 1], -LENGTH * q[..., 0]
    x = u * u + v * v
    small = x < 1e-8
    x_safe = np.where(small, 1.0, x)
    t = np.sqrt(x_safe)
    c0 = np.cos(np.sqrt(x))
    c1 = np.where(small, 1.0 - x / 6.0, np.sin(t) / t)
    c2 = np.where(small, 0.5 - x / 24.0, (1.0 - c0) / x_safe)
    rotation, offset = np.empty((*u.shape, 3, 3)), np.empty((*u.shape, 3))
    rotation[..., 0, 0], rotation[..., 1, 1], rotation[..., 2, 2] = 1.0 - c2 * u * u, 1.0 - c2 * v * v, c0
    rotation[..., 0, 1] = rotation[..., 1, 0] = -c2 * u * v
    rotation[..., 0, 2], rotation[..., 2, 0] = c1 * u, -c1 * u
    rotation[..., 1, 2], rotation[..., 2, 1] = c1 * v, -c1 * v
    offset[..., 0], offset[..., 1], offset[..., 2] = LENGTH * c2 * u, LENGTH * c2 * v, LENGTH * c1
    return rotation, offset


def numpy_chain(segment, q):
    """The tip's pose of a chain of segments."""
    rotations, offsets = segment(q)
    rotation, position = rotations[:, 0], offsets[:, 0]
    for i in range(1, q.shape[1]):
        position = position + (rotation @ offsets[:, i, :, None])[..., 0]
        rotation = rotation @ rotations[:, i]
    return rotation, position


def in_pieces(function, q):
    parts = [function(q[i : i + PIECE]) for i in range(0, len(q), PIECE)]
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


def best_of(function, repetitions):
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    import jax

    import hydrostat
    from hydrostat.mechanics import kinematics

    arm = hydrostat.robots.tentacle().arm
    q = np.random.default_rng(0).normal(scale=3.0, size=(SHAPES, 3, 2))
    q_jax = jax.numpy.asarray(q)
    tips = jax.jit(lambda q: kinematics.tip_poses(arm, q))
    start = time.perf_counter()
    ours = jax.block_until_ready(tips(q_jax))
    first_call = time.perf_counter() - start

    # All versions must agree before their times mean anything.
    for name, result in (
        ("exponential", in_pieces(lambda q: numpy_chain(numpy_exponential, q), q)),
        ("arc", in_pieces(lambda q: numpy_chain(numpy_arc, q), q)),
    ):
        difference = max(np.max(np.abs(ours.rotation - result[0])), np.max(np.abs(ours.position - result[1])))
        assert difference < 1e-7, (name, difference)  # the short series of the NumPy versions below 1e-4 rad

    seconds = {"hydrostat": best_of(lambda: jax.block_until_ready(tips(q_jax)), 7)}
    seconds["numpy_same_formulas"] = best_of(lambda: numpy_chain(numpy_exponential, q), 3)
    seconds["numpy_same_formulas_in_pieces"] = best_of(
        lambda: in_pieces(lambda q: numpy_chain(numpy_exponential, q), q), 3
    )
    seconds["numpy_arcs_in_pieces"] = best_of(lambda: in_pieces(lambda q: numpy_chain(numpy_arc, q), q), 3)
    report = {f"{name}_ns_per_shape": 1e9 * value / SHAPES for name, value in seconds.items()}
    for name, value in seconds.items():
        if name != "hydrostat":
            report[f"{name}_ratio"] = value / seconds["hydrostat"]
    report["first_call_seconds"] = first_call
    print(json.dumps(report))


if __name__ == "__main__":
    main()
