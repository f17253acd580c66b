"""octopus-forage: an octopus crawls to its prey, takes it with one arm and brings it to its mouth."""

from dataclasses import dataclass, replace
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from hydrostat.control.feedback import Course, Servo, make_servo, shape_to_point, tabulated
from hydrostat.control.foraging import Forage, Reach
from hydrostat.control.gaits import STROKES
from hydrostat.lie import SE3
from hydrostat.mechanics.model import GRAVITY, Model
from hydrostat.results import figures
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import Animal, Seen, Witness, animal, draw_above, look, move, replay, row_steps
from hydrostat.scenarios.octopus_crawl import crawling
from hydrostat.stepping import Rows
from hydrostat.surroundings.contact import ContactLaw
from hydrostat.surroundings.shapes import Plane
from hydrostat.surroundings.suckers import SuckerLaw
from hydrostat.surroundings.world import Ball, World
from hydrostat.viewer import Tube

_TAKES_AT = 0.55  # of the arm: where it takes its prey
_BRINGS = 0.6  # of the arm: what it brings to the mouth, as it holds its prey about there
_TAKING = (0.35, 0.75)  # of the arm: where its suckers may
_SPREAD = 0.11  # of the arm: how far from there it may lie, when the octopus has come
_ASIDE = 0.045  # m between the arm's middle and the prey, at most
_SWEEP = 0.065  # m, to the side, until suckers have the prey
_TIMES = (0.0, 0.8, 2.3, 2.8, 6.3, 7.5)  # s: calm down, sweep, hold, bring, stay
_MOUTH = (0.04, 0.135, 0.07)  # of the arm: how far before, beside and above its base the held place is brought
_UPWARDS = (-0.2, -0.1, 1.0)  # ahead, beside, above: where the arm points there, lest its end comes under the body
_MOST = 0.1  # rad s, that errors may sum up to: prey at the mouth is in the way of the last of the course
_SHELL = ContactLaw(stiffness=200.0, damping=5.0, friction=0.5, slip_speed=0.01, onset=3e-4)
"""The prey's, against arms and the ground; all assumed."""
_DELIVERED = 0.03
"""From the mouth where prey is delivered [m]."""


@dataclass(frozen=True)
class Delivery:
    """How one hunt went."""

    rows: Rows
    start: np.ndarray
    """Where the prey lay."""
    prey: np.ndarray
    """Its centre (rows, 3)."""
    distance: np.ndarray
    """From its surface to the mouth (rows,) [m]."""
    held: np.ndarray
    """Whether an arm holds it (rows,)."""

    @property
    def delivered(self) -> bool:
        """Whether it is held at the mouth in the end."""
        return bool(self.held[-1] and self.distance[-1] < _DELIVERED)


def forage(run: Run) -> Outcome:
    """Hunts for prey that lies here and there."""
    settings = run.settings
    octopus = with_prey(animal(run), settings)
    stroke = STROKES["push"](octopus.anatomy, jnp.asarray(octopus.yaws))
    with run.compiling("planning"):
        servo = fetching(octopus, 1e-3 * settings.dt_ms)
    brain = _brain(octopus, stroke, servo, settings)
    far = max(settings.distance_m)
    strokes = int(np.ceil(1.3 * far / float(stroke.length))) + 3
    seconds, every = strokes * float(stroke.duration) + _TIMES[-1], row_steps(run)
    places = _placements(run)
    hunts, depths, touches, seen = [], [], [], None
    for index, place in enumerate(places):
        share = (index / len(places), (index + 1) / len(places))
        if index:
            rows = move(run, octopus, brain, seconds, every=every, share=share, prey_at=place)
            found = look(octopus, rows.state)
        else:
            with Witness(run, octopus, seconds, every, "octopus-forage") as witness:
                rows = move(run, octopus, brain, seconds, every=every, share=share, prey_at=place, on_rows=witness)
            found = seen = witness.seen
        hunts.append(_looked(octopus, rows, place, settings))
        depths.append(found.depth.max())
        touches.append(_pressed(octopus, found, hunts[-1], settings))
    assert seen is not None
    metrics = {
        "delivered_rate": float(np.mean([hunt.delivered for hunt in hunts])),
        "taken_rate": float(np.mean([hunt.held.any() for hunt in hunts])),
        "mouth_distance_mm": [1e3 * float(hunt.distance[-1]) for hunt in hunts],
        "arrival_s": [_first(hunt.rows.memory.brain.there, hunt.rows.time) for hunt in hunts],
        "taken_s": [_first(hunt.held, hunt.rows.time) for hunt in hunts],
        "penetration_max_radii": float(max(depths)),
        "overlap_max_radii": float(max(touches)),
    }
    title = f"octopus-forage: {sum(hunt.delivered for hunt in hunts)} of {len(hunts)} prey delivered"
    prey = Tube.ball("prey", hunts[0].prey, float(prey_of(settings).radius))
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, hunts, seen, octopus, settings, title),
        replay=lambda path: replay(path, hunts[0].rows, seen, octopus, title, tubes=(prey,)),
        sim_seconds=len(hunts) * seconds,
        dt=1e-3 * settings.dt_ms,
        steps=len(hunts) * every * (len(hunts[0].rows.time) - 1),
        notes=octopus.notes,
    )


