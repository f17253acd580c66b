"""What elastic wires, their friction and the play of their drives leave of a shape, without noise.

The drives hold each wire at the length of the planned shape, less what a mean tension stretches it by. The bend of
every segment needs a moment, which its wires give by differences of tension; wires that pass through other segments
pull on these as well. So wires stretch unequally, and the arm stops short of the plan, by the same at every arrival.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.compiling import quick_jit
from hydrostat.control.shapes import configuration
from hydrostat.errors import number
from hydrostat.mechanics import Robot


class LoadedShape(NamedTuple):
    """The shape that wires hold under load, and what they hold it with."""

    bend: np.ndarray
    """Bend vectors (n, 2) [rad]."""
    tension: np.ndarray
    """Tension at the end of each wire (w,) [N]; a negative one means that the mean tension is too small."""
    lag: np.ndarray
    """Length by which friction and play keep each wire from where its motor has it (w,) [m]."""


def loaded_shape(
    robot: Robot,
    bends: np.ndarray,
    approach: np.ndarray,
    *,
    wire_stiffness: float,
    mean_tension: float,
    friction: float = 0.0,
    backlash: float = 0.0,
) -> LoadedShape:
    """The shape at rest near planned bend vectors (n, 2), to first order in its deviation; weight is left out.

    Along a wire that is drawn in over a turn phi the tension grows towards the motor by exp(mu phi), and falls so where
    it is paid out (Euler and Eytelwein). Play keeps half of itself from the wire, against its last direction.

    **Arguments:** `approach`: sign of each wire's last motion (w,), 1 where it was paid out; `wire_stiffness`: tension
    per relative stretch [N]; `mean_tension` of all wires in the planned shape [N]; `friction`: coefficient mu;
    `backlash`: play of each drive [m].
    """
    number("wire_stiffness", wire_stiffness, above=0.0)
    for name, value in (("mean_tension", mean_tension), ("friction", friction), ("backlash", backlash)):
        number(name, value, least=0.0)
    moment, elastic, G, straight, parts = (np.asarray(y) for y in _linearised(robot, jnp.asarray(bends)))
    k = wire_stiffness / straight

    def solved(lag):
        # Tensions T = T0 + k (G d - lag) balance the moment: G^T T + M + K d = 0.
        load = G.T @ (k * lag - mean_tension) - moment
        deviation = np.linalg.solve(G.T @ (k[:, None] * G) + elastic, load)
        return deviation, mean_tension + k * (G @ deviation - lag)

    play = -0.5 * backlash * approach
    _, tension = solved(play)
    lag = play + np.maximum(tension, 0.0) / wire_stiffness * _capstan_excess(bends, parts, -friction * approach)
    deviation, tension = solved(lag)
    return LoadedShape(bends + deviation.reshape(bends.shape), tension, lag)


@quick_jit
def _linearised(robot: Robot, bends):
    """Elastic moment and stiffness over all bends, derivatives of the wires' lengths, lengths of the straight arm."""
    arm, model, tendons = robot.arm, robot.one, robot.tendons

    def energy(flat):
        q = configuration(arm, flat.reshape(bends.shape))
        return jnp.sum(0.5 * model.stiffness * (q - model.rest) ** 2)

    def lengths(flat):
        return tendons.lengths(arm, configuration(arm, flat.reshape(bends.shape)))

    flat = bends.ravel()
    parts = jnp.asarray(tendons.passes) * arm.segments.length
    return (
        jax.grad(energy)(flat),
        jax.hessian(energy)(flat),
        jax.jacfwd(lengths)(flat),
        lengths(jnp.zeros_like(flat)),
        parts,
    )


def _capstan_excess(bends: np.ndarray, parts: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """The integral of exp(exponent phi) - 1 along each wire (w,) [m], phi being the turn from its end to a point."""
    turns = np.linalg.norm(bends, axis=-1)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    share, weights = 0.5 * (nodes + 1.0), 0.5 * weights
    passed = parts > 0.0
    # The turns of the segments beyond each one, up to the wire's end; then within it.
    beyond = np.cumsum((passed * turns)[:, ::-1], 1)[:, ::-1] - passed * turns
    phi = beyond[..., None] + turns[None, :, None] * share
    return np.sum(parts[..., None] * weights * np.expm1(exponents[:, None, None] * phi), (1, 2))
