"""The finger's robot: the paper's parameters, its frame, and its refinement."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from finger_formulas import FingerFormulas, to_space

import hydrostat as hs
from hydrostat.errors import InputError
from hydrostat.mechanics import kinematics
from hydrostat.robots import ROBOTS, format_robot, parse_robot
from hydrostat.robots.build import build_robot
from hydrostat.robots.spec import MassSpec
from hydrostat.robots.specs.finger import finger

EPS = np.finfo(float).eps


def formulas(spec, **changes):
    """The paper's own model of a specification of two segments."""
    (radius, _), material = spec.segments[0].radius, spec.material
    area, second_moment = np.pi * radius**2, np.pi * radius**4 / 4
    return FingerFormulas(
        [segment.length for segment in spec.segments],
        material.density * area,
        material.youngs_modulus * second_moment,
        rotary_inertia=material.density * second_moment,
        friction=spec.segments[0].friction,
        preshape=np.radians([segment.preshape_deg[1] for segment in spec.segments]),
        **changes,
    )


def places_of(robot):
    """Where the lumped masses are, as fractions of the rest length."""
    lengths, lumps = np.asarray(robot.arm.segments.length), robot.one.lumps
    segment = np.asarray(lumps.segment)
    along = np.cumsum(lengths)[segment] - (1.0 - np.asarray(lumps.fraction)) * lengths[segment]
    return along / lengths.sum()


def test_the_rod_of_the_paper():
    spec = finger()
    assert spec == ROBOTS["finger"].make()
    assert sum(segment.length for segment in spec.segments) == 0.6
    assert {segment.modes for segment in spec.segments} == {("bend_y",)}
    assert spec.motor is None
    # The section and the mass of a 2 mm rod of 60 cm, as the reference has them; ten and eight digits.
    arm = build_robot(spec).arm
    np.testing.assert_allclose(arm.section.area(0.5), 3.141592654e-6, rtol=1e-9)
    np.testing.assert_allclose(arm.section.second_moment(0.5), 7.853981634e-13, rtol=1e-9)
    mass = jnp.sum(arm.material.density * arm.section.area(0.5) * arm.segments.length)
    np.testing.assert_allclose(mass, 12.157964e-3, rtol=1e-7)


def test_assumed_friction_is_that_of_a_metal():
    """Damping ratio v C v / (2 w v M v) of the first vibration, for the friction's damping matrix C = c 1."""
    model = formulas(finger())
    M = np.asarray(model.mass_matrix(jnp.zeros(2)))
    K = np.diag(model.bending_stiffness / model.lengths)
    squares, modes = np.linalg.eig(np.linalg.solve(M, K))
    first = modes[:, np.argmin(squares)]
    ratio = float(model.friction) * first @ first / (2 * np.sqrt(np.min(squares)) * first @ M @ first)
    # What `FRICTION` says, to the one digit that it is given with.
    assert ratio == pytest.approx(0.01, rel=0.05)


def test_frame():
    """Positive bend_y is down, tendon 1 is below: both in the world."""
    robot = hs.robots.finger()
    rotation = np.asarray(robot.arm.T_world_base.rotation)
    np.testing.assert_array_equal(rotation.T, [[0, 0, -1], [0, 1, 0], [1, 0, 0]])
    np.testing.assert_allclose(kinematics.tip_pose(robot.arm, robot.arm.straight()).position, [0.6, 0, 0], atol=EPS)
    down = jnp.full((2, 1), 0.5)
    assert kinematics.tip_pose(robot.arm, down).position[2] < -0.05
    lengths = robot.tendons.lengths(robot.arm, down)
    # Lengths 0.6 m -+ e (theta_1 + theta_2): the lower is the shorter one.
    np.testing.assert_allclose(lengths, [0.6 - 0.01 * 0.3, 0.6 + 0.01 * 0.3], rtol=4 * EPS)


def test_same_place_as_the_papers_formulas():
    """Arcs, preshape and frame: the world's (z, x) are the paper's (X, Y)."""
    spec = finger((0.35, 0.25), preshape_deg=(30.0, -20.0))
    model, arm = formulas(spec), build_robot(spec).arm

    @jax.jit
    def both(theta):
        # The coordinates count from the unloaded shape.
        poses = kinematics.segment_poses(arm, model.to_strains(theta - model.preshape))
        points = jnp.stack([model.contact_position(theta), model.tip_position(theta)])
        return poses.position[1:], to_space(points) @ arm.T_world_base.rotation.T, points

    for theta in np.vstack([np.zeros((1, 2)), np.random.default_rng(1).uniform(-2, 2, (5, 2))]):
        general, own, points = both(jnp.asarray(theta))
        np.testing.assert_allclose(general, own, rtol=0, atol=20 * EPS)
        np.testing.assert_allclose(general[:, [2, 0]], points, rtol=0, atol=20 * EPS)


def test_unloaded_finger_has_its_preshape():
    spec = finger(preshape_deg=(90.0, -45.0), segments=6)
    arm = build_robot(spec).arm
    turned = kinematics.tip_pose(arm, arm.straight()).rotation[:, 2]
    # From world x by 45 degrees downwards.
    np.testing.assert_allclose(turned, [np.sqrt(0.5), 0, -np.sqrt(0.5)], atol=20 * EPS)
    np.testing.assert_allclose(arm.segments.rest_strain[:3, 1], np.pi / 2 / 0.3, rtol=4 * EPS)
    np.testing.assert_array_equal(np.delete(arm.segments.rest_strain, 1, axis=1), 0)


