"""An arm, a shape, and where its tip is."""

import jax.numpy as jnp

import hydrostat as hs
from hydrostat.control.shapes import configuration
from hydrostat.mechanics import kinematics

robot = hs.robots.tentacle()
bend = jnp.deg2rad(jnp.array([[40.0, 0.0], [0.0, 60.0], [-50.0, 0.0]]))  # where each segment bends to, and how much
q = configuration(robot.arm, bend)
tip = kinematics.tip_pose(robot.arm, q)
print("tip at", tip.position.round(4), "m, pointing along", tip.rotation[:, 2].round(4))
