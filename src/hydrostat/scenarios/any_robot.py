"""Set-up of `statics`, `modes` and `drive`: any robot, in air or in water, under weight, tendons, muscles and loads."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

import hydrostat as hs
from hydrostat.mechanics import no_inputs
from hydrostat.results import load_path
from hydrostat.robots import build_robot, muscle_count
from hydrostat.scenarios.base import Run

_PIECES = 4  # of a segment: tips are within 0.1 % of length of those of the rod (measured: tentacle, silicone arm)


def system_of(run: Run) -> hs.System:
    """The robot of a run on a fixed base, in the surroundings that its settings describe."""
    settings, spec = run.settings, run.whole
    if settings.base_axis:
        spec = replace(spec, base=replace(spec.base, axis=settings.base_axis))
    pieces = settings.pieces or (1 if muscle_count(spec) else _PIECES)
    if pieces > 1:
        spec = spec.cut(pieces)
    around = [hs.Water(current=settings.current_m_s)] if settings.water else []
    return hs.System(build_robot(spec, free=False, load_places=[1.0]), around, gravity=settings.gravity_m_s2)


def per_tendon(system: hs.System, tensions: Any) -> Any:
    """Tensions of all tendons, limb after limb (w,), as `Control.tension` has them."""
    return ravel_pytree(no_inputs(system.robot).wires)[1](jnp.asarray(tensions))


def control_of(system: hs.System, settings: Any) -> hs.Control:
    """The tensions, activations and tip loads of the settings."""
    inputs, values = no_inputs(system.robot), {}
    if settings.tension_n:
        values["tension"] = per_tendon(system, settings.tension_n)
    if settings.activation:
        one = jnp.asarray(settings.activation)
        values["activation"] = jax.tree.map(lambda y: jnp.broadcast_to(one, y.shape), inputs.activation)
    if any(settings.tip_load_n):
        wrench = jnp.asarray([0.0, 0.0, 0.0, *settings.tip_load_n])
        values["load"] = jax.tree.map(lambda y: jnp.broadcast_to(wrench, y.shape), inputs.force)
    return hs.Control(**values)


def loaded_equilibria(run: Run, system: hs.System, shares: np.ndarray) -> hs.Trajectory:
    """The equilibria under the weight and growing shares of the settings' control, on the clocks of a run."""
    control = control_of(system, run.settings)
    with run.compiling():
        start = load_path(system, control, [0.0])
    with run.timed():
        return load_path(system, control, shares, start.final.q, on_progress=lambda done: run.progress("solving", done))


def tips_mm(position: Any) -> list[float]:
    """The tips of all arms one after another, as a flat list of x, y, z [mm]."""
    return (1e3 * np.asarray(position)).reshape(-1).tolist()
