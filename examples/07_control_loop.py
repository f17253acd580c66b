"""A control loop: one step at a time, with the tensions that a controller asks for, as a robot is driven."""

import jax.numpy as jnp
import numpy as np

from hydrostat.mechanics import kinematics
from hydrostat.robots.build import build_robot
from hydrostat.robots.mechanical import robot_model
from hydrostat.robots.squid import WATER, limb_gravity, squid_limb
from hydrostat.stepping import RealTime
from hydrostat.surroundings import Water

# The squid's camera limb in ten pieces, in sea water: weight less lift, drag, and the water it carries along.
limb = build_robot(squid_limb("camera", pieces=10))
model = robot_model(limb, gravity=limb_gravity(), surroundings=Water(WATER, added_mass=1.0), skin_points=1)

robot = RealTime(model, dt=1e-3)  # compiles; every step from here on is quick
state = robot.state
target = np.deg2rad(30.0)  # of the limb's bend, downwards

for _ in range(500):
    # The bend is what all pieces bend together [rad]; a PD law pulls at the tendon below, or at the one above.
    bend, rate = (np.sum(x[:, 1]) * float(limb.arm.length) / 10 for x in (state.q, state.v))
    pull = 2.0 * (target - bend) - 0.2 * rate
    state = robot.step([max(pull, 0.0), 0.0, max(-pull, 0.0), 0.0])

print(f"after {robot.time:.1f} s the limb is bent by {np.rad2deg(bend):.1f} degrees")
tip = kinematics.tip_pose(limb.arm, jnp.asarray(state.q)).position
print(f"its tip is at ({tip[0]:.3f}, {tip[1]:.3f}, {tip[2]:.3f}) m")
