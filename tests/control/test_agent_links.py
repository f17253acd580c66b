"""Agents whose messages are late, lost or wrong."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat import control
from hydrostat.control.agent_links import first_mail, linked_rates
from hydrostat.control.agents import agents_rates
from hydrostat.control.resolved_rate import ease, moved
from hydrostat.errors import InputError
from hydrostat.robots import stewart_arm

COUNT, DT, TICKS = 4, 2e-3, 8


@pytest.fixture(scope="module")
def law():
    return control.tracking_law(control.Platforms.of(stewart_arm(COUNT)), favour="nothing")


def twists(law, links, seed=0):
    """The twists of all plates in some ticks, of an arm at rest whose tip is asked to move at 0.1 m/s."""
    T, scale = control.Platforms.of(stewart_arm(COUNT)).rest, ease(law)

    def tick(carry, key):
        T, mail = carry
        ask = lambda tip: jnp.array([0.1, 0.0, 0.0]) + 0.0 * tip.position  # noqa: E731
        found, mail = linked_rates(law, T, ask, DT, scale, links, mail, key)
        centre = agents_rates(law, T, ask, DT, scale)
        return (moved(T, found.twist, DT), mail), (found.twist, centre.twist, found.T_world_tip.position)

    keys = jax.random.split(jax.random.PRNGKey(seed), TICKS)
    return [np.asarray(y) for y in jax.jit(lambda: jax.lax.scan(tick, (T, first_mail(law, T, links)), keys)[1])()]


def test_perfect_links_change_nothing(law):
    own, centre, tip = twists(law, control.Links())
    np.testing.assert_allclose(own, centre, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.diff(tip, axis=0)[:, 0], 0.1 * DT, rtol=1e-3)


@pytest.mark.parametrize("delay", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_each_joint_makes_a_message_later_by_its_delay(law, delay):
    """The last agent decides at once; one that is k joints below it moves k delays later."""
    moves = np.abs(twists(law, control.Links(delay))[0]).max(-1) > 0.0
    first = np.where(moves.any(0), moves.argmax(0), TICKS)
    np.testing.assert_array_equal(first, np.minimum(delay * np.arange(COUNT)[::-1], TICKS))


@pytest.mark.slow
def test_agents_that_hear_nothing_stay(law):
    moves = np.abs(twists(law, control.Links(loss=1.0))[0]).max((0, 2)) > 0.0
    np.testing.assert_array_equal(moves, np.arange(COUNT) == COUNT - 1)


def test_errors_of_the_numbers_are_as_large_as_they_should_be():
    """Means of 4000 numbers: 1, within four of their standard deviations, and the standard deviation 1 percent."""
    sent, key = jnp.full(4000, 2.0), jax.random.PRNGKey(3)
    read = np.asarray(control.Links(noise=0.01).read(sent, jnp.zeros(4000), key)) / 2.0
    assert abs(read.mean() - 1.0) < 4.0 * 0.01 / np.sqrt(4000)
    assert read.std() == pytest.approx(0.01, rel=4.0 / np.sqrt(8000))


@pytest.mark.parametrize("options", [{"delay": -1}, {"loss": 1.5}, {"noise": -0.1}])
def test_bad_links_are_refused(options):
    with pytest.raises(InputError, match=next(iter(options))):
        control.Links(**options)
