"""The URDF in pinocchio and in PyBullet: it loads, and the tips are where ours are."""

import numpy as np
import pytest
from robot_poses import configurations, robot_of, tips_of

from hydrostat.exporting import make_twin, write_urdf

pinocchio = pytest.importorskip("pinocchio")
pybullet = pytest.importorskip("pybullet")

ROBOTS = ["squid", "tentacle", "octopus_arm", "stewart_arm", "octopus_arm_oblique"]


@pytest.mark.parametrize("name", ROBOTS)
def test_pinocchio_agrees(name):
    spec = robot_of(name)
    twin = make_twin(spec, None, "rrp")
    model = pinocchio.buildModelFromXML(write_urdf(twin)[0])
    data = model.createData()
    for seed in range(2):
        qs = configurations(spec, seed)
        values = np.zeros(model.nq)
        for joint, value in twin.values(*qs).items():
            values[model.joints[model.getJointId(joint)].idx_q] = value
        pinocchio.framesForwardKinematics(model, data, values)
        for chain, (R, p) in zip(twin.chains, tips_of(spec, qs), strict=True):
            tip = data.oMf[model.getFrameId(chain.tip)]
            np.testing.assert_allclose(tip.translation, p, atol=1e-11)
            np.testing.assert_allclose(tip.rotation, R, atol=1e-11)


# PyBullet answers for the first 128 links of a robot: the squid's four limbs have as many with five sections each.
@pytest.mark.parametrize("name, sections", [(name, 5 if name == "squid" else None) for name in ROBOTS])
def test_pybullet_agrees(name, sections, tmp_path):
    spec = robot_of(name)
    twin = make_twin(spec, sections, "rrp")
    file = tmp_path / "robot.urdf"
    file.write_text(write_urdf(twin)[0], encoding="utf-8")
    client = pybullet.connect(pybullet.DIRECT)
    try:
        robot = pybullet.loadURDF(str(file), useFixedBase=True, physicsClientId=client)
        infos = [pybullet.getJointInfo(robot, i, client) for i in range(pybullet.getNumJoints(robot, client))]
        joints, links = ({info[where].decode(): info[0] for info in infos} for where in (1, 12))
        for seed in range(2):
            qs = configurations(spec, seed)
            for joint, value in twin.values(*qs).items():
                pybullet.resetJointState(robot, joints[joint], value, physicsClientId=client)
            for chain, (R, p) in zip(twin.chains, tips_of(spec, qs), strict=True):
                state = pybullet.getLinkState(
                    robot, links[chain.tip], computeForwardKinematics=True, physicsClientId=client
                )
                np.testing.assert_allclose(state[4], p, atol=1e-6)
                rotation = np.reshape(pybullet.getMatrixFromQuaternion(state[5]), (3, 3))
                np.testing.assert_allclose(rotation, R, atol=1e-6)
    finally:
        pybullet.disconnect(client)


def test_the_whole_squid_loads_in_pybullet(tmp_path):
    twin = make_twin(robot_of("squid"), None, "rrp")
    file = tmp_path / "robot.urdf"
    file.write_text(write_urdf(twin)[0], encoding="utf-8")
    client = pybullet.connect(pybullet.DIRECT)
    try:
        robot = pybullet.loadURDF(str(file), useFixedBase=True, physicsClientId=client)
        kinds = [pybullet.getJointInfo(robot, i, client)[2] for i in range(pybullet.getNumJoints(robot, client))]
        assert sum(kind != pybullet.JOINT_FIXED for kind in kinds) == len(twin.joints) == 192
    finally:
        pybullet.disconnect(client)


def test_an_elastic_chain_loads_in_both(tmp_path):
    spec = robot_of("squid")
    twin = make_twin(spec, 4, "elastic", free_base=True)
    text = write_urdf(twin)[0]
    model = pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer())
    assert model.nv == 6 + len(twin.joints)
    assert sum(inertia.mass for inertia in model.inertias) == pytest.approx(30.0)
    file = tmp_path / "robot.urdf"
    file.write_text(text, encoding="utf-8")
    client = pybullet.connect(pybullet.DIRECT)
    try:
        robot = pybullet.loadURDF(str(file), physicsClientId=client)
        assert pybullet.getBodyInfo(robot, client)[0] == b"body"
    finally:
        pybullet.disconnect(client)
