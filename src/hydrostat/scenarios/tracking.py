"""What the tracking scenarios share: the arm, the law it follows, and how well it went."""

from dataclasses import dataclass
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.actuation.legs import Legs, leg_rates, rest_poses
from hydrostat.control.paths import Curve
from hydrostat.control.resolved_rate import Law, Obstacle, Posture
from hydrostat.errors import DivergedError, InputError
from hydrostat.lie import SE3, so3
from hydrostat.measuring import best_of
from hydrostat.mechanics.robot import Robot
from hydrostat.results import Variable, figures
from hydrostat.robots.build import build_robot
from hydrostat.robots.spec import RobotSpec
from hydrostat.scenarios.base import Run
from hydrostat.segments import StewartSegment
from hydrostat.segments.stewart import faults
from hydrostat.surroundings.crossings import crossings
from hydrostat.viewer import Line, Tube, write_replay

_MOST_TICKS = 100_000
_PADDING = 500  # rows
_FRAMES = 400  # of a replay
_EXAMINED = 100  # moments at which an arm is looked through for crossings
_SNAPSHOTS = 7
PATH_COLOR = "#c8553d"


@dataclass(frozen=True)
class Platforms:
    """A chain of platforms, ready to be tracked with."""

    robot: Robot
    segments: StewartSegment
    rest: SE3
    """Relative poses of the plates at rest."""
    length: float
    """Of the arm at rest [m]."""

    @property
    def base(self) -> SE3:
        """Where the arm stands."""
        return self.robot.arm.T_world_base

    @property
    def tip(self) -> SE3:
        """Where the tip is at rest."""
        return self.base @ SE3(jnp.eye(3), jnp.array([0.0, 0.0, self.length]))


def platforms(spec: RobotSpec) -> Platforms:
    """The arm of a specification."""
    robot = build_robot(spec)
    segments = robot.arm.segments
    assert isinstance(segments, StewartSegment)
    return Platforms(robot, segments, rest_poses(segments), float(robot.arm.length))


def rms(values: np.ndarray) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


def step_ms(function, ticks: int) -> float:
    """The cost of one control tick, from a function that makes so many [ms]."""
    return 1e3 * best_of(3, lambda: jax.block_until_ready(function())) / ticks


def check_ticks(seconds: float, dt: float) -> None:
    """Refuse a run whose rows would fill the memory."""
    if seconds / dt > _MOST_TICKS:
        raise InputError(
            f"a run can have at most {_MOST_TICKS} ticks; {seconds:g} s at `dt_ms` = {1e3 * dt:g} has more: take a "
            f"longer tick or less time"
        )


def check_gain(name: str, gain: float, dt: float, most: float) -> None:
    """Refuse a gain that throws the tip beyond its goal within a tick."""
    if gain * dt > most:
        raise InputError(
            f"`{name}` must be at most {most / dt:g} 1/s at `dt_ms` = {1e3 * dt:g}, or the tip overshoots; got {gain:g}"
        )


def limits_of(arm: Platforms) -> Legs:
    """What the arm's legs can do."""
    assert arm.robot.legs is not None
    return arm.robot.legs


def law_of(arm: Platforms, settings) -> Law:
    """The law of continuous tracking that a scenario's settings describe."""
    bend, length = {"nothing": (0, 0), "rest": (1, 1), "elongation": (1, 0), "bending": (0, 1)}[settings.favour]
    gain = settings.posture_gain
    obstacle = None
    if settings.obstacle:
        if len(settings.obstacle) != 4:
            raise InputError(f"`obstacle` must be x, y, z and its radius; got {len(settings.obstacle)} numbers")
        *centre, radius = settings.obstacle
        if radius <= 0.0:
            raise InputError(f"the radius of `obstacle` must be positive; got {radius:g}")
        numbers = (centre, radius, settings.obstacle_margin, 10.0)
        obstacle = Obstacle(*(jnp.asarray(value, float) for value in numbers))
    return Law(
        arm.segments,
        arm.base,
        posture=Posture(jnp.asarray(bend * gain), jnp.asarray(length * gain)) if bend or length else None,
        obstacle=obstacle,
        legs=arm.robot.legs,
        orient=settings.orientation != "free",
    )


