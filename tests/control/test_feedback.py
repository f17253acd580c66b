"""Commands with feedback: activations that hold, shapes that reach, courses of shapes, and the servo's clock."""

from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.control.feedback import (
    Course,
    ServoMemory,
    Table,
    holding_activations,
    make_servo,
    shape_to_point,
    tabulated,
)
from hydrostat.control.nerves import Felt
from hydrostat.errors import InputError
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.contraction import muscle_forces
from hydrostat.mechanics.dynamics import Coordinates, residual
from hydrostat.mechanics.model import no_inputs
from hydrostat.robots.octopus_arm import octopus_arm
from hydrostat.scenarios.arm import hydrostat, nerves
from hydrostat.stepping import rest_state

COUNT, LENGTH = 6, 0.24
SETTINGS = SimpleNamespace(drag=True, volume="exact")
MODEL = hydrostat(octopus_arm(COUNT), SETTINGS).model
OBLIQUE = hydrostat(octopus_arm(COUNT, oblique=True), SETTINGS).model


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
    columns = len(no_inputs(model).activation[0])
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
    columns = len(no_inputs(model).activation[0])
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
    still = Coordinates(q, jnp.zeros(6)), *(Coordinates(jnp.zeros_like(q), jnp.zeros(6)) for _ in range(2))
    missing = eqx.filter_jit(lambda given: residual(MODEL, *still, given).q)
    needed = missing(no_inputs(MODEL))
    activation, _ = held(MODEL, q, needed, jnp.zeros(COUNT))
    assert np.asarray(activation).max() < 1.0
    left = missing(no_inputs(MODEL)._replace(activation=activation))
    assert np.all(np.abs(left).max(0) < 1e-5 * np.abs(needed).max(0))


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
    arm = hydrostat(octopus_arm(1, "strain"), SETTINGS).model.arm
    point = jnp.array([0.2, 0.05, 0.05])
    np.testing.assert_allclose(reached(arm, point)[1], point, rtol=0, atol=1e-9)


def test_plans_are_made_for_an_arm_whose_volume_is_kept_exactly():
    arm = hydrostat(octopus_arm(COUNT), SimpleNamespace(drag=True, volume="pressure", bulk_modulus=1e8))
    assert arm.model.arm.segments.modes[-1] == "swell"
    table = still_table(2)
    for make in (
        lambda: shape_to_point(arm.model.arm, jnp.array([0.2, 0.0, 0.0])),
        lambda: make_servo(arm.model, table),
    ):
        with pytest.raises(InputError, match="volume kept exactly") as refused:
            make()
        assert "\n" not in str(refused.value)
    # What a brain knows and feels has no swell.
    assert arm.still.arm.segments.modes == MODEL.arm.segments.modes
    servo = make_servo(arm.still, table)
    memory = nerves(arm, servo).begin(rest_state(arm.model))
    assert memory.brain.missing.shape == (COUNT, 3)


# --- Courses

