"""squid-poses: the poses that the paper shows in its figures 8 and 10, drawn by MuJoCo from the exported robot."""

import importlib.util
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from hydrostat.actuation import coordinates_of
from hydrostat.bodies import Arm
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import arms_in_world
from hydrostat.results import Variable
from hydrostat.robots.build import build_robot
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.segments import Arc

# By limb, for each segment: angle and azimuth [deg], and change of length [mm]. What is straight is left out.
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
    """Bring all limbs into the poses; where their tips are, and where MuJoCo has them."""
    robot = build_robot(run.limbed)
    arms = {name: limb.arm for name, limb in zip(robot.names, arms_in_world(robot), strict=True)}
    with run.compiling("compiling the kinematics"):
        shapes = [_configurations(arms, pose) for _, pose in POSES.values()]
    with run.timed():
        tips = np.stack([_tips(arms, shape) for shape in shapes])
        run.progress("MuJoCo", 0.5)
        twin, off = _mujoco(run, shapes, tips)
        _record(run, arms, tips)
    metrics: dict = {}
    for (name, _), row in zip(POSES.items(), tips, strict=True):
        for limb, tip in zip(arms, row, strict=True):
            metrics[f"{_key(name)}_{limb}_tip_mm"] = [round(1e3 * float(x), 9) for x in tip]
    metrics["mujoco_tip_difference_max_mm"] = None if off is None else 1e3 * off
    metrics["poses"] = len(POSES)
    notes = []
    pictures, fault = _pictures(twin, shapes) if twin is not None else (None, "MuJoCo is not installed")
    if twin is None:
        notes.append("MuJoCo is not installed, so the limbs are drawn as lines: pip install 'hydrostat[rigid]'")
    elif pictures is None:
        notes.append(f"the limbs are drawn as lines: {fault}")
    metrics["rendered_by_mujoco"] = pictures is not None
    title = f"squid-poses: {run.limbed.name}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, arms, shapes, title) if pictures is None else _show(path, pictures, title),
        notes=notes,
    )


def _key(name: str) -> str:
    """The name of a pose within the name of a metric."""
    return name.replace(" ", "_")


def _configurations(arms: dict[str, Arm], pose) -> list[np.ndarray]:
    """The coordinates of every limb in a pose; segments that it does not name are straight."""
    found = []
    for name, arm in arms.items():
        rows = np.zeros((arm.count, 3))
        given = np.array(pose.get(name, ()), float).reshape(-1, 3)[: arm.count]
        rows[: len(given)] = given
        theta, phi = np.deg2rad(rows[:, 0]), np.deg2rad(rows[:, 1])
        length = arm.segments.length + 1e-3 * jnp.asarray(rows[:, 2])
        found.append(np.asarray(coordinates_of(arm, Arc(jnp.asarray(theta), jnp.asarray(phi), length))))
    return found


def _tips(arms: dict[str, Arm], shape: list[np.ndarray]) -> np.ndarray:
    """The tips of all limbs in the world, (limbs, 3) [m]."""
    tips = [kinematics.tip_pose(arm, jnp.asarray(q)) for arm, q in zip(arms.values(), shape, strict=True)]
    return np.array([tip.position for tip in tips])


def _mujoco(run: Run, shapes, tips: np.ndarray):
    """The exported robot, and by how much its tips are elsewhere by MuJoCo's own kinematics [m]; None without it."""
    if importlib.util.find_spec("mujoco") is None:
        return None, None
    from hydrostat.exporting import load_mujoco, make_twin, place
    from hydrostat.exporting import tips as tips_of

    twin = make_twin(run.limbed, run.settings.sections, "rrp")
    model, data = load_mujoco(twin)
    worst = 0.0
    for shape, ours in zip(shapes, tips, strict=True):
        place(model, data, twin, *shape)
        theirs = np.array([position for _, position in tips_of(data, twin)])
        worst = max(worst, float(np.linalg.norm(theirs - ours, axis=-1).max()))
    return twin, worst


def _pictures(twin, shapes):
    """A picture of every pose, and of the last one from the side; None and why, where nothing can draw."""
    from hydrostat.exporting.picture import NoRendererError, View, render

    whole = View((-0.26, 0.0, -0.02), 2.45, 146.0, -16.0)
    near = View((0.22, 0.0, -0.10), 1.55, 150.0, -14.0)
    shots = [(shape, whole if i == 0 else near) for i, shape in enumerate(shapes)]
    shots.append((shapes[-1], View((0.25, 0.0, -0.14), 1.5, 90.0, -4.0)))
    try:
        return render(twin, shots, _SIZE), ""
    except NoRendererError as error:
        return None, str(error)


def _record(run: Run, arms: dict[str, Arm], tips: np.ndarray) -> None:
    """Record the tips of all limbs, pose by pose."""
    names = ", ".join(arms)
    variables = [Variable("tip", ("limb", "axis"), tips.shape[1:], "m", f"of the limbs {names}, in the world")]
    attributes = {"scenario": "squid-poses", "robot": run.limbed.name, "poses": ", ".join(POSES)}
    with run.recorder(variables, len(tips), axis="pose", axis_unit="1", attributes=attributes) as recorder:
        recorder.append(np.arange(len(tips), dtype=float), tip=tips)


def _titles() -> list[str]:
    """What stands above each picture."""
    return [f"{name} ({where})" for name, (where, _) in POSES.items()]


def _show(path: Path, pictures: list[np.ndarray], title: str) -> None:
    """MuJoCo's pictures side by side."""
    from hydrostat.results import figures

    figure = figures.new_figure(14.0, 7.4)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    titles = [*_titles(), "all differ, from the side"]
    for axes, picture, name in zip(figure.subplots(2, 3).ravel(), pictures, titles, strict=False):
        axes.imshow(picture)
        axes.set_axis_off()
        axes.set_title(name, loc="left", fontsize=9)
    figures.save(figure, path)


def _draw(path: Path, arms: dict[str, Arm], shapes, title: str) -> None:
    """The limbs as lines in space, where MuJoCo cannot draw."""
    from hydrostat.results import figures

    figure = figures.new_figure(14.0, 7.4)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    lines = [
        [
            np.asarray(kinematics.centreline(arm, jnp.asarray(q), 16).position)
            for arm, q in zip(arms.values(), shape, strict=True)
        ]
        for shape in shapes
    ]
    every = np.concatenate([line for pose in lines for line in pose])
    for i, (pose, name) in enumerate(zip(lines, _titles(), strict=True)):
        axes = figure.add_subplot(2, 3, i + 1, projection="3d")
        for line, color, limb in zip(pose, figures.COLORS, arms, strict=False):
            axes.plot(*line.T, color=color, linewidth=2.5, label=limb)
        figures.frame_space(axes, every)
        axes.set_title(name, loc="left", fontsize=9)
        if i == 0:
            axes.legend(fontsize=7, frameon=False)
    figures.save(figure, path)
