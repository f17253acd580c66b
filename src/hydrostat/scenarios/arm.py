"""What the scenarios of the octopus arm share: the arm in its water, commanded, recorded and looked at."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.actuation import NeoHookean
from hydrostat.compiling import quick_jit
from hydrostat.control.commands import AbstractCommand, Anatomy
from hydrostat.control.nerves import AbstractBrain, Memory, Nerves, played
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.contraction import muscle_power
from hydrostat.mechanics.energy import dissipation, energy, power
from hydrostat.mechanics.model import GRAVITY, Model
from hydrostat.results import Variable
from hydrostat.robots.build import Robot, build_robot
from hydrostat.robots.mechanical import robot_model
from hydrostat.robots.spec import RobotSpec
from hydrostat.scenarios.base import Run
from hydrostat.stepping import SDIRK2, Rows, Simulation, State
from hydrostat.stepping.base import positions, velocities
from hydrostat.stepping.sdirk2 import GAMMA
from hydrostat.surroundings.water import ADDED_MASS, DENSITY, Water
from hydrostat.surroundings.world import World
from hydrostat.viewer import Line, Tube, write_replay

_SKIN_COLORS = ("#c8553d", "#28666e")


@dataclass(frozen=True)
class Hydrostat:
    """A muscular arm in water, ready to be commanded."""

    robot: Robot
    model: Model
    water: Water
    still: Model
    """What a brain knows: the same in still water, with a volume that is kept exactly."""
    anatomy: Anatomy
    length: float
    """At rest [m]."""


def hydrostat(spec: RobotSpec, settings, current=(0.0, 0.0, 0.0)) -> Hydrostat:
    """The arm of a specification in the water that a scenario's settings describe."""
    robot = build_robot(spec, settings.bulk_modulus if settings.volume == "pressure" else None)
    assert robot.muscles is not None
    # All of the arm has one density, so that buoyancy is a share of its weight.
    weight = np.array(GRAVITY) * (1.0 - DENSITY / spec.material.density)
    coefficients = () if settings.drag else (0.0, 0.0)

    def made(robot: Robot, water: Water) -> Model:
        return robot_model(robot, gravity=tuple(weight), points=1, skin_points=1, surroundings=water)

    added = ADDED_MASS if getattr(settings, "added_mass", False) else None
    water = Water(DENSITY, *coefficients, current=current, added_mass=added)
    model = made(robot, water)
    still = made(build_robot(spec), Water(DENSITY, *coefficients, added_mass=added))
    return Hydrostat(robot, model, water, still, Anatomy.of(robot.muscles), float(robot.arm.length))


def muscle_gains(run: Run, anatomy: Anatomy, *arms: int):
    """A constant gain for every muscle of an arm, or of so many, drawn with the noise that the settings ask for."""
    rng = np.random.default_rng([run.seed, 1])
    noise = rng.normal(size=(*arms, anatomy.count, anatomy.columns))
    return np.maximum(1.0 + 0.01 * run.settings.muscle_noise_percent * noise, 0.0)


def stepper() -> SDIRK2:
    """What the scenarios step with: bends to 1e-6 rad a step, far below what the step itself leaves."""
    return SDIRK2(tolerance=1e-6)


def nerves(arm: Hydrostat, brain: AbstractBrain, *, gains=None, world: World | None = None, start=None) -> Nerves:
    """What drives the arm by a brain; muscles have the gains 1 when none are given."""
    ones = jnp.ones((arm.anatomy.count, arm.anatomy.columns))
    lag = jnp.asarray(arm.robot.activation_time)
    return Nerves(arm.model, brain, lag, ones if gains is None else jnp.asarray(gains), world, start)


def simulate(run: Run, controller: Nerves, seconds: float, *, share=(0.0, 1.0)) -> Rows:
    """The motion of a driven arm, or octopus, a row every step.

    **Arguments:** `share`: of the scenario's progress that this run is; the first one compiles for all.
    """
    simulation = Simulation(controller.model, 1e-3 * run.settings.dt_ms, stepper())
    first, last = share
    if first == 0.0:
        with run.compiling("compiling the motion"):
            simulation.compile(seconds, controller)
    with run.timed():
        return simulation.run(
            seconds, controller, on_progress=lambda done: run.progress("moving", first + done * (last - first))
        )


def command_arm(
    run: Run, arm: Hydrostat, command: AbstractCommand, seconds: float, *, share=(0.0, 1.0), **more
) -> "Seen":
    """The motion that a command makes, looked through; `more`: as for `nerves`."""
    dt = 1e-3 * run.settings.dt_ms
    begins = dt * jnp.arange(max(round(seconds / dt), 1))
    controller = nerves(arm, played(command, arm.anatomy, begins, dt), **more)
    return look(arm, controller, simulate(run, controller, seconds, share=share))


