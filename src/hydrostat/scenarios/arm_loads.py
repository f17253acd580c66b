"""arm-fetch and arm-throw: the octopus arm brings its tip or a load to the mouth, and throws a load."""

from dataclasses import dataclass
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from hydrostat.control.commands import Bend, Fetch, Grasp, Parallel, Sequence, Stiffen
from hydrostat.control.feedback import Course, make_servo, shape_to_point, tabulated
from hydrostat.control.nerves import AbstractBrain, paced, played, steps_per_decision
from hydrostat.errors import InputError
from hydrostat.mechanics.model import GRAVITY, Model, places
from hydrostat.results import figures
from hydrostat.scenarios.arm import (
    Hydrostat,
    Seen,
    draw_arm_side,
    energy_balance_error,
    hydrostat,
    look,
    muscle_gains,
    nerves,
    record,
    replay,
    simulate,
    volume_metrics,
)
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.surroundings.contact import ContactLaw
from hydrostat.surroundings.shapes import Plane
from hydrostat.surroundings.suckers import SuckerLaw
from hydrostat.surroundings.world import Ball, World
from hydrostat.viewer import Tube

FLESH = ContactLaw(stiffness=100.0, damping=5.0, friction=0.5, slip_speed=0.01, onset=1e-3)
"""Soft; all assumed. A sphere of 5 mm and 10 kPa has some 50 N/m. More damping would outweigh the arm, see `own`."""
_APART = 5  # places along an arm of 20 segments that its parts must be apart to touch
_HOLDS_AT = 0.6  # of the arm: where it holds what it throws
_FETCHES_AT = 0.55  # of the arm: where it holds what it fetches
_MOUTH = (0.02, 0.125)  # of the arm: how far before and beside the base the held place is brought
_THERE = 1e-3  # m beyond the nearest that it came, from where it counts as there
_DECIDES = 4e-3  # s from one decision of an arm that feels to the next, assumed
_SETTLE = 0.3  # s before a throw in which the arm takes hold and stiffens


@dataclass(frozen=True)
class Loaded:
    """An arm with what it holds, and where that starts."""

    arm: Hydrostat
    world: World
    ball: Ball | None
    start: np.ndarray
    segment: int
    """That holds the load, counted from 1."""


def _loaded(run: Run, place: float, ground: bool) -> Loaded:
    """The arm, with the load that the settings ask for beneath it."""
    settings = run.settings
    arm = hydrostat(run.robot, settings, getattr(settings, "current_m_s", (0.0, 0.0, 0.0)))
    n = arm.anatomy.count
    segment = max(1, round(place * n))
    ball = Ball.of_density(1e-3 * settings.load_g, settings.load_density) if settings.load_g else None
    nodes = np.cumsum(np.asarray(arm.robot.arm.segments.length))
    radius = float(arm.robot.arm.section.radius_tip[segment - 1])
    base = np.asarray(arm.robot.arm.T_world_base.position)
    along = np.asarray(arm.robot.arm.T_world_base.rotation)[:, 2]
    size = 0.0 if ball is None else float(ball.radius)
    start = base + nodes[segment - 1] * along - np.array([0.0, 0.0, size + radius])
    if settings.load_at:
        start = np.array(settings.load_at)
        if len(start) != 3:
            raise InputError(f"`load_at` must be x, y, z of the load's centre; got {len(start)} numbers")
    floor = Plane(point=(0.0, 0.0, float(start[2]) - size), normal=(0.0, 0.0, 1.0)) if ground else None
    world = World(
        water=arm.water,
        gravity=jnp.asarray(GRAVITY),
        law=FLESH,
        ball=ball,
        ground=floor,
        suckers=SuckerLaw() if settings.suckers and ball is not None else None,
        neighbours=max(2, round(_APART * n / 20)) if settings.self_contact else None,
    )
    if ball is not None:
        _check_outside(arm, start, size)
    return Loaded(arm, world, ball, start, segment)


