"""Set-up that arm-fetch and arm-throw share: the octopus arm with a load, and what became of both."""

from collections.abc import Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.control.commands import Anatomy
from hydrostat.errors import InputError
from hydrostat.results import BALANCE, Digest, rows
from hydrostat.robots import build_robot
from hydrostat.scenarios.arm import arm_system, muscle_gains
from hydrostat.scenarios.arm_load_figures import draw_load
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.surroundings import rest_depth

FLESH = hs.ContactLaw(stiffness=100.0, damping=5.0, friction=0.5, slip_speed=0.01, onset=1e-3)
"""Soft; all assumed. A sphere of 5 mm and 10 kPa has some 50 N/m. More damping would outweigh the arm."""
_APART = 5  # places along an arm of 20 segments that its parts must be apart to touch
GATHERED = {**BALANCE, "tip": rows.tip_pose, "objects": rows.objects, "taken": rows.taken}
"""Row functions of an arm that holds a load."""


@dataclass(frozen=True)
class Loaded:
    """An arm and the load that it holds."""

    system: hs.System
    ball: hs.Ball | None
    segment: int
    """Segment that holds the load, counted from 1."""

    @property
    def count(self) -> int:
        """The number of segments."""
        return self.system.robot.arm.count

    @property
    def mouth(self) -> np.ndarray:
        """Where the base of the arm is [m]."""
        return np.asarray(self.system.robot.arm.T_world_base.position)


_PLACES = ((0.4, 0.9), np.deg2rad(75.0))  # distances of drawn places in arm lengths, and most azimuth
_CLEARANCE = 0.06  # of the arm, between its skin at rest and loads at drawn places


def drawn_places(run: Run) -> np.ndarray:
    """Places of the load on the ground before the arm (count, 3) [m], evenly over the area of a ring's sector."""
    arm = build_robot(run.robot).arm
    rng, count = np.random.default_rng([run.seed, 3]), run.settings.places
    near, far = (share * float(arm.length) for share in _PLACES[0])
    distance = np.sqrt(rng.uniform(near**2, far**2, count))
    azimuth = rng.uniform(-_PLACES[1], _PLACES[1], count)
    size = float(_load(run.settings, (0.0, 0.0, 0.0)).radius)
    below = float(arm.section.radius_base[0]) + _CLEARANCE * float(arm.length) + size
    ahead = np.asarray(arm.T_world_base.rotation)[:, 2] * [1.0, 1.0, 0.0]
    turn = np.arctan2(ahead[1], ahead[0]) + azimuth
    away = np.stack([distance * np.cos(turn), distance * np.sin(turn), np.full(count, -below)], -1)
    return np.asarray(arm.T_world_base.position) + away


def _load(settings, position) -> hs.Ball:
    """The load of the settings, at a position."""
    return hs.Ball.of_density(1e-3 * settings.load_g, settings.load_density, position, law=FLESH)


def load_arm(run: Run, place: float, ground: bool, start=None, gains=None) -> Loaded:
    """The arm of a run with its load beneath a place along it, or where the settings have it.

    **Arguments:** `start`: where the load is instead, its centre [m]; `gains`: of the muscles, drawn when not given.
    """
    settings, robot = run.settings, build_robot(run.robot)
    arm, segment = robot.arm, max(1, round(place * robot.arm.count))
    if settings.load_at and len(settings.load_at) != 3:
        raise InputError(f"`load_at` must be x, y, z of the load's centre; got {len(settings.load_at)} numbers")
    ball = _load(settings, (0.0, 0.0, 0.0)) if settings.load_g else None
    size = 0.0 if ball is None else float(ball.radius)
    along = float(np.asarray(arm.segments.length)[:segment].sum())
    below = arm.T_world_base.apply(jnp.array([0.0, 0.0, along])) - np.array(
        [0.0, 0.0, size + float(arm.section.radius_tip[segment - 1])]
    )
    start = np.array(settings.load_at or below) if start is None else start
    parts: list = []
    if settings.self_contact:
        parts.append(hs.ArmContact(FLESH, apart=max(2, round(_APART * arm.count / 20))))
    if ground:
        parts.append(hs.Ground(float(start[2]) - size, FLESH, soft=False))
    if ball is not None:
        depth, touched = rest_depth(arm, start, size)
        if depth > 1e-3:
            into = f"it reaches {1e3 * depth:.1f} mm into segment {touched}"
            raise InputError(f"the load must start outside the arm; {into}")
        ball = _load(settings, start)
        parts += [ball, hs.Suckers()] if settings.suckers else [ball]
    current = getattr(settings, "current_m_s", (0.0, 0.0, 0.0))
    gains = muscle_gains(run, Anatomy.of(robot)) if gains is None else gains
    return Loaded(arm_system(run, parts, current=current, gains=gains), ball, segment)


def load_outcome(
    run: Run,
    loaded: Loaded,
    motion: Digest,
    metrics: dict,
    title: str,
    course: tuple,
    places=(),
    fetched=(),
    moments: Sequence[float] = (),
    count: int = 1,
) -> Outcome:
    """The outcome of a motion with its figure and replay.

    **Arguments:** `course`: title, values and unit of the curves over time; `places`, `fetched`: where the load was in
    each of several motions (count, 3) [m], of which this is the first, and whether each was fetched; `moments`: times
    of numbered pictures of the arm, in order [s]; `count`: of several motions without places.
    """
    count = max(count, len(places))
    return Outcome(
        metrics,
        figure=lambda path: draw_load(path, loaded, motion, title, course, places, fetched, moments),
        replay=lambda path: motion.shown.replay(path, title),
        sim_seconds=count * float(motion.time[-1]),
        dt=run.dt,
        steps=count * (len(motion.time) - 1),
    )
