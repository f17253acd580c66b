"""Gradients through a motion: which tendon tension brings the finger's tip highest after a tenth of a second."""

import jax
import jax.numpy as jnp

import hydrostat as hs
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.model import no_inputs
from hydrostat.robots.mechanical import robot_model
from hydrostat.stepping import SDIRK2, rest_state

robot = hs.robots.finger(tip_mass=0.02)
model = robot_model(robot)
stepper = SDIRK2(rescue=False)  # reverse mode needs steps that are not cut in pieces
DT, STEPS = 2e-3, 50


def height_reached(tension):
    """Height of the tip [m] when the upper tendon pulls with a tension [N]."""
    inputs = no_inputs(model)._replace(wires=jnp.stack([jnp.zeros_like(tension), tension]))

    def step(state, index):
        return stepper.step(model, state, index * DT, DT, lambda time, state: inputs).state, None

    end, _ = jax.lax.scan(step, rest_state(model), jnp.arange(STEPS))
    return kinematics.tip_pose(robot.arm, end.q).position[2]


height, slope = jax.jit(jax.value_and_grad(height_reached))(5.0)
print(f"with 5 N the tip is at {1e3 * height:.1f} mm, and {1e3 * slope:.2f} mm higher per newton")
