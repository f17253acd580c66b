"""squid-reach: all four limbs at work in the sea, by their tendons alone.

The grasper reaches over a bar among obstacles and wraps it; the palpation arm, drawn in by all its tendons, lets go
until its tip feels the set force of a wall; the camera arm looks at the bar, and the light arm at what the camera arm
looks at. Tensions come from statics of the limbs as the controller knows them, which are not quite those that move, and
from what motors, camera and force sensor measure.
"""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.bodies import Arm
from hydrostat.control.base import Controller
from hydrostat.control.tendon_plans import TipTask, plan_tension, rest_under
from hydrostat.control.tendon_servo import Gaze, TendonServo, make_course, make_gaze
from hydrostat.errors import InputError
from hydrostat.lie import SE3, small
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import Robot, single_arm
from hydrostat.results import Variable
from hydrostat.results.trajectory import Trajectory
from hydrostat.robots.build import base_pose, build_arm
from hydrostat.robots.spec import RobotSpec
from hydrostat.robots.specs.squid import WATER, limb_gravity, squid
from hydrostat.scenarios import squid_reach_figures as drawing
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.squid_reach_watched import Watched, camera_aims, look, metrics_of
from hydrostat.sensing import Observation
from hydrostat.simulation.simulate import Run as Simulation
from hydrostat.stepping import LinearImplicitEuler
from hydrostat.surroundings import Box, Capsule, ContactLaw, Obstacles, Water
from hydrostat.system import Control, State, System

_ROW_SECONDS = 0.02
_LIMBS = ("grasper", "palpation", "camera", "light")
_SKIN_POINTS = 3  # of a piece, that can touch

# Where things are, in the world [m]; all assumed. The bar runs across, below the limbs.
_BAR = ((0.235, -0.005, -0.300), (0.235, 0.175, -0.300), 0.035)
_LOOKED_AT = (0.235, 0.085, -0.300)
_OBSTACLES = (
    ((0.10, 0.00, -0.24), (0.10, 0.20, -0.24), 0.025),  # a bar between the body and the one to grasp
    ((0.46, 0.00, -0.47), (0.46, 0.20, -0.47), 0.025),  # a bar beyond it
    ((0.25, 0.19, -0.50), (0.25, 0.19, 0.00), 0.020),  # a post beside it
)
_WALL_GAP = 0.006  # m, between the palpation arm's tip and the wall before it presses
_PALPATION = (0.56, -0.15, -0.10)  # where its tip is; how far out follows from the pretension
# Tensions of the grasper over it, and round it: four tendons that end at the first segment, four at the tip [N].
_OVER = (4.0, 2.0, 0.3, 0.3, 0.1, 0.1, 0.1, 0.1)
_PRETENSION = 0.1  # N, that every tendon has, so that none is slack
_MOST = 20.0  # N
_STIFFNESS = 25.0  # N/m, of the motors
_BEND_DAMPING, _STRETCH_DAMPING = 15.0, 1.0  # N s/m, of the motors
_GAZE_RATE = 0.3  # 1/s
_PRESS_RATE = 5.0  # 1/s, how fast an error of the force would fade if the limb yielded nowhere else
_APPROACH_SPEED = 0.008  # m/s, at most, while the palpation arm elongates
_REACHED, _WRAPPED, _LOOKING = 3.0, 7.0, 9.5  # s, when the grasper is over the bar and round it, the camera looks
_PRESSES = 4.0  # s, when the palpation arm, at its place, begins to elongate


class Memory(NamedTuple):
    """What a limb's controller remembers, and what it did last."""

    asked: Float[Array, " w"]
    """Tensions that the tip's view has asked for [N]."""
    longer: Float[Array, ""]
    """By how much the tendons have been let out [m]."""
    force: Float[Array, ""]
    """What the tip feels of the wall [N]."""
    tension: Float[Array, " w"]
    """[N]"""


