"""Robots built from their specifications: the arrays say what the words said."""

import dataclasses
import importlib

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.errors import InputError
from hydrostat.mechanics import kinematics
from hydrostat.robots import ROBOTS, LimbedSpec, find_robot, load, parse_robot
from hydrostat.robots.build import build_robot
from hydrostat.robots.spec import BaseSpec

EPS = np.finfo(float).eps

AXES = [
    (0, 0, 1),
    (0, 0, -1),
    (1, 0, 0),
    (0, -3, 0),
    (1e-9, 0, 0),
    (1e6, -1e6, 1e6),
    (0.3, -0.4, -0.5),
    # Almost straight down, where the shortest turn is half a turn and its axis is hard to tell.
    (1e-3, 0, -1),
    (1e-4, 1e-4, -1),
    (1e-5, 0, -1),
    (1.5e-6, 1e-6, -1),
    (0, 1e-7, -1),
    (1e-9, 0, -1),
]


@pytest.mark.parametrize("axis", AXES)
def test_straight_arm_points_along_its_axis(axis):
    spec = dataclasses.replace(ROBOTS["tentacle"].make(), base=BaseSpec((1.0, -2.0, 0.5), axis))
    arm = build_robot(spec).arm
    rotation = np.asarray(arm.T_world_base.rotation)
    # Proper rotation to rounding: everything after relies on it.
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(3), atol=8 * EPS)
    assert np.linalg.det(rotation) == pytest.approx(1, abs=8 * EPS)
    direction = np.array(axis) / np.linalg.norm(axis)
    np.testing.assert_allclose(rotation[:, 2], direction, atol=8 * EPS)
    tip = kinematics.tip_pose(arm, arm.straight())
    np.testing.assert_allclose(tip.position, [1, -2, 0.5] + 1.05 * direction, atol=16 * EPS)


def test_upright_arm_keeps_the_worlds_axes():
    np.testing.assert_array_equal(load("tentacle").arm.T_world_base.as_matrix(), np.eye(4))


def test_segments_of_different_modes_share_coordinates_with_locks():
    text = """
    [[arm.segment]]
    length = 0.3
    radius = [0.03, 0.02]
    modes = ["bend_y", "stretch"]
    [[arm.segment]]
    length = 0.2
    radius = [0.02, 0.01]
    modes = ["bend_x"]
    """
    arm = build_robot(parse_robot(text.replace("    ", ""))).arm
    assert arm.segments.modes == ("bend_x", "bend_y", "stretch")
    np.testing.assert_array_equal(arm.segments.free, [[False, True, True], [True, False, False]])
    np.testing.assert_array_equal(arm.segments.length, [0.3, 0.2])
    np.testing.assert_array_equal(arm.section.radius_base, [0.03, 0.02])
    np.testing.assert_array_equal(arm.section.radius_tip, [0.02, 0.01])
    # Locked coordinates are there, and do nothing.
    q = jnp.array([[5.0, 1.0, 0.1], [0.5, 7.0, 7.0]])
    allowed = jnp.where(arm.segments.free, q, 0.0)
    np.testing.assert_array_equal(
        kinematics.tip_pose(arm, q).as_matrix(), kinematics.tip_pose(arm, allowed).as_matrix()
    )


def test_preshape_is_the_rest_strain_in_any_modes():
    text = """
    [[arm.segment]]
    length = 0.3
    radius = [0.03, 0.02]
    modes = ["stretch"]
    preshape_deg = [0, 90]
    [[arm.segment]]
    length = 0.2
    radius = [0.02, 0.01]
    modes = ["bend_x"]
    preshape_deg = [-60, 0]
    """
    arm = build_robot(parse_robot(text.replace("    ", ""))).arm
    expected = np.zeros((2, 6))
    expected[0, 1], expected[1, 0] = np.pi / 2 / 0.3, -np.pi / 3 / 0.2
    np.testing.assert_allclose(arm.segments.rest_strain, expected, rtol=2 * EPS)
    # A quarter circle towards +x, then, about the x axis, which now points down, by 60 degrees backwards.
    tangent = kinematics.tip_pose(arm, arm.straight()).rotation[:, 2]
    np.testing.assert_allclose(tangent, [np.cos(np.pi / 3), np.sin(np.pi / 3), 0], atol=8 * EPS)


