"""Prey of octopus-forage, and a rock in its way: where they lie, and how far the octopus keeps from the rock."""

from dataclasses import replace

import numpy as np

from hydrostat import Ball, ContactLaw, Trajectory
from hydrostat.scenarios.base import Run

SHELL = ContactLaw(stiffness=200.0, damping=5.0, friction=0.5, slip_speed=0.01, onset=3e-4)
"""Contact law of the prey and of the rock, against arms, body and the ground; all numbers are assumed."""
_BEHIND, _ASIDE = (0.15, 0.3), np.deg2rad(20.0)
"""How far behind a rock prey is drawn, from its surface [m], and how far aside."""


def prey_at(settings, place, share: float) -> Ball:
    """The prey at a place on the ground, x and y [m].

    **Arguments:** `share`: where its mass is between the least and the largest one, from 0 to 1.
    """
    grams = settings.prey_g
    if settings.prey_to_g:
        grams *= (settings.prey_to_g / settings.prey_g) ** share
    ball = Ball.of_density(1e-3 * grams, settings.prey_density, law=SHELL, squeezed=True)
    if settings.prey_flees_mm_s:
        ball = replace(ball, flees=1e-3 * settings.prey_flees_mm_s)
    return replace(ball, position=np.array([*place, float(ball.radius)]))


def gap_to_rock(hunt: Trajectory, rock) -> float | None:
    """The least gap between the body's skin and the rock [m]."""
    body = hunt.system.robot.body
    if rock is None or body is None:
        return None
    away = np.linalg.norm(np.asarray(hunt.body) - np.array([*rock[:2], 0.0]), axis=1)
    return float(away.min()) - rock[2] - float(body.radius)


def placements(run: Run, rock) -> np.ndarray:
    """Where prey lies on the ground (count, 2) [m]: anywhere around, between two distances; where there is a rock,
    between 0.15 and 0.3 m behind it, up to 20 degrees aside."""
    rng = np.random.default_rng([run.seed, 2])
    if rock is not None:
        count, away, azimuth = run.settings.placements, np.hypot(*rock[:2]) + rock[2], np.arctan2(rock[1], rock[0])
        away, azimuth = away + rng.uniform(*_BEHIND, count), azimuth + rng.uniform(-_ASIDE, _ASIDE, count)
        return np.stack([away * np.cos(azimuth), away * np.sin(azimuth)], -1)
    near, far = sorted(run.settings.distance_m)
    drawn = [(rng.uniform(near, far), rng.uniform(0.0, 2.0 * np.pi)) for _ in range(run.settings.placements)]
    return np.array([[away * np.cos(azimuth), away * np.sin(azimuth)] for away, azimuth in drawn])
