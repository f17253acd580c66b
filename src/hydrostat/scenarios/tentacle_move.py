"""tentacle-move: from shape to shape by its wires, in three kinds of move, down to the motors' pulses."""

from pathlib import Path

import numpy as np

from hydrostat.actuation import PulseTrain, pulse_trains, pulses_at, write_gcode_files, write_pulses
from hydrostat.control import MOTIONS, WireModel, WireMotion, bends_of_angles, smooth_motion, three_motions, wire_errors
from hydrostat.errors import InputError
from hydrostat.results import along_bends, drawing, figures, panels, replay_with_tendons
from hydrostat.robots import build_robot, own_variant, wire_variants
from hydrostat.scenarios.base import Outcome, Run

_NOWHERE = "start and goal are the same shape, so nothing moves; tentacle-sweep turns azimuths all the way round"
_ROW_SECONDS = 0.02  # between recorded rows
_GCODE_SECONDS = 0.02  # between moves of the G-code


def move(run: Run) -> Outcome:
    """Move the robot by its wires; measure how far each kind of move deviates, and what the motors do."""
    settings, own = run.settings, own_variant(run.robot)
    start = bends_of_angles(settings.start_alpha_deg, settings.start_theta_deg)
    goal = bends_of_angles(settings.goal_alpha_deg, settings.goal_theta_deg)
    robots = {name: build_robot(spec) for name, spec in wire_variants(run.robot).items()}
    models = {name: WireModel(robot.arm, robot.tendons) for name, robot in robots.items()}
    robot, model = robots[own], models[own]
    motor, bound = robot.motor, 1e-3 * settings.compression_bound_mm
    with run.compiling("compiling the wires"):
        for one in models.values():
            one.shapes(one.lengths(start[None]))
        wire_errors.tip_of_lengths(robot, model.lengths(start[None])[0])
        along_bends(robot, np.zeros(1), start[None]).tip  # noqa: B018  compiles
    with run.timed():
        run.progress("round trips", 0.0)
        round_trip = max(wire_errors.round_trip_error(one) for one in models.values())
        run.progress("planning", 0.2)
        plan = (start, goal, settings.seconds, settings.step_rad, settings.profile, bound, settings.speed_steps)
        ramps = (settings.deceleration, _pairs(settings.speed_changes))
        motions = {name: three_motions(one, motor, *plan, *ramps) for name, one in models.items()}
        run.progress("examining", 0.4)
        deviation = {kind: wire_errors.path_deviation(model, motions[own][kind]) for kind in MOTIONS}
        others = [name for name in models if name != "cylinder_hard"]
        compression = {
            kind: max(wire_errors.compression(models[name], motions[name][kind]) for name in others) for kind in MOTIONS
        }
        motion = motions[own][settings.way]
        run.progress("pulses", 0.6)
        trains = pulse_trains(motion.course, motion.duration, motor.step, len(robot.tendons.ends_at))
        files = _write_motor_files(run, motion, trains)
        run.progress("recording", 0.8)
        rows = _record(run, robot, model, motion, trains)
        final = motion.lengths(np.zeros(1))[0] + motor.step * np.array([train.net for train in trains])
        tip_error, tip_bound = wire_errors.tip_error(robot, final, model.lengths(goal[None])[0])
    metrics = {
        "wire_round_trip_rad": round_trip,
        **{f"path_deviation_{kind}_mm": 1e3 * deviation[kind] for kind in MOTIONS},
        "compression_max_mm": 1e3 * compression["smooth"],
        "compression_bound_mm": settings.compression_bound_mm,
        "compression_stepped_mm": 1e3 * compression["stepped"],
        "compression_constant_speed_mm": 1e3 * compression["constant_speed"],
        "tip_error_mm": 1e3 * tip_error,
        "tip_step_bound_mm": 1e3 * tip_bound,
        "pulses": [train.net for train in trains],
        "pulse_rate_max_hz": max(train.rate_max for train in trains),
        "wire_speed_max_mm_s": 1e3 * wire_errors.largest_speed(motion),
        "duration_s": motion.duration,
        "shortest_duration_s": smooth_motion(
            model, motor, start, goal, None, settings.profile, bound, settings.deceleration
        ).duration,
        "steps_stepped": motions[own]["stepped"].knots - 1,
    }
    title = f"tentacle-move: {run.robot.name}, {settings.way.replace('_', ' ')}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, robot, model, motions[own], title),
        replay=lambda path: replay_with_tendons(rows, path, title),
        files=files,
        notes=[_NOWHERE] if np.allclose(start, goal, rtol=0.0, atol=1e-12) else [],
    )


