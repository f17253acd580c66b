"""A hundred thousand shapes at once, and the gradient of a tip error."""

import jax
import jax.numpy as jnp

import hydrostat as hs
from hydrostat.mechanics import kinematics

arm = hs.robots.tentacle().arm
shapes = 3.0 * jax.random.normal(jax.random.key(0), (100_000, 3, 2))  # curvatures [1/m]
tips = jax.jit(lambda q: kinematics.tip_poses(arm, q).position)(shapes)
print("farthest tip of 100 000 random shapes:", float(jnp.linalg.norm(tips, axis=1).max()), "m")


def miss(q):
    return jnp.sum((kinematics.tip_pose(arm, q).position - jnp.array([0.4, 0.2, 0.7])) ** 2)


print("gradient at the straight arm:", jax.grad(miss)(arm.straight()).round(4).tolist())
