"""The throw's parts: stages of a whip, and the flight that is foreseen."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.control.commands import Anatomy, Throw, Whip
from hydrostat.control.commands.throwing import Flight
from hydrostat.control.commands.whipping import BACK, STAGES
from hydrostat.errors import InputError
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.sensing import observe
from hydrostat.surroundings import Ball, Ground, Suckers, Water
from hydrostat.system import Control, System

ARM = build_robot(octopus_arm())
ANATOMY = Anatomy.of(ARM)


def test_a_whip_goes_from_stage_to_stage_without_a_break():
    times = np.arange(0.0, 1.0, 1e-3)
    course = np.stack([np.asarray(Whip(0.225).activation(time, ANATOMY)) for time in times[::10]])
    assert course.min() >= 0.0
    assert course.max() <= 1.0
    # No muscle changes faster than from one side's full activation to none in the quickest rise.
    assert np.abs(np.diff(course, axis=0)).max() <= 2.0 * 0.01 / min(stage.rise for stage in STAGES)


def test_a_whip_turns_aside_first_and_back_when_it_lifts():
    first, back = (
        np.asarray(Whip(0.9).activation(stage.begins + stage.rise, ANATOMY))[0] for stage in (STAGES[0], STAGES[2])
    )
    below, aside, above, away = range(4)
    assert first[aside] > first[away]
    assert back[away] > back[aside]
    assert back[above] > first[above]
    assert back[above] > back[below]


def test_a_whip_moves_its_part_of_the_arm_and_curls_beyond_what_it_holds():
    time = STAGES[0].rise
    short, long, farther = (np.asarray(Whip(held, share).activation(time, ANATOMY)) for held, share in
                            ((0.3, 0.25), (0.3, 0.4), (0.4, 0.25)))  # fmt: skip
    most = short.max(-1)
    assert most[:5].min() > 0.5
    assert most[5] < 1e-9
    assert long[:8].max(-1).min() > 0.5
    # The part that curls comes after the place that holds, and moves with it.
    curled, later = (np.flatnonzero(part[5:].max(-1) > 1e-9) + 5 for part in (short, farther))
    assert curled[0] >= 6
    np.testing.assert_array_equal(later, curled + 2)
    np.testing.assert_allclose(np.asarray(Whip(0.3, 0.25, 0.5).activation(time, ANATOMY)), 0.5 * short, atol=1e-12)


def test_a_whip_has_a_place_on_the_arm():
    with pytest.raises(InputError, match="held"):
        Whip(1.5)


@pytest.mark.parametrize("density", [1500.0, 2000.0])
def test_the_foreseen_range_is_that_of_a_flight_with_drag(density):
    ball = Ball.of_density(0.05, density)
    system = System(ARM, [Water(), ball])
    velocity = np.array([0.6, -0.7, 0.45])
    foreseen = float(Flight.of(ball, system).range(jnp.asarray(0.03), jnp.asarray(velocity)))
    # The same flight in small steps: weight less buoyancy, drag, and half of the displaced water carried along.
    moved = 0.05 + 0.5 * 1022.0 * float(ball.volume)
    weight, drag = (0.05 - 1022.0 * float(ball.volume)) * 9.81, 0.5 * 1022.0 * 0.47 * np.pi * float(ball.radius) ** 2
    place, dt = np.array([0.0, 0.0, 0.03]), 1e-4
    while place[2] > 0.0:
        force = -drag * np.linalg.norm(velocity) * velocity - [0.0, 0.0, weight]
        velocity = velocity + dt * force / moved
        place = place + dt * velocity
    # Drag across is that of the level speed alone, and drag against the rise is part of the weight.
    assert foreseen == pytest.approx(np.hypot(*place[:2]), rel=0.05)


@pytest.mark.parametrize("dt", [1.25e-3, 2.5e-3])
def test_a_whip_lets_go_when_the_foreseen_range_is_the_farthest(dt):
    ball = Ball.of_density(0.05, 2000.0)
    system = System(ARM, [Water(), Ground(-0.04), ball, Suckers()])
    controller = Throw((0.1, 0.35), whip=True).attach(system, dt)
    observation = observe(system, system.rest(), Control(), dt)
    # The load swings to and fro through its lowest place, where it is the fastest; its direction stays the same.
    rate, middle = 2.0 * np.pi / 0.2, BACK + 0.08
    direction, start = np.array([0.0, -0.8, 0.6]), np.asarray(observation.objects[0])
    call, memory = eqx.filter_jit(controller), controller.init(observation)
    for step in range(round((middle + 0.06) / dt)):
        along = 0.05 * np.sin(np.clip(rate * (step * dt - middle), -0.5 * np.pi, None))
        seen = observation._replace(objects=jnp.asarray(start + [0.0, 0.0, 0.03] + direction * along)[None])
        control, memory = call(jnp.asarray(step * dt), seen, memory)
        held = step * dt < float(memory.release)
        assert bool(jnp.any(control.take > 0.0)) == held
    # Higher is farther, so that the best moment is a little after the fastest.
    height = 0.03 + direction[2] * 0.05 * np.sin(rate * (np.arange(-100, 101) * 5e-4))
    pace = 0.05 * rate * np.cos(rate * (np.arange(-100, 101) * 5e-4))
    ranges = [float(controller.flight.range(h, jnp.asarray(direction * v))) for h, v in zip(height, pace, strict=True)]
    best = middle + 5e-4 * (int(np.argmax(ranges)) - 100)
    assert float(memory.release) == pytest.approx(best, abs=0.006)
    assert ranges[round((float(memory.release) - middle) / 5e-4) + 100] >= 0.97 * max(ranges)
