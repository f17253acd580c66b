"""The world of an octopus: water, a floor that its suckers hold, its own arms, and its body in all that."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractSurroundings, NodeForces, Nodes, copies, on_displacements
from hydrostat.surroundings.contact import ContactLaw
from hydrostat.surroundings.floor import Floor, Held, Holds, floor
from hydrostat.surroundings.own import OwnContact, body_contact, own_contact
from hydrostat.surroundings.planes import Planes
from hydrostat.surroundings.shapes import scalar
from hydrostat.surroundings.suckers import SuckerLaw
from hydrostat.surroundings.water import Together, Water
from hydrostat.surroundings.world import BALL_DRAG, World, WorldState, nodes_ahead

_ATTACHED = 2  # nodes of an arm, from its base, that the body holds and so does not touch


class Mantle(eqx.Module):
    """The body of an octopus as the water and the floor meet it: a ball about the body's origin."""

    radius: Float[Array, ""] = eqx.field(converter=scalar("radius"))
    """[m]"""
    drag: Float[Array, ""] = eqx.field(converter=scalar("drag", positive=False), default=BALL_DRAG)
    """On the area of its shadow."""


class Jet(eqx.Module):
    """Water that the mantle takes in slowly and presses out fast through its funnel.

    The thrust is that of the momentum that leaves, rho Q^2 / A. What the water in the mantle weighs is not counted.
    """

    volume: Float[Array, ""] = eqx.field(converter=scalar("volume"))
    """Of a full mantle [m^3]."""
    nozzle: Float[Array, ""] = eqx.field(converter=scalar("nozzle"))
    """Area of the funnel's opening [m^2]."""
    burst_s: Float[Array, ""] = eqx.field(converter=scalar("burst_s"))
    """In which a full mantle empties at full command [s]."""
    refill_s: Float[Array, ""] = eqx.field(converter=scalar("refill_s"))
    """In which an empty mantle fills [s]."""

    def press(self, left: Float[Array, ""], wanted, density, dt) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """The water that is left after a step of dt [s], and the thrust during it [N].

        **Arguments:** `left`: share of the mantle that was full; `wanted`: from 0, refill, to 1, press with all force.
        """
        out = jnp.minimum(wanted * dt / self.burst_s, left)
        flow = self.volume * out / dt
        refilled = jnp.where(wanted > 0.0, 0.0, jnp.minimum(dt / self.refill_s, 1.0 - left))
        return left - out + refilled, density * flow**2 / self.nozzle


class OnMantle(AbstractSurroundings):
    """What acts on the body during a step."""

    mantle: Mantle
    water: Water
    floor: Floor | None
    push: Float[Array, " 3"]
    """Of a jet, in world axes [N]."""
    arms: OwnContact | None = None
    """That press on it."""
    prey: Planes | None = None
    """That presses on it."""

    @property
    def abrupt(self) -> bool:
        """As its floor."""
        return self.floor is not None

    def by_arm(self, arms: int) -> "OnMantle":
        """It does not act on arms."""
        return copies(self, arms)

    def forces(self, nodes: Nodes) -> NodeForces:
        """None on the nodes of arms."""
        vector, matrix = jnp.zeros_like(nodes.position), jnp.zeros((len(nodes.radius), 6, 6))
        return NodeForces(vector, vector, matrix, matrix)

    def on_body(self, body: Nodes) -> NodeForces:
        """Drag, the jet, and the floor."""
        flow = self.water.current - body.velocity
        speed = small.norm(flow)
        drag = 0.5 * self.water.density * self.mantle.drag * jnp.pi * self.mantle.radius**2
        unit = flow / jnp.maximum(speed, 1e-12)[:, None]
        linear = (drag * speed)[:, None, None] * (jnp.eye(3) + unit[:, :, None] * unit[:, None, :])
        force, damping = drag * speed[:, None] * flow + self.push, on_displacements(linear)
        found = NodeForces(force, jnp.zeros_like(force), jnp.zeros_like(damping), damping)
        ball = _ball(self.mantle, body)
        more = [part.forces(ball) for part in (self.floor, self.arms, self.prey) if part is not None]
        return jax.tree.map(lambda *values: sum(values[1:], start=values[0]), found, *more)


def _ball(mantle: Mantle, body: Nodes) -> Nodes:
    """The body as a node of its radius."""
    return body._replace(radius=mantle.radius[None])


