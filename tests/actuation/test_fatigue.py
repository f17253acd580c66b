"""Muscles that tire: three compartments against their own equations, their steady state, and what a tired arm does."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import hydrostat as hs
from hydrostat.actuation import Fatigue
from hydrostat.actuation.drives import MuscleDrive
from hydrostat.errors import InputError
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus_arm import octopus_arm

LAG = 0.03
COMMANDS = jnp.array([[0.0, 0.2, 0.5, 0.8, 1.0]])


def drive(rate: float, recovery: float, lag: float = LAG) -> MuscleDrive:
    return MuscleDrive(jnp.asarray(lag), jnp.ones((1, 5)), Fatigue(rate, recovery))


def course(muscles: MuscleDrive, seconds: float, dt: float, command=COMMANDS):
    """The activation and the fatigued share after each of many steps of a constant command."""

    def step(carry, _):
        new = muscles.tire(*carry, command, dt)
        return new, new

    return jax.lax.scan(step, (0.0 * COMMANDS, 0.0 * COMMANDS), length=round(seconds / dt))[1]


def compartments(command: float, rate: float, recovery: float, seconds: float):
    """Xia and Frey Law's three equations with their controller, case by case, to 1e-10: active, fatigued, resting."""
    L = 1.0 / LAG

    def rates(t, y):
        active, fatigued, resting = y
        if active >= command:
            flow = L * (command - active)
        else:
            flow = L * (command - active if resting > command - active else resting)
        return [flow - rate * active, rate * active - recovery * fatigued, recovery * fatigued - flow]

    found = solve_ivp(rates, (0.0, seconds), [0.0, 0.0, 1.0], method="LSODA", rtol=1e-10, atol=1e-12, max_step=0.01)
    return found.y[:, -1]


@pytest.mark.parametrize("command", [0.2, 0.8, 1.0])
def test_shares_are_those_of_the_three_compartments(command):
    rate, recovery, seconds = 0.5, 0.1, 4.0
    active, fatigued, resting = compartments(command, rate, recovery, seconds)
    assert active + fatigued + resting == pytest.approx(1.0, abs=1e-9)
    errors = []
    for dt in (0.02, 0.01):
        own = [np.asarray(y)[-1, 0, 0] for y in course(drive(rate, recovery), seconds, dt, 0.0 * COMMANDS + command)]
        errors.append(np.max(np.abs(np.array(own) - [active, fatigued])))
    # Of second order, a fourth of the error with half the step: what tiring and recruiting do not commute,
    # F / t dt^2 / 12 of the splitting, less where the lag damps it.
    assert errors[1] < 0.3 * errors[0]
    assert errors[0] < rate / LAG * 0.02**2 / 12.0


def test_no_share_is_ever_below_zero_and_they_add_up_to_one():
    for rate, recovery, lag in ((0.5, 0.1, LAG), (50.0, 20.0, LAG), (5.0, 0.0, 0.0), (0.0, 3.0, 1.0)):
        active, fatigued = (np.asarray(y) for y in course(drive(rate, recovery, lag), 2.0, 0.02))
        assert active.min() >= 0.0
        assert fatigued.min() >= 0.0
        assert (active + fatigued).max() <= 1.0 + 1e-12  # what is left rests


def test_what_tires_recovers_to_the_last():
    """Without recruitment nothing but recovery moves units: M decays at the rate r, and the active share at F."""
    fatigue, h = Fatigue(0.3, 0.2), 0.5
    active, fatigued = fatigue.tired(jnp.asarray(0.0), jnp.asarray(0.6), h)
    assert float(fatigued) == pytest.approx(0.6 * np.exp(-0.2 * h), rel=1e-12)
    active, fatigued = Fatigue(0.3, 0.0).tired(jnp.asarray(0.6), jnp.asarray(0.1), h)
    assert float(active + fatigued) == pytest.approx(0.7, rel=1e-12)
    assert float(active) == pytest.approx(0.6 * np.exp(-0.3 * h), rel=1e-12)


