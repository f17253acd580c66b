"""octopus-swim and octopus-tethered: all arms open slowly and close fast, and the body goes mantle first."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from hydrostat.control.gaits import Swim
from hydrostat.results import Trajectory, drawing, figures
from hydrostat.robots.limbed import LimbedSpec
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import move, octopus, row_steps, way

_THERE_DEG = 10.0  # from its new course where a turn is made


def swimming(settings, direction: np.ndarray, *, closed_loop: bool, ratio: float | None = None) -> Swim:
    """The controller that swims in a direction with the beat that settings describe."""
    return Swim(
        direction,
        closed_loop=closed_loop,
        swing=settings.swing,
        stiffen=settings.stiffen,
        last=settings.swing_to,
        period=settings.period_s,
        ratio=ratio or settings.ratio,
    )


def course(lean_deg: float, azimuth_deg: float) -> np.ndarray:
    """A direction, leaning from the vertical towards an azimuth."""
    lean, azimuth = np.deg2rad([lean_deg, azimuth_deg])
    return np.array([np.sin(lean) * np.cos(azimuth), np.sin(lean) * np.sin(azimuth), np.cos(lean)])


def off_course(trajectory: Trajectory, aim: np.ndarray) -> np.ndarray:
    """The angle from the body's axis to an aim by rows [deg]."""
    axis = np.asarray(trajectory.body_pose.rotation)[:, :, 2]
    return np.rad2deg(np.arctan2(np.linalg.norm(np.cross(axis, aim), axis=1), axis @ aim))


def swim(run: Run) -> Outcome:
    """Straight up, held on its course by unequal beats, and beside it a turn to another course."""
    settings, every = run.settings, row_steps(run)
    animal = octopus(run, ground=False, weight=0.0)
    up, turned = course(0.0, 0.0), course(settings.turn_deg, settings.azimuth_deg)
    controller = swimming(settings, up, closed_loop=settings.closed_loop)
    straight = move(run, animal, controller, settings.seconds, every=every, share=(0.0, 0.5), record=True)
    controller = swimming(settings, turned, closed_loop=settings.closed_loop)
    steered = move(run, animal, controller, settings.seconds, every=every, share=(0.5, 1.0))
    # From the second beat on it swims as fast as it does.
    begun = min(int(np.searchsorted(straight.time, 2.0 * settings.period_s)), len(straight) - 2)
    moved = way(straight)
    speed = float((moved[-1] - moved[begun]) @ up / (straight.time[-1] - straight.time[begun]))
    off = off_course(steered, turned)
    late = np.flatnonzero(off > _THERE_DEG)
    there = late[-1] + 1 if len(late) else 0
    metrics = {
        "speed_body_lengths_s": speed / animal.length,
        "speed_mm_s": 1e3 * speed,
        "body_length_mm": 1e3 * animal.length,
        "tilt_max_deg": float(off_course(straight, up).max()),
        "drift_mm": 1e3 * float(np.linalg.norm(moved[-1, :2])),
        "turn_error_deg": float(off[-1]),
        "turn_s": float(steered.time[there]) if there < len(off) else None,
    }
    notes = list(animal.notes)
    if metrics["turn_s"] is None:
        notes.append(f"it did not stay within {_THERE_DEG:g} deg of its new course, {off[-1]:.0f} deg off at the end")
    title = f"octopus-swim: {settings.seconds:g} s, closing {settings.ratio:g} times as fast as opening"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, straight, steered, up, turned, settings, title),
        replay=lambda path: straight.replay(path, title),
        sim_seconds=2.0 * settings.seconds,
        dt=1e-3 * settings.dt_ms,
        steps=2 * every * (len(straight) - 1),
        notes=notes,
    )


def _draw(path: Path, straight: Trajectory, steered: Trajectory, up, turned, settings, title: str) -> None:
    """From the side within a beat, the way up, and the turn."""
    figure = figures.new_figure(13.0, 7.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 4)
    last = max(0.0, straight.time[-1] - 2.0 * settings.period_s)
    opens = settings.ratio / (1.0 + settings.ratio)
    moments = [last + share * settings.period_s for share in (0.0, 0.5 * opens, opens, 0.5 + 0.5 * opens)]
    draw_sides(figure, grid, straight, [int(np.searchsorted(straight.time, moment)) for moment in moments])
    axes = figure.add_subplot(grid[1, :2])
    axes.plot(straight.time, 1e3 * way(straight)[:, 2], color=figures.COLORS[0])
    figures.style_axes(axes, "way up", "time [s]", "[mm]")
    axes = figure.add_subplot(grid[1, 2:])
    axes.plot(straight.time, off_course(straight, up), color=figures.COLORS[1], label="straight on")
    axes.plot(steered.time, off_course(steered, turned), color=figures.COLORS[2], label="to a new course")
    axes.legend(fontsize=8, frameon=False)
    figures.style_axes(axes, "angle from the course", "time [s]", "[deg]")
    figures.save(figure, path)


