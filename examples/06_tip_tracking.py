"""Twenty platforms on six legs each: the tip follows a circle, from one place and by agents, and what the legs do."""

import jax.numpy as jnp
import numpy as np

import hydrostat as hs
from hydrostat.actuation import leg_rates, rest_poses
from hydrostat.control.resolved_rate import Law, Posture
from hydrostat.control.tracking import follow

robot = hs.robots.stewart_arm()
segments, start = robot.arm.segments, rest_poses(robot.arm.segments)
law = Law(segments, robot.arm.T_world_base, posture=Posture(jnp.array(1.0), jnp.array(1.0)), legs=robot.legs)

# From straight up, (0, 0, 5) m, outwards and once round in 4 s, a goal every 2 ms.
dt, seconds = 2e-3, 4.0
t = np.arange(0.0, seconds, dt) / seconds
pace = t**3 * (10.0 - 15.0 * t + 6.0 * t**2)
radius = 1.2 * np.sin(np.pi * np.minimum(2.0 * pace, 1.0) / 2.0)
goals = np.stack([radius * np.cos(2 * np.pi * pace), radius * np.sin(2 * np.pi * pace), 5.0 - 0.8 * pace], -1)
forward = np.zeros((len(t), 6))
forward[:-1, 3:] = np.diff(goals, axis=0) / dt
poses = hs.SE3(jnp.broadcast_to(jnp.eye(3), (len(t), 3, 3)), jnp.asarray(goals))  # the orientation does not count here

for decentralised in (False, True):
    _, rows = follow(law, start, poses, jnp.asarray(forward), 100.0, dt, decentralised)
    miss = np.linalg.norm(np.asarray(rows.T_world_tip.position) - goals, axis=-1)
    rates = leg_rates(segments, rows.T, rows.twist)
    who = "agents" if decentralised else "centre"
    print(f"{who}: at most {1e3 * miss.max():.2f} mm off, legs up to {float(jnp.abs(rates).max()):.2f} m/s")