def test_full_command_ends_at_the_share_that_recovers_as_fast_as_it_tires():
    """A = r / (F + r + t F r), with the lag t; without it r / (F + r), which a smaller command can be held below."""
    rate, recovery, dt = 1.0, 0.25, 0.01
    muscles = drive(rate, recovery)
    active, fatigued = (np.asarray(y)[-1, 0] for y in course(muscles, 60.0, dt))
    wanted = recovery / (rate + recovery + LAG * rate * recovery)
    assert active[4] == pytest.approx(wanted, abs=(rate * dt) ** 2)
    assert wanted == pytest.approx(float(muscles.fatigue.lasting), rel=0.01)
    assert active[3] == pytest.approx(active[4], abs=1e-6)  # what asks for more than lasts ends there as well
    # A command below what lasts is met, but for what tires during the lag.
    few = np.asarray(course(muscles, 60.0, dt, 0.5 * wanted * jnp.ones((1, 5)))[0])[-1, 0]
    np.testing.assert_allclose(few, 0.5 * wanted / (1.0 + LAG * rate), atol=(rate * dt) ** 2)
    np.testing.assert_allclose(fatigued[4], rate * active[4] / recovery, rtol=1e-3)


def test_muscles_that_do_not_tire_have_no_more_state_and_rates_of_zero_change_nothing():
    robot = build_robot(octopus_arm(4))
    plain, tireless = hs.System(robot), hs.System(robot, fatigue=Fatigue(0.0, 0.0))
    assert plain.rest().fatigue is None
    now, command = 0.1 * jnp.ones((4, 5)), 0.7 * jnp.ones((4, 5))
    after, none = plain.muscles.tire(now, None, command, 5e-3)
    assert none is None
    np.testing.assert_array_equal(after, plain.muscles.advance(now, command, 5e-3))
    other, fatigued = tireless.muscles.tire(now, jnp.zeros((4, 5)), command, 5e-3)
    np.testing.assert_array_equal(other, after)
    np.testing.assert_array_equal(fatigued, 0.0)
    assert float(tireless.muscles.fatigue.lasting) == 1.0


@pytest.fixture(scope="module")
def tired_and_fresh():
    """An arm that holds itself bent to a side, without weight, for ten times the time in which it tires."""
    command = hs.Control(activation=jnp.zeros((4, 5)).at[:, 0].set(0.01))
    found = []
    for fatigue in (Fatigue(20.0, 2.0), None):
        system = hs.System(build_robot(octopus_arm(4)), [hs.Water()], gravity=(0, 0, 0), fatigue=fatigue)
        found.append(hs.rollout(system, command, steps=200, dt=5e-3))
    return found


def test_a_tired_arm_holds_less(tired_and_fresh):
    tired, fresh = tired_and_fresh
    bends = [float(np.abs(np.asarray(one.q)[-1, :, 1] * 0.06).sum()) for one in (tired, fresh)]
    shares = [float(np.asarray(one.activation)[-1, 0, 0]) for one in (tired, fresh)]
    assert shares[1] == pytest.approx(0.01, rel=1e-6)
    assert 0.0 < shares[0] < 0.95 * shares[1]
    # Where bends are small, moments and so bends go with the activation, to second order of the bend of a segment.
    assert bends[0] / bends[1] == pytest.approx(shares[0] / shares[1], abs=(bends[1] / 4.0) ** 2)
    assert shares[0] / shares[1] == pytest.approx(1.0 / (1.0 + LAG * 20.0), rel=0.05)


def test_the_fatigued_share_is_recorded_and_goes_on(tired_and_fresh):
    tired, fresh = tired_and_fresh
    recorded = tired.to_xarray()["fatigue"].to_numpy()
    assert recorded.shape == (201, 4, 5)
    assert recorded[-1, 0, 0] > 0.0
    assert not recorded[:, :, 1:].any()
    assert "fatigue" not in fresh.to_xarray()


def test_machine_code_tires_as_xla_does():
    system = hs.System(build_robot(octopus_arm(3)), fatigue=Fatigue(2.0, 0.5))
    command = hs.Control(activation=0.3 * jnp.linspace(0.1, 1.0, 15).reshape(3, 5))
    own, other = (hs.rollout(system, command, steps=2, dt=5e-3, backend=name) for name in ("native", "xla"))
    np.testing.assert_allclose(own.state.fatigue, other.state.fatigue, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(own.activation, other.activation, rtol=1e-12)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Fatigue(-1.0, 0.1), "`rate` must be a finite number at least 0 and at most 1000; got -1.0"),
        (lambda: Fatigue(0.1, float("nan")), "`recovery` must be a finite number"),
        (lambda: hs.System(build_robot(octopus_arm(2)), fatigue=0.01), "`fatigue` must be a `Fatigue`"),
        (lambda: hs.System(hs.robots.load("tentacle"), fatigue=Fatigue(0.1, 0.1)), "is for robots with muscles"),
    ],
)
def test_what_cannot_tire_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