TIMES = np.array([0.0, 0.4, 1.0, 1.5])


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
    table = tabulated(MODEL, course, BEGINS, DT)
    for row in (0, 79, 120, 399):
        shape, rate, grip = at(course, float(BEGINS[row]) + DT)
        np.testing.assert_allclose(table.shape[row], shape, rtol=0, atol=1e-9)
        np.testing.assert_allclose(table.rate[row], rate, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(table.grip[row], grip)
    np.testing.assert_array_equal(np.flatnonzero(table.wait), [200])
    # At rest, the force is what holds the last shape.
    q = course.shapes[-1]
    none = jnp.zeros_like(q)
    needed = residual(MODEL, *(Coordinates(y, jnp.zeros(6)) for y in (q, none, none)), no_inputs(MODEL)).q
    np.testing.assert_allclose(table.force[-1], needed, rtol=1e-6, atol=1e-12)


def test_every_wait_is_in_one_row_of_the_table():
    for time in (0.7, 1.15, 1.4, 1.65, 1.9):
        course = make_course(np.array([0.0, 0.3, 0.6, time]), (0.0, 0.0, 0.0, 1.0))
        assert np.count_nonzero(tabulated(MODEL, course, BEGINS, DT).wait) == 1, time


# --- The servo


def still_table(rows):
    """A table whose rows are told apart by their grip."""
    zero = jnp.zeros((rows, COUNT, 3))
    grip = jnp.broadcast_to(jnp.arange(float(rows))[:, None], (rows, COUNT))
    return Table(zero, zero, zero, grip, jnp.zeros(rows).at[2].set(1.0))


SERVO = make_servo(MODEL, still_table(6), rate=8.0, stiffen=0.2)
decided = eqx.filter_jit(lambda servo, felt, memory: servo.decide(jnp.asarray(0.0), DT, felt, memory))


def feel(q=None, v=None, touch=0.0):
    zero = jnp.zeros((COUNT, 3))
    return Felt(zero if q is None else q, zero if v is None else v, jnp.zeros(COUNT).at[3].set(touch))


def test_the_clock_of_a_servo_stands_until_something_is_held():
    memory, rows = SERVO.begin(feel()), []
    for touch in [0.0] * 8 + [1.0] + [0.0] * 6:
        wanted, memory = decided(SERVO, feel(touch=touch), memory)
        rows.append(int(wanted.grip[0]))
    # It waits in row 2, and stays in the last one.
    assert rows == [0, 1, *[2] * 7, 3, 4, 5, 5, 5, 5]


def test_a_clock_that_finds_something_held_does_not_wait():
    memory, rows = SERVO.begin(feel()), []
    for _ in range(5):
        wanted, memory = decided(SERVO, feel(touch=1.0), memory)
        rows.append(int(wanted.grip[0]))
    assert rows == [0, 1, 2, 3, 4]


def test_a_servo_on_its_plan_only_stiffens():
    wanted, memory = decided(SERVO, feel(), SERVO.begin(feel()))
    np.testing.assert_allclose(wanted.activation, [[0.2, 0.2, 0.2, 0.2, 0.4]] * COUNT, rtol=0, atol=1e-6)
    assert not np.any(memory.missing)


def test_a_servo_draws_the_arm_towards_its_plan_as_heavy_as_it_is():
    # M (3 w e' + 3 w^2 e + w^3 s), with M by the residual of an arm in a void: R(a) - R(0).
    rng = np.random.default_rng(7)
    q = jnp.asarray(rng.normal(size=(COUNT, 3)) * [1e-2, 1e-2, 1e-4])
    v = jnp.asarray(rng.normal(size=(COUNT, 3)) * [1e-1, 1e-1, 1e-3])
    sum_before = jnp.asarray(rng.normal(size=(COUNT, 3)) * [1e-3, 1e-3, 1e-5])
    wanted, memory = decided(SERVO, feel(q, v), ServoMemory(jnp.zeros(()), sum_before))
    np.testing.assert_allclose(memory.missing, sum_before - DT * q, rtol=0, atol=1e-15)
    drawn = -3 * 8.0 * v - 3 * 8.0**2 * q + 8.0**3 * memory.missing
    none = jnp.zeros_like(q)

    def needed(a):
        return residual(MODEL, *(Coordinates(y, jnp.zeros(6)) for y in (q, none, a)), no_inputs(MODEL)).q

    force = np.asarray(needed(drawn) - needed(none))
    found = np.asarray(exerted(MODEL, none, wanted.activation))
    size = np.abs(force).max(0)
    np.testing.assert_allclose(found / size, force / size, rtol=0, atol=1e-4)


def test_the_sum_of_what_is_missing_is_bounded():
    q = jnp.full((COUNT, 3), -1e6)
    _, memory = decided(SERVO, feel(q), SERVO.begin(feel()))
    # One radian second, or one length times a second.
    np.testing.assert_allclose(memory.missing, [[1 / 0.04, 1 / 0.04, 1.0]] * COUNT, rtol=1e-12)
