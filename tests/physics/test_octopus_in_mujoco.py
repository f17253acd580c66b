"""The octopus beside MuJoCo's: body held, in air, eight arms of 20 segments bent by the same torques, tip by tip.

Both have the same linear springs and dampers, and no muscles. A segment of MuJoCo's is two slides with the mass between
them, for a strut that stretches evenly, and two hinges at its upper end, whose order alternates along the arm: two
hinges turn about the axis too, by half the product of their angles, and in turns to either side.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float
from scipy.spatial.transform import Rotation

from hydrostat.control.base import Controller
from hydrostat.mechanics.model import GRAVITY
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus import octopus
from hydrostat.simulation import simulate
from hydrostat.system import Control, System

mujoco = pytest.importorskip("mujoco")

SECONDS, RISE = 1.0, 0.3
DT = 5e-3
MUJOCO_DT = 5e-4  # s; half of it moves no tip by more than 0.15 % of an arm
MOST_APART = 0.02  # of an arm's length, at any time
LEAST_MOTION = 0.2  # of an arm's length
MASSLESS = 1e-12  # kg, where MuJoCo wants some mass


def held_octopus(pitch_deg: float, gravity) -> System:
    """The octopus with linear tissue, each segment's mass at its middle."""
    linear = {"tissue": None, "muscles": None, "constant_volume": False}
    return System(build_robot(octopus(pitch_deg=pitch_deg), points=1, **linear), gravity=gravity)


def joint_springs(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and damping of tilts [N m/rad, N m s/rad] and lengths [N/m, N s/m], (n, 3): strains are over length."""
    arm = system.robot.one
    square = np.asarray(arm.arm.segments.length)[:, None] ** 2
    return np.asarray(arm.stiffness) / square, np.asarray(arm.damping) / square


def full_torques(system: System, bend: float) -> np.ndarray:
    """Torques on the tilts of all segments [N m], (arms, n, 2).

    Each arm bends another way, winding, and the further the higher its number; against the springs alone the first one
    would come to rest bent by `bend` [rad].
    """
    arm, place = np.arange(8)[:, None], (np.arange(20) + 0.5) / 20
    azimuth = (arm - 3.5) * (np.deg2rad(25.0) + 0.4 * place)
    tilt = bend / 20 * (1.0 + 0.1 * arm)
    return np.stack([-tilt * np.sin(azimuth), tilt * np.cos(azimuth)], -1) * joint_springs(system)[0][:, :2]


def risen(time):
    """The share of the torques that is there at a time, smooth."""
    share = (time / RISE).clip(0.0, 1.0)
    return share * share * (3.0 - 2.0 * share)


class Rising(eqx.Module):
    """Torques as a function of time."""

    full: Float[Array, "arms n 3"]

    def __call__(self, time) -> Control:
        """The torques of a moment."""
        return Control(torque=risen(time) * self.full)


class Torques(Controller):
    """What acts on the octopus, at every stage of a step as it is then."""

    rising: Rising

    def __call__(self, time, observation, memory):
        """The torques as a function of time."""
        del time, observation
        return self.rising, memory


def tips_of_ours(system: System, torques: np.ndarray) -> np.ndarray:
    """Where the tips are at every step [m], (steps, arms, 3)."""
    # Bends are tilts over the segment's length.
    by_strain = torques * np.asarray(system.robot.arm.segments.length)[:, None]
    full = jnp.pad(jnp.asarray(by_strain), ((0, 0), (0, 0), (0, 1)))
    return np.asarray(simulate(system, Torques(Rising(full)), SECONDS, DT).tip)


def mujoco_octopus(system: System, stiffer: float):
    """The same octopus by MuJoCo's own bodies and joints."""
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.gravity = MUJOCO_DT, np.asarray(system.gravity)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    robot = system.robot
    stiffness, damping = joint_springs(system)
    inertia = np.asarray(robot.one.inertia)[:, 0]
    half = 0.5 * np.asarray(robot.arm.segments.length)
    x, y, z = np.eye(3)
    for arm in range(robot.count):
        base = robot.T_world_body @ robot.mounts[arm]
        quat = Rotation.from_matrix(base.rotation).as_quat(scalar_first=True)
        plate = spec.worldbody.add_body(pos=np.asarray(base.position), quat=quat)
        for i, (*turning, mass) in enumerate(inertia[:, :4]):
            # What turns with the strut's middle turns half with the strut and half with the plate.
            own = {"inertia": 0.5 * np.array(turning), "ipos": np.zeros(3), "explicitinertial": True}
            middle = plate.add_body(pos=half[i] * z, mass=mass, **own)
            plate = middle.add_body(pos=half[i] * z, mass=MASSLESS, **own)
            # Halves of a spring are twice as stiff.
            slide = {"stiffness": 2.0 * stiffer * stiffness[i, 2], "damping": 2.0 * damping[i, 2]}
            for body in (middle, plate):
                body.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=z, **slide)
            for axis in (0, 1) if i % 2 == 0 else (1, 0):
                plate.add_joint(
                    name=f"tilt {arm} {i} {axis}",
                    type=mujoco.mjtJoint.mjJNT_HINGE,
                    axis=(x, y)[axis],
                    stiffness=stiffer * stiffness[i, axis],
                    damping=damping[i, axis],
                )
        plate.name = f"tip {arm}"
    return spec.compile()


