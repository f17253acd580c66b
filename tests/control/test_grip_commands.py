"""Commands for suckers and loads: stiffening, fetching, grasping and letting go, alone and together."""

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.control.commands import Anatomy, Bend, Fetch, Grasp, Parallel, Release, Sequence, Stiffen, part
from hydrostat.errors import InputError
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.sensing import Observation
from hydrostat.surroundings import Ball, Suckers
from hydrostat.system import System

ANATOMY = Anatomy.of(build_robot(octopus_arm()))
OBLIQUE = Anatomy.of(build_robot(octopus_arm(oblique=True)))
GRADE = np.asarray(ANATOMY.grade)


def grip(command, time, anatomy=ANATOMY):
    return np.asarray(command.take(time, anatomy))


def segments(first, last):
    """1 for the segments from one to another, counted from 1."""
    mask = np.zeros(20)
    mask[first - 1 : last] = 1.0
    return mask


# --- Grips


@pytest.mark.parametrize("first, last, held", [(0.8, 1.0, (17, 20)), (0.0, 1.0, (1, 20)), (0.5, 0.55, (11, 11)),
                                               (0.02, 0.12, (1, 2)), (0.03, 0.12, (2, 2))])  # fmt: skip
def test_a_grasp_holds_with_the_segments_that_are_mostly_within_it(first, last, held):
    np.testing.assert_array_equal(grip(Grasp(1.0, first, last), 0.5), segments(*held))


@pytest.mark.parametrize("first, last", [(1, 1), (3, 7), (20, 20), (1, 20)])
def test_a_grasp_by_parts_holds_with_those_segments(first, last):
    np.testing.assert_array_equal(grip(Grasp(1.0, *part(first, last, 20)), 0.5), segments(first, last))


def test_a_grasp_holds_from_its_begin_to_before_its_end():
    held = [grip(Grasp(2.0), time).sum() for time in (-0.1, -1e-9, 0.0, 1.0, 1.999, 2.0, 3.0)]
    assert held == [0.0, 0.0, 4.0, 4.0, 4.0, 0.0, 0.0]


def test_only_a_grasp_holds():
    for command in (Stiffen(0.5, 2.0), Fetch(2.0), Release(2.0), Bend(0.5, 2.0, 0.0, 1.0)):
        assert not np.any(grip(command, 1.0))
    for command in (Grasp(2.0), Release(2.0)):
        for anatomy, columns in ((ANATOMY, 5), (OBLIQUE, 7)):
            assert command.activation(1.0, anatomy).shape == (20, columns)
            assert not np.any(command.activation(1.0, anatomy))


def test_in_a_sequence_each_grips_in_its_turn():
    command = Sequence(Stiffen(0.2, 1.0), Grasp(2.0, 0.5, 1.0), Release(0.5), Grasp(1.0, 0.0, 0.5))
    assert float(command.duration) == 4.5
    none, late, early = np.zeros(20), segments(11, 20), segments(1, 10)
    for times, held in (((-0.5, 0.5, 3.0, 3.4, 4.5, 9.0), none), ((1.0, 2.9), late), ((3.5, 4.4), early)):
        for time in times:
            np.testing.assert_array_equal(grip(command, time), held, str(time))


def test_in_parallel_whatever_any_of_them_grips_is_held():
    command = Parallel(Bend(0.3, 3.0, 0.0, 1.0), Grasp(1.0, 0.0, 0.5), Grasp(2.0, 0.4, 0.6))
    assert float(command.duration) == 3.0
    np.testing.assert_array_equal(grip(command, 0.5), segments(1, 12))
    np.testing.assert_array_equal(grip(command, 1.5), segments(9, 12))
    assert not np.any(grip(command, 2.5))
    assert set(np.unique(grip(command, 0.5))) <= {0.0, 1.0}


def test_grips_of_sequences_within_parallels_within_sequences():
    throw = Parallel(Sequence(Grasp(1.0, 0.5, 0.6), Release(1.0)), Stiffen(0.2, 2.0))
    command = Sequence(Stiffen(0.1, 1.0), throw, Release(1.0))
    held = [grip(command, time).sum() for time in (0.5, 1.5, 2.5, 3.5)]
    assert held == [0.0, 2.0, 0.0, 0.0]
    np.testing.assert_allclose(
        command.activation(1.5, ANATOMY), Stiffen(0.2, 2.0).activation(0.5, ANATOMY), rtol=0, atol=1e-15
    )


def test_what_holds_the_ground_does_not_hold_objects():
    for what, name, other in (("object", "take", "grip"), ("ground", "grip", "take")):
        command = Sequence(Parallel(Grasp(1.0, what=what), Stiffen(0.1, 1.0)), Release(1.0))
        np.testing.assert_array_equal(getattr(command, name)(0.5, ANATOMY), segments(17, 20))
        assert not np.any(getattr(command, other)(0.5, ANATOMY))


def test_suckers_are_told_what_the_command_says_in_the_middle_of_each_step():
    arm = System(build_robot(octopus_arm()), [Suckers(), Ball(radius=0.01, mass=0.005)])
    controller = Sequence(Release(0.1), Grasp(0.2)).attach(arm, 0.02)
    blind = Observation(*[None] * 10)._replace(period=jnp.asarray(0.02))
    table = [controller(jnp.asarray(0.02 * i), blind, ())[0] for i in range(20)]
    np.testing.assert_array_equal([row.take[-1] for row in table], [0.0] * 5 + [1.0] * 10 + [0.0] * 5)
    assert not np.any([row.take[:16] for row in table])
    assert not np.any([row.grip for row in table])