def draw_sides(figure, grid, trajectory: Trajectory, rows: list[int]) -> None:
    """The octopus from the side at some rows, in the upper row of a grid."""
    rows = [min(row, len(trajectory) - 1) for row in rows]
    scene = drawing.Scene.of(trajectory, rows)
    for column, row in enumerate(rows):
        axes = figure.add_subplot(grid[0, column])
        drawing.draw_side(axes, scene, column)
        figures.style_axes(axes, f"from the side, {trajectory.time[row]:.2f} s", "x [mm]", "z [mm]")


def tethered(run: Run) -> Outcome:
    """The body is held, and the mean thrust measured, at a ratio of closing to opening, at 1, and at the inverse."""
    settings = run.settings
    run.whole = stronger(run.limbed, settings.stiffness)
    animal = octopus(run, ground=False, weight=0.0, free=False)
    ratios = {"ratio": settings.ratio, "one": 1.0, "inverse": 1.0 / settings.ratio}
    seconds = settings.beats * settings.period_s
    moves, thrusts = [], {}
    for index, (name, ratio) in enumerate(ratios.items()):
        controller = swimming(settings, course(0.0, 0.0), closed_loop=False, ratio=ratio)
        share = (index / len(ratios), (index + 1) / len(ratios))
        moves.append(move(run, animal, controller, seconds, share=share, record=index == 0))
        with run.timed():
            # What holds the body feels besides how the arms' momentum changes, which is nothing over a whole beat.
            along = np.asarray(moves[-1].body_pose.rotation)[:, :, 2]
            force = np.asarray(moves[-1].drag_force()).sum((1, 2))
            thrusts[name] = np.einsum("ti,ti->t", force, along)
    shown = moves[0]
    times = shown.time
    # The last beat, when it does the same over and over.
    last = times > times[-1] - settings.period_s + 1e-9
    mean = {name: float(np.mean(force[last])) for name, force in thrusts.items()}
    metrics = {
        "thrust_mn": 1e3 * mean["ratio"],
        "thrust_at_one_mn": 1e3 * mean["one"],
        "thrust_at_inverse_mn": 1e3 * mean["inverse"],
        "thrust_at_one_share": mean["one"] / mean["ratio"],
        "thrust_at_inverse_share": mean["inverse"] / mean["ratio"],
    }
    title = f"octopus-tethered: closing {settings.ratio:g} times as fast as opening, as fast, and the other way round"
    return Outcome(
        metrics,
        figure=lambda path: _draw_thrust(path, times, thrusts, mean, settings, title),
        replay=lambda path: shown.replay(path, title),
        sim_seconds=len(ratios) * seconds,
        dt=1e-3 * settings.dt_ms,
        steps=len(ratios) * (len(times) - 1),
        notes=animal.notes,
    )


def stronger(spec: LimbedSpec, factor: float) -> LimbedSpec:
    """The same octopus with tissue and muscles so many times as strong, so that arms do what muscles say at once."""

    def arm(one):
        tissue, muscles = one.material, one.muscles
        return replace(
            one,
            material=replace(
                tissue, youngs_modulus=factor * tissue.youngs_modulus, viscosity=factor * tissue.viscosity
            ),
            muscles=replace(muscles, stress=factor * muscles.stress, stiffness=factor * muscles.stiffness),
        )

    return replace(spec, limbs=tuple(replace(limb, arm=arm(limb.arm)) for limb in spec.limbs))


def _draw_thrust(path: Path, times, thrusts, mean, settings, title: str) -> None:
    """The thrust over time at each ratio."""
    figure = figures.new_figure(9.0, 4.5)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    axes = figure.add_subplot()
    labels = {"ratio": f"{settings.ratio:g}", "one": "1", "inverse": f"1/{settings.ratio:g}"}
    for color, (name, force) in enumerate(thrusts.items()):
        label = f"ratio {labels[name]}: mean {1e3 * mean[name]:.2f} mN"
        axes.plot(times, 1e3 * force, color=figures.COLORS[color], label=label)
    axes.legend(fontsize=8, frameon=False)
    figures.style_axes(axes, "force of the water along the body's axis", "time [s]", "[mN]")
    figures.save(figure, path)
