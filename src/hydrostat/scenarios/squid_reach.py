"""squid-reach: all four limbs at work in the sea, by their tendons alone.

The grasper reaches over a bar among obstacles and wraps it; the palpation arm, drawn in by all its tendons, lets go
until its tip measures the set force of a wall; the camera arm points at the bar, and the light arm where the camera arm
points. `squid_reach_plan` has the things around and the controllers.
"""

from itertools import combinations
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.control import aim_points, pointing_error
from hydrostat.errors import InputError
from hydrostat.results import ShapeContact, body_tubes, drawing, figures, panels, replay_scene, shape_contacts
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.squid_reach_plan import LIMBS, LOOKED_AT, PRESSES, plan
from hydrostat.surroundings import AbstractShape

_ROW_SECONDS = 0.02
_TOUCHING = 1e-3  # N: force above which a node counts as touching
_SETTLED_SECONDS = 1.0  # at the end, over which pointing and pressing are judged


def reach(run: Run) -> Outcome:
    """Reach, wrap, press and look, and how well it went."""
    settings, most = run.settings, 4.0 * run.settings.pretension_n
    if not most > settings.press_n:
        rule = f"less than {most:g} N, which four tendons of `pretension_n` can let go of"
        raise InputError(f"`press_n` must be {rule}; got {settings.press_n:g}")
    every = run.steps_per_row(_ROW_SECONDS)
    with run.compiling("planning"):
        limbs = plan(settings, every * run.dt)
    rows: dict[str, hs.Trajectory] = {}
    for i, (name, (system, planned, start)) in enumerate(limbs.items()):
        # The light arm follows the camera arm's gaze.
        pilot = planned.looking_at(rows["camera"].time, _aims(rows)) if name == "light" else planned
        options = {"state": start, "every": every, "stepper": hs.LinearImplicitEuler(), "compiled": False}
        share = (i / len(limbs), (i + 1) / len(limbs))
        rows[name] = run.simulate(system, pilot, settings.seconds, share=share, label=name, **options)
    with run.compiling("examining contacts"):
        contacts = {name: rows[name].derived(shape_contacts) for name in LIMBS}
        pointing = _pointing(rows)
    with run.timed():
        _record(run, rows, contacts, pointing)
    title = f"squid-reach: {run.limbed.name}"
    scene = drawing.Scene.joined([drawing.Scene.of(one) for one in rows.values()], LIMBS)
    bar = limbs["grasper"].system.part(hs.Obstacles).shapes[0]
    tubes = body_tubes(run.limbed, len(scene.time))
    return Outcome(
        _metrics(rows, contacts, pointing, bar, settings.press_n),
        figure=lambda path: _draw(path, scene, rows, pointing, settings.press_n, title),
        replay=lambda path: replay_scene(scene, path, title, tubes=tubes),
        sim_seconds=settings.seconds,
        dt=run.dt,
        steps=round(settings.seconds / run.dt),
    )


def _aims(rows: dict[str, hs.Trajectory]) -> jax.Array:
    """The points that the camera points at over time (rows, 3) [m]."""
    return aim_points(rows["camera"].system.robot.arm, rows["camera"].q, LOOKED_AT)


def _pointing(rows: dict[str, hs.Trajectory]) -> dict[str, np.ndarray]:
    """The angles from the camera's axis to the bar, and from the light's to the point that the camera sees [rad]."""
    seen = _aims(rows)
    targets = {"camera": jnp.broadcast_to(jnp.array(LOOKED_AT), seen.shape), "light": seen}
    return {name: np.asarray(jax.vmap(pointing_error)(rows[name].tip_pose, one)) for name, one in targets.items()}


