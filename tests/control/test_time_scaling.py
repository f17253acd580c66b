"""A plan is followed no faster than the legs' strength allows; the arm stops where they could not hold it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat import System, control
from hydrostat.control.leg_demand import LegDemand, plan_demand
from hydrostat.control.time_scaling import _SHARE, changes_within, pace_after, reachable_squares
from hydrostat.robots import build_robot
from hydrostat.robots.specs.stewart_arm import stewart_arm
from hydrostat.simulation import Simulation

SPACING, PLACES = 0.02, 51
STRENGTH = jnp.asarray([10.0])  # N
DT, BEFORE, WIDTH, AFTER = 0.002, 1.0, 0.3, 1.0  # s
BEND = 0.5  # rad, of each plate
PAYLOAD = 0.5  # kg


def demand(hold=0.0, change=0.0, motion=0.0):
    """What six legs of one platform need, all the same, at all places or place by place."""
    return LegDemand(
        *(jnp.asarray(part, float).reshape(-1, 1, 1) * jnp.ones((PLACES, 1, 6)) for part in (hold, change, motion))
    )


def at_one(place, value):
    return np.where(np.arange(PLACES) == place, value, 0.0)


def squares(found):
    return np.asarray(reachable_squares(found, STRENGTH, SPACING)[0])


def test_a_pace_that_strong_legs_can_brake_is_the_plans():
    assert squares(demand(change=1e-3)) == pytest.approx(1.0)


def test_braking_to_rest_is_as_hard_as_the_legs_can():
    rate = 2.0  # 1/s^2, the largest that the legs can brake with
    found = squares(demand(change=10.0 / rate))
    exact = np.minimum(2.0 * rate * SPACING * (PLACES - np.arange(PLACES)), 1.0)
    assert np.all(found <= exact * (1.0 + 1e-12))
    # Of the ways to brake, neighbours differ by a factor of 140^(1/13) = 1.46.
    assert np.all(found >= exact / 1.47)


def test_a_peak_of_one_place_sets_the_pace_there():
    found = squares(demand(motion=at_one(20, 40.0)))
    assert found[20] == pytest.approx(0.25)
    assert np.delete(found, 20) == pytest.approx(1.0)  # these legs brake for nothing


def test_before_a_peak_the_pace_falls_no_faster_than_the_legs_brake():
    rate = 2.0
    found = squares(demand(change=10.0 / rate, motion=at_one(20, 40.0)))
    assert 0.25 < found[20] <= 0.5  # braking takes 10 N off what the motion takes of the legs
    assert np.all(np.diff(found[:21]) >= -2.0 * rate * SPACING * (1.0 + 1e-9))
    assert found[0] == 1.0


def test_where_legs_cannot_hold_the_pace_is_zero():
    found = squares(demand(hold=at_one(20, 10.1), change=1e-3))
    assert found[19] == found[20] == 0.0
    assert np.all(found[:19] > 0.0)


def test_changes_of_the_pace_are_those_with_which_all_legs_suffice():
    forces, more = np.array([[8.0, -8.0, 0.0, 0.0, 0.0, 0.0]]), np.array([[1.0, 2.0, 0.0, 0.0, 0.0, 0.0]])
    least, most = changes_within(forces, more, STRENGTH)
    assert (float(least), float(most)) == pytest.approx((-0.5, 1.0))  # up to 9 of 10 N
    # Two legs that ask for opposite changes: what is left is between them.
    least, most = changes_within(np.full((1, 6), 12.0), np.array([[1.0, -1.0, 0, 0, 0, 0]]), STRENGTH)
    assert float(least) <= 0.0 <= float(most)


def bend(dt=DT):
    """A plan that is at rest, bends both plates within a short time, and is at rest."""
    times = np.arange(0.0, BEFORE + WIDTH + AFTER + 0.5 * dt, dt)
    share = np.clip((times - BEFORE) / WIDTH, 0.0, 1.0)
    share = share**4 * (35.0 - 84.0 * share + 70.0 * share**2 - 20.0 * share**3)
    return control.plan_of(share[:, None, None] * np.ones((2, 1)) * np.array([0.0, BEND, 0.0, 0.0, 0.0, 0.0]), dt)


@pytest.fixture(scope="module")
def bending():
    """The robot, the plan of a short bend, its demand, and with the payload the forces at every row by their parts."""
    robot = build_robot(stewart_arm(segments=2, length=0.5, base_radius=0.08), lumps=[(1.0, 0.0)])
    plan = bend()
    still = jnp.zeros_like(plan.v)
    cases = control.Plan(
        jnp.concatenate([plan.q] * 3),
        jnp.concatenate([still, still, plan.v]),
        jnp.concatenate([still, plan.v, plan.a]),
    )
    real = control.with_payload(robot, PAYLOAD)
    hold, changing, moving = np.split(
        np.asarray(control.inverse_dynamics_along(real, cases, jnp.arange(3 * len(plan.q)))), 3
    )
    return robot, plan, plan_demand(robot, plan, DT), LegDemand(hold, changing - hold, moving - hold)


@jax.jit
def followed(demand, strength):
    """Times of the plan, paces and their rates, when the law alone follows it for 4 s."""

    def step(state, _):
        phase, pace = state
        new = pace_after(demand, PAYLOAD, strength * jnp.ones(2), phase, pace, DT)
        return (phase + new * DT, new), (phase, new, (new - pace) / DT)

    return jax.lax.scan(step, (jnp.zeros(()), jnp.ones(())), None, round(4.0 / DT))[1]


def largest_forces(parts, phase, pace, rate):
    """The largest force of a leg along a plan that is followed so, between its rows on straight lines."""
    place = np.clip(phase / DT, 0.0, len(parts.hold) - 1.001)
    row = place.astype(int)
    share = (place - row)[:, None, None]
    hold, change, motion = ((1.0 - share) * part[row] + share * part[row + 1] for part in parts)
    return np.abs(hold + change * rate[:, None, None] + motion * pace[:, None, None] ** 2).max((1, 2))


@pytest.mark.parametrize("over", [1.34, 2.0])
def test_a_short_bend_that_asks_for_more_than_the_legs_have_is_passed_more_slowly(bending, over):
    _, _, demand, parts = bending
    strength = np.abs(parts.hold + parts.motion).max() / over
    phase, pace, rate = map(np.asarray, followed(demand, strength))
    forces = largest_forces(parts, phase, pace, rate)
    assert forces.max() < strength  # of which the law may take nine tenths, known every 20 ms
    assert forces.max() > _SHARE * strength * 0.99  # and uses them
    assert phase[-1] > BEFORE + WIDTH  # it comes through
    assert np.all(pace[phase < BEFORE - 0.5] == 1.0)


def test_a_posture_that_the_legs_cannot_hold_is_waited_before(bending):
    _, _, demand, parts = bending
    strength = np.abs(parts.hold).max() / 0.95
    phase, pace, rate = map(np.asarray, followed(demand, strength))
    assert pace[-1] == 0.0
    assert np.all(np.diff(phase) >= 0.0)
    forces = largest_forces(parts, phase, pace, rate)
    assert forces.max() < strength
    assert forces[-1] <= _SHARE * strength


@pytest.mark.slow
@pytest.mark.parametrize("dt", [DT, 0.5 * DT])
def test_an_arm_passes_a_short_bend_with_a_payload_that_it_learns(bending, dt):
    robot, _, _, parts = bending
    plan, strength = bend(dt), np.abs(parts.hold + parts.motion).max() / 1.34
    robot = eqx.tree_at(lambda r: r.arms.legs.force, robot, jnp.full(2, strength))
    real = System(control.with_payload(robot, PAYLOAD))
    found = Simulation(real, control.ComputedTorque(plan, robot), dt)(3.0, state=real.rest(plan.q[0], plan.v[0]))
    assert np.abs(np.asarray(found.memory.forces)).max() < strength
    assert float(found.memory.phase[-1]) > BEFORE + WIDTH
    np.testing.assert_allclose(found.q[-1], plan.q[-1], atol=1e-3)