def _check_outside(arm: Hydrostat, start: np.ndarray, size: float) -> None:
    """Refuse a load that starts within the arm."""
    rest = np.asarray(arm.robot.arm.segments.length)
    base = np.asarray(arm.robot.arm.T_world_base.position)
    along = np.asarray(arm.robot.arm.T_world_base.rotation)[:, 2]
    ends = np.concatenate([[0.0], np.cumsum(rest)])
    at = np.clip((start - base) @ along, 0.0, ends[-1])
    i = int(np.clip(np.searchsorted(ends, at) - 1, 0, len(rest) - 1))
    section = arm.robot.arm.section
    share = (at - ends[i]) / rest[i]
    radius = float(section.radius_base[i] * (1.0 - share) + section.radius_tip[i] * share)
    depth = size + radius - float(np.linalg.norm(start - base - at * along))
    if depth > 1e-3:
        raise InputError(f"the load must start outside the arm; it reaches {1e3 * depth:.1f} mm into segment {i + 1}")


def _run(run: Run, loaded: Loaded, brain: AbstractBrain, seconds: float) -> Seen:
    """The motion that a brain makes."""
    world = loaded.world.begin(loaded.arm.anatomy.count, loaded.start)
    controller = nerves(loaded.arm, brain, gains=muscle_gains(run, loaded.arm.anatomy), world=loaded.world, start=world)
    return look(loaded.arm, controller, simulate(run, controller, seconds))


def fetch(run: Run) -> Outcome:
    """Fetch by a pattern of activations, or by what the arm feels."""
    settings = run.settings
    loaded = _loaded(run, _FETCHES_AT, ground=False)
    brain = _by_feeling(run, loaded) if settings.feedback else _by_pattern(run, loaded)
    seen = _run(run, loaded, brain, settings.seconds)
    record(run, "arm-fetch", seen)
    mouth = np.asarray(loaded.arm.robot.arm.T_world_base.position)
    if loaded.ball is None:
        distance = np.linalg.norm(seen.positions[:, -1] - mouth, axis=-1)
    else:
        distance = np.linalg.norm(seen.ball - mouth, axis=-1) - float(loaded.ball.radius)
    nearest = int(np.argmin(distance))
    metrics = {
        "mouth_distance_mm": 1e3 * float(distance[nearest]),
        "mouth_time_s": float(seen.times[np.flatnonzero(distance <= distance[nearest] + _THERE)[0]]),
        "mouth_distance_end_mm": 1e3 * float(distance[-1]),
        "attached": bool(seen.held[-1].any()) if loaded.ball is not None else False,
        "load_g": settings.load_g,
        **volume_metrics([seen]),
        "energy_balance_error": energy_balance_error(seen),
    }
    what = "its tip" if loaded.ball is None else f"{settings.load_g:g} g"
    title = f"arm-fetch: {run.robot.name} brings {what} to the mouth" + (", with feedback" if settings.feedback else "")
    return _outcome(run, loaded, seen, metrics, title, ("distance from the mouth", 1e3 * distance, "[mm]"))


def _by_pattern(run: Run, loaded: Loaded) -> AbstractBrain:
    """Joints that bend the arm, up when it is free; sideways and along most of its length where it carries a load.

    An arm of 40 segments ends elsewhere by some 5 mm than one of 20: struts tilt at their upper ends, and grades are
    over the first segment's radius. The free arm's tip is brought above the mouth and behind it, where that is across
    the way to the mouth.
    """
    dt = 1e-3 * run.settings.dt_ms
    begins = dt * jnp.arange(max(round(run.settings.seconds / dt), 1))
    long = run.settings.seconds + 10.0
    if loaded.ball is None:
        joints = Fetch(long, (0.39, 0.75, 0.15), 0.27, places=((0.0, 0.1), (0.25, 0.7), (0.7, 0.75)), rise=1.3)
        return played(joints, loaded.arm.anatomy, begins, dt)
    n = loaded.arm.anatomy.count
    joints = Fetch(long, (0.35, 0.275, 0.0), 0.07, 107.0, ((0.04, 0.26), (0.26, 0.72), (0.75, 0.85)), 2.6)
    grasp = Grasp(long, (loaded.segment - 1.5) / n, (loaded.segment + 0.5) / n)
    return played(Parallel(joints, Stiffen(0.1, long), grasp), loaded.arm.anatomy, begins, dt)


