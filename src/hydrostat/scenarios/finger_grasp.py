"""finger-grasp: the tendon closes the finger on a round object, which is pulled out, comes back and is grasped again.

In Dehghani's paper the contact point is prescribed, where the two arcs meet. Here the whole finger can touch, and the
places of contact follow from the motion.
"""

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np

from hydrostat import State, System
from hydrostat.control import ScheduledTension, SmoothSchedule
from hydrostat.errors import DivergedError, InputError
from hydrostat.results import (
    Trajectory,
    Variable,
    contact_fractions,
    obstacle_contact,
)
from hydrostat.robots import alterations, build_robot
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.finger_grasp_results import draw_grasp, grasp_metrics
from hydrostat.simulation import Simulation, compile_pieces, side_by_side
from hydrostat.surroundings import Capsule, ContactLaw, Obstacles

_ROW_SECONDS = 0.01
_SETTLE_SECONDS = 0.5  # after the second grasp
_OVERLAP = 1e-6  # m: less is a touch
_REFINEMENTS = 3  # how often the step is divided by four where the contact is too stiff for it
_DRAWN_RADIUS = 0.004  # m, at least, so that the finger can be seen in the replay
_HALF_WIDTH = 0.05  # m, of the object along its axis, assumed; it does not matter to a planar finger


def grasp(run: Run) -> Outcome:
    """Close, hold, pull the object out, grasp it again; measure where and how hard the finger touches."""
    set_ = run.settings
    if set_.nodes % set_.pieces:
        raise InputError(f"`nodes` must be a multiple of `pieces`, {set_.pieces}; got {set_.nodes}")
    system, controller, pull = _grasping(run)
    close, travel = set_.close_seconds, set_.pull_seconds
    seconds = set_.hold_until + 2.0 * (travel + close) + _SETTLE_SECONDS
    dt = 1e-3 * set_.dt_ms
    every = max(round(_ROW_SECONDS / dt), 1)
    simulation = Simulation(system, controller, dt, every=every)
    rows, rest = simulation.rows(seconds), system.rest()
    with run.compiling():
        _check_apart(system, set_)
        trial = compile_pieces(simulation, rest, rows)[:1]
        _ = trial.tip, trial.derived(obstacle_contact)

    shape, places = system.robot.one.stiffness.shape, contact_fractions(system.robot)
    variables = [
        Variable("strain", ("segment", "mode"), shape, "1/m", "curvature of each piece of the finger"),
        Variable("tip", ("axis",), (3,), "m", "tip in the world"),
        Variable("contact_force", ("node",), places.shape, "N", "on each node of the finger"),
        Variable("object_force", ("axis",), (3,), "N", "of the finger on the object"),
        Variable("object_shift", ("axis",), (3,), "m", "of the object from where it was"),
    ]
    attributes = {"scenario": "finger-grasp", "robot": run.robot.name}
    notes: list[str] = []

    def refined(time: float, step: float) -> None:
        notes.append(f"from {time:.3g} s on the step is {1e3 * step:.3g} ms: the contact is too stiff for a longer one")

    parts: list[Trajectory] = []
    with run.timed(), run.recorder(variables, rows + 1, attributes=attributes) as recorder:
        for part in _advanced(simulation, rest, rows, refined, set_.friction):
            touch = part.derived(obstacle_contact)
            forces = {"contact_force": touch.on_nodes, "object_force": touch.on_obstacles[:, 0]}
            recorder.append(part.time, strain=part.q, tip=part.tip, object_shift=touch.shift, **forces)
            parts.append(part)
            run.progress("grasping", (recorder.rows - 1) / rows)
    motion = Trajectory.joined(parts)
    touch = motion.derived(obstacle_contact)
    title = f"finger-grasp: {run.robot.name}"
    moments = (0.0, 0.5 * close, set_.hold_until, set_.hold_until + 0.5 * travel, motion.time[-1])
    return Outcome(
        grasp_metrics(motion.time, touch, places, set_.hold_until, pull),
        figure=lambda path: draw_grasp(path, motion, touch, places, moments, title),
        replay=lambda path: motion.replay(path, title, min_radius=_DRAWN_RADIUS),
        sim_seconds=seconds,
        dt=dt,
        steps=round(seconds / dt),
        notes=notes,
    )


def _advanced(simulation: Simulation, rest: State, rows: int, refined, friction: float) -> Iterator[Trajectory]:
    """The motion, piece after piece, in smaller steps where the contact is too stiff."""
    try:
        for (part,) in side_by_side([simulation], [rest], rows, _REFINEMENTS, refined):
            yield part
    except DivergedError as error:
        raise DivergedError(
            f"{error}; with `friction` = {friction:g} the finger may be jammed on the object: take less of it, less "
            "`contact_stiffness`, or a slower pull"
        ) from None


def _check_apart(system: System, set_: SimpleNamespace) -> None:
    """Refuse an object that overlaps the finger where it starts."""
    depth = float(Trajectory.of_states(system, system.rest()).derived(obstacle_contact).penetration[0])
    if depth > _OVERLAP:
        x, z = set_.object_position
        raise InputError(
            f"the object must not overlap the finger at the start; at `object_position` = [{x:g}, {z:g}] m with "
            f"`object_radius` = {set_.object_radius:g} m it does by {1e3 * depth:.3g} mm"
        )


def _grasping(run: Run) -> tuple[System, ScheduledTension, np.ndarray]:
    """The finger with the moving object, the schedule of the tendons, and the displacement of the pull [m]."""
    set_ = run.settings
    robot = build_robot(run.robot.cut(set_.pieces), skin_points=set_.nodes // set_.pieces)
    x, z = set_.object_position
    disc = Capsule(a=[x, -_HALF_WIDTH, z], b=[x, _HALF_WIDTH, z], radius=set_.object_radius)
    law = ContactLaw(
        stiffness=set_.contact_stiffness,
        damping=set_.contact_damping,
        friction=set_.friction,
        slip_speed=1e-3 * set_.slip_speed_mm_s,
    )
    angle = np.deg2rad(set_.pull_direction_deg)
    pull = set_.pull_distance * np.array([np.cos(angle), 0.0, np.sin(angle)])
    below, above = (np.array(alterations.tendons_at(run.robot, side)) for side in (0.0, 180.0))
    closed, opened = set_.tension_n * below, set_.lift_n * above
    # The object goes and comes back; the finger opens when it has gone, and closes when it is back.
    close, begin, travel = set_.close_seconds, set_.hold_until, set_.pull_seconds
    gone, back = begin + travel, begin + 2.0 * travel + close
    motion = SmoothSchedule([begin, gone + close], [travel] * 2, [pull, -pull])
    tension = SmoothSchedule([0.0, gone, back], [close] * 3, [closed, opened - closed, closed - opened])
    return System(robot, [Obstacles(law, [disc], motion)]), ScheduledTension(tension), pull
