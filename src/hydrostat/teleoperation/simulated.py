"""A limb that is simulated in real time with its follower: the robot itself, and the operator's model of it."""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from hydrostat.compiling import compiled
from hydrostat.lie import small
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import Robot
from hydrostat.mechanics.state import nodes_of
from hydrostat.robots import scaled
from hydrostat.simulation import RealTime
from hydrostat.stepping import LinearImplicitEuler
from hydrostat.surroundings import Obstacles, Plane, Sphere
from hydrostat.system import State
from hydrostat.teleoperation.following import Sensed
from hydrostat.teleoperation.limbs import Limb, straight_lengths

DT = 1e-3
"""Step of the dynamics [s]."""
TICK = 0.005
"""Time between two commands of the follower [s]."""
_FAR = np.array([0.0, 0.0, -1e3])  # m: where a face or a ball is that is not there
_SMALL = 0.01  # m, radius of a ball that is not there


class LimbView(NamedTuple):
    """What is measured of a limb at the end of a tick."""

    tip: np.ndarray
    """Place of the tip [m]."""
    tip_speed: np.ndarray
    """Speed of the tip [m/s]."""
    force: np.ndarray
    """Contact force of the obstacles on the limb [N]."""
    touch: np.ndarray
    """Mean place of the contact nodes that are touched, by their forces [m]; the tip where none is."""
    drive: np.ndarray
    """The commands of the actuators; of tendons, their lengths less those of the straight limb [m]."""


def measured(robot: Robot, obstacles: Obstacles, rest: State, q, v, command) -> LimbView:
    """What sensors tell of a limb with coordinates q and rates v.

    **Arguments:** `rest`: any state of the system, for all but q and v.
    """
    tip, velocity = jax.jvp(lambda q: kinematics.tip_pose(robot.arm, q).position, (q,), (v,))
    nodes = nodes_of(robot, rest._replace(q=q, v=v).robot)
    on_nodes = obstacles.contact(nodes)[0].force
    share = jnp.sqrt(jnp.sum(on_nodes**2, -1))
    total = jnp.sum(share)
    touch = jnp.where(total > 1e-9, jnp.sum(share[:, None] * nodes.position, 0) / (total + 1e-12), tip)
    drive = command if robot.one.wires is None else command - straight_lengths(robot)
    found = (tip, small.norm(velocity), jnp.sum(on_nodes, 0), touch, drive)
    return LimbView(*found)  # type: ignore[arg-type]


def _flat(tree) -> Array:
    """All numbers of a tree as one vector: a compiled function pays for every array by itself."""
    return ravel_pytree(tree)[0]


