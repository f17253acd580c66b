"""octopus-float: an octopus beats its arms where nothing is around it, and its momentum must stay what it was."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

from hydrostat.results import Trajectory, figures
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import Octopus, move, octopus, row_steps, way, yaw
from hydrostat.scenarios.octopus_swim import course, draw_sides, swimming
from hydrostat.stepping import SDIRK2, KeepMomentum
from hydrostat.system import System


def floating(run: Run) -> Outcome:
    """Beats in empty space: arms push the body about, and all of them together do not move."""
    settings, every = run.settings, row_steps(run)
    sea = octopus(run, ground=False, weight=0.0)
    empty = System(sea.system.robot, gravity=jnp.zeros(3), muscle_gains=sea.system.muscles.gains)
    animal = Octopus(empty, (), sea.notes)
    controller = swimming(settings, course(0.0, 0.0), closed_loop=False)
    stepper = KeepMomentum(SDIRK2())
    floated = move(run, animal, controller, settings.seconds, every=every, record=True, stepper=stepper)
    momentum = np.asarray(floated.momentum())
    linear, angular = momentum[:, 3:], momentum[:, :3]
    kinetic = np.asarray(floated.energy().kinetic)
    robot = animal.system.robot
    assert robot.base_inertia is not None
    mass = float(jnp.sum(robot.one.inertia[..., 3])) * robot.count + float(robot.base_inertia[3])
    size = np.sqrt(2.0 * mass * kinetic.max())
    metrics = {
        "momentum_error": float(np.abs(linear).max() / size),
        "angular_momentum_error": float(np.abs(angular).max() / (size * animal.length)),
        "kinetic_energy_max_mj": 1e3 * float(kinetic.max()),
        "body_way_max_mm": 1e3 * float(np.linalg.norm(way(floated), axis=1).max()),
        "body_turn_max_deg": float(np.abs(yaw(floated)).max()),
    }
    title = f"octopus-float: {settings.seconds:g} s of beats in empty space"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, floated, linear / size, title),
        replay=lambda path: floated.replay(path, title),
        sim_seconds=settings.seconds,
        dt=1e-3 * settings.dt_ms,
        steps=every * (len(floated) - 1),
        notes=animal.notes,
    )


def _draw(path: Path, floated: Trajectory, linear: np.ndarray, title: str) -> None:
    """From the side at four moments, how the body is pushed about, and the momentum."""
    figure = figures.new_figure(13.0, 7.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 4)
    draw_sides(figure, grid, floated, np.linspace(0, len(floated) - 1, 4).astype(int).tolist())
    axes = figure.add_subplot(grid[1, :2])
    for index, name in enumerate("xyz"):
        axes.plot(floated.time, 1e3 * way(floated)[:, index], color=figures.COLORS[index], label=name)
    axes.legend(fontsize=8, frameon=False)
    figures.style_axes(axes, "way of the body", "time [s]", "[mm]")
    axes = figure.add_subplot(grid[1, 2:])
    axes.plot(floated.time, np.abs(linear).max(1), color=figures.COLORS[1])
    figures.style_axes(axes, "momentum of all, over that of its parts", "time [s]", "")
    figures.save(figure, path)
