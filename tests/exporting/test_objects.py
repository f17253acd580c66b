"""Objects beside an exported robot: where they are, what touches them, and what the camera at a tip sees of them."""

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.errors import InputError
from hydrostat.exporting import load_mujoco, make_twin, place, tips, with_objects, write_mjcf, write_urdf
from hydrostat.lie import SE3
from hydrostat.robots import find_robot
from hydrostat.surroundings import Box, Capsule, Plane, Sphere

mujoco = pytest.importorskip("mujoco")

SHAPES = (
    Sphere((0.3, 0.1, -0.2), 0.05),
    Capsule(a=(0.2, -0.1, -0.3), b=(0.25, 0.2, -0.35), radius=0.03),
    Box(pose=SE3(jnp.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), jnp.array([0.9, 0.05, 0.0])),
        half_sizes=(0.3, 0.02, 0.4)),
    Plane(point=(0.0, 0.0, -0.8), normal=(0.0, 0.3, 1.0)),
)  # fmt: skip
SMALL = 1e-9


@pytest.fixture(scope="module")
def scene():
    return with_objects(make_twin(find_robot("squid"), 2), SHAPES)


def hit(model, data, start, direction):
    """The distance to the first geometry along a ray and the name of its body."""
    geom = np.array([-1], np.int32)
    distance = mujoco.mj_ray(model, data, np.asarray(start, float), np.asarray(direction, float), None, 1, -1, geom)
    return distance, model.body(model.geom_bodyid[geom[0]]).name if geom[0] >= 0 else None


def test_rays_meet_the_surfaces_where_our_shapes_have_them(scene):
    model, data = load_mujoco(scene)
    mujoco.mj_forward(model, data)
    rng = np.random.default_rng(0)
    for number, shape in enumerate(SHAPES, 1):
        for _ in range(5):
            start = np.array([0.3, 0.1, 1.5]) + rng.uniform(-0.4, 0.4, 3)
            surface = shape.distance_and_normal(jnp.asarray(start))
            # Along the normal a surface is as far as its distance says; what lies between is another object's.
            distance, name = hit(model, data, start, -np.asarray(surface.normal))
            assert name is not None
            assert distance <= float(surface.distance) + SMALL
            if name == f"object_{number}":
                assert distance == pytest.approx(float(surface.distance), abs=1e-6)


def test_the_camera_at_the_tip_sees_the_object_that_it_points_at(scene):
    """The tip of the camera limb points at a ball: the first thing along its axis, and as far as our surface is."""
    twin = make_twin(find_robot("squid"), 2)
    model, data = load_mujoco(twin)
    mujoco.mj_forward(model, data)
    rotation, position = tips(data, twin)[2]
    ball = Sphere(position + 0.2 * rotation[:, 2] + 0.01 * rotation[:, 0], 0.04)
    model, data = load_mujoco(with_objects(twin, [ball]))
    mujoco.mj_forward(model, data)
    camera = data.cam(0)
    start, looks = np.array(camera.xpos), -np.array(camera.xmat).reshape(3, 3)[:, 2]
    # The camera is outside of the limb's own skin, which ends round.
    before = float((start - position) @ looks)
    np.testing.assert_allclose(start, position + before * looks, atol=1e-9)
    assert 0.01 < before < 0.02
    distance, name = hit(model, data, start, looks)
    assert name == "object_1"
    assert distance == pytest.approx(0.2 - np.sqrt(0.04**2 - 0.01**2) - before, abs=1e-6)


def test_limbs_touch_objects_and_objects_not_each_other(scene):
    # Two balls in each other, both at rest and on a limb.
    twin = make_twin(find_robot("squid"), 2)
    model, data = load_mujoco(twin)
    mujoco.mj_forward(model, data)
    middle = np.array(tips(data, twin)[0][1]) - [0.1, 0.0, 0.0]
    model, data = load_mujoco(
        with_objects(twin, [Sphere(middle, 0.02), Sphere(middle + np.array([0.0, 0.0, 0.01]), 0.02)])
    )
    mujoco.mj_forward(model, data)
    pairs = {
        frozenset(model.body(model.geom_bodyid[geom]).name for geom in data.contact[i].geom) for i in range(data.ncon)
    }
    assert pairs
    assert all(any(name.startswith("object") for name in pair) for pair in pairs)
    assert frozenset(("object_1", "object_2")) not in pairs


def test_the_urdf_holds_them_as_well(scene, tmp_path):
    file = tmp_path / "scene.urdf"
    file.write_text(write_urdf(scene)[0], encoding="utf-8")
    text = file.read_text()
    for number in range(1, len(SHAPES) + 1):
        assert f'<link name="object_{number}">' in text
        assert f'<child link="object_{number}" />' in text
    mujoco.MjModel.from_xml_path(str(file))


def test_a_pose_is_a_keyframe(scene):
    rng = np.random.default_rng(1)
    q = [rng.uniform(-0.3, 0.3, (n, 3)) * [1.0, 1.0, 0.1] for n in (2, 2, 1, 1)]
    model = mujoco.MjModel.from_xml_string(write_mjcf(scene, configurations=q)[0])
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("pose").id)
    mujoco.mj_forward(model, data)
    wanted, other = load_mujoco(scene)
    place(wanted, other, scene, *q)
    np.testing.assert_allclose(data.qpos, other.qpos, atol=1e-12)


def test_what_is_no_shape_and_a_floating_robot_in_urdf_are_refused():
    twin = make_twin(find_robot("squid"), 1)
    with pytest.raises(InputError, match="objects must be Sphere, Capsule, Box or Plane; got 'ball'"):
        with_objects(twin, ["ball"])
    floating = with_objects(make_twin(find_robot("squid"), 1, free_base=True), SHAPES[:1])
    with pytest.raises(InputError, match="URDF holds one tree of links"):
        write_urdf(floating)
