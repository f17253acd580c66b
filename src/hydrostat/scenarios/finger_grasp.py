"""finger-grasp: the tendon closes the finger on a round object, which is pulled out, comes back and is grasped again.

Dehghani's finger has its contact point given, where the two arcs meet. Here the whole finger can touch: where it does,
and whether it does, comes out of the motion.
"""

from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.compiling import quick_jit
from hydrostat.control.base import Controller
from hydrostat.errors import InputError
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import Robot
from hydrostat.results import Trajectory, Variable
from hydrostat.robots.build import build_robot
from hydrostat.robots.spec import RobotSpec
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.replaying import cylinder, replay_arm
from hydrostat.simulation.simulate import Run as Simulation
from hydrostat.surroundings import Capsule, ContactLaw, Obstacles
from hydrostat.system import Control, State, System
from hydrostat.viewer import Tube

_ROW_SECONDS = 0.01
_TOUCH = 1e-3  # N: what counts as touching
_TIP_SHARE = 0.12  # of the finger's length: contact there is the tip's, the rest is the middle's
_SETTLE_SECONDS = 0.5  # after the second grasp
_DRAWN_RADIUS = 0.004  # m, at least, so that the finger can be seen
_HALF_WIDTH = 0.05  # m, of the object along its axis, assumed; a planar finger does not notice


class Grasp(eqx.Module):
    """What happens over time: the tendons close and open the finger, and an object waits, goes and comes back."""

    tension: Float[Array, " w"]
    """Of each tendon, while the finger is closed [N]."""
    lift: Float[Array, " w"]
    """Of each tendon, while it is open and the object comes back [N]."""
    close: Float[Array, ""]
    """How long it takes to close, and to open [s]."""
    begin: Float[Array, ""]
    """When the object starts to go [s]."""
    travel: Float[Array, ""]
    """How long it goes, and how long it then comes back [s]."""
    way: Float[Array, " 3"]
    """How far it goes [m]."""

    def object_shift(self, time) -> Float[Array, " 3"]:
        """Where the object is, from where it was at first [m]."""
        out = _smooth_step((time - self.begin) / self.travel)
        back = _smooth_step((time - self.begin - self.travel - self.close) / self.travel)
        return (out - back) * self.way

    def tendons(self, time) -> Float[Array, " w"]:
        """The tensions: the finger closes, opens when the object has gone, and closes again when it is back [N]."""
        gone = self.begin + self.travel
        back = gone + self.close + self.travel
        opening = _smooth_step((time - gone) / self.close)
        again = _smooth_step((time - back) / self.close)
        return self.tension * (_smooth_step(time / self.close) - opening + again) + self.lift * (opening - again)

    def __call__(self, time) -> Control:
        """What is set at a time."""
        return Control(tension=self.tendons(time))


class ObjectMotion(eqx.Module):
    """The displacement of the object over time."""

    course: Grasp

    def __call__(self, time) -> Float[Array, " 3"]:
        """At a time [m]."""
        return self.course.object_shift(time)


class Follow(Controller):
    """The tendons follow the course, within steps too."""

    course: Grasp

    def __call__(self, time, observation, memory):
        """The course as a function of time."""
        del time, observation
        return self.course, memory


def _smooth_step(s):
    """From 0 to 1 with speed and acceleration zero at both ends."""
    s = jnp.clip(s, 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)


class Touch(NamedTuple):
    """How finger and object touch at a moment."""

    on_nodes: Float[Array, " c"]
    """Force on each node of the finger [N]."""
    on_object: Float[Array, " 3"]
    """Force on the object [N]."""
    penetration: Float[Array, ""]
    """The deepest [m]."""
    tip: Float[Array, " 3"]
    """[m]"""
    shift: Float[Array, " 3"]
    """Of the object [m]."""


