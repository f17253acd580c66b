"""Correction of a planned shape by the seen tip, and the bandwidth that a delayed observation allows."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.bodies import Arm
from hydrostat.compiling import quick_jit
from hydrostat.control.point_plans import ease_of_change
from hydrostat.lie import small
from hydrostat.mechanics import kinematics

_MARGIN = np.deg2rad(10.0)  # phase that is left at the crossover frequency; the tissue's own damping comes on top
_CROSSOVER = 3.05  # over w: where the loop of double integrator and controller has the gain 1
_IDEAL = np.deg2rad(71.0)  # phase margin of that loop without lag and delay
_SEEN = 1.2  # 1/s: rate at which the seen error of the tip fades


class TipCorrection(NamedTuple):
    """An outer loop: the seen error of the tip is integrated and added to the planned shape by least changes.

    Constant errors of proprioception, 1 degree of each segment, displace the tip of an arm by some 10 mm; no feedback
    of the shape removes that. With white noise s of samples a time h apart, a rate g leaves s sqrt(g h / 2) of noise.
    """

    target: Float[Array, " 3"]
    """Planned position of the tip in the world [m]."""
    over: Float[Array, ""]
    """The step after which the course is over."""
    change: Float[Array, "n k 3"]
    """The least change of the shape for a displacement of the tip [per m]."""

    def moved(self, shift: Float[Array, " 3"], seen: Float[Array, " 3"], step, period) -> Float[Array, " 3"]:
        """The displacement after a step of a period [s]; it is integrated once the course is over."""
        return shift + jnp.where(step > self.over, _SEEN * period, 0.0) * (self.target - seen)

    def shape(self, shift: Float[Array, " 3"]) -> Float[Array, "n k"]:
        """The change of the shape for a displacement."""
        return jnp.sum(self.change * shift, -1)


@quick_jit
def tip_correction(arm: Arm, shape: Float[Array, "n k"], over) -> TipCorrection:
    """The correction about the last of the planned shapes, by the least changes: W J^T (J W J^T)^-1.

    **Arguments:** `over`: the step after which the course is over.
    """

    def tip(q):
        return kinematics.tip_pose(arm, q).position

    J = jax.jacfwd(tip)(shape).reshape(3, -1)
    JW = J * ease_of_change(arm).reshape(-1)
    change = small.matmul(JW.T, small.inverse_positive(small.matmul(JW, J.T)))
    return TipCorrection(tip(shape), jnp.asarray(over, float), change.reshape(*shape.shape, 3))


def fastest_rate(delay: float, lag: float) -> float:
    """The largest bandwidth w [1/s] of a servo whose observations are delayed and whose muscles lag.

    The loop (3 w s^2 + 3 w^2 s + w^3) / s^3 crosses the gain 1 at 3.05 w, with a phase margin of 71 degrees. A lag T
    of the muscles and a delay d take atan(3.05 w T) + 3.05 w d of it; 10 degrees are left.

    **Arguments:** `delay`: age of an observation in the middle of the time for which it is used [s]; `lag`: time
    constant of the muscles [s].
    """
    low, high = 0.0, 1e4
    for _ in range(60):
        w = 0.5 * (low + high)
        lost = np.arctan(_CROSSOVER * w * lag) + _CROSSOVER * w * delay
        low, high = (w, high) if lost < _IDEAL - _MARGIN else (low, w)
    return low
