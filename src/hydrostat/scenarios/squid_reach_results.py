"""What squid-reach measures of a motion, and its figure."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.control import pointed_at, pointing_error
from hydrostat.results import ShapeContact, arm_gaps, drawing, figures, panels, shape_contacts
from hydrostat.scenarios.squid_reach_plan import LIMBS, ReachPlan
from hydrostat.scenarios.squid_reach_scene import ReachScene

_TOUCHING = 1e-3  # N: force above which a node counts as touching
_SETTLED_SECONDS = 1.0  # at the end, over which pointing and pressing are judged
_WRAPPED_DEG, _HOLDING, _PRESSED_PERCENT, _POINTED_DEG = 90.0, 0.2, 5.0, 3.0  # what counts as done; N
_GRASPER, _PALPATION, _CAMERA, _LIGHT = range(len(LIMBS))
_MM = 1e3


class Reached(NamedTuple):
    """The motion in one scene."""

    rows: hs.Trajectory
    plan: ReachPlan
    scene: ReachScene
    contact: ShapeContact
    gaps: np.ndarray
    """Least gap between the skins of any two limbs (rows,) [m]."""
    pointing: dict[str, np.ndarray]
    """Angle from the axis of camera and light arm to what they look at (rows,) [rad]."""

    @property
    def grasp(self) -> np.ndarray:
        """Force of the bar on the grasper's nodes in the end [N]."""
        force = np.asarray(self.contact.force)[-1, 0]
        return force[: len(force) // len(LIMBS)]

    @property
    def wrap_angle(self) -> float:
        """Angle about the bar's axis over which the grasper touches it in the end [rad]."""
        touching = self.grasp > _TOUCHING
        axis = np.asarray(self.scene.bar.b - self.scene.bar.a)
        across = np.cross(axis, [0.0, 0.0, 1.0])
        frame = np.stack([across / np.linalg.norm(across), [0.0, 0.0, 1.0]])
        away = np.asarray(self.contact.position)[-1, : len(touching)] - np.asarray(self.scene.bar.a)
        angles = np.unwrap(np.arctan2(*(away @ frame.T).T))[touching]
        return float(np.ptp(angles)) if len(angles) else 0.0


def reached(rows: hs.Trajectory, plan: ReachPlan, scene: ReachScene) -> Reached:
    """The contacts, gaps and aims of a motion."""
    contact, gaps = rows.derived(shape_contacts), np.asarray(rows.derived(arm_gaps))
    tips, target = rows.tip_pose, jnp.asarray(scene.look_at)
    camera, light = (jax.tree.map(lambda y, i=i: jnp.asarray(y)[:, i], tips) for i in (_CAMERA, _LIGHT))
    seen = jax.vmap(lambda T: pointed_at(T, target))(camera)
    errors = {
        "camera": jax.vmap(lambda T: pointing_error(T, target))(camera),
        "light": jax.vmap(pointing_error)(light, seen),
    }
    pairs = gaps[:, *np.triu_indices(len(LIMBS), 1)]
    return Reached(rows, plan, scene, contact, pairs.min(1), {name: np.asarray(y) for name, y in errors.items()})


def one_metrics(one: Reached, press: float) -> dict:
    """How well each limb did its work in one scene."""
    rows, forces = one.rows, np.asarray(one.contact.force)
    times, force = np.asarray(rows.time), np.asarray(rows.memory[_PALPATION].force)
    end = times >= times[-1] - _SETTLED_SECONDS
    touched, tips = np.flatnonzero(force > _TOUCHING), np.asarray(rows.tip)
    # On the wall, whose face is across x.
    aside = (tips[-1, _PALPATION] - one.scene.touch)[1:]
    radius = float(rows.system.robot.each[_GRASPER].arm.section.radius_tip[-1])
    gap = float(one.scene.bar.distance_and_normal(jnp.asarray(tips[-1, _GRASPER])).distance) - radius
    return {
        "wrap_angle_deg": float(np.rad2deg(one.wrap_angle)),
        "grasp_force_n": float(one.grasp.sum()),
        "grasp_distance_mm": _MM * gap,
        "obstacle_force_max_n": float(forces[:, 1:-1].sum((1, 2)).max()),
        "place_error_mm": _MM * float(np.linalg.norm(aside)),
        "press_force_n": float(force[end].mean()),
        "press_error_percent": 100.0 * abs(float(force[end].mean()) - press) / press,
        "press_worst_error_percent": 100.0 * float(np.abs(force[end] - press).max()) / press,
        "press_overshoot_percent": 100.0 * max(float(force.max()) / press - 1.0, 0.0),
        "press_first_touch_s": float(times[touched[0]]) if len(touched) else None,
        "press_elongation_mm": _MM * float(rows.memory[_PALPATION].elongation[-1]),
        "camera_pointing_error_deg": float(np.rad2deg(one.pointing["camera"][end].max())),
        "light_pointing_error_deg": float(np.rad2deg(one.pointing["light"][end].max())),
        "penetration_max_radii": max(0.0, float(np.max(one.contact.depth))),
        "limb_gap_min_mm": _MM * float(one.gaps.min()),
        "limb_overlap_max_mm": _MM * max(0.0, -float(one.gaps.min())),
        "tension_max_n": float(max(np.max(own.tension) for own in rows.memory)),
        "wrap_plan_miss_mm": _MM * one.plan.wrap.miss,
        "place_plan_miss_mm": _MM * one.plan.drawn_in.miss,
    }


def many_metrics(found: list[Reached], press: float) -> dict:
    """In how many scenes each limb did its work, and every measure by scenes."""
    each = [one_metrics(one, press) for one in found]
    done = {
        "wrapped": [m["wrap_angle_deg"] >= _WRAPPED_DEG and m["grasp_force_n"] >= _HOLDING for m in each],
        "pressed": [m["press_worst_error_percent"] <= _PRESSED_PERCENT for m in each],
        "observed": [m["camera_pointing_error_deg"] <= _POINTED_DEG for m in each],
        "lit": [m["light_pointing_error_deg"] <= _POINTED_DEG for m in each],
        "obstacles_missed": [m["obstacle_force_max_n"] == 0.0 for m in each],
    }
    rates = {f"{name}_rate": float(np.mean(values)) for name, values in done.items()}
    # First touches are null where nothing was touched.
    lists = {name: [m[name] for m in each] for name in each[0]}
    worst = {"limb_overlap_worst_mm": max(lists["limb_overlap_max_mm"])}
    all_done = float(np.mean(np.all(list(done.values()), 0)))
    return {"scenes": len(found), "all_done_rate": all_done, **rates, **lists, **worst}


def drawn_scene(rows: hs.Trajectory) -> drawing.Scene:
    """All that is seen of a motion but the ball that stands for the body."""
    return replace(drawing.Scene.of(rows), body=None)


def draw(path: Path, found: list[Reached], press: float, title: str) -> None:
    """The first scene before and after, force, aims, gaps and tensions in it, and the wrap in every scene."""
    figure, grid = panels.new_panels(title, 2, 4, (16.0, 7.6))
    first, rows = found[0], found[0].rows
    scene = drawn_scene(rows)
    for i, plane in enumerate((drawing.FRONT, drawing.ABOVE)):
        for k, (row, name) in enumerate(((0, "before"), (-1, "after"))):
            axes = figure.add_subplot(grid[i, k])
            drawing.draw_view(axes, scene, row, plane, path=False)
            panels.label_view(axes, plane, f"{panels.VIEWS[plane]}, {name}")
    times, forces = scene.time, figure.add_subplot(grid[0, 2])
    panels.draw_curves(forces, times, rows.memory[_PALPATION].force, "force at the palpation tip", "[N]", colors=[1])
    panels.draw_level(forces, press, "set")
    errors = {f"{name} arm": np.rad2deg(one) for name, one in first.pointing.items()}
    options = {"log": True, "floor": 1e-4, "colors": [2, 3]}
    panels.draw_curves(figure.add_subplot(grid[0, 3]), times, errors, "pointing error", "[deg]", **options)
    gaps = {f"scene {i + 1}": _MM * one.gaps for i, one in enumerate(found)} if len(found) > 1 else _MM * first.gaps
    axes = figure.add_subplot(grid[1, 2])
    panels.draw_curves(axes, times, gaps, "least gap between limbs", "[mm]", width=0.9, legend=False)
    panels.draw_level(axes, 0.0)
    tensions = {name: np.asarray(own.tension) for name, own in zip(LIMBS, rows.memory, strict=True)}
    panels.draw_curves(figure.add_subplot(grid[1, 3]), times, tensions, "tensions of all tendons", "[N]", width=0.9)
    figures.save(figure, path)
