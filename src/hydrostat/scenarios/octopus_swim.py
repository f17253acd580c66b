"""octopus-swim and octopus-tethered: all arms open slowly and close fast, and the body goes mantle first."""

from pathlib import Path

import numpy as np

import hydrostat as hs
from hydrostat.control.gaits import Swim
from hydrostat.results import figures, panels
from hydrostat.results.measures import axis_error, direction, displacement, stays_from
from hydrostat.robots import stronger
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import beat, move, move_both, octopus, outcome

_NEAR_DEG = 10.0  # from its new course, within which a turn counts as made
_UP = direction(0.0, 0.0)


def swim(run: Run) -> Outcome:
    """Straight up, held on its course by unequal beats, and beside it a turn to another course."""
    settings = run.settings
    animal = octopus(run, ground=False, weight=0.0)
    course = direction(settings.turn_deg, settings.azimuth_deg)
    controllers = [Swim(one, closed_loop=settings.closed_loop, **beat(settings)) for one in (_UP, course)]
    straight, steered = move_both(run, animal, controllers, settings.seconds)
    # From the second beat on its mean speed is steady.
    begun = min(int(np.searchsorted(straight.time, 2.0 * settings.period_s)), len(straight) - 2)
    moved = displacement(straight)
    speed = float((moved[-1] - moved[begun]) @ _UP / (straight.time[-1] - straight.time[begun]))
    off = axis_error(steered, course)
    there = stays_from(off <= _NEAR_DEG)
    metrics = {
        "speed_body_lengths_s": speed / animal.length,
        "speed_mm_s": 1e3 * speed,
        "body_length_mm": 1e3 * animal.length,
        "tilt_max_deg": float(axis_error(straight, _UP).max()),
        "drift_mm": 1e3 * float(np.linalg.norm(moved[-1, :2])),
        "turn_error_deg": float(off[-1]),
        "turn_s": None if there is None else float(steered.time[there]),
    }
    notes = list(animal.notes)
    if there is None:
        notes.append(f"it did not stay within {_NEAR_DEG:g} deg of its new course, {off[-1]:.0f} deg off at the end")
    title = f"octopus-swim: {settings.seconds:g} s, closing {settings.ratio:g} times as fast as opening"
    options = {"sim_seconds": 2.0 * settings.seconds, "notes": notes}
    return outcome(
        run,
        animal,
        (straight, steered),
        metrics,
        title,
        lambda path: _draw(path, straight, steered, course, settings, title),
        **options,
    )


def _draw(path: Path, straight: hs.Trajectory, steered: hs.Trajectory, course, settings, title: str) -> None:
    """From the side within a beat, the height, and the angle from the course."""
    figure, grid = panels.new_panels(title, 2, 4)
    last = max(0.0, straight.time[-1] - 2.0 * settings.period_s)
    opens = settings.ratio / (1.0 + settings.ratio)
    moments = [last + share * settings.period_s for share in (0.0, 0.5 * opens, opens, 0.5 + 0.5 * opens)]
    panels.draw_moments(figure, grid[0, :], straight, np.searchsorted(straight.time, moments).tolist())
    height = 1e3 * displacement(straight)[:, 2]
    panels.draw_curves(figure.add_subplot(grid[1, :2]), straight.time, height, "height above the start", "[mm]")
    angles = {"straight on": axis_error(straight, _UP), "to a new course": axis_error(steered, course)}
    times = dict(zip(angles, (straight.time, steered.time), strict=True))
    panels.draw_curves(figure.add_subplot(grid[1, 2:]), times, angles, "angle from the course", "[deg]", colors=[1, 2])
    figures.save(figure, path)


def tethered(run: Run) -> Outcome:
    """The body is held, and the mean thrust measured, at a ratio of closing to opening, at 1, and at the inverse."""
    settings = run.settings
    run.whole = stronger(run.limbed, settings.stiffness)
    animal = octopus(run, ground=False, weight=0.0, free=False)
    ratios = {"ratio": settings.ratio, "one": 1.0, "inverse": 1.0 / settings.ratio}
    seconds = settings.beats * settings.period_s
    motions, thrusts = [], {}
    for index, (name, ratio) in enumerate(ratios.items()):
        controller = Swim(_UP, closed_loop=False, **{**beat(settings), "ratio": ratio})
        share = (index / len(ratios), (index + 1) / len(ratios))
        motions.append(move(run, animal, controller, seconds, share=share, record=index == 0))
        with run.timed():
            # The tether also carries the rate of the arms' momentum, whose mean over a whole beat is zero.
            axis = np.asarray(motions[-1].body_pose.rotation)[:, :, 2]
            thrusts[name] = np.einsum("ti,ti->t", np.asarray(motions[-1].drag_force()).sum((1, 2)), axis)
    times = motions[0].time
    # The last beat, when the motion has become periodic.
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
    labels = dict(zip(ratios, (f"{settings.ratio:g}", "1", f"1/{settings.ratio:g}"), strict=True))
    curves = {f"ratio {labels[name]}: mean {1e3 * mean[name]:.2f} mN": 1e3 * thrusts[name] for name in ratios}
    options = {"sim_seconds": len(ratios) * seconds, "steps": len(ratios) * (len(times) - 1)}
    return outcome(
        run,
        animal,
        motions,
        metrics,
        title,
        lambda path: _draw_thrust(path, motions[0], curves, title),
        **options,
    )


def _draw_thrust(path: Path, shown: hs.Trajectory, curves: dict, title: str) -> None:
    """The octopus at four moments of the last beat, and the thrust over time at each ratio."""
    figure, grid = panels.new_panels(title, 2, 4)
    rows = np.linspace(2 * len(shown) // 3, len(shown) - 1, 4).astype(int)
    panels.draw_moments(figure, grid[0, :], shown, rows)
    heading = "force of the water along the body's axis"
    panels.draw_curves(figure.add_subplot(grid[1, :]), shown.time, curves, heading, "[mN]")
    figures.save(figure, path)