def test_masses_and_friction_are_arrays():
    text = "[[arm.segment]]\nlength = 1\nradius = [0.1, 0.1]\ncount = 4\nfriction = 0.5\n"
    bare = build_robot(parse_robot(text))
    assert bare.one.lump_inertia.shape == (0, 6)
    # Four pieces of 0.25 m share the friction 0.5 of the whole: 2 each, by the angle, which is curvature times length.
    np.testing.assert_allclose(bare.one.damping, np.full((4, 2), 2.0 * 0.25**2), rtol=2 * EPS)
    robot = build_robot(
        parse_robot(f"{text}[[mass]]\nplace = 0.25\nmass = 2\n[[mass]]\nplace = 1\nmass = 3\ninertia = 4\n")
    )
    np.testing.assert_array_equal(robot.one.lumps.segment, [0, 3])
    np.testing.assert_allclose(robot.one.lumps.fraction, 1.0, rtol=4 * EPS)
    np.testing.assert_array_equal(robot.one.lump_inertia, [[0, 0, 0, 2, 2, 2], [4, 4, 4, 3, 3, 3]])
    # Masses and friction can be differentiated.
    slopes = eqx.filter_grad(lambda robot: jnp.sum(robot.one.lump_inertia**2) + jnp.sum(robot.one.damping))(robot)
    np.testing.assert_array_equal(slopes.one.lump_inertia[:, 3], [4, 6])
    np.testing.assert_array_equal(slopes.one.damping, 1)


def test_material_and_motor():
    robot = load("tentacle")
    spec = ROBOTS["tentacle"].make()
    for name in ("youngs_modulus", "poisson_ratio", "density", "viscosity"):
        np.testing.assert_array_equal(getattr(robot.arm.material, name), [getattr(spec.material, name)] * 3)
    assert robot.motor.step == spec.motor.step
    for name in ("max_speed", "max_acceleration", "max_jerk", "max_pulse_rate"):
        assert getattr(robot.motor, name) == getattr(spec.motor, name)
    assert robot.name == spec.name
    with pytest.raises(InputError, match="has no motors"):
        _ = build_robot(dataclasses.replace(spec, motor=None)).motor


@pytest.mark.parametrize("name", [name for name in ROBOTS if not isinstance(find_robot(name), LimbedSpec)])
def test_tendons(name):
    spec, robot = ROBOTS[name].make(), load(name)
    if not spec.tendons:
        with pytest.raises(InputError, match="has no tendons to drive"):
            _ = robot.tendons
        return
    tendons = robot.tendons
    assert tendons.ends_at == tuple(t.ends_at_segment - 1 for t in spec.tendons)
    assert tendons.bays == (10 if name == "tentacle_soft" else None)
    np.testing.assert_allclose(tendons.azimuth, np.radians([t.azimuth_deg for t in spec.tendons]))
    for wire, tendon in enumerate(spec.tendons):
        offsets = spec.offsets(tendon)
        passes = [float(number in offsets) for number in range(1, len(spec.segments) + 1)]
        np.testing.assert_array_equal(tendons.passes[wire], passes)
        for number, pair in offsets.items():
            np.testing.assert_array_equal(tendons.offsets[wire, number - 1], pair)


@pytest.mark.parametrize("name", ["tentacle", "tentacle_through"])
def test_straight_cylinder_has_wires_as_long_as_what_they_pass(name):
    robot = load(name)
    lengths = robot.tendons.lengths(robot.arm, robot.arm.straight())
    passed = {"tentacle": [1, 1, 1], "tentacle_through": [1, 2, 3]}[name]
    np.testing.assert_allclose(lengths, np.repeat(0.35 * np.array(passed), 3), atol=4 * EPS)


def test_a_robot_without_tendons():
    robot = build_robot(parse_robot("[[arm.segment]]\nlength = 1\nradius = [0.1, 0.1]\ncount = 20\n"))
    assert robot.arm.count == 20
    assert float(robot.arm.length) == pytest.approx(1)
    assert robot.one.wires is None
    with pytest.raises(InputError, match="has no tendons to drive"):
        _ = robot.tendons
    with pytest.raises(InputError, match="has no tendons to drive"):
        build_robot(parse_robot("[[arm.segment]]\nlength = 1\nradius = [0.1, 0.1]\n"), drive="length")


