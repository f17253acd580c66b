"""Suckers: springs with dampers between nodes of an arm and what they hold, the ground or a free object."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractForces, NodeForces, Nodes, copies, on_displacements, shares
from hydrostat.surroundings.base import AbstractSurroundings, Commands, Environment, Place
from hydrostat.surroundings.shapes import scalar

STIFFNESS = 98.0
"""Stiffness of a sucker of 5 mm and 10 kPa on a stalk of 2 mm [N/m]: Tramacere et al. 2014 for the tissue."""
DAMPING = 0.5
"""Damping of a sucker [N s/m], assumed."""
SUCTION = 100e3
"""Pressure below that of the water [Pa]: Kier and Smith 2002 measured as much near the surface, and more."""
SEAL_TIME = 0.05
"""Time in contact after which a sucker holds [s], assumed: its rim must settle and its muscles draw the suction."""
SEAL_GAP = 1e-4
"""Gap to the ground up to which the soft rim of a sucker touches it [m], assumed."""
SEAL_SPEED = 0.05
"""Speed along the ground up to which the rim of a sucker settles [m/s], assumed."""
_WIDTH = 0.7  # of a sucker over that of the arm, assumed


class Attachment(NamedTuple):
    """The attachment of contact nodes by their suckers."""

    held: Float[Array, " n"]
    """1 where a sucker holds, else 0."""
    anchor: Float[Array, "n 3"]
    """The point that each sucker holds [m]: on the ground, the node's centre when it took hold, in the world; on an
    object, in its own axes."""
    pull: Float[Array, " n"]
    """Tension of each sucker [N]."""
    settled: Float[Array, " n"]
    """Time for which the rim of each sucker has been in contact without holding [s]."""

    @staticmethod
    def nowhere(count: int) -> "Attachment":
        """The attachment of nodes none of which holds or is in contact."""
        return Attachment(jnp.zeros(count), jnp.zeros((count, 3)), jnp.zeros(count), jnp.zeros(count))


class Suckers(AbstractSurroundings):
    """Suckers on the arms, which take hold of the ground and of free objects when they are told to.

    Whatever pulls a node and what it holds apart by d, along or across, is resisted with k d + c d'. A sucker lets go
    by command, or when it is pulled harder than its suction holds. On the ground it must touch, hardly slide, and takes
    some time until it holds, also after it was torn off. A free object, which gives way, is taken at once within reach,
    and again that time after a sucker was torn off it.
    """

    stiffness: Float[Array, ""] = eqx.field(converter=scalar("stiffness"), default=STIFFNESS)
    """Stiffness k of a sucker [N/m]."""
    damping: Float[Array, ""] = eqx.field(converter=scalar("damping", positive=False), default=DAMPING)
    """Damping c of a sucker [N s/m]."""
    reach: Float[Array, ""] = eqx.field(converter=scalar("reach", positive=False), default=1e-3)
    """Gap within which a sucker takes hold of a free object [m]."""
    suction: Float[Array, ""] = eqx.field(converter=scalar("suction"), default=SUCTION)
    """Suction, pressure below that of the water [Pa]."""
    seal_time: Float[Array, ""] = eqx.field(converter=scalar("seal_time", positive=False), default=SEAL_TIME)
    """Time in contact after which a sucker holds [s]."""
    seal_gap: Float[Array, ""] = eqx.field(converter=scalar("seal_gap", positive=False), default=SEAL_GAP)
    """Gap to the ground up to which a sucker is in contact [m]."""
    seal_speed: Float[Array, ""] = eqx.field(converter=scalar("seal_speed", positive=False), default=SEAL_SPEED)
    """Speed relative to the ground up to which a sucker that touches it comes to hold [m/s]."""

    def pull_off(self, radius: Float[Array, " n"]) -> Float[Array, " n"]:
        """The force at which a sucker of a node of some radius lets go [N]."""
        return self.suction * jnp.pi * (_WIDTH * radius) ** 2

    def init(self, environment: Environment) -> Attachment:
        """The attachment at the start: nothing is held."""
        return Attachment.nowhere(environment.count)

    def begin(self, state: Attachment, place: Place, environment: Environment, commands: Commands, dt):
        """The events at the begin of a step: suckers let go of the ground by command or by being torn off, others take
        hold."""
        if environment.ground is None:
            return state, None
        nodes = place.nodes
        gap = nodes.position[:, 2] - nodes.radius - environment.ground.height
        touching = (gap <= self.seal_gap) & (small.norm(nodes.velocity) <= self.seal_speed)
        new = self.attached(state, touching, commands.grip, nodes.position, nodes.radius, dt)
        return new, GroundGrip(self.stiffness, self.damping, new.held, new.anchor)

    def attached(self, before: Attachment, touching, command, anchor, radius, dt, *, at_once: bool = False):
        """The attachment after suckers have let go by command or by being torn off, and others have taken hold.

        **Arguments:** `touching`: whether each sucker is in contact; `command`: 1 to hold, 0 to let go; `anchor`: the
        point that each would hold; `radius`: of the nodes [m]; `dt`: the step [s]; `at_once`: whether the seal time
        is asked only of suckers that were torn off.
        """
        torn = (before.held > 0.0) & (before.pull > self.pull_off(radius))
        kept = before.held * command * jnp.where(torn, 0.0, 1.0)
        fresh = self.seal_time if at_once else jnp.zeros(())
        waiting = jnp.where(touching, before.settled + dt, jnp.where(at_once, before.settled, 0.0))
        settled = jnp.where(torn, 0.0, jnp.where(command > 0.0, waiting, fresh))
        # A step that ends when the time is over counts, whatever the rounding of its sums.
        ready = touching & ~torn & (settled >= self.seal_time - 1e-9)
        new = (1.0 - before.held) * command * jnp.where(ready, 1.0, 0.0)
        held = kept + new
        settled = jnp.where(held > 0.0, fresh, settled)
        return Attachment(held, jnp.where(new[:, None] > 0.0, anchor, before.anchor), before.pull, settled)

    def finish(self, state: Attachment, forces, place: Place, environment: Environment, dt) -> Attachment:
        """The attachment at the end of a step, with the tension of each sucker."""
        del environment, dt
        if forces is None:
            return state
        return state._replace(pull=small.norm(forces.forces(place.nodes).force))


class GroundGrip(AbstractForces):
    """Springs with dampers from nodes to the points of the ground that their suckers hold."""

    stiffness: Float[Array, "*arm"]
    damping: Float[Array, "*arm"]
    held: Float[Array, "*arm n"]
    anchor: Float[Array, "*arm n 3"]

    @property
    def abrupt(self) -> bool:
        """Whether the forces are abrupt: no, suckers take hold and let go between steps."""
        return False

    def by_arm(self, arms: int) -> "GroundGrip":
        """The suckers of each arm's own nodes."""
        own = shares((self.held, self.anchor), arms)
        return eqx.tree_at(lambda one: (one.held, one.anchor), copies(self, arms), own)

    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces of the suckers on every node."""
        k, c = self.stiffness, self.damping
        held = self.held[:, None]
        force = held * (k * (self.anchor - nodes.position) - c * nodes.velocity)
        one = held[..., None] * jnp.eye(3)
        return NodeForces(force, jnp.zeros_like(force), on_displacements(k * one), on_displacements(c * one))
