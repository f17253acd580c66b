"""rod-abrupt: a stiff rod is pulled sideways, let go, and must neither blow up nor gain energy, whatever the step."""

from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.bodies import Arm
from hydrostat.errors import DivergedError
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.energy import energy
from hydrostat.mechanics.robot import Robot, no_inputs
from hydrostat.mechanics.state import positions, velocities
from hydrostat.mechanics.statics import equilibrium
from hydrostat.results import Recorder, Trajectory, Variable
from hydrostat.robots.build import build_robot
from hydrostat.robots.spec import RobotSpec
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.replaying import replay_arm
from hydrostat.simulation.simulate import Run as Simulation
from hydrostat.system import State, System

_LOAD_STEPS = 20
_BLOCK = 250  # rows whose energies are worked out together
_THINNEST = 0.004  # m: radius in the replay, where a rod of 1 mm would be hard to see


@dataclass
class _Throw:
    """One run of the rod, and what was seen."""

    system: System
    dt: float
    damped: bool
    number: int
    parts: list[dict[str, np.ndarray]]
    wall: float = 0.0

    @property
    def label(self) -> str:
        return f"{'damped' if self.damped else 'undamped'}, {1e3 * self.dt:g} ms"

    def seen(self, name: str) -> np.ndarray:
        """A recorded quantity over the whole run."""
        return np.concatenate([part[name] for part in self.parts])

    @property
    def change(self) -> np.ndarray:
        """How much the energy has changed since the release, over the peak of the kinetic energy."""
        total = self.seen("kinetic") + self.seen("elastic") + self.seen("gravitational")
        return (total - total[0]) / np.max(self.seen("kinetic"))


def abrupt(run: Run) -> Outcome:
    """Throw the rod without and with damping at every step, and see what its energy does."""
    set_ = run.settings
    arm = build_robot(run.robot).arm
    times = {False: 0.0, True: 1e-3 * set_.damping_time_ms}
    systems = {damped: System(_rod(run.robot, time)) for damped, time in times.items()}
    undamped = systems[False]
    with run.compiling("finding where the pulled rod rests"):
        pulled = no_inputs(undamped.robot)._replace(force=jnp.array([[0.0, 0.0, 0.0, *set_.pull_n]]))
        start = undamped.rest(equilibrium(undamped.robot, pulled, load_steps=_LOAD_STEPS).q)
        _observed(undamped.robot, _one(start))

    throws = [
        _Throw(systems[damped], 1e-3 * step, damped, number, [])
        for number, (damped, step) in enumerate(product((False, True), set_.dt_ms), 1)
    ]
    with _recorder(run, arm, sum(max(round(set_.seconds / throw.dt), 1) + 1 for throw in throws)) as recorder:
        for throw in throws:
            _throw(run, throw, start, recorder)

    metrics = {
        "dt_ms": [1e3 * throw.dt for throw in throws],
        "damped": [throw.damped for throw in throws],
        "energy_gain_max": [float(np.max(throw.change)) for throw in throws],
        "energy_loss_max": [float(-np.min(throw.change)) for throw in throws],
        "peak_kinetic_j": [float(np.max(throw.seen("kinetic"))) for throw in throws],
        "tip_speed_max_m_s": [float(np.max(_speeds(throw))) for throw in throws],
        "tip_deviation_max_mm": [1e3 * _deviation(throw, throws) for throw in throws],
        "iterations_per_step": [float(np.mean(throw.seen("iterations")[1:])) for throw in throws],
        "real_time_factors": [set_.seconds / throw.wall for throw in throws],
    }
    title = f"rod-abrupt: {run.robot.name} let go out of a pull of {_newtons(set_.pull_n)}"
    shown = throws[0]
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, arm, throws, title),
        replay=lambda path: replay_arm(
            path, arm, shown.seen("time"), shown.seen("q"), f"{title} ({shown.label})", min_radius=_THINNEST
        ),
        sim_seconds=sum(float(throw.seen("time")[-1]) for throw in throws),
        dt=min(throw.dt for throw in throws),
        steps=sum(len(throw.seen("time")) - 1 for throw in throws),
    )


def _rod(spec: RobotSpec, damping_time: float) -> Robot:
    """The robot with a given ratio of its material's viscosity to its stiffness [s], and a load on its tip."""
    viscosity = damping_time * spec.material.youngs_modulus
    spec = replace(spec, material=replace(spec.material, viscosity=viscosity))
    return build_robot(spec, load_places=[1.0])


def _throw(run: Run, throw: _Throw, start: State, recorder: Recorder) -> None:
    """Let go, watch, and record."""
    simulation = Simulation(throw.system, dt=throw.dt)
    with run.compiling(f"compiling ({throw.label})"):
        simulation.compile(run.settings.seconds, state=start)

    def keep(rows: Trajectory) -> None:
        part = {"time": rows.time, "iterations": rows.iterations, **_observed(throw.system.robot, rows.state)}
        throw.parts.append(part)
        first = recorder.rows
        recorder.append(np.arange(first, first + len(rows.time)), run=np.full(len(rows.time), throw.number), **part)

    before = run.wall_seconds
    try:
        with run.timed():
            simulation(
                run.settings.seconds,
                state=start,
                on_rows=keep,
                on_progress=lambda done: run.progress(throw.label, done),
            )
    except DivergedError as error:
        raise DivergedError(f"{throw.label}: {error}") from None
    throw.wall = run.wall_seconds - before