def _by_feeling(run: Run, loaded: Loaded) -> AbstractBrain:
    """A course of shapes that brings the segment that holds the load beside the mouth, once it holds it.

    The brain counts the load's mass with the arm's: drawn as if it were light, the load would swing for seconds.
    """
    settings, arm = run.settings, loaded.arm
    n, count = arm.anatomy.count, loaded.segment if loaded.ball is not None else arm.anatomy.count
    base = arm.robot.arm.T_world_base
    axis = np.asarray(base.rotation)[:, 2]
    side = np.cross([0.0, 0.0, 1.0], axis)
    side = side / np.linalg.norm(side) if np.linalg.norm(side) > 1e-6 else np.array([0.0, 1.0, 0.0])
    point = np.asarray(base.position) + arm.length * (_MOUTH[0] * axis + _MOUTH[1] * side)
    straight = jnp.zeros((n, arm.still.arm.coordinates))
    bent = straight.at[:count].set(shape_to_point(arm.still.arm.first(count), jnp.asarray(point)))
    grip = np.zeros(n)
    grip[count - 1] = 1.0
    takes, arrives = 0.1, 0.1 + min(6.0, 0.8 * settings.seconds)
    waits = [0.0, 1.0 if loaded.ball is not None else 0.0, 0.0]
    course = Course(
        jnp.array([0.0, takes, arrives]),
        jnp.stack([straight, straight, bent]),
        jnp.asarray(np.stack([grip] * 3)),
        jnp.array(waits),
    )
    dt = 1e-3 * settings.dt_ms
    every = steps_per_decision(_DECIDES, dt)
    period = every * dt
    begins = period * jnp.arange(max(round(settings.seconds / period), 1))
    known = arm.still if loaded.ball is None else _carrying(arm.still, count / n, loaded.ball.mass)
    with run.compiling("planning"):
        table = tabulated(known, course, begins, period)
    return paced(make_servo(known, table, rate=6.5, stiffen=0.3), every)


def _carrying(model: Model, place: float, mass) -> Model:
    """The same arm with a mass [kg] at a fraction of it."""
    point = jnp.concatenate([jnp.zeros(3), jnp.full(3, mass)])
    return eqx.tree_at(lambda m: (m.lumps, m.lump_inertia), model, (places(model.arm, [place]), point[None]))


def throw(run: Run) -> Outcome:
    """Take hold of a load on the ground, swing it up and back, and let go."""
    settings = run.settings
    loaded = _loaded(run, _HOLDS_AT, ground=True)
    if loaded.ball is None:
        raise InputError("`load_g` must be above 0 to throw something; got 0")
    n, dt = loaded.arm.anatomy.count, 1e-3 * settings.dt_ms
    release = _SETTLE + settings.release_s
    if release >= settings.seconds:
        raise InputError(
            f"`release_s` must end {_SETTLE:g} s before `seconds` = {settings.seconds:g} s; got {release:g}"
        )
    swing = Bend(settings.activation, settings.release_s + 0.1, 0.0, settings.swing_share, 180.0)
    grasp = Grasp(release, (loaded.segment - 2) / n, min(1.0, (loaded.segment + 1) / n))
    command = Parallel(Sequence(Stiffen(0.2, _SETTLE), swing), grasp)
    begins = dt * jnp.arange(max(round(settings.seconds / dt), 1))
    seen = _run(run, loaded, played(command, loaded.arm.anatomy, begins, dt), settings.seconds)
    record(run, "arm-throw", seen)
    row = int(np.searchsorted(seen.times, release - 1e-9))
    held = bool(seen.held[row - 1].any())
    low = seen.ball[:, 2] <= loaded.start[2] + 2e-3
    flown = np.flatnonzero(low[row:])
    lands = row + int(flown[0]) if len(flown) else len(seen.times) - 1
    speed = np.linalg.norm(np.gradient(seen.ball, seen.times, axis=0), axis=-1)
    metrics = {
        "attached": held,
        "release_speed_m_s": float(speed[row]) if held else 0.0,
        "throw_range_m": float(np.linalg.norm((seen.ball[lands] - seen.ball[0])[:2])) if held else 0.0,
        "landed": bool(len(flown)),
        "flight_s": float(seen.times[lands] - seen.times[row]),
        "highest_m": float(seen.ball[:, 2].max() - seen.ball[0, 2]),
        **volume_metrics([seen]),
        "energy_balance_error": energy_balance_error(seen),
    }
    title = f"arm-throw: {run.robot.name} throws {settings.load_g:g} g"
    return _outcome(run, loaded, seen, metrics, title, ("speed of the load", speed, "[m/s]"))


