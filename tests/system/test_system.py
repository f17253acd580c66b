"""Any surroundings with any robot; what does not go together is refused in a sentence."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_robots import NEEDS, ROBOTS, apart, equal, parts_about, single, some_control, unequal

from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics.robot import split
from hydrostat.mechanics.state import nodes_of
from hydrostat.robots import find_robot
from hydrostat.robots.build import build_robot
from hydrostat.statics import energy
from hydrostat.stepping import LinearImplicitEuler, step
from hydrostat.surroundings import Ball, Ground, Jet, Suckers, Water
from hydrostat.surroundings.water import DENSITY
from hydrostat.system import Control, System

DT = 5e-3
stepped = eqx.filter_jit(step)


@eqx.filter_jit
def potential_energy(system, state):
    return energy(system, state).gravitational


@eqx.filter_jit
def power_of_drag(system, state):
    """At every node in the flow [W]."""
    nodes = nodes_of(system.robot, state.robot, family="flow")
    return jnp.sum(system.forces_at(state).at("flow").forces(nodes).force * nodes.velocity, -1)


# --- Composition


PARTS = ["none", "water", "ground", "suckers", "ball", "obstacles", "arm contact", "jet"]
SOON = [*(("single", name) for name in PARTS), ("equal", "jet"), ("unequal", "suckers"), ("unequal", "arm contact")]
"""What is traced by itself in the quick tests; equal arms step below with all parts at once."""


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(kind, name, marks=() if (kind, name) in SOON else pytest.mark.slow)
        for kind in ROBOTS
        for name in PARTS
    ],
)
def test_every_part_goes_with_every_robot(kind, name):
    """By tracing a step, the simplest: shapes and refusals are found without compiling it."""
    robot = ROBOTS[kind]()
    parts = parts_about(robot)
    if name not in parts:
        chosen = []
        if name == "jet":
            with pytest.raises(InputError, match=r"`Jet` needs .* a robot with a body"):
                System(robot, [Water(), Jet()]).rest()
            return
    else:
        chosen = [parts[need] for need in (name, NEEDS.get(name)) if need is not None]
    system = System(robot, chosen)
    state = system.rest()
    after = eqx.filter_eval_shape(step, system, state, Control(), DT, LinearImplicitEuler())
    kinds = jax.tree.map(lambda y: (jnp.shape(y), y.dtype), (after, state))
    assert kinds[0] == kinds[1]


def driven(robot, steps=3):
    """A robot in all surroundings at once, after some steps, and the system."""
    system = System(robot, list(parts_about(robot).values()))
    control, state = Control(**some_control(robot)), system.rest()
    for _ in range(steps):
        state = stepped(system, state, control, DT)
    return system, state


def check_finite_and_touched(system, state):
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(state))
    assert float(state.time) == pytest.approx(3 * DT)
    # The suckers hold the ground, those of the last arm's end the ball, and the muscles lag behind their command.
    attachment, prey = system.part_state(state, Suckers), system.part_state(state, Ball)
    assert np.any(attachment.held)
    assert prey.attachment.held[system.environment.count - 1] == 1.0
    assert not np.any(prey.attachment.held[: system.environment.rows[0] - 1])
    for activation in split(system.robot, state.activation):
        assert 0.0 < np.max(activation) < 0.2


def test_a_single_arm_in_all_surroundings_at_once():
    check_finite_and_touched(*driven(single()))


@pytest.fixture(scope="module")
def equal_found():
    return driven(equal())


def test_equal_arms_in_all_surroundings_at_once(equal_found):
    system, state = equal_found
    check_finite_and_touched(system, state)
    # The jet has pushed the body by the water that left.
    assert 0.0 < float(system.part_state(state, Jet).full) < 1.0


def test_arms_that_might_differ_move_as_equal_ones_in_all_surroundings(equal_found):
    _, expected = equal_found
    _, found = driven(apart(equal()))
    # The tolerance of a stage, 5e-5 of a bend, is met along another way; all else is the same to rounding.
    for one, other in zip(found.q, expected.q, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-6 * np.abs(expected.q).max())
    np.testing.assert_allclose(found.base_twist, expected.base_twist, rtol=0, atol=1e-6)
    for one, other in zip(found.activation, expected.activation, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    for one, other in zip(jax.tree.leaves(found.surroundings), jax.tree.leaves(expected.surroundings), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-6 * max(1.0, np.abs(other).max()))


# --- Water and weight


@pytest.mark.parametrize("kind", ROBOTS)
def test_water_drags_by_default_and_bears_what_it_displaces(kind):
    robot = ROBOTS[kind]()
    system = System(robot, [Water()])
    np.testing.assert_array_equal(system.robot.gravity, [0.0, 0.0, -9.81])
    # The potential energy is that of the weight less buoyancy, which is a share of it where all has one density.
    density = float(robot.each[0].arm.material.density[0])
    lifted = system.rest()._replace(base_pose=SE3(robot.T_world_body.rotation, robot.T_world_body.position + 0.1))
    wet, dry = (
        float(potential_energy(one, lifted) - potential_energy(one, one.rest())) for one in (system, System(robot))
    )
    np.testing.assert_allclose(wet, dry * (1.0 - DENSITY / density), rtol=1e-9)
    rest = system.rest()
    power = power_of_drag(system, rest._replace(v=jax.tree.map(jnp.ones_like, rest.q)))
    assert len(power) >= sum(arm.arm.count for arm in robot.each)
    assert np.all(np.asarray(power) < 0.0)


def test_without_water_there_is_neither_drag_nor_buoyancy():
    system = System(single())
    np.testing.assert_array_equal(system.robot.gravity, [0.0, 0.0, -9.81])
    assert system.place(system.rest()) is None
    assert system.forces_at(system.rest()) is None


# --- Refusals


@pytest.fixture(scope="module")
def tendons():
    return System(build_robot(find_robot("finger")))


@pytest.fixture(scope="module")
def muscles():
    return System(single(), [Water()])


def refused(message, function, *arguments, **options):
    """Whether it is refused with this message, in one line."""
    with pytest.raises(InputError, match=message) as caught:
        function(*arguments, **options)
    assert "\n" not in str(caught.value)


def test_what_is_no_robot_or_no_surroundings_is_refused():
    refused("`robot` must be a robot, such as .*; got 3", System, 3)
    robot = single()
    refused(r"`surroundings` must hold such as Water\(\), .*; got 'sea'", System, robot, ["sea"])
    refused("`gravity` must be three numbers; got an array of shape", System, robot, gravity=(0.0, 9.81))
    refused("`gravity` must be three finite numbers", System, robot, gravity=(0.0, 0.0, np.nan))


@pytest.mark.parametrize("kind", [Water, Ground, Suckers])
def test_two_of_what_there_can_be_one_are_refused(kind):
    refused(f"at most one {kind.__name__}; got several", System, single(), [Ground(), kind(), kind()])


def test_suckers_with_nothing_to_hold_are_refused():
    refused(r"`Suckers` need something to hold: add Ground\(\) or a Ball", System, single(), [Water(), Suckers()])


def test_one_part_may_stand_without_a_list():
    assert isinstance(System(single(), Water()).part(Water), Water)


def test_gains_of_muscles_have_the_shape_of_the_muscles():
    refused(r"`muscle_gains` must have the shape \(2, 5\); got \(5,\)", System, single(), muscle_gains=np.ones(5))
    assert System(single(), muscle_gains=np.ones((2, 5))) is not None


def test_states_of_another_shape_are_refused(muscles):
    shape = tuple(muscles.rest().q.shape)
    refused(rf"`q` must have the shape \({shape[0]}, {shape[1]}\); got \(3, 3\)", muscles.rest, np.zeros((3, 3)))
    refused("`v` must have the shape", muscles.rest, None, np.zeros((3, 3)))
    pair = System(unequal())
    refused("`q` must be one array for each of 2 arms", pair.rest, np.zeros((2, 3)))


def test_controls_that_do_not_exist_or_are_no_numbers_are_refused():
    refused("`Control` has no 'tensions'; it has tension, length, .*base", Control, tensions=[1.0])
    refused("`tension` must be numbers; got 'much'", Control, tension="much")
    refused("`activation` must be numbers; got", Control, activation=[[1.0, "a"], [2.0]])


@pytest.mark.parametrize(
    ("control", "message"),
    [
        ({"tension": [1.0]}, "cannot be driven by `tension`; it has muscles: drive it by `activation`"),
        ({"length": [0.1]}, "cannot be driven by `length`; it has muscles"),
        ({"leg_force": np.zeros((2, 6))}, "cannot be driven by `leg_force`; it has no legs"),
        ({"activation": np.zeros(5)}, r"`activation` must have the shape \(2, 5\); got \(5,\)"),
        ({"activation": (np.zeros((2, 5)), np.zeros((3, 5)))}, "`activation` must be one array for each of 1 arms"),
        ({"activation": np.full((2, 5), np.nan)}, "`activation` must be finite numbers"),
        ({"torque": np.zeros((2, 2))}, r"`torque` must have the shape \(2, 3\); got \(2, 2\)"),
        ({"grip": np.ones(2)}, r"`grip` is for a system with `Suckers\(\)` among its surroundings; this one has none"),
        ({"take": np.ones(2)}, r"`take` is for a system with `Suckers\(\)` among its surroundings; this one has none"),
        ({"jet": 1.0}, r"`jet` is for a system with `Jet\(\)` among its surroundings; this one has none"),
        ({"load": np.zeros((1, 6))}, r"`load` must have the shape \(0, 6\); got \(1, 6\)"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_what_cannot_drive_a_muscular_arm_is_refused(muscles, control, message):
    refused(message, muscles.check, Control(**control))
    # By a step as well, also while it is traced.
    refused(
        message, jax.jit(step), muscles, muscles.rest(), Control(**control), DT
    ) if "finite" not in message else None


@pytest.mark.parametrize(
    ("control", "message"),
    [
        ({"tension": [-1.0, 2.0]}, "`tension` must not be negative, since a tendon cannot push; got -1 N"),
        ({"tension": [1.0, 2.0, 3.0]}, r"`tension` must have the shape \(2,\); got \(3,\)"),
        ({"length": [0.6, 0.6]}, "the tendons of finger are driven by their tension; got `length`"),
        ({"activation": [1.0]}, "finger cannot be driven by `activation`; it has no muscles"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_what_cannot_drive_tendons_is_refused(tendons, control, message):
    refused(message, tendons.check, Control(**control))


def test_tendons_driven_by_length_take_no_tension():
    system = System(build_robot(find_robot("finger"), drive="length"))
    refused("are driven by their length; got `tension`", system.check, Control(tension=[1.0, 1.0]))
    assert system.check(Control(length=[0.6, 0.6])).length is not None


def test_a_rod_without_tendons_is_not_driven_by_them():
    rod = System(build_robot(find_robot("rod")))
    refused("rod cannot be driven by `tension`; it has no tendons", rod.check, Control(tension=[1.0]))


def test_of_unequal_arms_the_one_with_another_shape_is_named():
    pair = System(unequal())
    bad = Control(activation=(np.zeros((2, 5)), np.zeros((2, 5))))
    refused(r"`activation` of arm 2 must have the shape \(3, 5\); got \(2, 5\)", pair.check, bad)


def test_what_is_no_control_is_refused(muscles):
    refused("a controller must give a `Control`; got 3", muscles.check, 3)
