"""octopus-float: an octopus beats its arms where nothing is around it, and its momentum must stay what it was."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.control.gaits import Swim
from hydrostat.results import figures, panels
from hydrostat.results.measures import direction, displacement, distance_covered
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import Octopus, beat, move, octopus, outcome, row_steps
from hydrostat.scenarios.octopus_figures import LEAST, yaw
from hydrostat.stepping import KeepMomentum, default_stepper


def floating(run: Run) -> Outcome:
    """Beats in empty space: arms push the body about, and their common centre of mass does not move."""
    settings = run.settings
    sea = octopus(run, ground=False, weight=0.0)
    robot = sea.system.robot
    animal = Octopus(hs.System(robot, gravity=jnp.zeros(3), muscle_gains=sea.system.muscles.gains), (), sea.notes)
    controller = Swim(direction(0.0, 0.0), closed_loop=False, begin_beats=1e-3, **beat(settings))
    kept = default_stepper(animal.system)
    assert isinstance(kept, KeepMomentum)
    every = row_steps(run)
    # With the stepper of every free octopus, and with the same one without its correction of momentum.
    floated = move(run, animal, controller, settings.seconds, every=every, record=True, share=(0.0, 0.5))
    bare_options = {"every": every, "stepper": kept.stepper, "share": (0.5, 1.0), "compiled": False}
    bare = move(run, animal, controller, settings.seconds, **bare_options)
    momentum, kinetic = np.asarray(floated.momentum()), np.asarray(floated.energy().kinetic)
    uncorrected = np.abs(np.asarray(bare.momentum())[:, 3:]).max(1)
    assert robot.base_inertia is not None
    mass = float(jnp.sum(robot.one.inertia[..., 3])) * robot.count + float(robot.base_inertia[3])
    size = np.sqrt(2.0 * mass * kinetic.max())
    metrics = {
        "momentum_error": float(np.abs(momentum[:, 3:]).max() / size),
        "angular_momentum_error": float(np.abs(momentum[:, :3]).max() / (size * animal.length)),
        "momentum_error_uncorrected": float(uncorrected.max() / size),
        "kinetic_energy_max_mj": 1e3 * float(kinetic.max()),
        "body_way_max_mm": 1e3 * float(distance_covered(floated).max()),
        "body_turn_max_deg": float(np.abs(yaw(floated)).max()),
    }
    title = f"octopus-float: {settings.seconds:g} s of beats in empty space"
    return outcome(
        run,
        animal,
        (floated, bare),
        metrics,
        title,
        lambda path: _draw(path, floated, momentum[:, 3:] / size, uncorrected / size, title),
        sim_seconds=2.0 * settings.seconds,
    )


def _draw(path: Path, floated: hs.Trajectory, linear: np.ndarray, bare: np.ndarray, title: str) -> None:
    """From the side at four moments, how the body is pushed about, and the momentum."""
    figure, grid = panels.new_panels(title, 2, 4)
    panels.draw_moments(figure, grid[0, :], floated, np.linspace(0, len(floated) - 1, 4).astype(int))
    moved = dict(zip("xyz", 1e3 * displacement(floated).T, strict=True))
    axes = figure.add_subplot(grid[1, :2])
    panels.draw_curves(axes, floated.time, moved, "displacement of the body", "[mm]", least=LEAST)
    heading = "momentum of the whole octopus, over that of its parts"
    both = {"corrected at each step": np.abs(linear).max(1), "the step alone": bare}
    axes = figure.add_subplot(grid[1, 2:])
    panels.draw_curves(axes, floated.time, both, heading, log=True, floor=1e-18, colors=[1, 2])
    figures.save(figure, path)