class Pilot(Controller):
    """The controller of one limb: its tendons' motors, and what its tip sees and feels.

    On a body that is held, limbs that do not touch each other move each for itself.
    """

    arm: Arm
    """Whose tip feels the wall."""
    servo: TendonServo
    gaze: Gaze
    """Of no effect for a limb that does not look."""
    aim_times: Float[Array, " m"]
    aims: Float[Array, "m 3"]
    """The point to look at, over time [m]."""
    wall: Box
    law: ContactLaw
    press: Float[Array, ""]
    """Force to press with [N]."""
    release: Float[Array, ""]
    """Rate of the tendons' length per error of the force [m/(N s)]; 0 for a limb that does not press."""

    def init(self, observation: Observation) -> Memory:
        """Nothing asked for yet."""
        zero = jnp.zeros(())
        tension = self.servo.tensions(zero, observation.q, observation.v)
        return Memory(jnp.zeros_like(tension), zero, zero, tension)

    def __call__(self, time, observation: Observation, memory: Memory) -> tuple[Control, Memory]:
        """The tensions of all tendons for the step that begins now."""
        dt, q, v = observation.period, observation.q, observation.v
        felt = tip_force(self.arm, self.law, self.wall, q, v)
        pace = jnp.clip(self.release * (self.press - felt), -_APPROACH_SPEED, _APPROACH_SPEED)
        longer = memory.longer + dt * jnp.where(time > _PRESSES, pace, 0.0)
        change = self.gaze.change(q, self.aim(time))
        asked = memory.asked + dt * jnp.where(time > _LOOKING, change, 0.0)
        tension = self.servo.tensions(time, q, v, asked, longer)
        return Control(tension=tension), Memory(asked, longer, felt, tension)

    def aim(self, time) -> Float[Array, " 3"]:
        """The point to look at [m]."""
        return jax.vmap(lambda y: jnp.interp(time, self.aim_times, y), 1)(self.aims)


def tip_force(arm: Arm, law: ContactLaw, wall: Box, q, v) -> Float[Array, ""]:
    """What a force sensor at a limb's round tip feels of a wall [N]."""
    place, velocity = jax.jvp(lambda q: kinematics.tip_pose(arm, q).position, (q,), (v,))
    surface = wall.distance_and_normal(place)
    depth = arm.section.radius_tip[-1] - surface.distance
    return law.pressed(depth, small.dot(surface.normal, velocity))[0]


def reach(run: Run) -> Outcome:
    """Reach, wrap, press and look, and how well it went."""
    set_ = run.settings
    if not set_.pretension_n * 4.0 > set_.press_n:
        raise InputError(
            f"`press_n` must be less than {4.0 * set_.pretension_n:g} N, which four tendons of `pretension_n` can let "
            f"go of; got {set_.press_n:g}"
        )
    dt, seconds = 1e-3 * set_.dt_ms, set_.seconds
    every = _every(set_)
    with run.compiling("planning"):
        systems, pilots, starts = _plan(run)
    rows: dict[str, Trajectory] = {}
    for i, name in enumerate(_LIMBS):
        system, pilot, state = systems[name], pilots[name], starts[name]
        if name == "light":  # follows what the camera arm looks at
            times, aims = rows["camera"].time, camera_aims(pilots["camera"].arm, rows["camera"].state.q, _LOOKED_AT)
            pilot = eqx.tree_at(lambda p: (p.aim_times, p.aims), pilot, (jnp.asarray(times), jnp.asarray(aims)))
        simulation = Simulation(system, pilot, dt, stepper=LinearImplicitEuler(), every=every)
        with run.compiling(f"compiling the {name}'s motion"):
            simulation.compile(seconds, state)
        with run.timed():
            rows[name] = simulation(
                seconds,
                state=state,
                on_progress=lambda done, i=i, name=name: run.progress(name, (i + done) / len(_LIMBS)),
            )
    with run.compiling("looking back"):
        seen = look(systems, rows, _LOOKED_AT)
    with run.timed():
        _record(run, rows, seen)
    title = f"squid-reach: {run.limbed.name}"
    arms = {name: pilots[name].arm for name in _LIMBS}
    scene = drawing.Scene(arms, _BAR, _OBSTACLES, pilots["palpation"].wall)
    return Outcome(
        metrics_of(rows, seen, set_.press_n, _PRESSES),
        figure=lambda path: drawing.draw(path, rows, seen, scene, set_.press_n, title),
        replay=lambda path: drawing.replay(path, rows, scene, run.limbed.body, title),
        sim_seconds=seconds,
        dt=dt,
        steps=round(seconds / dt),
    )


