"""Commands of a muscular arm: which muscles, where and when; what is refused."""

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.control.commands import (
    Anatomy,
    Bend,
    Elongate,
    Parallel,
    Reach,
    Sequence,
    Shorten,
    Twist,
    part,
)
from hydrostat.control.nerves import Nerves, played
from hydrostat.errors import InputError
from hydrostat.robots.build import build_robot
from hydrostat.robots.mechanical import robot_model
from hydrostat.robots.octopus_arm import octopus_arm
from hydrostat.stepping import rest_state

ROBOT = build_robot(octopus_arm())
ARM = Anatomy.of(ROBOT.muscles)
OBLIQUE = Anatomy.of(build_robot(octopus_arm(oblique=True)).muscles)


def test_elongation_is_by_radial_muscles_alone_and_shortening_by_longitudinal_ones():
    longer, shorter = np.asarray(Elongate(0.3, 1.0)(0.5, ARM)), np.asarray(Shorten(0.2, 1.0)(0.5, ARM))
    np.testing.assert_allclose(longer, np.tile([0, 0, 0, 0, 0.3], (20, 1)))
    np.testing.assert_allclose(shorter, np.tile([0.2, 0.2, 0.2, 0.2, 0], (20, 1)))


def test_a_command_is_nothing_before_and_after_itself():
    for time in (-0.1, 0.0, 1.0, 1.5):
        assert not np.any(np.asarray(Elongate(0.3, 1.0)(time, ARM)))


def test_a_contraction_rises_over_the_time_it_is_given():
    for time, share in ((0.25, 0.5), (0.5, 1.0), (2.0, 1.0), (3.75, 0.5)):
        level = np.asarray(Elongate(0.4, 4.0, rise=0.5)(time, ARM))[:, 4]
        np.testing.assert_allclose(level, 0.4 * share, rtol=1e-12)
    with pytest.raises(InputError, match="`rise` must be"):
        Elongate(0.4, 4.0, rise=0.0)


def test_a_bend_is_where_it_should_be_towards_where_it_should_go():
    on = np.asarray(Bend(0.1, 1.0, *part(7, 10, 20), azimuth_deg=30.0)(0.5, ARM))
    assert np.max(on[:6]) < 1e-12
    assert np.max(on[10:]) < 1e-12
    moment = on[6:10, 0] - on[6:10, 2], on[6:10, 1] - on[6:10, 3]
    np.testing.assert_allclose(np.arctan2(moment[1], moment[0]), np.deg2rad(30.0))
    np.testing.assert_allclose(np.diff(on[6:10, 4] / np.asarray(ARM.grade)[6:10]), 0.0, atol=1e-15)  # graded


def test_a_mirrored_bend_is_the_mirrored_activation():
    one, other = (np.asarray(Bend(0.1, 1.0, 0.2, 0.6, azimuth_deg=a)(0.5, ARM)) for a in (40.0, -40.0))
    np.testing.assert_allclose(one[:, [0, 3, 2, 1, 4]], other, atol=1e-16)


def test_a_reach_stiffens_behind_its_front_and_keeps_the_bend_before_it():
    command = Reach(duration=2.5, prepare=1.5, bend=0.1, stiffen=0.2)
    bent = np.asarray(command(1.4, ARM))
    assert np.all(bent[1:8, 0] > 0.0)
    assert not np.any(bent[:, 4])
    half = np.asarray(command(2.0, ARM))  # the front is in the middle
    assert np.all(half[:10, 4] > 0.0)
    assert np.max(half[10:, 4]) < 1e-12
    np.testing.assert_allclose(half[:10, 4], 2.0 * half[:10, 1])
    whole = np.asarray(command(2.5, ARM))
    np.testing.assert_allclose(whole[:, 0], whole[:, 2])


def test_commands_follow_each_other_and_add_up():
    both = Sequence(Elongate(0.3, 1.0), Shorten(0.2, 2.0))
    assert float(both.duration) == 3.0
    np.testing.assert_array_equal(both(0.5, ARM), Elongate(0.3, 1.0)(0.5, ARM))
    np.testing.assert_array_equal(both(2.0, ARM), Shorten(0.2, 2.0)(1.0, ARM))
    together = Parallel(Elongate(0.7, 1.0), Elongate(0.6, 1.0))
    assert float(jnp.max(together(0.5, ARM))) == 1.0


def test_twist_takes_the_oblique_muscle_of_its_side():
    right, left = (np.asarray(Twist(amount, 1.0)(0.5, OBLIQUE)) for amount in (0.2, -0.2))
    np.testing.assert_allclose(right[:, 5:], np.tile([0.2, 0.0], (20, 1)))
    np.testing.assert_allclose(left[:, 5:], np.tile([0.0, 0.2], (20, 1)))
    with pytest.raises(InputError, match="oblique muscles"):
        Twist(0.2, 1.0)(0.5, ARM)


def test_activation_lags_behind_the_command_as_an_exponential_and_goes_straight_from_step_to_step():
    lag, dt = 0.03, 0.005
    model = robot_model(ROBOT, points=1)
    brain = played(Elongate(0.4, 100.0), ARM, 10.0 + dt * jnp.arange(6), dt)  # in the middle of the command
    controller = Nerves(model, brain, jnp.asarray(lag), jnp.ones((20, 5)))
    state = rest_state(model)
    memory = controller.begin(state)
    for step in range(6):
        before = memory.activation
        acting, memory = controller.act(jnp.asarray(dt * step), dt, state, memory)
        np.testing.assert_allclose(memory.activation[3, 4], 0.4 * (1.0 - np.exp(-dt * (step + 1) / lag)), rtol=1e-12)
        for share in (0.0, 0.3, 1.0):
            mixed = (1.0 - share) * before + share * memory.activation
            np.testing.assert_allclose(acting(dt * (step + share), state).activation, mixed, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(
    "make, word",
    [
        (lambda: part(25, 26, 20), "`last_segment` must be a whole number from 1 to 20"),
        (lambda: part(5, 3, 20), "`first_segment` must be a whole number from 1 to 3"),
        (lambda: Elongate(0.1, -1.0), "`duration` must be a finite number above 0"),
        (lambda: Elongate(float("nan"), 1.0), "`amount` must be a finite number"),
        (lambda: Elongate(1.5, 1.0), "`amount` must be"),
        (lambda: Bend(0.1, 1.0, 0.6, 0.4), "`first` must be below `last`"),
        (lambda: Reach(duration=1.0, prepare=2.0), "`prepare` must be"),
        (Sequence, "at least one command"),
    ],
)
def test_bad_commands_are_refused_in_one_line(make, word):
    with pytest.raises(InputError) as caught:
        make()
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)