def _outcome(run: Run, loaded: Loaded, seen: Seen, metrics: dict, title: str, course) -> Outcome:
    dt = 1e-3 * run.settings.dt_ms
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, loaded, seen, title, course),
        replay=lambda path: replay(path, seen, title, tubes=_ball_tube(loaded, seen)),
        sim_seconds=float(seen.times[-1]),
        dt=dt,
        steps=round(float(seen.times[-1]) / dt),
    )


def _ball_tube(loaded: Loaded, seen: Seen) -> list[Tube]:
    """The load, if there is one."""
    return [] if loaded.ball is None else [Tube.ball("load", seen.ball, float(loaded.ball.radius))]


def _draw(path: Path, loaded: Loaded, seen: Seen, title: str, course) -> None:
    """Snapshots from the side and from above, and a curve over time."""
    figure = figures.new_figure(13.0, 6.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 2, width_ratios=[1.3, 1])
    rows = np.linspace(0, len(seen.times) - 1, 7).round().astype(int)
    mouth = 1e3 * np.asarray(loaded.arm.robot.arm.T_world_base.position)
    views = ((grid[:, 0] if loaded.ball is None else grid[0, 0], (0, 2), "from the side", "z [mm]"),)
    if loaded.ball is not None:
        views = (*views, (grid[1, 0], (0, 1), "from above", "y [mm]"))
    for place, plane, name, label in views:
        axes = figure.add_subplot(place)
        for i, row in enumerate(rows):
            shade = 0.2 + 0.8 * i / (len(rows) - 1)
            draw_arm_side(axes, seen, row, plane, alpha=shade)
            if loaded.ball is not None:
                centre = 1e3 * seen.ball[row][list(plane)]
                turn = np.linspace(0.0, 2.0 * np.pi, 60)
                rim = centre[:, None] + 1e3 * float(loaded.ball.radius) * np.stack([np.cos(turn), np.sin(turn)])
                axes.fill(*rim, color="#466e96", alpha=0.25 * shade, linewidth=0)
        axes.plot(*mouth[list(plane)], "x", color="#28666e", markersize=8, markeredgewidth=2)
        axes.set_aspect("equal")
        figures.style_axes(axes, f"{name}, later darker; the mouth is marked", "x [mm]", label)
    heading, values, unit = course
    axes = figure.add_subplot(grid[0, 1])
    axes.plot(seen.times, values, color="#28666e", linewidth=1.3)
    figures.style_axes(axes, heading, "time [s]", unit)
    axes = figure.add_subplot(grid[1, 1])
    image = seen.activation.max(-1).T
    extent = (0.0, float(seen.times[-1]), 0.0, 1.0)
    axes.imshow(image, origin="lower", aspect="auto", extent=extent, cmap="magma_r", vmin=0.0)
    figures.style_axes(axes, "most active muscle", "time [s]", "place along the arm")
    figures.save(figure, path)