def _pairs(values: tuple[float, ...]) -> list[tuple[float, float]]:
    """The changes of speed: times and factors."""
    if len(values) % 2:
        raise InputError(f"`speed_changes` must be pairs of a time and a factor; got {len(values)} numbers")
    return list(zip(values[::2], values[1::2], strict=True))


def _write_motor_files(run: Run, motion: WireMotion, trains: list[PulseTrain]) -> dict[str, str]:
    """What the motors' controllers read: every pulse, and G-code."""
    files = {}
    if run.settings.pulse_file:
        write_pulses(run.folder / "pulses.csv", trains)
        files["pulses"] = str(run.folder / "pulses.csv")
    times = np.linspace(0.0, motion.duration, max(2, round(motion.duration / _GCODE_SECONDS) + 1))
    travel = motion.lengths(times) - motion.lengths(times[:1])
    options = (f"hydrostat {run.robot.name}", run.settings.gcode_axes)
    written = write_gcode_files(run.folder / "move.ngc", times, travel, *options)
    numbered = {f"gcode_{number}": str(path) for number, path in enumerate(written, 1)}
    files |= numbered if len(written) > 1 else {"gcode": str(written[0])}
    return files


def _record(run: Run, robot, model: WireModel, motion: WireMotion, trains: list[PulseTrain]):
    """Record the move; the trajectory of the shapes that the wires make with their lengths at whole motor steps."""
    times = np.linspace(0.0, motion.duration, max(2, round(motion.duration / _ROW_SECONDS) + 1))
    pulses = pulses_at(trains, times)
    shapes = model.shapes(motion.lengths(np.zeros(1))[0] + robot.motor.step * pulses)
    rows = along_bends(robot, times, shapes.bend)
    bend = ("segment", "component")
    columns = {
        "bend_wanted": (motion.bends(times), bend, "rad", "theta (cos alpha, sin alpha) planned"),
        "bend": (shapes.bend, bend, "rad", "bend vectors of the wires' actual lengths"),
        "compression": (shapes.compression, ("segment",), "m", "virtual compression"),
        "wire_length": (motion.lengths(times), ("wire",), "m", "before quantisation"),
        "pulses": (pulses, ("wire",), "1", "pulses since the start"),
        "tip": (rows.tip, ("axis",), "m", "tip in the world"),
    }
    run.record("tentacle-move", times, columns)
    return rows


def _draw(path: Path, robot, model: WireModel, motions: dict[str, WireMotion], title: str) -> None:
    """The arm from start to goal, the bend vectors' paths, the wires, and how far each kind of move deviates."""
    figure, grid = panels.new_panels(title, 2, 4, (15.0, 7.5), width_ratios=[1, 1, 1.1, 1.1])
    smooth = motions["smooth"]
    times = np.linspace(0.0, smooth.duration, 600)
    scene = drawing.Scene.of(along_bends(robot, times[::12], smooth.bends(times[::12])))
    for column, plane in enumerate((drawing.FRONT, drawing.SIDE)):
        panels.draw_snapshots(figure.add_subplot(grid[:, column]), scene, 6, plane, path=True)
    vectors = {f"segment {i + 1}": smooth.bends(times)[:, i] for i in range(robot.arm.count)}
    axes = figure.add_subplot(grid[0, 2])
    for kind, style in (("smooth", "-"), ("stepped", "--")):
        paths = {name: np.rad2deg(motions[kind].bends(times)[:, i]) for i, name in enumerate(vectors)}
        along = {name: both[:, 0] for name, both in paths.items()}
        across = {name: both[:, 1] for name, both in paths.items()}
        labels = {"x_label": "θ cos α [deg]", "styles": [style], "legend": kind == "smooth"}
        panels.draw_curves(axes, along, across, "bend vectors (dashed: stepped)", "θ sin α [deg]", **labels)
    axes.set_aspect("equal", "datalim")
    travel, ends = 1e3 * (smooth.lengths(times) - smooth.lengths(times[:1])), robot.tendons.ends_at
    by_segment = {f"to segment {end + 1}": travel[:, [e == end for e in ends]] for end in sorted(set(ends))}
    panels.draw_curves(figure.add_subplot(grid[0, 3]), times, by_segment, "wires, smooth", "change of length [mm]")
    speeds = {kind.replace("_", " "): 1e3 * np.max(np.abs(motions[kind].course(times, 1)), -1) for kind in MOTIONS}
    panels.draw_curves(figure.add_subplot(grid[1, 2]), times, speeds, "fastest wire", "speed [mm/s]")
    stray = {
        kind.replace("_", " "): 1e3 * wire_errors.length_deviation(model, motions[kind], times) for kind in MOTIONS
    }
    options = {"log": True, "floor": 1e-13}
    panels.draw_curves(figure.add_subplot(grid[1, 3]), times, stray, "largest wire deviation", "[mm]", **options)
    figures.save(figure, path)