# --- Muscles


def test_stiffening_contracts_radial_muscles_twice_as_much():
    on = np.asarray(Stiffen(0.3, 2.0, 0.5, 1.0).activation(1.0, ANATOMY))
    expected = 0.3 * GRADE * segments(11, 20)
    np.testing.assert_allclose(on[:, :4], np.repeat(expected[:, None], 4, 1), rtol=0, atol=1e-15)
    np.testing.assert_allclose(on[:, 4], 2.0 * expected, rtol=0, atol=1e-15)
    assert not np.any(Stiffen(0.3, 2.0).activation(-0.1, ANATOMY))
    assert not np.any(Stiffen(0.3, 2.0).activation(2.1, ANATOMY))
    full = np.asarray(Stiffen(0.5, 2.0).activation(1.0, OBLIQUE))
    np.testing.assert_allclose(full[:, 4], 2.0 * full[:, 0], rtol=0, atol=1e-15)
    assert full.max() == 1.0
    assert not np.any(full[:, 5:])


def test_a_fetch_bends_three_joints_and_shortens_the_rest():
    command = Fetch(4.0, (0.5, 0.8, 0.6), 0.1, 0.0, ((0.0, 0.1), (0.3, 0.5), (0.7, 0.85)))
    on = np.asarray(command.activation(2.0, ANATOMY))
    joints = (0.5 * segments(1, 2) + 0.8 * segments(7, 10) + 0.6 * segments(15, 17)) * GRADE
    # Towards azimuth 0 the first longitudinal muscle pulls.
    np.testing.assert_allclose(on[:, 0], joints + 0.1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(on[:, 1:4], 0.1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(on[:, 4], 0.5 * joints, rtol=0, atol=1e-12)


def test_a_fetch_rises_smoothly_and_ends():
    command = Fetch(4.0, rise=2.0)
    level = np.array([float(command.activation(t, ANATOMY)[0, 2]) for t in np.linspace(0.1, 2.0, 20)])
    assert np.all(np.diff(level) > 0.0)
    # Half way up after half of the rise.
    assert float(command.activation(1.0, ANATOMY)[0, 2]) == pytest.approx(0.5 * level[-1], rel=1e-12)
    for time in (-0.1, 0.0, 4.0, 5.0):
        assert not np.any(command.activation(time, ANATOMY))


def test_joints_may_touch_but_not_overlap():
    Fetch(3.0, places=((0.0, 0.3), (0.3, 0.5), (0.5, 0.85)))
    for places in (((0.0, 0.4), (0.3, 0.5), (0.7, 0.85)), ((0.0, 0.1), (0.3, 0.8), (0.7, 0.85)),
                   ((0.7, 0.85), (0.3, 0.5), (0.0, 0.1))):  # fmt: skip
        with pytest.raises(InputError, match="must follow each other") as refused:
            Fetch(3.0, places=places)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "make, named",
    [
        (lambda: Stiffen(0.51, 1.0), "amount"),
        (lambda: Stiffen(-0.1, 1.0), "amount"),
        (lambda: Stiffen(0.1, 0.0), "duration"),
        (lambda: Stiffen(0.1, 1.0, 0.5, 1.5), "last"),
        (lambda: Stiffen(0.1, 1.0, 0.5, 0.5), "first"),
        (lambda: Grasp(0.0), "duration"),
        (lambda: Grasp(float("nan")), "duration"),
        (lambda: Grasp(1.0, -0.1), "first"),
        (lambda: Grasp(1.0, 0.9, 0.8), "first"),
        (lambda: Grasp("long"), "duration"),
        (lambda: Grasp(1.0, what="air"), "what"),
        (lambda: Release(-1.0), "duration"),
        (lambda: Release(True), "duration"),
        (lambda: Fetch(3.0, (0.5, 1.0, 1.2)), "amount"),
        (lambda: Fetch(3.0, shorten=2.0), "shorten"),
        (lambda: Fetch(3.0, azimuth=float("inf")), "azimuth"),
        (lambda: Fetch(3.0, rise=0.0), "rise"),
        (lambda: Fetch(3.0, rise=3.5), "rise"),
        (lambda: Fetch(0.0), "duration"),
        (lambda: Fetch(3.0, places=((0.0, 0.1), (0.5, 0.3), (0.7, 0.85))), "first"),
    ],
)
def test_bad_values_are_refused_in_one_line(make, named):
    with pytest.raises(InputError, match=f"`{named}` must be") as refused:
        make()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "amounts, places",
    [
        ((0.5, 1.0), ((0.0, 0.1), (0.3, 0.5), (0.7, 0.85))),
        ((0.5, 1.0), ((0.0, 0.1), (0.3, 0.5))),
        ((0.5, 1.0, 1.0, 1.0), ((0.0, 0.1), (0.3, 0.5), (0.6, 0.7), (0.8, 0.9))),
        ((0.5, 1.0, 1.0), ((0.0, 0.1, 0.2), (0.3, 0.5), (0.7, 0.85))),
        (0.5, ((0.0, 0.1), (0.3, 0.5), (0.7, 0.85))),
    ],
)
def test_a_fetch_has_three_joints(amounts, places):
    with pytest.raises(InputError) as refused:
        Fetch(3.0, amounts, places=places)
    assert "\n" not in str(refused.value)
