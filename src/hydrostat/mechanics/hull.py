"""The water around the hull of a swimming body: its added mass, and its buoyancy.

The water that a spheroid pushes aside has, about its centre and in its axes, the diagonal inertia rho `added`, six
volumes that `robots.hull_spec` computes; it obeys the equations of `mechanics.added_mass`. The buoyancy acts at the
centre of buoyancy, so that a body whose centre of mass lies below it rights itself.
"""

from jaxtyping import Array, Float

from hydrostat.bodies import Hull
from hydrostat.lie import small
from hydrostat.mechanics.added_mass import added_wrench
from hydrostat.mechanics.buoyancy import buoyant_wrench
from hydrostat.mechanics.nodes import Entrained
from hydrostat.mechanics.points import carried_twist, gathered_wrench


def hull_wrench(hull: Hull, R_world: Float[Array, "3 3"], V, A, water: Entrained, gravity) -> Float[Array, " 6"]:
    """The wrench on the body, in its frame, that accelerates the water which its hull carries along.

    **Arguments:** `R_world`: the body's axes; `V`: its twist; `A`: its acceleration relative to free fall.
    """
    T = hull.T_body_centre
    own = (carried_twist(T, V), carried_twist(T, A))
    return gathered_wrench(T, added_wrench(hull.entrained_inertia(water.density), R_world, *own, water, gravity))


def hull_inertia(hull: Hull, water: Entrained) -> Float[Array, "6 6"]:
    """The inertia of the water carried along, about the body's origin in its axes."""
    X = hull.T_body_centre.inverse().adjoint()
    return small.matmul(X.T, hull.entrained_inertia(water.density)[:, None] * X)


def body_lift(hull: Hull | None, mass: Float[Array, ""], R_world: Float[Array, "3 3"], gravity) -> Float[Array, " 6"]:
    """The buoyancy of a body that displaces water of this mass [kg], as a wrench in its frame."""
    lift = buoyant_wrench(mass, R_world, gravity)
    return lift if hull is None else gathered_wrench(hull.T_body_buoyancy, lift)
