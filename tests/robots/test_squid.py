"""The squid: what the paper states, its body's inertia, and its limbs as one model."""

import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.errors import InputError
from hydrostat.mechanics import kinematics
from hydrostat.robots import find_arm, load
from hydrostat.robots.build import base_pose, build_robot
from hydrostat.robots.limbed import BodySpec, LimbedSpec, LimbSpec, ShapeSpec
from hydrostat.robots.specs.squid import WATER, limb_volume, squid, squid_limb
from hydrostat.segments import Arc

SQUID = squid()


def test_the_limbs_are_the_papers():
    counts = {limb.name: len(limb.arm.segments) for limb in SQUID.limbs}
    assert counts == {"grasper": 2, "palpation": 2, "camera": 1, "light": 1}
    for limb in SQUID.limbs:
        arm = limb.arm
        assert sum(segment.length for segment in arm.segments) == pytest.approx(0.6)
        assert (arm.segments[0].radius[0], arm.segments[-1].radius[1]) == pytest.approx((0.03, 0.01))
        assert len(arm.tendons) == 4
        assert {segment.modes for segment in arm.segments} == {("bend_x", "bend_y", "stretch")}
        shortest = [limb.length_range[0] * segment.length for segment in arm.segments]
        assert shortest == pytest.approx([0.58] if len(shortest) == 1 else [0.29, 0.29])
        assert limb.length_range[1] == 1.0
        assert limb.most_bend_deg == 90.0
    assert SQUID.limb("camera").role == "camera"
    assert SQUID.limb("light").role == "light"


def test_it_weighs_30_kg_and_floats_a_little():
    # The volume and mass of a limb are in the reference tables of the frustum.
    assert limb_volume() == pytest.approx(8.168140899e-4, rel=1e-9)
    mass = SQUID.body.mass + 4 * 1070.0 * limb_volume()
    volume = SQUID.body.volume + 4 * limb_volume()
    assert mass == pytest.approx(30.0)
    assert 1.0 < WATER * volume / mass < 1.05
    ends = [
        shape.position[2] + sign * (shape.size[-1] / 2 + (shape.size[0] if shape.kind == "capsule" else 0.0))
        for shape in SQUID.body.shapes
        for sign in (-1, 1)
    ]
    assert max(ends) - min(ends) <= 1.2
    assert max(ends) <= 0.0  # nothing of the body reaches beyond the bow plate
    # The head's Ø 250 mm holds the flanges of 80 mm, which do not overlap.
    places = np.array([limb.arm.base.position for limb in SQUID.limbs])
    assert np.linalg.norm(places, axis=1).max() + 0.04 <= 0.125
    gaps = np.linalg.norm(places[:, None] - places[None], axis=-1) + 9.0 * np.eye(4)
    assert gaps.min() >= 0.08


@pytest.mark.parametrize(
    "shape",
    [
        ShapeSpec("ball", "sphere", (0.2,), (0.0, 0.0, 0.0), 2.0),
        ShapeSpec("tube", "cylinder", (0.1, 0.5), (0.0, 0.0, 0.0), 2.0),
        ShapeSpec("pill", "capsule", (0.1, 0.3), (0.0, 0.0, 0.0), 2.0),
        ShapeSpec("brick", "box", (0.2, 0.3, 0.4), (0.0, 0.0, 0.0), 2.0),
    ],
    ids=lambda shape: shape.kind,
)
def test_inertia_of_shapes_by_summing_small_cells(shape):
    cells = (np.arange(120) + 0.5) / 120 - 0.5
    x, y, z = np.meshgrid(*(cells,) * 3, indexing="ij") * np.full((3, 1, 1, 1), 0.56)
    half = shape.size[-1] / 2
    inside = {
        "sphere": lambda: x**2 + y**2 + z**2 < shape.size[0] ** 2,
        "cylinder": lambda: (x**2 + y**2 < shape.size[0] ** 2) & (abs(z) < half),
        "capsule": lambda: x**2 + y**2 + np.maximum(abs(z) - half, 0.0) ** 2 < shape.size[0] ** 2,
        "box": lambda: (abs(x) < 0.1) & (abs(y) < 0.15) & (abs(z) < 0.2),
    }[shape.kind]()
    sums = [np.mean(part[inside]) for part in (y**2 + z**2, x**2 + z**2, x**2 + y**2)]
    # Cells of 5 mm on shapes of 100 mm and more.
    np.testing.assert_allclose(shape.inertia, 2.0 * np.array(sums), rtol=0.02)


def test_inertia_of_a_body_is_that_of_its_parts_about_their_common_centre():
    two = tuple(ShapeSpec(f"ball {x}", "sphere", (0.1,), (x, 0.0, 0.0), 3.0) for x in (-1.0, 3.0))
    body = BodySpec(two, 0.0)
    np.testing.assert_allclose(body.centre, [1.0, 0.0, 0.0])
    ball = 0.4 * 3.0 * 0.01
    np.testing.assert_allclose(body.inertia, np.diag([2 * ball, 2 * ball + 24.0, 2 * ball + 24.0]), atol=1e-12)


