"""tentacle-sweep: the azimuths turn at a constant rate while the bends stay, the paper's Fig. 10."""

from pathlib import Path

import numpy as np

from hydrostat.actuation import pulse_trains
from hydrostat.control import WireModel, WireMotion, check_wire_speed, speed_jump, sweep_errors, sweep_motion
from hydrostat.control.wire_errors import compression, largest_speed, path_deviation, tip_error
from hydrostat.results import along_bends, drawing, figures, panels, replay_with_tendons
from hydrostat.robots import build_robot
from hydrostat.scenarios.base import Outcome, Run

_ROW_SECONDS = 0.02  # between recorded rows


def sweep(run: Run) -> Outcome:
    """Turn the azimuths by wires whose speeds change all the time, and in steps of constant wire speed."""
    settings, robot = run.settings, build_robot(run.robot)
    model, motor = WireModel(robot.arm, robot.tendons), robot.motor
    alpha, theta, turn = (np.deg2rad(getattr(settings, f"{name}_deg")) for name in ("alpha", "theta", "turn"))
    ramps = (settings.ramp_up_s, settings.ramp_down_s)
    with run.compiling("compiling the wires"):
        model.shapes(model.lengths(np.zeros((1, robot.arm.count, 2))))
    with run.timed():
        run.progress("planning", 0.0)
        motions = {
            "continuous": sweep_motion(model, alpha, theta, turn, settings.seconds, ramps=ramps),
            "in_steps": sweep_motion(model, alpha, theta, turn, settings.seconds, settings.steps),
        }
        for motion in motions.values():
            check_wire_speed(motion, motor)
        run.progress("examining", 0.3)
        losses = {kind: sweep_errors(model, motion) for kind, motion in motions.items()}
        run.progress("pulses", 0.5)
        motion = motions[settings.way]
        trains = pulse_trains(motion.course, motion.duration, motor.step, len(robot.tendons.ends_at))
        final = motion.lengths(np.zeros(1))[0] + motor.step * np.array([train.net for train in trains])
        ends = motion.lengths(np.array([motion.duration]))[0]
        missed, missed_at_most = tip_error(robot, final, ends)
        run.progress("recording", 0.7)
        times = np.linspace(0.0, motion.duration, max(2, round(motion.duration / _ROW_SECONDS) + 1))
        rows = _record(run, robot, model, motion, times)
        lengths = motions["continuous"].lengths(np.linspace(0.0, settings.seconds, 4001))
    half = np.abs(turn) / (2.0 * settings.steps)
    metrics = {
        "wire_amplitude_mm": list(1e3 * 0.5 * np.ptp(lengths, axis=0)),
        "path_deviation_continuous_mm": 1e3 * path_deviation(model, motions["continuous"]),
        "path_deviation_in_steps_mm": 1e3 * path_deviation(model, motions["in_steps"]),
        "bend_loss_continuous_deg": list(np.rad2deg(losses["continuous"][0])),
        "bend_loss_in_steps_deg": list(np.rad2deg(losses["in_steps"][0])),
        "bend_loss_of_chords_deg": list(np.rad2deg(theta * (1.0 - np.cos(np.minimum(half, np.pi))))),
        "azimuth_error_in_steps_deg": list(np.rad2deg(losses["in_steps"][1])),
        "compression_continuous_mm": 1e3 * compression(model, motions["continuous"]),
        "compression_in_steps_mm": 1e3 * compression(model, motions["in_steps"]),
        **{f"wire_speed_max_{kind}_mm_s": 1e3 * largest_speed(one) for kind, one in motions.items()},
        **{f"wire_speed_jump_{kind}_mm_s": 1e3 * speed_jump(one) for kind, one in motions.items()},
        "pulses": [train.net for train in trains],
        "pulses_both_ways": [len(train.times) for train in trains],
        "pulse_rate_max_hz": max(train.rate_max for train in trains),
        "tip_error_mm": 1e3 * missed,
        "tip_step_bound_mm": 1e3 * missed_at_most,
        "tip_travel_mm": 1e3 * float(np.sum(np.linalg.norm(np.diff(rows.tip, axis=0), axis=-1))),
        "duration_s": motion.duration,
    }
    title = f"tentacle-sweep: {run.robot.name}, {settings.way.replace('_', ' ')}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, robot, model, motions, rows, title),
        replay=lambda path: replay_with_tendons(rows, path, title),
    )


def _record(run: Run, robot, model: WireModel, motion: WireMotion, times: np.ndarray):
    """Record the sweep; the trajectory of the shapes that the wires make."""
    shapes = model.shapes(motion.lengths(times))
    rows = along_bends(robot, times, shapes.bend)
    bend = ("segment", "component")
    columns = {
        "bend_wanted": (motion.bends(times), bend, "rad", "theta (cos alpha, sin alpha) planned"),
        "bend": (shapes.bend, bend, "rad", "bend vectors of the wires' lengths"),
        "compression": (shapes.compression, ("segment",), "m", "virtual compression"),
        "wire_length": (motion.lengths(times), ("wire",), "m", "before quantisation"),
        "tip": (rows.tip, ("axis",), "m", "tip in the world"),
    }
    run.record("tentacle-sweep", times, columns)
    return rows


def _draw(path: Path, robot, model: WireModel, motions: dict[str, WireMotion], rows, title: str) -> None:
    """The wires as in the paper's Fig. 10, their speeds, the bends that they make, and the arm from two sides."""
    figure, grid = panels.new_panels(title, 2, 3, (14.0, 8.0), width_ratios=[0.8, 1, 1])
    scene = drawing.Scene.of(rows[:: max(1, len(rows) // 60)])
    for row, plane in enumerate((drawing.FRONT, drawing.ABOVE)):
        panels.draw_snapshots(figure.add_subplot(grid[row, 0]), scene, 7, plane, path=True)
    first = [n for n, end in enumerate(robot.tendons.ends_at) if end == 0]
    times = np.linspace(0.0, motions["in_steps"].duration, 1501)
    upper, speeds, bends, off = (figure.add_subplot(grid[i, j]) for i in (0, 1) for j in (1, 2))
    for kind, style in (("continuous", "-"), ("in_steps", "--")):
        motion, legend = motions[kind], kind == "continuous"
        styles = {"styles": [style], "legend": legend, "width": 1.3 if legend else 1.0}
        travel = 1e3 * motion.lengths(times)
        wires = {f"wire {n + 1}": travel[:, n] for n in first}
        panels.draw_curves(upper, times, wires, "segment 1: wires (dashed: in steps)", "length [mm]", **styles)
        rates = {f"wire {n + 1}": 1e3 * motion.course(times, 1)[:, n] for n in first}
        panels.draw_curves(speeds, times, rates, "segment 1: speeds of the wires", "[mm/s]", **styles)
        shape = model.shapes(motion.lengths(times))
        loss = np.rad2deg(np.linalg.norm(motion.bends(times), axis=-1) - np.linalg.norm(shape.bend, axis=-1))
        each = {f"segment {i + 1}": loss[:, i] for i in range(loss.shape[1])}
        panels.draw_curves(bends, times, each, "loss of bend (dashed: in steps)", "[deg]", **styles)
        squeezed = {kind.replace("_", " "): 1e3 * np.max(np.abs(shape.compression), -1)}
        color = {"colors": [0 if legend else 1], "log": True, "floor": 1e-13}
        panels.draw_curves(off, times, squeezed, "largest virtual compression", "[mm]", **color)
    off.legend(["continuous", "in steps"], fontsize=7, frameon=False)
    figures.save(figure, path)
