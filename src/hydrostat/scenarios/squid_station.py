"""squid-station: the squid holds its place by its fins while something pulls at the tip of its grasper."""

import numpy as np

from hydrostat.control import Combined, LimbSchedule, SmoothSchedule, VehiclePilot
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.squid_vehicle import ROW_SECONDS, at_rest, common_metrics, draw, sensors, vehicle

_PULLS = 6.0  # s, when the pull begins to grow


def station(run: Run) -> Outcome:
    """Hold the place at which it starts, and how far it was from there."""
    settings = run.settings
    system = vehicle(run, load_places=[1.0])
    start = np.asarray(system.robot.T_world_body.position)
    azimuth, down = np.deg2rad(settings.pull_deg), np.deg2rad(settings.pull_down_deg)
    level = np.cos(down)
    pull = settings.pull_n * np.array([level * np.cos(azimuth), level * np.sin(azimuth), -np.sin(down)])
    force = SmoothSchedule([_PULLS], [settings.rise_s], [pull])
    pilot = VehiclePilot(start[None], heading=0.0, use_jet=settings.jet)
    every = run.steps_per_row(ROW_SECONDS)
    options = {"state": at_rest(system, 0.0), "every": every, "sensors": sensors(run)}
    both = Combined(pilot, LimbSchedule("grasper", force=force))
    held = run.simulate(system, both, settings.seconds, record=True, label="holding", **options)
    away = 1e3 * (np.asarray(held.body) - start)
    off = np.linalg.norm(away, axis=1)
    pulling = np.asarray(held.time) >= _PULLS
    R = np.asarray(held.body_pose.rotation)
    tips = np.asarray(held.tip)[:, 0]
    end = np.asarray(held.time) > held.time[-1] - 2.0
    metrics = {
        "position_error_max_mm": float(off.max()),
        "position_error_pulled_max_mm": float(off[pulling].max()),
        "position_error_end_mm": float(off[end].mean()),
        "heading_error_max_deg": float(np.rad2deg(np.abs(np.arctan2(R[:, 1, 2], R[:, 0, 2])).max())),
        "depth_error_max_mm": float(np.abs(away[:, 2]).max()),
        "tip_moved_mm": 1e3 * float(np.linalg.norm(tips[-1] - tips[~pulling][-1])),
        **common_metrics(held),
    }
    title = f"squid-station: the grasper pulls with {settings.pull_n:g} N, current of {settings.current_m_s:g} m/s"
    parts = {axis: away[:, i] for i, axis in enumerate("xyz")}
    pulled = np.array([np.linalg.norm(force(t)) for t in np.asarray(held.time)])
    return Outcome(
        metrics,
        figure=lambda path: draw(
            path, held, title, start[None], {"way from its place": (parts, "[mm]"), "pull": (pulled, "[N]")}, 3
        ),
        replay=lambda path: held.replay(path, title),
        sim_seconds=settings.seconds,
        dt=run.dt,
        steps=every * (len(held) - 1),
    )