def _plan(run: Run) -> tuple[dict[str, System], dict[str, Pilot], dict[str, State]]:
    """All limbs in the sea, their controllers, and the states in which they rest at the start."""
    set_ = run.settings
    specs = {name: _spec(name, set_.pieces) for name in _LIMBS}
    known = {name: _in_water(specs[name]) for name in _LIMBS}
    # The palpation arm keeps its tip level and drawn in; let go, it goes straight out.
    ahead = TipTask(place=_PALPATION, look_at=(1e3, *_PALPATION[1:]), place_counts=np.array([0.0, 1.0, 1.0]))
    first = np.array([0.3, 0.3, 3.0, 3.0, 0.3, 0.3, 0.3, 0.3])
    drawn_in = plan_tension(known["palpation"], ahead, first, least=set_.pretension_n)
    tip = kinematics.tip_pose(known["palpation"].arm, jnp.asarray(drawn_in.q)).position
    face = float(tip[0]) + float(known["palpation"].arm.section.radius_tip[-1]) + _WALL_GAP
    wall = Box(pose=SE3(jnp.eye(3), jnp.array([face + 0.02, -0.17, -0.10])), half_sizes=[0.02, 0.12, 0.15])
    # Camera and light look at the bar.
    guess, task = np.array([1.8, 0.6, 0.1, 0.1]), TipTask(look_at=_LOOKED_AT)
    views = {name: plan_tension(known[name], task, guess, least=_PRETENSION) for name in ("camera", "light")}
    over, last = np.array(_OVER), set_.seconds
    around = over + np.eye(8)[4] * (set_.grip_n - over[4])
    low = {name: np.full(len(robot.tendons.ends_at), _PRETENSION) for name, robot in known.items()}
    courses = {
        "grasper": [(_REACHED, over), (_WRAPPED, around), (last, around)],
        "palpation": [(_REACHED, drawn_in.tension), (_WRAPPED, drawn_in.tension), (last, drawn_in.tension)],
    }
    for name, view in views.items():
        courses[name] = [(_WRAPPED - 0.5, low[name]), (_LOOKING, view.tension), (last, view.tension)]
    # What moves is softer or stiffer than what the controller knows.
    law = ContactLaw(set_.contact_stiffness, damping=1.0, friction=set_.friction, slip_speed=2e-4)
    round_ones = [Capsule(a=a, b=b, radius=radius) for a, b, radius in (_BAR, *_OBSTACLES)]
    sea = (Water(WATER, added_mass=1.0), Obstacles(law, [*round_ones, wall]))
    # Four tendons that are let out by a length push by four springs k.
    release = _PRESS_RATE / (4.0 * _STIFFNESS)
    systems, pilots, starts = {}, {}, {}
    for name in _LIMBS:
        real = _softer(specs[name], set_.softer_percent)
        systems[name] = System(_on_body(real, skin_points=_SKIN_POINTS), sea)
        course = make_course(known[name], [(0.0, low[name]), *courses[name]])
        motor = (jnp.asarray(x) for x in (_STIFFNESS, _BEND_DAMPING, _STRETCH_DAMPING, _MOST))
        servo = TendonServo(known[name], course, *motor)
        gaze = Gaze(known[name], jnp.zeros((len(low[name]), 2)), jnp.asarray(_GAZE_RATE))
        if name in views:
            view = views[name]
            gaze = make_gaze(known[name], view.q, view.sensitivity, _LOOKED_AT, _STIFFNESS, _GAZE_RATE)
        times = jnp.arange(round(last / (1e-3 * set_.dt_ms)) // _every(set_) + 1.0)
        aims = jnp.broadcast_to(jnp.array(_LOOKED_AT), (len(times), 3))
        press = jnp.asarray(set_.press_n), jnp.asarray(release if name == "palpation" else 0.0)
        pilots[name] = Pilot(systems[name].robot.arm, servo, gaze, times, aims, wall, law, *press)
        starts[name] = systems[name].rest(rest_under(_in_water(real), low[name]).q)
    return systems, pilots, starts


def _every(set_) -> int:
    """Steps between two rows."""
    return max(round(_ROW_SECONDS / (1e-3 * set_.dt_ms)), 1)


def _spec(name: str, pieces: int) -> RobotSpec:
    """A limb with tendons that end at every segment; limbs of one segment are cut twice as often."""
    limb = squid(tendons="segments").limb(name).arm
    return limb.cut(2 * pieces // len(limb.segments))


def _on_body(spec: RobotSpec, **options) -> Robot:
    """A limb at its place on the squid's body, in the world."""
    limb = build_arm(spec, **options)
    place = base_pose(squid().base) @ limb.arm.T_world_base
    return single_arm(eqx.tree_at(lambda limb: limb.arm.T_world_base, limb, place), name=spec.name)


def _in_water(spec: RobotSpec) -> Robot:
    """A limb on the body with its weight less its buoyancy, for statics."""
    return eqx.tree_at(lambda robot: robot.gravity, _on_body(spec), jnp.asarray(limb_gravity()))


def _softer(spec: RobotSpec, percent: float) -> RobotSpec:
    """A limb of another Young's modulus."""
    modulus = spec.material.youngs_modulus * (1.0 - 0.01 * percent)
    return replace(spec, material=replace(spec.material, youngs_modulus=modulus))


def _record(run: Run, rows: dict[str, Trajectory], seen: Watched) -> None:
    """Record all limbs."""
    variables = [
        *(
            Variable(f"strain_{name}", (f"{name}_piece", "mode"), rows[name].state.q.shape[1:], "1/m", "coordinates")
            for name in _LIMBS
        ),
        *(
            Variable(f"tension_{name}", (f"{name}_tendon",), rows[name].memory.tension.shape[1:], "N", "of its tendons")
            for name in _LIMBS
        ),
        Variable("tip", ("limb", "axis"), (4, 3), "m", f"of {', '.join(_LIMBS)}, in the world"),
        Variable("press_force", (), (), "N", "that the palpation arm's tip feels"),
        Variable("longer", (), (), "m", "by which its tendons have been let out"),
        Variable("camera_error", (), (), "rad", "angle from where the camera arm looks to the bar"),
        Variable("light_error", (), (), "rad", "angle from where the light arm shines to where the camera looks"),
        Variable("bar_force", ("node",), seen.bar_force.shape[1:], "N", "of the bar on the grasper's nodes"),
    ]
    attributes = {"scenario": "squid-reach", "robot": run.limbed.name}
    times = rows["grasper"].time
    with run.recorder(variables, len(times), attributes=attributes) as recorder:
        recorder.append(
            times,
            **{f"strain_{name}": rows[name].state.q for name in _LIMBS},
            **{f"tension_{name}": rows[name].memory.tension for name in _LIMBS},
            tip=seen.tips,
            press_force=rows["palpation"].memory.force,
            longer=rows["palpation"].memory.longer,
            camera_error=seen.camera_error,
            light_error=seen.light_error,
            bar_force=seen.bar_force,
        )
