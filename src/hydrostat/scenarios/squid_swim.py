"""squid-swim: the squid swims from waypoint to waypoint in a current, by its fins and its jet."""

from itertools import pairwise

import numpy as np

from hydrostat.control import VehiclePilot
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.squid_vehicle import (
    ROW_SECONDS,
    at_rest,
    common_metrics,
    current_of,
    draw,
    sensors,
    vehicle,
)

_REACHED = 0.1  # m, from the last waypoint


def swim(run: Run) -> Outcome:
    """Swim along the waypoints, and how far off the straight legs between them it was."""
    settings = run.settings
    system = vehicle(run)
    waypoints = np.reshape(settings.waypoints_m, (-1, 3))
    start = np.asarray(system.robot.T_world_body.position)
    corners = np.concatenate([start[None], waypoints])
    leg = corners[1] - corners[0]
    # It starts at rest, its bow where the first leg leads as seen from the water.
    through = settings.speed_m_s * leg / max(np.linalg.norm(leg), 1e-9) - current_of(settings)
    state = at_rest(system, float(np.arctan2(through[1], through[0])))
    pilot = VehiclePilot(waypoints, settings.speed_m_s, use_jet=settings.jet)
    every = run.steps_per_row(ROW_SECONDS)
    options = {"state": state, "every": every, "sensors": sensors(run)}
    swum = run.simulate(system, pilot, settings.seconds, record=True, label="swimming", **options)
    off, memory = 1e3 * _distances(np.asarray(swum.body), corners), swum.memory
    left = float(np.linalg.norm(np.asarray(swum.body)[-1] - corners[-1]))
    length = float(np.linalg.norm(np.diff(corners, axis=0), axis=1).sum())
    covered = float(memory.along[-1])
    there = np.asarray(memory.along) >= length - _REACHED
    metrics = {
        "path_error_max_mm": float(off.max()),
        "path_error_rms_mm": float(np.sqrt(np.mean(off**2))),
        "path_m": length,
        "covered_m": covered,
        "reached": left <= _REACHED,
        "left_mm": 1e3 * left,
        "arrival_s": float(swum.time[int(np.argmax(there))]) if there.any() else None,
        "turn_max_deg": float(np.rad2deg(np.ptp(np.unwrap(np.asarray(swum.memory.heading))))),
        **common_metrics(swum),
    }
    title = f"squid-swim: {settings.speed_m_s:g} m/s over ground, current of {settings.current_m_s:g} m/s"
    speed = np.linalg.norm(np.gradient(np.asarray(swum.body), swum.time, axis=0), axis=1)
    curves = {"distance from the legs": (off, "[mm]"), "speed over ground": (speed, "[m/s]")}
    notes = [] if metrics["reached"] else [f"the last waypoint is {left:.2f} m away: take more `seconds`"]
    return Outcome(
        metrics,
        figure=lambda path: draw(path, swum, title, corners, curves, 8),
        replay=lambda path: swum.replay(path, title),
        sim_seconds=settings.seconds,
        dt=run.dt,
        steps=every * (len(swum) - 1),
        notes=notes,
    )


def _distances(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """The distances of points from the straight legs between corners [m]."""
    nearest = np.full(len(points), np.inf)
    for a, b in pairwise(corners):
        leg = b - a
        share = np.clip((points - a) @ leg / max(leg @ leg, 1e-12), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(points - a - share[:, None] * leg, axis=1))
    return nearest
