"""Statics of a system: equilibria, small vibrations, energies and tips, all without stepping."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from hydrostat.lie import SE3
from hydrostat.mechanics.energy import Energy
from hydrostat.mechanics.energy import energy as mechanical_energy
from hydrostat.mechanics.robot import PerArm
from hydrostat.mechanics.state import positions, velocities
from hydrostat.mechanics.statics import Modes, at_rest, check_equilibrium, find_rest, small_vibrations
from hydrostat.sensing import tip_poses
from hydrostat.system import Control, State, System


class Rest(NamedTuple):
    """The equilibrium of a system."""

    state: State
    tip: Float[Array, "*arms 3"]
    """The positions of the tips [m]."""
    tip_pose: SE3
    converged: Bool[Array, ""]

    @property
    def q(self) -> PerArm:
        """The generalised coordinates."""
        return self.state.q


def equilibrium(
    system: System, control: Control | None = None, q: PerArm | None = None, *, load_steps: int = 1
) -> Rest:
    """The equilibrium of a system on a fixed body under its weight, its surroundings and a control.

    Muscles are as active as the control says. Newton's method with the exact stiffness; weight and control grow to
    their full size in `load_steps` equal parts, surroundings and tendons of prescribed length are there from the
    beginning. `jax.jit`, `jax.vmap` and gradients go through it. Where nothing is found it raises `UnsolvedError`;
    within compiled functions, which cannot raise, the result is not a number.

    **Arguments:** `q`: where to start, the unstressed configuration when not given.
    """
    control = Control() if control is None else system.check(control)
    check_equilibrium(system.robot, load_steps)
    activation = system.rest().activation if control.activation is None else control.activation
    activation = jax.tree.map(lambda gain, a: jnp.clip(gain * a, 0.0, 1.0), system.muscles.gains, activation)
    found = find_rest(system.robot, _Loaded(system, control, activation), q, load_steps)
    state = system.rest(found.q)._replace(activation=activation)
    pose = tip_poses(system, state)
    return Rest(state, pose.position, pose, found.converged)


class _Loaded(eqx.Module):
    """The residual at rest of a system under a share of its weight and of its control."""

    system: System
    control: Control
    activation: PerArm

    def __call__(self, q, share):
        system, control = self.system, self.control
        grows = ("tension", "torque", "load", "follower", "leg_force")
        part = eqx.tree_at(
            lambda c: [getattr(c, name) for name in grows],
            control,
            [jax.tree.map(lambda y: share * y, getattr(control, name)) for name in grows],
            is_leaf=lambda x: x is None,
        )
        state = system.rest(q)._replace(activation=jax.tree.map(lambda y: share * y, self.activation))
        robot = eqx.tree_at(lambda r: r.gravity, system.robot, share * system.robot.gravity)
        inputs = system.inputs(part, state, state.activation, 1.0, system.forces_at(state))
        return at_rest(robot, q, inputs)


def vibrations(system: System, control: Control | None = None, q: PerArm | None = None) -> Modes:
    """The natural frequencies [Hz] and mode shapes about an equilibrium.

    **Arguments:** `q`: the equilibrium; by default it is found first. The arms of a free robot must be in
    equilibrium without their weight: it falls, and then `q` is the unstressed configuration when not given.
    """
    robot = system.robot
    if q is None:
        q = system.rest().q if robot.free_base else equilibrium(system, control).q
    state = system.rest(q)
    if control is not None and control.activation is not None:
        active = jax.tree.map(lambda gain, a: jnp.clip(gain * a, 0.0, 1.0), system.muscles.gains, control.activation)
        state = state._replace(activation=active)
    return small_vibrations(robot, state.q, system.inputs_at(state, control))


def energy(system: System, state: State, control: Control | None = None) -> Energy:
    """The kinetic, elastic and gravitational energy of the robot [J], with that of the water it carries along."""
    state = _as_jax(state)
    inputs = system.inputs_at(state, control)
    if system.robot.free_base:
        inputs = inputs._replace(base_pose=state.base_pose)
    return mechanical_energy(system.robot, positions(state.robot), velocities(state.robot), inputs)


def tip(system: System, state: State) -> Float[Array, "*arms 3"]:
    """The positions of the tips in the world [m]."""
    return tip_poses(system, _as_jax(state)).position


def _as_jax(state: State) -> State:
    """The state of a trajectory's row or of a control loop, which are NumPy's, as JAX arrays."""
    return jax.tree.map(jnp.asarray, state)


__all__ = ["Energy", "Modes", "Rest", "energy", "equilibrium", "tip", "vibrations"]
