"""Gradients through a motion: which tendon tension brings the finger's tip highest after a tenth of a second."""

import jax
import jax.numpy as jnp

import hydrostat as hs

system = hs.System(hs.robots.finger(tip_mass=0.02))


def height_reached(tension):
    """Height of the tip [m] when the upper tendon pulls with a tension [N]."""
    pull = hs.Control(tension=jnp.stack([jnp.zeros_like(tension), tension]))
    return hs.rollout(system, pull, steps=50, dt=2e-3).tip[-1, 2]


height, slope = jax.jit(jax.value_and_grad(height_reached))(5.0)
print(f"with 5 N the tip is at {1e3 * height:.1f} mm, and {1e3 * slope:.2f} mm higher per newton")
