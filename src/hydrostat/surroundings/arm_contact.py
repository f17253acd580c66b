"""Contact of arms with themselves, with each other, and with the body that carries them."""

import equinox as eqx

from hydrostat.mechanics.nodes import AbstractForces
from hydrostat.surroundings.base import AbstractSurroundings, Commands, Environment, OnBody, Place, Together
from hydrostat.surroundings.capsule_contact import body_contact, capsule_contact
from hydrostat.surroundings.contact import ContactLaw

FLESH = ContactLaw(stiffness=200.0, damping=20.0, friction=0.5, slip_speed=0.005, onset=3e-4, relaxation=0.01)
"""The contact law of arms against each other and against the body; all numbers are assumed. With the ground's damping,
the motion of arms that rub against each other behind a jet diverged. Without a bound on relaxation a tip that hits the
middle of its own arm 3 mm deep is resisted by 26 N s/m, 400 times its mass over a stage."""
_ATTACHED = 2  # nodes of an arm, from its base, that the body holds and so does not touch
_APART = 0.25  # of an arm's nodes, that two of its parts must be apart to touch


class ArmContact(AbstractSurroundings):
    """Contact of arms with each other, with themselves and with their body."""

    law: ContactLaw = FLESH
    apart: int | None = eqx.field(static=True, default=None)
    """Number of nodes along an arm that two of its parts must be apart to touch; by default a fourth of its nodes."""

    def begin(self, state, place: Place, environment: Environment, commands: Commands, dt):
        """The contact forces of the step, from the pairs that may touch within it."""
        del commands
        ahead = place.ahead(dt)
        rows = environment.rows
        apart = max(2, round(_APART * max(rows))) if self.apart is None else self.apart
        forces: list[AbstractForces] = [capsule_contact(self.law, ahead.nodes, apart, dt, rows)]
        if ahead.body is not None:
            on_arms, on_body = body_contact(self.law, ahead.nodes, ahead.body, _ATTACHED, dt, environment.along)
            forces += [on_arms, OnBody(on_body, ahead.body.radius[0])]
        return state, Together(tuple(forces))
