"""A motion that goes on while a user watches and touches it; nothing here knows of a browser."""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from hydrostat.control.gaits import CrawlController, ForageController
from hydrostat.errors import InputError
from hydrostat.live.amputation import lose_arm, with_hand, with_hand_state
from hydrostat.live.scene import contact_nodes
from hydrostat.mechanics.model import GRAVITY
from hydrostat.results.rows import object_radii
from hydrostat.simulation import Motion, Ongoing
from hydrostat.simulation.rollout import as_controller
from hydrostat.surroundings.hand import Hand
from hydrostat.surroundings.objects import Ball
from hydrostat.surroundings.water import Water
from hydrostat.system import Control, State, System

_WEIGHT_SHARE = 0.1  # of the arm's length, by which the spring of a hand gives way under the arm's weight, assumed
_SETTLING = 0.1  # s: time constant of that spring with its damper, assumed


class LiveSession:
    """A motion that goes on, with what a user can do to it: push an arm, move an object, turn the current, send the
    robot to a point, take an arm away.
    """

    def __init__(self, motion: Motion):
        system = with_hand(motion.system)
        self._recipe = as_controller(motion.system, motion.controller)
        state = None if motion.state is None else with_hand_state(motion.state)
        options: dict = {"stepper": motion.stepper, "sensors": motion.sensors}
        self.running = Ongoing(system, self._recipe, motion.dt, state=state, **options)
        self.target: np.ndarray | None = None
        """The point on the ground that the robot is sent to (x, y) [m]; None before it was sent anywhere."""

    @property
    def system(self) -> System:
        """The system as it is now."""
        return self.running.system

    @property
    def state(self) -> State:
        """The present state."""
        return self.running.state

    @property
    def control(self) -> Control:
        """The control of the last step."""
        return self.running.control

    def advance(self, seconds: float) -> float:
        """Go on for about some seconds, at least a step; the time that was simulated [s]."""
        steps = max(1, round(seconds / self.running.dt))
        self.running.advance(steps)
        return steps * self.running.dt

    def reset(self) -> None:
        """Start again, with nobody's hand on the arms and nowhere to go but where the motion leads by itself."""
        self.release()
        self.target = None
        fresh = self._recipe.attach(self.system, self.running.dt)
        self.running.change(controller=fresh)
        self.running.reset()

    # Touching.

    @property
    def default_stiffness(self) -> float:
        """The stiffness of a hand's spring under which an arm's weight in air is a tenth of its length [N/m]."""
        arm = self.system.robot.each[0]
        mass = float(np.sum(np.asarray(arm.inertia)[..., 3]))
        return max(mass * abs(GRAVITY[2]) / (_WEIGHT_SHARE * float(arm.arm.length)), 1e-3)

    def node_of(self, arm: int, share: float) -> int:
        """The contact node of an arm, from 0, that is nearest to a share of its length."""
        rows = self.system.environment.rows
        if not 0 <= arm < len(rows):
            raise InputError(f"`arm` must be one of the arms 0 to {len(rows) - 1}; got {arm}")
        return sum(rows[:arm]) + min(max(round(share * rows[arm]) - 1, 0), rows[arm] - 1)

    def node_position(self, node: int) -> np.ndarray:
        """The position of a contact node [m]."""
        return contact_nodes(self.system, self.state)[node]

    def push(self, arm: int, share: float, point, stiffness: float | None = None) -> None:
        """Hold an arm at a share of its length by a spring that pulls it towards a point of the world [m].

        **Arguments:** `arm`: from 0; `share`: 0 at the base, 1 at the tip; `stiffness`: [N/m].
        """
        hand = self.system.part(Hand)
        grip = np.zeros(hand.grip.shape)
        grip[self.node_of(arm, share)] = 1.0
        stiffness = self.default_stiffness if stiffness is None else stiffness
        self._replace(Hand, Hand(grip, np.asarray(point, float), stiffness, _SETTLING * stiffness))

    def release(self) -> None:
        """Take the hand off."""
        hand = self.system.part(Hand)
        if np.any(np.asarray(hand.grip)):
            self._replace(Hand, Hand(np.zeros(hand.grip.shape), np.asarray(hand.point), 0.0, 0.0))

    def push_force(self) -> np.ndarray:
        """The force of the hand's spring on the arm (3,) [N]."""
        hand = self.system.part(Hand)
        away = np.asarray(hand.point) - contact_nodes(self.system, self.state)
        return np.sum(np.asarray(hand.grip)[:, None] * float(hand.stiffness) * away, 0)

    def set_current(self, velocity) -> None:
        """Let the water flow at a velocity (3,) [m/s]."""
        water = self.system.part(Water)
        if water is None:
            raise InputError("there is no water here that could flow")
        self._replace(Water, eqx.tree_at(lambda one: one.current, water, np.asarray(velocity, float)))

    def move_object(self, index: int, place) -> None:
        """Put a free object to a place [m], at rest; suckers that hold it let go.

        **Arguments:** `index`: from 0.
        """
        states = list(self.state.surroundings)
        balls = [i for i, part in enumerate(self.system.surroundings) if isinstance(part, Ball)]
        if not 0 <= index < len(balls):
            raise InputError(f"`index` must be one of the {len(balls)} free objects, from 0; got {index}")
        own = states[balls[index]]
        still = np.zeros(3)
        ball = own.ball._replace(position=np.asarray(place, float), velocity=still, spin=still)
        free = own.attachment._replace(held=np.zeros_like(own.attachment.held))
        states[balls[index]] = own._replace(ball=ball, attachment=free)
        self.running.change(state=self.state._replace(surroundings=tuple(states)))

    @property
    def objects(self) -> int:
        """The number of free objects."""
        return len(object_radii(self.system))

    @property
    def can_crawl(self) -> bool:
        """Whether the robot can be sent to a point."""
        return isinstance(self.running.controller, CrawlController)

    def crawl_to(self, point) -> None:
        """Send the robot to a point on the ground (x, y) [m], from where it is."""
        controller = self.running.controller
        if not isinstance(controller, CrawlController):
            raise InputError("this motion is not a crawl; its controller cannot be sent to a point")
        memory = self.running.memory
        here = np.asarray(self.state.base_pose.position)[:2] - np.asarray(memory.origin)
        goal = np.asarray(point, float)[:2] - np.asarray(memory.origin)
        # All waypoints but the last are where it is now, and have been passed.
        path = np.repeat(here[None], controller.path.shape[0], 0)
        path[-1] = goal
        leg = np.asarray(len(path) - 1, memory.leg.dtype)
        fresh = memory._replace(leg=leg, arrived=np.zeros((), bool), here=here, believed=here)
        self.target = goal + np.asarray(memory.origin)
        self.running.change(controller=eqx.tree_at(lambda one: one.path, controller, path), memory=fresh)

    def target_error(self) -> float | None:
        """The distance that is left to the point it is sent to, or of the prey from the body [m]; None for neither."""
        here = np.asarray(self.state.base_pose.position)
        if isinstance(self.running.controller, ForageController):
            prey = self.system.objects(self.state)[int(self.running.controller.prey)].ball.position
            return float(np.linalg.norm(np.asarray(prey) - here))
        if isinstance(self.running.controller, CrawlController):
            path = np.asarray(self.running.controller.path)[-1] + np.asarray(self.running.memory.origin)
            return float(np.linalg.norm(path - here[:2]))
        return None

    @property
    def can_lose_an_arm(self) -> bool:
        """Whether an arm can be taken away: one of several equal ones."""
        return self.system.robot.equal and self.system.robot.count > 1

    def lose_arm(self, arm: int) -> None:
        """Take an arm away, by its number from 0, and go on with the others; what they do is planned anew."""
        system, state = lose_arm(self.system, self.state, arm)
        controller = self._recipe.attach(system, self.running.dt)
        self.running.change(system=system, controller=controller, state=state)
        self.running.restart_from(system.rest())
        if self.target is not None and self.can_crawl:
            self.crawl_to(self.target)

    # Numbers to plot.

    def mean_activation(self) -> float | None:
        """The mean activation of all muscles; None for a robot without."""
        each = [np.asarray(leaf) for leaf in jax.tree.leaves(self.state.activation)]
        values = np.concatenate([one.reshape(-1) for one in each]) if each else np.zeros(0)
        return float(values.mean()) if values.size else None

    def _replace(self, kind: type, new: Any) -> None:
        """Change a part of the surroundings for one of the same structure."""
        index = next(i for i, part in enumerate(self.system.surroundings) if isinstance(part, kind))
        self.running.change(system=eqx.tree_at(lambda one: one.surroundings[index], self.system, new))
