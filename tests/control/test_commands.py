"""Commands of a muscular arm: which muscles, where and when; what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat
from hydrostat.control.commands import (
    Anatomy,
    Bend,
    Elongate,
    FetchTo,
    Parallel,
    PerArm,
    Reach,
    ReachTo,
    Sequence,
    Shorten,
    Twist,
    part,
)
from hydrostat.errors import InputError
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus import octopus
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.sensing import Observation
from hydrostat.system import System

ROBOT = build_robot(octopus_arm())
ARM = Anatomy.of(ROBOT)
OBLIQUE = Anatomy.of(build_robot(octopus_arm(oblique=True)))
DT = 5e-3
BLIND = Observation(*[None] * 10)._replace(period=jnp.asarray(DT))


def test_elongation_is_by_radial_muscles_alone_and_shortening_by_longitudinal_ones():
    longer, shorter = (
        np.asarray(Elongate(0.3, 1.0).activation(0.5, ARM)),
        np.asarray(Shorten(0.2, 1.0).activation(0.5, ARM)),
    )
    np.testing.assert_allclose(longer, np.tile([0, 0, 0, 0, 0.3], (20, 1)))
    np.testing.assert_allclose(shorter, np.tile([0.2, 0.2, 0.2, 0.2, 0], (20, 1)))


def test_a_command_is_nothing_before_and_after_itself():
    for time in (-0.1, 0.0, 1.0, 1.5):
        assert not np.any(np.asarray(Elongate(0.3, 1.0).activation(time, ARM)))


def test_a_contraction_rises_over_the_time_it_is_given():
    for time, share in ((0.25, 0.5), (0.5, 1.0), (2.0, 1.0), (3.75, 0.5)):
        level = np.asarray(Elongate(0.4, 4.0, rise=0.5).activation(time, ARM))[:, 4]
        np.testing.assert_allclose(level, 0.4 * share, rtol=1e-12)
    with pytest.raises(InputError, match="`rise` must be"):
        Elongate(0.4, 4.0, rise=0.0)


def test_a_bend_is_where_it_should_be_towards_where_it_should_go():
    on = np.asarray(Bend(0.1, 1.0, *part(7, 10, 20), azimuth=np.deg2rad(30.0)).activation(0.5, ARM))
    assert np.max(on[:6]) < 1e-12
    assert np.max(on[10:]) < 1e-12
    moment = on[6:10, 0] - on[6:10, 2], on[6:10, 1] - on[6:10, 3]
    np.testing.assert_allclose(np.arctan2(moment[1], moment[0]), np.deg2rad(30.0))
    np.testing.assert_allclose(np.diff(on[6:10, 4] / np.asarray(ARM.grade)[6:10]), 0.0, atol=1e-15)  # graded


def test_a_mirrored_bend_is_the_mirrored_activation():
    one, other = (
        np.asarray(Bend(0.1, 1.0, 0.2, 0.6, azimuth=np.deg2rad(a)).activation(0.5, ARM)) for a in (40.0, -40.0)
    )
    np.testing.assert_allclose(one[:, [0, 3, 2, 1, 4]], other, atol=1e-16)


def test_a_reach_stiffens_behind_its_front_and_keeps_the_bend_before_it():
    command = Reach(duration=2.5, prepare=1.5, bend=0.1, stiffen=0.2)
    bent = np.asarray(command.activation(1.4, ARM))
    assert np.all(bent[1:8, 0] > 0.0)
    assert not np.any(bent[:, 4])
    half = np.asarray(command.activation(2.0, ARM))  # the front is in the middle
    assert np.all(half[:10, 4] > 0.0)
    assert np.max(half[10:, 4]) < 1e-12
    np.testing.assert_allclose(half[:10, 4], 2.0 * half[:10, 1])
    whole = np.asarray(command.activation(2.5, ARM))
    np.testing.assert_allclose(whole[:, 0], whole[:, 2])


def test_commands_follow_each_other_and_add_up():
    both = Sequence(Elongate(0.3, 1.0), Shorten(0.2, 2.0))
    assert float(both.duration) == 3.0
    np.testing.assert_array_equal(both.activation(0.5, ARM), Elongate(0.3, 1.0).activation(0.5, ARM))
    np.testing.assert_array_equal(both.activation(2.0, ARM), Shorten(0.2, 2.0).activation(1.0, ARM))
    together = Parallel(Elongate(0.7, 1.0), Elongate(0.6, 1.0))
    assert float(jnp.max(together.activation(0.5, ARM))) == 1.0


def test_twist_takes_the_oblique_muscle_of_its_side():
    right, left = (np.asarray(Twist(amount, 1.0).activation(0.5, OBLIQUE)) for amount in (0.2, -0.2))
    np.testing.assert_allclose(right[:, 5:], np.tile([0.2, 0.0], (20, 1)))
    np.testing.assert_allclose(left[:, 5:], np.tile([0.0, 0.2], (20, 1)))
    with pytest.raises(InputError, match="oblique muscles"):
        Twist(0.2, 1.0).activation(0.5, ARM)


def test_a_robot_is_told_what_the_command_says_for_the_middle_of_the_step():
    system, command = System(ROBOT), Elongate(0.4, 4.0, rise=1.0)
    controller = command.attach(system, DT)
    control, _ = controller(jnp.asarray(0.3), BLIND, controller.init(BLIND))
    np.testing.assert_array_equal(control.activation, command.activation(0.3 + 0.5 * DT, ARM))
    # It has no suckers to be told anything.
    assert control.take is None
    assert system.check(control) is control


def test_activation_lags_behind_the_command_as_an_exponential_and_goes_straight_from_step_to_step():
    system, lag = System(ROBOT), float(ROBOT.one.activation_time)
    controller, state = Elongate(0.4, 100.0).attach(system, DT), system.rest()
    before = state.activation
    for step in range(6):
        control, _ = controller(jnp.asarray(10.0 + DT * step), BLIND, ())  # in the middle of the command
        after = system.muscles.advance(before, control.activation, DT)
        np.testing.assert_allclose(after[3, 4], 0.4 * (1.0 - np.exp(-DT * (step + 1) / lag)), rtol=1e-12)
        for share in (0.0, 0.3, 1.0):
            mixed = (1.0 - share) * before + share * after
            inputs = system.inputs(control, state._replace(activation=before), after, share, None)
            np.testing.assert_allclose(inputs.activation, mixed, rtol=1e-9, atol=1e-15)
        before = after


def test_all_equal_arms_do_the_same_unless_each_has_its_own_command():
    system = System(build_robot(octopus(arms=2, segments=2)))
    anatomy, bend = Anatomy.of(system.robot), Bend(0.2, 1.0)
    own = bend.activation(0.5 + 0.5 * DT, anatomy)
    for command, wanted in ((bend, [own, own]), (PerArm(None, bend), [0.0 * own, own])):
        control, _ = command.attach(system, DT)(jnp.asarray(0.5), BLIND, ())
        np.testing.assert_array_equal(control.activation, wanted)
        system.check(control)
    with pytest.raises(InputError, match="one command for each of 2 arms; got 1"):
        PerArm(bend).attach(system, DT)


def test_derivatives_and_batches_go_through_a_command():
    def pulled(strength):
        return jnp.sum(Reach(strength=strength).activation(2.0, ARM))

    step = 1e-6
    slope = (pulled(0.5 + step) - pulled(0.5 - step)) / (2.0 * step)
    # The activation is linear in the strength: what is left is rounding over the step.
    assert float(jax.grad(pulled)(0.5)) == pytest.approx(float(slope), rel=1e-8)
    np.testing.assert_allclose(jax.vmap(pulled)(jnp.array([0.25, 0.5])), [pulled(0.25), pulled(0.5)], rtol=1e-12)
    default = Reach()
    assert (float(default.bend), float(default.stiffen)) == (0.1, 0.2)


def test_a_command_that_is_not_attached_says_so():
    with pytest.raises(InputError, match="`Reach` does not know its robot yet"):
        Reach()(0.0, BLIND, ())


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
        (lambda: Reach(strength=1.5), "`strength` must be"),
        (lambda: Sequence(3.0), "commands alone"),
    ],
)
def test_bad_commands_are_refused_in_one_line(make, word):
    with pytest.raises(InputError) as caught:
        make()
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("command", [ReachTo((0.1, 0.0, 0.1)), FetchTo(), Reach()])
def test_commands_refuse_arms_without_muscles(command):
    with pytest.raises(InputError, match="for arms with muscles; squid's camera limb"):
        command.attach(System(hydrostat.robots.squid_limb()), 1e-2)
