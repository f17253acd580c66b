"""arm-fetch and arm-throw: the octopus arm brings its tip or a load to the mouth, and throws a load."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hydrostat.control.base import Controller
from hydrostat.control.commands import Anatomy, Bend, Fetch, FetchTo, Grasp, Parallel, Sequence, Stiffen
from hydrostat.errors import InputError
from hydrostat.results import figures, rows
from hydrostat.results.digest import BALANCE, Digest
from hydrostat.results.drawing import ABOVE, FRONT, Scene, draw_view
from hydrostat.robots.build import build_robot
from hydrostat.scenarios.arm import arm_system, kept_metrics, known_arm, move, muscle_gains
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.surroundings.arm_contact import ArmContact
from hydrostat.surroundings.contact import ContactLaw
from hydrostat.surroundings.ground import Ground
from hydrostat.surroundings.objects import Ball
from hydrostat.surroundings.suckers import Suckers
from hydrostat.system import System

FLESH = ContactLaw(stiffness=100.0, damping=5.0, friction=0.5, slip_speed=0.01, onset=1e-3)
"""Soft; all assumed. A sphere of 5 mm and 10 kPa has some 50 N/m. More damping would outweigh the arm, see `own`."""
_APART = 5  # places along an arm of 20 segments that its parts must be apart to touch
_HOLDS_AT = 0.6  # of the arm: where it holds what it throws
_FETCHES_AT = 0.55  # of the arm: where it holds what it fetches
_THERE = 1e-3  # m beyond the nearest that it came, from where it counts as there
_SETTLE = 0.3  # s before a throw in which the arm takes hold and stiffens
_MARGIN = 10.0  # mm around what is drawn
_GATHERED = {**BALANCE, "tip": rows.tip_pose, "objects": rows.objects, "taken": rows.taken}


@dataclass(frozen=True)
class Loaded:
    """An arm with what it holds, and where that starts."""

    system: System
    ball: Ball | None
    segment: int
    """That holds the load, counted from 1."""

    @property
    def count(self) -> int:
        """The number of segments."""
        return self.system.robot.arm.count

    @property
    def mouth(self) -> np.ndarray:
        """Where the base of the arm is [m]."""
        return np.asarray(self.system.robot.arm.T_world_base.position)


def _loaded(run: Run, place: float, ground: bool) -> Loaded:
    """The arm, with the load that the settings ask for beneath it."""
    settings, robot = run.settings, build_robot(run.robot)
    arm, n = robot.arm, robot.arm.count
    segment = max(1, round(place * n))
    ball = Ball.of_density(1e-3 * settings.load_g, settings.load_density, law=FLESH) if settings.load_g else None
    size = 0.0 if ball is None else float(ball.radius)
    base, along = np.asarray(arm.T_world_base.position), np.asarray(arm.T_world_base.rotation)[:, 2]
    radius, length = float(arm.section.radius_tip[segment - 1]), float(np.asarray(arm.segments.length)[:segment].sum())
    start = base + length * along - np.array([0.0, 0.0, size + radius])
    if settings.load_at:
        start = np.array(settings.load_at)
        if len(start) != 3:
            raise InputError(f"`load_at` must be x, y, z of the load's centre; got {len(start)} numbers")
    parts: list = []
    if settings.self_contact:
        parts.append(ArmContact(FLESH, apart=max(2, round(_APART * n / 20))))
    if ground:
        parts.append(Ground(float(start[2]) - size, FLESH, soft=False))
    if ball is not None:
        _check_outside(arm, start, size)
        ball = Ball(ball.radius, ball.mass, start, law=FLESH)
        parts += [ball, Suckers()] if settings.suckers else [ball]
    current, gains = getattr(settings, "current_m_s", (0.0, 0.0, 0.0)), muscle_gains(run, Anatomy.of(robot))
    return Loaded(arm_system(run, parts, current=current, gains=gains), ball, segment)


def _check_outside(arm, start: np.ndarray, size: float) -> None:
    """Refuse a load that starts within the arm."""
    rest, section = np.asarray(arm.segments.length), arm.section
    base, along = np.asarray(arm.T_world_base.position), np.asarray(arm.T_world_base.rotation)[:, 2]
    ends = np.concatenate([[0.0], np.cumsum(rest)])
    at = np.clip((start - base) @ along, 0.0, ends[-1])
    i = int(np.clip(np.searchsorted(ends, at) - 1, 0, len(rest) - 1))
    share = (at - ends[i]) / rest[i]
    radius = float(section.radius_base[i] * (1.0 - share) + section.radius_tip[i] * share)
    depth = size + radius - float(np.linalg.norm(start - base - at * along))
    if depth > 1e-3:
        raise InputError(f"the load must start outside the arm; it reaches {1e3 * depth:.1f} mm into segment {i + 1}")


def fetch(run: Run) -> Outcome:
    """Fetch by a pattern of activations, or by what the arm feels."""
    settings = run.settings
    loaded = _loaded(run, _FETCHES_AT, ground=False)
    if settings.feedback:
        command: Controller = FetchTo(min(6.0, 0.8 * settings.seconds), known=known_arm(run))
    else:
        command = _pattern(loaded, settings.seconds + 10.0)
    motion = move(run, loaded.system, command, settings.seconds, record="arm-fetch", functions=_GATHERED)
    time, found = motion.time, motion.values
    if loaded.ball is None:
        distance = np.linalg.norm(found["tip"].position - loaded.mouth, axis=-1)
    else:
        distance = np.linalg.norm(found["objects"].position[:, 0] - loaded.mouth, axis=-1) - float(loaded.ball.radius)
    nearest = int(np.argmin(distance))
    metrics = {
        "mouth_distance_mm": 1e3 * float(distance[nearest]),
        "mouth_time_s": float(time[np.flatnonzero(distance <= distance[nearest] + _THERE)[0]]),
        "mouth_distance_end_mm": 1e3 * float(distance[-1]),
        "attached": bool(found["taken"][-1].any()),
        "load_g": settings.load_g,
        **kept_metrics([motion]),
    }
    what = "its tip" if loaded.ball is None else f"{settings.load_g:g} g"
    title = f"arm-fetch: {run.robot.name} brings {what} to the mouth" + (", with feedback" if settings.feedback else "")
    return _outcome(run, loaded, motion, metrics, title, ("distance from the mouth", 1e3 * distance, "[mm]"))


def _pattern(loaded: Loaded, long: float) -> Controller:
    """Joints that bend the arm, up when it is free; sideways and along most of its length where it carries a load.

    An arm of 40 segments ends elsewhere by some 5 mm than one of 20: struts tilt at their upper ends, and grades are
    over the first segment's radius. The free arm's tip is brought above the mouth and behind it, where that is across
    the way to the mouth.
    """
    if loaded.ball is None:
        return Fetch(long, (0.39, 0.75, 0.15), 0.27, places=((0.0, 0.1), (0.25, 0.7), (0.7, 0.75)), rise=1.3)
    n, azimuth = loaded.count, np.deg2rad(107.0)
    joints = Fetch(long, (0.35, 0.275, 0.0), 0.07, azimuth, ((0.04, 0.26), (0.26, 0.72), (0.75, 0.85)), 2.6)
    grasp = Grasp(long, (loaded.segment - 1.5) / n, (loaded.segment + 0.5) / n)
    return Parallel(joints, Stiffen(0.1, long), grasp)


def throw(run: Run) -> Outcome:
    """Take hold of a load on the ground, swing it up and back, and let go."""
    settings = run.settings
    loaded = _loaded(run, _HOLDS_AT, ground=True)
    if loaded.ball is None:
        raise InputError("`load_g` must be above 0 to throw something; got 0")
    release = _SETTLE + settings.release_s
    if release >= settings.seconds:
        raise InputError(
            f"`release_s` must end {_SETTLE:g} s before `seconds` = {settings.seconds:g} s; got {release:g}"
        )
    n = loaded.count
    swing = Bend(settings.activation, settings.release_s + 0.1, 0.0, settings.swing_share, np.pi)
    grasp = Grasp(release, (loaded.segment - 2) / n, min(1.0, (loaded.segment + 1) / n))
    command = Parallel(Sequence(Stiffen(0.2, _SETTLE), swing), grasp)
    motion = move(run, loaded.system, command, settings.seconds, record="arm-throw", functions=_GATHERED)
    time, found = motion.time, motion.values
    ball = found["objects"].position[:, 0]
    # The row in which the step has ended that was the last to hold it.
    row = int(np.searchsorted(time, release - 1e-9))
    held = bool(found["taken"][row].any())
    low = ball[:, 2] <= ball[0, 2] + 2e-3
    flown = np.flatnonzero(low[row:])
    lands = row + int(flown[0]) if len(flown) else len(time) - 1
    speed = np.linalg.norm(np.gradient(ball, time, axis=0), axis=-1)
    metrics = {
        "attached": held,
        "release_speed_m_s": float(speed[row]) if held else 0.0,
        "throw_range_m": float(np.linalg.norm((ball[lands] - ball[0])[:2])) if held else 0.0,
        "landed": bool(len(flown)),
        "flight_s": float(time[lands] - time[row]),
        "highest_m": float(ball[:, 2].max() - ball[0, 2]),
        **kept_metrics([motion]),
    }
    title = f"arm-throw: {run.robot.name} throws {settings.load_g:g} g"
    return _outcome(run, loaded, motion, metrics, title, ("speed of the load", speed, "[m/s]"))


def _outcome(run: Run, loaded: Loaded, motion: Digest, metrics: dict, title: str, course) -> Outcome:
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, loaded, motion, title, course),
        replay=lambda path: motion.shown.replay(path, title),
        sim_seconds=float(motion.time[-1]),
        dt=1e-3 * run.settings.dt_ms,
        steps=len(motion.time) - 1,
    )


def _draw(path: Path, loaded: Loaded, motion: Digest, title: str, course) -> None:
    """Snapshots from the side and from above, and a curve over time."""
    figure = figures.new_figure(13.0, 6.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 2, width_ratios=[1.3, 1])
    shown = motion.shown
    scene = Scene.of(shown, np.linspace(0, len(shown) - 1, 7).round().astype(int))
    views = [(grid[:, 0] if loaded.ball is None else grid[0, 0], FRONT, "from the side", "z [mm]")]
    if loaded.ball is not None:
        views.append((grid[1, 0], ABOVE, "from above", "y [mm]"))
    for place, plane, name, label in views:
        axes = figure.add_subplot(place)
        for row in range(len(scene.time)):
            draw_view(axes, scene, row, plane, paleness=0.8 - 0.8 * row / (len(scene.time) - 1), path=False)
        axes.plot(*(1e3 * loaded.mouth[list(plane)]), "x", color="#28666e", markersize=8, markeredgewidth=2, zorder=5)
        # The ground reaches far beyond what moves.
        (left, low), (right, high) = 1e3 * scene.bounds(plane)
        axes.set(xlim=(left - _MARGIN, right + _MARGIN), ylim=(low - _MARGIN, high + _MARGIN))
        figures.style_axes(axes, f"{name}, later darker; the mouth is marked", "x [mm]", label)
    heading, values, unit = course
    axes = figure.add_subplot(grid[0, 1])
    axes.plot(motion.time, values, color="#28666e", linewidth=1.3)
    figures.style_axes(axes, heading, "time [s]", unit)
    axes = figure.add_subplot(grid[1, 1])
    extent = (0.0, float(motion.time[-1]), 0.0, 1.0)
    image = np.asarray(shown.activation).max(-1).T
    axes.imshow(image, origin="lower", aspect="auto", extent=extent, cmap="magma_r", vmin=0.0)
    figures.style_axes(axes, "most active muscle", "time [s]", "place along the arm")
    figures.save(figure, path)
