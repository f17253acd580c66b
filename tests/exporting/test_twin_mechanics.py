"""Masses, springs and tendons of elastic twins: MuJoCo's robot is as heavy and as soft as ours."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from robot_poses import TOML, configurations, limbs_of, robot_of

from hydrostat.exporting import load_mujoco, make_twin, tips, to_qpos
from hydrostat.exporting.engine import import_mujoco
from hydrostat.exporting.request import default_chain
from hydrostat.exporting.solids import frustum, together
from hydrostat.lie import SE3
from hydrostat.mechanics import kinematics, statics
from hydrostat.mechanics.robot import no_inputs, single_arm
from hydrostat.robots import ROBOTS, LimbedSpec, format_robot, parse_robot
from hydrostat.robots.build import build_robot
from hydrostat.robots.spec import BaseSpec
from hydrostat.surroundings.water import NORMAL, TANGENTIAL

mujoco = import_mujoco()


def test_a_frustum_is_what_its_slices_are():
    length, (a, b), density = 0.3, (0.05, 0.02), 1200.0
    whole = frustum(0.1, length, (a, b), density)
    assert whole.volume == pytest.approx(np.pi / 3 * length * (a * a + a * b + b * b), rel=1e-14)
    slices = 3000
    edges = np.linspace(0.0, 1.0, slices + 1)
    z, r = 0.1 + length * 0.5 * (edges[1:] + edges[:-1]), a + (b - a) * 0.5 * (edges[1:] + edges[:-1])
    mass = density * np.pi * r**2 * length / slices
    centre = mass @ z / mass.sum()
    across = np.sum(mass * (r**2 / 4 + (z - centre) ** 2))
    # Slices are right to second order.
    assert whole.mass == pytest.approx(mass.sum(), rel=1e-6)
    assert whole.centre[2] == pytest.approx(centre, rel=1e-6)
    np.testing.assert_allclose(np.diag(whole.inertia), [across, across, mass @ r**2 / 2], rtol=1e-6)
    halves = [frustum(0.1, 0.15, (a, 0.035), density), frustum(0.25, 0.15, (0.035, b), density)]
    both = together(halves)
    assert both is not None
    np.testing.assert_allclose(both.inertia, whole.inertia, rtol=1e-12, atol=1e-18)


def own_mass(spec):
    bodies = [spec.body.mass] if isinstance(spec, LimbedSpec) else []
    limbs = limbs_of(spec)
    return sum(bodies) + sum(float(jnp.sum(m.inertia[..., 3]) + jnp.sum(m.lump_inertia[:, 3])) for m in limbs)


@pytest.mark.parametrize("name", [*ROBOTS, *TOML])
def test_twins_are_as_heavy_as_the_robot_and_nothing_is_negative(name):
    spec = robot_of(name)
    for chain in {"elastic", default_chain(spec, "urdf")}:
        twin = make_twin(spec, None, chain)
        model, data = load_mujoco(twin)
        assert model.body_subtreemass[0] == pytest.approx(own_mass(spec), rel=1e-12)
        assert np.all(model.body_mass >= 0.0)
        assert np.all(model.body_inertia >= 0.0)
        assert np.all(model.jnt_stiffness >= 0.0)
        assert np.all(model.jnt_range[:, 0] < model.jnt_range[:, 1])
        for _ in range(20):
            mujoco.mj_step(model, data)
        assert np.all(np.isfinite(data.qpos))


def rest_in_mujoco(model, data, twin, start, ctrl=()):
    """The joint values at which springs, weight and tendons are in balance, by Newton's method."""
    qpos = to_qpos(model, twin, start)
    data.ctrl[: len(ctrl)] = ctrl

    def lacking(qpos):
        data.qpos[:], data.qvel[:] = qpos, 0.0
        mujoco.mj_forward(model, data)
        return data.qfrc_passive + data.qfrc_actuator - data.qfrc_bias

    for _ in range(60):
        force = lacking(qpos)
        slope = np.stack([(lacking(qpos + 1e-6 * e) - force) / 1e-6 for e in np.eye(model.nv)], -1)
        step = -np.linalg.solve(slope, force)
        step *= min(1.0, 0.3 / np.abs(step).max())
        qpos = qpos + step
        if np.abs(step).max() < 1e-11:
            break
    else:
        raise AssertionError("no equilibrium")
    lacking(qpos)
    return tips(data, twin)[0][1]