@quick_jit
def _looked(controller: Nerves, dt, state: State, memory: Memory):
    """Plates, stretches, sections, pressures, energies and powers of rows."""
    model = controller.model
    assert isinstance(model, Model)
    tissue = model.tissue
    pressed = tissue if isinstance(tissue, NeoHookean) and tissue.bulk is not None else None

    def net_power(state, given):
        x, rate = positions(state), velocities(state)
        return power(model, x, rate, given) - dissipation(model, x, rate)

    def work(before, state, ramp):
        """The mean power of a step by the stepper's own rule: its first stage follows from its begin and its end."""
        v = ((state.q - before.q) / dt - GAMMA * state.v) / (1.0 - GAMMA)
        stage = state._replace(q=before.q + GAMMA * dt * v, v=v)
        first, last = net_power(stage, ramp(GAMMA * dt, before)), net_power(state, ramp(dt, before))
        return (1.0 - GAMMA) * first + GAMMA * last

    def of_row(each):
        before, state, memory_before, memory = each
        ramp = controller.during(0.0, dt, before, memory_before.activation, memory)
        poses = kinematics.segment_poses(model.arm, state.q)
        return (
            poses,
            model.arm.segments.stretch(state.q),
            model.arm.segments.area_ratio(state.q),
            None if pressed is None else pressed.pressure(model.arm, state.q),
            energy(model, positions(state), velocities(state), ramp(dt, state)).total,
            work(before, state, ramp),
            jnp.sum(muscle_power(model, state.q, state.v, memory.activation)),
        )

    def shifted(rows):
        """The rows before; before the first is the first."""
        return jax.tree.map(lambda y: jnp.concatenate([y[:1], y[:-1]]), rows)

    return jax.lax.map(of_row, (shifted(state), state, shifted(memory), memory))


@dataclass(frozen=True)
class Seen:
    """The rows of an arm, looked through."""

    times: np.ndarray
    positions: np.ndarray
    """Of the plates (rows, n + 1, 3) [m]."""
    rotations: np.ndarray
    stretch: np.ndarray
    """Of the segments (rows, n)."""
    q: np.ndarray
    activation: np.ndarray
    energy: np.ndarray
    """Of the arm (rows,) [J]."""
    net_power: np.ndarray
    """What should be its mean rate during the step before the row, by what acted in that step [W]."""
    muscle_power: np.ndarray
    radii: np.ndarray
    """Of the plates (rows, n + 1) [m]."""
    pressure: np.ndarray | None
    """That keeps the segments' volume (rows, n) [Pa]; None where it is kept exactly."""
    volume_error: float
    """Largest relative error of a segment's volume."""
    mesh_volume_error: float
    """Largest relative error of the volume within the drawn surface."""
    ball: np.ndarray
    """Centre of the load (rows, 3) [m]; of none, at the origin."""
    held: np.ndarray
    """1 where a sucker holds it (rows, nodes)."""

    @property
    def bends(self) -> np.ndarray:
        """Bend of each segment (rows, n) [rad]."""
        return np.hypot(self.q[..., 0], self.q[..., 1])


def look(arm: Hydrostat, controller: Nerves, rows: Rows) -> Seen:
    """Look through the rows of a run, which are its steps."""
    # What a brain remembers is no part of what acts on the arm.
    memory = rows.memory._replace(brain=())
    seen = _looked(eqx.tree_at(lambda c: c.brain, controller, None), rows.time[1] - rows.time[0], rows.state, memory)
    poses, stretch, area, pressure, stored, net, muscles = seen
    stretch, area = np.asarray(stretch), np.asarray(area)
    rest = np.asarray(arm.robot.arm.segments.length)
    section = arm.robot.arm.section
    lower, upper = np.asarray(section.radius_base), np.asarray(section.radius_tip)
    width = np.sqrt(area)
    base, tip = lower * width, upper * width
    volume = np.pi / 3.0 * (rest * stretch) * (base**2 + base * tip + tip**2)
    whole = np.pi / 3.0 * rest * (lower**2 + lower * upper + upper**2)
    # A plate between two segments is drawn with the mean of their radii.
    radii = np.concatenate([base[:, :1], 0.5 * (tip[:, :-1] + base[:, 1:]), tip[:, -1:]], 1)
    positions, rotations = np.asarray(poses.position), np.asarray(poses.rotation)
    mesh = _mesh_volumes(positions, rotations, radii)
    return Seen(
        rows.time,
        positions,
        rotations,
        stretch,
        np.asarray(rows.state.q) * np.asarray(arm.robot.arm.segments.scale)[:, None],
        np.asarray(rows.memory.activation),
        np.asarray(stored),
        np.asarray(net),
        np.asarray(muscles),
        radii,
        None if pressure is None else np.asarray(pressure),
        float(np.max(np.abs(volume / whole - 1.0))),
        float(np.max(np.abs(mesh / mesh[0] - 1.0))),
        *_of_world(rows),
    )


