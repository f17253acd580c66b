"""drive: any robot from rest under tensions, activations and loads that rise, or under tensions from a file."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from hydrostat.control import Controller
from hydrostat.mechanics.robot import PerArm, no_inputs
from hydrostat.scenarios.any_robot import WEIGHT_PARTS, control_of, read_commands, system_of, tendons_of, tips_mm
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.simulation.simulate import Run as Simulation
from hydrostat.statics import equilibrium
from hydrostat.system import Control

_ROW_S = 5e-3  # from row to row, where steps are not longer


class Rise(Controller):
    """Sets a share of a control that grows with minimum jerk, and then all of it."""

    control: Control
    seconds: float
    """Of the rise [s]."""

    def __call__(self, time, observation, memory):
        """What acts at a time."""
        s = jnp.clip(time / self.seconds, 0.0, 1.0)
        share = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        return jax.tree.map(lambda y: share * y, self.control), memory


class Playback(Controller):
    """Sets tensions that are given at times, with straight lines between them, and the rest of a control at all times.

    Before the first time and after the last the tensions are those of it.
    """

    control: Control
    times: Float[Array, " t"]
    """[s]"""
    tensions: Float[Array, "t w"]
    """[N]"""
    slack: PerArm
    """Tensions as the robot has them, limb by limb."""

    def __call__(self, time, observation, memory):
        """The tensions at a time."""
        row = jax.vmap(lambda column: jnp.interp(time, self.times, column), 1)(self.tensions)
        tension = ravel_pytree(self.slack)[1](row)
        return eqx.tree_at(lambda c: c.tension, self.control, tension, is_leaf=lambda x: x is None), memory


def drive(run: Run) -> Outcome:
    """From the equilibrium under its weight."""
    system, settings = system_of(run), run.settings
    seconds, dt = settings.seconds, 1e-3 * settings.dt_ms
    control = control_of(system, settings)
    if settings.csv:
        times, tensions = read_commands(settings.csv, tendons_of(run.whole))
        controller = Playback(control, jnp.asarray(times), jnp.asarray(tensions), no_inputs(system.robot).wires)
        seconds = seconds or max(float(times[-1]), dt)
    else:
        controller = Rise(control, settings.rise_s)
        seconds = seconds or 2.0 * settings.rise_s
    every = max(1, round(_ROW_S / dt))
    with run.compiling():
        start = system.rest(equilibrium(system, load_steps=WEIGHT_PARTS).q)
        simulation = Simulation(system, controller, dt, every=every)
        simulation.compile(seconds, start, record=True)
    with run.timed():
        rows = simulation(
            seconds, state=start, record=run.folder, on_progress=lambda done: run.progress("moving", done)
        )
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
        dt=dt,
        steps=every * (len(rows) - 1),
    )
