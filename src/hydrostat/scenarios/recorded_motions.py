"""The motions of result folders as trajectories again, with their systems, so that they can be viewed."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hydrostat.errors import InputError, shown
from hydrostat.results import load
from hydrostat.results.checking import read_json
from hydrostat.robots import find_robot
from hydrostat.robots.catalogue import ROBOTS
from hydrostat.robots.file import parse_robot
from hydrostat.scenarios.catalogue import SCENARIOS
from hydrostat.scenarios.live_motions import motion_of
from hydrostat.scenarios.resuming import chosen_settings

if TYPE_CHECKING:
    from hydrostat import System, Trajectory


def recorded_motion(folder: Path) -> "Trajectory | None":
    """The motion that a result folder holds; None where its columns are not those of the motion of one robot.

    The system is made as its scenario made it, from what the run began with; of a trajectory that was saved by itself
    it is the robot of that name in its usual surroundings.
    """
    dataset = load(folder)
    if "q" not in dataset or dataset.attrs.get("axis") != "time":
        return None
    system = _system_of(folder, dataset.attrs)
    return None if system is None else _trajectory(system, dataset)


def _system_of(folder: Path, attributes: dict[str, Any]) -> "System | None":
    begun = folder / "run.json"
    if begun.exists():
        content = read_json(begun)
        scenario = SCENARIOS.get(str(content.get("scenario")))
        if scenario is None or not scenario.live:
            return None
        try:
            settings = chosen_settings(content["settings"], scenario.keys)
            return motion_of(scenario, parse_robot(content["robot"]), settings, seed=int(content["seed"])).system
        except (InputError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{shown(str(begun))} does not say how the run began: {error}") from None
    if attributes.get("robot") not in ROBOTS:
        return None
    import hydrostat as hs
    from hydrostat.robots import build_robot

    usual = {"Water": hs.Water, "Ground": hs.Ground}
    parts = [usual[name]() for name in re.split(r",\s*", attributes.get("surroundings", "")) if name in usual]
    return hs.System(build_robot(find_robot(attributes["robot"])), parts)


def _trajectory(system: "System", dataset: Any) -> "Trajectory | None":
    """The rows of a dataset as states of a system; None where they do not fit it."""
    import jax
    import jax.numpy as jnp

    from hydrostat import SE3
    from hydrostat.results import Trajectory

    rest = jax.tree.map(np.asarray, system.rest())
    time = np.asarray(dataset["time"], float)
    state: Any = jax.tree.map(lambda y: np.broadcast_to(y, (len(time), *y.shape)), rest)
    q = _per_arm(rest.q, np.asarray(dataset["q"], float))
    if q is None or not len(time):
        return None
    state = state._replace(time=time, q=q)
    if "body" in dataset:
        pose = SE3(*(jnp.asarray(dataset[name].to_numpy(), float) for name in ("body_rotation", "body")))
        state = state._replace(base_pose=pose)
    if "activation" in dataset:
        activation = _per_arm(rest.activation, np.asarray(dataset["activation"], float))
        state = state if activation is None else state._replace(activation=activation)
    if "fatigue" in dataset and rest.fatigue is not None:
        state = state._replace(fatigue=_per_arm(rest.fatigue, np.asarray(dataset["fatigue"], float)))
    state = state._replace(surroundings=_surroundings(system, state, dataset))
    return Trajectory.of_states(system, state)


def _per_arm(like: Any, values: np.ndarray) -> Any:
    """Recorded values (rows[, arm], ...) as those of each arm; None where they do not fit."""
    if isinstance(like, tuple):
        if values.ndim != like[0].ndim + 2 or values.shape[1] != len(like):
            return None
        parts = [values[:, i][(slice(None), *(slice(n) for n in own.shape))] for i, own in enumerate(like)]
        fits = all(part.shape[1:] == own.shape for part, own in zip(parts, like, strict=True))
        return tuple(parts) if fits else None
    return values if values.shape[1:] == like.shape else None


def _surroundings(system: "System", state: Any, dataset: Any) -> tuple:
    """The states of the surroundings, as far as they were recorded: what suckers hold, and free objects."""
    from hydrostat import Ball, Suckers

    parts, number = [], 0
    for part, first in zip(system.surroundings, state.surroundings, strict=True):
        own = first
        if isinstance(part, Suckers) and "held" in dataset:
            own = own._replace(held=_per_node(system, dataset["held"], own.held.shape[1]))
        if isinstance(part, Ball) and "objects" in dataset:
            place = np.asarray(dataset["objects"], float)[:, number]
            own = own._replace(ball=own.ball._replace(position=place))
            if "taken" in dataset:
                held = _per_node(system, dataset["taken"], own.attachment.held.shape[1])
                own = own._replace(attachment=own.attachment._replace(held=held))
            number += 1
        parts.append(own)
    return tuple(parts)


def _per_node(system: "System", recorded: Any, count: int) -> np.ndarray:
    """A recorded value of each segment (rows[, arm], n) at each contact node, and zero for a body after them."""
    values = np.asarray(recorded, float)
    flat = values.reshape(len(values), -1)
    flat = flat[:, np.isfinite(flat[0])]
    nodes = system.environment.count
    whole = np.zeros((len(values), count))
    whole[:, :nodes] = np.repeat(flat, nodes // flat.shape[1], 1)
    return whole
