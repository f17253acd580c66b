"""octopus-swim and octopus-tethered: all arms open slowly and close fast, and the body goes mantle first."""

from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.compiling import quick_jit
from hydrostat.control.swimming import Beat, Swim
from hydrostat.mechanics.model import Crown, no_inputs
from hydrostat.results import figures
from hydrostat.robots.limbed import LimbedSpec
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import Animal, Seen, Witness, animal, move, replay, row_steps, way
from hydrostat.stepping import Rows, State
from hydrostat.stepping.base import nodes_of, positions, velocities
from hydrostat.surroundings.water import Water

_GAINS = (2.0, 0.2, 2.0)  # of `Swim`: steer, calm and trim, found by trying
_MOST = 0.6  # of its swing is how far the middle of an arm moves
_THERE_DEG = 10.0  # from its new course where a turn is made


def swimming(octopus: Animal, beat: Beat, aim: np.ndarray, *, looks: bool) -> Swim:
    """The brain that swims towards an aim."""
    steer, calm, trim = (jnp.asarray(gain if looks else 0.0) for gain in _GAINS)
    yaws, most = jnp.asarray(octopus.yaws), jnp.asarray(_MOST)
    return Swim(octopus.anatomy, beat, yaws, jnp.asarray(aim), steer, calm, trim, most)


def beat_of(settings, ratio: float | None = None) -> Beat:
    """The beat that settings describe."""
    last = settings.swing_to
    return Beat.of(settings.swing, settings.stiffen, last, settings.period_s, ratio or settings.ratio)


def course(lean_deg: float, azimuth_deg: float) -> np.ndarray:
    """A direction, leaning from the vertical towards an azimuth."""
    lean, azimuth = np.deg2rad([lean_deg, azimuth_deg])
    return np.array([np.sin(lean) * np.cos(azimuth), np.sin(lean) * np.sin(azimuth), np.cos(lean)])


def off_course(rows: Rows, aim: np.ndarray) -> np.ndarray:
    """The angle from the body's axis to an aim by rows [deg]."""
    axis = np.asarray(rows.state.base_pose.rotation)[:, :, 2]
    return np.rad2deg(np.arctan2(np.linalg.norm(np.cross(axis, aim), axis=1), axis @ aim))


def swim(run: Run) -> Outcome:
    """Straight up, held on its course by unequal beats, and beside it a turn to another course."""
    settings = run.settings
    octopus = animal(run, ground=False, weight=0.0)
    beat, every = beat_of(settings), row_steps(run)
    up, turned = course(0.0, 0.0), course(settings.turn_deg, settings.azimuth_deg)
    with Witness(run, octopus, settings.seconds, every, "octopus-swim") as witness:
        brain = swimming(octopus, beat, up, looks=settings.closed_loop)
        straight = move(run, octopus, brain, settings.seconds, every=every, share=(0.0, 0.5), on_rows=witness)
    seen = witness.seen
    brain = swimming(octopus, beat, turned, looks=settings.closed_loop)
    steered = move(run, octopus, brain, settings.seconds, every=every, share=(0.5, 1.0))
    # From the second beat on it swims as fast as it does.
    begun = min(int(np.searchsorted(straight.time, 2.0 * settings.period_s)), len(straight.time) - 2)
    moved = way(straight)
    speed = float((moved[-1] - moved[begun]) @ up / (straight.time[-1] - straight.time[begun]))
    off = off_course(steered, turned)
    late = np.flatnonzero(off > _THERE_DEG)
    there = late[-1] + 1 if len(late) else 0
    metrics = {
        "speed_body_lengths_s": speed / octopus.length,
        "speed_mm_s": 1e3 * speed,
        "body_length_mm": 1e3 * octopus.length,
        "tilt_max_deg": float(off_course(straight, up).max()),
        "drift_mm": 1e3 * float(np.linalg.norm(moved[-1, :2])),
        "turn_error_deg": float(off[-1]),
        "turn_s": float(steered.time[there]) if there < len(off) else None,
    }
    notes = list(octopus.notes)
    if metrics["turn_s"] is None:
        notes.append(f"it did not stay within {_THERE_DEG:g} deg of its new course, {off[-1]:.0f} deg off at the end")
    title = f"octopus-swim: {settings.seconds:g} s, closing {settings.ratio:g} times as fast as opening"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, straight, steered, seen, up, turned, settings, title),
        replay=lambda path: replay(path, straight, seen, octopus, title),
        sim_seconds=2.0 * settings.seconds,
        dt=1e-3 * settings.dt_ms,
        steps=2 * every * (len(straight.time) - 1),
        notes=notes,
    )


