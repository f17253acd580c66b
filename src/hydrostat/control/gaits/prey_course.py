"""The course of an arm that takes prey on the ground: it sweeps to its left, waits for a touch, and curls to the mouth.

Lengths were found by trying with arms of 0.24 m, and scale with the arms' length.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from hydrostat.control.anatomy import BodyPlan
from hydrostat.control.feedback import Course, KnownArm, Servo, make_servo, shape_to_point, tabulated
from hydrostat.lie import small
from hydrostat.system import System

TAKES_AT = 0.55
"""Where along the arm it takes its prey."""
BRINGS = 0.6
"""The part of the arm whose end it brings to the mouth, as it holds its prey about there."""
TIMES = (0.0, 0.8, 2.3, 2.8, 3.8, 6.8, 8.3, 9.3, 12.0)
"""When the arm begins to sweep, stands still, is ready to bring; when the body is up, the prey under it; when the body
begins to sink, lies on the prey; and the end of it [s]."""
BENEATH = (0.0, 0.005)
"""Where prey is brought, from the axis of the body, along the arm and to its side, with arms of 0.24 m [m]."""
CLEAR = 0.008
"""Gap between the raised body and the prey below it, with arms of 0.24 m [m]."""
_TAKING = (0.35, 0.75)  # of the arm: where its suckers may take it
_SWEEP = 0.065  # m, to the side, until suckers have the prey, of an arm of 0.24 m
_LEAST = 0.024  # m: how far beside its base the arm comes back at least, or its loop would be in the body's way
_MOST = 0.1  # rad s, that errors may sum up to


def fetching(system: System, plan: BodyPlan, dt: float, radius) -> Servo:
    """The servo of an arm that takes prey of some radius [m] on its left, and draws it under the raised body."""
    known = KnownArm.of(system)
    arm, n, length = known.arm.arm, plan.anatomy.count, plan.arm_length
    base, along, up = arm.T_world_base.position, arm.T_world_base.rotation[:, 2], jnp.array([0.0, 0.0, 1.0])
    left = small.cross(up, along)
    still = jnp.zeros((n, arm.coordinates))

    def shape(part, ahead, aside, above, direction=None):
        point, count = base + ahead * along + aside * left + above * up, max(1, round(part * n))
        return still.at[:count].set(shape_to_point(arm.first(count), point, direction))

    rise = 2.0 * radius + CLEAR * plan.scale
    aside = _SWEEP * plan.scale
    swept, low = (shape(TAKES_AT, 0.95 * TAKES_AT * length, aside, above) for above in (0.0, -rise))
    # The arm comes back beside its base, with the prey between.
    skin = radius + arm.section.radius_tip[max(1, round(BRINGS * n)) - 1]
    beside = jnp.maximum(BENEATH[1] * plan.scale + skin, _LEAST * plan.scale)
    below = radius - arm.section.radius_base[0] - rise
    home = shape(BRINGS, BENEATH[0] * plan.scale - plan.ring, beside, below, -along)
    shapes = jnp.stack([still, still, swept, swept, low, home, home, home, home])
    grips = jnp.stack([plan.anatomy.inside(*_TAKING)] * len(TIMES))
    waits = jnp.asarray(np.arange(len(TIMES)) == 3, float)
    table = tabulated(
        known, Course(jnp.asarray(TIMES), shapes, grips, waits), dt * jnp.arange(max(round(TIMES[-1] / dt), 1)), dt
    )
    servo = make_servo(known, table, rate=6.5, stiffen=0.2, most=_MOST)
    return eqx.tree_at(lambda servo: servo.bare, servo, servo.bare.ready_to_carry())
