"""What the scenarios of whole octopuses share: the animal in its sea, its motion, recorded and looked at."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.actuation import HydrostatMuscles
from hydrostat.compiling import quick_jit
from hydrostat.control.commands import Anatomy
from hydrostat.control.nerves import AbstractBrain, Nerves
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.model import GRAVITY, Crown
from hydrostat.results import Variable, figures
from hydrostat.robots.build import build_robot
from hydrostat.robots.build_limbed import crown_model
from hydrostat.scenarios.arm import muscle_gains
from hydrostat.scenarios.base import Run
from hydrostat.stepping import SDIRK2, Rows, Simulation, State
from hydrostat.stepping.base import rest_state
from hydrostat.surroundings.contact import ContactLaw
from hydrostat.surroundings.sea import Mantle, Sea
from hydrostat.surroundings.suckers import SuckerLaw
from hydrostat.surroundings.water import DENSITY, Water
from hydrostat.viewer import Line, Tube, write_replay

GROUND = ContactLaw(stiffness=80.0, damping=200.0, friction=0.5, slip_speed=0.005, onset=1e-3)
"""Soft, and without bounce; all assumed."""
FLESH = ContactLaw(stiffness=200.0, damping=20.0, friction=0.5, slip_speed=0.005, onset=3e-4)
"""Arms against each other and against the body; all assumed. With the ground's damping, the motion of arms that rub
against each other behind a jet diverged."""
_APART = 5  # places along an arm that its parts must be apart to touch
_FRAMES = 300  # of a replay
_ROW_S = 0.01  # from row to row, where steps are not longer
_TOLERANCE = 5e-5  # rad: with 1e-8 an octopus crawls within 0.1 percent as far, and takes half as long again
_LOOK = 64  # rows that are looked at together
_ARM_COLORS = ((214, 96, 77), (230, 162, 60), (62, 128, 146), (120, 122, 180))


@dataclass(frozen=True)
class Animal:
    """An octopus in its sea, ready to be commanded."""

    model: Crown
    sea: Sea
    anatomy: Anatomy
    yaws: np.ndarray
    """Where its arms point [rad]."""
    grip: np.ndarray
    """1 for arms whose suckers work, 0 for those whose suckers do not hold."""
    lag: float
    """Of activation [s]."""
    radius: float
    """Of its body [m]."""
    notes: list[str]
    """What it lacks."""

    @property
    def length(self) -> float:
        """From the top of its mantle to the tips of its arms, were they all closed [m]."""
        return self.radius - float(self.model.mounts.position[0, 2]) + float(self.model.arm.arm.length)


def animal(run: Run, ground: bool = True, weight: float = 1.0, free: bool = True) -> Animal:
    """The octopus of a run, without the arms that it has lost.

    **Arguments:** `ground`: whether it lies on the ground, or is in open water; `weight`: by how much of their weight
    in water body and arms sink; `free`: whether its body moves.
    """
    spec, settings = run.limbed, run.settings
    lost, failed = (_numbers(run, name) for name in ("lost_arms", "failed_suckers"))
    if len(lost) == len(spec.limbs):
        raise InputError(f"`lost_arms` must leave one of the arms 1 to {len(spec.limbs)}; got {sorted(lost)}")
    kept = [i for i in range(len(spec.limbs)) if i + 1 not in lost]
    first = spec.limbs[0].arm
    # Body and arms have one density, so that buoyancy is a share of their weight.
    heavy = weight * np.array(GRAVITY) * (1.0 - DENSITY / first.material.density)
    model = crown_model(spec, gravity=tuple(heavy), points=1, skin_points=1, arms=kept, free=free)
    radius = (0.75 * spec.body.volume / np.pi) ** (1.0 / 3.0)
    if ground:
        start = jnp.array([0.0, 0.0, radius])
        model = eqx.tree_at(lambda m: m.T_world_body, model, SE3(model.T_world_body.rotation, start))
    assert isinstance(model.arm.muscles, HydrostatMuscles)
    neighbours = _APART if getattr(settings, "arm_contact", False) else None
    floor, suckers = (jnp.zeros(()), SuckerLaw()) if ground else (None, None)
    sea = Sea(Water(), FLESH, Mantle(radius), floor, suckers, model.count, neighbours, bed=GROUND)
    axes = np.asarray(model.mounts.rotation)[:, :, 2]
    return Animal(
        model,
        sea,
        Anatomy.of(model.arm.muscles),
        np.arctan2(axes[:, 1], axes[:, 0]),
        np.array([0.0 if i + 1 in failed else 1.0 for i in kept]),
        float(build_robot(first).activation_time),
        radius,
        [
            f"{what} {', '.join(map(str, sorted(which)))}: what follows is without"
            for what, which in (("lost arms", lost), ("failed suckers of arms", failed))
            if which
        ],
    )


def _numbers(run: Run, name: str) -> set[int]:
    """Arms that a setting names by their numbers from 1; none where the scenario has no such setting."""
    count = len(run.limbed.limbs)
    given = {int(number) for number in getattr(run.settings, name, ())}
    if any(not 1 <= number <= count for number in given):
        raise InputError(f"`{name}` must name some of the arms 1 to {count}; got {sorted(given)}")
    return given


def nerves(run: Run, octopus: Animal, brain: AbstractBrain, prey_at=(0.0, 0.0, 0.0)) -> Nerves:
    """What drives the octopus by a brain; `prey_at`: where its prey is, if there is any."""
    start = octopus.sea.begin(octopus.model.count * octopus.anatomy.count, prey_at)
    gains = jnp.asarray(muscle_gains(run, octopus.anatomy, octopus.model.count))
    return Nerves(octopus.model, brain, jnp.asarray(octopus.lag), gains, octopus.sea, start)


def move(
    run: Run,
    octopus: Animal,
    brain: AbstractBrain,
    seconds: float,
    *,
    every: int = 1,
    share: tuple[float, float] = (0.0, 1.0),
    on_rows: Callable[[Rows], None] | None = None,
    prey_at=(0.0, 0.0, 0.0),
) -> Rows:
    """The motion that a brain makes, a row every so many steps.

    **Arguments:** `share`: of the scenario's progress that this run is; the first one compiles for all; `prey_at`:
    where its prey is, if there is any.
    """
    controller = nerves(run, octopus, brain, prey_at)
    simulation = Simulation(octopus.model, 1e-3 * run.settings.dt_ms, SDIRK2(tolerance=_TOLERANCE))
    first, last = share
    if first == 0.0:
        with run.compiling("compiling the octopus"):
            simulation.compile(seconds, controller, every=every)
    with run.timed():
        return simulation.run(
            seconds,
            controller,
            every=every,
            on_rows=on_rows,
            on_progress=lambda done: run.progress("moving", first + done * (last - first)),
        )


def row_steps(run: Run) -> int:
    """Steps from row to row."""
    return max(1, round(_ROW_S / (1e-3 * run.settings.dt_ms)))


def way(rows: Rows) -> np.ndarray:
    """Where the body is, from where it began (rows, 3) [m]."""
    position = np.asarray(rows.state.base_pose.position)
    return position - position[0]


def yaw(rows: Rows) -> np.ndarray:
    """By how much the body has turned about the vertical [deg]."""
    rotation = np.asarray(rows.state.base_pose.rotation)
    return np.rad2deg(np.unwrap(np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])))


@dataclass(frozen=True)
class Seen:
    """All arms as they are drawn, by rows."""

    poses: SE3
    """Of their plates (rows, arms, plates)."""
    radii: np.ndarray
    """(rows, arms, plates) [m]"""
    depth: np.ndarray
    """How deep the octopus is in the ground, over the local radius, at most (rows,)."""

    @staticmethod
    def joined(parts: "list[Seen]") -> "Seen":
        """One after another."""
        arrays = [(part.poses, part.radii, part.depth) for part in parts]
        return Seen(*jax.tree.map(lambda *y: np.concatenate(y), *arrays))


def look(octopus: Animal, state: State) -> Seen:
    """The rows of a motion, looked through some at a time, so that one function does for all lengths."""
    count = len(state.q)
    parts = []
    for begin in range(0, count, _LOOK):
        index = np.minimum(np.arange(begin, begin + _LOOK), count - 1)
        found = _looked(octopus.model, octopus.radius, jax.tree.map(lambda y, i=index: jnp.asarray(y[i]), state))
        parts.append(Seen(*jax.tree.map(lambda y, n=count - begin: np.asarray(y)[:n], found)))
    return Seen.joined(parts)


@quick_jit
def _looked(model: Crown, radius, state: State):
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


class Witness:
    """Looks at rows as they come, and records them: what was seen is not lost where the motion ends early."""

    def __init__(self, run: Run, octopus: Animal, seconds: float, every: int, scenario: str, ground: bool = True):
        self._octopus: Animal = octopus
        self._parts: list[Seen] = []
        rows = -(-max(round(seconds / (1e-3 * run.settings.dt_ms)), 1) // every) + 1
        plates, arms = octopus.anatomy.count + 1, octopus.model.count
        variables = [
            Variable("body", ("axis",), (3,), "m", "centre of the body in the world"),
            Variable("body_rotation", ("row", "axis"), (3, 3), "1", "from the body's axes to the world's"),
            Variable("plate_position", ("arm", "plate", "axis"), (arms, plates, 3), "m", "ends of the segments"),
        ]
        if ground:
            about = "1 where suckers hold the ground"
            variables.append(Variable("held", ("arm", "segment"), (arms, plates - 1), "1", about))
        self._ground = ground
        attributes = {"scenario": scenario, "robot": run.limbed.name}
        self._recorder = run.recorder(variables, rows, attributes=attributes)
        with run.compiling("compiling the view of it"):
            look(octopus, jax.tree.map(lambda y: jnp.asarray(y)[None], rest_state(octopus.model)))

    def __enter__(self) -> "Witness":
        self._recorder.__enter__()
        return self

    def __exit__(self, *error) -> None:
        self._recorder.__exit__(*error)

    def __call__(self, rows: Rows) -> None:
        """Rows that have come."""
        seen = look(self._octopus, rows.state)
        self._parts.append(seen)
        self._recorder.append(
            rows.time,
            body=np.asarray(rows.state.base_pose.position),
            body_rotation=np.asarray(rows.state.base_pose.rotation),
            plate_position=np.asarray(seen.poses.position),
            **({"held": holds(rows, self._octopus)} if self._ground else {}),
        )

    @property
    def seen(self) -> Seen:
        """All so far."""
        return Seen.joined(self._parts)


def holds(rows: Rows, octopus: Animal) -> np.ndarray:
    """1 where suckers hold the ground (rows, arms, segments)."""
    return np.asarray(rows.memory.world.held).reshape(len(rows.time), octopus.model.count, -1)


def draw_above(axes, rows: Rows, row: int, seen: Seen, octopus: Animal) -> None:
    """The octopus from above, where its suckers hold, and the way that it has come."""
    positions, body = 1e3 * np.asarray(seen.poses.position[row]), 1e3 * np.asarray(rows.state.base_pose.position)
    held = holds(rows, octopus)[row]
    for arm, points in enumerate(positions):
        axes.plot(points[:, 0], points[:, 1], color=figures.COLORS[arm % len(figures.COLORS)], linewidth=1.6)
        axes.plot(*points[1:][held[arm] > 0.0][:, :2].T, "o", color="#33322e", markersize=3)
    axes.plot(*body[: row + 1, :2].T, color="#33322e", linewidth=0.8)
    axes.set_aspect("equal")
    figures.style_axes(axes, f"from above, {rows.time[row]:.2f} s", "x [mm]", "y [mm]")


def replay(
    path: Path,
    rows: Rows,
    seen: Seen,
    octopus: Animal,
    title: str,
    lines: tuple[Line, ...] = (),
    tubes: tuple[Tube, ...] = (),
) -> None:
    """All arms and the body in motion, with what else there is (`tubes`, row by row as they)."""
    step = max(1, -(-len(rows.time) // _FRAMES))
    positions, rotations, radii = (np.asarray(y)[::step] for y in (*_arrays(seen.poses), seen.radii))
    drawn = [
        Tube(f"arm {i + 1}", positions[:, i], rotations[:, i], radii[:, i], _ARM_COLORS[i % len(_ARM_COLORS)])
        for i in range(octopus.model.count)
    ]
    centre, turn = (np.asarray(y)[::step] for y in _arrays(rows.state.base_pose))
    along = np.linspace(-0.999, 0.999, 17)
    spots = centre[:, None] + octopus.radius * along[None, :, None] * turn[:, None, :, 2]
    wide = octopus.radius * np.sqrt(1.0 - along**2)
    drawn += [
        Tube(one.name, one.positions[::step], one.rotations[::step], one.radii[::step], one.color) for one in tubes
    ]
    drawn.append(Tube("body", spots, np.repeat(turn[:, None], len(along), 1), wide, (201, 120, 100)))
    trail = Line("path of the body", centre, color=(120, 120, 120), width=0.0008)
    write_replay(path, rows.time[::step], drawn, [trail, *lines], title=title)


def _arrays(pose: SE3):
    return pose.position, pose.rotation
