"""tentacle-vibration: how much the tentacle shakes during and after a move, for each of three ways of moving.

Boccolato's second experiment, by dynamics instead of a camera: wires are held at the lengths that the motors give them,
the body between them is a rod that bends and twists, each of its segments cut into pieces so that it can swing within
its wires.
"""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.compiling import quick_jit
from hydrostat.control.base import Controller
from hydrostat.control.wire_motion import WireModel, WireMotion, constant_speed_motion, smooth_motion, stepped_motion
from hydrostat.errors import InputError
from hydrostat.lie import small, so3
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import Robot
from hydrostat.mechanics.statics import equilibrium
from hydrostat.results import Trajectory, Variable
from hydrostat.robots.build import build_robot
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.replaying import replay_arm
from hydrostat.scenarios.tentacle import pairs_to_bends
from hydrostat.simulation.simulate import Run as Simulation
from hydrostat.system import Control, State, System

WAYS = ("stepped", "constant_speed", "smooth")
_FRAME_SECONDS = 0.008  # from row to row: the paper's camera took 125 frames a second
_TABLE_SECONDS = 1e-3  # between the lengths that the motors' course is tabulated at


class WireCourse(eqx.Module):
    """The lengths of the wires over time, by a table."""

    table: Float[Array, "m w"]
    """Lengths [m], every `interval` from time 0; the last one holds from there on."""
    interval: Float[Array, ""]

    def __call__(self, time) -> Control:
        """The lengths at a time, between rows of the table taken linearly."""
        place = jnp.clip(time / self.interval, 0.0, len(self.table) - 1.000001)
        row = place.astype(int)
        share = place - row
        lengths = (1.0 - share) * self.table[row] + share * self.table[row + 1]
        return Control(length=lengths)


class Follow(Controller):
    """The wires follow a course, within steps too."""

    course: WireCourse

    def __call__(self, time, observation, memory):
        """The course as a function of time."""
        del time, observation
        return self.course, memory


def vibration(run: Run) -> Outcome:
    """Move in three ways, and measure how the segments swing about the move itself."""
    set_ = run.settings
    dt = 1e-3 * set_.dt_ms
    every = max(round(_FRAME_SECONDS / dt), 1)
    if set_.seconds_after < 2.0 * every * dt:
        raise InputError(
            f"`seconds_after` must be at least two pictures, {2.0 * every * dt:g} s; got {set_.seconds_after:g} s"
        )
    start = pairs_to_bends(set_.start_alpha_deg, set_.start_theta_deg)
    goal = pairs_to_bends(set_.goal_alpha_deg, set_.goal_theta_deg)
    rigid = build_robot(run.robot)
    wires = WireModel(rigid.arm, rigid.tendons)
    options = {"drive": "length", "wire_stiffness": set_.wire_stiffness_n, "points": 2}
    system = System(build_robot(run.robot.cut(set_.pieces, ("bend_x", "bend_y", "twist")), **options))
    robot = system.robot
    seconds = set_.seconds + set_.seconds_after

    with run.compiling("planning and compiling"):
        motions = {
            "stepped": stepped_motion(wires, start, goal, set_.seconds, set_.step_rad),
            "constant_speed": constant_speed_motion(wires, start, goal, set_.seconds),
            "smooth": smooth_motion(wires, rigid.motor, start, goal, set_.seconds),
        }
        courses = {way: _course(robot, motion, set_.pretension_n, seconds) for way, motion in motions.items()}
        first = _first_state(system, courses["smooth"], start, set_.pieces)
        simulations = {way: Simulation(system, Follow(course), dt, every=every) for way, course in courses.items()}
        simulations["smooth"].compile(seconds, first)

    rows: dict[str, Trajectory] = {}
    per_way = -(-round(seconds / dt) // every) + 1
    with run.timed(), _recorder(run, robot, len(start), per_way) as recorder:
        for number, way in enumerate(WAYS):

            def keep(part: Trajectory, number=number, recorder=recorder):
                recorder.append(
                    recorder.rows + np.arange(len(part.time)),
                    time=part.time,
                    way=np.full(len(part.time), number),
                    turn=np.asarray(_turns(robot, set_.pieces, part.q)),
                    strain=part.q,
                )

            def show(done: float, number=number, way=way):
                run.progress(way.replace("_", " "), (number + done) / len(WAYS))

            rows[way] = simulations[way](seconds, state=first, on_rows=keep, on_progress=show)
    turns = {way: np.asarray(_turns(robot, set_.pieces, rows[way].q)) for way in WAYS}
    times = rows["smooth"].time

    meant = {way: _wanted(motion.bends(np.minimum(times, motion.duration))) for way, motion in motions.items()}
    swings = {way: np.rad2deg(_without_drift(turns[way] - meant[way], times, set_.drift_window)) for way in WAYS}
    during = times <= set_.seconds
    after = times > set_.seconds
    metrics: dict = {"vibration_rms_deg": [x for way in WAYS for x in _rms(swings[way])]}
    for way in WAYS:
        metrics[f"vibration_rms_{way}_deg"] = list(_rms(swings[way]))
    for way in WAYS:
        metrics[f"vibration_after_{way}_deg"] = list(_rms(swings[way][after]))
    metrics |= {
        "stepped_over_smooth": float(np.sum(_rms(swings["stepped"][during])) / np.sum(_rms(swings["smooth"][during]))),
        "final_error_deg": float(np.rad2deg(np.max(np.linalg.norm(turns["smooth"][-1] - _wanted(goal), axis=-1)))),
        "steps_stepped": motions["stepped"].knots - 1,
    }
    title = f"tentacle-vibration: {run.robot.name}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, times, turns, swings, set_.seconds, title),
        replay=lambda path: replay_arm(path, robot.arm, times, rows["stepped"].q, f"{title}, stepped"),
        sim_seconds=seconds * len(WAYS),
        dt=dt,
        steps=round(seconds / dt) * len(WAYS),
    )