@pytest.mark.parametrize("name", ["squid_camera", pytest.param("tentacle", marks=pytest.mark.slow)])
def test_a_twin_sags_as_the_arm_does(name):
    """Horizontal, under its weight: the same sections in hydrostat, and the difference is of second order."""
    spec = replace(robot_of(name), base=BaseSpec(axis=(1.0, 0.0, 0.0)), tendons=())
    differences = []
    for sections in (5, 10):
        robot = build_robot(spec.cut(sections))
        own = statics.equilibrium(robot, load_steps=4)
        twin = make_twin(spec, sections, "elastic")
        model, data = load_mujoco(twin)
        model.jnt_limited[:] = 0
        tip = rest_in_mujoco(model, data, twin, np.asarray(own.q))
        differences.append(np.linalg.norm(tip - kinematics.tip_pose(robot.arm, own.q).position))
    length = sum(segment.length for segment in spec.segments)
    sag = abs(float(kinematics.tip_pose(robot.arm, own.q).position[2]))
    assert sag > 0.02 * length
    assert differences[-1] < 0.01 * length
    assert np.log2(differences[0] / differences[1]) > 1.5


@pytest.mark.slow
def test_a_tendon_bends_the_twin_as_it_bends_the_limb():
    spec = robot_of("squid_camera")
    differences = []
    for sections in (5, 10, 20):
        (limb,) = limbs_of(spec.cut(sections))
        robot = single_arm(limb, gravity=(0.0, 0.0, 0.0))
        inputs = no_inputs(robot)._replace(wires=jnp.array([0.5, 0.2, 0.0, 0.0]))
        own = statics.equilibrium(robot, inputs, load_steps=4)
        tip_own = kinematics.tip_pose(robot.arm, own.q).position
        twin = make_twin(spec, sections, "elastic")
        model, data = load_mujoco(twin)
        model.opt.gravity[:] = 0.0
        assert model.nu == model.ntendon == 4
        tip = rest_in_mujoco(model, data, twin, np.asarray(own.q), [0.5, 0.2, 0.0, 0.0])
        differences.append(float(np.linalg.norm(tip - tip_own)))
    # It bends by some 40 degrees, towards the tendon that pulls: the body's x, which is down.
    assert tip_own[2] < -0.05
    assert differences[-1] < 1e-3
    assert np.log2(differences[0] / differences[1]) > 1.5


@pytest.mark.parametrize("name", ["squid_grasper", "tentacle_through", "finger"])
def test_guided_tendons_change_their_length_as_ours_do(name):
    spec = robot_of(name)
    robot = build_robot(spec)
    twin = make_twin(spec, 4, "elastic")
    model, data = load_mujoco(twin)
    (q,) = configurations(spec, 2)
    data.qpos[:] = to_qpos(model, twin, q)
    mujoco.mj_forward(model, data)
    own = [robot.tendons.lengths(robot.arm, jnp.asarray(shape)) for shape in (q, 0.0 * q)]
    # Bends of a twelfth of a turn in two hinges differ from one turn about one axis by their third power.
    np.testing.assert_allclose(data.ten_length, own[0] - own[1], atol=1e-3 * float(robot.arm.length))


def test_tendons_from_disc_to_disc_pass_sites_on_their_course():
    winding = "[[tendon]]\nazimuth_deg = 30.0\noffset = [0.02, 0.008]\nends_at_segment = 3\nturn_deg = 200.0\n"
    wound = parse_robot(format_robot(robot_of("preshaped")) + winding)
    straight = replace(wound, segments=tuple(replace(s, preshape_deg=(0.0, 0.0)) for s in wound.segments))
    for spec, tolerance in ((robot_of("tentacle_soft"), 1e-12), (straight, 2e-3)):  # a winding one in 24 chords
        robot = build_robot(spec)
        model, data = load_mujoco(make_twin(spec, 8, "elastic"))
        mujoco.mj_forward(model, data)
        own = robot.tendons.lengths(robot.arm, robot.arm.straight())
        np.testing.assert_allclose(data.ten_length, own, rtol=tolerance)


