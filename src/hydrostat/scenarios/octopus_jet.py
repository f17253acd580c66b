"""octopus-jet: an octopus escapes by pressing water out of its mantle, arms closed behind it."""

from pathlib import Path

import numpy as np

from hydrostat.control import gaits
from hydrostat.results import Trajectory, figures
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import move, octopus, row_steps, way
from hydrostat.scenarios.octopus_swim import draw_sides
from hydrostat.surroundings import Jet


def jet(run: Run) -> Outcome:
    """Some bursts in open water, and beside it the same without the jet."""
    settings = run.settings
    sizes = (1e-6 * settings.volume_ml, 1e-6 * settings.nozzle_mm2, settings.burst_s, settings.refill_s)
    animal = octopus(run, ground=False, weight=0.0, parts=[Jet(*sizes)])
    seconds = settings.delay_s + settings.bursts * (settings.burst_s + settings.refill_s)
    every = row_steps(run)

    def controller(power: float) -> gaits.Jet:
        closing = {"close": settings.close, "stiffen": settings.stiffen}
        return gaits.Jet(
            burst=settings.burst_s, pause=settings.refill_s, delay=settings.delay_s, power=power, **closing
        )

    fled = move(run, animal, controller(1.0), seconds, every=every, share=(0.0, 0.5), record=True)
    without = move(run, animal, controller(0.0), seconds, every=every, share=(0.5, 1.0))
    moved, still = way(fled), way(without)
    velocity = np.gradient(np.asarray(fled.body), fled.time, axis=0)
    thrust = np.linalg.norm(np.asarray(fled.thrust), axis=1)
    first = int(np.searchsorted(fled.time, settings.delay_s + settings.burst_s))
    axis = np.asarray(fled.body_pose.rotation)[:, :, 2]
    water = animal.system.part_state(fled.final, Jet)
    metrics = {
        "escape_mm": 1e3 * float(np.linalg.norm(moved[-1])),
        "escape_body_lengths": float(np.linalg.norm(moved[-1])) / animal.length,
        "without_jet_mm": 1e3 * float(np.linalg.norm(still[-1])),
        "peak_speed_m_s": float(np.linalg.norm(velocity, axis=1).max()),
        "speed_after_first_burst_m_s": float(velocity[min(first, len(velocity) - 1)] @ axis[0]),
        "thrust_max_n": float(thrust.max()),
        "impulse_n_s": float(np.trapezoid(thrust, fled.time)),
        "water_left_share": float(water.full),
        "tilt_max_deg": float(np.rad2deg(np.arccos(np.clip(axis @ axis[0], -1.0, 1.0))).max()),
    }
    title = f"octopus-jet: {settings.bursts} bursts of {settings.volume_ml:g} ml"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, fled, without, thrust, velocity, title),
        replay=lambda path: fled.replay(path, title),
        sim_seconds=2.0 * seconds,
        dt=1e-3 * settings.dt_ms,
        steps=2 * every * (len(fled) - 1),
        notes=animal.notes,
    )


def _draw(path: Path, fled: Trajectory, without: Trajectory, thrust, velocity, title: str) -> None:
    """From the side, the thrust, the speed and the way."""
    figure = figures.new_figure(13.0, 7.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 3)
    draw_sides(figure, grid, fled, [0, len(fled) // 3, len(fled) - 1])
    curves = (
        ("thrust", "[N]", ((thrust, fled, "jet"),)),
        ("speed of the body", "[m/s]", ((np.linalg.norm(velocity, axis=1), fled, "jet"),)),
        ("way", "[mm]", tuple((1e3 * np.linalg.norm(way(one), axis=1), one, name)
                              for one, name in ((fled, "jet"), (without, "arms alone")))),
    )  # fmt: skip
    for column, (name, unit, drawn) in enumerate(curves):
        axes = figure.add_subplot(grid[1, column])
        for color, (values, one, label) in enumerate(drawn):
            axes.plot(one.time, values, color=figures.COLORS[color], label=label)
        if len(drawn) > 1:
            axes.legend(fontsize=8, frameon=False)
        figures.style_axes(axes, name, "time [s]", unit)
    figures.save(figure, path)
