"""Tracking is recorded as it goes, and resumed where it was interrupted."""

from contextlib import nullcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat as hs
from hydrostat import control
from hydrostat.errors import DivergedError
from hydrostat.lie import SE3
from hydrostat.results import PlatformRecorder, platform_motion
from hydrostat.results.folders import resuming
from hydrostat.robots import build_robot
from hydrostat.robots.specs.stewart_arm import stewart_arm
from hydrostat.simulation.checkpoints import Checkpoints, keeping, next_checkpoint

DT = 2e-3


class InterruptedRunError(Exception):
    """Stands for Ctrl-C."""


@pytest.fixture(scope="module")
def arm():
    return control.Platforms.of(build_robot(stewart_arm(segments=3)))


@pytest.fixture(scope="module")
def goals(arm):
    tip = np.asarray(arm.tip.position)
    curve = lambda s: tip + np.outer(s, [0.2, 0.1, -0.1])  # noqa: E731
    return control.plan_tip_goals(arm, curve, 0.1, 0.4, DT)


def follow(goals, folder, stop_at=None):
    """Follow the goals in pieces, recorded and kept; maybe interrupted."""
    pieces, law = [], control.Law(goals.arm.segments, goals.arm.base)

    def on_rows(T, goal):
        recorder.append(T, goal)
        pieces.append(len(goal))
        if len(pieces) == stop_at:
            raise InterruptedRunError

    checkpoint = next_checkpoint({"dt": DT})
    with PlatformRecorder(folder, goals.arm, len(goals.times), DT) as recorder:
        return goals.follow(law, 50.0, on_rows=on_rows, piece=checkpoint.piece)


def test_rows_are_those_of_the_motion_and_resumed(arm, goals, tmp_path):
    with keeping(Checkpoints(tmp_path / "whole")):
        rows = follow(goals, tmp_path / "whole")
    motion = platform_motion(arm, rows.T, rows.twist, goals.times, dt=DT)
    for stop_at in (1, 2):
        again = resuming(tmp_path / "cut") if stop_at > 1 else nullcontext()
        with keeping(Checkpoints(tmp_path / "cut", stop_at > 1)), again, pytest.raises(InterruptedRunError):
            follow(goals, tmp_path / "cut", stop_at)
        found = hs.load(tmp_path / "cut")
        # All rows but the last, whose rates are not known yet.
        assert not found.attrs["complete"]
        assert found.sizes["time"] == 100 * stop_at - 1
    with keeping(Checkpoints(tmp_path / "cut", True)), resuming(tmp_path / "cut"):
        again = follow(goals, tmp_path / "cut")
    for one, other in zip(jax.tree.leaves(rows), jax.tree.leaves(again), strict=True):
        np.testing.assert_array_equal(one, other)
    for name in ("whole", "cut"):
        found = hs.load(tmp_path / name)
        assert found.attrs["complete"]
        np.testing.assert_array_equal(found["time"], DT * np.arange(len(goals.times)))
        np.testing.assert_array_equal(found["tip_wanted"], goals.positions)
        np.testing.assert_allclose(found["plate_position"], motion.positions, atol=1e-14)
        np.testing.assert_allclose(found["leg_length"], motion.legs, atol=1e-14)
        rates = np.diff(motion.legs, axis=0) / DT
        np.testing.assert_allclose(found["leg_rate"], np.concatenate([rates, rates[-1:]]), atol=1e-11)


def test_the_rows_before_a_divergence_are_recorded(arm, tmp_path):
    T = jax.tree.map(lambda y: jnp.repeat(y[None], 7, 0), arm.rest)
    T = SE3(T.rotation, T.position.at[5, 1].set(jnp.nan))
    with (
        pytest.raises(DivergedError, match=r"diverged after 0.01 s in segment 2"),
        PlatformRecorder(tmp_path, arm, 7, DT) as recorder,
    ):
        recorder.append(T, np.zeros((7, 3)))
    assert hs.load(tmp_path).sizes["time"] == 5


def test_targets_come_with_their_rows(arm):
    """The paper's tracker hands out every row up to the tick that finds the last target reached, and no other."""
    targets = np.asarray(arm.tip.position) + np.outer([0.3, 0.6], [0.2, 0.1, -0.1])
    tracker = control.TargetTracker(arm, targets, radius=0.02, gain=20.0, dt=DT)
    parts = []
    found = tracker.run(2.0, on_rows=lambda T, goal: parts.append((np.asarray(T.position), goal)))
    positions, goal = (np.concatenate(part) for part in zip(*parts, strict=True))
    np.testing.assert_array_equal(positions, found.T.position)
    np.testing.assert_array_equal(goal, found.headed_for)
    assert len(found.arrivals) == 2
    assert found.arrivals[-1] == len(found.times) - 1
    # Cut short within a piece: the same rows, and no target that comes later.
    short = tracker.run(DT * 10)
    assert len(short.times) == 10
    np.testing.assert_array_equal(short.T.position, found.T.position[:10])


@pytest.mark.slow
def test_memory_does_not_grow_with_the_ticks(tmp_path):
    """Some 8000 ticks after the first 12 000, by when the allocator has its stock: poses and twists alone would take
    23 MB more, which is a twentieth of all, and what is derived of them 90 MB."""
    arm = control.Platforms.of(build_robot(stewart_arm(segments=20)))
    goals = control.hold_goal(arm, np.asarray(arm.tip.position) + np.array([0.1, 0.0, -0.05]), 40.0, DT)
    law, sizes = control.Law(arm.segments, arm.base), []
    with PlatformRecorder(tmp_path, arm, len(goals.times), DT) as recorder:

        def on_rows(T, goal):
            recorder.append(T, goal)
            sizes.append(resident_bytes())

        rows = goals.follow(law, 5.0, on_rows=on_rows, keep=False)
    assert len(rows.T.position) == 0
    assert len(recorder.summary.motion().tip) == len(goals.times)
    assert max(sizes[120:]) < 1.03 * sizes[120]


def resident_bytes() -> int:
    """The memory of this process that is in use."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