def prey_of(settings) -> Ball:
    """What settings say there is to find."""
    return Ball.of_density(1e-3 * settings.prey_g, settings.prey_density)


def with_prey(octopus: Animal, settings) -> Animal:
    """The octopus with prey on the ground."""
    assert octopus.sea.floor is not None
    ground = Plane(point=(0.0, 0.0, float(octopus.sea.floor)), normal=(0.0, 0.0, 1.0))
    water, gravity = octopus.sea.water, jnp.asarray(GRAVITY)
    world = World(water, gravity, _SHELL, prey_of(settings), ground, SuckerLaw(), squeezes=True)
    sea = eqx.tree_at(lambda sea: sea.prey, octopus.sea, world, is_leaf=lambda value: value is None)
    return replace(octopus, sea=sea)


def arm_alone(octopus: Animal) -> Model:
    """One arm in still water, on a body that stays: what its own nerves know."""
    crown = octopus.model
    first = SE3(*(y[0] for y in (crown.mounts.rotation, crown.mounts.position)))
    return eqx.tree_at(
        lambda model: (model.arm.T_world_base, model.gravity, model.surroundings),
        crown.arm,
        (first, crown.gravity, octopus.sea.water),
        is_leaf=lambda value: value is None,
    )


def fetching(octopus: Animal, dt: float) -> Servo:
    """The arm that takes the prey: it sweeps to its left, waits for a touch, and curls to the mouth."""
    model = arm_alone(octopus)
    n, length = octopus.anatomy.count, float(model.arm.length)
    base, turn = np.asarray(model.arm.T_world_base.position), np.asarray(model.arm.T_world_base.rotation)
    along, up = turn[:, 2], np.array([0.0, 0.0, 1.0])
    left = np.cross(up, along)

    def shape(part, ahead, aside, above, direction=None):
        point, count = jnp.asarray(base + ahead * along + aside * left + above * up), max(1, round(part * n))
        straight = jnp.zeros((n, model.arm.coordinates))
        return straight.at[:count].set(shape_to_point(model.arm.first(count), point, direction))

    still = jnp.zeros((n, model.arm.coordinates))
    swept = shape(_TAKES_AT, 0.95 * _TAKES_AT * length, _SWEEP, 0.0)
    upwards = np.stack([along, left, up], 1) @ np.asarray(_UPWARDS)
    ahead, aside, above = (share * length for share in _MOUTH)
    home = shape(_BRINGS, ahead, aside, above, jnp.asarray(upwards / np.linalg.norm(upwards)))
    grip = octopus.anatomy.inside(*_TAKING)
    course = Course(
        jnp.asarray(_TIMES),
        jnp.stack([still, still, swept, swept, home, home]),
        jnp.stack([grip] * 6),
        jnp.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
    )
    begins = dt * jnp.arange(max(round(_TIMES[-1] / dt), 1))
    return make_servo(model, tabulated(model, course, begins, dt), rate=6.5, stiffen=0.2, most=_MOST)


def _brain(octopus: Animal, stroke, servo: Servo, settings) -> Forage:
    """Where an arm can take its prey, and what the others do meanwhile."""
    anatomy, model = octopus.anatomy, octopus.model
    length, ring = float(model.arm.arm.length), float(np.linalg.norm(np.asarray(model.mounts.position)[0, :2]))
    along = ring + length * (_TAKES_AT + np.array([-_SPREAD, _SPREAD]))
    beside = float(prey_of(settings).radius) + np.array([0.0, _ASIDE])
    hold = jnp.where(anatomy.inside(0.3, 0.8) > 0.5, 1.0, 0.0)
    crawl = crawling(octopus, stroke, np.zeros((2, 2)), looks=True, near=0.0)
    return Forage(crawl, servo, Reach(jnp.asarray(along), jnp.asarray(beside)), hold)