def tips_of_mujoco(system: System, torques: np.ndarray, stiffer: float = 1.0) -> np.ndarray:
    """The same by MuJoCo, at the same times."""
    other = mujoco_octopus(system, stiffer)
    data = mujoco.MjData(other)
    full = np.zeros(other.nv)
    for index, torque in np.ndenumerate(torques):
        full[other.joint("tilt {} {} {}".format(*index)).dofadr[0]] = torque
    ends = [other.body(f"tip {arm}").id for arm in range(system.robot.count)]
    mujoco.mj_forward(other, data)
    tips = [data.xpos[ends].copy()]
    each = round(DT / MUJOCO_DT)
    for step in range(round(SECONDS / MUJOCO_DT)):
        data.qfrc_applied[:] = risen(np.float64((step + 0.5) * MUJOCO_DT)) * full
        mujoco.mj_step(other, data)
        if (step + 1) % each == 0:
            mujoco.mj_kinematics(other, data)
            tips.append(data.xpos[ends].copy())
    return np.array(tips)


def apart(system: System, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Distances over an arm's length."""
    return np.linalg.norm(one - other, axis=-1) / float(system.robot.arm.length)


# Arms straight out would hang limp by their weight within the second; hanging ones are held by it.
@pytest.mark.parametrize(
    ("pitch_deg", "gravity", "bend"),
    [pytest.param(0.0, (0.0, 0.0, 0.0), 3.0, id="weightless"), pytest.param(80.0, GRAVITY, 10.0, id="hanging")],
)
def test_eight_arms_move_as_mujoco_moves_them(pitch_deg, gravity, bend):
    system = held_octopus(pitch_deg, gravity)
    torques = full_torques(system, bend)
    ours, theirs = tips_of_ours(system, torques), tips_of_mujoco(system, torques)
    assert ours.shape == theirs.shape == (201, 8, 3)
    assert np.all(apart(system, ours[-1], ours[0]) > LEAST_MOTION)
    assert np.all(apart(system, ours, theirs) < MOST_APART)


def test_a_fifth_more_stiffness_is_seen():
    system = held_octopus(0.0, (0.0, 0.0, 0.0))
    torques = full_torques(system, 3.0)
    soft, stiff = (tips_of_mujoco(system, torques, stiffer) for stiffer in (1.0, 1.2))
    assert np.all(apart(system, soft, stiff)[-1] > MOST_APART)