def test_water_lifts_the_twin_as_archimedes_says():
    spec = robot_of("squid")
    model, data = load_mujoco(make_twin(spec, 3, "elastic", free_base=True), water=True)
    mujoco.mj_forward(model, data)
    # The force on the free body in the world's axes: weight less lift, one percent upwards.
    assert data.qfrc_bias[2] - data.qfrc_passive[2] == pytest.approx(30.0 * 9.81 * (1.0 - 1.01), rel=1e-9)
    assert model.opt.density == 1025.0
    assert np.any(model.geom_fluid[:, 0] == 1.0)


@pytest.mark.parametrize("sections", [2, 10])
@pytest.mark.parametrize("direction", ["along", "across", "down"])
def test_limbs_in_water_have_our_drag_whatever_the_sections(sections, direction):
    spec = robot_of("squid")
    model, data = load_mujoco(make_twin(spec, sections, "elastic", free_base=True), water=True)
    model.opt.viscosity = 0.0  # MuJoCo adds Stokes' drag, a few percent of that along the limbs at this speed
    body = model.geom_bodyid == model.body("body").id
    model.geom_fluid[body, 1:] = 0.0  # the limbs alone; without the flag MuJoCo would take another model for the body
    mujoco.mj_forward(model, data)
    still = data.qfrc_passive[:3].copy()
    speed = 0.3  # m/s
    velocity = {"along": (speed, 0.0, 0.0), "across": (0.0, speed, 0.0), "down": (0.0, 0.0, -speed)}[direction]
    data.qvel[:3] = velocity
    mujoco.mj_forward(model, data)
    coefficient = np.pi * TANGENTIAL if direction == "along" else NORMAL
    own = (
        -0.5 * 1025.0 * 4 * 0.6 * 0.04 * coefficient * speed * np.array(velocity)
    )  # four limbs, 40 mm thick on average
    np.testing.assert_allclose(data.qfrc_passive[:3] - still, own, atol=1e-9)


def test_the_camera_and_the_light_look_along_their_limbs():
    spec = robot_of("squid")
    twin = make_twin(spec, 4, "elastic")
    model, data = load_mujoco(twin)
    qs = [np.zeros((limb.arm.count, 3)) for limb in limbs_of(spec)]
    qs[2][0, 1] = qs[3][0, 1] = 1.5
    data.qpos[:] = to_qpos(model, twin, *qs)
    mujoco.mj_forward(model, data)
    tip: SE3 = kinematics.tip_pose(limbs_of(spec)[2].arm, jnp.asarray(qs[2]))
    camera = data.camera("camera_tip_camera")
    np.testing.assert_allclose(-camera.xmat.reshape(3, 3)[:, 2], tip.rotation[:, 2], atol=1e-12)
    light = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_LIGHT, "light_tip_light")
    np.testing.assert_allclose(data.light_xdir[light], tip.rotation[:, 2], atol=1e-12)
    # On the axis, 1 mm before the round end of the limb's skin, which has the mean radius of the last half section.
    away = camera.xpos - data.site("camera_tip_frame").xpos
    np.testing.assert_allclose(away, 0.01225 * np.asarray(tip.rotation[:, 2]), atol=1e-9)


def test_a_preshaped_arm_rests_where_its_springs_do():
    spec = robot_of("preshaped")
    twin = make_twin(spec, 6, "elastic")
    model, data = load_mujoco(twin)
    model.opt.gravity[:] = 0.0
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.qfrc_passive, 0.0, atol=1e-12)
    np.testing.assert_allclose(data.qpos, to_qpos(model, twin, np.zeros((3, 2))), atol=1e-15)
    assert np.abs(data.qpos).max() > 0.05
