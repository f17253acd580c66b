"""What `statics`, `modes` and `drive` share: any robot, in air or in water, under weight, tendons, muscles and loads.

The checks need no JAX, so that a fault of what was typed is named before it is imported.
"""

import csv
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from hydrostat.errors import InputError, UnsolvedError, shown
from hydrostat.robots.limbed import AnySpec, LimbedSpec
from hydrostat.robots.spec import RobotSpec
from hydrostat.scenarios.base import Key, Run

if TYPE_CHECKING:
    from hydrostat.system import Control, System

MUSCLES = 5
"""Muscles of a segment without oblique ones: four longitudinal, and the radial ones."""
_OBLIQUE = 2
_MOST_TENSION = 1e6  # N
WEIGHT_PARTS = 8
"""Equal parts in which the weight grows where an equilibrium is looked for."""

COMMON = (
    Key("tension_n", (), "N", "of every tendon, limb after limb; slack where none is given", least=0.0,
        most=_MOST_TENSION, most_entries=100_000),
    Key("activation", (), "", "of the muscles of every segment: longitudinal ones, radial, oblique ones", least=0.0,
        most=1.0, most_entries=MUSCLES + _OBLIQUE),
    Key("tip_load_n", (0.0, 0.0, 0.0), "N", "force on every tip, x, y, z of the world", least=-1e6, most=1e6),
    Key("gravity_m_s2", (0.0, 0.0, -9.81), "m/s^2", "x, y, z", least=-1e6, most=1e6),
    Key("water", False, "", "whether it is in sea water: buoyancy, and drag on what moves"),
    Key("current_m_s", (0.0, 0.0, 0.0), "m/s", "velocity of that water, x, y, z", least=-1e3, most=1e3),
    Key("base_axis", (), "", "where the base points instead of where the robot's file says, x, y, z", least=-1e6,
        most=1e6, most_entries=3),
    Key("pieces", 1, "", "equal pieces that every segment is cut into, so that it can bend unevenly", least=1,
        most=100),
)  # fmt: skip


def arms_of(spec: AnySpec) -> list[RobotSpec]:
    """The arm, or the arms of a body."""
    return [limb.arm for limb in spec.limbs] if isinstance(spec, LimbedSpec) else [spec]


def tendons_of(spec: AnySpec) -> int:
    """How many tendons a robot has."""
    return sum(len(arm.tendons) for arm in arms_of(spec))


def check_any(spec: AnySpec) -> None:
    """Refuse robots that nothing but their legs holds."""
    if any(arm.legs is not None for arm in arms_of(spec)):
        raise InputError(
            f"{spec.name} is a chain of platforms without stiffness of its own: see track-dynamics and stewart-motions"
        )


def check_inputs(spec: AnySpec, settings: SimpleNamespace) -> None:
    """Refuse tensions, activations and a base that do not fit the robot."""
    count = tendons_of(spec)
    if settings.tension_n and len(settings.tension_n) != count:
        have = f"{count} numbers, one for each tendon" if count else "left out: the robot has no tendons"
        raise InputError(f"`tension_n` of {spec.name} must be {have}; got {len(settings.tension_n)}")
    muscles = muscles_of(spec)
    if settings.activation and len(settings.activation) != muscles:
        have = f"{muscles} numbers, one for each muscle of a segment" if muscles else "left out: it has no muscles"
        raise InputError(f"`activation` of {spec.name} must be {have}; got {len(settings.activation)}")
    if settings.base_axis and (len(settings.base_axis) != 3 or not any(settings.base_axis)):
        raise InputError(f"`base_axis` must be three numbers that are not all zero; got {list(settings.base_axis)}")
    if settings.pieces > 1 and any(arm.muscles is not None for arm in arms_of(spec)):
        raise InputError(f"`pieces` must be 1 for {spec.name}, whose segments have muscles; got {settings.pieces}")
    if any(settings.current_m_s) and not settings.water:
        raise InputError("`current_m_s` is the velocity of water; add water=true")


def muscles_of(spec: AnySpec) -> int:
    """How many muscles each segment of a robot has."""
    muscles = arms_of(spec)[0].muscles
    return 0 if muscles is None else MUSCLES + (_OBLIQUE if muscles.oblique_deg else 0)