@pytest.mark.parametrize(
    "arguments, name",
    [
        ({}, "tentacle"),
        ({"shape": "cone"}, "tentacle_cone"),
        ({"shape": "cone", "wires": "soft"}, "tentacle_soft"),
        ({"routing": "through"}, "tentacle_through"),
    ],
)
def test_python_and_catalogue_name_the_same_robots(arguments, name):
    mine, theirs = hs.robots.tentacle(**arguments), load(name)
    assert mine.name == theirs.name
    np.testing.assert_array_equal(mine.tendons.offsets, theirs.tendons.offsets)
    np.testing.assert_array_equal(mine.arm.section.radius_tip, theirs.arm.section.radius_tip)


@pytest.mark.parametrize(
    "wrong", [{"shape": "cube"}, {"wires": "wet"}, {"routing": "around"}, {"bays": 0}, {"bays": 2.0}]
)
def test_wrong_choices(wrong):
    (key, value), *_ = wrong.items()
    with pytest.raises(InputError) as error:
        hs.robots.tentacle(**wrong)
    assert f"`{key}`" in str(error.value)
    assert repr(value) in str(error.value)


DOORS = {
    "octopus": lambda **options: hs.robots.octopus(2, 2, **options),
    "octopus_arm": lambda **options: hs.robots.octopus_arm(2, **options),
    "squid": hs.robots.squid,
    "squid_limb": hs.robots.squid_limb,
    "tentacle": hs.robots.tentacle,
    "finger": hs.robots.finger,
    "stewart_arm": lambda **options: hs.robots.stewart_arm(2, **options),
    "rod": lambda **options: hs.robots.rod(0.3, 5e-3, 2, **options),
    "load": lambda **options: hs.robots.load("rod", **options),
}


@pytest.mark.parametrize("name", DOORS)
def test_doors_give_robots_whatever_was_imported_before(name):
    # The modules of the specifications have the same names, and must not take the functions' place.
    importlib.import_module("hydrostat.robots.specs" + ("" if name in ("load", "squid_limb") else f".{name}"))
    assert callable(getattr(hs.robots, name))
    robot = DOORS[name]()
    assert isinstance(robot, hs.mechanics.Robot)
    # The octopus moves freely by default, and no other.
    assert robot.free_base == (name == "octopus")
    other = DOORS[name](free=not robot.free_base, points=2, **({} if robot.single else {"load_places": [0.5, 1.0]}))
    assert other.free_base != robot.free_base
    if not robot.single:
        assert all(arm.loads.fraction.shape == (2,) for arm in other.each)


def test_octopus_has_its_parameters():
    robot = hs.robots.octopus(3, 4, pitch_deg=30.0)
    assert (robot.count, robot.arm.count) == (3, 4)
    # Arm 1 points along x, and down by the pitch.
    np.testing.assert_allclose(robot.mounts.rotation[0, :, 2], [np.sqrt(0.75), 0.0, -0.5], atol=4 * EPS)


def test_a_plain_rod():
    robot = hs.robots.rod(
        0.5, (0.01, 0.006), 5, modes=("bend_y",), youngs_modulus=2e6, density=1100.0, tip_mass=0.02, load_places=[1.0]
    )
    arm = robot.arm
    assert arm.segments.modes == ("bend_y",)
    np.testing.assert_allclose(arm.length, 0.5, rtol=4 * EPS)
    np.testing.assert_allclose([arm.section.radius_base[0], arm.section.radius_tip[-1]], [0.01, 0.006])
    # A truncated cone of the density, by three Gauss points exact to rounding, and what its tip carries.
    cone = 1100.0 * np.pi / 3.0 * 0.5 * (0.01**2 + 0.01 * 0.006 + 0.006**2)
    np.testing.assert_allclose(jnp.sum(robot.one.inertia[..., 3]), cone, rtol=1e-12)
    np.testing.assert_array_equal(robot.one.lump_inertia[:, 3], [0.02])
    assert robot.one.loads.fraction.shape == (1,)
    with pytest.raises(InputError, match="`radius"):
        hs.robots.rod(0.5, -0.01)