def _recorder(run: Run, robot: Robot, segments: int, per_way: int):
    """A recorder of all three ways, one after the other."""
    variables = [
        Variable("time", (), (), "s", "since the move began"),
        Variable("way", (), (), "1", f"which way: {', '.join(f'{i} {way}' for i, way in enumerate(WAYS))}"),
        Variable("turn", ("segment", "component"), (segments, 3), "rad", "rotation vector of each segment"),
        Variable("strain", ("piece", "mode"), robot.one.stiffness.shape, "1/m", "curvatures and twist of each piece"),
    ]
    attributes = {"scenario": "tentacle-vibration", "robot": run.robot.name}
    return run.recorder(variables, per_way * len(WAYS), axis="row", axis_unit="1", attributes=attributes)


def _course(robot: Robot, motion: WireMotion, pretension: float, seconds: float) -> WireCourse:
    """The wires' lengths over time: those of the move, drawn in a little so that every wire is taut."""
    assert robot.one.wires is not None
    assert robot.one.wires.stiffness is not None
    times = np.arange(0.0, seconds + 2 * _TABLE_SECONDS, _TABLE_SECONDS)
    lengths = motion.lengths(np.minimum(times, motion.duration))
    drawn = lengths - pretension / np.asarray(robot.one.wires.stiffness)
    return WireCourse(jnp.asarray(drawn), jnp.asarray(_TABLE_SECONDS))


def _first_state(system: System, course: WireCourse, start: np.ndarray, pieces: int) -> State:
    """The robot at rest before the move."""
    bends = jnp.asarray(np.repeat(start, pieces, 0) / pieces)
    length = system.robot.arm.segments.length
    guess = jnp.stack([-bends[:, 1] / length, bends[:, 0] / length, jnp.zeros_like(length)], -1)
    inputs = system.inputs_at(system.rest(), course(jnp.asarray(0.0)))
    return system.rest(equilibrium(system.robot, inputs, guess).q)


@quick_jit
def _turns(robot: Robot, pieces: int, q) -> Float[Array, "m n 3"]:
    """The rotation vector of every segment from its base to its end [rad]."""

    def one(q):
        ends = kinematics.segment_poses(robot.arm, q).rotation[::pieces]
        return so3.log(small.matmul(jnp.swapaxes(ends[:-1], -1, -2), ends[1:]))

    return jax.vmap(one)(jnp.asarray(q))


def _wanted(bends: np.ndarray) -> np.ndarray:
    """The rotation vectors of arcs with these bend vectors [rad]."""
    return np.stack([-bends[..., 1], bends[..., 0], np.zeros(bends.shape[:-1])], -1)


def _without_drift(turns: np.ndarray, times: np.ndarray, window: float) -> np.ndarray:
    """The swinging alone: what is left of a deviation when its moving average over the window is taken out."""
    half = max(round(0.5 * window / (times[1] - times[0])), 1)
    padded = np.concatenate([np.repeat(turns[:1], half, 0), turns, np.repeat(turns[-1:], half, 0)])
    sums = np.cumsum(np.concatenate([np.zeros_like(padded[:1]), padded]), 0)
    return turns - (sums[2 * half + 1 :] - sums[: -2 * half - 1]) / (2 * half + 1)


def _rms(swings: np.ndarray) -> np.ndarray:
    """Per segment, over time and all directions."""
    return np.sqrt(np.mean(np.sum(swings**2, -1), 0))


def _draw(path: Path, times, turns, swings, moved: float, title: str) -> None:
    """The paper's Figs 8 and 9: the turning of every segment, and the pure oscillation in it."""
    from hydrostat.results import figures

    figure = figures.new_figure(11, 6.5)
    figure.suptitle(title, fontsize=11)
    axes = figure.subplots(2, 3, sharex=True, sharey="row")
    for column, way in enumerate(WAYS):
        for segment in range(turns[way].shape[1]):
            color = figures.COLORS[segment % len(figures.COLORS)]
            angle = np.rad2deg(np.linalg.norm(turns[way][:, segment], axis=-1))
            axes[0, column].plot(times, angle, color=color, linewidth=1.2, label=f"segment {segment + 1}")
            swing = np.linalg.norm(swings[way][:, segment], axis=-1)
            axes[1, column].plot(times, swing, color=color, linewidth=0.8)
        figures.style_axes(axes[0, column], way.replace("_", " "), "", "bend [deg]" if column == 0 else "")
        figures.style_axes(axes[1, column], "", "time [s]", "pure oscillation [deg]" if column == 0 else "")
        for row in axes[:, column]:
            row.axvline(moved, color="#33322e", linewidth=0.6, linestyle=":")
    axes[0, 0].legend(fontsize=7, frameon=False)
    figures.save(figure, path)
