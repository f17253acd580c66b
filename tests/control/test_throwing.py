"""The throw's parts: stages of a whip, and the flight that is foreseen."""

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.control.commands import Anatomy, Whip
from hydrostat.control.commands.throwing import Flight
from hydrostat.control.commands.whipping import STAGES
from hydrostat.errors import InputError
from hydrostat.robots.build import build_robot
from hydrostat.robots.specs.octopus_arm import octopus_arm
from hydrostat.surroundings import Ball, Water
from hydrostat.system import System

ARM = build_robot(octopus_arm())
ANATOMY = Anatomy.of(ARM)


def test_a_whip_goes_from_stage_to_stage_without_a_break():
    times = np.arange(0.0, 1.0, 1e-3)
    course = np.stack([np.asarray(Whip(0.225).activation(time, ANATOMY)) for time in times[::10]])
    assert course.min() >= 0.0
    assert course.max() <= 1.0
    # No muscle changes faster than from one side's full activation to none within 0.04 s.
    assert np.abs(np.diff(course, axis=0)).max() <= 2.0 * 0.01 / 0.04


def test_a_whip_turns_aside_first_and_back_when_it_lifts():
    first, second = (np.asarray(Whip(0.9).activation(stage.begins + 0.15, ANATOMY))[0] for stage in STAGES[:2])
    below, aside, above, away = range(4)
    assert first[aside] > first[away]
    assert second[away] > second[aside]
    assert second[above] > first[above]
    assert second[above] > second[below]


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
