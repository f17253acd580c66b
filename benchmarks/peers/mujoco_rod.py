"""The rod in MuJoCo: a chain of rigid links with two bending hinges in the middle of each section.

Its best setting: hinges at sections' middles converge with the square of their length, at their ends only with the
length. Bends alone, since springs for stretch, twist and shear cost time and smaller steps and change the tip by less
than the chain itself does. No contact. Steps are made in C, `nstep` at a time.
"""

from collections.abc import Callable

import mujoco
import numpy as np

from hydrostat.exporting import make_twin, write_mjcf
from peers.rods import BENDS, Rod

METHODS = {
    "Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
    "RK4": mujoco.mjtIntegrator.mjINT_RK4,
}
VERSION = mujoco.__version__
_BAD = (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC)


def prepare(rod: Rod, segments: int, method: str, dt: float) -> Callable[[], np.ndarray]:
    """A function that simulates the rod and gives the tip at every sample."""
    twin = make_twin(rod.specification(segments, BENDS), 1)
    model = mujoco.MjModel.from_xml_string(write_mjcf(twin, water=rod.current is not None)[0])
    model.opt.timestep, model.opt.integrator = dt, METHODS[method]
    model.opt.gravity[:] = rod.gravity
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    if rod.current is not None:
        model.opt.wind[:] = rod.current
    mujoco.set_mju_user_warning(lambda _: None)  # what breaks off is reported as such
    steps, tip = rod.per_sample(dt), model.body(twin.chains[0].tip).id

    def simulate() -> np.ndarray:
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        tips = [data.xpos[tip].copy()]
        for _ in range(rod.samples):
            mujoco.mj_step(model, data, steps)
            # Positions of bodies belong to the begin of the last step.
            mujoco.mj_kinematics(model, data)
            tips.append(data.xpos[tip].copy())
            # A state that is no number is set back by MuJoCo, with a warning.
            if any(data.warning[i].number for i in _BAD):
                break
        return np.array(tips)

    return simulate
