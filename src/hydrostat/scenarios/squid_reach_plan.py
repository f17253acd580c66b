"""The plan of squid-reach: the things around the squid, and for each limb its system, its controller and its start.

Tensions come from statics of the limbs as the controller knows them, which are not quite those that move, and from
measurements of motors, camera and force sensor.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.control import (
    Gaze,
    LimbPilot,
    Press,
    TendonServo,
    TipTask,
    make_course,
    make_gaze,
    plan_tension,
    rest_under,
)
from hydrostat.mechanics import kinematics
from hydrostat.robots import LimbedSpec, RobotSpec, limb_on_body, softer
from hydrostat.robots.specs import squid as squid_specs
from hydrostat.surroundings import Box, Capsule

LIMBS = ("grasper", "palpation", "camera", "light")
BAR = ((0.235, -0.005, -0.300), (0.235, 0.175, -0.300), 0.035)
"""The bar to grasp, across and below the limbs: its ends and its radius [m]. All places here are assumed."""
LOOKED_AT = (0.235, 0.085, -0.300)
"""The point of the bar that the camera points at [m]."""
PRESSES = 4.0
"""When the palpation arm, at its place, begins to elongate [s]."""
_OBSTACLES = (
    ((0.10, 0.00, -0.24), (0.10, 0.20, -0.24), 0.025),  # a bar between the body and the one to grasp
    ((0.46, 0.00, -0.47), (0.46, 0.20, -0.47), 0.025),  # a bar beyond it
    ((0.25, 0.19, -0.50), (0.25, 0.19, 0.00), 0.020),  # a post beside it
)
_SKIN_POINTS = 3  # of a piece, that can touch
_WALL_GAP = 0.006  # m, between the palpation arm's tip and the wall before it presses
_PALPATION = (0.56, -0.15, -0.10)  # m, where its tip is; how far out follows from the pretension
_OVER = (4.0, 2.0, 0.3, 0.3, 0.1, 0.1, 0.1, 0.1)  # N, of the grasper over the bar: four to each of its segments
_PRETENSION = 0.1  # N, that every tendon has, so that none is slack
_MOST = 20.0  # N
_STIFFNESS = 25.0  # N/m, of the motors
_BEND_DAMPING, _STRETCH_DAMPING = 15.0, 1.0  # N s/m, of the motors
_GAZE_RATE = 0.3  # 1/s
_PRESS_RATE = 5.0  # 1/s, how fast an error of the force would fade if the limb yielded nowhere else
_APPROACH_SPEED = 0.008  # m/s, at most, while the palpation arm elongates
_REACHED, _WRAPPED, _LOOKING = 3.0, 7.0, 9.5  # s, when the grasper is over the bar and round it, the camera observes


class Limb(NamedTuple):
    """One limb, ready to be simulated."""

    system: hs.System
    pilot: LimbPilot
    start: hs.State
    """At rest under the pretension."""


def plan(settings, interval: float) -> dict[str, Limb]:
    """All limbs in the sea, their controllers, and the states in which they rest at the start.

    **Arguments:** `interval`: from row to row of a trajectory [s].
    """
    squid = squid_specs.squid(tendons="segments")
    arms = {name: _cut(squid, name, settings.pieces) for name in LIMBS}
    gravity = squid_specs.limb_gravity()
    known = {name: limb_on_body(squid, arm, gravity) for name, arm in arms.items()}
    drawn_in = _drawn_in(known["palpation"], settings.pretension_n)
    wall = _wall(known["palpation"], drawn_in.q)
    # Camera and light look at the bar.
    guess, task = np.array([1.8, 0.6, 0.1, 0.1]), TipTask(look_at=LOOKED_AT)
    views = {name: plan_tension(known[name], task, guess, least=_PRETENSION) for name in ("camera", "light")}
    low = {name: np.full(len(robot.tendons.ends_at), _PRETENSION) for name, robot in known.items()}
    courses = _courses(settings, drawn_in.tension, {name: view.tension for name, view in views.items()}, low)
    law = hs.ContactLaw(settings.contact_stiffness, damping=1.0, friction=settings.friction, slip_speed=2e-4)
    bars = [Capsule(a=a, b=b, radius=radius) for a, b, radius in (BAR, *_OBSTACLES)]
    sea = (hs.Water(squid_specs.WATER, added_mass=1.0), hs.Obstacles(law, [*bars, wall]))
    times = interval * jnp.arange(round(settings.seconds / interval) + 1.0)
    aims = jnp.broadcast_to(jnp.array(LOOKED_AT), (len(times), 3))
    limbs = {}
    for name in LIMBS:
        # The limb that moves is softer or stiffer than the one that the controller knows.
        real = softer(arms[name], settings.softer_percent)
        system = hs.System(limb_on_body(squid, real, skin_points=_SKIN_POINTS), sea)
        motor = (jnp.asarray(x) for x in (_STIFFNESS, _BEND_DAMPING, _STRETCH_DAMPING, _MOST))
        servo = TendonServo(known[name], make_course(known[name], courses[name]), *motor)
        gaze = Gaze(known[name], jnp.zeros((len(low[name]), 2)), jnp.asarray(_GAZE_RATE))
        if name in views:
            view = views[name]
            gaze = make_gaze(known[name], view.q, view.sensitivity, LOOKED_AT, _STIFFNESS, _GAZE_RATE)
        # Four tendons that are let out by a length push by four springs of the motors' stiffness.
        rate = jnp.asarray(_PRESS_RATE / (4.0 * _STIFFNESS) if name == "palpation" else 0.0)
        force = jnp.asarray(settings.press_n)
        press = Press(system.robot.arm, wall, law, force, rate, _APPROACH_SPEED, PRESSES)
        pilot = LimbPilot(servo, gaze, _LOOKING, times, aims, press)
        start = system.rest(rest_under(limb_on_body(squid, real, gravity), low[name]).q)
        limbs[name] = Limb(system, pilot, start)
    return limbs


def _cut(squid: LimbedSpec, name: str, pieces: int) -> RobotSpec:
    """A limb in pieces; limbs of one segment are cut twice as often."""
    limb = squid.limb(name).arm
    return limb.cut(2 * pieces // len(limb.segments))


def _drawn_in(palpation: hs.Robot, pretension: float):
    """The plan of the palpation arm, drawn in with its tip level: let go, it goes straight out."""
    ahead = TipTask(place=_PALPATION, look_at=(1e3, *_PALPATION[1:]), place_counts=np.array([0.0, 1.0, 1.0]))
    first = np.array([0.3, 0.3, 3.0, 3.0, 0.3, 0.3, 0.3, 0.3])
    return plan_tension(palpation, ahead, first, least=pretension)


def _wall(palpation: hs.Robot, q: np.ndarray) -> Box:
    """The wall before the tip of the palpation arm."""
    tip = kinematics.tip_pose(palpation.arm, jnp.asarray(q)).position
    face = float(tip[0]) + float(palpation.arm.section.radius_tip[-1]) + _WALL_GAP
    return Box(pose=hs.SE3(jnp.eye(3), jnp.array([face + 0.02, -0.17, -0.10])), half_sizes=[0.02, 0.12, 0.15])


def _courses(settings, drawn_in: np.ndarray, views: dict[str, np.ndarray], low: dict) -> dict[str, list]:
    """The tensions of each limb at times, from the pretension on."""
    over, last = np.array(_OVER), settings.seconds
    around = over + np.eye(8)[4] * (settings.grip_n - over[4])
    stages = {
        "grasper": [(_REACHED, over), (_WRAPPED, around), (last, around)],
        "palpation": [(_REACHED, drawn_in), (_WRAPPED, drawn_in), (last, drawn_in)],
    }
    for name, tension in views.items():
        stages[name] = [(_WRAPPED - 0.5, low[name]), (_LOOKING, tension), (last, tension)]
    return {name: [(0.0, low[name]), *stages[name]] for name in LIMBS}
