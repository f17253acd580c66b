"""squid-twin-dynamics: one limb let go from a bent pose, in air and in water, beside its twin in MuJoCo."""

from pathlib import Path

import numpy as np

import hydrostat as hs
from hydrostat import exporting
from hydrostat.actuation import arc_coordinates
from hydrostat.errors import InputError
from hydrostat.results import drawing, figures, panels
from hydrostat.robots import RobotSpec, build_robot, detached_limb
from hydrostat.scenarios.base import Outcome, Run

_ROW_SECONDS = 0.01  # from row to row
_SEA_WATER = 1025.0  # kg/m^3, as the exported files have it
_AXES = {"squid": None, "down": (0.0, 0.0, -1.0), "up": (0.0, 0.0, 1.0)}
_SNAPSHOTS = (0.0, 0.1, 0.25, 0.5, 1.0)
"""Shares of the time at which the limb is drawn."""


def twin_dynamics(run: Run) -> Outcome:
    """Let the limb go, here and in MuJoCo, and compare their tips."""
    settings = run.settings
    try:
        exporting.import_mujoco()
    except ImportError as error:
        raise InputError(str(error)) from None
    spec = detached_limb(run.limbed, settings.limb, _AXES[settings.mount])
    each, every = _sections(run, spec), run.steps_per_row(_ROW_SECONDS)
    if abs(every * run.dt - _ROW_SECONDS) > 1e-9:
        raise InputError(f"`dt_ms` must divide a row of {1e3 * _ROW_SECONDS:g} ms; got {settings.dt_ms:g} ms")
    robot = build_robot(spec.cut(each) if each > 1 else spec)
    q, length = _bent(robot, settings.bend_deg, settings.azimuth_deg), float(robot.arm.length)
    rows = max(round(settings.seconds / _ROW_SECONDS), 1)
    seconds = rows * _ROW_SECONDS
    waters = {
        "air": [],
        "water": [hs.Water(_SEA_WATER, added_mass=settings.added_mass)],
        "water, drag alone": [hs.Water(_SEA_WATER)],
    }
    own, factors = {}, {}
    for name, water in waters.items():
        system = hs.System(robot, water)
        before = run.wall_seconds
        options = {"state": system.rest(q), "every": every, "label": name}
        own[name] = run.simulate(system, None, seconds, **options)
        factors[name] = seconds / (run.wall_seconds - before)
    twins, twin_dt = {}, 1e-3 * settings.twin_dt_ms or None
    with run.timed():
        for name in ("air", "water"):
            run.progress(f"MuJoCo, {name}", 0.0)
            options = {"dt": twin_dt, "water": name == "water"}
            twins[name] = exporting.release_twin(spec, each, q, rows, _ROW_SECONDS, **options)
        points = {name.replace(", ", "_").replace(" ", "_"): np.asarray(one.points) for name, one in own.items()}
        points |= {f"twin_{name}": motion.points for name, motion in twins.items()}
        text = "ends of sections in the world: {}"
        columns = {
            f"position_{name}": (one, ("node", "axis"), "m", text.format(name.replace("_", " ")))
            for name, one in points.items()
        }
        run.record("squid-twin-dynamics", np.arange(rows + 1) * _ROW_SECONDS, columns)
    apart = {
        name: 100.0 * np.linalg.norm(np.asarray(one.tip) - twins[name.split(",")[0]].points[:, -1], axis=-1) / length
        for name, one in own.items()
    }
    moved = {name: 100.0 * np.linalg.norm(one.tip - one.tip[0], axis=-1).max() / length for name, one in own.items()}
    metrics = {
        "tip_difference_percent": float(apart["air"].max()),
        "tip_difference_mean_percent": float(apart["air"].mean()),
        "tip_difference_water_percent": float(apart["water"].max()),
        "tip_difference_water_drag_alone_percent": float(apart["water, drag alone"].max()),
        "tip_motion_percent": float(moved["air"]),
        "tip_motion_water_percent": float(moved["water"]),
        "real_time_factor_air": factors["air"],
        "real_time_factor_water": factors["water"],
        "real_time_factor_twin_air": seconds / twins["air"].wall,
        "real_time_factor_twin_water": seconds / twins["water"].wall,
        "twin_dt_ms": 1e3 * twins["water"].dt,
        "sections": settings.sections,
    }
    title = f"squid-twin-dynamics: {settings.limb} limb, {settings.sections} sections"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, own, twins, apart, title),
        sim_seconds=seconds * (len(own) + len(twins)),
        dt=run.dt,
        steps=rows * every * len(own),
    )


def _sections(run: Run, spec: RobotSpec) -> int:
    """The sections of each segment of the limb."""
    settings, count = run.settings, len(spec.segments)
    if settings.sections % count:
        rule = f"must be a multiple of {count}, the segments of the {settings.limb} limb"
        raise InputError(f"`sections` {rule}; got {settings.sections}")
    return settings.sections // count


def _bent(robot: hs.Robot, bend_deg: float, azimuth_deg: float) -> np.ndarray:
    """The coordinates of a limb that is bent evenly."""
    arm = robot.arm
    length = np.asarray(arm.segments.length)[None]
    angle = np.deg2rad(bend_deg) * length / float(arm.length)
    return np.asarray(arc_coordinates(arm, angle, np.full_like(angle, np.deg2rad(azimuth_deg)), length))[0]


def _draw(path: Path, own: dict[str, hs.Trajectory], twins: dict, apart: dict, title: str) -> None:
    """Snapshots with MuJoCo's sections as dots, the height of the tip over time, and the distance of the tips."""
    figure, grid = panels.new_panels(title, 2, 3, (13.0, 7.2))
    times = np.asarray(own["air"].time)
    rows = [round(share * (len(times) - 1)) for share in _SNAPSHOTS]
    for row, name in enumerate(("air", "water")):
        shape, height, gap = (figure.add_subplot(grid[row, column]) for column in range(3))
        panels.draw_snapshots(shape, own[name], rows, drawing.FRONT, f"in {name}; dots: MuJoCo")
        for moment in rows:
            panels.mark_points(shape, twins[name].points[moment], drawing.FRONT, "o", color="#33322e", markersize=2)
        motions = {label: one for label, one in own.items() if label.startswith(name)}
        tips = {"hydrostat" + label[len(name) :]: np.asarray(one.tip) for label, one in motions.items()}
        tips["MuJoCo"] = twins[name].points[:, -1]
        heights = {label: 1e3 * (tip[:, 2] - own[name].points[0, 0, 2]) for label, tip in tips.items()}
        styles = {"colors": [1, 3, 0] if len(motions) > 1 else [1, 0], "styles": ["-", ":", "--"]}
        panels.draw_curves(height, times, heights, "height of the tip", "[mm]", **styles)
        gaps = {"hydrostat" + label[len(name) :]: apart[label] for label in motions}
        panels.draw_curves(gap, times, gaps, "distance of the tips from MuJoCo's", "[% of length]", **styles)
    figures.save(figure, path)