class SimulatedLimb:
    """A limb in its surroundings, stepped at 1 kHz, that follows places for its tip.

    limb = SimulatedLimb(find_limb("squid"))
    view = limb.tick(limb.view.tip + np.array([0.0, 0.01, 0.0]))
    """

    def __init__(self, limb: Limb, faces: int = 4, balls: int = 0):
        """**Arguments:** `faces`, `balls`: number of flat faces and of balls that it can have around it; `alter` sets
        them.
        """
        self.limb, self.faces, self.balls, self.touch_force = limb, faces, balls, 2e-3
        nowhere = [Plane(point=_FAR, normal=(0.0, 0.0, 1.0))] * faces, [Sphere(centre=_FAR, radius=_SMALL)] * balls
        self.system = limb.system([*nowhere[0], *nowhere[1]])
        self.tip_radius = float(self.system.robot.arm.section.radius_tip[-1])
        """Radius of the contact node at the tip [m]."""
        self._follower = limb.follower
        self._q = jnp.asarray(limb.home())
        rest = self.system.rest(self._q)
        self._robot = RealTime(self.system, DT, LinearImplicitEuler(), state=rest, drives=limb.drive)
        self._compile(rest)
        self.reset()

    def _compile(self, rest: State) -> None:
        """Compile what is done once a tick, as functions of few vectors."""
        follower, robot, obstacles = self._follower, self.system.robot, self.system.part(Obstacles)
        memory, to_memory = ravel_pytree(follower.start(self._q))
        around, to_obstacles = ravel_pytree(eqx.filter(obstacles, eqx.is_array))
        kinds = eqx.filter(obstacles, eqx.is_array, inverse=True)

        def follow(memory, target, q, v, tip, touching):
            new, command = follower(to_memory(memory), target, Sensed(q, v, tip, touching), TICK)
            return jnp.concatenate([_flat(new), _flat(command)])

        def measure(around, q, v, command):
            return _flat(measured(robot, eqx.combine(to_obstacles(around), kinds), rest, q, v, command))

        nominal = self.system
        arrays, self._static = eqx.partition(nominal, eqx.is_array)
        self._structure = jax.tree.structure(arrays)
        index = next(i for i, part in enumerate(nominal.surroundings) if part is obstacles)

        def alter(scale, points, normals, centres, radii, stiffness):
            shapes = tuple(Plane(point=points[i], normal=normals[i]) for i in range(self.faces))
            shapes += tuple(Sphere(centre=centres[i], radius=radii[i]) for i in range(self.balls))
            parts = (scaled(robot, youngs_modulus=scale), shapes, stiffness)
            places = lambda s: (s.robot, s.surroundings[index].shapes, s.surroundings[index].law.stiffness)  # noqa: E731
            return jax.tree.leaves(eqx.filter(eqx.tree_at(places, nominal, parts), eqx.is_array))

        one, some, balls = jnp.ones(()), jnp.ones((self.faces, 3)), jnp.ones((self.balls, 3))
        self._altered = compiled(alter, one, some, some, balls, jnp.ones(self.balls), one)
        like, command = jnp.zeros_like(self._q), jnp.zeros(self._robot.commands)
        self._start, self._size = np.asarray(memory), len(memory)
        self._follow = compiled(follow, memory, jnp.zeros(3), like, like, jnp.zeros(3), jnp.zeros(()))
        self._measured = compiled(measure, around, like, like, command)
        self._around = np.asarray(around)

    def reset(self) -> None:
        """Start anew, at rest."""
        self._robot.reset()
        self._memory = self._start
        tip = np.asarray(kinematics.tip_pose(self.system.robot.arm, self._q).position)
        self._command = self._next(tip, tip, False)
        self.view = self._measure()

    def alter(
        self,
        stiffness_scale: float,
        faces: Sequence[tuple[np.ndarray, np.ndarray]],
        stiffness: float,
        balls: Sequence[tuple[np.ndarray, float]] = (),
    ) -> None:
        """Go on with another Young's modulus, over that which the follower knows, and with other obstacles.

        **Arguments:** `faces`: a point [m] and the outward normal of each; `stiffness`: of the contact [N/m]; `balls`:
        centre and radius of each [m].
        """
        points, normals = np.tile(_FAR, (self.faces, 1)), np.tile([0.0, 0.0, 1.0], (self.faces, 1))
        for i, (point, normal) in enumerate(faces[: self.faces]):
            points[i], normals[i] = point, normal
        centres, radii = np.tile(_FAR, (self.balls, 1)), np.full(self.balls, _SMALL)
        for i, (centre, radius) in enumerate(balls[: self.balls]):
            centres[i], radii[i] = centre, radius
        scale, stiff = np.asarray(stiffness_scale, float), np.asarray(stiffness, float)
        leaves = self._altered(scale, points, normals, centres, radii, stiff)
        self.system = eqx.combine(jax.tree.unflatten(self._structure, leaves), self._static)
        self._robot.alter(self.system)
        self._around = np.asarray(_flat(eqx.filter(self.obstacles, eqx.is_array)))

    @property
    def obstacles(self) -> Obstacles:
        """The obstacles around the limb."""
        return self.system.part(Obstacles)

    @property
    def q(self) -> np.ndarray:
        """The coordinates."""
        return np.asarray(self._robot.state.q)

    @property
    def state(self) -> State:
        """The state of the simulation."""
        return self._robot.state

    @property
    def correction(self) -> np.ndarray:
        """The correction that the follower adds to its target [m]."""
        return self._memory[-3:]

    @correction.setter
    def correction(self, value: np.ndarray) -> None:
        self._memory = np.concatenate([self._memory[:-3], value])

    @property
    def touching(self) -> bool:
        """Whether something touches the limb."""
        return float(np.linalg.norm(self.view.force)) > self.touch_force

    def tick(self, target: np.ndarray) -> LimbView:
        """Follow a place for the tip [m] for one tick; what is measured at its end."""
        before = self._command
        self._command = self._next(target, self.view.tip, self.touching)
        count = round(TICK / DT)
        for i in range(1, count + 1):
            # Motors go from one command to the next without a step.
            self._robot.step(before + (i / count) * (self._command - before))
        self.view = self._measure()
        return self.view

    def _next(self, target, tip, touching: bool) -> np.ndarray:
        """The commands of the follower for the next tick."""
        state = self._robot.state
        inputs = (np.asarray(target, float), state.q, state.v, np.asarray(tip, float), np.asarray(float(touching)))
        out = np.asarray(self._follow(self._memory, *inputs))
        self._memory = out[: self._size]
        return out[self._size :]

    def _measure(self) -> LimbView:
        """What is measured in the present state."""
        state = self._robot.state
        out = np.asarray(self._measured(self._around, state.q, state.v, self._command))
        return LimbView(out[:3], out[3], out[4:7], out[7:10], out[10:])
