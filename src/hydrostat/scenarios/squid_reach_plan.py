"""The plan of squid-reach: for each limb the tensions that its part of the scene takes, and its controller.

Tensions come from statics of the limbs as the controller knows them, which are not quite those that move, and from
where things are; corrections from measurements of motors, camera and force sensor.
"""

from dataclasses import replace
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.control import (
    Gaze,
    LimbPilot,
    LimbPilots,
    Press,
    TendonPlan,
    TendonServo,
    TipTask,
    WrapPlan,
    make_course,
    make_gaze,
    plan_tension,
    plan_wrap,
    rest_under,
)
from hydrostat.robots import LimbedSpec, build_robot, limb_on_body, softer
from hydrostat.robots.specs import squid as squid_specs
from hydrostat.scenarios.squid_reach_scene import ReachScene

LIMBS = ("grasper", "palpation", "camera", "light")
PRESSES = 4.0
"""When the palpation arm, at its place, begins to elongate [s]."""
LOOKING = 9.5
"""When camera and light arm are where they look from, and begin to correct it [s]."""
_REACHED, _WRAPPED = 3.0, 7.0  # s, when the grasper is beside the bar and round it
_SKIN_POINTS = 3  # of a piece, that can touch
_PRETENSION, MOST_TENSION = 0.1, 20.0  # N, that every tendon has, so that none is slack, and at most
_STIFFNESS = 25.0  # N/m, of the motors
_BEND_DAMPING, _STRETCH_DAMPING = 15.0, 1.0  # N s/m, of the motors
_GAZE_RATE = 0.3  # 1/s
_PRESS_RATE = 5.0  # 1/s, how fast an error of the force would fade if the limb yielded nowhere else
_APPROACH_SPEED = 0.008  # m/s, at most, while the palpation arm elongates
_SKIN = hs.ContactLaw(2e3, damping=5.0, friction=0.3, slip_speed=5e-3)  # of limbs on limbs, all assumed


class ReachPlan(NamedTuple):
    """The squid in one scene, ready to be simulated."""

    system: hs.System
    pilots: LimbPilots
    start: hs.State
    wrap: WrapPlan
    drawn_in: TendonPlan
    """The palpation arm before it presses."""
    views: dict[str, TendonPlan]
    """Camera and light arm where they look from."""


def cut_squid(settings) -> LimbedSpec:
    """The squid with four tendons at every segment, all its limbs in as many pieces."""
    squid = squid_specs.squid(tendons="segments")
    cuts = [limb.arm.cut(2 * settings.pieces // len(limb.arm.segments)) for limb in squid.limbs]
    limbs = (replace(limb, arm=arm) for limb, arm in zip(squid.limbs, cuts, strict=True))
    return replace(squid, limbs=tuple(limbs))


def plan(settings, scene: ReachScene) -> ReachPlan:
    """What every limb does in a scene, as its statics have it, and the squid at rest before it begins."""
    squid, gravity = cut_squid(settings), squid_specs.limb_gravity()
    known = {limb.name: limb_on_body(squid, limb.arm, gravity) for limb in squid.limbs}
    wrap = plan_wrap(known["grasper"], scene.bar, np.deg2rad(settings.wrap_deg), least=_PRETENSION)
    drawn_in = _drawn_in(known["palpation"], scene, settings.pretension_n)
    views, ready = {}, {}
    for name in ("camera", "light"):
        start = np.array([1.8, 0.6, 0.1, 0.1])
        views[name] = plan_tension(known[name], TipTask(look_at=scene.look_at), start, least=_PRETENSION)
    for name, robot in known.items():
        ready[name] = rest_under(robot, np.full(len(robot.tendons.ends_at), _PRETENSION))
    law = hs.ContactLaw(settings.contact_stiffness, damping=1.0, friction=settings.friction, slip_speed=2e-4)
    sea = (hs.Water(squid_specs.WATER, added_mass=1.0), hs.Obstacles(law, scene.shapes), hs.ArmContact(_SKIN))
    # The limbs that move are softer or stiffer than those that the controller knows.
    real = softer(squid, settings.softer_percent)
    system = hs.System(build_robot(real, free=False, skin_points=_SKIN_POINTS), sea)
    courses = _courses(settings.seconds, {name: one.tension for name, one in ready.items()}, wrap, drawn_in, views)
    pilots = []
    for name, arm in zip(LIMBS, system.robot.each, strict=True):
        motor = (jnp.asarray(x) for x in (_STIFFNESS, _BEND_DAMPING, _STRETCH_DAMPING, MOST_TENSION))
        servo = TendonServo(known[name], make_course(known[name], courses[name]), *motor)
        gaze = Gaze(known[name], jnp.zeros((len(ready[name].tension), 2)), jnp.asarray(_GAZE_RATE))
        if name in views:
            view = views[name]
            gaze = make_gaze(known[name], view.q, view.sensitivity, scene.look_at, _STIFFNESS, _GAZE_RATE)
        # Four tendons that are let out by a length push by four springs of the motors' stiffness.
        rate = jnp.asarray(_PRESS_RATE / (4.0 * _STIFFNESS) if name == "palpation" else 0.0)
        press = Press(arm.arm, scene.wall, law, jnp.asarray(settings.press_n), rate, _APPROACH_SPEED, PRESSES)
        pilots.append(LimbPilot(servo, gaze, LOOKING, press))
    # The light arm points at what the camera arm points at.
    targets = jnp.broadcast_to(jnp.asarray(scene.look_at), (len(LIMBS), 3))
    follows = tuple(LIMBS.index("camera") if name == "light" else None for name in LIMBS)
    rests = [rest_under(limb_on_body(squid, limb.arm, gravity), ready[limb.name].tension) for limb in real.limbs]
    start = system.rest(tuple(jnp.asarray(one.q) for one in rests))
    return ReachPlan(system, LimbPilots(tuple(pilots), targets, follows), start, wrap, drawn_in, views)


def _drawn_in(palpation: hs.Robot, scene: ReachScene, pretension: float) -> TendonPlan:
    """The plan of the palpation arm before the wall, drawn in with its tip level: let go, it goes straight out."""
    task = TipTask(place=scene.touch, look_at=scene.touch + np.array([1e3, 0.0, 0.0]))
    first = np.array([0.5, 0.5, 3.0, 3.0, 0.5, 0.5, 0.5, 0.5])
    return plan_tension(palpation, task, first, least=pretension)


def _courses(last: float, ready: dict, wrap: WrapPlan, drawn_in: TendonPlan, views: dict) -> dict[str, list]:
    """The tensions of each limb at times, from how it waits on."""
    beside, around = wrap.beside.tension, wrap.around.tension
    stages = {
        "grasper": [(_REACHED, beside), (_WRAPPED, around), (last, around)],
        "palpation": [(_REACHED, drawn_in.tension), (_WRAPPED, drawn_in.tension), (last, drawn_in.tension)],
    }
    for name, view in views.items():
        stages[name] = [(_WRAPPED - 0.5, ready[name]), (LOOKING, view.tension), (last, view.tension)]
    return {name: [(0.0, ready[name]), *stages[name]] for name in LIMBS}