def _of_world(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Where the load is and what holds it; a row's memory is that of the step before, so they come one row late."""
    world = rows.memory.world
    if world is None:
        return np.zeros((len(rows.time), 3)), np.zeros((len(rows.time), 1))
    late = [np.asarray(y) for y in (world.ball.position, world.held)]
    onward = 2.0 * late[0][-1:] - late[0][-2:-1]
    return np.concatenate([late[0][1:], onward]), np.concatenate([late[1][1:], late[1][-1:]])


def _mesh_volumes(positions: np.ndarray, rotations: np.ndarray, radii: np.ndarray, sides: int = 48) -> np.ndarray:
    """The volume within the surface through the rims of the plates, of every row [m^3], by Gauss's theorem."""
    turn = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    circle = np.stack([np.cos(turn), np.sin(turn), np.zeros(sides)], -1)
    rims = positions[:, :, None] + radii[:, :, None, None] * np.einsum("tnij,sj->tnsi", rotations, circle)
    a, b = rims[:, :-1], rims[:, 1:]
    a_next, b_next = np.roll(a, -1, 2), np.roll(b, -1, 2)

    def signed(x, y, z):
        return np.einsum("...i,...i->...", x, np.cross(y, z)) / 6.0

    sides_ = (signed(a, a_next, b_next) + signed(a, b_next, b)).sum((1, 2))
    low, high = positions[:, :1], positions[:, -1:]
    first, last = rims[:, 0], rims[:, -1]
    ends = signed(low, np.roll(first, -1, 1), first).sum(1) + signed(high, last, np.roll(last, -1, 1)).sum(1)
    return np.abs(sides_ + ends)


def volume_metrics(seen: Sequence[Seen]) -> dict:
    """How well runs of one arm kept its volume, and by which pressure."""
    metrics = {
        "volume_error_max": max(one.volume_error for one in seen),
        "mesh_volume_error_max": max(one.mesh_volume_error for one in seen),
    }
    pressures = [one.pressure.max() for one in seen if one.pressure is not None]
    return {**metrics, "pressure_max_kpa": 1e-3 * float(max(pressures))} if pressures else metrics


def energy_balance_error(seen: Seen) -> float:
    """How far the work of muscles and water less heat is from the change of energy, over the muscles' work."""
    step = np.diff(seen.times)
    work = np.concatenate([[0.0], np.cumsum(seen.net_power[1:] * step)])
    size = np.sum(0.5 * (np.abs(seen.muscle_power[1:]) + np.abs(seen.muscle_power[:-1])) * step)
    return float(np.max(np.abs(seen.energy - seen.energy[0] - work)) / max(size, 1e-300))


def record(run: Run, scenario: str, seen: Seen) -> None:
    """Write the rows of a run."""
    n, m = seen.activation.shape[1:]
    variables = [
        Variable("tip", ("axis",), (3,), "m", "tip in the world"),
        Variable("plate_position", ("plate", "axis"), (n + 1, 3), "m", "ends of the segments in the world"),
        Variable("stretch", ("segment",), (n,), "1", "length of each segment over that at rest"),
        Variable("bend", ("segment",), (n,), "rad", "bend of each segment"),
        Variable("activation", ("segment", "muscle"), (n, m), "1", "of every muscle"),
        Variable("muscle_power", (), (), "W", "of all muscles"),
    ]
    own = {}
    if seen.pressure is not None:
        variables.append(Variable("pressure", ("segment",), (n,), "Pa", "that keeps the volume of each segment"))
        own["pressure"] = seen.pressure
    attributes = {"scenario": scenario, "robot": run.robot.name}
    with run.recorder(variables, len(seen.times), attributes=attributes) as recorder:
        recorder.append(
            seen.times,
            tip=seen.positions[:, -1],
            plate_position=seen.positions,
            stretch=seen.stretch,
            bend=seen.bends,
            activation=seen.activation,
            muscle_power=seen.muscle_power,
            **own,
        )


def draw_arm_side(axes, seen: Seen, row: int, plane: tuple[int, int] = (0, 2), alpha: float = 1.0) -> None:
    """The outline of the arm in a plane of the world [mm], and its axis."""
    i, j = plane
    alpha = min(alpha, 1.0)
    points = 1e3 * seen.positions[row][:, [i, j]]
    along = np.gradient(points, axis=0)
    across = np.stack([-along[:, 1], along[:, 0]], -1)
    across /= np.maximum(np.linalg.norm(across, axis=-1, keepdims=True), 1e-12)
    width = 1e3 * seen.radii[row][:, None]
    outline = np.concatenate([points + width * across, (points - width * across)[::-1]])
    axes.fill(*outline.T, color=_SKIN_COLORS[0], alpha=0.35 * alpha, linewidth=0)
    axes.plot(*points.T, color="#33322e", alpha=alpha, linewidth=0.8)


def replay(path: Path, seen: Seen, title: str, lines: Sequence[Line] = (), tubes: Sequence[Tube] = ()) -> None:
    """The arm in motion, with what else there is (`tubes`, row by row as the arm)."""
    step = max(1, -(-len(seen.times) // 400))
    tube = Tube("arm", seen.positions[::step], seen.rotations[::step], seen.radii[::step])
    trail = Line("path of the tip", seen.positions[::step, -1], color=(120, 120, 120), width=0.0004)
    more = [Tube(one.name, one.positions[::step], one.rotations[::step], one.radii[::step], one.color) for one in tubes]
    write_replay(path, seen.times[::step], [tube, *more], [trail, *lines], title=title)
