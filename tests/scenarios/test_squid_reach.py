"""squid-reach: the limbs do their tasks by their tendons in drawn scenes, and do not pass through each other."""

from xml.etree import ElementTree as ET

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.errors import InputError
from hydrostat.results import load
from hydrostat.scenarios.runner import run_scenario
from hydrostat.scenarios.squid_reach_scene import scenes

THIN = 10.0
"""Radius of the limbs where they are thinnest [mm]."""


@pytest.fixture(scope="module")
def standard(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reach")
    return run_scenario("squid-reach", out=folder, figures=False), folder / "squid-reach"


@pytest.mark.slow
def test_the_limbs_wrap_press_and_look(standard):
    metrics, folder = standard[0]["metrics"], standard[1]
    assert metrics["wrap_angle_deg"] > 90.0
    assert metrics["grasp_force_n"] > 0.2
    assert abs(metrics["grasp_distance_mm"]) < 1.0  # the tip lies on the bar
    assert metrics["obstacle_force_max_n"] == 0.0
    assert metrics["press_error_percent"] <= 5.0
    assert metrics["press_elongation_mm"] > 5.0
    assert metrics["camera_pointing_error_deg"] < 3.0
    assert metrics["light_pointing_error_deg"] < 3.0
    assert metrics["penetration_max_radii"] < 0.1
    assert metrics["limb_overlap_max_mm"] < 0.1 * THIN
    assert metrics["place_error_mm"] < 20.0
    assert float(load(folder)["tension"].min()) >= 0.0  # tendons only pull


@pytest.mark.slow
def test_the_camera_of_the_exported_scene_sees_the_bar(standard):
    """The first thing on the axis of the camera at the tip is the bar, in MuJoCo and in the pose of the end."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(standard[0]["files"]["scene_mjcf"])
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("pose").id)
    mujoco.mj_forward(model, data)
    camera, geom = data.cam(0), np.array([-1], np.int32)
    looks = -np.array(camera.xmat).reshape(3, 3)[:, 2]
    distance = mujoco.mj_ray(model, data, np.array(camera.xpos), looks, None, 1, -1, geom)
    assert model.body(model.geom_bodyid[geom[0]]).name == "object_1"
    bar = scenes(0, 0)[0].bar
    assert abs(float(bar.distance_and_normal(jnp.asarray(camera.xpos + distance * looks)).distance)) < 1e-4
    # The other file holds the objects too.
    links = {link.get("name") for link in ET.parse(standard[0]["files"]["scene_urdf"]).iter("link")}
    assert {f"object_{number}" for number in range(1, 6)} <= links


@pytest.mark.slow
def test_soft_limbs_in_drawn_scenes_touch_each_other_and_do_not_pass(tmp_path):
    """Limbs that are a fifth softer than is known, of which some meet."""
    settings = {"scenes": 3, "softer_percent": 20.0}
    metrics = run_scenario("squid-reach", None, settings, seed=0, out=tmp_path, figures=False)["metrics"]
    assert metrics["scenes"] == len(metrics["wrap_angle_deg"]) == 3
    assert metrics["limb_overlap_worst_mm"] < 0.1 * THIN
    assert metrics["limb_overlap_worst_mm"] == max(metrics["limb_overlap_max_mm"])


def test_scenes_differ_by_their_seed_and_the_standard_one_is_in_the_middle():
    first, again, other = (scenes(3, seed) for seed in (0, 0, 1))
    for one, same in zip(first, again, strict=True):
        assert np.array_equal(one.bar.a, same.bar.a)
    assert len({float(one.bar.radius) for one in (*first, *other)}) == 6
    (standard,) = scenes(0, 5)
    many = scenes(200, 0)
    for value in (lambda s: s.bar.radius, lambda s: s.look_at[0], lambda s: s.touch[0], lambda s: s.bar.a[2]):
        drawn = np.array([float(value(one)) for one in many])
        assert drawn.min() < float(value(standard)) < drawn.max()
        assert np.mean(drawn) == pytest.approx(float(value(standard)), abs=0.25 * np.ptp(drawn))
    # What the camera points at is on the bar's axis.
    for one in first:
        away = float(one.bar.distance_and_normal(jnp.asarray(one.look_at)).distance)
        assert away == pytest.approx(-float(one.bar.radius))


def test_a_force_that_the_pretension_does_not_hold_is_refused(tmp_path):
    with pytest.raises(InputError, match="`press_n` must be less than 2 N, which four tendons of `pretension_n` can"):
        run_scenario("squid-reach", None, {"press_n": 2.5}, out=tmp_path)


def test_another_robot_is_refused(tmp_path):
    with pytest.raises(InputError, match="this scenario needs a robot with limbs on a body, such as squid"):
        run_scenario("squid-reach", "squid_camera", out=tmp_path)