def grasp(run: Run) -> Outcome:
    """Close, hold, pull the object out, grasp it again; where and how hard the finger touches."""
    set_ = run.settings
    if set_.nodes % set_.pieces:
        raise InputError(f"`nodes` must be a multiple of `pieces`, {set_.pieces}; got {set_.nodes}")
    robot = build_robot(run.robot.cut(set_.pieces), skin_points=set_.nodes // set_.pieces)
    law = ContactLaw(
        stiffness=set_.contact_stiffness,
        damping=set_.contact_damping,
        friction=set_.friction,
        slip_speed=1e-3 * set_.slip_speed_mm_s,
    )
    x, z = set_.object_position
    disc = Capsule(a=[x, -_HALF_WIDTH, z], b=[x, _HALF_WIDTH, z], radius=set_.object_radius)
    angle = np.deg2rad(set_.pull_direction_deg)
    below, above = (_tendons_at(run.robot, side) for side in (0.0, 180.0))
    course = Grasp(
        set_.tension_n * below,
        set_.lift_n * above,
        *(jnp.asarray(v) for v in (set_.close_seconds, set_.hold_until, set_.pull_seconds)),
        way=set_.pull_distance * jnp.array([np.cos(angle), 0.0, np.sin(angle)]),
    )
    system = System(robot, [Obstacles(law, [disc], ObjectMotion(course))])
    seconds = set_.hold_until + 2.0 * (set_.pull_seconds + set_.close_seconds) + _SETTLE_SECONDS
    dt = 1e-3 * set_.dt_ms
    every = max(round(_ROW_SECONDS / dt), 1)
    simulation = Simulation(system, Follow(course), dt, every=every)
    with run.compiling():
        simulation.compile(seconds)
        _touch(system, system.rest())

    count = robot.arm.count * len(robot.one.skin_at)
    touches: list[Touch] = []
    variables = [
        Variable(
            "strain", ("segment", "mode"), robot.one.stiffness.shape, "1/m", "curvature of each piece of the finger"
        ),
        Variable("tip", ("axis",), (3,), "m", "tip in the world"),
        Variable("contact_force", ("node",), (count,), "N", "on each node of the finger"),
        Variable("object_force", ("axis",), (3,), "N", "of the finger on the object"),
        Variable("object_shift", ("axis",), (3,), "m", "of the object from where it was"),
    ]
    attributes = {"scenario": "finger-grasp", "robot": run.robot.name}
    with run.timed(), run.recorder(variables, round(seconds / dt) // every + 2, attributes=attributes) as recorder:

        def keep(part: Trajectory):
            touch = _touches(part)
            touches.append(touch)
            recorder.append(
                part.time,
                strain=part.q,
                tip=touch.tip,
                contact_force=touch.on_nodes,
                object_force=touch.on_object,
                object_shift=touch.shift,
            )

        rows = simulation(seconds, on_rows=keep, on_progress=lambda done: run.progress("grasping", done))
    touch: Touch = jax.tree.map(lambda *parts: np.concatenate(parts), *touches)
    places = _node_places(robot)
    metrics = _metrics(rows.time, touch, places, set_, course)
    title = f"finger-grasp: {run.robot.name}"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, robot, rows, touch, places, course, set_, title),
        replay=lambda path: replay_arm(
            path,
            robot.arm,
            rows.time,
            rows.q,
            title,
            objects=[_object(touch, set_)],
            min_radius=_DRAWN_RADIUS,
            tip_path=False,
        ),
        sim_seconds=seconds,
        dt=dt,
        steps=round(seconds / dt),
    )


def _tendons_at(spec: RobotSpec, side: float) -> Float[Array, " w"]:
    """1 for the tendons at an azimuth [deg], else 0."""
    return jnp.array([float(tendon.azimuth_deg % 360.0 == side) for tendon in spec.tendons])


@quick_jit
def _touch(system: System, state: State) -> Touch:
    """The contact at a moment."""
    place, time = system.place(state), system.part_state(state, Obstacles)
    assert place is not None
    obstacles: Obstacles = system.part(Obstacles)
    assert obstacles.motion is not None
    contact, reactions = obstacles.moved_to(time).contact(place.nodes)
    return Touch(
        on_nodes=jnp.linalg.norm(contact.force, axis=-1),
        on_object=reactions.force[0],
        penetration=jnp.max(contact.penetration),
        tip=kinematics.tip_pose(system.robot.arm, state.q).position,
        shift=obstacles.motion(time),
    )


def _touches(rows: Trajectory) -> Touch:
    """The contact at every row."""
    each = [_touch(rows.system, rows[i]) for i in range(len(rows))]
    return jax.tree.map(lambda *parts: np.stack(parts), *each)


def _node_places(robot: Robot) -> np.ndarray:
    """Where the nodes are along the finger, as fractions of its length."""
    lengths = np.asarray(robot.arm.segments.length)
    starts = np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
    return ((starts[:, None] + np.asarray(robot.one.skin) * lengths[:, None]) / lengths.sum()).ravel()


