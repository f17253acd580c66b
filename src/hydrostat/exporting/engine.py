"""The twin in MuJoCo: loaded, driven from a configuration of ours, and read back."""

import importlib.util
from typing import Any

import numpy as np

from hydrostat.exporting.description import Twin
from hydrostat.exporting.mjcf import write_mjcf


def import_mujoco() -> Any:
    """MuJoCo, or an error that says how to get it."""
    try:
        import mujoco
    except ImportError as error:
        raise ImportError("this needs MuJoCo: pip install 'hydrostat[rigid]'") from error
    return mujoco


def has_mujoco() -> bool:
    """Whether MuJoCo is installed."""
    return importlib.util.find_spec("mujoco") is not None


def load_mujoco(twin: Twin, *, water: bool = False) -> tuple[Any, Any]:
    """MuJoCo's model and data of a twin."""
    mujoco = import_mujoco()
    model = mujoco.MjModel.from_xml_string(write_mjcf(twin, water=water)[0])
    return model, mujoco.MjData(model)


def to_qpos(model, twin: Twin, *configurations: np.ndarray, qpos: np.ndarray | None = None) -> np.ndarray:
    """MuJoCo's positions for a configuration of each limb.

    **Arguments:** `qpos`: positions to start from, for what is no joint of a limb; the model's own when not given.
    """
    found = np.array(model.qpos0 if qpos is None else qpos, float)
    for name, value in twin.values(*configurations).items():
        found[model.joint(name).qposadr[0]] = value
    return found


def from_qpos(model, twin: Twin, qpos: np.ndarray) -> list[np.ndarray]:
    """The configuration of each limb from MuJoCo's positions; of an elastic chain, of all its sections."""
    names = [joint.name for joint in twin.joints]
    return twin.configurations({name: float(qpos[model.joint(name).qposadr[0]]) for name in names})


def place(model, data, twin: Twin, *configurations: np.ndarray) -> None:
    """Put MuJoCo's robot into a configuration, at rest."""
    data.qpos[:] = to_qpos(model, twin, *configurations, qpos=data.qpos)
    data.qvel[:] = 0.0
    import_mujoco().mj_forward(model, data)


def tips(data, twin: Twin) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rotation and position of every limb's tip in the world, as MuJoCo has them."""
    bodies = [data.body(chain.tip) for chain in twin.chains]
    return [(np.array(body.xmat).reshape(3, 3), np.array(body.xpos)) for body in bodies]
