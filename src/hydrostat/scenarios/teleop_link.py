"""teleop-link: the squid's palpation limb driven by hand over three links, through a local model and without it.

Two processes, the operator's and the robot's, exchange packets over sockets; this one plays the link between them. A
recorded motion of 20 s presses twice on an obstacle that the operator's side knows only from the robot's eyes; then the
link is lost, and comes back.
"""

import math
import secrets
from pathlib import Path

import numpy as np

from hydrostat.results import figures, panels
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.teleoperation import (
    TICK,
    LinkConditions,
    Measures,
    Rows,
    SideSettings,
    SimulatedLimb,
    find_limb,
    measure_episode,
    run_experiment,
)

_SHIFT = np.array([-0.08, 0.0, -0.05])  # m, from where the limb hangs to where the hand starts
_INWARD = np.array([0.671, 0.0, -0.741])  # of the obstacle's face: along it the bent limb is stiffest
_AHEAD = 0.020  # m from the tip to the face
_PRESS = (13.2, 15.0)  # s, of the second press, the hand at rest
_OUTAGE = (16.4, 20.9)  # s
_ROW = round(0.02 / TICK)  # ticks from row to row of what is recorded


def link(run: Run) -> Outcome:
    """Drive the limb over all links, and how well it went."""
    settings = run.settings
    links = [
        LinkConditions(
            delay, settings.jitter_s if delay > 0.0 else 0.0, loss, bandwidth or math.inf, (_OUTAGE,), run.seed
        )
        for delay, loss, bandwidth in zip(settings.delay_s, settings.loss, settings.bandwidth_bps, strict=True)
    ]
    with run.compiling("compiling"):
        place = SimulatedLimb(find_limb("squid", "palpation"))
        inward = _turned_about_y(_INWARD / np.linalg.norm(_INWARD), np.deg2rad(settings.face_turn_deg))
        start = place.view.tip + _SHIFT
        ahead = _AHEAD + 1e-3 * settings.face_out_mm
        face = (tuple(start + (ahead + place.tip_radius) * inward), tuple(-inward))
    shared = {"robot": "squid", "limb": "palpation", "episodes": (), "token": secrets.token_urlsafe(16)}
    shared |= {"faces": (face,), "start": tuple(start), "force_scale": settings.force_scale}
    scale = 1.0 - 0.01 * settings.softer_percent
    robot = SideSettings(side="robot", stiffness_scale=scale, contact_stiffness=settings.contact_stiffness, **shared)
    both = [one for conditions in links for one in (conditions, conditions)]
    with run.timed():
        rows = run_experiment(
            robot, SideSettings(side="operator", **shared), both, [True, False] * len(links), settings.seconds,
            lambda done: run.progress("both sides", done),
        )  # fmt: skip
        found = [measure_episode(one, -inward, _PRESS) for one in rows]
        _record(run, rows, -inward)
    title = f"teleop-link: {run.limbed.name}"
    steps = round(settings.seconds * len(rows) / 1e-3)
    return Outcome(
        _metrics(rows, found, links),
        figure=lambda path: _draw(path, rows, found, links, inward, ahead, title),
        sim_seconds=settings.seconds * len(rows),
        dt=1e-3,
        steps=steps,
    )


def _turned_about_y(vector: np.ndarray, angle: float) -> np.ndarray:
    """A vector turned about y by an angle [rad]."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]) @ vector


def _metrics(rows: list[Rows], found: list[Measures], links: list[LinkConditions]) -> dict:
    """The measures of each link through the model, those of direct teleoperation beside them, and what was learnt."""
    mediated, direct = found[::2], found[1::2]
    limits = [None if math.isinf(one.bandwidth) else one.bandwidth for one in links]
    metrics: dict = {"delay_s": [one.delay for one in links], "bandwidth_bps": limits}
    metrics |= {name: [getattr(one, name) for one in mediated] for name in found[0]._fields}
    for name in ("force_max_n", "press_deviation_percent", "contacts", "remote_error_mm"):
        metrics[f"direct_{name}"] = [getattr(one, name) for one in direct]
    metrics["direct_force_ratio"] = [b.force_max_n / a.force_max_n for a, b in zip(mediated, direct, strict=True)]
    metrics["learnt_stiffness_n_m"] = [float(one.operator["stiffness"][-1]) for one in rows[::2]]
    metrics["learnt_modulus_ratio"] = [float(one.operator["scale"][-1]) for one in rows[::2]]
    return metrics


def _record(run: Run, rows: list[Rows], normal: np.ndarray) -> None:
    """Record both sides of all episodes."""
    columns: dict = {}
    of = ("episode",)
    stacks = {
        "remote_tip": ("robot", "tip", "m", (*of, "axis"), "of the robot"),
        "hand": ("operator", "hand", "m", (*of, "axis"), "place of the hand"),
        "played": ("robot", "played", "s", of, "time of the command that the robot follows"),
        "local_force": ("operator", "force", "N", (*of, "axis"), "contact force of the local model"),
        "learnt_modulus": ("operator", "scale", "", of, "Young's modulus over the known one, as estimated"),
        "remote_force": ("robot", "force", "N", (*of, "axis"), "contact force of the robot"),
    }
    for name, (side, own, unit, axes, meaning) in stacks.items():
        values = np.stack([getattr(one, side)[own][::_ROW] for one in rows], 1)
        columns[name] = (values, axes, unit, f"{meaning}; episodes by turns through the model and without")
    run.record("teleop-link", rows[0].robot["time"][::_ROW], columns)


def _draw(
    path: Path, rows: list[Rows], found, links: list[LinkConditions], inward: np.ndarray, ahead: float, title: str
) -> None:
    """For each link: the contact forces, and the depth of hand and tip, through the model and without it."""
    figure, grid = panels.new_panels(title, 2, len(links), (14.0, 7.6))
    for column, conditions in enumerate(links):
        mediated, direct = rows[2 * column], rows[2 * column + 1]
        size = "no limit" if math.isinf(conditions.bandwidth) else f"{1e-3 * conditions.bandwidth:g} kbit/s"
        name = f"{conditions.delay:g} s, {100 * conditions.loss:g} % lost, {size}"
        time = mediated.robot["time"]
        forces = {
            "robot, direct": -direct.robot["force"] @ inward,
            "robot, through the model": -mediated.robot["force"] @ inward,
            "local model": -mediated.operator["force"] @ inward,
        }
        panels.draw_curves(figure.add_subplot(grid[0, column]), time, forces, name, "force [N]", colors=[1, 0, 2])
        start = mediated.operator["hand"][0] @ inward
        depths = {
            "tip, direct": direct.robot["tip"] @ inward,
            "hand": mediated.operator["hand"] @ inward,
            "tip, through the model": mediated.robot["tip"] @ inward,
        }
        depths = {key: 1e3 * (values - start) for key, values in depths.items()}
        axes = figure.add_subplot(grid[1, column])
        panels.draw_curves(axes, time, depths, "along the obstacle's normal", "[mm]", colors=[1, 2, 0])
        panels.draw_level(axes, 1e3 * ahead, "face")
        for begin in _OUTAGE:
            panels.draw_level(axes, begin, upright=True)
    figures.save(figure, path)
