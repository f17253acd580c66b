"""tentacle-move: from shape to shape by its wires, in three ways, down to the motors' pulses."""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.actuation import PulseTrain, pulse_trains, shape_from_lengths, write_gcode, write_pulses
from hydrostat.actuation.gcode import AXES
from hydrostat.control.wire_motion import WireMotion, constant_speed_motion, smooth_motion, stepped_motion
from hydrostat.lie import small
from hydrostat.mechanics import kinematics
from hydrostat.results import Variable
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.tentacle import Variant, boundaries, centrelines, pairs_to_bends, replay, variants

WAYS = ("stepped", "constant_speed", "smooth")
_SAMPLES = 2048  # moments at which a move is examined
_ROW_SECONDS = 0.02  # between recorded rows
_GCODE_SECONDS = 0.02  # between moves of the G-code


def move(run: Run) -> Outcome:
    """Move the robot by its wires; measure how far each way strays, and what the motors do."""
    set_ = run.settings
    start = pairs_to_bends(set_.start_alpha_deg, set_.start_theta_deg)
    goal = pairs_to_bends(set_.goal_alpha_deg, set_.goal_theta_deg)
    kinds = variants(run.robot)
    soft = run.robot.tendons[0].kind == "soft"
    tapered = any(a != b for t in run.robot.tendons for a, b in run.robot.offsets(t).values())
    own = kinds[f"{'cone' if tapered else 'cylinder'}_{'soft' if soft else 'hard'}"]
    with run.compiling("compiling the wires"):
        for kind in kinds.values():
            kind.model.shapes(kind.model.lengths(start[None]))
        _tip_rates(own.robot, own.model.lengths(start[None])[0])

    with run.timed():
        run.progress("round trips", 0.0)
        round_trip = max(_round_trip_error(kind, len(start)) for kind in kinds.values())
        run.progress("planning", 0.2)
        motions = {name: _plan(kind, start, goal, run) for name, kind in kinds.items()}
        run.progress("examining", 0.4)
        deviations = {way: _deviation(own, motions[_key(kinds, own)][way]) for way in WAYS}
        compressions = {
            way: max(_compression(kind, motions[name][way]) for name, kind in kinds.items() if name != "cylinder_hard")
            for way in WAYS
        }
        motion = motions[_key(kinds, own)][set_.way]
        motor = own.robot.motor
        run.progress("pulses", 0.6)
        trains = pulse_trains(motion.course, motion.duration, motor.step, len(own.robot.tendons.ends_at))
        files = _write_motor_files(run, motion, trains)
        run.progress("recording", 0.8)
        times, bends = _record(run, own, motion, trains)
        tip_error, tip_bound = _tip_error(own, motion, trains, goal)

    rates = np.max(np.abs(motion.course(np.linspace(0, motion.duration, _SAMPLES), 1)))
    metrics = {
        "wire_round_trip_rad": round_trip,
        "path_deviation_stepped_mm": 1e3 * deviations["stepped"],
        "path_deviation_constant_speed_mm": 1e3 * deviations["constant_speed"],
        "path_deviation_smooth_mm": 1e3 * deviations["smooth"],
        "compression_max_mm": 1e3 * compressions["smooth"],
        "compression_bound_mm": set_.compression_bound_mm,
        "compression_stepped_mm": 1e3 * compressions["stepped"],
        "compression_constant_speed_mm": 1e3 * compressions["constant_speed"],
        "tip_error_mm": 1e3 * tip_error,
        "tip_step_bound_mm": 1e3 * tip_bound,
        "pulses": [train.net for train in trains],
        "pulse_rate_max_hz": max(train.rate_max for train in trains),
        "wire_speed_max_mm_s": 1e3 * rates,
        "duration_s": motion.duration,
        "shortest_duration_s": _shortest(own, start, goal, run),
        "steps_stepped": motions[_key(kinds, own)]["stepped"].knots - 1,
    }
    title = f"tentacle-move: {run.robot.name}, {set_.way.replace('_', ' ')}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, own, motions[_key(kinds, own)], title),
        replay=lambda path: replay(path, own.robot, times, bends, title),
        files=files,
    )


def _key(kinds: dict[str, Variant], own: Variant) -> str:
    return next(name for name, kind in kinds.items() if kind is own)