@eqx.filter_jit
def _examined(segments: StewartSegment, base: SE3, T: SE3, twist):
    """Everything about an arm's rows that its metrics and figures need."""
    lengths = segments.leg_lengths(T)
    rings = segments.rings(T)
    rest = rest_poses(segments)
    volume = segments.volume(T, rings) / segments.volume(rest, segments.rings(rest)) - 1.0
    skew = so3.vee(T.rotation)
    cosine = 0.5 * (jnp.trace(T.rotation, axis1=-2, axis2=-1) - 1.0)
    angle = jnp.arctan2(jnp.linalg.norm(skew, axis=-1), cosine)

    def world(T):
        return jax.lax.scan(lambda a, b: ((a @ b), (a @ b)), base, T)[1]

    ends = jax.vmap(world)(T)
    plates = jax.tree.map(
        lambda first, others: jnp.concatenate([jnp.broadcast_to(first, (len(others), 1, *first.shape)), others], 1),
        base,
        ends,
    )
    return lengths, leg_rates(segments, T, twist), rings, volume, angle, plates, faults(segments, T)


@dataclass(frozen=True)
class Examined:
    """An arm's rows, looked through."""

    legs: np.ndarray
    """Lengths (rows, n, 6) [m]."""
    rates: np.ndarray
    """Of the legs (rows, n, 6) [m/s]."""
    rings: np.ndarray
    """Radii of the lower and the upper rings (rows, n, 2) [m]."""
    rotation: np.ndarray
    """Angle of each segment (rows, n) [rad]."""
    positions: np.ndarray
    """Of the plates in the world (rows, n + 1, 3) [m]."""
    rotations: np.ndarray
    metrics: dict
    notes: list[str]

    @property
    def radii(self) -> np.ndarray:
        """Of the plates (rows, n + 1) [m]."""
        return np.concatenate([self.rings[:, :1, 0], self.rings[:, :, 1]], 1)


