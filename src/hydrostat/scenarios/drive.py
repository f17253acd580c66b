"""drive: any robot from rest under tensions, activations and loads that rise, or under tensions from a file."""

import jax
import numpy as np

import hydrostat as hs
from hydrostat.control import Ramp, Timeline
from hydrostat.results import load_path
from hydrostat.robots import read_tensions, tendon_count
from hydrostat.scenarios.any_robot import control_of, per_tendon, system_of, tips_mm
from hydrostat.scenarios.base import Outcome, Run

_ROW_S = 5e-3  # from row to row, where steps are not longer


def drive(run: Run) -> Outcome:
    """The motion from the equilibrium under the weight."""
    system, settings = system_of(run), run.settings
    control, every = control_of(system, settings), run.steps_per_row(_ROW_S)
    if settings.csv:
        times, tensions = read_tensions(settings.csv, tendon_count(run.whole))
        tension = jax.vmap(lambda row: per_tendon(system, row))(tensions)
        controller = Timeline(times, hs.Control(tension=tension), control)
        seconds = settings.seconds or max(float(times[-1]), run.dt)
    else:
        controller = Ramp(control, settings.rise_s)
        seconds = settings.seconds or 2.0 * settings.rise_s
    with run.compiling():
        start = load_path(system, hs.Control(), [0.0]).final
    rows = run.simulate(system, controller, seconds, state=start, record=True, every=every)
    tip = np.asarray(rows.tip).reshape(len(rows), -1, 3)
    speed = np.linalg.norm(np.diff(tip, axis=0), axis=-1) / np.diff(np.asarray(rows.time))[:, None]
    energy = np.asarray(rows.energy().total)
    metrics = {
        "tip_mm": tips_mm(tip[-1]),
        "tip_moved_mm": np.linalg.norm(1e3 * (tip[-1] - tip[0]), axis=-1).tolist(),
        "tip_speed_peak_m_s": float(speed.max()),
        "tip_speed_end_m_s": float(speed[-1].max()),
        "energy_change_j": float(energy[-1] - energy[0]),
    }
    title = f"{system.robot.name}, driven"
    return Outcome(
        metrics,
        figure=lambda path: rows.plot(path, title) and None,
        replay=lambda path: rows.replay(path, title),
        sim_seconds=float(rows.time[-1]),
        dt=run.dt,
        steps=every * (len(rows) - 1),
    )
