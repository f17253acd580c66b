"""squid-poses: the poses that the paper shows in its figures 8 and 10, drawn by MuJoCo from the exported robot."""

from pathlib import Path

import numpy as np

import hydrostat as hs
from hydrostat import exporting
from hydrostat.actuation import arc_coordinates
from hydrostat.results import along_configurations, drawing, figures, panels
from hydrostat.robots import build_robot
from hydrostat.scenarios.base import Outcome, Run

# By limb, for each segment: angle and azimuth [deg], and change of length [mm]. Straight segments are left out.
# Figure 10 has its numbers in the text. Figure 8 has none: its bends are assumed, away from each other.
_BENT = {
    "grasper": ((35.0, 45.0, -10.0), (35.0, 45.0, -10.0)),
    "palpation": ((35.0, -45.0, -10.0), (35.0, -45.0, -10.0)),
    "camera": ((60.0, 135.0, -20.0),),
    "light": ((60.0, -135.0, -20.0),),
}
_OUT = {**_BENT, "palpation": ((35.0, -45.0, 0.0), (35.0, -45.0, 0.0))}
_GRASP = {**_OUT, "grasper": ((35.0, 45.0, -10.0), (90.0, 225.0, -10.0))}
POSES = {
    "straight": ("figure 8 a", {}),
    "bent": ("figure 8 b, its angles assumed", _BENT),
    "palpation arm reaches out": ("figure 8 c, its angles assumed", _OUT),
    "grasper grasps": ("figure 8 d, its angles assumed", _GRASP),
    "all differ": (
        "figure 10",
        {
            "grasper": ((30.0, 10.0, -10.0), (60.0, 30.0, -10.0)),
            "palpation": ((60.0, 20.0, 0.0), (-30.0, 15.0, 0.0)),
            "camera": ((90.0, -5.0, 0.0),),
        },
    ),
}
_SIZE = (900, 660)  # pixels of a picture


def poses(run: Run) -> Outcome:
    """Bring all limbs into the poses; the positions of their tips, here and in MuJoCo."""
    robot = build_robot(run.limbed, free=False)
    with run.compiling("compiling the kinematics"):
        shapes = [_shapes(name, model.arm) for name, model in zip(robot.names, robot.each, strict=True)]
        rows = along_configurations(hs.System(robot), np.arange(float(len(shapes[0]))), shapes)
        tips = np.asarray(rows.tip)
    twin, apart, pictures, notes = None, None, None, []
    with run.timed():
        if exporting.has_mujoco():
            run.progress("MuJoCo", 0.5)
            twin = exporting.make_twin(run.limbed, run.settings.sections, "rrp")
            found = exporting.tips_in_poses(twin, list(zip(*shapes, strict=True)))[1]
            apart = 1e3 * float(np.linalg.norm(found - tips, axis=-1).max())
        column = (tips, ("limb", "axis"), "m", f"of the limbs {', '.join(robot.names)}, in the world")
        attributes = {"poses": ", ".join(POSES)}
        options = {"axis": "pose", "axis_unit": "1", "attributes": attributes}
        run.record("squid-poses", rows.time, {"tip": column}, **options)
    if twin is None:
        notes.append("MuJoCo is not installed, so the limbs are drawn from two sides: pip install 'hydrostat[rigid]'")
    else:
        try:
            pictures = exporting.render(twin, _shots(list(zip(*shapes, strict=True))), _SIZE)
        except exporting.NoRendererError as error:
            notes.append(f"the limbs are drawn from two sides: {error}")
    metrics = {
        f"{name.replace(' ', '_')}_{limb}_tip_mm": [round(1e3 * float(x), 9) for x in tip]
        for name, row in zip(POSES, tips, strict=True)
        for limb, tip in zip(robot.names, row, strict=True)
    }
    metrics |= {
        "mujoco_tip_difference_max_mm": apart,
        "poses": len(POSES),
        "rendered_by_mujoco": pictures is not None,
    }
    title = f"squid-poses: {run.limbed.name}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, rows, title) if pictures is None else _show(path, pictures, title),
        notes=notes,
    )


def _shapes(limb: str, arm) -> np.ndarray:
    """The coordinates of a limb in all poses; segments that a pose does not name are straight."""
    table = np.zeros((len(POSES), arm.count, 3))
    for row, (_, pose) in zip(table, POSES.values(), strict=True):
        named = np.array(pose.get(limb, ()), float).reshape(-1, 3)[: arm.count]
        row[: len(named)] = named
    theta, phi = np.deg2rad(table[..., 0]), np.deg2rad(table[..., 1])
    length = np.asarray(arm.segments.length) + 1e-3 * table[..., 2]
    return np.asarray(arc_coordinates(arm, theta, phi, length))


def _shots(shapes: list) -> list:
    """A view of every pose, and of the last one from the side."""
    whole = exporting.View((-0.26, 0.0, -0.02), 2.45, 146.0, -16.0)
    near = exporting.View((0.22, 0.0, -0.10), 1.55, 150.0, -14.0)
    side = exporting.View((0.25, 0.0, -0.14), 1.5, 90.0, -4.0)
    return [*((shape, near if i else whole) for i, shape in enumerate(shapes)), (shapes[-1], side)]


def _titles() -> list[str]:
    """The headings of the pictures."""
    return [f"{name} ({source})" for name, (source, _) in POSES.items()]


def _show(path: Path, pictures: list[np.ndarray], title: str) -> None:
    """MuJoCo's pictures side by side."""
    figure, grid = panels.new_panels(title, 2, 3, (14.0, 7.4))
    for i, (picture, name) in enumerate(zip(pictures, [*_titles(), "all differ, from the side"], strict=True)):
        axes = figure.add_subplot(grid[i // 3, i % 3])
        axes.imshow(picture)
        axes.set_axis_off()
        axes.set_title(name, loc="left", fontsize=9)
    figures.save(figure, path)


def _draw(path: Path, rows: hs.Trajectory, title: str) -> None:
    """The limbs from the side and from above, where MuJoCo cannot draw."""
    figure, grid = panels.new_panels(title, 2, len(POSES), (16.0, 7.4))
    scene = drawing.Scene.of(rows)
    for column, name in enumerate(_titles()):
        for row, plane in enumerate((drawing.FRONT, drawing.ABOVE)):
            axes = figure.add_subplot(grid[row, column])
            drawing.draw_view(axes, scene, column, plane, path=False)
            panels.label_view(axes, plane, name if row == 0 else "")
            axes.title.set_fontsize(7)
    figures.save(figure, path)
