"""octopus-crawl: eight arms on a free body that crawls over the ground, with its suckers and without."""

from dataclasses import dataclass
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.actuation import HydrostatMuscles
from hydrostat.compiling import quick_jit
from hydrostat.control.commands import Anatomy
from hydrostat.control.gaits import Crawl, Push, shares_for
from hydrostat.control.nerves import AbstractBrain, Nerves
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.model import GRAVITY, Crown
from hydrostat.results import Variable, figures
from hydrostat.robots.build import build_robot
from hydrostat.robots.build_limbed import crown_model
from hydrostat.scenarios.arm import muscle_gains, simulate
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.stepping import Rows
from hydrostat.surroundings.contact import ContactLaw
from hydrostat.surroundings.sea import Mantle, Sea
from hydrostat.surroundings.suckers import SuckerLaw
from hydrostat.surroundings.water import DENSITY, Water
from hydrostat.viewer import Line, Tube, write_replay

GROUND = ContactLaw(stiffness=50.0, damping=200.0, friction=0.5, slip_speed=0.005, onset=1e-3)
"""Soft, and without bounce; all assumed."""
_APART = 5  # places along an arm that its parts must be apart to touch
_FRAMES = 300  # of a replay
_ARM_COLORS = ((214, 96, 77), (230, 162, 60), (62, 128, 146), (120, 122, 180))


@dataclass(frozen=True)
class Animal:
    """An octopus in its sea, ready to be commanded."""

    model: Crown
    sea: Sea
    anatomy: Anatomy
    yaws: np.ndarray
    """Where its arms point [rad]."""
    lag: float
    """Of activation [s]."""
    radius: float
    """Of its body [m]."""


def animal(run: Run, ground: bool = True) -> Animal:
    """The octopus of a run, without the arms that it has lost, on the ground or in open water."""
    spec, settings = run.limbed, run.settings
    lost = {int(number) for number in settings.lost_arms}
    if any(not 1 <= number <= len(spec.limbs) for number in lost) or len(lost) >= len(spec.limbs):
        raise InputError(f"`lost_arms` must name some of the arms 1 to {len(spec.limbs)}, not all; got {sorted(lost)}")
    kept = [i for i in range(len(spec.limbs)) if i + 1 not in lost]
    first = spec.limbs[0].arm
    # Body and arms have one density, so that buoyancy is a share of their weight.
    weight = np.array(GRAVITY) * (1.0 - DENSITY / first.material.density)
    model = crown_model(spec, gravity=tuple(weight), points=1, skin_points=1, arms=kept)
    radius = (0.75 * spec.body.volume / np.pi) ** (1.0 / 3.0)
    if ground:
        start = jnp.array([0.0, 0.0, radius])
        model = eqx.tree_at(lambda m: m.T_world_body, model, SE3(model.T_world_body.rotation, start))
    assert isinstance(model.arm.muscles, HydrostatMuscles)
    neighbours = _APART if settings.arm_contact else None
    sea = Sea(Water(), GROUND, Mantle(radius), jnp.zeros(()) if ground else None, SuckerLaw(), model.count, neighbours)
    axes = np.asarray(model.mounts.rotation)[:, :, 2]
    lag = build_robot(first).activation_time
    return Animal(model, sea, Anatomy.of(model.arm.muscles), np.arctan2(axes[:, 1], axes[:, 0]), float(lag), radius)


