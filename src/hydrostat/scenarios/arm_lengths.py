"""arm-elongate, arm-shorten, arm-bend, arm-twist: single motions of the octopus arm at several activations."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

import hydrostat as hs
from hydrostat.control.commands import Bend, Elongate, Shorten, Twist, part
from hydrostat.results import Digest, drawing, figures, panels
from hydrostat.results.measures import length_ratio, segment_angles
from hydrostat.scenarios.arm import arm_name, arm_system, balance_metrics, fatigued_shares, move
from hydrostat.scenarios.base import Outcome, Run

_HOLD = 10.0  # s that a command outlasts the run, which ends while it is held
_WIDER = 2.5  # factor by which twisted arms are drawn wider than they are
_AT_REST = "#33322e"  # colour of an arm before its muscles contract


@dataclass(frozen=True)
class _View:
    """How the figure shows a motion."""

    heading: str
    unit: str
    course: Callable[[hs.Trajectory], np.ndarray]
    """The quantity that is plotted over time (rows,)."""
    plane: tuple[int, int] = drawing.FRONT
    marked: slice | None = None
    """Segments to mark."""
    apart: float = 0.0
    """Distance by which each arm is drawn below the one before [m]."""
    twisted: bool = False
    """Whether lines along the skin show a twist."""

    @property
    def title(self) -> str:
        """The heading of the panel with the arms."""
        below = ", one below the other" if self.apart else ""
        skin = f"; width x {_WIDER:g}, lines along the skin" if self.twisted else " (pale: at rest)"
        marked = "; active segments marked" if self.marked is not None else ""
        return f"at the end of each run, by activation{below}{skin}{marked}"


_LENGTH = _View("length over that at rest", "", length_ratio)


def elongate(run: Run) -> Outcome:
    """The arm elongates by its radial muscles."""
    return _series(run, "arm-elongate", partial(Elongate, rise=run.settings.rise_seconds), _LENGTH)


def shorten(run: Run) -> Outcome:
    """The arm shortens by its longitudinal muscles."""
    return _series(run, "arm-shorten", Shorten, replace(_LENGTH, apart=0.03))


def bend(run: Run) -> Outcome:
    """The arm bends by the longitudinal muscles of one side."""
    settings = run.settings
    first, last = part(settings.first_segment, settings.last_segment, len(run.robot.segments))
    chosen = slice(settings.first_segment - 1, settings.last_segment)
    azimuth = np.deg2rad(settings.azimuth_deg)

    def about(rows: hs.Trajectory) -> np.ndarray:
        """The bend of these segments about x and y (2, rows)."""
        return segment_angles(rows)[:, chosen, :2].sum(1).T

    def measured(ends: list[hs.Trajectory]) -> dict:
        x, y = np.array([about(one)[:, -1] for one in ends]).T
        degrees = np.rad2deg([np.hypot(x, y), np.arctan2(-x, y)]).tolist()
        return dict(zip(("bend_deg", "bend_azimuth_deg"), degrees, strict=True))

    plane = drawing.ABOVE if abs(np.sin(azimuth)) > np.sqrt(0.5) else drawing.FRONT
    size = _View("bend of the marked segments", "[deg]", lambda rows: np.rad2deg(np.hypot(*about(rows))), plane, chosen)
    return _series(run, "arm-bend", lambda a, t: Bend(a, t, first, last, azimuth), size, measured)


def twist(run: Run) -> Outcome:
    """The arm twists by an oblique muscle; the command refuses arms that have none."""
    modes = run.robot.segments[0].modes
    column = modes.index("twist") if "twist" in modes else 0

    def angle(rows: hs.Trajectory) -> np.ndarray:
        return np.rad2deg(segment_angles(rows)[:, :, column].sum(-1))

    view = _View("twist from base to tip", "[deg]", angle, apart=0.05, twisted=True)
    return _series(run, "arm-twist", Twist, view, lambda ends: {"twist_deg": [float(angle(e)[-1]) for e in ends]})


def _series(run: Run, name: str, command, view: _View, measured=lambda ends: {}) -> Outcome:
    """One run for each activation, held until its end; the last one is recorded."""
    settings, system = run.settings, arm_system(run)
    motions, amounts = [], list(settings.activations)
    for i, amount in enumerate(amounts):
        share = (i / len(amounts), (i + 1) / len(amounts))
        held = command(amount, settings.seconds + _HOLD)
        record = name if i == len(amounts) - 1 else None
        motions.append(move(run, system, held, settings.seconds, share=share, record=record))
    ends = [one.shown[-1:] for one in motions]
    metrics = {
        "activation": amounts,
        "length_ratio": [float(length_ratio(end)[-1]) for end in ends],
        **measured(ends),
        "tip_distance_mm": [1e3 * float(np.linalg.norm(np.ptp(end.points[-1][[0, -1]], axis=0))) for end in ends],
        "muscle_work_mj": [1e3 * float(np.trapezoid(one.values["muscle_power"], one.time)) for one in motions],
        **balance_metrics(motions),
    }
    if tired := [shares for end in ends if (shares := fatigued_shares(end)) is not None]:
        metrics["fatigued_share_max"] = [float(np.max(shares)) for shares in tired]
    title, by_amount = f"{name}: {arm_name(run)}", dict(zip(amounts, motions, strict=True))
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, by_amount, view, title),
        replay=lambda path: motions[-1].shown.replay(path, title),
        sim_seconds=len(amounts) * float(motions[0].time[-1]),
        dt=run.dt,
        steps=len(amounts) * (len(motions[0].time) - 1),
    )


def _draw(path: Path, motions: dict[float, Digest], view: _View, title: str) -> None:
    """The arm at the end of each run, its motion over time, and its muscles' power."""
    figure, grid = panels.new_panels(title, 2, 2, (13.0, 6.5), width_ratios=[1.4, 1])
    side = figure.add_subplot(grid[:, 0])
    for i, (amount, motion) in enumerate(motions.items()):
        color = figures.COLORS[i % len(figures.COLORS)]
        scene = drawing.Scene.of(motion.shown, [0, -1]).moved(-i * view.apart * np.eye(3)[2])
        axis = scene.arms[0].positions[-1]
        if view.twisted:
            panels.draw_twisted(side, scene, -1, color, widened=_WIDER)
        else:
            drawing.draw_arm_side(side, scene, 0, view.plane, 0.15 if i == 0 or view.apart else 0.0, _AT_REST)
            drawing.draw_arm_side(side, scene, -1, view.plane, color=color)
        if view.marked is not None:
            fine = scene.arms[0].per_segment
            marked = axis[fine * view.marked.start : fine * view.marked.stop + 1]
            panels.mark_points(side, marked, view.plane, "-", color=color, linewidth=2.5)
        tip = 1e3 * axis[-1][list(view.plane)]
        side.annotate(f"{amount:g}", tip, fontsize=8, color=color, xytext=(4, 3), textcoords="offset points")
    panels.label_view(side, view.plane, view.title)
    named = {f"{amount:g}": motion for amount, motion in motions.items()}
    courses = {name: view.course(one.shown) for name, one in named.items()}
    powers = {name: 1e3 * one.values["muscle_power"] for name, one in named.items()}
    upper, lower = (figure.add_subplot(grid[row, 1]) for row in range(2))
    panels.draw_curves(upper, {n: one.shown.time for n, one in named.items()}, courses, view.heading, view.unit)
    panels.draw_curves(lower, {n: one.time for n, one in named.items()}, powers, "power of all muscles", "[mW]")
    figures.save(figure, path)