def _metrics(rows, contacts: dict[str, ShapeContact], pointing, bar: AbstractShape, press: float) -> dict:
    """How well each limb did its work; shapes are the bar, the obstacles and the wall, in this order."""
    grasper, palpation = contacts["grasper"], rows["palpation"]
    times, force = np.asarray(palpation.time), np.asarray(palpation.memory.force)
    end, before = times >= times[-1] - _SETTLED_SECONDS, times < PRESSES
    touching = grasper.force[-1, 0] > _TOUCHING
    away = grasper.position[-1] - np.array(LOOKED_AT)
    angles = np.unwrap(np.arctan2(away[:, 2], away[:, 0]))[touching]
    pieces = np.flatnonzero(touching) // (len(touching) // rows["grasper"].q.shape[1])
    radius = float(rows["grasper"].system.robot.arm.section.radius_tip[-1])
    gap = float(bar.distance_and_normal(jnp.asarray(rows["grasper"].tip[-1])).distance) - radius
    pressed, touched = float(force[end].mean()), np.flatnonzero(force > _TOUCHING)
    on_obstacles = [one.force[:, 1:-1].sum((1, 2)) for one in contacts.values()]
    apart = [
        (np.linalg.norm(a.position[:, :, None] - b.position[:, None], axis=-1) - a.radius[:, :, None]).min(1) - b.radius
        for a, b in combinations(contacts.values(), 2)
    ]
    return {
        "wrap_angle_deg": float(np.rad2deg(np.ptp(angles))) if len(angles) else 0.0,
        "wrap_pieces": len(set(pieces.tolist())),
        "grasp_force_n": float(grasper.force[-1, 0].sum()),
        "grasp_distance_mm": 1e3 * gap,
        "obstacle_force_max_n": float(np.sum(on_obstacles, 0).max()),
        "press_force_n": pressed,
        "press_error_percent": 100.0 * abs(pressed - press) / press,
        "press_worst_error_percent": 100.0 * float(np.abs(force[end] - press).max()) / press,
        "press_overshoot_percent": 100.0 * max(float(force.max()) / press - 1.0, 0.0),
        "press_first_touch_s": float(times[touched[0]]) if len(touched) else None,
        "press_elongation_mm": 1e3 * float(palpation.tip[-1, 0] - palpation.tip[before][-1, 0]),
        "camera_pointing_error_deg": float(np.rad2deg(pointing["camera"][end].max())),
        "light_pointing_error_deg": float(np.rad2deg(pointing["light"][end].max())),
        "penetration_max_radii": max(0.0, *(float(one.depth.max()) for one in contacts.values())),
        "limb_gap_min_mm": 1e3 * float(min(one.min() for one in apart)),
        "tension_max_n": float(max(np.max(each.memory.tension) for each in rows.values())),
    }


def _record(run: Run, rows: dict[str, hs.Trajectory], contacts: dict[str, ShapeContact], pointing) -> None:
    """Record all limbs."""
    columns: dict = {}
    for name, one in rows.items():
        columns[f"strain_{name}"] = (one.q, (f"{name}_piece", "mode"), "1/m", "coordinates")
    for name, one in rows.items():
        columns[f"tension_{name}"] = (one.memory.tension, (f"{name}_tendon",), "N", "of its tendons")
    tips = np.stack([np.asarray(one.tip) for one in rows.values()], 1)
    memory, light = rows["palpation"].memory, "angle from the light arm's axis to where the camera points"
    columns |= {
        "tip": (tips, ("limb", "axis"), "m", f"of {', '.join(LIMBS)}, in the world"),
        "press_force": (memory.force, (), "N", "of the wall on the palpation arm's tip"),
        "longer": (memory.elongation, (), "m", "by which its tendons have been let out"),
        "camera_error": (pointing["camera"], (), "rad", "angle from the camera arm's axis to the bar"),
        "light_error": (pointing["light"], (), "rad", light),
        "bar_force": (contacts["grasper"].force[:, 0], ("node",), "N", "of the bar on the grasper's nodes"),
    }
    run.record("squid-reach", rows["grasper"].time, columns)


def _draw(path: Path, scene: drawing.Scene, rows: dict[str, hs.Trajectory], pointing, press: float, title: str) -> None:
    """The limbs at five moments from two sides, the pressing force, the pointing errors and the tensions."""
    figure, grid = panels.new_panels(title, 2, 4, (14.0, 7.6))
    panels.draw_snapshots(figure.add_subplot(grid[:, 0:2]), scene, 5, drawing.FRONT)
    panels.draw_snapshots(figure.add_subplot(grid[0, 2]), scene, 5, drawing.ABOVE)
    times, force = scene.time, figure.add_subplot(grid[0, 3])
    panels.draw_curves(force, times, rows["palpation"].memory.force, "force at the palpation tip", "[N]", colors=[1])
    panels.draw_level(force, press, "set")
    errors = {f"{name} arm": np.rad2deg(one) for name, one in pointing.items()}
    options = {"log": True, "floor": 1e-4, "colors": [2, 3]}
    panels.draw_curves(figure.add_subplot(grid[1, 2]), times, errors, "pointing error", "[deg]", **options)
    tensions = {name: np.asarray(one.memory.tension) for name, one in rows.items()}
    panels.draw_curves(figure.add_subplot(grid[1, 3]), times, tensions, "tensions of all tendons", "[N]", width=0.9)
    figures.save(figure, path)
