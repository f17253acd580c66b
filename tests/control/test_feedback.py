"""Commands with feedback: activations that hold, shapes that reach, courses of shapes, and the servo's clock."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.control.commands import ReachTo
from hydrostat.control.feedback import (
    Course,
    KnownArm,
    ServoMemory,
    Table,
    holding_activations,
    make_servo,
    planned_activation,
    shape_to_point,
    tabulated,
)
from hydrostat.errors import InputError
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.contraction import muscle_forces
from hydrostat.mechanics.dynamics import residual
from hydrostat.mechanics.model import relaxed
from hydrostat.mechanics.motion import Coordinates
from hydrostat.mechanics.robot import no_inputs
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.sensing import Observation
from hydrostat.surroundings import Water
from hydrostat.system import System

COUNT, LENGTH = 6, 0.24
SYSTEM = System(build_robot(octopus_arm(COUNT)), [Water(current=(0.1, 0.0, 0.0))])
KNOWN = KnownArm.of(SYSTEM)
MODEL = KNOWN.arm
OBLIQUE = build_robot(octopus_arm(COUNT, oblique=True)).one


# --- Activations that hold


@eqx.filter_jit
def held(model, q, force, least):
    """Activations for forces, and the forces that these exert: the residual holds against them."""
    activation = holding_activations(model, q, force, least)
    return activation, -muscle_forces(model, q, jnp.zeros_like(q), activation)


@eqx.filter_jit
def exerted(model, q, activation):
    return -muscle_forces(model, q, jnp.zeros_like(q), activation)


def random_shape(model, rng, size):
    """Bends of up to 0.6 rad a segment, lengths within 30 percent, times a size."""
    modes = model.arm.segments.modes
    most = [0.3 if mode == "stretch" else 0.6 / (LENGTH / COUNT) for mode in modes]
    return jnp.asarray(size * rng.uniform(-1, 1, (COUNT, len(modes))) * most)


@pytest.mark.parametrize("model", [MODEL, OBLIQUE], ids=["plain", "oblique"])
@pytest.mark.parametrize("size", [0.0, 0.3, 1.0])
def test_activations_exert_the_forces_that_are_wanted(model, size):
    rng = np.random.default_rng(1)
    columns = relaxed(model).shape[1]
    for _ in range(10):
        q = random_shape(model, rng, size)
        # What some activations, not too far apart, exert is feasible.
        some = jnp.asarray(rng.uniform(0.2, 0.35, (COUNT, columns)))
        wanted = exerted(model, q, some)
        activation, found = held(model, q, wanted, jnp.zeros(COUNT))
        assert np.asarray(activation).min() >= 0.0
        assert np.asarray(activation).max() < 1.0
        # What the ridge of 1e-9 leaves is some 1e-5 for the most slender segment.
        wrong = np.abs(np.asarray(found - wanted)) / most_exerted(model, q)
        assert wrong.max() < 1e-4


def most_exerted(model, q):
    """For every coordinate of every segment, the most that one muscle exerts on it."""
    columns = relaxed(model).shape[1]
    each = [exerted(model, q, jnp.zeros((COUNT, columns)).at[:, i].set(0.1)) for i in range(columns)]
    return np.abs(np.stack(each)).max(0)


def test_no_force_needs_no_activation_and_co_contraction_exerts_none():
    rng = np.random.default_rng(2)
    for size in (0.0, 1.0):
        q = random_shape(MODEL, rng, size)
        none = jnp.zeros_like(q)
        activation, _ = held(MODEL, q, none, jnp.zeros(COUNT))
        np.testing.assert_allclose(activation, 0.0, atol=1e-12)
        activation, found = held(MODEL, q, none, jnp.full(COUNT, 0.2))
        assert np.max(np.abs(found) / most_exerted(MODEL, q)) < 1e-4
        assert np.asarray(activation).min() > 0.05
    # A straight arm at its rest length stiffens with radial muscles twice as active.
    activation, _ = held(MODEL, jnp.zeros((COUNT, 3)), jnp.zeros((COUNT, 3)), jnp.full(COUNT, 0.2))
    np.testing.assert_allclose(activation, [[0.2, 0.2, 0.2, 0.2, 0.4]] * COUNT, rtol=0, atol=1e-6)


def test_what_muscles_cannot_do_stays_within_their_bounds():
    q = jnp.zeros((COUNT, 3))
    force = jnp.asarray(1e3 * np.random.default_rng(3).normal(size=(COUNT, 3)))
    activation, _ = held(MODEL, q, force, jnp.zeros(COUNT))
    activation = np.asarray(activation)
    assert np.all(np.isfinite(activation))
    assert activation.min() == 0.0
    assert activation.max() == 1.0


def test_activations_for_a_shape_hold_it():
    # With those for the residual of a bent arm at rest, nothing is left that would move it.
    q = 0.3 * random_shape(MODEL, np.random.default_rng(4), 1.0)
    none = jnp.zeros_like(q)
    needed = KNOWN.needed(q, none, none)
    activation, _ = held(MODEL, q, needed, jnp.zeros(COUNT))
    assert np.asarray(activation).max() < 1.0
    left = unbalanced(KNOWN, q, activation)
    assert np.all(np.abs(left).max(0) < 1e-5 * np.abs(needed).max(0))


@eqx.filter_jit
def unbalanced(known, q, activation):
    """The forces that are left on the coordinates of an arm at rest."""
    x, still = Coordinates(q, jnp.zeros(6)), Coordinates(jnp.zeros_like(q), jnp.zeros(6))
    inputs = no_inputs(known.robot, known.water)._replace(activation=activation)
    return residual(known.robot, x, still, still, inputs).q


# --- Shapes that reach


@eqx.filter_jit
def reached(arm, point):
    q = shape_to_point(arm, point)
    return q, kinematics.tip_pose(arm, q).position


def half_shell(count):
    """Points before the base at 0.5 to 1.3 lengths, on the axis too."""
    rng = np.random.default_rng(5)
    away = rng.normal(size=(count, 3))
    away[:, 0] = np.abs(away[:, 0])  # the arm points along x
    away[0] = [1.0, 0.0, 0.0]
    away[1] = [0.0, 0.0, -1.0]
    far = np.linspace(0.5, 1.3, count)
    return LENGTH * far[:, None] * away / np.linalg.norm(away, axis=1, keepdims=True)


def test_shapes_put_the_tip_at_points_of_the_half_shell():
    for point in half_shell(20):
        q, tip = (np.asarray(part) for part in reached(MODEL.arm, jnp.asarray(point)))
        np.testing.assert_allclose(tip, point, rtol=0, atol=1e-9)
        # An arm can do that: it neither folds nor turns inside out.
        assert np.abs(q[:, :2]).max() * LENGTH / COUNT < 2.0
        assert q[:, 2].min() > -0.5
        assert q[:, 2].max() < 0.7


def test_the_tip_points_where_it_shall():
    directed = eqx.filter_jit(shape_to_point)
    for point, way in zip(half_shell(8)[1:], ((0.0, 0.0, 1.0), (-0.6, 0.0, 0.8), (0.0, 1.0, 0.0)) * 2, strict=False):
        T = kinematics.tip_pose(MODEL.arm, directed(MODEL.arm, jnp.asarray(point), jnp.asarray(way)))
        np.testing.assert_allclose(T.position, point, rtol=0, atol=1e-9)
        np.testing.assert_allclose(T.rotation[:, 2], way, rtol=0, atol=1e-9)


def test_an_arm_with_twist_reaches_as_well():
    for point in half_shell(4):
        np.testing.assert_allclose(reached(OBLIQUE.arm, jnp.asarray(point))[1], point, rtol=0, atol=1e-9)


def test_an_arm_of_one_arc_reaches_too():
    arm = build_robot(octopus_arm(1, "strain")).arm
    point = jnp.array([0.2, 0.05, 0.05])
    np.testing.assert_allclose(reached(arm, point)[1], point, rtol=0, atol=1e-9)


def test_plans_are_made_for_an_arm_whose_volume_is_kept_exactly():
    swelling = System(build_robot(octopus_arm(COUNT), bulk_modulus=1e8))
    assert swelling.robot.arm.segments.modes[-1] == "swell"
    for make in (
        lambda: shape_to_point(swelling.robot.arm, jnp.array([0.2, 0.0, 0.0])),
        lambda: make_servo(KnownArm.of(swelling), still_table(2)),
        lambda: ReachTo((0.2, 0.0, 0.0)).attach(swelling, DT),
    ):
        with pytest.raises(InputError, match="volume kept exactly") as refused:
            make()
        assert "\n" not in str(refused.value)


def test_what_a_controller_knows_is_still_water():
    assert not np.any(KNOWN.water.current)
    np.testing.assert_array_equal(KNOWN.robot.gravity, SYSTEM.robot.gravity)


# --- Courses

TIMES = np.array([0.0, 0.4, 1.0, 1.5])


def test_a_load_that_floats_weighs_nothing_to_a_controller():
    q = jnp.asarray(np.random.default_rng(3).normal(size=KNOWN.arm.stiffness.shape)) * 0.1
    mass, still = 0.05, jnp.zeros_like(q)
    bare, floating, heavy = (
        one.needed(q, still, still)
        for one in (KNOWN, KNOWN.carrying(0.5, mass, mass / KNOWN.water.density), KNOWN.carrying(0.5, mass))
    )
    weight = float(jnp.abs(heavy - bare).max())
    np.testing.assert_allclose(floating, bare, rtol=0, atol=1e-12 * weight)


def make_course(times=TIMES, waits=(0.0, 0.0, 0.0, 0.0)):
    rng = np.random.default_rng(6)
    shapes = rng.normal(size=(len(times), COUNT, 3)) * [3.0, 3.0, 0.05]
    grips = np.zeros((len(times), COUNT))
    grips[1:3, 4:] = 1.0
    return Course(*(jnp.asarray(part) for part in (times, shapes, grips, np.asarray(waits, float))))


at = jax.jit(lambda course, time: course.at(time))


def test_a_course_passes_through_its_shapes_and_rests_there():
    course = make_course()
    for i, time in enumerate(TIMES):
        shape, rate, grip = at(course, time)
        np.testing.assert_allclose(shape, course.shapes[i], rtol=0, atol=1e-12)
        np.testing.assert_allclose(rate, 0.0, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(grip, course.grips[i])
        if i:
            # And just before.
            np.testing.assert_allclose(at(course, time - 1e-9)[0], course.shapes[i], rtol=0, atol=1e-7)
            np.testing.assert_array_equal(at(course, time - 1e-9)[2], course.grips[i - 1])
    shape, rate, grip = at(course, 9.0)
    np.testing.assert_allclose(shape, course.shapes[-1], rtol=0, atol=1e-12)
    assert not np.any(rate)
    np.testing.assert_array_equal(grip, course.grips[-1])


def test_a_course_starts_at_its_first_shape():
    course = make_course(TIMES + 0.3)
    for time in (-1.0, 0.0, 0.2, 0.3):
        shape, rate, grip = at(course, time)
        np.testing.assert_array_equal(shape, course.shapes[0])
        assert not np.any(rate)
        np.testing.assert_array_equal(grip, course.grips[0])


def test_the_rate_of_a_course_is_its_derivative():
    course, h = make_course(), 1e-5
    for time in (0.05, 0.2, 0.39, 0.41, 0.7, 0.95, 1.2, 1.45, 2.0):
        shape, rate, _ = at(course, time)
        ahead, behind = (np.asarray(at(course, time + x)[0]) for x in (h, -h))
        # The third derivative is at most 60 / span^3 times the way: h^2 / 6 of it is 1e-7.
        np.testing.assert_allclose(rate, (ahead - behind) / (2 * h), rtol=0, atol=2e-6)
        assert np.all(np.isfinite(shape))


def test_a_course_goes_monotonously_from_shape_to_shape():
    course = make_course()
    first, last = np.asarray(course.shapes[1]), np.asarray(course.shapes[2])
    shapes = np.stack([np.asarray(at(course, time)[0]) for time in np.linspace(0.4, 0.999, 30)])
    done = np.mean((shapes - first) / (last - first), (1, 2))
    assert np.all(np.diff(done) > 0.0)
    np.testing.assert_allclose(at(course, 0.7)[0], 0.5 * (first + last), rtol=0, atol=1e-12)


DT = 5e-3
BEGINS = DT * jnp.arange(400)


def test_tables_hold_the_course_at_the_end_of_each_step():
    course = make_course(waits=(0.0, 0.0, 1.0, 0.0))
    table = tabulated(KNOWN, course, BEGINS, DT)
    for row in (0, 79, 120, 399):
        shape, rate, grip = at(course, float(BEGINS[row]) + DT)
        np.testing.assert_allclose(table.shape[row], shape, rtol=0, atol=1e-9)
        np.testing.assert_allclose(table.rate[row], rate, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(table.grip[row], grip)
    np.testing.assert_array_equal(np.flatnonzero(table.wait), [200])
    # At rest, the force is what holds the last shape.
    q = course.shapes[-1]
    none = jnp.zeros_like(q)
    needed = KNOWN.needed(q, none, none)
    np.testing.assert_allclose(table.force[-1], needed, rtol=1e-6, atol=1e-12)


def test_every_wait_is_in_one_row_of_the_table():
    for time in (0.7, 1.15, 1.4, 1.65, 1.9):
        course = make_course(np.array([0.0, 0.3, 0.6, time]), (0.0, 0.0, 0.0, 1.0))
        assert np.count_nonzero(tabulated(KNOWN, course, BEGINS, DT).wait) == 1, time


# --- The servo


def still_table(rows):
    """A table whose rows are told apart by their grip."""
    zero = jnp.zeros((rows, COUNT, 3))
    grip = jnp.broadcast_to(jnp.arange(float(rows))[:, None], (rows, COUNT))
    return Table(zero, zero, zero, grip, jnp.zeros(rows).at[2].set(1.0))


SERVO = make_servo(KNOWN, still_table(6), rate=8.0, stiffen=0.2)
decided = eqx.filter_jit(lambda servo, observation, memory: servo(jnp.asarray(0.0), observation, memory))


def observed(q=None, v=None, touch=0.0):
    zero = jnp.zeros((COUNT, 3))
    return Observation(*[None] * 10)._replace(
        period=jnp.asarray(DT),
        q=zero if q is None else q,
        v=zero if v is None else v,
        taken=jnp.zeros(COUNT).at[3].set(touch),
    )


def test_the_clock_of_a_servo_stands_until_something_is_held():
    memory, rows = SERVO.init(observed()), []
    for touch in [0.0] * 8 + [1.0] + [0.0] * 6:
        control, memory = decided(SERVO, observed(touch=touch), memory)
        rows.append(int(control.take[0]))
    # It waits in row 2, and stays in the last one.
    assert rows == [0, 1, *[2] * 7, 3, 4, 5, 5, 5, 5]


def test_a_clock_that_finds_something_held_does_not_wait():
    memory, rows = SERVO.init(observed()), []
    for _ in range(5):
        control, memory = decided(SERVO, observed(touch=1.0), memory)
        rows.append(int(control.take[0]))
    assert rows == [0, 1, 2, 3, 4]


def test_a_servo_on_its_plan_only_stiffens():
    control, memory = decided(SERVO, observed(), SERVO.init(observed()))
    np.testing.assert_allclose(control.activation, [[0.2, 0.2, 0.2, 0.2, 0.4]] * COUNT, rtol=0, atol=1e-6)
    assert not np.any(memory.missing)


def noisy(servo, q, v, count=400, noise=1e-2):
    """What a servo takes the shape to be, sample by sample, that moves at a rate and is observed with white noise."""
    rng = np.random.default_rng(3)
    memory, found = servo.init(observed(q, v)), []
    for step in range(count):
        sample = q + step * DT * v + noise * jnp.asarray(rng.normal(size=q.shape))
        _, memory = decided(servo, observed(sample, v), memory)
        found.append(memory.shape - (q + step * DT * v))
    return np.array(found)


def test_a_smoothing_servo_averages_noise_out_and_does_not_lag():
    # White noise of samples a time h apart becomes smaller by sqrt(g / (2 - g)), g = 1 - exp(-h / T).
    T, noise = 20 * DT, 1e-2
    servo = make_servo(KNOWN, still_table(6), rate=8.0, stiffen=0.2, smoothing=T)
    errors = noisy(servo, jnp.full((COUNT, 3), 0.1), jnp.full((COUNT, 3), 0.5))
    g = -np.expm1(-DT / T)
    settled = errors[100:]
    # Samples are correlated over 2 T / h = 40: 300 rows of 3 n entries are some 7 x 3 n independent ones.
    independent = settled[0].size * len(settled) * DT / (2 * T)
    assert settled.std() == pytest.approx(noise * np.sqrt(g / (2 - g)), rel=5 / np.sqrt(2 * independent))
    assert abs(settled.mean()) < 5 * settled.std() / np.sqrt(independent)
    # In the beginning it is the mean of all samples, the first of which counts twice.
    assert errors[9].std() < 2.0 * noise / np.sqrt(10)


def test_a_servo_that_does_not_smooth_remembers_no_shape():
    memory = SERVO.init(observed())
    assert memory.shape is None
    assert decided(SERVO, observed(), memory)[1].shape is None


def test_a_servo_draws_the_arm_towards_its_plan_as_heavy_as_it_is():
    # M (3 w e' + 3 w^2 e + w^3 s), with M by the residual of an arm in a void: R(a) - R(0).
    rng = np.random.default_rng(7)
    q = jnp.asarray(rng.normal(size=(COUNT, 3)) * [1e-2, 1e-2, 1e-4])
    v = jnp.asarray(rng.normal(size=(COUNT, 3)) * [1e-1, 1e-1, 1e-3])
    sum_before = jnp.asarray(rng.normal(size=(COUNT, 3)) * [1e-3, 1e-3, 1e-5])
    control, memory = decided(SERVO, observed(q, v), ServoMemory(jnp.zeros(()), sum_before))
    np.testing.assert_allclose(memory.missing, sum_before - DT * q, rtol=0, atol=1e-15)
    drawn = -3 * 8.0 * v - 3 * 8.0**2 * q + 8.0**3 * memory.missing
    none = jnp.zeros_like(q)

    force = np.asarray(KNOWN.needed(q, none, drawn) - KNOWN.needed(q, none, none))
    found = np.asarray(exerted(MODEL, none, control.activation))
    size = np.abs(force).max(0)
    np.testing.assert_allclose(found / size, force / size, rtol=0, atol=1e-4)


def test_the_sum_of_what_is_missing_is_bounded():
    q = jnp.full((COUNT, 3), -1e6)
    _, memory = decided(SERVO, observed(q), SERVO.init(observed()))
    # One radian second, or one length times a second.
    np.testing.assert_allclose(memory.missing, [[1 / 0.04, 1 / 0.04, 1.0]] * COUNT, rtol=1e-12)


def test_a_reach_with_feedback_is_planned_when_it_is_attached():
    target = np.array([0.15, 0.05, 0.06])
    holding = ReachTo(target, seconds=0.1, period=2.0 * DT).attach(SYSTEM, DT)
    servo = holding.controller
    assert int(holding.every) == 2
    tip = kinematics.tip_pose(MODEL.arm, servo.table.shape[-1]).position
    np.testing.assert_allclose(tip, target, rtol=0, atol=1e-9)
    # The table ends at rest in the last shape, so that its last row holds it.
    assert not np.any(servo.table.rate[-1])
    none = jnp.zeros_like(servo.table.shape[-1])
    np.testing.assert_allclose(servo.table.force[-1], KNOWN.needed(servo.table.shape[-1], none, none), rtol=1e-9)
    with pytest.raises(InputError, match="`target` must be three numbers"):
        ReachTo((0.1, 0.2))


# --- Plans that muscles can follow


@pytest.mark.slow
def test_a_reach_far_to_the_side_is_slowed_down_until_muscles_can_follow_it():
    # Drag bends thin segments of a long arm that sweeps: its plan asked for 0.9 of their strength, and it thrashed.
    system = hs.System(hs.robots.octopus_arm(), [hs.Water(added_mass=1.0)])
    period = 0.02

    def peak(reach):
        table = reach.attach(system, period).table
        known = KnownArm.of(system)
        return float(np.max(planned_activation(known, table, reach.stiffen))), np.asarray(table.shape)

    hasty, gentle = (ReachTo((0.0, 0.3, 0.0), seconds, period=period) for seconds in (1.5, 3.0))
    most, shapes = peak(hasty)
    arrives = np.argmax(np.abs(shapes - shapes[-1]).max((1, 2)) < 1e-9) * period
    assert 1.3 * 1.5 < arrives <= 3.0 + 2 * period
    assert most < 0.5
    # One that muscles can follow takes as long as it was asked to.
    _, shapes = peak(gentle)
    arrives = np.argmax(np.abs(shapes - shapes[-1]).max((1, 2)) < 1e-9) * period
    assert arrives == pytest.approx(3.0, abs=2 * period)
