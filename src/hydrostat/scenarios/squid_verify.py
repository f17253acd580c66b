"""squid-verify: soft limbs as chains of RRP manipulators, against the arcs they stand for."""

import importlib.util
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.bodies import Arm
from hydrostat.lie import so3
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import arms_in_world
from hydrostat.results import Variable
from hydrostat.robots.build import build_robot
from hydrostat.robots.rrp_twin import (
    Frames,
    arc_frame,
    chain_frames,
    followed_by,
    joints_of_arc,
    tool_frame,
)
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.segments import Arc

# The printed example (Fig. 9): a quarter of a circle, which is 45 degrees of polar angle, in ten sections.
_EXAMPLE = (np.pi / 2, np.pi / 6, 0.6)
_EXAMPLE_SECTIONS = 10
_AZIMUTHS = np.deg2rad([-165.0, -90.0, -5.0, 0.0, 15.0, 30.0, 120.0, 180.0])


def verify(run: Run) -> Outcome:
    """Compare the chains with hydrostat's own arcs, with the printed scheme, and with MuJoCo."""
    arms, set_ = [limb.arm for limb in arms_in_world(build_robot(run.limbed))], run.settings
    poses = [_poses(run, arm, i) for i, arm in enumerate(arms)]
    with run.compiling("compiling the kinematics"):
        truths = [_truth(arm, *arcs) for arm, arcs in zip(arms, poses, strict=True)]

    with run.timed():
        counts = range(1, set_.most_sections + 1)
        tip, turn = np.zeros(len(counts)), np.zeros(len(counts))
        for i, count in enumerate(counts):
            run.progress(f"{count} sections", i / len(counts))
            for arm, arcs, truth in zip(arms, poses, truths, strict=True):
                miss, angle = _difference(_chain(arm, *arcs, count), truth)
                tip[i], turn[i] = max(tip[i], miss), max(turn[i], angle)
        paper = np.array([_printed(count) for count in counts])
        example = _printed(_EXAMPLE_SECTIONS)
        run.progress("MuJoCo", 1.0)
        mujoco = _mujoco(run, arms, poses, truths)
        _record(run, np.array(counts, float), tip, turn, paper)

    metrics = {
        "tip_error_exact_mm": 1e3 * float(tip.max()),
        "orientation_error_exact_deg": float(np.rad2deg(turn.max())),
        "tip_error_paper_mm": 1e3 * example[0],
        "orientation_error_paper_deg": float(np.rad2deg(example[1])),
        "mujoco_tip_error_mm": None if mujoco is None else 1e3 * mujoco[0],
        "mujoco_orientation_error_deg": None if mujoco is None else float(np.rad2deg(mujoco[1])),
        "poses": sum(len(arcs[0]) for arcs in poses),
        "sections_most": set_.most_sections,
    }
    notes = []
    if mujoco is None:
        notes.append("MuJoCo is not installed, so its own kinematics were not asked: pip install 'hydrostat[rigid]'")
    return Outcome(
        metrics, figure=lambda path: _draw(path, np.array(counts), (tip, turn), paper, run.limbed.name), notes=notes
    )


