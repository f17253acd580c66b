"""The water around a body: its added mass, and its buoyancy.

The water that a body pushes aside has, about its centre and in its axes, the diagonal inertia rho `added`, and obeys
the equations of `mechanics.added_mass`. A ball carries along half of the water that it displaces, whichever way it
moves, and none where it turns (Lamb, Hydrodynamics, art. 92); the six volumes of a spheroid are those of
`robots.hull_spec`. The buoyancy acts at the centre of buoyancy, so that a body whose centre of mass lies below it
rights itself.
"""

from jaxtyping import Array, Float

from hydrostat.lie import small
from hydrostat.mechanics.added_mass import added_wrench
from hydrostat.mechanics.buoyancy import buoyant_wrench
from hydrostat.mechanics.nodes import Entrained
from hydrostat.mechanics.points import carried_twist, gathered_wrench
from hydrostat.mechanics.robot import BodyShape


def added_wrench_on_body(
    body: BodyShape, R_world: Float[Array, "3 3"], V, A, water: Entrained, gravity
) -> Float[Array, " 6"]:
    """The wrench on the body, in its frame, that accelerates the water which it carries along.

    **Arguments:** `R_world`: the body's axes; `V`: its twist; `A`: its acceleration relative to free fall.
    """
    T = body.T_body_centre
    own = (carried_twist(T, V), carried_twist(T, A))
    return gathered_wrench(T, added_wrench(body.entrained_inertia(water.density), R_world, *own, water, gravity))


def added_inertia_of_body(body: BodyShape, water: Entrained) -> Float[Array, "6 6"]:
    """The inertia of the water carried along, about the body's origin in its axes."""
    X = body.T_body_centre.inverse().adjoint()
    return small.matmul(X.T, body.entrained_inertia(water.density)[:, None] * X)


def body_lift(body: BodyShape, density: Float[Array, ""], R_world: Float[Array, "3 3"], gravity) -> Float[Array, " 6"]:
    """The buoyancy of a body in water of a density [kg/m^3], as a wrench in its frame."""
    return gathered_wrench(body.T_body_buoyancy, buoyant_wrench(density * body.volume, R_world, gravity))