def crawl(run: Run) -> Outcome:
    """Strokes in one direction, with suckers and, beside it, without."""
    settings = run.settings
    octopus = animal(run)
    stroke = Push.usual()
    direction = np.deg2rad(settings.direction_deg)
    share = shares_for(direction, jnp.asarray(octopus.yaws))
    seconds = settings.strokes * float(stroke.duration)
    ones = jnp.ones(octopus.model.count)
    held, slips = (
        _rows(run, octopus, Crawl(octopus.anatomy, stroke, share, on * ones), seconds, part)
        for on, part in ((1.0, (0.0, 0.5)), (0.0, (0.5, 1.0)))
    )
    moved, without = (_path(rows) for rows in (held, slips))
    ahead = np.array([np.cos(direction), np.sin(direction)])
    advance = moved[-1, :2] @ ahead
    heading = np.arctan2(moved[-1, 1], moved[-1, 0])
    off = np.angle(np.exp(1j * (heading - direction)))
    seen = _looked(octopus.model, octopus.radius, held.state)
    every = max(1, round(float(stroke.duration) / (held.time[1] - held.time[0])))
    metrics = {
        "advance_per_stroke_mm": 1e3 * advance / settings.strokes,
        "advance_without_suckers_mm": 1e3 * float(without[-1, :2] @ ahead) / settings.strokes,
        "advance_of_strokes_mm": (1e3 * np.diff(moved[::every, :2] @ ahead)).tolist(),
        "heading_error_deg": abs(float(np.rad2deg(off))),
        "yaw_deg": float(_yaw(held)[-1]),
        "penetration_max_radii": float(np.max(seen[2])),
    }
    _record(run, held, seen)
    title = f"octopus-crawl: {settings.strokes} strokes towards {settings.direction_deg:g} deg"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, held, slips, seen, title),
        replay=lambda path: _replay(path, held, seen, octopus, title),
        sim_seconds=2.0 * seconds,
        dt=1e-3 * settings.dt_ms,
        steps=2 * (len(held.time) - 1),
    )


def _rows(run: Run, octopus: Animal, brain: AbstractBrain, seconds: float, part: tuple[float, float]) -> Rows:
    """The motion that a brain makes, a row every step."""
    start = octopus.sea.begin(octopus.model.count * octopus.anatomy.count)
    gains = jnp.asarray(muscle_gains(run, octopus.anatomy, octopus.model.count))
    controller = Nerves(octopus.model, brain, jnp.asarray(octopus.lag), gains, octopus.sea, start)
    return simulate(run, controller, seconds, share=part)


def _path(rows: Rows) -> np.ndarray:
    """Where the body is, from where it began (rows, 3) [m]."""
    position = np.asarray(rows.state.base_pose.position)
    return position - position[0]


def _yaw(rows: Rows) -> np.ndarray:
    """By how much the body has turned about the vertical [deg]."""
    rotation = np.asarray(rows.state.base_pose.rotation)
    return np.rad2deg(np.unwrap(np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])))


@quick_jit
def _looked(model: Crown, radius, state):
    """Plates of all arms, their radii, and how deep the octopus is in the ground, over the local radius, by rows."""
    section = model.arm.arm.section
    rest = jnp.concatenate([section.radius_base[:1], section.radius_tip])

    def of_arm(body: SE3, mount: SE3, q):
        arm = eqx.tree_at(lambda arm: arm.T_world_base, model.arm.arm, body @ mount)
        width = jnp.sqrt(model.arm.arm.segments.area_ratio(q))
        # A plate between two segments is drawn with the mean of their radii.
        width = jnp.concatenate([width[:1], 0.5 * (width[:-1] + width[1:]), width[-1:]])
        poses = kinematics.segment_poses(arm, q)
        nodes = section.radius_tip * jnp.sqrt(model.arm.arm.segments.area_ratio(q))
        return poses, rest * width, jnp.max(1.0 - poses.position[1:, 2] / nodes)

    def of_row(state):
        poses, radii, deep = jax.vmap(lambda mount, q: of_arm(state.base_pose, mount, q))(model.mounts, state.q)
        return poses, radii, jnp.maximum(jnp.max(deep), 1.0 - state.base_pose.position[2] / radius)

    return jax.lax.map(of_row, state)


