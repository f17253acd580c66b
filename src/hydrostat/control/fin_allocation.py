"""From a wanted wrench on a body to the amplitudes of its fins, by the mean forces of their beat in still water."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.compiling import quick_jit
from hydrostat.lie import small
from hydrostat.mechanics.nodes import Nodes
from hydrostat.surroundings import Fins
from hydrostat.surroundings.fins import Beat, FinForces

_GRID = 13
_MOMENTS = 24
_TYPICAL = 0.4  # share of the largest amplitude at which levers are taken


class FinAllocation(eqx.Module):
    """The map from wrenches to amplitudes.

    The mean force of a wave, or of a flap, grows with its amplitude; its line of action hardly moves. Waves are as
    strong all along a side, and so push ahead and turn the bow; flaps do the rest. Of all such forces that together
    make a wrench those with the least squares are taken. Wave and flap are looked up apart: a wave on the same section
    makes a flap weaker, since a quadratic force is then nearly linear in it, and feedback has to take care of that.
    """

    inverse: Float[Array, "m 6"]
    """Mean forces of all waves, then of all flaps [N], per wrench about the body's origin in its axes."""
    matrix: Float[Array, "6 m"]
    """Wrench per mean force."""
    amplitudes: Float[Array, " g"]
    """Amplitudes of the tables [rad]."""
    wave: Float[Array, " g"]
    """Mean force of a section's wave [N]."""
    flap: Float[Array, " g"]
    """Mean force of a section's flap [N]."""

    @staticmethod
    def of(fins: Fins, density: Float[Array, ""]) -> "FinAllocation":
        """The allocation for fins in water of a density [kg/m^3]."""
        count = len(fins.root)
        amplitudes = jnp.linspace(0.0, 1.0, _GRID) * fins.most
        # The sections are equal: the tables are those of the first one, each along its own direction.
        still = jnp.zeros((_GRID, count, 2))
        waves, flaps = (_means(fins, density, still.at[:, 0, i].set(amplitudes)) for i in (0, 1))
        wave, flap = (small.matvec(y[:, 3:], d) for y, d in ((waves, -fins.along[0]), (flaps, fins.normal[0])))
        # The wrench of each section's wave and flap at a typical amplitude, per force.
        units = jnp.asarray(np.eye(2 * count).reshape(2 * count, 2, count).swapaxes(1, 2)) * (_TYPICAL * fins.most)
        wrenches = _means(fins, density, units)
        along = jnp.concatenate([-fins.along, fins.normal])
        matrix = (wrenches / small.dot(wrenches[:, 3:], along)[:, None]).T
        # Waves along each side, and all flaps; newtons and newton metres count alike.
        sides = np.sign(np.asarray(matrix)[np.argmax(np.abs(np.asarray(matrix)[:3, 0])), :count])
        along_sides = np.stack([sides > 0, sides < 0], 1) / np.sqrt(count / 2)
        free = np.block([[along_sides, np.zeros((count, count))], [np.zeros((count, 2)), np.eye(count)]])
        inverse = jnp.asarray(free @ np.linalg.pinv(np.asarray(matrix) @ free))
        return FinAllocation(inverse, matrix, amplitudes, *(jnp.maximum.accumulate(y) for y in (wave, flap)))

    @property
    def most(self) -> Float[Array, " 6"]:
        """The largest moment about each axis of the body [N m], and the largest force along it [N], one at a time."""
        count = self.inverse.shape[0] // 2
        largest = jnp.concatenate([jnp.full(count, table[-1]) for table in (self.wave, self.flap)])
        return jnp.min(largest[:, None] / jnp.maximum(jnp.abs(self.inverse), 1e-9), 0)

    def __call__(self, wrench: Float[Array, " 6"]) -> Float[Array, "f 2"]:
        """The amplitudes of wave and flap of each section [rad] for a wrench about the body's origin, in its axes."""
        forces = (self.inverse @ wrench).reshape(2, -1)
        tables = (self.wave, self.flap)
        each = [jnp.sign(y) * jnp.interp(jnp.abs(y), t, self.amplitudes) for y, t in zip(forces, tables, strict=True)]
        return jnp.stack(each, -1)


@quick_jit
def _means(fins: Fins, density, amplitudes: Float[Array, "n f 2"]) -> Float[Array, "n 6"]:
    """The mean wrenches of a beat of each of some amplitudes on a body at rest, about its origin."""
    zero = jnp.zeros(())
    still = jnp.zeros(3)
    body = Nodes(*(y[None] for y in (still, still, still, jnp.array([0.0, 0.0, 1.0]), zero, zero, jnp.eye(3))))

    def mean(amplitude):
        beat = Beat(zero, amplitude, jnp.zeros_like(amplitude), zero)
        forces = FinForces(fins, beat, density, still)
        times = jnp.arange(_MOMENTS) / (_MOMENTS * fins.frequency)
        each = jax.vmap(lambda t: forces.after(t).forces(body))(times)
        return jnp.concatenate([jnp.mean(each.torque[:, 0], 0), jnp.mean(each.force[:, 0], 0)])

    return jax.lax.map(mean, amplitudes)
