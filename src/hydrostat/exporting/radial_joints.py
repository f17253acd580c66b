"""The radial joints of a chain of platforms in MuJoCo: what keeps the volume of its segments.

The joints are servos there, and MuJoCo has no actuator whose goal is a function of other joints' values. Ideal ones
follow r = r_0 sqrt(L / h), with h the distance of a segment's plates; between two steps they are put there.
"""

import numpy as np

from hydrostat.errors import InputError
from hydrostat.exporting.description import Twin
from hydrostat.exporting.platform_chain import PlatformChain, RadialJoint


class RadialJoints:
    """The radial joints of a twin in MuJoCo's model.

    rings = RadialJoints(model, twin)
    for _ in range(steps):
        rings.keep_volume(data)
        mujoco.mj_step(model, data)
    """

    def __init__(self, model, twin: Twin):
        joints: list[RadialJoint] = []
        for chain in twin.chains:
            if isinstance(chain, PlatformChain):
                joints += chain.radial
        if not joints:
            raise InputError(f"{twin.name} has no radial joints; chains of platforms have them with chain='elastic'")
        moves = [[model.joint(f"{joint.plate}_move_{axis}") for axis in "xyz"] for joint in joints]
        own = [model.joint(joint.name) for joint in joints]
        self._moves = np.array([[move.qposadr[0] for move in row] for row in moves])
        self._move_rates = np.array([[move.dofadr[0] for move in row] for row in moves])
        self._own = np.array([joint.qposadr[0] for joint in own])
        self._own_rates = np.array([joint.dofadr[0] for joint in own])
        self._servos = np.array([model.actuator(f"{joint.name}_hold").id for joint in joints])
        self._length = np.array([joint.length for joint in joints])
        self._radius = np.array([joint.radius for joint in joints])

    def keep_volume(self, data) -> None:
        """Put all rings, their rates and the goals of their servos where they keep the volume of their segments."""
        apart, rate = data.qpos[self._moves], data.qvel[self._move_rates]
        apart[:, 2] += self._length
        square = np.sum(apart**2, -1)
        size = np.sqrt(self._length / np.sqrt(square))
        data.qpos[self._own] = self._radius * (size - 1.0)
        data.qvel[self._own_rates] = -0.5 * self._radius * size * np.sum(apart * rate, -1) / square
        data.ctrl[self._servos] = data.qpos[self._own]
