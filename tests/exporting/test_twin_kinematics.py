"""Twins go where the robot goes, in MuJoCo, and give its configuration back."""

import numpy as np
import pytest
from robot_poses import TOML, configurations, robot_of, tips_of

from hydrostat.exporting import from_qpos, load_mujoco, make_twin, place, tips, to_qpos
from hydrostat.exporting.request import default_chain
from hydrostat.robots import ROBOTS
from hydrostat.robots.rrp_twin import tool_frame

EVERY = [*ROBOTS, *TOML]
ARCS = [name for name in EVERY if default_chain(robot_of(name), "urdf") == "rrp"]


def misses(spec, twin, model, data, qs):
    """How far the tips are from ours [m], and by how much the axes at the tips differ."""
    place(model, data, twin, *qs)
    pairs = zip(tips(data, twin), tips_of(spec, qs), strict=True)
    both = [(np.linalg.norm(p - p_own), np.abs(R - R_own).max()) for (R, p), (R_own, p_own) in pairs]
    return np.max(both, 0)


@pytest.mark.parametrize("name", ARCS)
def test_an_rrp_chain_is_exact(name):
    spec = robot_of(name)
    twin = make_twin(spec, None, "rrp")
    model, data = load_mujoco(twin)
    for seed in range(3):
        qs = configurations(spec, seed)
        # Hundreds of products of rotations of arms of up to 5 m.
        np.testing.assert_array_less(misses(spec, twin, model, data, qs), 1e-12)
        for q, back in zip(qs, from_qpos(model, twin, data.qpos), strict=True):
            np.testing.assert_allclose(back, q, atol=1e-12)


@pytest.mark.parametrize("name", ["rod", "stewart_arm", "octopus_arm", "octopus_arm_oblique", "all strains", "piston"])
def test_an_elastic_chain_with_a_joint_for_every_freedom_is_exact(name):
    spec = robot_of(name)
    twin = make_twin(spec, None, "elastic")
    model, data = load_mujoco(twin)
    assert misses(spec, twin, model, data, configurations(spec))[0] < 1e-12


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("tentacle", "finger")),
        *("squid", "octopus_arm_arcs", "bends and twist", "preshaped"),
    ],
)
def test_an_elastic_chain_follows_an_arm_to_second_order(name):
    spec = robot_of(name)
    found = []
    for sections in (2, 4) if name == "octopus_arm_arcs" else (4, 8, 16):
        twin = make_twin(spec, sections, "elastic")
        model, data = load_mujoco(twin)
        found.append(misses(spec, twin, model, data, configurations(spec))[0])
    assert found[-1] < 1e-3
    orders = np.log2(np.array(found[:-1]) / found[1:])
    np.testing.assert_allclose(orders, 2.0, atol=0.25)


@pytest.mark.parametrize("name", EVERY)
def test_an_elastic_chain_gives_the_configuration_back(name):
    spec = robot_of(name)
    twin = make_twin(spec, None, "elastic")
    model, _ = load_mujoco(twin)
    qs = configurations(spec, 5)
    found = from_qpos(model, twin, to_qpos(model, twin, *qs))
    for q, back in zip(qs, found, strict=True):
        np.testing.assert_allclose(back, np.repeat(q, len(back) // len(q), 0), atol=1e-11)
    # Sections may differ, as they do when the engine has moved them.
    if twin.chains[0].values(found[0]) != {}:
        rng = np.random.default_rng(1)
        moved = [back + 0.01 * rng.standard_normal(back.shape) for back in found]
        again = from_qpos(model, twin, to_qpos(model, twin, *moved))
        for q, back in zip(moved, again, strict=True):
            np.testing.assert_allclose(back, q, atol=1e-11)


def test_the_free_squid_is_where_its_body_is():
    spec = robot_of("squid")
    twin = make_twin(spec, 3, "rrp", free_base=True)
    model, data = load_mujoco(twin)
    assert model.nq == 7 + len(twin.joints)
    qs = configurations(spec)
    assert misses(spec, twin, model, data, qs)[0] < 1e-12
    data.qpos[:3] += [1.0, 2.0, 3.0]
    place(model, data, twin, *qs)
    for (_, p), (_, own) in zip(tips(data, twin), tips_of(spec, qs), strict=True):
        np.testing.assert_allclose(p, own + np.array([1.0, 2.0, 3.0]), atol=1e-12)
    for q, back in zip(qs, from_qpos(model, twin, data.qpos), strict=True):
        np.testing.assert_allclose(back, q, atol=1e-12)


def test_wrong_configurations_are_refused():
    twin = make_twin(robot_of("squid"), 2, "rrp")
    with pytest.raises(ValueError, match="squid needs 4 configurations; got 1"):
        twin.values(np.zeros((2, 3)))
    for name, chain in (("tentacle", "rrp"), ("tentacle", "elastic"), ("stewart_arm", "elastic")):
        with pytest.raises(ValueError, match="`q` of arm must be"):
            make_twin(robot_of(name), None, chain).values(np.zeros((7, 5)))


def test_the_tool_frame_is_part_of_the_kinematics():
    """The squid's camera limb by MuJoCo and by the closed form of the RRP chain."""
    from hydrostat.robots.rrp_twin import joints_of_arc

    theta, phi, length = 1.1, -2.0, 0.585
    spec = robot_of("squid_camera")
    bend = theta * np.array([np.cos(phi), np.sin(phi)])
    q = np.array([[-bend[1] / 0.6, bend[0] / 0.6, length / 0.6 - 1.0]])
    twin = make_twin(spec, 7, "rrp")
    model, data = load_mujoco(twin)
    place(model, data, twin, q)
    tool = tool_frame(joints_of_arc(theta, phi, length, 7))
    base = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # z along the world's x, x down
    ((R, p),) = tips(data, twin)
    np.testing.assert_allclose(p, base @ tool.position, atol=1e-13)
    np.testing.assert_allclose(R, base @ tool.rotation, atol=1e-13)