def _placements(run: Run) -> list[np.ndarray]:
    """Where prey lies on the ground: anywhere around, between two distances."""
    rng = np.random.default_rng([run.seed, 2])
    radius = float(prey_of(run.settings).radius)
    near, far = sorted(run.settings.distance_m)
    places = []
    for _ in range(run.settings.placements):
        away, azimuth = rng.uniform(near, far), rng.uniform(0.0, 2.0 * np.pi)
        places.append(np.array([away * np.cos(azimuth), away * np.sin(azimuth), radius]))
    return places


def _looked(octopus: Animal, rows: Rows, start: np.ndarray, settings) -> Delivery:
    """What became of the prey."""
    state = rows.memory.world.prey
    prey, held = np.asarray(state.ball.position), np.asarray(state.held).max(-1) > 0.0
    mounts = np.asarray(octopus.model.mounts.position)
    pose = rows.state.base_pose
    own = np.einsum("tji,tj->ti", np.asarray(pose.rotation), prey - np.asarray(pose.position))
    # The mouth is the disc within the bases of the arms.
    across, ring = np.linalg.norm(own[:, :2], axis=1), np.linalg.norm(mounts[0, :2])
    centre = np.hypot(np.maximum(across - ring, 0.0), own[:, 2] - mounts[0, 2])
    return Delivery(rows, start, prey, centre - float(prey_of(settings).radius), held)


def _pressed(octopus: Animal, seen: Seen, hunt: Delivery, settings) -> float:
    """How deep arms are in the prey, and beyond where they begin in the body, over their local radius at most."""
    position, radii = np.asarray(seen.poses.position), seen.radii
    body = np.asarray(hunt.rows.state.base_pose.position)

    def deepest(centre, radius, first):
        away = np.linalg.norm(position[:, :, first:] - centre[:, None, None], axis=-1)
        return ((radius - away) / radii[:, :, first:]).max() + 1.0

    return max(deepest(hunt.prey, float(prey_of(settings).radius), 1), deepest(body, octopus.radius, 3), 0.0)


def _first(flags, times) -> float | None:
    """When something was so first."""
    flags = np.asarray(flags)
    return float(times[int(np.argmax(flags))]) if flags.any() else None


def _draw(path: Path, hunts: list[Delivery], seen: Seen, octopus: Animal, settings, title: str) -> None:
    """The first hunt from above, and how near all prey came to the mouth."""
    figure = figures.new_figure(13.0, 7.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 4)
    first = hunts[0]
    came = int(np.argmax(np.asarray(first.rows.memory.brain.there)))
    took = int(np.argmax(first.held))
    radius = 1e3 * float(prey_of(settings).radius)
    turn = np.linspace(0.0, 2.0 * np.pi, 60)
    for column, row in enumerate((0, came, took, len(first.rows.time) - 1)):
        axes = figure.add_subplot(grid[0, column])
        draw_above(axes, first.rows, row, seen, octopus)
        rim = 1e3 * first.prey[row][:2, None] + radius * np.stack([np.cos(turn), np.sin(turn)])
        axes.fill(*rim, color="#466e96", alpha=0.8, linewidth=0)
    axes = figure.add_subplot(grid[1, :2])
    for hunt in hunts:
        axes.plot(hunt.rows.time, 1e3 * hunt.distance, linewidth=1.0)
    axes.axhline(1e3 * _DELIVERED, color="#33322e", linewidth=0.8, linestyle="--")
    figures.style_axes(axes, "from the prey to the mouth", "time [s]", "[mm]")
    axes = figure.add_subplot(grid[1, 2:])
    for hunt in hunts:
        color = figures.COLORS[0 if hunt.delivered else 2]
        axes.plot(*(1e3 * np.asarray(hunt.rows.state.base_pose.position)[:, :2].T), color=color, linewidth=1.0)
        axes.plot(*(1e3 * hunt.start[:2]), "o", color=color, markersize=5)
    axes.set_aspect("equal")
    figures.style_axes(axes, "where prey lay, and the ways there", "x [mm]", "y [mm]")
    figures.save(figure, path)
