"""octopus-jet: an octopus escapes by pressing water out of its mantle, arms closed behind it."""

from pathlib import Path

import numpy as np

import hydrostat as hs
from hydrostat.results import figures, panels
from hydrostat.results.measures import displacement
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import move_both, octopus, outcome


def jet(run: Run) -> Outcome:
    """Some bursts in open water and, beside it, the same without the jet."""
    settings = run.settings
    sizes = (1e-6 * settings.volume_ml, 1e-6 * settings.nozzle_mm2, settings.burst_s, settings.refill_s)
    animal = octopus(run, ground=False, weight=1.0 - settings.buoyancy, parts=[hs.Jet(*sizes)])
    timing = {"burst": settings.burst_s, "pause": settings.refill_s, "delay": settings.delay_s}
    arms = {"close": settings.close, "stiffen": settings.stiffen}
    seconds = settings.delay_s + settings.bursts * (settings.burst_s + settings.refill_s)
    controllers = [hs.gaits.Jet(power=power, **timing, **arms) for power in (1.0, 0.0)]
    fled, without = move_both(run, animal, controllers, seconds)
    # Along the axis of the body at the start, upwards: without a jet its weight makes it sink.
    up = np.asarray(fled.body_pose.rotation)[0, :, 2]
    moved, still = (displacement(one) @ up for one in (fled, without))
    velocity = np.gradient(np.asarray(fled.body), fled.time, axis=0)
    thrust = np.linalg.norm(np.asarray(fled.thrust), axis=1)
    first = int(np.searchsorted(fled.time, settings.delay_s + settings.burst_s))
    axis = np.asarray(fled.body_pose.rotation)[:, :, 2]
    metrics = {
        "escape_mm": 1e3 * float(moved[-1]),
        "escape_body_lengths": float(moved[-1]) / animal.length,
        "without_jet_mm": 1e3 * float(still[-1]),
        "peak_speed_m_s": float(np.linalg.norm(velocity, axis=1).max()),
        "speed_after_first_burst_m_s": float(velocity[min(first, len(velocity) - 1)] @ axis[0]),
        "thrust_max_n": float(thrust.max()),
        "impulse_n_s": float(np.trapezoid(thrust, fled.time)),
        "water_left_share": float(animal.system.part_state(fled.final, hs.Jet).full),
        "tilt_max_deg": float(np.rad2deg(np.arccos(np.clip(axis @ axis[0], -1.0, 1.0))).max()),
    }
    title = f"octopus-jet: {settings.bursts} bursts of {settings.volume_ml:g} ml"
    return outcome(
        run,
        animal,
        (fled, without),
        metrics,
        title,
        lambda path: _draw(path, fled, without, thrust, velocity, title),
        sim_seconds=2.0 * seconds,
    )


def _draw(path: Path, fled: hs.Trajectory, without: hs.Trajectory, thrust, velocity, title: str) -> None:
    """From the side, the thrust, the speed and the distance."""
    figure, grid = panels.new_panels(title, 2, 3)
    panels.draw_moments(figure, grid[0, :], fled, [0, len(fled) // 3, len(fled) - 1])
    up = np.asarray(fled.body_pose.rotation)[0, :, 2]
    distance = {"jet": 1e3 * displacement(fled) @ up, "arms alone": 1e3 * displacement(without) @ up}
    curves = (
        ("thrust", "[N]", thrust),
        ("speed of the body", "[m/s]", np.linalg.norm(velocity, axis=1)),
        ("way of the body along its axis at the start", "[mm]", distance),
    )
    for column, (heading, unit, values) in enumerate(curves):
        panels.draw_curves(figure.add_subplot(grid[1, column]), fled.time, values, heading, unit)
    figures.save(figure, path)