def _record(run: Run, rows: Rows, seen) -> None:
    """Write the rows of the run with suckers."""
    poses, _, _ = seen
    arms, plates = np.asarray(poses.position).shape[1:3]
    variables = [
        Variable("body", ("axis",), (3,), "m", "centre of the body in the world"),
        Variable("yaw", (), (), "deg", "turn of the body about the vertical"),
        Variable("plate_position", ("arm", "plate", "axis"), (arms, plates, 3), "m", "ends of the segments"),
        Variable("held", ("arm", "segment"), (arms, plates - 1), "1", "1 where suckers hold the ground"),
    ]
    attributes = {"scenario": "octopus-crawl", "robot": run.limbed.name}
    with run.recorder(variables, len(rows.time), attributes=attributes) as recorder:
        recorder.append(
            rows.time,
            body=np.asarray(rows.state.base_pose.position),
            yaw=_yaw(rows),
            plate_position=np.asarray(poses.position),
            held=np.asarray(rows.memory.world.held).reshape(len(rows.time), arms, -1),
        )


def _draw(path: Path, rows: Rows, without: Rows, seen, title: str) -> None:
    """From above at four moments, and the way of the body."""
    figure = figures.new_figure(13.0, 7.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 4)
    positions = 1e3 * np.asarray(seen[0].position)
    body = 1e3 * np.asarray(rows.state.base_pose.position)
    held = np.asarray(rows.memory.world.held).reshape(*positions.shape[:2], -1)
    for column, row in enumerate(np.linspace(0, len(rows.time) - 1, 5).astype(int)[1:]):
        axes = figure.add_subplot(grid[0, column])
        for arm, points in enumerate(positions[row]):
            axes.plot(points[:, 0], points[:, 1], color=figures.COLORS[arm % len(figures.COLORS)], linewidth=1.6)
            on = held[row, arm] > 0.0
            axes.plot(*points[1:][on][:, :2].T, "o", color="#33322e", markersize=3)
        axes.plot(*body[: row + 1, :2].T, color="#33322e", linewidth=0.8)
        axes.set_aspect("equal")
        figures.style_axes(axes, f"from above, {rows.time[row]:.2f} s", "x [mm]", "y [mm]")
    way = figure.add_subplot(grid[1, :2])
    for one, label, color in ((rows, "with suckers", 0), (without, "without", 2)):
        way.plot(one.time, 1e3 * np.linalg.norm(_path(one)[:, :2], axis=1), color=figures.COLORS[color], label=label)
    way.legend(fontsize=8, frameon=False)
    figures.style_axes(way, "distance of the body from its start", "time [s]", "[mm]")
    turn = figure.add_subplot(grid[1, 2:])
    turn.plot(rows.time, _yaw(rows), color=figures.COLORS[1])
    figures.style_axes(turn, "turn of the body", "time [s]", "[deg]")
    figures.save(figure, path)


def _replay(path: Path, rows: Rows, seen, octopus: Animal, title: str) -> None:
    """All arms and the body in motion."""
    step = max(1, -(-len(rows.time) // _FRAMES))
    poses, radii, _ = seen
    positions, rotations, radii = (np.asarray(y)[::step] for y in (poses.position, poses.rotation, radii))
    tubes = [
        Tube(f"arm {i + 1}", positions[:, i], rotations[:, i], radii[:, i], _ARM_COLORS[i % len(_ARM_COLORS)])
        for i in range(octopus.model.count)
    ]
    centre, turn = (np.asarray(y)[::step] for y in (rows.state.base_pose.position, rows.state.base_pose.rotation))
    along = np.linspace(-0.999, 0.999, 17)
    spots = centre[:, None] + octopus.radius * along[None, :, None] * turn[:, None, :, 2]
    wide = octopus.radius * np.sqrt(1.0 - along**2)
    tubes.append(Tube("body", spots, np.repeat(turn[:, None], len(along), 1), wide, (201, 120, 100)))
    trail = Line("path of the body", centre, color=(120, 120, 120), width=0.0008)
    write_replay(path, rows.time[::step], tubes, [trail], title=title)
