"""squid-verify: soft limbs as chains of RRP manipulators, against the arcs they stand for."""

from pathlib import Path

import numpy as np

import hydrostat as hs
from hydrostat import exporting
from hydrostat.actuation import arc_coordinates
from hydrostat.mechanics import arms_in_world
from hydrostat.results import along_configurations, figures, panels
from hydrostat.robots import build_robot
from hydrostat.robots.rrp_twin import (
    Frames,
    arc_frame,
    chain_frames,
    joints_of_arc,
    largest_error,
    limb_frames,
    tool_frame,
)
from hydrostat.scenarios.base import Outcome, Run

_NO_MUJOCO = "MuJoCo is not installed, so its own kinematics were not compared: pip install 'hydrostat[rigid]'"
# The printed example (Fig. 9): a quarter of a circle, which is 45 degrees of polar angle, in ten sections.
_EXAMPLE = (np.pi / 2, np.pi / 6, 0.6)
_EXAMPLE_SECTIONS = 10
_AZIMUTHS = np.deg2rad([-165.0, -90.0, -5.0, 0.0, 15.0, 30.0, 120.0, 180.0])


def verify(run: Run) -> Outcome:
    """Compare the chains with hydrostat's own arcs, with the printed scheme, and with MuJoCo."""
    robot, settings = build_robot(run.limbed, free=False), run.settings
    arms = [model.arm for model in arms_in_world(robot)]
    arcs = [_arcs(run, index, np.asarray(arm.segments.length)) for index, arm in enumerate(arms)]
    with run.compiling("compiling the kinematics"):
        shapes = [np.asarray(arc_coordinates(arm, *one)) for arm, one in zip(arms, arcs, strict=True)]
        tips = along_configurations(hs.System(robot), np.arange(float(len(shapes[0]))), shapes).tip_pose
    truth = Frames(np.asarray(tips.rotation), np.asarray(tips.position))
    truths = [Frames(truth.rotation[:, i], truth.position[:, i]) for i in range(len(arms))]
    bases = [Frames(np.asarray(arm.T_world_base.rotation), np.asarray(arm.T_world_base.position)) for arm in arms]
    with run.timed():
        counts = np.arange(1, settings.most_sections + 1)
        exact = np.zeros((len(counts), 2))
        for i, count in enumerate(counts):
            run.progress(f"{count} sections", i / len(counts))
            chains = [limb_frames(base, *one, int(count)) for base, one in zip(bases, arcs, strict=True)]
            exact[i] = np.max([largest_error(*both) for both in zip(chains, truths, strict=True)], 0)
        printed = np.array([_printed(int(count)) for count in counts])
        run.progress("MuJoCo", 1.0)
        mujoco = None
        if exporting.has_mujoco():
            twin = exporting.make_twin(run.limbed, settings.mujoco_sections, "rrp")
            found = Frames(*exporting.tips_in_poses(twin, list(zip(*shapes, strict=True))))
            mujoco = largest_error(found, truth)
        columns = {
            "tip_error_exact": (exact[:, 0], (), "m", "largest over all poses of all limbs"),
            "orientation_error_exact": (exact[:, 1], (), "rad", "largest over all poses of all limbs"),
            "tip_error_paper": (printed[:, 0], (), "m", "of the printed example"),
            "orientation_error_paper": (printed[:, 1], (), "rad", "of the printed example"),
        }
        run.record("squid-verify", counts, columns, axis="sections", axis_unit="1")
    example = _printed(_EXAMPLE_SECTIONS)
    metrics = {
        "tip_error_exact_mm": 1e3 * float(exact[:, 0].max()),
        "orientation_error_exact_deg": float(np.rad2deg(exact[:, 1].max())),
        "tip_error_paper_mm": 1e3 * example[0],
        "orientation_error_paper_deg": float(np.rad2deg(example[1])),
        "mujoco_tip_error_mm": None if mujoco is None else 1e3 * mujoco[0],
        "mujoco_orientation_error_deg": None if mujoco is None else float(np.rad2deg(mujoco[1])),
        "poses": sum(len(one[0]) for one in arcs),
        "sections_most": settings.most_sections,
    }
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, counts, exact, printed, f"squid-verify: {run.limbed.name}"),
        notes=[_NO_MUJOCO] if mujoco is None else [],
    )


def _arcs(run: Run, index: int, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angle, azimuth and length of every segment of a limb, (poses, segments): a grid, its segments shuffled."""
    spec = run.limbed.limbs[index]
    most = np.deg2rad(spec.most_bend_deg)
    # Both signs, straight, and nearly straight.
    bends = np.concatenate([np.linspace(-most, most, run.settings.bends), [0.0, 1e-9, -1e-5]])
    low, high = spec.length_range
    grid = np.stack(np.meshgrid(bends, _AZIMUTHS, np.linspace(low, high, 3), indexing="ij"), -1).reshape(-1, 3)
    rng = np.random.default_rng([run.seed, index])
    orders = [np.arange(len(grid)), *(rng.permutation(len(grid)) for _ in range(len(rest) - 1))]
    theta, phi, stretch = np.moveaxis(np.stack([grid[order] for order in orders], 1), -1, 0)
    return theta, phi, stretch * rest


def _printed(count: int) -> tuple[float, float]:
    """The errors of the printed scheme against the arc of its example, in its own frames [m, rad]."""
    found = tool_frame(joints_of_arc(*_EXAMPLE, count, "paper"))
    return largest_error(found, arc_frame(*_EXAMPLE, torsion_free=False))


def _draw(path: Path, counts: np.ndarray, exact: np.ndarray, printed: np.ndarray, title: str) -> None:
    """The example's chain, and the errors of both schemes over the number of sections."""
    figure, grid = panels.new_panels(title, 1, 3, (13.0, 4.2))
    plane = figure.add_subplot(grid[0, 0])
    theta, _, length = _EXAMPLE
    part = np.linspace(0.0, 1.0, 200)
    lines = {"arc": arc_frame(theta * part, 0.0, length * part).position}
    for scheme, name in (("exact", "exact"), ("paper", "as printed")):
        for count in (10, 3):
            chain = chain_frames(joints_of_arc(theta, 0.0, length, count, scheme)).position[:-1]
            lines[f"{name}, {count} sections"] = chain
    along, height = ({name: 1e3 * line[:, k] for name, line in lines.items()} for k in (0, 2))
    line_style = {"styles": ["-", "o-", "o-", "s--", "s--"], "colors": ["#33322e", 1, 3, 0, 2], "x_label": "x [mm]"}
    panels.draw_curves(plane, along, height, "the printed example, in its plane", "z [mm]", **line_style)
    plane.set_aspect("equal")
    both = ((0, 1e3, "tip error", "[mm]"), (1, np.rad2deg(1.0), "orientation error", "[deg]"))
    for column, factor, heading, unit in both:
        named = {"exact, worst of all poses": exact[:, column], "as printed, its example": printed[:, column]}
        curves = {name: factor * values for name, values in named.items()}
        options = {"log": True, "floor": np.finfo(float).eps, "colors": [1, 0], "x_label": "sections of a segment"}
        panels.draw_curves(figure.add_subplot(grid[0, 1 + column]), counts, curves, heading, unit, **options)
    figures.save(figure, path)
