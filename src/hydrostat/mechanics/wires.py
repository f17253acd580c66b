"""Generalised forces of wires on the coordinates of the segments they pass, by virtual work: a tension T pulls with -T
dl/dq.

A wire of prescribed tension acts on each segment by itself. A wire of prescribed length l_0 pulls with k (l - l_0) + c
l' as long as that is positive, where l is its length over all segments: it couples them all.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.mechanics.model import ArmModel
from hydrostat.mechanics.motion import Coordinates, like_coordinates
from hydrostat.mechanics.robot import Inputs, Robot, joined, split


def wire_lengths(model: ArmModel, q: Float[Array, "n k"]) -> Float[Array, " w"]:
    """The length of each wire [m]."""
    assert model.wires is not None
    return jnp.sum(model.wires.course.along_segments(model.arm, q), -1)


def wire_tensions(model: ArmModel, q, v, setpoint: Float[Array, " w"]) -> Float[Array, " w"]:
    """The tension of each wire [N]."""
    wires = model.wires
    if wires is None or wires.stiffness is None:
        return setpoint
    length, rate = jax.jvp(lambda q: wire_lengths(model, q), (q,), (v,))
    tension = wires.stiffness * (length - setpoint) + wires.damping * rate
    return jnp.where(tension > 0.0, tension, 0.0)


def wire_forces(model: ArmModel, q, v, setpoint: Float[Array, " w"]) -> Float[Array, "n k"]:
    """The generalised forces that balance the wires: T dl/dq."""
    if model.wires is None:
        return jnp.zeros_like(q)
    tension = wire_tensions(model, q, v, setpoint)
    return jax.vjp(lambda q: wire_lengths(model, q), q)[1](tension)[0]


def wire_couplings(model: Robot, x: Coordinates, v: Coordinates, c_v, c_q, inputs: Inputs) -> Coordinates | None:
    """The columns sqrt(c_q k + c_v c) dl/dq of all taut wires of prescribed length; None where there are none."""
    parts = []
    for i, arm in enumerate(model.each):
        if arm.wires is None or arm.wires.stiffness is None:
            continue
        q, rate, setpoint = (split(model, part)[i] for part in (x.q, v.q, inputs.wires))
        taut = wire_tensions(arm, q, rate, setpoint) > 0.0
        scale = jnp.sqrt(c_q * arm.wires.stiffness + c_v * arm.wires.damping) * taut
        columns = scale[:, None, None] * jax.jacrev(lambda q, arm=arm: wire_lengths(arm, q))(q)
        zero = like_coordinates(model)
        of_arms = [
            columns if j == i else jnp.zeros((len(scale), *split(model, zero.q)[j].shape))
            for j in range(len(model.each))
        ]
        parts.append(Coordinates(joined(model, of_arms), jnp.zeros((len(scale), 6))))
    if not parts:
        return None
    return jax.tree.map(lambda *columns: jnp.concatenate(columns), *parts)