def _plan(kind: Variant, start, goal, run: Run) -> dict[str, WireMotion]:
    """The three ways."""
    set_ = run.settings
    return {
        "stepped": stepped_motion(kind.model, start, goal, set_.seconds, set_.step_rad),
        "constant_speed": constant_speed_motion(kind.model, start, goal, set_.seconds),
        "smooth": smooth_motion(
            kind.model,
            kind.robot.motor,
            start,
            goal,
            set_.seconds,
            set_.profile,
            1e-3 * set_.compression_bound_mm,
        ),
    }


def _shortest(own: Variant, start, goal, run: Run) -> float:
    """The least time that the motors need for the smooth way [s]."""
    set_ = run.settings
    bound = 1e-3 * set_.compression_bound_mm
    return smooth_motion(own.model, own.robot.motor, start, goal, None, set_.profile, bound).duration


def _round_trip_error(kind: Variant, count: int) -> float:
    """Shape to lengths to shape, over bends of 0 to 170 degrees in all directions; the largest error [rad]."""
    theta, alpha = np.meshgrid(np.deg2rad(np.linspace(0.0, 170.0, 35)), np.linspace(0.0, 2 * np.pi, 48, False))
    # Each segment gets the same grid in another order, so that routed wires meet many combinations.
    grid = np.stack([theta * np.cos(alpha), theta * np.sin(alpha)], -1).reshape(-1, 2)
    bends = np.stack([np.roll(grid, 397 * i, 0) for i in range(count)], 1)
    return float(np.max(np.abs(kind.model.shapes(kind.model.lengths(bends)).bend - bends)))


def _moments(motion: WireMotion) -> np.ndarray:
    """Times to examine a move at: evenly spread, and between its knots."""
    marks = np.linspace(0.0, motion.duration, 2 * (motion.knots - 1) + 1)
    return np.union1d(np.linspace(0.0, motion.duration, _SAMPLES), marks)


def _deviation(kind: Variant, motion: WireMotion) -> float:
    """Largest difference between a wire's length and that of the shape wanted at the moment [m]."""
    times = _moments(motion)
    return float(np.max(np.abs(motion.lengths(times) - kind.model.lengths(motion.bends(times)))))


def _compression(kind: Variant, motion: WireMotion) -> float:
    """Largest virtual compression along the move [m]."""
    return float(np.max(np.abs(kind.model.shapes(motion.lengths(_moments(motion))).compression)))


@eqx.filter_jit
def _tip_rates(robot, lengths):
    """The tip's position by the wires' lengths, and how far it moves per length of each wire."""

    def tip(lengths):
        return kinematics.tip_pose(robot.arm, shape_from_lengths(robot.arm, robot.tendons, lengths).q).position

    return tip(lengths), jax.jacfwd(tip)(lengths)


def _tip_error(own: Variant, motion: WireMotion, trains: list[PulseTrain], goal) -> tuple[float, float]:
    """Distance of the tip from its goal when the motors have stopped, and the bound that whole steps leave [m]."""
    first = motion.lengths(np.zeros(1))[0]
    lengths = first + own.robot.motor.step * np.array([train.net for train in trains])
    wanted = own.model.lengths(goal[None])[0]
    reached, _ = _tip_rates(own.robot, lengths)
    target, rates = _tip_rates(own.robot, wanted)
    bound = float(jnp.sum(small.norm(rates.T))) * own.robot.motor.step / 2.0
    return float(np.linalg.norm(reached - target)), bound


def _write_motor_files(run: Run, motion: WireMotion, trains: list[PulseTrain]) -> dict[str, str]:
    """What the motors' controllers read: every pulse, and G-code."""
    files = {}
    if run.settings.pulse_file:
        write_pulses(run.folder / "pulses.csv", trains)
        files["pulses"] = str(run.folder / "pulses.csv")
    if len(trains) <= len(AXES):
        times = np.linspace(0.0, motion.duration, max(2, round(motion.duration / _GCODE_SECONDS) + 1))
        lengths = motion.lengths(times)
        write_gcode(run.folder / "move.ngc", times, lengths - lengths[0], f"hydrostat {run.robot.name}")
        files["gcode"] = str(run.folder / "move.ngc")
    return files


