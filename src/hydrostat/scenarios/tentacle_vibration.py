"""tentacle-vibration: how much the tentacle shakes during and after a move, for each of three kinds of move.

Boccolato's second experiment, by dynamics instead of a camera: wires are held at the lengths that the motors give them,
the body between them is a rod that bends and twists, each of its segments cut into pieces so that it can swing within
its wires. The camera sees a target at the tip.
"""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.control import MOTIONS, Timeline, WireModel, WireMotion, bends_of_angles, rotation_vectors, three_motions
from hydrostat.errors import InputError
from hydrostat.mechanics import equilibrium
from hydrostat.results import Variable, along_bends, drawing, figures, panels
from hydrostat.results.measures import in_picture, moving_average, rms
from hydrostat.results.rows import SegmentTurns
from hydrostat.robots import build_robot
from hydrostat.scenarios.base import Outcome, Run

_FRAME_SECONDS = 0.008  # from row to row: the paper's camera took 125 frames a second
_TABLE_SECONDS = 1e-3  # between the lengths that the motors' course is tabulated at


def vibration(run: Run) -> Outcome:
    """Move in three kinds of move, and measure how the segments swing about the move itself."""
    settings, every = run.settings, run.steps_per_row(_FRAME_SECONDS)
    least = 2.0 * every * run.dt
    if settings.seconds_after < least:
        got = f"got {settings.seconds_after:g} s"
        raise InputError(f"`seconds_after` must be at least two pictures, {least:g} s; {got}")
    start = bends_of_angles(settings.start_alpha_deg, settings.start_theta_deg)
    goal = bends_of_angles(settings.goal_alpha_deg, settings.goal_theta_deg)
    rigid = build_robot(run.robot)
    options = {"drive": "length", "wire_stiffness": settings.wire_stiffness_n, "points": 2}
    system = hs.System(build_robot(run.robot.cut(settings.pieces, ("bend_x", "bend_y", "twist")), **options))
    seconds = settings.seconds + settings.seconds_after
    with run.compiling("planning"):
        wires = WireModel(rigid.arm, rigid.tendons)
        motions = three_motions(wires, rigid.motor, start, goal, settings.seconds, settings.step_rad)
        controllers = {kind: _follow(system, motions[kind], settings.pretension_n, seconds) for kind in MOTIONS}
        first = _first_state(system, controllers["smooth"], start, settings.pieces)
    rows, turns, turn, camera = {}, {}, SegmentTurns(settings.pieces), settings.camera_azimuth_deg
    with _recorder(run, system, len(start), -(-round(seconds / run.dt) // every) + 1) as recorder:
        for number, kind in enumerate(MOTIONS):

            def keep(part: hs.Trajectory, number=number, recorder=recorder):
                index = recorder.rows + np.arange(len(part))
                columns = {"time": part.time, "turn": part.derived(turn), "strain": part.q}
                columns["target"] = in_picture(part.tip, camera)
                recorder.append(index, way=np.full(len(part), number), **columns)

            share, label = (number / len(MOTIONS), (number + 1) / len(MOTIONS)), kind.replace("_", " ")
            options = {"state": first, "every": every, "share": share, "label": label, "on_rows": keep}
            rows[kind] = run.simulate(system, controllers[kind], seconds, **options)
            turns[kind] = np.asarray(rows[kind].derived(turn))
    times = rows["smooth"].time
    window = settings.drift_window
    swings = {kind: _swing(turns[kind], motions[kind], times, window) for kind in MOTIONS}
    seen = {kind: _target_swing(rows[kind], rigid, motions[kind], camera, window) for kind in MOTIONS}
    during, after = times <= settings.seconds, times > settings.seconds
    total = {kind: np.sum(rms(swings[kind][during])) for kind in MOTIONS}
    left = turns["smooth"][-1] - rotation_vectors(goal)
    metrics = {
        "vibration_rms_deg": [x for kind in MOTIONS for x in rms(swings[kind])],
        **{f"vibration_rms_{kind}_deg": list(rms(swings[kind])) for kind in MOTIONS},
        **{f"vibration_after_{kind}_deg": list(rms(swings[kind][after])) for kind in MOTIONS},
        "stepped_over_smooth": float(total["stepped"] / total["smooth"]),
        "constant_speed_over_smooth": float(total["constant_speed"] / total["smooth"]),
        **{f"target_rms_{kind}_mm": float(rms(seen[kind])) for kind in MOTIONS},
        **{f"target_after_{kind}_mm": float(rms(seen[kind][after])) for kind in MOTIONS},
        "final_error_deg": float(np.rad2deg(np.max(np.linalg.norm(left, axis=-1)))),
        "steps_stepped": motions["stepped"].knots - 1,
    }
    title = f"tentacle-vibration: {run.robot.name}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, rows, turns, swings, seen, settings.seconds, title),
        replay=lambda path: rows["stepped"].replay(path, f"{title}, stepped"),
        sim_seconds=seconds * len(MOTIONS),
        dt=run.dt,
        steps=round(seconds / run.dt) * len(MOTIONS),
    )


def _recorder(run: Run, system: hs.System, segments: int, per_move: int):
    """A recorder of all three moves, one after the other."""
    variables = [
        Variable("time", (), (), "s", "since the move began"),
        Variable("way", (), (), "1", f"which move: {', '.join(f'{i} {kind}' for i, kind in enumerate(MOTIONS))}"),
        Variable("turn", ("segment", "component"), (segments, 3), "rad", "rotation vector of each segment"),
        Variable("target", ("picture_axis",), (2,), "m", "the tip as the camera sees it: to the right, upwards"),
        Variable("strain", ("piece", "mode"), system.rest().q.shape, "1/m", "curvatures and twist of each piece"),
    ]
    attributes = {"scenario": "tentacle-vibration", "robot": run.robot.name}
    return run.recorder(variables, per_move * len(MOTIONS), axis="row", axis_unit="1", attributes=attributes)


def _follow(system: hs.System, motion: WireMotion, pretension: float, seconds: float) -> Timeline:
    """The controller of the wires' lengths: those of the move, drawn in a little so that every wire is taut."""
    times = np.arange(0.0, seconds + 2 * _TABLE_SECONDS, _TABLE_SECONDS)
    wires = system.robot.one.wires
    assert wires is not None
    stiffness = np.asarray(wires.stiffness)
    lengths = motion.lengths(np.minimum(times, motion.duration)) - pretension / stiffness
    return Timeline(times, hs.Control(length=lengths), continuous=True)


def _first_state(system: hs.System, controller: Timeline, start: np.ndarray, pieces: int) -> hs.State:
    """The robot at rest before the move."""
    turns = rotation_vectors(np.repeat(start, pieces, 0) / pieces)
    guess = jnp.asarray(turns) / system.robot.arm.segments.length[:, None]
    inputs = system.inputs_at(system.rest(), controller.at(0.0))
    return system.rest(equilibrium(system.robot, inputs, guess).q)


def _swing(turns: np.ndarray, motion: WireMotion, times: np.ndarray, window: float) -> np.ndarray:
    """The pure oscillation [deg]: the deviation from the planned turns, less its moving average over a window."""
    off = turns - rotation_vectors(motion.bends(np.minimum(times, motion.duration)))
    return np.rad2deg(off - moving_average(off, times, window))


def _target_swing(rows: hs.Trajectory, rigid, motion: WireMotion, camera: float, window: float) -> np.ndarray:
    """The pure oscillation of the target at the tip in the camera's picture (rows, 2) [mm], the drift taken out."""
    planned = along_bends(rigid, rows.time, motion.bends(np.minimum(rows.time, motion.duration))).tip
    off = 1e3 * in_picture(np.asarray(rows.tip) - np.asarray(planned), camera)
    return off - moving_average(off, rows.time, window)


def _draw(path: Path, rows: dict[str, hs.Trajectory], turns, swings, seen, moved: float, title: str) -> None:
    """The paper's Figs 8 and 9: the turning of every segment and the pure oscillation in it, beside the move itself."""
    figure, grid = panels.new_panels(title, 3, 4, (14.0, 9.0), width_ratios=[0.7, 1, 1, 1])
    scene = drawing.Scene.of(rows["smooth"])
    panels.draw_snapshots(figure.add_subplot(grid[:, 0]), scene, 5, drawing.FRONT, "smooth, later darker", path=True)
    for column, kind in enumerate(MOTIONS, 1):
        upper, lower, picture = (figure.add_subplot(grid[row, column]) for row in range(3))
        both = ((upper, np.rad2deg(turns[kind]), "bend [deg]"), (lower, swings[kind], "pure oscillation [deg]"))
        for axes, vectors, unit in both:
            sizes = {f"segment {i + 1}": np.linalg.norm(vectors[:, i], axis=-1) for i in range(vectors.shape[1])}
            heading = kind.replace("_", " ") if axes is upper else ""
            panels.draw_curves(axes, rows[kind].time, sizes, heading, unit, width=1.0, legend=axes is upper)
            panels.draw_level(axes, moved, upright=True)
        lower.set_ylim(0.0, 1.05 * max(np.linalg.norm(one, axis=-1).max() for one in swings.values()))
        sides = {"to the right": seen[kind][:, 0], "upwards": seen[kind][:, 1]}
        panels.draw_curves(picture, rows[kind].time, sides, "", "target in the picture [mm]", width=1.0)
        most = 1.05 * max(np.abs(one).max() for one in seen.values())
        picture.set_ylim(-most, most)
    figures.save(figure, path)