def _draw(path: Path, rows: Rows, steered: Rows, seen: Seen, up, turned, settings, title: str) -> None:
    """From the side within a beat, the way up, and the turn."""
    figure = figures.new_figure(13.0, 7.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 4)
    last = max(0.0, rows.time[-1] - 2.0 * settings.period_s)
    opens = settings.ratio / (1.0 + settings.ratio)
    for column, share in enumerate((0.0, 0.5 * opens, opens, 0.5 + 0.5 * opens)):
        row = int(np.searchsorted(rows.time, last + share * settings.period_s))
        draw_side(figure.add_subplot(grid[0, column]), rows, row, seen)
    axes = figure.add_subplot(grid[1, :2])
    axes.plot(rows.time, 1e3 * way(rows)[:, 2], color=figures.COLORS[0])
    figures.style_axes(axes, "way up", "time [s]", "[mm]")
    axes = figure.add_subplot(grid[1, 2:])
    axes.plot(rows.time, off_course(rows, up), color=figures.COLORS[1], label="straight on")
    axes.plot(steered.time, off_course(steered, turned), color=figures.COLORS[2], label="to a new course")
    axes.legend(fontsize=8, frameon=False)
    figures.style_axes(axes, "angle from the course", "time [s]", "[deg]")
    figures.save(figure, path)


def draw_side(axes, rows: Rows, row: int, seen: Seen) -> None:
    """The octopus from the side, its body in the middle."""
    body = 1e3 * np.asarray(rows.state.base_pose.position)[row]
    for arm, points in enumerate(1e3 * np.asarray(seen.poses.position[row]) - body):
        axes.plot(points[:, 0], points[:, 2], color=figures.COLORS[arm % len(figures.COLORS)], linewidth=1.6)
    axes.plot(0.0, 0.0, "o", color="#c97864", markersize=14)
    axes.set_aspect("equal")
    figures.style_axes(axes, f"from the side, {rows.time[row]:.2f} s", "x [mm]", "z [mm]")


def tethered(run: Run) -> Outcome:
    """The body is held, and the mean thrust measured, at a ratio of closing to opening, at 1, and at the inverse."""
    settings = run.settings
    run.whole = stronger(run.limbed, settings.stiffness)
    octopus, every = animal(run, ground=False, weight=0.0, free=False), 1
    ratios = {"ratio": settings.ratio, "one": 1.0, "inverse": 1.0 / settings.ratio}
    seconds = settings.beats * settings.period_s
    thrusts, times, shown = {}, None, None
    with Witness(run, octopus, seconds, every, "octopus-tethered") as witness:
        for index, (name, ratio) in enumerate(ratios.items()):
            brain = swimming(octopus, beat_of(settings, ratio), course(0.0, 0.0), looks=False)
            share = (index / len(ratios), (index + 1) / len(ratios))
            rows = move(run, octopus, brain, seconds, every=every, share=share, on_rows=None if index else witness)
            with run.timed():
                thrusts[name] = np.asarray(_thrust(octopus.model, octopus.sea.water, rows.state))
            times, shown = rows.time, rows if shown is None else shown
    assert times is not None
    assert shown is not None
    seen = witness.seen
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
        replay=lambda path: replay(path, shown, seen, octopus, title),
        sim_seconds=len(ratios) * seconds,
        dt=1e-3 * settings.dt_ms,
        steps=len(ratios) * (len(times) - 1),
        notes=octopus.notes,
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


@quick_jit
def _thrust(model: Crown, water: Water, state: State):
    """The force of the water on the arms along the body's axis by rows [N].

    What holds the body feels besides how the arms' momentum changes, which is nothing over a whole beat.
    """

    def of_row(state):
        nodes = nodes_of(model, positions(state), velocities(state), no_inputs(model))
        return jnp.sum(water.forces(nodes).force, 0) @ state.base_pose.rotation[:, 2]

    return jax.lax.map(of_row, state)


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