def test_a_limb_is_at_its_place_and_bends_towards_phi():
    robot = hs.robots.squid()
    grasper = robot.each[robot.names.index("grasper")]
    base = grasper.arm.T_world_base
    # The body's x is down and its y the world's: the grasper sits below, on the side of +y.
    np.testing.assert_allclose(base.position, [0.0, 0.08 * np.sqrt(0.5), -0.08 * np.sqrt(0.5)], atol=1e-15)
    np.testing.assert_allclose(base.rotation[:, 2], [1.0, 0.0, 0.0], atol=1e-15)
    q = grasper.arm.segments.from_arc(Arc(jnp.array([0.5, 0.0]), jnp.array([0.0, 0.0]), jnp.array([0.29, 0.3])))
    tip = kinematics.tip_pose(grasper.arm, q)
    assert tip.position[2] < base.position[2]  # phi = 0 is the body's x: down
    np.testing.assert_allclose(tip.rotation[:, 2], [np.cos(0.5), 0.0, -np.sin(0.5)], atol=1e-14)


def test_pieces_refine_a_limb_without_changing_its_shapes():
    coarse, fine = load("squid_grasper"), hs.robots.squid_limb("grasper", pieces=5)
    assert fine.arm.count == 10
    q = jnp.array([[0.8, -2.0, -0.02], [1.0, 1.5, -0.01]])
    tips = [kinematics.tip_pose(r.arm, x) for r, x in ((coarse, q), (fine, jnp.repeat(q, 5, 0)))]
    np.testing.assert_allclose(tips[0].position, tips[1].position, atol=1e-14)
    lengths = [r.tendons.lengths(r.arm, x) for r, x in ((coarse, q), (fine, jnp.repeat(q, 5, 0)))]
    np.testing.assert_allclose(lengths[0], lengths[1], atol=1e-14)


def test_all_limbs_are_one_model_on_a_fixed_or_a_free_body():
    fixed, free = build_robot(SQUID), build_robot(SQUID, free=True)
    assert not fixed.free_base
    T_world_spec = base_pose(SQUID.base)
    for robot in (fixed, free):
        assert robot.names == tuple(limb.name for limb in SQUID.limbs)
        for limb, arm, mount in zip(SQUID.limbs, robot.arms, robot.mounts, strict=True):
            expected = T_world_spec @ base_pose(limb.arm.base)
            np.testing.assert_allclose((robot.T_world_body @ mount).as_matrix(), expected.as_matrix(), atol=1e-15)
            np.testing.assert_allclose(arm.arm.T_world_base.as_matrix(), expected.as_matrix(), atol=1e-15)
            assert arm.wires is not None
    np.testing.assert_allclose(free.base_inertia, [*np.diag(SQUID.body.inertia), *[SQUID.body.mass] * 3])
    centre = T_world_spec.apply(jnp.asarray(SQUID.body.centre))
    np.testing.assert_allclose(free.T_world_body.position, centre)


def test_what_is_wrong_is_said():
    with pytest.raises(InputError, match="must be a single arm; got squid with 4 limbs"):
        find_arm("squid")
    with pytest.raises(InputError, match="`name` must be one of grasper, palpation, camera, light; got 'wing'"):
        squid_limb("wing")
    with pytest.raises(InputError, match="limb must be one of grasper"):
        SQUID.limb("wing")
    with pytest.raises(InputError, match="`kind` must be one of sphere"):
        ShapeSpec("x", "cone", (1.0,), (0.0, 0.0, 0.0), 1.0)
    with pytest.raises(InputError, match="`size` must be a list of 2 numbers"):
        ShapeSpec("x", "capsule", (1.0,), (0.0, 0.0, 0.0), 1.0)
    with pytest.raises(InputError, match="must have at least one shape"):
        BodySpec((), 1.0)
    with pytest.raises(InputError, match="must have a mass; got 0 kg"):
        BodySpec((ShapeSpec("x", "sphere", (1.0,), (0.0, 0.0, 0.0), 0.0),), 1.0)
    arm = squid_limb("camera")
    with pytest.raises(InputError, match="`length_range` must hold 1"):
        LimbSpec("a", arm, length_range=(0.5, 0.9))
    with pytest.raises(InputError, match="must carry 1 to 100 limbs; got 0"):
        LimbedSpec("x", SQUID.body, ())
    with pytest.raises(InputError, match="a name of its own; got a, a"):
        LimbedSpec("x", SQUID.body, (LimbSpec("a", arm), LimbSpec("a", arm)))