def _recorder(run: Run, arm: Arm, rows: int) -> Recorder:
    """All runs one after another; `run` tells which one a row belongs to, counted from 1 as the metrics list them."""
    shape = (arm.count, arm.coordinates)
    variables = [
        Variable("run", description="number of the run, in the order of the metrics' lists"),
        Variable("time", unit="s", description="since the release"),
        Variable("q", ("segment", "mode"), shape, "1/m or 1", "strains: " + ", ".join(arm.segments.modes)),
        Variable("v", ("segment", "mode"), shape, "1/(m s) or 1/s", "their rates"),
        Variable("tip", ("axis",), (3,), "m", "tip in the world"),
        Variable("kinetic", unit="J"),
        Variable("elastic", unit="J"),
        Variable("gravitational", unit="J"),
        Variable("iterations", description="of the stepper since the row before"),
    ]
    attributes = {"scenario": "rod-abrupt", "robot": run.robot.name}
    return run.recorder(variables, rows, axis="row", axis_unit="", attributes=attributes)


def _one(state: State) -> State:
    """A stack of a single state."""
    return jax.tree.map(lambda y: np.asarray(y)[None], state)


def _observed(robot: Robot, states: State) -> dict[str, np.ndarray]:
    """Coordinates, rates, tips and energies of a stack of states."""
    count = len(states.q)
    # Blocks of one size are compiled once: the last one is filled up with its last row.
    filled = -(-count // _BLOCK) * _BLOCK
    padded = jax.tree.map(lambda y: np.concatenate([y, np.repeat(y[-1:], filled - count, 0)]), states)
    parts = [_look(robot, jax.tree.map(lambda y, i=i: y[i : i + _BLOCK], padded)) for i in range(0, filled, _BLOCK)]
    seen = jax.tree.map(lambda *y: np.concatenate(y)[:count], *parts)
    return {"q": np.asarray(states.q), "v": np.asarray(states.v), **seen}


@eqx.filter_jit
def _look(robot: Robot, states: State) -> dict:
    def one(state: State):
        energies = energy(robot, positions(state.robot), velocities(state.robot), no_inputs(robot))
        return {"tip": kinematics.tip_pose(robot.arm, state.q).position, **energies._asdict()}

    return jax.vmap(one)(states)


def _speeds(throw: _Throw) -> np.ndarray:
    """Of the tip, between rows [m/s]."""
    return np.linalg.norm(np.diff(throw.seen("tip"), axis=0), axis=-1) / throw.dt


def _deviation(throw: _Throw, throws: list[_Throw]) -> float:
    """Largest distance of the tip from where it is at the same moment with the smallest step [m]."""
    finest = min((other for other in throws if other.damped == throw.damped), key=lambda other: other.dt)
    path = np.stack([np.interp(throw.seen("time"), finest.seen("time"), y) for y in finest.seen("tip").T], -1)
    return float(np.max(np.linalg.norm(throw.seen("tip") - path, axis=-1)))


def _newtons(pull: tuple[float, ...]) -> str:
    return f"({', '.join(f'{part:g}' for part in pull)}) N"


def _draw(path: Path, arm: Arm, throws: list[_Throw], title: str) -> None:
    """The rod in space with the paths of its tip, its energies, and what the steps add to them."""
    from hydrostat.results import figures

    figure = figures.new_figure(13.5, 7.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 2, width_ratios=[1.25, 1])
    free, damped = ([throw for throw in throws if throw.damped == kind] for kind in (False, True))
    colors = {throw.number: color for throw, color in zip(free, figures.COLORS, strict=False)}

    space = figure.add_subplot(grid[:, 0], projection="3d")
    q = free[0].seen("q")
    moments = q[np.linspace(0, len(q) - 1, 13).astype(int)]
    lines = np.asarray(jax.vmap(lambda q: kinematics.centreline(arm, q, 4).position)(jnp.asarray(moments)))
    for i, nodes in enumerate(lines):
        space.plot(*nodes.T, color="#33322e", alpha=1.0 if i == 0 else 0.25, linewidth=2.5 if i == 0 else 1.2)
    # The first path as a broad line, those of the other steps upon it, which they should hardly leave.
    for width, throw in zip((4.0, 1.8, 0.8), free, strict=True):
        space.plot(
            *throw.seen("tip").T, color=colors[throw.number], linewidth=width, label=f"tip, {throw.label}"
        )  # fmt: skip
    space.plot(*damped[0].seen("tip").T, color="#888888", linewidth=1.0, linestyle=":", label=f"tip, {damped[0].label}")
    figures.frame_space(space, np.concatenate([lines.reshape(-1, 3), *(throw.seen("tip") for throw in throws)]))
    space.view_init(elev=22, azim=-55)
    space.legend(fontsize=8, frameon=False, loc="upper left")

    levels = figure.add_subplot(grid[0, 1])
    first, time = free[0], free[0].seen("time")
    parts = {name: first.seen(name) for name in ("kinetic", "elastic", "gravitational")}
    parts["total"] = np.sum(list(parts.values()), 0)
    for color, (name, values) in zip(figures.COLORS, parts.items(), strict=False):
        levels.plot(time, values, color="#33322e" if name == "total" else color, linewidth=1.3, label=name)
    figures.style_axes(levels, f"energies, {first.label}", "time [s]", "[J]")
    levels.legend(fontsize=8, frameon=False, ncols=4, loc="upper right")
    levels.margins(y=0.15)

    drift = figure.add_subplot(grid[1, 1])
    for throw in free:
        drift.plot(
            throw.seen("time"), 100.0 * throw.change, color=colors[throw.number], linewidth=1.2,
            label=f"{1e3 * throw.dt:g} ms",
        )  # fmt: skip
    figures.style_axes(drift, "change of the energy, undamped", "time [s]", "% of the peak kinetic energy")
    drift.legend(fontsize=8, frameon=False, loc="lower left")
    figures.save(figure, path)