def examine(
    arm: Platforms, T: SE3, twist: np.ndarray, times: np.ndarray, limits: bool, dt: float | None = None
) -> Examined:
    """Look through an arm's rows: legs, rings, volume, and what may be wrong with its poses.

    **Arguments:** `limits`: whether the limits of the legs were in force; `dt`: of rows that are ticks [s]: legs'
    rates are then what their lengths really did within each of them.
    """
    finite = np.isfinite(np.concatenate([np.asarray(T.position), twist], -1)).all(-1)
    if not finite.all():
        row, segment = np.argwhere(~finite)[0]
        raise DivergedError(
            f"the tracking diverged after {times[row]:.4g} s in segment {segment + 1}; a smaller tick or a lower gain "
            f"may help"
        )
    # Padded, so that not every number of rows is compiled anew.
    rows = len(times)
    padded = np.minimum(np.arange(-(-rows // _PADDING) * _PADDING), rows - 1)
    out = _examined(arm.segments, arm.base, T[padded], jnp.asarray(twist)[padded])
    legs, rates, rings, volume, angle, plates, found = jax.tree.map(lambda y: y[:rows], out)
    legs, rates, rings = np.asarray(legs), np.array(rates), np.asarray(rings)
    if dt is not None and rows > 1:
        rates[:-1] = np.diff(legs, axis=0) / dt
        rates[-1] = rates[-2]
    rest = np.asarray(arm.segments.leg_lengths(arm.rest))
    ratio = legs / rest
    can = limits_of(arm)
    shortest, longest = np.asarray(can.shortest), np.asarray(can.longest)
    beyond = (legs < shortest - 1e-9).any((0, 2)) | (legs > longest + 1e-9).any((0, 2))
    folded, singular = np.asarray(found.folded), np.asarray(found.singular)
    crossing = _first_crossing(plates, rings, times)
    metrics = {
        "volume_error_max": float(np.max(np.abs(volume))),
        "segment_rotation_max_deg": float(np.rad2deg(np.max(angle))),
        "leg_ratio_min": float(ratio.min()),
        "leg_ratio_max": float(ratio.max()),
        "stroke_used_max_m": float(np.max(np.abs(legs - rest))),
        "rate_used_max_m_s": float(np.max(np.abs(rates))),
        "conditioning_min": float(np.min(found.conditioning)),
        "folded_segments": int(folded.any(0).sum()),
        "crosses_itself": crossing is not None,
    }
    notes = []
    for bad, what in ((folded, "folded through the plate below"), (singular, "in a pose that its legs cannot hold")):
        if bad.any():
            row = int(np.argmax(bad.any(-1)))
            numbers = ", ".join(str(i + 1) for i in np.flatnonzero(bad.any(0)))
            notes.append(f"segment {numbers} {what}, first at {times[row]:.3f} s")
    if crossing is not None:
        when, first, second = crossing
        notes.append(f"the arm passes through itself at {when:.3f} s: segments {first} and {second}")
    if beyond.any():
        numbers = ", ".join(str(i + 1) for i in np.flatnonzero(beyond))
        why = "" if limits else ": this controller knows no limits"
        notes.append(f"legs of segment {numbers} leave their stroke{why}")
    positions, rotations = np.asarray(plates.position), np.asarray(plates.rotation)
    return Examined(legs, rates, rings, np.asarray(angle), positions, rotations, metrics, notes)


def _first_crossing(plates: SE3, rings: np.ndarray, times: np.ndarray) -> tuple[float, int, int] | None:
    """When the arm first passes through itself, and which two of its segments."""
    rows = np.unique(np.linspace(0, len(times) - 1, _EXAMINED).round().astype(int))
    radii = np.concatenate([rings[rows, :1, 0], rings[rows, :, 1]], 1)
    found = np.asarray(_all_crossings(plates[rows], jnp.asarray(radii)))
    if not found.any():
        return None
    row = int(np.argmax(found.any((1, 2))))
    first, second = np.argwhere(found[row])[0]
    return float(times[rows[row]]), max(int(first), 1), int(second)


@eqx.filter_jit
def _all_crossings(plates: SE3, radii):
    return jax.lax.map(lambda each: crossings(*each), (plates, radii))


def reach_of(arm: Platforms) -> float:
    """How far the straight arm reaches with every leg as long as it can be [m]."""
    longest = np.asarray(limits_of(arm).longest)
    low = np.asarray(arm.segments.length)
    high = 10.0 * longest.max(-1) + low
    for _ in range(80):
        middle = 0.5 * (low + high)
        T = SE3(arm.rest.rotation, jnp.asarray(np.outer(np.ones_like(middle), [0, 0, 1]) * middle[:, None]))
        fits = np.all(np.asarray(arm.segments.leg_lengths(T)) <= longest, -1)
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return float(low.sum())


def record(run: Run, scenario: str, seen: Examined, times: np.ndarray, wanted: np.ndarray, more=()) -> None:
    """Write the rows of an arm.

    **Arguments:** `more`: further variables, with their rows.
    """
    n = seen.legs.shape[1]
    variables = [
        Variable("tip", ("axis",), (3,), "m", "tip in the world"),
        Variable("tip_wanted", ("axis",), (3,), "m", "where it is to be"),
        Variable("plate_position", ("plate", "axis"), (n + 1, 3), "m", "centres of the plates in the world"),
        Variable("plate_rotation", ("plate", "row", "column"), (n + 1, 3, 3), "1", "their rotations in the world"),
        Variable("leg_length", ("segment", "leg"), (n, 6), "m", "lengths of the legs"),
        Variable("leg_rate", ("segment", "leg"), (n, 6), "m/s", "rates of the legs"),
        Variable("ring", ("segment", "end"), (n, 2), "m", "radii of the lower and the upper ring"),
        *(variable for variable, _ in more),
    ]
    with run.recorder(variables, len(times), attributes={"scenario": scenario, "robot": run.robot.name}) as recorder:
        recorder.append(
            times,
            tip=seen.positions[:, -1],
            tip_wanted=wanted,
            plate_position=seen.positions,
            plate_rotation=seen.rotations,
            leg_length=seen.legs,
            leg_rate=seen.rates,
            ring=seen.rings,
            **{variable.name: rows for variable, rows in more},
        )


def draw_tracking(path: Path, arm: Platforms, seen: Examined, times, curve: Curve, wanted, title: str, below) -> None:
    """Snapshots of the arm over the path, the tip's coordinates over time, and what `below` draws beneath them.

    **Arguments:** `wanted`: times and places that the tip should be at, as dots; `below`: gets axes to draw on.
    """
    figure = figures.new_figure(12.5, 7.5)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 2, width_ratios=[1.25, 1])
    space = figure.add_subplot(grid[:, 0], projection="3d")
    points = curve(np.linspace(0.0, 1.0, 400))
    rows = np.linspace(0, len(times) - 1, _SNAPSHOTS).round().astype(int)
    for row in rows:
        draw_platforms(space, seen, row, 1.0 if row in (rows[0], rows[-1]) else 0.2)
    space.plot(*points.T, "--", color=PATH_COLOR, linewidth=1.5)
    closed = np.allclose(points[0], points[-1])
    for place, word in ((points[0], " start and end" if closed else " start"), (points[-1], "" if closed else " end")):
        space.text(place[0], place[1], place[2], word, fontsize=8, color=PATH_COLOR)
    figures.frame_space(space, np.concatenate([seen.positions[rows].reshape(-1, 3), points]))
    space.view_init(elev=16, azim=-60)

    course = figure.add_subplot(grid[0, 1])
    for axis, name in enumerate("xyz"):
        color = figures.COLORS[axis]
        course.plot(times, seen.positions[:, -1, axis], color=color, linewidth=1.3, label=f"{name} of the tip")
        course.plot(wanted[0], wanted[1][:, axis], ".", color=color, markersize=4, alpha=0.7)
    figures.style_axes(course, "tip (lines) and where it should be (dots)", "time [s]", "[m]")
    course.legend(fontsize=7, frameon=False)
    below(figure.add_subplot(grid[1, 1]))
    figures.save(figure, path)


def draw_platforms(axes, seen: Examined, row: int, alpha: float) -> None:
    """The arm's axis and the rims of its plates at one moment."""
    turn = np.linspace(0.0, 2.0 * np.pi, 25)
    circle = np.stack([np.cos(turn), np.sin(turn), np.zeros_like(turn)], -1)
    centres = seen.positions[row]
    axes.plot(*centres.T, color="#33322e", alpha=alpha, linewidth=1.5)
    for centre, rotation, radius in zip(centres, seen.rotations[row], seen.radii[row], strict=True):
        axes.plot(*(centre + radius * circle @ rotation.T).T, color="#28666e", alpha=alpha, linewidth=0.9)


def replay_tracking(path: Path, seen: Examined, times, curve: Curve, title: str, obstacle=()) -> None:
    """The arm in motion as a tube of the rings' radii, with the path and what the tip draws."""
    step = max(1, -(-len(times) // _FRAMES))
    tube = Tube("arm", seen.positions[::step], seen.rotations[::step], seen.radii[::step])
    tip = seen.positions[::step, -1]
    lines = [
        Line("path", curve(np.linspace(0.0, 1.0, 300)), color=(200, 85, 61), width=0.01),
        Line("path of the tip", tip, color=(120, 120, 120), width=0.006),
    ]
    tubes = [tube]
    if len(obstacle):
        tubes.append(_ball(obstacle, len(tip)))
    write_replay(path, np.asarray(times)[::step], tubes, lines, title=title)


def _ball(obstacle, count: int) -> Tube:
    """A ball as a tube of many rings."""
    *centre, radius = obstacle
    angles = np.linspace(0.02, np.pi - 0.02, 24)
    points = np.array(centre) - np.outer(np.cos(angles) * radius, [0.0, 0.0, 1.0])
    rotations = np.broadcast_to(np.eye(3), (count, len(points), 3, 3))
    return Tube("obstacle", np.broadcast_to(points, (count, *points.shape)), rotations, radius * np.sin(angles))
