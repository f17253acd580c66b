"""A control loop: one step at a time, with the tensions that a controller asks for, as a robot is driven."""

import numpy as np

import hydrostat as hs

# The squid's camera limb in ten pieces, in sea water: weight less lift, drag, and the water it carries along.
limb = hs.robots.squid_limb("camera", pieces=10)
system = hs.System(limb, [hs.Water(1025.0, added_mass=1.0)])

robot = hs.RealTime(system, dt=1e-3)  # compiles; every step from here on is quick
state = robot.state
target = np.deg2rad(30.0)  # of the limb's bend, downwards

for _ in range(500):
    # The bend is what all pieces bend together [rad]; a PD law pulls at the tendon below, or at the one above.
    bend, rate = (np.sum(x[:, 1]) * float(limb.arm.length) / 10 for x in (state.q, state.v))
    pull = 2.0 * (target - bend) - 0.2 * rate
    state = robot.step([max(pull, 0.0), 0.0, max(-pull, 0.0), 0.0])

print(f"after {robot.time:.1f} s the limb is bent by {np.rad2deg(bend):.1f} degrees")
tip = hs.tip(system, state)
print(f"its tip is at ({tip[0]:.3f}, {tip[1]:.3f}, {tip[2]:.3f}) m")
