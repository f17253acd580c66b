"""Forces of the surroundings on a robot: at the nodes of its arms, family by family, and on its body."""

from typing import NamedTuple, get_args

from jaxtyping import Array, Float

from hydrostat.mechanics.motion import (
    BaseMotion,
    Coordinates,
    Motion,
    all_nodes,
    arm_motion,
    arm_nodes,
    at_mount,
    body_node,
    nodes_per_arm,
)
from hydrostat.mechanics.nodes import AbstractForces, NodeFamily, NodeForces, Nodes
from hydrostat.mechanics.robot import Inputs, Robot, dispersed, each_arm


class OuterForces(NamedTuple):
    """The forces of the surroundings on an arm, at each family of its nodes; None where there are none."""

    contact: NodeForces | None
    flow: NodeForces | None


def forces_per_arm(
    model: Robot,
    base: BaseMotion,
    x: Coordinates,
    v: Coordinates,
    a: Coordinates,
    inputs: Inputs,
    shift: float | Float[Array, " 3"] = 0.0,
):
    """A quantity of each arm, and the function that computes from it the arm's motion and the forces on its nodes.

    Surroundings may couple all arms, and then see the nodes of all of them at once. Of equal arms, each sees its own
    share of them, so that one arm is worked out from begin to end before the next.

    **Arguments:** `shift`: from where positions are counted to the world's origin [m].
    """

    def moved(arm, mount, q, v, a) -> Motion:
        return arm_motion(arm, q, v, a, at_mount(base, mount))

    around = inputs.surroundings
    if model.equal:
        shares = None if around is None else around.by_arm(model.count)

        def motion_and_forces(arm, mount, share, q, v, a):
            motion = moved(arm, mount, q, v, a)
            return motion, _outer(share, lambda family: _shifted(arm_nodes(family, arm, motion, q), shift))

        return shares, motion_and_forces

    (motions,) = each_arm(model, lambda *own: (moved(*own),), x.q, v.q, a.q)
    outer = _outer(around, lambda family: _shifted(all_nodes(model, motions, x, family), shift))
    known = (motions, outer)
    if not model.single:
        known = tuple(zip(motions, _divided(model, outer), strict=True))
    return known, lambda arm, mount, known, *own: known


def _outer(around: AbstractForces | None, nodes_at) -> OuterForces:
    """The forces at each family of nodes; `nodes_at` makes the nodes of a family."""

    def at(family) -> NodeForces | None:
        part = None if around is None else around.at(family)
        if part is None:
            return None
        found = part.forces(nodes_at(family))
        # As arrays: forces and torques are needed for every component of what they are turned into.
        force, torque = found.force, found.torque
        return found._replace(force=force, torque=torque)

    return OuterForces(at("contact"), at("flow"))


def _divided(model: Robot, outer: OuterForces) -> list[OuterForces]:
    """The forces on all of several unequal arms, divided among them."""
    none = (None,) * model.count
    each = [
        none if forces is None else dispersed(model, forces, nodes_per_arm(model, family))
        for family, forces in zip(get_args(NodeFamily), outer, strict=True)
    ]
    return [OuterForces(*own) for own in zip(*each, strict=True)]


def _shifted(nodes: Nodes, shift) -> Nodes:
    """The nodes with their positions counted from another point."""
    return nodes if isinstance(shift, float) and shift == 0.0 else nodes._replace(position=nodes.position + shift)


def forces_on_body(base: BaseMotion, inputs: Inputs) -> NodeForces | None:
    """The forces of the surroundings on the body itself, about its origin in world axes."""
    return None if inputs.surroundings is None else inputs.surroundings.on_body(body_node(base))
