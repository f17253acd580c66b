"""What the scenarios of the swimming squid share: the vehicle in the sea, its sensors, its measures and its figure."""

from collections.abc import Sequence
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.results import drawing, figures, panels
from hydrostat.robots import LimbedSpec, build_robot, squid_fins, squid_jet
from hydrostat.robots.specs import squid as numbers
from hydrostat.scenarios.base import Run
from hydrostat.surroundings import AbstractSurroundings, Fins, MantleJet

ROW_SECONDS = 0.05


def current_of(settings) -> np.ndarray:
    """The velocity of the water [m/s]."""
    angle = np.deg2rad(settings.current_deg)
    return settings.current_m_s * np.array([np.cos(angle), np.sin(angle), 0.0])


def vehicle(
    run: Run, parts: Sequence[AbstractSurroundings] = (), spec: LimbedSpec | None = None, **options
) -> hs.System:
    """The squid with its drives in the sea.

    **Arguments:** `parts`: other surroundings; `spec`: the squid, where it is not that of the run; `options`: as those
    of `build_robot`.
    """
    water = hs.Water(numbers.WATER, current=current_of(run.settings), added_mass=1.0)
    return hs.System(build_robot(spec or run.limbed, **options), [water, squid_fins(), squid_jet(), *parts])


def at_rest(system: hs.System, heading: float) -> hs.State:
    """The state at rest with the bow at an angle from the world's x [rad]."""
    c, s = np.cos(heading), np.sin(heading)
    state = system.rest()
    turned = jnp.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ state.base_pose.rotation
    return state._replace(base_pose=hs.SE3(turned, state.base_pose.position))


def sensors(run: Run) -> hs.Sensors:
    """The sensors that the noise of the settings makes: `noise` times that of the numbers here, all assumed."""
    much = run.settings.noise
    rate = 5.0 if much else None
    return hs.Sensors(
        pose=hs.Sensor(
            noise=0.01 * much, rate_noise=0.01 * much, turn_noise=0.005 * much, turn_rate_noise=0.005 * much
        ),
        depth=hs.Sensor(noise=0.005 * much, rate=10.0 if much else None),
        flow=hs.Sensor(noise=0.02 * much, rate=rate),
        seed=run.seed,
    )


def common_metrics(trajectory: hs.Trajectory) -> dict:
    """Attitude, and the work of the drives."""
    R = np.asarray(trajectory.body_pose.rotation)
    system, end = trajectory.system, trajectory.final
    fins, jet = system.part_state(end, Fins), system.part_state(end, MantleJet)
    thrust = np.linalg.norm(np.asarray(trajectory.thrust), axis=1)
    return {
        "pitch_max_deg": float(np.rad2deg(np.abs(np.arcsin(np.clip(R[:, 2, 2], -1.0, 1.0))).max())),
        "roll_max_deg": float(np.rad2deg(np.abs(np.arcsin(np.clip(R[:, 2, 1], -1.0, 1.0))).max())),
        "fin_work_j": float(fins.work),
        "pump_work_j": float(jet.pump_work),
        "jet_impulse_n_s": float(np.trapezoid(thrust, trajectory.time)),
    }


def draw(path: Path, trajectory: hs.Trajectory, title: str, points: np.ndarray, curves: dict, moments: int = 6) -> None:
    """The squid from above and from the side, with points to pass, and curves over time.

    **Arguments:** `curves`: (values, unit) by title, two of them.
    """
    figure, grid = panels.new_panels(title, 2, 4, (14.0, 7.6))
    for cell, plane in ((grid[0, 0:2], drawing.ABOVE), (grid[1, 0:2], drawing.FRONT)):
        axes = figure.add_subplot(cell)
        panels.draw_snapshots(axes, trajectory, moments, plane)
        path_mm = np.asarray(trajectory.body)[:, list(plane)] * 1e3
        axes.plot(*path_mm.T, color=figures.COLORS[0], linewidth=0.9, zorder=4)
        panels.mark_points(axes, points, plane, "o--", linewidth=0.8)
    states = trajectory.state.surroundings
    fins = next(own for part, own in zip(trajectory.system.surroundings, states, strict=True) if isinstance(part, Fins))
    beats = np.rad2deg(np.asarray(fins.amplitude))
    for i, kind in enumerate(("waves", "flaps")):
        names = [f"{side} {n + 1}" for side in ("port", "starboard") for n in range(beats.shape[1] // 2)]
        curves = {**curves, f"{kind} of the fins": ({name: beats[:, k, i] for k, name in enumerate(names)}, "[deg]")}
    for place, (heading, (values, unit)) in enumerate(curves.items()):
        axes = figure.add_subplot(grid[place // 2, 2 + place % 2])
        panels.draw_curves(axes, trajectory.time, values, heading, unit, width=0.9)
    figures.save(figure, path)
