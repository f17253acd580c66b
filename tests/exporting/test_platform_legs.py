"""The legs of an exported chain of platforms: as long, as strong and as quick in MuJoCo as they are here."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from robot_poses import robot_of

import hydrostat as hs
from hydrostat.actuation import leg_rates, radial_forces
from hydrostat.actuation.legs import generalised_forces
from hydrostat.errors import InputError
from hydrostat.exporting import RadialJoints, from_qpos, load_mujoco, make_twin, place, to_qpos, write_mjcf, write_urdf
from hydrostat.exporting.engine import import_mujoco
from hydrostat.robots import build_robot
from hydrostat.robots.actuator_specs import LegsSpec
from hydrostat.robots.spec import MassSpec
from hydrostat.robots.specs.stewart_arm import stewart_arm

mujoco = import_mujoco()

UNLIKE = LegsSpec(
    lower_azimuths_deg=(140.0, 160.0, 260.0, 280.0, 20.0, 40.0),
    upper_azimuths_deg=(100.0, 200.0, 220.0, 320.0, 340.0, 80.0),
)
"""Legs that share no joint."""
ARMS = {"twenty": stewart_arm(), "unlike": stewart_arm(3, legs=UNLIKE)}


def random_shape(spec, seed):
    """A configuration whose segments turn by up to 0.4 rad about each axis and stretch by up to 30 %."""
    rng, count = np.random.default_rng(seed), len(spec.segments)
    lengths = np.array([segment.length for segment in spec.segments])
    turns, moves = rng.uniform(-0.4, 0.4, (count, 3)), lengths[:, None] * rng.uniform(-0.3, 0.3, (count, 3))
    return np.concatenate([turns, moves], 1)


def numbers_of(model, twin):
    """MuJoCo's numbers of the legs' tendons and of their motors."""
    tendons = [model.tendon(leg.name).id for leg in twin.legs]
    return tendons, [model.actuator(f"{leg.name}_push").id for leg in twin.legs]


@pytest.mark.parametrize("name", ARMS)
def test_legs_are_as_long_as_ours(name):
    spec = ARMS[name]
    segments = build_robot(spec).arm.segments
    twin = make_twin(spec)
    model, data = load_mujoco(twin)
    tendons, _ = numbers_of(model, twin)
    for seed in range(3):
        q = random_shape(spec, seed)
        place(model, data, twin, q)
        own = np.asarray(segments.leg_lengths(segments.pose(jnp.asarray(q), 1.0)))
        # Rounding of twenty poses of an arm of 5 m.
        np.testing.assert_allclose(data.ten_length[tendons], own.ravel(), atol=1e-12)


@pytest.mark.parametrize("name", ARMS)
def test_legs_push_as_ours_do_by_virtual_work(name):
    spec = ARMS[name]
    segments = build_robot(spec).arm.segments
    twin = make_twin(spec)
    model, data = load_mujoco(twin)
    _, motors = numbers_of(model, twin)
    q = random_shape(spec, 5)
    force = np.random.default_rng(1).uniform(-1e3, 1e3, (len(q), 6))
    place(model, data, twin, q)
    data.ctrl[motors] = force.ravel()
    servos = [model.actuator(f"{servo.joint}_hold").id for servo in twin.servos]
    data.ctrl[servos] = [data.joint(servo.joint).qpos[0] for servo in twin.servos]
    mujoco.mj_forward(model, data)
    radial = np.array([model.joint(i).name.endswith("_radial") for i in range(model.njnt)])
    plates = np.where(radial, 0.0, data.qfrc_actuator)
    # What joint values change by with our coordinates, by central differences: right to 1e-12 and rounding of 1e-10.
    step, work = 1e-6, np.zeros(q.shape)
    for i in np.ndindex(q.shape):
        aside = np.zeros(q.shape)
        aside[i] = step
        work[i] = plates @ (to_qpos(model, twin, q + aside) - to_qpos(model, twin, q - aside)) / (2.0 * step)
    own = np.asarray(generalised_forces(segments, jnp.asarray(q), jnp.asarray(force)))
    np.testing.assert_allclose(work, own, atol=1e-8 * np.abs(own).max())
    # What the radial joints must hold: the forces of all legs that end on each of them.
    needed = [
        np.asarray(one) for one in radial_forces(segments, segments.pose(jnp.asarray(q), 1.0), jnp.asarray(force))
    ]
    held = {}
    for k, leg in enumerate(twin.legs):
        for site, side in zip(leg.sites, needed, strict=True):
            joint = site.removesuffix("_site") + "_radial"
            held[joint] = held.get(joint, 0.0) + side.ravel()[k]
    assert len(held) == len(twin.servos)
    for joint, wanted in held.items():
        assert -data.joint(joint).qfrc_actuator[0] == pytest.approx(wanted, abs=1e-9 * np.abs(force).max())


def test_legs_have_their_strokes_and_their_strength():
    spec = ARMS["twenty"]
    own = build_robot(spec).legs
    twin = make_twin(spec)
    model, data = load_mujoco(twin)
    tendons, motors = numbers_of(model, twin)
    assert twin.legs[8].name == "arm_segment_2_leg_3"
    np.testing.assert_array_equal(model.tendon_range[tendons, 0], np.asarray(own.shortest).ravel())
    np.testing.assert_array_equal(model.tendon_range[tendons, 1], np.asarray(own.longest).ravel())
    assert np.all(model.tendon_limited[tendons])
    np.testing.assert_array_equal(model.actuator_ctrlrange[motors], np.tile([-5e3, 5e3], (120, 1)))
    # A force beyond a leg's strength is cut.
    data.ctrl[motors] = 1e5
    mujoco.mj_forward(model, data)
    np.testing.assert_array_equal(data.actuator_force[motors], 5e3)
    # Rings are drawn through every joint of the legs, and are no motors.
    assert [len(ring.sites) for ring in twin.rings] == [3] * 40
    assert model.ntendon == 120 + 40
    assert model.nu == 120 + len(twin.servos) == 120 + 120


def test_a_pose_is_written_for_the_joints_that_it_is_of():
    """Joints are numbered through the tree; a keyframe has its values in that order."""
    spec = ARMS["unlike"]
    twin = make_twin(spec)
    q = random_shape(spec, 2)
    model = mujoco.MjModel.from_xml_string(write_mjcf(twin, configurations=[q])[0])
    np.testing.assert_allclose(model.key("pose").qpos, to_qpos(model, twin, q), atol=1e-15)


def test_rings_follow_the_distance_of_the_plates():
    spec = ARMS["unlike"]
    twin = make_twin(spec)
    model, data = load_mujoco(twin)
    q = random_shape(spec, 3)
    place(model, data, twin, q)
    values = {servo.joint: data.joint(servo.joint).qpos[0] for servo in twin.servos}
    rate = np.random.default_rng(4).uniform(-1.0, 1.0, model.nv)
    data.qvel[:] = rate
    for servo in twin.servos:
        data.joint(servo.joint).qpos[0] = 0.0
    RadialJoints(model, twin).keep_volume(data)
    found = {servo.joint: data.joint(servo.joint).qpos[0] for servo in twin.servos}
    assert found == pytest.approx(values, abs=1e-15)
    assert {s.joint: data.actuator(f"{s.joint}_hold").ctrl[0] for s in twin.servos} == found
    # Their rates are those of their values, by differences along the plates' own rates.
    before, step = np.array(list(found.values())), 1e-7
    rates = np.array([data.joint(servo.joint).qvel[0] for servo in twin.servos])
    mujoco.mj_integratePos(model, data.qpos, data.qvel, step)
    RadialJoints(model, twin).keep_volume(data)
    after = np.array([data.joint(servo.joint).qpos[0] for servo in twin.servos])
    np.testing.assert_allclose((after - before) / step, rates, atol=1e-5)
    with pytest.raises(InputError, match="has no radial joints; chains of platforms have them with chain='elastic'"):
        RadialJoints(model, make_twin(spec, None, "rrp"))


def test_twenty_segments_move_as_ours_under_the_forces_of_their_legs():
    """Forces that hold the arm and some more: the difference is MuJoCo's step, of first order, and nothing else."""
    spec, seconds = ARMS["twenty"], 0.03
    system = hs.System(build_robot(spec))
    q = 0.15 * random_shape(spec, 0)
    force = _holding(system, q) + np.random.default_rng(0).uniform(-5.0, 5.0, (20, 6))
    control = hs.Control(leg_force=force.tolist())
    own = [np.asarray(hs.simulate(system, control, seconds, dt, state=system.rest(q=q)).q[-1]) for dt in (2e-4, 1e-4)]
    twin = make_twin(spec)
    model, data = load_mujoco(twin)
    _, motors = numbers_of(model, twin)
    rings, found = RadialJoints(model, twin), []
    for dt in (1e-3, 5e-4):
        mujoco.mj_resetData(model, data)
        model.opt.timestep = dt
        place(model, data, twin, q)
        data.ctrl[motors] = force.ravel()
        for _ in range(round(seconds / dt)):
            rings.keep_volume(data)
            mujoco.mj_step(model, data)
        found.append(from_qpos(model, twin, data.qpos)[0])
    assert np.abs(own[1] - q).max() > 0.05
    misses = [np.abs(shape - own[1]).max() for shape in found]
    assert np.log2(misses[0] / misses[1]) == pytest.approx(1.0, abs=0.1)
    # Without the part of first order: what is left is the part of second order, and the error of our own step.
    left = np.abs(2.0 * found[1] - found[0] - own[1]).max()
    assert left < 0.1 * misses[1] + 2.0 * np.abs(own[1] - own[0]).max()


