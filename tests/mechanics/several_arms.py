"""A dense Lagrangian of any robot on a free body, made by automatic differentiation from the kinematics alone."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.lie import se3, so3
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.motion import branches, split


class Lagrangian:
    """Energies as functions of one long vector: the coordinates of all arms, then the twist that moved the body."""

    def __init__(self, model):
        self.model = model
        self.shapes = [arm.stiffness.shape for arm in branches(model)]
        self.sizes = [a * b for a, b in self.shapes]
        # Whole numbers before anything is traced.
        self.homes = [[np.asarray(p.segment) for p in (arm.lumps, arm.loads)] for arm in branches(model)]

    def flat(self, x):
        return jnp.concatenate([*(q.ravel() for q in split(self.model, x.q)), x.base])

    def poses(self, y):
        """Poses and inertias of everything that has mass, and the poses of all loads."""
        start, poses, inertias, loads = 0, [], [], []
        body = self.model.T_world_body @ se3.exp(y[-6:])
        for i, (arm, shape, size) in enumerate(zip(branches(self.model), self.shapes, self.sizes, strict=True)):
            q = y[start : start + size].reshape(shape)
            start += size
            base = body @ (self.model.T_world_body.inverse() @ arm.arm.T_world_base)
            moved = eqx.tree_at(lambda a: a.T_world_base, arm.arm, base)
            ends, grid = kinematics.segment_poses(moved, q), kinematics.node_poses(moved, q, arm.fractions)
            lumps, held = (
                jax.vmap(lambda T, segment, q, s: T @ segment.pose(q, s))(
                    ends[home], jax.tree.map(lambda y, home=home: y[home], arm.arm.segments), q[home], places.fraction
                )
                for home, places in zip(self.homes[i], (arm.lumps, arm.loads), strict=True)
            )
            poses += [jax.tree.map(lambda y: y.reshape(-1, *y.shape[2:]), grid), lumps]
            inertias += [arm.inertia.reshape(-1, 6), arm.lump_inertia]
            loads.append(held)
        poses, inertias = [*poses, jax.tree.map(lambda y: y[None], body)], [*inertias, self.model.base_inertia[None]]
        stacked = [jax.tree.map(lambda *parts: jnp.concatenate(parts), *some) for some in (poses, loads)]
        return stacked[0], jnp.concatenate(inertias), stacked[1]

    def twists(self, y, rate):
        """Body twists of everything that has mass."""
        poses, rates = jax.jvp(lambda y: self.poses(y)[0], (y,), (rate,))
        turned = jnp.swapaxes(poses.rotation, -1, -2)
        angular, linear = so3.vee(turned @ rates.rotation), jnp.einsum("mij,mj->mi", turned, rates.position)
        return jnp.concatenate([angular, linear], -1)

    def kinetic(self, y, rate):
        return 0.5 * jnp.sum(self.poses(y)[1] * self.twists(y, rate) ** 2)

    def mass(self, y):
        W = jax.vmap(lambda rate: self.twists(y, rate))(jnp.eye(len(y)))
        return jnp.einsum("amc,mc,bmc->ab", W, self.poses(y)[1], W)

    def potential(self, y):
        poses, inertias, _ = self.poses(y)
        elastic, start = 0.0, 0
        for arm, shape, size in zip(branches(self.model), self.shapes, self.sizes, strict=True):
            q = y[start : start + size].reshape(shape)
            elastic, start = elastic + 0.5 * jnp.sum(arm.stiffness * (q - arm.rest) ** 2), start + size
        return elastic - jnp.sum(inertias[:, 3] * (poses.position @ self.model.gravity))

    def work(self, y, dead):
        """Generalised forces of dead loads, one wrench in world axes for each place."""
        poses, change = self.poses(y)[2], jax.jacfwd(lambda y: self.poses(y)[2])(y)
        angular = jnp.einsum("mikc,mjk->mijc", change.rotation, poses.rotation)
        spin = jnp.stack([angular[:, 2, 1], angular[:, 0, 2], angular[:, 1, 0]], 1)
        return jnp.einsum("mic,mi->c", spin, dead[:, :3]) + jnp.einsum("mic,mi->c", change.position, dead[:, 3:])

    def equations(self, y, rate, dead):
        """Mass matrix, the force it has to balance, and both energies."""
        # d/dt (M rate) - dT/dy; forward derivatives alone, which compile much faster here.
        turning = jax.jvp(lambda y: self.mass(y) @ rate, (y,), (rate,))[1] - jax.jacfwd(self.kinetic)(y, rate)
        force = self.work(y, dead) - turning - jax.jacfwd(self.potential)(y)
        return self.mass(y), force, self.kinetic(y, rate), self.potential(y)