class SeaState(NamedTuple):
    """What goes on from step to step."""

    holds: Holds
    left: Float[Array, ""]
    """Share of the mantle that is full of water."""
    push: Float[Array, " 3"]
    """Of the jet during the step, in world axes [N]."""
    prey: WorldState | None
    """Where it is, and what holds it: the nodes of all arms, and last the body."""

    @property
    def held(self) -> Float[Array, " n"]:
        """1 where a sucker holds, else 0."""
        return self.holds.held


class Sea(eqx.Module):
    """What is around an octopus."""

    water: Water
    law: ContactLaw
    """How arms give way to each other and to the body."""
    mantle: Mantle
    floor: Float[Array, ""] | None = None
    """Height of a level floor [m]; None for open water."""
    suckers: SuckerLaw | None = None
    arms: int = eqx.field(static=True, default=8)
    neighbours: int | None = eqx.field(static=True, default=None)
    """How many places along an arm two of its parts must be apart to touch; None where arms touch nothing of their own
    kind."""
    jet: Jet | None = None
    bed: ContactLaw | None = None
    """How the floor gives way; None: as arms do."""
    prey: World | None = None
    """A ball that one arm at a time can take, with the ground under it."""

    def begin(self, count: int, prey_at=(0.0, 0.0, 0.0)) -> SeaState:
        """So many nodes, none of which holds on to anything, a full mantle, and prey somewhere, if there is any."""
        prey = None if self.prey is None else self.prey.begin(count + 1, prey_at)
        return SeaState(Holds.nowhere(count), jnp.ones(()), jnp.zeros(3), prey)

    def advance(
        self,
        state: SeaState,
        nodes: Nodes,
        body: Nodes,
        wanted: Float[Array, " n"],
        dt,
        *,
        jet: Float[Array, ""] | None = None,
        take: Float[Array, " n"] | None = None,
    ) -> SeaState:
        """The world for a step that begins with the nodes here.

        **Arguments:** `body`: its origin as a node; `wanted`: 1 for suckers that shall hold the floor, 0 for those that
        shall not; `jet`: how hard the mantle shall press, 0 to 1; `take`: 1 for suckers that shall hold the prey.
        """
        if self.suckers is not None and self.floor is not None:
            state = state._replace(holds=state.holds.advance(self.suckers, self.floor, nodes, wanted))
        if self.jet is not None and jet is not None:
            left, thrust = self.jet.press(state.left, jet, self.water.density, dt)
            state = state._replace(left=left, push=thrust * body.tangent[0])
        if self.prey is not None and state.prey is not None:
            taking = jnp.zeros_like(wanted) if take is None else take
            taking = jnp.concatenate([taking, jnp.zeros(1)])
            state = state._replace(prey=self.prey.advance(state.prey, self._with_body(nodes, body), taking, dt))
        return state

    def _with_body(self, nodes: Nodes, body: Nodes) -> Nodes:
        """The nodes of all arms, and last the body as a ball."""
        return jax.tree.map(lambda *y: jnp.concatenate(y), nodes, _ball(self.mantle, body))

    def around(self, state: SeaState, ahead: Nodes, dt, body: Nodes) -> AbstractSurroundings:
        """What arms and body meet during a step of dt [s] at whose end the nodes are about here."""
        parts: list[AbstractSurroundings] = [self.water]
        below = pressing = prey = None
        body = nodes_ahead(body, dt)
        if self.floor is not None:
            bed = self.law if self.bed is None else self.bed
            parts.append(floor(bed, self.floor, ahead))
            below = floor(bed, self.floor, _ball(self.mantle, body))
            if self.suckers is not None:
                parts.append(Held(self.suckers, state.holds))
        if self.neighbours is not None:
            parts.append(own_contact(self.law, ahead, self.neighbours, dt, self.arms))
            on_arms, pressing = body_contact(self.law, ahead, _ball(self.mantle, body), _ATTACHED, dt, self.arms)
            parts.append(on_arms)
        if self.prey is not None and state.prey is not None:
            touching = self.prey.skin(state.prey, self._with_body(ahead, body), dt)
            own, prey = (_some(touching, some) for some in (slice(None, -1), slice(-1, None)))
            ties = state.prey.ties
            held = eqx.tree_at(lambda one: (one.held, one.lever), ties, (ties.held[:-1], ties.lever[:-1]))
            parts += [own, held]
        parts.append(OnMantle(self.mantle, self.water, below, state.push, pressing, prey))
        return Together(tuple(parts))


def _some(touching: Planes, some: slice) -> Planes:
    """The planes of some of the nodes."""
    arrays = ("normal", "offset", "velocity", "share", "friction")
    return Planes(touching.law, *(getattr(touching, name)[some] for name in arrays))
