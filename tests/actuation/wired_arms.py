"""Arms with wires of many kinds, made by hand rather than from a robot file."""

import itertools
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from hydrostat import SE3
from hydrostat.actuation import Tendons
from hydrostat.bodies import Arm, Material, Section
from hydrostat.segments import StrainSegment


class WiredArm(NamedTuple):
    arm: Arm
    tendons: Tendons

    def configuration(self, bends):
        """Coordinates of a stack of bend vectors [..., segment, 2]: curvatures about x and y."""
        bends = np.asarray(bends)
        return jnp.asarray(np.stack([-bends[..., 1], bends[..., 0]], -1) / self.arm.segments.length[:, None])


def wired_arm(heights, radii, *, bays=None, azimuths=(0, 120, 240), routing="decoupled", shift=40):
    """An arm with wires at the azimuths [deg] in each segment; `radii`: of the wire circle at the n + 1 boundaries."""
    n = len(heights)
    directions, passes = [], []
    for j, azimuth in itertools.product(range(n), azimuths):
        directions.append(np.radians(azimuth + shift * j))
        passes.append([float(i == j or (routing == "through" and i < j)) for i in range(n)])
    w = len(directions)
    marks = np.stack([radii[:-1], radii[1:]], -1).astype(float)
    arm = Arm(
        segments=StrainSegment(jnp.asarray(heights, float)),
        section=Section(jnp.asarray(marks[:, 0]), jnp.asarray(marks[:, 1])),
        material=Material(*(jnp.ones(n) for _ in range(4))),
        T_world_base=SE3.identity(),
    )
    tendons = Tendons(
        azimuth=jnp.asarray(directions),
        offsets=jnp.asarray(np.broadcast_to(marks, (w, n, 2))),
        passes=jnp.asarray(passes),
        ends_at=tuple(j for j in range(n) for _ in azimuths),
        bays=bays,
    )
    return WiredArm(arm, tendons)


# Wire circles in metres: the paper's cylinder, its cone of 350 mm with diameters 100 and 60, an extreme cone of 200 mm
# with 120 and 20, and one that widens.
CASES = {
    "cylinder": (0.35, [0.045, 0.045]),
    "cone": (0.35, [0.050, 0.030]),
    "extreme cone": (0.20, [0.060, 0.010]),
    "widening cone": (0.30, [0.020, 0.045]),
}


def bend_vectors(thetas_deg, phis_deg):
    """All combinations of bends and azimuths [deg], as vectors theta (cos phi, sin phi) [rad]."""
    theta, phi = np.radians(np.array(list(itertools.product(thetas_deg, phis_deg)))).T
    return np.stack([theta * np.cos(phi), theta * np.sin(phi)], -1)