@pytest.mark.parametrize("segments", [4, 40])
def test_refinement_is_the_same_finger(segments):
    """The same arcs, wires, friction and masses, in more pieces."""
    arguments = {"lengths": (0.35, 0.25), "tip_mass": 0.05, "contact_mass": 0.01, "preshape_deg": (30.0, -20.0)}
    coarse, fine = hs.robots.finger(**arguments), hs.robots.finger(**arguments, segments=segments)
    half = segments // 2
    q = jnp.array([[1.5], [-2.0]])
    spread = jnp.repeat(q, half, axis=0)
    # As many roundings as segments.
    np.testing.assert_allclose(
        kinematics.tip_pose(fine.arm, spread).as_matrix(),
        kinematics.tip_pose(coarse.arm, q).as_matrix(),
        atol=4 * segments * EPS,
    )
    np.testing.assert_allclose(
        fine.tendons.lengths(fine.arm, spread), coarse.tendons.lengths(coarse.arm, q), atol=4 * segments * EPS
    )
    np.testing.assert_allclose(places_of(fine), places_of(coarse), atol=4 * segments * EPS)
    # The power of friction when all pieces of an arc share its rate of curvature, that of its angle over its length.
    rates = np.array([2.0, -3.0])
    power = np.sum(np.asarray(fine.one.damping)[:, 0] * np.repeat(rates, half) ** 2)
    coarse_power = np.sum(np.asarray(coarse.one.damping)[:, 0] * rates**2)
    assert power == pytest.approx(coarse_power, rel=4 * segments * EPS)
    assert coarse_power == pytest.approx(2e-4 * np.sum((rates * [0.35, 0.25]) ** 2), rel=4 * EPS)


def test_masses():
    spec = finger((0.4, 0.2), tip_mass=0.05, contact_mass=0.01)
    assert spec.masses == (MassSpec(0.4 / (0.4 + 0.2), 0.01), MassSpec(1.0, 0.05))
    robot = build_robot(spec)
    np.testing.assert_allclose(places_of(robot), [mass.place for mass in spec.masses], rtol=4 * EPS)
    np.testing.assert_array_equal(robot.one.lump_inertia, [[0, 0, 0, *[0.01] * 3], [0, 0, 0, *[0.05] * 3]])
    # A mass of zero is there too, so that both can be changed and differentiated.
    assert hs.robots.finger().one.lump_inertia.shape == (2, 6)


@pytest.mark.parametrize("radius, offset", [(1e-3, 0.01), (5e-3, 2e-3)])
def test_tendons_outside_and_inside_the_rod(radius, offset):
    spec = finger(radius=radius, tendon_offset=offset)
    assert [(t.azimuth_deg, t.offset, t.starts_at_segment, t.ends_at_segment) for t in spec.tendons] == [
        (0.0, (offset, offset), 1, 2),
        (180.0, (offset, offset), 1, 2),
    ]
    assert {segment.disc_radius for segment in spec.segments} == {max(radius, offset)}


def test_python_takes_what_the_specification_takes():
    made, specified = inspect.signature(hs.robots.finger), inspect.signature(finger)
    taken = dict(made.parameters)
    assert taken.pop("options").kind is inspect.Parameter.VAR_KEYWORD
    assert taken == specified.parameters
    arguments = {
        "lengths": (0.4, 0.3),
        "radius": 2e-3,
        "tip_mass": 0.1,
        "contact_mass": 0.2,
        "tendon_offset": 0.02,
        "friction": 1e-3,
        "preshape_deg": (10.0, 20.0),
        "youngs_modulus": 50e9,
        "segments": 4,
        "modes": ("bend_x", "bend_y", "stretch"),
        "azimuths_deg": (10.0, 190.0),
    }
    assert arguments.keys() == taken.keys()
    mine, theirs = hs.robots.finger(**arguments), build_robot(finger(**arguments))
    assert jax.tree.structure(mine) == jax.tree.structure(theirs)
    for x, y in zip(jax.tree.leaves(mine), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_array_equal(x, y)
    spec = finger(**arguments)
    assert parse_robot(format_robot(spec)) == spec


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"lengths": (0.3,)}, ["`lengths`", "list of 2 numbers"]),
        ({"lengths": (0.3, 0.0)}, ["`lengths[1]`", "above 0", "got 0.0"]),
        ({"radius": -1e-3}, ["`radius`", "above 0", "-0.001"]),
        ({"tip_mass": -1}, ["`tip_mass`", "at least 0", "-1"]),
        ({"contact_mass": "light"}, ["`contact_mass`", "number", "'light'"]),
        ({"tendon_offset": 0.0}, ["`tendon_offset`", "above 0", "0.0"]),
        ({"friction": -1.0}, ["`friction`", "at least 0", "-1.0"]),
        ({"preshape_deg": 30.0}, ["`preshape_deg`", "list of 2 numbers", "30.0"]),
        ({"preshape_deg": (0.0, 800.0)}, ["`preshape_deg[1]`", "at most 720", "800.0"]),
        ({"youngs_modulus": 0.0}, ["`youngs_modulus`", "above 0", "0.0"]),
        ({"segments": 3}, ["`segments`", "even", "got 3"]),
        ({"segments": 0}, ["`segments`", "whole number from 2", "got 0"]),
        ({"segments": 4.0}, ["`segments`", "whole number", "4.0"]),
        ({"modes": "bend_y"}, ["`modes`", "list", "'bend_y'"]),
        ({"modes": ("curl",)}, ["`modes`", "bend_y", "'curl'"]),
    ],
)
def test_wrong_parameters_are_refused(wrong, words):
    with pytest.raises(InputError) as error:
        finger(**wrong)
    assert len(str(error.value).splitlines()) == 1
    for word in words:
        assert word in str(error.value)