def _poses(run: Run, arm: Arm, index: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angle, azimuth and length of every segment of a limb, (poses, segments): a grid, its segments shuffled."""
    spec = run.limbed.limbs[index]
    most = np.deg2rad(spec.most_bend_deg)
    # Both signs, straight, and nearly straight.
    bends = np.concatenate([np.linspace(-most, most, run.settings.bends), [0.0, 1e-9, -1e-5]])
    low, high = spec.length_range
    grid = np.stack(np.meshgrid(bends, _AZIMUTHS, np.linspace(low, high, 3), indexing="ij"), -1).reshape(-1, 3)
    rng = np.random.default_rng([run.seed, index])
    orders = [np.arange(len(grid)), *(rng.permutation(len(grid)) for _ in range(arm.count - 1))]
    theta, phi, stretch = np.moveaxis(np.stack([grid[order] for order in orders], 1), -1, 0)
    return theta, phi, stretch * np.asarray(arm.segments.length)


def _configurations(arm: Arm, theta, phi, length) -> np.ndarray:
    """Our coordinates of the poses, (poses, segments, 3)."""
    arc = Arc(*(jnp.asarray(x) for x in (theta, phi, length)))
    return np.asarray(jax.vmap(arm.segments.from_arc)(arc))  # type: ignore[attr-defined]


def _truth(arm: Arm, theta, phi, length) -> Frames:
    """The limb's tips in the world, by the exponential of its strains."""
    q = jnp.asarray(_configurations(arm, theta, phi, length))
    tips = kinematics.tip_poses(arm, q)
    return Frames(np.asarray(tips.rotation), np.asarray(tips.position))


def _chain(arm: Arm, theta, phi, length, count: int) -> Frames:
    """The tips of the chains of so many sections for each segment."""
    base = arm.T_world_base
    frame = Frames(np.asarray(base.rotation), np.asarray(base.position))
    for i in range(theta.shape[1]):
        joints = joints_of_arc(theta[:, i], phi[:, i], length[:, i], count)
        every = chain_frames(joints)
        frame = followed_by(frame, Frames(every.rotation[..., -1, :, :], every.position[..., -1, :]))
    return frame


def _difference(found: Frames, truth: Frames) -> tuple[float, float]:
    """The largest distance [m], and the largest angle by the logarithm of the rotation between [rad]."""
    between = np.swapaxes(truth.rotation, -1, -2) @ found.rotation
    angle = np.linalg.norm(np.asarray(so3.log(jnp.asarray(between))), axis=-1)
    return float(np.linalg.norm(found.position - truth.position, axis=-1).max()), float(angle.max())


def _printed(count: int) -> tuple[float, float]:
    """By how much the printed scheme misses the arc of its example, in its own frames [m, rad]."""
    found = tool_frame(joints_of_arc(*_EXAMPLE, count, "paper"))
    return _difference(found, arc_frame(*_EXAMPLE, torsion_free=False))


def _mujoco(run: Run, arms: list[Arm], poses, truths) -> tuple[float, float] | None:
    """The same for the exported robot by MuJoCo's own forward kinematics; None where it is not installed."""
    if importlib.util.find_spec("mujoco") is None:
        return None
    from hydrostat.exporting import load_mujoco, make_twin, place, tips

    twin = make_twin(run.limbed, run.settings.mujoco_sections, "rrp")
    model, data = load_mujoco(twin)
    shapes = [_configurations(arm, *arcs) for arm, arcs in zip(arms, poses, strict=True)]
    found: list[list] = [[] for _ in arms]
    for pose in range(min(map(len, shapes))):
        place(model, data, twin, *(shape[pose] for shape in shapes))
        for own, tip in zip(found, tips(data, twin), strict=True):
            own.append(tip)
    worst = [
        _difference(Frames(*map(np.array, zip(*tip, strict=True))), Frames(*(part[: len(tip)] for part in truth)))
        for tip, truth in zip(found, truths, strict=True)
    ]
    return max(miss for miss, _ in worst), max(angle for _, angle in worst)


def _record(run: Run, counts: np.ndarray, tip, turn, paper) -> None:
    """Record the errors over the number of sections."""
    variables = [
        Variable("tip_error_exact", (), (), "m", "largest over all poses of all limbs"),
        Variable("orientation_error_exact", (), (), "rad", "the same"),
        Variable("tip_error_paper", (), (), "m", "of the printed example"),
        Variable("orientation_error_paper", (), (), "rad", "the same"),
    ]
    attributes = {"scenario": "squid-verify", "robot": run.limbed.name}
    with run.recorder(variables, len(counts), axis="sections", axis_unit="1", attributes=attributes) as recorder:
        recorder.append(
            counts,
            tip_error_exact=tip,
            orientation_error_exact=turn,
            tip_error_paper=paper[:, 0],
            orientation_error_paper=paper[:, 1],
        )


def _draw(path: Path, counts: np.ndarray, exact, paper: np.ndarray, name: str) -> None:
    """The example's chain, and the errors of both schemes over the number of sections."""
    from hydrostat.results import figures

    figure = figures.new_figure(13.0, 4.2)
    figure.suptitle(f"squid-verify: {name}", x=0.01, ha="left", fontsize=11)
    plane, distance, angle = figure.subplots(1, 3)
    theta, _, length = _EXAMPLE
    part = np.linspace(0.0, 1.0, 200)
    arc = arc_frame(theta * part, 0.0, length * part).position
    plane.plot(1e3 * arc[:, 0], 1e3 * arc[:, 2], color="#33322e", linewidth=1.2, label="arc")
    for scheme, count, color in (("exact", 10, 1), ("paper", 10, 0), ("exact", 3, 3), ("paper", 3, 2)):
        points = 1e3 * chain_frames(joints_of_arc(theta, 0.0, length, count, scheme)).position[:-1]
        # Hollow squares leave the points of the exact chain to be seen.
        marks = {"markersize": 3} if scheme == "exact" else {"markersize": 6, "markerfacecolor": "none"}
        style = {"color": figures.COLORS[color], "linewidth": 1.2, **marks}
        label = f"{'exact' if scheme == 'exact' else 'as printed'}, {count} sections"
        plane.plot(points[:, 0], points[:, 2], "o-" if scheme == "exact" else "s--", label=label, **style)
    plane.set_aspect("equal")
    plane.legend(fontsize=7, frameon=False)
    figures.style_axes(plane, "the printed example, in its plane", "x [mm]", "z [mm]")
    floor = np.finfo(float).eps
    for axes, own, printed, title, unit in (
        (distance, 1e3 * exact[0], 1e3 * paper[:, 0], "tip error", "mm"),
        (angle, np.rad2deg(exact[1]), np.rad2deg(paper[:, 1]), "orientation error", "deg"),
    ):
        axes.semilogy(counts, np.maximum(own, floor), color=figures.COLORS[1], label="exact, worst of all poses")
        axes.semilogy(counts, np.maximum(printed, floor), color=figures.COLORS[0], label="as printed, its example")
        axes.legend(fontsize=7, frameon=False)
        figures.style_axes(axes, title, "sections of a segment", f"[{unit}]")
    figures.save(figure, path)
