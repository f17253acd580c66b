"""finger-hand: fingers pinch a free ball on a support, which is then withdrawn: the ball is held, slips, or drops."""

import numpy as np

from hydrostat import System
from hydrostat.control import ScheduledTension, SmoothSchedule
from hydrostat.errors import InputError
from hydrostat.results import Trajectory, Variable, ball_contact
from hydrostat.robots import alterations, hand
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.finger_hand_results import draw_hand, hand_metrics
from hydrostat.simulation import Simulation, compile_pieces, side_by_side
from hydrostat.surroundings import Ball, ContactLaw, Ground

_ROW_SECONDS = 0.01
_REFINEMENTS = 3  # how often the step is divided by four where the contact is too stiff for it
_GRAVITY = 9.81  # m/s^2
_DRAWN_RADIUS = 0.002  # m, at least, so that fingers can be seen in the replay


def hold(run: Run) -> Outcome:
    """Close on the ball, withdraw its support, and measure whether it is held."""
    set_ = run.settings
    if set_.nodes % set_.pieces:
        raise InputError(f"`nodes` must be a multiple of `pieces`, {set_.pieces}; got {set_.nodes}")
    length = 2.0 * set_.arc_length
    if not 0.0 < set_.grip_height < length:
        raise InputError(
            f"`grip_height` must be within the fingers, above 0 and below {length:g} m; got {set_.grip_height:g}"
        )
    if set_.support_until < set_.close_seconds:
        raise InputError(
            f"`support_until` must not be before the fingers have closed at {set_.close_seconds:g} s; "
            f"got {set_.support_until:g}"
        )
    # When the support goes, the ground is where a ball that drops ends.
    supported, withdrawn = _system(run, 0.0), _system(run, set_.drop)
    below = np.array(alterations.tendons_at(run.robot, 0.0))
    schedule = SmoothSchedule([0.0], [set_.close_seconds], [set_.tension_n * below])
    controller, every = ScheduledTension(schedule, set_.fingers), run.steps_per_row(_ROW_SECONDS)
    phases = [Simulation(system, controller, run.dt, every=every) for system in (supported, withdrawn)]
    rows = [phase.rows(seconds) for phase, seconds in zip(phases, (set_.support_until, set_.hold_seconds), strict=True)]
    with run.compiling():
        for phase, count in zip(phases, rows, strict=True):
            trial = compile_pieces(phase, supported.rest(), count)[:1]
            _ = trial.tip, trial.objects, trial.derived(ball_contact)
    notes: list[str] = []

    def refined(time: float, step: float) -> None:
        notes.append(f"from {time:.3g} s on the step is {1e3 * step:.3g} ms: the contact is too stiff for a longer one")

    nodes = (2 * set_.fingers * set_.nodes,)
    variables = [
        Variable("strain", ("finger", "segment", "mode"), supported.rest().q.shape, "1/m", "curvature of each piece"),
        Variable("tip", ("finger", "axis"), (set_.fingers, 3), "m", "tips in the world"),
        Variable("ball", ("axis",), (3,), "m", "centre of the ball in the world"),
        Variable("pressure", ("node",), nodes, "N", "of each node on the ball, finger after finger"),
    ]
    parts: list[Trajectory] = []
    state = supported.rest()
    attributes = {"scenario": "finger-hand", "robot": run.robot.name}
    with run.timed(), run.recorder(variables, sum(rows) + 1, attributes=attributes) as recorder:
        for phase, count in zip(phases, rows, strict=True):
            for (found,) in side_by_side([phase], [state], count, _REFINEMENTS, refined):
                # The first row of the second phase is the last row of the first.
                part = found if not parts or found.time[0] > parts[-1].time[-1] else found[1:]
                columns = {"tip": part.tip, "ball": part.objects[:, 0], "pressure": part.derived(ball_contact).pressure}
                recorder.append(part.time, strain=part.q, **columns)
                parts.append(part)
                run.progress("holding", recorder.rows / (sum(rows) + 1))
            state = parts[-1].final
    motion, touch = _joined(withdrawn, parts), _joined(withdrawn, parts).derived(ball_contact)
    metrics = hand_metrics(run, motion, touch, rows[0])
    title = f"finger-hand: {set_.fingers} fingers and a ball of {set_.mass_g:g} g, friction {set_.friction:g}"
    return Outcome(
        metrics,
        figure=lambda path: draw_hand(path, motion, touch, rows[0], set_, title),
        replay=lambda path: motion.replay(path, title, min_radius=_DRAWN_RADIUS),
        sim_seconds=float(motion.time[-1]),
        dt=run.dt,
        steps=sum(rows) * every,
        notes=notes,
    )


def _system(run: Run, lower: float) -> System:
    """The hand with the ball and the ground, some metres lower than where the ball starts."""
    set_ = run.settings
    spec = alterations.with_size(run.robot, set_.arc_length, 1e-3 * set_.rod_radius_mm).cut(set_.pieces)
    radius = 1e-3 * set_.ball_radius_mm
    gap = radius + 1e-3 * (set_.rod_radius_mm + set_.clearance_mm)
    robot = hand(spec, set_.fingers, gap, skin_points=set_.nodes // set_.pieces)
    law = ContactLaw(
        stiffness=set_.contact_stiffness,
        damping=set_.contact_damping,
        friction=set_.friction,
        slip_speed=1e-3 * set_.slip_speed_mm_s,
    )
    ball = Ball(radius, 1e-3 * set_.mass_g, (0.0, 0.0, -set_.grip_height), law=law)
    # Deep enough in the support to rest there from the start on.
    sunk = 1e-3 * set_.mass_g * _GRAVITY / set_.contact_stiffness + 0.5 * float(law.onset)
    return System(robot, [ball, Ground(height=sunk - set_.grip_height - radius - lower, law=law, soft=False)])


def _joined(system: System, parts: list[Trajectory]) -> Trajectory:
    """All rows, with the ground as it is at the end."""
    whole = Trajectory.joined(parts)
    return Trajectory(system, whole.state, whole.control, whole.memory, whole.converged, whole.iterations)