def _holding(system, q):
    """The forces of the legs that hold a shape."""
    plan = hs.control.plan_of(jnp.broadcast_to(jnp.asarray(q), (5, *q.shape)), 1e-2)
    return np.asarray(hs.control.inverse_dynamics_along(system.robot, plan, jnp.arange(2, 3)))[0]


class _HoldLengths(hs.control.Controller):
    """Each leg is a spring and a damper about a length, beside a constant force."""

    segments: hs.segments.StewartSegment
    force: jnp.ndarray
    lengths: jnp.ndarray
    stiffness: float
    damping: float

    def __call__(self, time, observation, memory):
        del time
        T = self.segments.pose(observation.q, 1.0)
        twist = jnp.einsum("nij,nj->ni", self.segments.twist_rates(observation.q), observation.v)
        away = self.lengths - self.segments.leg_lengths(T)
        rates = leg_rates(self.segments, T, twist)
        return hs.Control(leg_force=self.force + self.stiffness * away - self.damping * rates), memory


@pytest.mark.slow
def test_legs_that_hold_lengths_move_the_arm_as_ours_for_tenths_of_a_second():
    """Six segments, slender enough that legs which hold their lengths hold the plates: 0.3 s of feedback in both."""
    spec, seconds, gains = stewart_arm(6, length=3.0, base_radius=0.1), 0.3, (2e4, 100.0)
    system = hs.System(build_robot(spec))
    segments = system.robot.arm.segments
    q = 0.1 * random_shape(spec, 0)
    hold = _holding(system, q)
    lengths = np.array(segments.leg_lengths(segments.pose(jnp.asarray(q), 1.0)))
    lengths *= 1.0 + np.random.default_rng(0).uniform(-0.003, 0.003, lengths.shape)
    controller = _HoldLengths(segments, jnp.asarray(hold), jnp.asarray(lengths), *gains)
    own = [
        np.asarray(hs.simulate(system, controller, seconds, dt, state=system.rest(q=q)).q[-1]) for dt in (1e-4, 5e-5)
    ]
    twin = make_twin(spec)
    model, data = load_mujoco(twin)
    tendons, motors = numbers_of(model, twin)
    rings, found = RadialJoints(model, twin), []
    for dt in (2e-4, 1e-4):
        mujoco.mj_resetData(model, data)
        model.opt.timestep = dt
        place(model, data, twin, q)
        for _ in range(round(seconds / dt)):
            rings.keep_volume(data)
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fwdVelocity(model, data)
            away, rates = lengths.ravel() - data.ten_length[tendons], data.ten_velocity[tendons]
            data.ctrl[motors] = hold.ravel() + gains[0] * away - gains[1] * rates
            mujoco.mj_step(model, data)
        found.append(from_qpos(model, twin, data.qpos)[0])
    # Forces that are held during a step make both of first order, so both are extrapolated.
    ours, theirs = 2.0 * own[1] - own[0], 2.0 * found[1] - found[0]
    steps = np.abs(own[1] - own[0]).max(), np.abs(found[1] - found[0]).max()
    assert np.abs(ours - q).max() > 0.05
    assert max(steps) < 0.1 * np.abs(ours - q).max()
    assert np.abs(ours - theirs).max() < 0.1 * sum(steps)


def test_masses_on_plates_are_exported_and_those_between_are_said():
    spec = replace(stewart_arm(4), masses=(MassSpec(1.0, 2.0, 0.01), MassSpec(0.123, 0.5)))
    for chain in ("elastic", "rrp"):
        twin = make_twin(spec, None, chain)
        model, _ = load_mujoco(twin)
        bare, _ = load_mujoco(make_twin(stewart_arm(4), None, chain))
        plate = model.body("arm_plate_4").id
        assert model.body_subtreemass[0] - bare.body_subtreemass[0] == pytest.approx(2.0, rel=1e-12)
        assert model.body_mass[plate] - bare.body_mass[plate] == pytest.approx(2.0, rel=1e-12)
        assert "masses between plates are left out, 0.5 kg" in twin.left_out


def test_urdf_says_that_it_has_no_legs():
    twin = make_twin(ARMS["twenty"])
    _, left = write_urdf(twin)
    assert "URDF has no tendons, which legs are in MJCF: legs, rings and their actuators are left out" in left
    _, left = write_urdf(make_twin(robot_of("stewart_arm"), None, "rrp"))
    assert left == [
        "the legs of the platforms are left out of a chain for kinematics; MJCF with --chain elastic has them"
    ]