def read_commands(path: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and the tensions of every tendon [N] then, of a CSV file; a first line of names is allowed.

    **Arguments:** `count`: of the tendons; each line must hold a time and so many tensions.
    """
    name = f"command file {shown(path)}"
    try:
        with Path(path).open(newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            lines = [(reader.line_num, line) for line in reader if any(cell.strip() for cell in line)]
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{name} could not be read: {getattr(error, 'strerror', None) or error}") from None
    rows: list[list[float]] = []
    for index, (number, line) in enumerate(lines):
        values = [_number(cell) for cell in line]
        if index == 0 and all(value is None for value in values):
            continue
        where = f"line {number} of {name}"
        if len(values) != count + 1 or any(value is None for value in values):
            raise InputError(f"{where} must be a time and {count} tensions; got {shown(','.join(line))}")
        time, *tensions = (value for value in values if value is not None)
        if not all(0.0 <= value <= _MOST_TENSION for value in tensions):
            raise InputError(f"{where} must hold tensions from 0 to {_MOST_TENSION:g} N; got {shown(','.join(line))}")
        if not abs(time) <= 1e9 or (rows and time <= rows[-1][0]):
            raise InputError(
                f"times of {name} must be finite and grow from line to line; got {time:g} in line {number}"
            )
        rows.append([time, *tensions])
    if not rows:
        raise InputError(f"{name} must hold a time and {count} tensions in each line; it holds none")
    table = np.array(rows)
    return table[:, 0], table[:, 1:]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def system_of(run: Run) -> "System":
    """The robot of a run on a fixed base, in the surroundings that its settings describe."""
    from hydrostat.robots.build import build_robot
    from hydrostat.surroundings import Water
    from hydrostat.system import System

    settings, spec = run.settings, run.whole
    if settings.base_axis:
        spec = replace(spec, base=replace(spec.base, axis=settings.base_axis))
    if settings.pieces > 1:
        spec = spec.cut(settings.pieces)
    around = [Water(current=settings.current_m_s)] if settings.water else []
    return System(build_robot(spec, free=False, load_places=[1.0]), around, gravity=settings.gravity_m_s2)


def control_of(system: "System", settings: SimpleNamespace) -> "Control":
    """The tensions, activations and loads of the settings."""
    import jax
    import jax.numpy as jnp
    from jax.flatten_util import ravel_pytree

    from hydrostat.mechanics.robot import no_inputs
    from hydrostat.system import Control

    none = no_inputs(system.robot)
    given: dict[str, Any] = {}
    if settings.tension_n:
        given["tension"] = ravel_pytree(none.wires)[1](jnp.asarray(settings.tension_n))
    if settings.activation:
        own = jnp.asarray(settings.activation)
        given["activation"] = jax.tree.map(lambda y: jnp.broadcast_to(own, y.shape), none.activation)
    if any(settings.tip_load_n):
        load = jnp.asarray([0.0, 0.0, 0.0, *settings.tip_load_n])
        given["load"] = jax.tree.map(lambda y: jnp.broadcast_to(load, y.shape), none.force)
    return Control(**given)


def ramp(run: Run, system: "System", shares: np.ndarray):
    """The equilibria of a system under growing shares of what acts besides its weight, as the rows of a trajectory."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    from hydrostat.results import Trajectory
    from hydrostat.statics import equilibrium

    full = control_of(system, run.settings)

    @eqx.filter_jit
    def at(system, full, share, q):
        control = jax.tree.map(lambda y: share * y, full)
        found = equilibrium(system, control, q)
        return found.state._replace(time=jnp.asarray(share, float)), control, found.converged

    # The weight comes first, in parts: a soft arm hangs far from where it is made.
    with run.compiling():
        q = equilibrium(system, load_steps=WEIGHT_PARTS).q
        at(system, full, jnp.asarray(0.0, float), q)
    found = []
    with run.timed():
        for share in shares:
            state, control, converged = at(system, full, jnp.asarray(share, float), q)
            if not bool(converged):
                raise UnsolvedError(
                    f"no equilibrium was found at {100 * share:.0f} % of what acts on {system.robot.name}; "
                    f"it may buckle there: try less"
                )
            q = state.q
            found.append((state, control))
            run.progress("solving", float(share))
    state, control = jax.tree.map(lambda *y: np.stack([np.asarray(one) for one in y]), *found)
    return Trajectory.of_states(system, state, control)


def tips_mm(position: Any) -> list[float]:
    """Tips, of several arms one after another, as a flat list of x, y, z [mm]."""
    return (1e3 * np.asarray(position)).reshape(-1).tolist()
