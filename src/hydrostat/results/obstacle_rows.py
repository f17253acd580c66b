"""Contact of arms with obstacles that may move, as a row function of trajectories, and where contact nodes are."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.errors import InputError
from hydrostat.lie import small
from hydrostat.mechanics.robot import Robot
from hydrostat.results.rows import Row
from hydrostat.surroundings.obstacles import Obstacles
from hydrostat.system import System


class ObstacleContact(NamedTuple):
    """Contact of arms with `Obstacles`."""

    on_nodes: Float[Array, "*rows nodes"]
    """Size of the force on each contact node, arm after arm [N]."""
    on_obstacles: Float[Array, "*rows shapes 3"]
    """Force of the arms on each obstacle, in world axes [N]."""
    penetration: Float[Array, "*rows"]
    """Depth of the deepest node in an obstacle; negative while all are apart [m]."""
    shift: Float[Array, "*rows 3"]
    """Displacement of the obstacles from where they start [m]."""


def obstacle_contact(system: System, row: Row) -> ObstacleContact:
    """Contact with obstacles, for `Trajectory.derived`: forces on nodes and on obstacles, and penetration."""
    obstacles, place = system.part(Obstacles), system.place(row.state)
    if obstacles is None or place is None:
        raise InputError("`obstacle_contact` needs a system with `Obstacles`; it has none")
    own = system.part_state(row.state, Obstacles)
    moves = obstacles.motion is not None
    contact, reactions = (obstacles.moved_to(own) if moves else obstacles).contact(place.nodes)
    return ObstacleContact(
        on_nodes=small.norm(contact.force),
        on_obstacles=reactions.force,
        penetration=jnp.max(contact.penetration),
        shift=obstacles.motion(own) if moves else jnp.zeros(3),
    )


def contact_fractions(robot: Robot) -> np.ndarray:
    """The places of the contact nodes of a single arm, as fractions of its length from the base."""
    lengths = np.asarray(robot.arm.segments.length)
    starts = np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
    return ((starts[:, None] + np.asarray(robot.one.skin) * lengths[:, None]) / lengths.sum()).ravel()
