"""A dense Lagrangian of any robot, made by automatic differentiation from the kinematics alone."""

import equinox as eqx
import jax
import jax.numpy as jnp

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
        self.homes = [[[int(i) for i in p.segment] for p in (arm.lumps, arm.loads)] for arm in branches(model)]

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
            count = (arm.arm.count, len(arm.fractions))
            poses += [grid[j, g] for j in range(count[0]) for g in range(count[1])]
            inertias += [arm.inertia[j, g] for j in range(count[0]) for g in range(count[1])]

            def at(places, homes, j, arm=arm, q=q, ends=ends):
                segment = jax.tree.map(lambda a: a[homes[j]], arm.arm.segments)
                return ends[homes[j]] @ segment.pose(q[homes[j]], places.fraction[j])

            poses += [at(arm.lumps, self.homes[i][0], j) for j in range(len(self.homes[i][0]))]
            inertias += list(arm.lump_inertia)
            loads += [at(arm.loads, self.homes[i][1], j) for j in range(len(self.homes[i][1]))]
        if self.model.base_inertia is not None:
            poses, inertias = [*poses, body], [*inertias, self.model.base_inertia]
        stacked = [jax.tree.map(lambda *parts: jnp.stack(parts), *some) for some in (poses, loads)]
        return stacked[0], jnp.stack(inertias), stacked[1]

    def kinetic(self, y, rate):
        poses, rates = jax.jvp(lambda y: self.poses(y)[0], (y,), (rate,))
        turned = jnp.swapaxes(poses.rotation, -1, -2)
        angular, linear = so3.vee(turned @ rates.rotation), jnp.einsum("mij,mj->mi", turned, rates.position)
        return 0.5 * jnp.sum(self.poses(y)[1] * jnp.concatenate([angular, linear], -1) ** 2)

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
        momenta = jax.grad(self.kinetic, 1)
        mass = jax.jacfwd(momenta, 1)(y, rate)
        gyroscopic = jax.jvp(lambda y: momenta(y, rate), (y,), (rate,))[1] - jax.grad(self.kinetic)(y, rate)
        force = self.work(y, dead) - gyroscopic - jax.grad(self.potential)(y)
        return mass, force, self.kinetic(y, rate), self.potential(y)