def _record(run: Run, own: Variant, motion: WireMotion, trains: list[PulseTrain]) -> tuple[np.ndarray, np.ndarray]:
    """Record the move row by row; the times and the shapes that the quantised wires make."""
    count, wires = own.robot.arm.count, len(trains)
    times = np.linspace(0.0, motion.duration, max(2, round(motion.duration / _ROW_SECONDS) + 1))
    first = motion.lengths(np.zeros(1))[0]
    sums = [np.concatenate([[0], np.cumsum(t.directions, dtype=np.int64)]) for t in trains]
    pulses = np.stack([s[np.searchsorted(t.times, times, "right")] for s, t in zip(sums, trains, strict=True)], -1)
    shapes = own.model.shapes(first + own.robot.motor.step * pulses)
    positions, _ = centrelines(own.robot, shapes.bend)
    variables = [
        Variable("bend_wanted", ("segment", "component"), (count, 2), "rad", "theta (cos alpha, sin alpha) wanted"),
        Variable("bend", ("segment", "component"), (count, 2), "rad", "bend vectors of the wires' actual lengths"),
        Variable("compression", ("segment",), (count,), "m", "virtual compression"),
        Variable("wire_length", ("wire",), (wires,), "m", "before quantisation"),
        Variable("pulses", ("wire",), (wires,), "1", "pulses since the start"),
        Variable("tip", ("axis",), (3,), "m", "tip in the world"),
    ]
    attributes = {"scenario": "tentacle-move", "robot": run.robot.name}
    with run.recorder(variables, len(times), attributes=attributes) as recorder:
        recorder.append(
            times,
            bend_wanted=motion.bends(times),
            bend=shapes.bend,
            compression=shapes.compression,
            wire_length=motion.lengths(times),
            pulses=pulses,
            tip=positions[:, -1],
        )
    return times, shapes.bend


def _draw(path: Path, own: Variant, motions: dict[str, WireMotion], title: str) -> None:
    """The arm from start to goal, the bend vectors' paths, the wires, and how far each way strays."""
    from hydrostat.results import figures

    figure = figures.new_figure(13.5, 7.5)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 3, width_ratios=[1.4, 1, 1])
    space = figure.add_subplot(grid[:, 0], projection="3d")
    smooth = motions["smooth"]
    shown = smooth.bends(np.linspace(0.0, smooth.duration, 7))
    positions, _ = centrelines(own.robot, shown)
    for i, nodes in enumerate(positions):
        figures.draw_arm(space, nodes, boundaries(own.robot), alpha=1.0 if i in (0, 6) else 0.25)
    tips = centrelines(own.robot, smooth.bends(np.linspace(0.0, smooth.duration, 100)))[0][:, -1]
    space.plot(*tips.T, color="#888888", linewidth=1, linestyle=":")
    figures.frame_space(space, positions.reshape(-1, 3))
    space.view_init(elev=18, azim=-60)

    plane = figure.add_subplot(grid[0, 1])
    for style, way in (("--", "stepped"), ("-", "smooth")):
        bends = np.rad2deg(motions[way].bends(np.linspace(0.0, motions[way].duration, 200)))
        for i in range(bends.shape[1]):
            label = f"segment {i + 1}" if way == "smooth" else None
            plane.plot(*bends[:, i].T, style, color=figures.COLORS[i % 6], linewidth=1.5, label=label)
    figures.style_axes(plane, "bend vectors (dashed: stepped)", "θ cos α [deg]", "θ sin α [deg]")
    plane.set_aspect("equal", "datalim")
    plane.legend(fontsize=7, frameon=False)

    times = np.linspace(0.0, smooth.duration, 600)
    wires = figure.add_subplot(grid[0, 2])
    travel = 1e3 * (smooth.lengths(times) - smooth.lengths(times[:1]))
    for wire, end in enumerate(own.robot.tendons.ends_at):
        wires.plot(times, travel[:, wire], color=figures.COLORS[end % 6], linewidth=1.2)
    figures.style_axes(wires, "wires, smooth way", "time [s]", "change of length [mm]")

    speeds = figure.add_subplot(grid[1, 1])
    for color, way in zip(figures.COLORS, WAYS, strict=False):
        rate = 1e3 * np.max(np.abs(motions[way].course(times, 1)), -1)
        speeds.plot(times, rate, color=color, linewidth=1.2, label=way.replace("_", " "))
    figures.style_axes(speeds, "fastest wire", "time [s]", "speed [mm/s]")
    speeds.legend(fontsize=7, frameon=False)

    stray = figure.add_subplot(grid[1, 2])
    for color, way in zip(figures.COLORS, WAYS, strict=False):
        difference = np.abs(motions[way].lengths(times) - own.model.lengths(motions[way].bends(times)))
        stray.semilogy(times, np.maximum(1e3 * np.max(difference, -1), 1e-13), color=color, linewidth=1.2)
    figures.style_axes(stray, "largest wire deviation", "time [s]", "[mm]")
    figures.save(figure, path)
