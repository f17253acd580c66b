"""A dense Lagrangian of any robot on a free body, made from the kinematics alone by differences of eighth order.

Differences, since second derivatives of the kinematics by automatic differentiation take minutes to compile.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.lie import SE3, se3
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import split

STENCIL = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
SPACING = 0.02
"""Errors of the differences are some 1e-14 times the eighth derivative; rounding gives 1e-14 for each derivative."""


def along(function, y, directions):
    """Derivatives of a function of stacked vectors (m, n) at y (n) in some directions (d, n): (d, ...)."""
    steps = np.array([sign * k for k in STENCIL for sign in (1, -1)])
    weights = np.array([sign * c / SPACING for c in STENCIL.values() for sign in (1, -1)])
    points = y + SPACING * steps[:, None, None] * directions
    values = function(points.reshape(-1, len(y)))
    return np.tensordot(weights, values.reshape(len(steps), len(directions), *values.shape[1:]), 1)


class Lagrangian:
    """Energies as functions of one long vector: the coordinates of all arms, then the twist that moved the body."""

    def __init__(self, model):
        self.model = model
        self.shapes = [arm.stiffness.shape for arm in model.each]
        self.sizes = [a * b for a, b in self.shapes]
        inertias = [part for arm in model.each for part in (arm.inertia.reshape(-1, 6), arm.lump_inertia)]
        self.inertias = np.concatenate([*inertias, model.base_inertia[None]])
        # Whole numbers before anything is traced.
        self.homes = [[np.asarray(p.segment) for p in (arm.lumps, arm.loads)] for arm in model.each]
        self._many = jax.jit(jax.vmap(self._poses))

    def flat(self, x):
        return np.concatenate([*(np.ravel(q) for q in split(self.model, x.q)), x.base])

    def _poses(self, y):
        """The pose of everything that has mass, and then of all loads, each as 12 numbers."""
        start, poses, loads = 0, [], []
        body = self.model.T_world_body @ se3.exp(y[-6:])
        for i, (arm, shape, size) in enumerate(zip(self.model.each, self.shapes, self.sizes, strict=True)):
            q = y[start : start + size].reshape(shape)
            start += size
            base = body @ (self.model.T_world_body.inverse() @ arm.arm.T_world_base)
            moved = eqx.tree_at(lambda a: a.T_world_base, arm.arm, base)
            ends, grid = (
                kinematics.segment_poses(moved, q),
                kinematics.node_poses(moved, q, arm.grid[jnp.array(arm.gauss_at)]),
            )
            lumps, held = (
                jax.vmap(lambda T, segment, q, s: T @ segment.pose(q, s))(
                    ends[home], jax.tree.map(lambda y, home=home: y[home], arm.arm.segments), q[home], places.fraction
                )
                for home, places in zip(self.homes[i], (arm.lumps, arm.loads), strict=True)
            )
            poses += [jax.tree.map(lambda y: y.reshape(-1, *y.shape[2:]), grid), lumps]
            loads.append(held)
        poses.append(jax.tree.map(lambda y: y[None], body))
        together: SE3 = jax.tree.map(lambda *parts: jnp.concatenate(parts), *poses, *loads)
        return jnp.concatenate([together.rotation.reshape(-1, 9), together.position], -1)

    def poses(self, ys):
        """Poses for stacked vectors, a thousand at a time: one shape to compile."""
        padded = np.concatenate([ys, np.zeros((-len(ys) % 1000, ys.shape[1]))])
        return np.concatenate([self._many(part) for part in np.split(padded, len(padded) // 1000)])[: len(ys)]

    def jacobians(self, y):
        """Body Jacobians (n, m, 6) of all poses, and their rotations."""
        rotation = self.poses(y[None])[0, :, :9].reshape(-1, 3, 3)
        change = along(self.poses, y, np.eye(len(y)))
        spin = np.einsum("mji,nmjk->nmik", rotation, change[..., :9].reshape(*change.shape[:2], 3, 3))
        angular = np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], -1)
        return np.concatenate([angular, np.einsum("mji,nmj->nmi", rotation, change[..., 9:])], -1), rotation

    def mass(self, y):
        W = self.jacobians(y)[0][:, : len(self.inertias)]
        return np.einsum("amc,mc,bmc->ab", W, self.inertias, W)

    def potentials(self, ys):
        heights = self.poses(ys)[:, : len(self.inertias), 9:] @ np.asarray(self.model.gravity)
        stiffness = np.concatenate([np.ravel(arm.stiffness) for arm in self.model.each])
        return 0.5 * ys[:, :-6] ** 2 @ stiffness - heights @ self.inertias[:, 3]

    def work(self, y, dead):
        """Generalised forces of dead loads, one wrench in world axes for each place."""
        W, rotation = self.jacobians(y)
        first = len(self.inertias)
        own = np.einsum("mji,mcj->mci", rotation[first:], np.reshape(dead, (-1, 2, 3))).reshape(-1, 6)
        return np.einsum("nmc,mc->n", W[:, first:], own)

    def equations(self, y, rate, dead):
        """Mass matrix, the force it has to balance, and both energies."""

        def masses(ys):
            return np.stack([self.mass(one) for one in ys])

        # d/dt (M rate) - dT/dy
        change = along(masses, y, np.eye(len(y)))
        turning = np.einsum("i,ijk,k->j", rate, change, rate) - 0.5 * np.einsum("ijk,j,k->i", change, rate, rate)
        force = self.work(y, np.asarray(dead)) - turning - along(self.potentials, y, np.eye(len(y)))
        mass = self.mass(y)
        return mass, force, 0.5 * rate @ mass @ rate, self.potentials(y[None])[0]
