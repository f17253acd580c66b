"""octopus-jet: an octopus escapes by pressing water out of its mantle, arms closed behind it."""

from dataclasses import replace
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from hydrostat.control.swimming import Beat, Escape
from hydrostat.results import figures
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import Animal, Seen, Witness, animal, move, replay, row_steps, way
from hydrostat.scenarios.octopus_swim import draw_side
from hydrostat.stepping import Rows
from hydrostat.surroundings.sea import Jet


def jet(run: Run) -> Outcome:
    """Some bursts in open water, and beside it the same without the jet."""
    settings = run.settings
    octopus = animal(run, ground=False, weight=0.0)
    sizes = (1e-6 * settings.volume_ml, 1e-6 * settings.nozzle_mm2, settings.burst_s, settings.refill_s)
    octopus = replace(octopus, sea=eqx.tree_at(lambda sea: sea.jet, octopus.sea, Jet(*sizes), is_leaf=_is_none))
    seconds = settings.delay_s + settings.bursts * (settings.burst_s + settings.refill_s)
    every = row_steps(run)
    with Witness(run, octopus, seconds, every, "octopus-jet") as witness:
        rows = move(
            run, octopus, _brain(octopus, settings, 1.0), seconds, every=every, share=(0.0, 0.5), on_rows=witness
        )
    seen = witness.seen
    without = move(run, octopus, _brain(octopus, settings, 0.0), seconds, every=every, share=(0.5, 1.0))
    moved, still = way(rows), way(without)
    velocity = np.gradient(np.asarray(rows.state.base_pose.position), rows.time, axis=0)
    thrust = np.linalg.norm(np.asarray(rows.memory.world.push), axis=1)
    first = int(np.searchsorted(rows.time, settings.delay_s + settings.burst_s))
    axis = np.asarray(rows.state.base_pose.rotation)[:, :, 2]
    metrics = {
        "escape_mm": 1e3 * float(np.linalg.norm(moved[-1])),
        "escape_body_lengths": float(np.linalg.norm(moved[-1])) / octopus.length,
        "without_jet_mm": 1e3 * float(np.linalg.norm(still[-1])),
        "peak_speed_m_s": float(np.linalg.norm(velocity, axis=1).max()),
        "speed_after_first_burst_m_s": float(velocity[min(first, len(velocity) - 1)] @ axis[0]),
        "thrust_max_n": float(thrust.max()),
        "impulse_n_s": float(np.trapezoid(thrust, rows.time)),
        "water_left_share": float(np.asarray(rows.memory.world.left)[-1]),
        "tilt_max_deg": float(np.rad2deg(np.arccos(np.clip(axis @ axis[0], -1.0, 1.0))).max()),
    }
    title = f"octopus-jet: {settings.bursts} bursts of {settings.volume_ml:g} ml"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, rows, without, seen, thrust, velocity, title),
        replay=lambda path: replay(path, rows, seen, octopus, title),
        sim_seconds=2.0 * seconds,
        dt=1e-3 * settings.dt_ms,
        steps=2 * every * (len(rows.time) - 1),
        notes=octopus.notes,
    )


def _is_none(value) -> bool:
    return value is None


def _brain(octopus: Animal, settings, power: float) -> Escape:
    """Arms are kept closed as settings say."""
    beat = Beat.of(settings.close, settings.stiffen, 0.35, 1.0, 1.0)
    numbers = (settings.burst_s, settings.refill_s, settings.delay_s, power)
    return Escape(octopus.anatomy, beat, octopus.model.count, *(jnp.asarray(x) for x in numbers))


def _draw(path: Path, rows: Rows, without: Rows, seen: Seen, thrust, velocity, title: str) -> None:
    """From the side, the thrust, the speed and the way."""
    figure = figures.new_figure(13.0, 7.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 3)
    for column, row in enumerate((0, len(rows.time) // 3, len(rows.time) - 1)):
        draw_side(figure.add_subplot(grid[0, column]), rows, row, seen)
    curves = (
        ("thrust", "[N]", ((thrust, rows, "jet"),)),
        ("speed of the body", "[m/s]", ((np.linalg.norm(velocity, axis=1), rows, "jet"),)),
        ("way", "[mm]", tuple((1e3 * np.linalg.norm(way(r), axis=1), r, n)
                              for r, n in ((rows, "jet"), (without, "arms alone")))),
    )  # fmt: skip
    for column, (name, unit, drawn) in enumerate(curves):
        axes = figure.add_subplot(grid[1, column])
        for color, (values, one, label) in enumerate(drawn):
            axes.plot(one.time, values, color=figures.COLORS[color], label=label)
        if len(drawn) > 1:
            axes.legend(fontsize=8, frameon=False)
        figures.style_axes(axes, name, "time [s]", unit)
    figures.save(figure, path)
