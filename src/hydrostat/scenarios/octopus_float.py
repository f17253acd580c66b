"""octopus-float: an octopus beats its arms where nothing is around it, and its momentum must stay what it was."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.compiling import quick_jit
from hydrostat.control.nerves import Nerves
from hydrostat.mechanics.energy import energy, momentum
from hydrostat.mechanics.model import Crown, no_inputs
from hydrostat.results import figures
from hydrostat.scenarios.arm import muscle_gains
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import Seen, Witness, animal, replay, row_steps, way, yaw
from hydrostat.scenarios.octopus_swim import beat_of, course, draw_side, swimming
from hydrostat.stepping import SDIRK2, KeepMomentum, Rows, Simulation, State
from hydrostat.stepping.base import positions, velocities


def floating(run: Run) -> Outcome:
    """Beats in empty space: arms push the body about, and all of them together do not move."""
    settings, every = run.settings, row_steps(run)
    octopus = animal(run, ground=False, weight=0.0)
    model = octopus.model
    brain = swimming(octopus, beat_of(settings), course(0.0, 0.0), looks=False)
    gains = jnp.asarray(muscle_gains(run, octopus.anatomy, model.count))
    controller = Nerves(model, brain, jnp.asarray(octopus.lag), gains)
    simulation = Simulation(model, 1e-3 * settings.dt_ms, KeepMomentum(SDIRK2()))
    with run.compiling("compiling the octopus"):
        simulation.compile(settings.seconds, controller, every=every)
    with Witness(run, octopus, settings.seconds, every, "octopus-float", ground=False) as witness, run.timed():
        rows = simulation.run(
            settings.seconds,
            controller,
            every=every,
            on_rows=witness,
            on_progress=lambda done: run.progress("floating", done),
        )
    linear, angular, kinetic = (np.asarray(y) for y in _momenta(model, rows.state))
    assert model.base_inertia is not None
    mass = float(jnp.sum(model.arm.inertia[..., 3])) * model.count + float(model.base_inertia[3])
    size = np.sqrt(2.0 * mass * kinetic.max())
    metrics = {
        "momentum_error": float(np.abs(linear).max() / size),
        "angular_momentum_error": float(np.abs(angular).max() / (size * octopus.length)),
        "kinetic_energy_max_mj": 1e3 * float(kinetic.max()),
        "body_way_max_mm": 1e3 * float(np.linalg.norm(way(rows), axis=1).max()),
        "body_turn_max_deg": float(np.abs(yaw(rows)).max()),
    }
    title = f"octopus-float: {settings.seconds:g} s of beats in empty space"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, rows, witness.seen, linear / size, title),
        replay=lambda path: replay(path, rows, witness.seen, octopus, title),
        sim_seconds=settings.seconds,
        dt=1e-3 * settings.dt_ms,
        steps=every * (len(rows.time) - 1),
        notes=octopus.notes,
    )


@quick_jit
def _momenta(model: Crown, state: State):
    """Linear and angular momentum about the world's origin, and kinetic energy, by rows."""

    def of_row(state):
        given = no_inputs(model)._replace(base_pose=state.base_pose)
        x, v = positions(state), velocities(state)
        both = momentum(model, x, v, given)
        return both[3:], both[:3], energy(model, x, v, given).kinetic

    return jax.lax.map(of_row, state)


def _draw(path: Path, rows: Rows, seen: Seen, linear: np.ndarray, title: str) -> None:
    """From the side at four moments, how the body is pushed about, and the momentum."""
    figure = figures.new_figure(13.0, 7.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 4)
    for column, row in enumerate(np.linspace(0, len(rows.time) - 1, 4).astype(int)):
        draw_side(figure.add_subplot(grid[0, column]), rows, row, seen)
    axes = figure.add_subplot(grid[1, :2])
    for index, name in enumerate("xyz"):
        axes.plot(rows.time, 1e3 * way(rows)[:, index], color=figures.COLORS[index], label=name)
    axes.legend(fontsize=8, frameon=False)
    figures.style_axes(axes, "way of the body", "time [s]", "[mm]")
    axes = figure.add_subplot(grid[1, 2:])
    axes.plot(rows.time, np.abs(linear).max(1), color=figures.COLORS[1])
    figures.style_axes(axes, "momentum of all, over that of its parts", "time [s]", "")
    figures.save(figure, path)
