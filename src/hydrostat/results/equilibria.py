"""Trajectories of statics: equilibria under a growing load, and the swing of a mode of vibration about one of them."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from hydrostat.compiling import quick_jit
from hydrostat.errors import UnsolvedError
from hydrostat.results.scene import per_arm
from hydrostat.results.trajectory import Trajectory
from hydrostat.statics import equilibrium
from hydrostat.system import Control, System

_WEIGHT_STEPS = 8  # equal parts in which the weight grows: a soft arm hangs far from where it is made


def load_path(
    system: System,
    control: Control,
    shares: Sequence[float] | np.ndarray,
    q: Any = None,
    *,
    on_progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """The equilibria of a system under growing shares of a control, each found from the one before, as rows.

    The weight acts in full from the first row on. The time of a row is its share.

    **Arguments:** `q`: where to start, the equilibrium under the weight alone when not given; `on_progress`: gets the
    share that is done.
    """
    q = equilibrium(system, load_steps=_WEIGHT_STEPS).q if q is None else q
    found = []
    for share in shares:
        state, acting, converged = _under(system, control, jnp.asarray(share, float), q)
        if not bool(converged):
            raise UnsolvedError(
                f"no equilibrium was found at {100 * share:.0f} % of the load on {system.robot.name}; "
                f"it may buckle there: try less"
            )
        q = state.q
        found.append((state, acting))
        if on_progress is not None:
            on_progress(float(share))
    state, acting = jax.tree.map(lambda *y: np.stack([np.asarray(one) for one in y]), *found)
    return Trajectory.of_states(system, state, acting)


@quick_jit
def _under(system: System, control: Control, share, q):
    """The equilibrium under a share of a control."""
    acting = jax.tree.map(lambda y: share * y, control)
    found = equilibrium(system, acting, q)
    return found.state._replace(time=share), acting, found.converged


def mode_swing(rest: Trajectory, shape: np.ndarray, size: float = 0.1, phases: int = 48) -> Trajectory:
    """One period of a mode of vibration about the equilibrium in the last row of a trajectory, slowed to one second.

    **Arguments:** `shape`: of the mode in the coordinates of all arms, flat; `size`: largest displacement of a point
    over the length of the longest arm; `phases`: rows after the first.
    """
    flat, unravel = ravel_pytree(rest.final.q)
    flat = np.asarray(flat)
    angles = np.sin(2.0 * np.pi * np.arange(phases + 1) / phases)

    def rows(size: float) -> Trajectory:
        q = [jax.tree.map(np.asarray, unravel(flat + size * phase * shape)) for phase in angles]
        many = jax.tree.map(lambda y: np.broadcast_to(np.asarray(y), (len(angles), *np.shape(y))), rest.final)
        state = many._replace(q=jax.tree.map(lambda *y: np.stack(y), *q), time=np.arange(len(angles)) / phases)
        control = jax.tree.map(lambda y: np.broadcast_to(y[-1], (len(angles), *y.shape[1:])), rest.control)
        return Trajectory.of_states(rest.system, state, control)

    # The displacement for a small size tells by linearity which size to take.
    small = 1e-6 / max(float(np.abs(shape).max()), 1e-300)
    each = [np.asarray(one) for one in per_arm(rest.system.robot, rows(small).points)]
    moved = max(float(np.abs(one[phases // 4] - one[0]).max()) for one in each)
    longest = max(float(arm.arm.length) for arm in rest.system.robot.each)
    return rows(small * size * longest / max(moved, 1e-300))