def _metrics(times, touch: Touch, places, set_, course: Grasp) -> dict:
    """Where and how hard the finger touches before the pull, during it and after it."""
    at_tip = places > 1.0 - _TIP_SHARE
    held = int(np.searchsorted(times, set_.hold_until)) - 1
    middle, tip = touch.on_nodes[:, ~at_tip].sum(-1), touch.on_nodes[:, at_tip].sum(-1)
    touching = touch.on_nodes.sum(-1) > _TOUCH
    began = np.flatnonzero(touching)
    changes = np.diff(touching[held:].astype(int))
    pull = np.asarray(course.way) / np.linalg.norm(course.way)
    weights = touch.on_nodes[held, ~at_tip]
    return {
        "first_touch_s": float(times[began[0]]) if len(began) else None,
        "first_touch_fraction": float(places[np.argmax(touch.on_nodes[began[0]])]) if len(began) else None,
        "middle_force_n": float(middle[held]),
        "middle_place_fraction": float(weights @ places[~at_tip] / weights.sum()) if weights.sum() > 0 else None,
        "tip_force_n": float(tip[held]),
        "pull_force_max_n": float(np.max(-touch.on_object[held:] @ pull)),
        "separations": int(np.sum(changes < 0)),
        "recontacts": int(np.sum(changes > 0)),
        "penetration_max_mm": 1e3 * float(np.max(touch.penetration)),
        "final_force_n": float(touch.on_nodes[-1].sum()),
        "force_repeats_percent": _percent(touch.on_nodes[-1].sum(), touch.on_nodes[held].sum()),
    }


def _percent(one, other) -> float | None:
    return 100.0 * float(one) / float(other) if other > 0.0 else None


def _circle(centre, radius: float, points: int = 49) -> np.ndarray:
    """A circle in the plane of the finger."""
    angle = np.linspace(0.0, 2.0 * np.pi, points)
    ring = np.stack([np.cos(angle), np.zeros_like(angle), np.sin(angle)], -1)
    return np.asarray(centre) + radius * ring


def _object(touch: Touch, set_) -> Tube:
    """The object over time."""
    x, z = set_.object_position
    ends = [np.asarray(touch.shift) + np.array([x, side * _HALF_WIDTH, z]) for side in (-1.0, 1.0)]
    return cylinder("object", ends[0], ends[1], set_.object_radius)


def _draw(path: Path, robot: Robot, rows: Trajectory, touch: Touch, places, course: Grasp, set_, title: str) -> None:
    """The finger and the object at a few moments, and the forces over time."""
    from hydrostat.results import figures

    figure = figures.new_figure(12, 5.5)
    figure.suptitle(title, fontsize=11)
    grid = figure.add_gridspec(2, 3)
    plane = figure.add_subplot(grid[:, :2])
    x, z = set_.object_position
    pulled = set_.hold_until + 0.5 * set_.pull_seconds
    moments = (0.0, 0.5 * set_.close_seconds, set_.hold_until, pulled, rows.time[-1])
    for color, moment in zip(figures.COLORS, moments, strict=False):
        row = int(np.argmin(np.abs(rows.time - moment)))
        line = np.asarray(kinematics.centreline(robot.arm, jnp.asarray(rows.q[row]), 12).position)
        plane.plot(line[:, 0], line[:, 2], color=color, linewidth=2.0, label=f"{moment:.2f} s")
        shift = np.asarray(course.object_shift(jnp.asarray(moment)))
        ring = _circle(np.array([x, 0.0, z]) + shift, set_.object_radius)
        plane.plot(ring[:, 0], ring[:, 2], color=color, linewidth=0.8, linestyle="--")
    plane.set_aspect("equal")
    figures.style_axes(plane, "finger and object (dashed)", "x [m]", "z [m]")
    plane.legend(fontsize=8, frameon=False)

    forces = figure.add_subplot(grid[0, 2])
    at_tip = places > 1.0 - _TIP_SHARE
    forces.plot(rows.time, touch.on_nodes[:, ~at_tip].sum(-1), color=figures.COLORS[0], label="middle")
    forces.plot(rows.time, touch.on_nodes[:, at_tip].sum(-1), color=figures.COLORS[1], label="tip")
    figures.style_axes(forces, "contact force", "time [s]", "[N]")
    forces.legend(fontsize=8, frameon=False)

    where = figure.add_subplot(grid[1, 2])
    time, node = np.nonzero(touch.on_nodes > _TOUCH)
    size = 30.0 * touch.on_nodes[time, node] / max(touch.on_nodes.max(), _TOUCH)
    where.scatter(rows.time[time], places[node], s=size, color=figures.COLORS[3], linewidths=0)
    where.set_xlim(0.0, rows.time[-1])
    where.set_ylim(0.0, 1.02)
    figures.style_axes(where, "where the finger touches", "time [s]", "fraction of its length")
    figures.save(figure, path)
