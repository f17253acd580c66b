"""finger-hand: fingers pinch a free ball on a support, which is then withdrawn: the ball is held, slips, or drops."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np

from hydrostat import System
from hydrostat.control import ScheduledTension, SmoothSchedule
from hydrostat.errors import InputError
from hydrostat.results import BallContact, Trajectory, Variable, ball_contact, drawing, figures, panels, planar_figures
from hydrostat.robots import alterations, hand
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.simulation import Simulation, compile_pieces, side_by_side
from hydrostat.surroundings import Ball, ContactLaw, Ground

_ROW_SECONDS = 0.01
_REFINEMENTS = 3  # how often the step is divided by four where the contact is too stiff for it
_GRAVITY = 9.81  # m/s^2
_TOUCH = 1e-3  # N: contact forces below this do not count
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
    metrics = _metrics(run, motion, touch, rows[0])
    title = f"finger-hand: {set_.fingers} fingers and a ball of {set_.mass_g:g} g, friction {set_.friction:g}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, motion, touch, rows[0], set_, title),
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


def _metrics(run: Run, motion: Trajectory, touch: BallContact, withdrawn: int) -> dict:
    """How hard the fingers press, the friction that holding takes, and how far the ball sinks once it is let go."""
    set_, weight = run.settings, 1e-3 * run.settings.mass_g * _GRAVITY
    ball, time = np.asarray(motion.objects)[:, 0], np.asarray(motion.time)
    pressure = np.asarray(touch.pressure)
    up = np.asarray(touch.normal)[..., 2]
    # Held where sum of p (n_z + mu sqrt(1 - n_z^2)) is the weight, with the fingers as they are when the support goes.
    by_normal = float(np.sum(pressure[withdrawn] * up[withdrawn]))
    by_friction = float(np.sum(pressure[withdrawn] * np.sqrt(np.maximum(1.0 - up[withdrawn] ** 2, 0.0))))
    sunk = ball[withdrawn, 2] - ball[withdrawn:, 2]
    gone = np.flatnonzero(sunk > 1e-3 * set_.ball_radius_mm)
    last = len(sunk) - 1 - (len(sunk) - 1) // 4
    return {
        "held": not len(gone),
        "pinch_force_n": [float(p.sum()) for p in np.split(pressure[withdrawn], set_.fingers)],
        "friction_needed": max(0.0, (weight - by_normal) / by_friction) if by_friction > 0.0 else None,
        "sinks_mm": float(1e3 * sunk[-1]),
        "creep_mm_s": float(1e3 * (sunk[-1] - sunk[last]) / (time[-1] - time[withdrawn + last]))
        if not len(gone)
        else None,
        "lost_s": float(time[withdrawn + gone[0]] - time[withdrawn]) if len(gone) else None,
        "holding_force_n": float(np.sum(np.asarray(touch.force)[-1, :, 2])),
        "weight_n": weight,
        "penetration_max_mm": float(1e3 * np.max(np.asarray(touch.depth))),
    }


def _draw(path: Path, motion: Trajectory, touch: BallContact, gone: int, set_: SimpleNamespace, title: str) -> None:
    """The hand at some moments with the forces on the ball, its height, and how hard each finger presses."""
    figure, grid = panels.new_panels(title, 2, 4, (13.5, 7.5), height_ratios=[1.3, 1.0])
    radius_mm, fingers = set_.ball_radius_mm, set_.fingers
    time, ball = np.asarray(motion.time), 1e3 * np.asarray(motion.objects)[:, 0]
    sunk = np.flatnonzero(ball[gone, 2] - ball[gone:, 2] > 15.0)
    leaving = gone + int(sunk[0]) if len(sunk) else (gone + len(time)) // 2
    moments = [0, gone, leaving, len(time) - 1]
    scene = drawing.Scene.of(motion, moments)
    largest = max(float(np.max(np.linalg.norm(np.asarray(touch.force), axis=-1))), _TOUCH)
    for column, row in enumerate(moments):
        axes = figure.add_subplot(grid[0, column])
        drawing.draw_view(axes, scene, column, drawing.FRONT, path=False)
        for force, place in zip(np.asarray(touch.force)[row], 1e3 * np.asarray(touch.place)[row], strict=True):
            if np.linalg.norm(force) > _TOUCH:
                # Forces on the ball, drawn from outside to where they act.
                start = place - 25.0 * force / largest
                axes.annotate("", place[[0, 2]], start[[0, 2]], arrowprops={"arrowstyle": "->", "color": "#c1121f"})
        if row < gone:
            axes.axhline(float(ball[0, 2]) - radius_mm, color=planar_figures.INK, linewidth=2.0)
        when = "support withdrawn" if row == gone else ""
        panels.label_view(axes, drawing.FRONT, f"{time[row]:.2f} s {when}")
        low, high = min(float(ball[row, 2]), float(ball[0, 2])), 10.0
        size = 1.3 * float(np.ptp([low, high]))
        axes.set(xlim=(-0.5 * size, 0.5 * size), ylim=(low - 0.25 * size, high))
    cell = figure.add_subplot(grid[1, :2])
    height = {"ball": ball[:, 2] - ball[gone, 2]}
    words = "height of the ball above where it is when the support is withdrawn (dashed)"
    panels.draw_curves(cell, time, height, words, "[mm]", legend=False)
    panels.draw_level(cell, float(time[gone]), upright=True)
    each = np.split(np.asarray(touch.pressure), fingers, axis=1)
    curves = {f"finger {number}": p.sum(-1) for number, p in enumerate(each, 1)}
    cell = figure.add_subplot(grid[1, 2:])
    styles = ("-", "--", ":", "-.")
    panels.draw_curves(cell, time, curves, "pressure of each finger on the ball", "[N]", styles=styles)
    panels.draw_level(cell, float(time[gone]), upright=True)
    figures.save(figure, path)
