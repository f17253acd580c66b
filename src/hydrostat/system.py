"""The plant: a robot in its surroundings, its state, and the control that acts on it.

`System` holds what stays, `State` what evolves, `Control` what a controller sets for a step.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.actuation import Fatigue
from hydrostat.actuation.drives import LegDrive, MuscleDrive, TendonDrive, TorqueDrive
from hydrostat.errors import InputError, listed, shown
from hydrostat.lie import SE3
from hydrostat.mechanics.model import GRAVITY, ArmModel, checked_vector, relaxed, require
from hydrostat.mechanics.motion import BaseMotion, nodes_per_arm
from hydrostat.mechanics.nodes import AbstractForces
from hydrostat.mechanics.robot import Inputs, PerArm, Robot, joined, no_inputs, with_arms
from hydrostat.mechanics.state import RobotState, body_of, nodes_of, rest_state
from hydrostat.surroundings.base import AbstractSurroundings, Commands, Environment, Place, Together, per_node
from hydrostat.surroundings.fins import Fins
from hydrostat.surroundings.ground import Ground
from hydrostat.surroundings.jet import Jet
from hydrostat.surroundings.mantle_jet import MantleJet
from hydrostat.surroundings.objects import Ball
from hydrostat.surroundings.suckers import Suckers
from hydrostat.surroundings.water import Water


class State(NamedTuple):
    """The state of a system: everything that evolves."""

    time: Float[Array, ""]
    """Time since the start [s]."""
    q: PerArm
    """Generalised coordinates (n, k) of the segments."""
    v: PerArm
    """Rates of the coordinates (n, k)."""
    base_pose: SE3
    """Pose of the body in the world."""
    base_twist: Float[Array, " 6"]
    """Twist of the body, (angular, linear) in its own axes."""
    activation: PerArm
    """Activation (n, m) of every muscle, 0 to 1."""
    surroundings: tuple
    """The state of each part of the surroundings, in the order in which the system has them."""
    fatigue: PerArm | None = None
    """The share (n, m) of every muscle that is fatigued, 0 to 1; None for muscles that do not tire."""

    @property
    def robot(self) -> RobotState:
        """The mechanical part of the state."""
        return RobotState(self.q, self.v, self.base_pose, self.base_twist)

    def moved(self, robot: RobotState) -> "State":
        """The same state with another mechanical part."""
        return self._replace(**robot._asdict())


class Control(eqx.Module):
    """The control during a step, as a controller sets it; whatever is None is not driven: slack, relaxed, zero.

    Of a single arm each is an array; of several arms the arm comes first, as leading axis where they are equal, else
    as a tuple.
    """

    tension: PerArm | None = None
    """Tension of every tendon (w,) [N]."""
    length: PerArm | None = None
    """Length of every tendon (w,), for robots whose tendons are driven by length [m]."""
    activation: PerArm | None = None
    """Commanded activation of every muscle (n, m), 0 to 1."""
    torque: PerArm | None = None
    """Generalised forces on the coordinates (n, k)."""
    leg_force: PerArm | None = None
    """Forces along the legs of a chain of platforms (n, 6) [N]."""
    grip: PerArm | None = None
    """Command of each segment's suckers (n,) on the ground: 1 to hold it, 0 to let go."""
    take: PerArm | None = None
    """Command of each segment's suckers (n,) on free objects: 1 to hold them, 0 to let go."""
    jet: Any = None
    """Effort of the mantle that presses its water out, or opening of its valve, 0 to 1."""
    fins: Any = None
    """Amplitudes of the wave and of the flap of each fin section (f, 2) [rad]."""
    pump: Any = None
    """Effort of the pump that fills a mantle, 0 to 1."""
    nozzle: Any = None
    """Angles of the nozzle of a mantle (2,) [rad]."""
    load: PerArm | None = None
    """Dead loads (m, 6) at the robot's places for loads: moment [N m] and force [N] in world axes."""
    follower: PerArm | None = None
    """Follower loads (m, 6): the same in the axes of the material point."""
    base: BaseMotion | None = None
    """Pose, body twist and its rate of a body whose motion is prescribed."""

    def __init__(self, *, base: BaseMotion | None = None, **values):
        names = [field for field in Control.__dataclass_fields__ if field != "base"]
        for name in values:
            if name not in names:
                raise InputError(f"`Control` has no {shown(name)}; it has {listed([*names, 'base'])}")
        for name in names:
            setattr(self, name, _numbers(name, values.get(name)))
        self.base = base


def _numbers(name: str, value: Any) -> Any:
    """A value as an array, or a tuple of arrays where it is one for each arm."""
    if value is None:
        return None
    if isinstance(value, tuple) and value and all(np.ndim(part) and hasattr(part, "shape") for part in value):
        return tuple(jnp.asarray(part, float) for part in value)
    try:
        # A tuple of arrays is one for each unequal arm, also where they have the same shape.
        if isinstance(value, tuple) and all(isinstance(part, jax.Array | np.ndarray) and part.ndim for part in value):
            return tuple(jnp.asarray(part, float) for part in value)
        if isinstance(value, list | tuple) and any(np.ndim(part) for part in value):
            try:
                return jnp.asarray(value, float)
            except (TypeError, ValueError):
                return tuple(jnp.asarray(part, float) for part in value)
        return jnp.asarray(value, float)
    except (TypeError, ValueError):
        raise InputError(f"`{name}` must be numbers; got {shown(value)}") from None


class System(eqx.Module):
    """A robot in its surroundings.

        sea = System(robots.octopus(), [Water(), Ground(), Suckers(), ArmContact()])

    What the parts need of each other, and at which points of the arms they act, is found out here.
    """

    robot: Robot
    surroundings: tuple[AbstractSurroundings, ...]
    gravity: Float[Array, " 3"]
    """Gravitational acceleration in world axes [m/s^2]."""
    muscles: MuscleDrive

    def __init__(
        self,
        robot: Robot,
        surroundings: Sequence[AbstractSurroundings] = (),
        *,
        gravity=GRAVITY,
        muscle_gains: PerArm | None = None,
        fatigue: Fatigue | None = None,
    ):
        """**Arguments:** `gravity` [m/s^2]; `muscle_gains` (n, m): 1 if not given; `fatigue`: none if not given."""
        if not isinstance(robot, Robot):
            raise InputError(f"`robot` must be a robot, such as hydrostat.robots.octopus(); got {shown(robot)}")
        parts = (surroundings,) if isinstance(surroundings, AbstractSurroundings) else tuple(surroundings)
        _check_parts(parts)
        if any(part.touches for part in parts):
            robot = with_arms(robot, _with_contact_nodes)
        self.gravity = checked_vector("gravity", gravity)
        robot = _above_ground(robot, parts)
        self.robot = eqx.tree_at(lambda robot: robot.gravity, robot, self.gravity)
        self.surroundings = parts
        self.muscles = MuscleDrive.of(self.robot, self._muscle_gains(muscle_gains), fatigue)

    def _muscle_gains(self, gains: PerArm | None) -> PerArm | None:
        if gains is None:
            return None
        gains = _numbers("muscle_gains", gains)
        expected = joined(self.robot, [relaxed(arm) for arm in self.robot.each])
        _check_shape("muscle_gains", gains, expected)
        return gains

    # What the parts know of each other.

    def part(self, kind: type) -> Any:
        """The part of the surroundings that is of this kind; None where there is none."""
        return next((part for part in self.surroundings if isinstance(part, kind)), None)

    def part_state(self, state: State, kind: type) -> Any:
        """The state of the part of this kind; None where there is none."""
        each = zip(self.surroundings, state.surroundings, strict=True)
        return next((own for part, own in each if isinstance(part, kind)), None)

    def objects(self, state: State) -> list:
        """The states of all free objects."""
        each = zip(self.surroundings, state.surroundings, strict=True)
        return [own for part, own in each if isinstance(part, Ball)]

    @property
    def environment(self) -> Environment:
        """The environment that every part of the surroundings is told of."""
        robot = self.robot
        water, ground, suckers = (self.part(kind) for kind in (Water, Ground, Suckers))
        rows = tuple(nodes_per_arm(robot))
        return Environment(self.gravity, robot.body, water, ground, suckers, rows, robot.equal)

    # States.

    def rest(self, q: PerArm | None = None, v: PerArm | None = None, *, time: float = 0.0) -> State:
        """The state at rest in a configuration, by default the unstressed one, with relaxed muscles.

        **Arguments:** `v`: rates of the coordinates, where it is not at rest.
        """
        robot = rest_state(self.robot, q)
        if v is not None:
            robot = robot._replace(v=jax.tree.map(lambda y: jnp.asarray(y, float), v))
        for name in ("q", "v"):
            _check_shape(name, getattr(robot, name), rest_state(self.robot).q)
        environment = self.environment
        around = tuple(part.init(environment) for part in self.surroundings)
        activation, fatigue = self.muscles.init(self.robot), self.muscles.rested()
        return State(jnp.asarray(time, float), *robot, activation, around, fatigue)

    def place(self, state: State) -> Place | None:
        """The contact nodes and the body as the surroundings see them; None for a robot without surroundings."""
        if not self.surroundings:
            return None
        body = None if self.robot.body is None else body_of(self.robot, state.robot)
        return Place(nodes_of(self.robot, state.robot), body)

    # Controls.

    def check(self, control: Control) -> Control:
        """The control, checked; `InputError` where this system cannot be driven by it."""
        if not isinstance(control, Control):
            raise InputError(f"a controller must give a `Control`; got {shown(control)}")
        none = no_inputs(self.robot)
        segments = joined(self.robot, [jnp.zeros(arm.arm.count) for arm in self.robot.each])
        shapes = {
            "tension": none.wires, "length": none.wires, "activation": none.activation, "torque": none.torque,
            "leg_force": none.torque, "grip": segments, "take": segments, "load": none.force, "follower": none.follower,
        }  # fmt: skip
        for name, like in shapes.items():
            value = getattr(control, name)
            if value is not None:
                self._check_driven(name)
                _check_shape(name, value, like)
                for part in jax.tree.leaves(value):
                    require(
                        jnp.all(jnp.isfinite(part)), lambda name=name: f"`{name}` must be finite numbers; it is not"
                    )
        if control.tension is not None:
            for value in jax.tree.leaves(control.tension):
                require(
                    jnp.all(value >= 0.0),
                    lambda value=value: (
                        f"`tension` must not be negative, since a tendon cannot push; got {float(jnp.min(value)):g} N"
                    ),
                )
        self._check_swimming(control)
        return control

    def _check_swimming(self, control: Control) -> None:
        """Refuse a control of jet or fins that this system does not have."""
        if control.jet is not None and not self.has_jet:
            raise InputError("`jet` is for a system with `Jet()` among its surroundings; this one has none")
        fins, mantle = self.part(Fins), self.part(MantleJet)
        shapes = {"fins": None if fins is None else jnp.zeros((len(fins.root), 2))}
        shapes |= {"pump": None, "nozzle": None} if mantle is None else {"pump": jnp.zeros(()), "nozzle": jnp.zeros(2)}
        for name, like in shapes.items():
            value = getattr(control, name)
            if value is None:
                continue
            if like is None:
                kind = "Fins" if name == "fins" else "MantleJet"
                raise InputError(f"`{name}` is for a system with `{kind}` among its surroundings; this one has none")
            _check_shape(name, value, like)
            require(jnp.all(jnp.isfinite(value)), lambda name=name: f"`{name}` must be finite numbers; it is not")

    @property
    def has_jet(self) -> bool:
        """Whether the surroundings contain a jet."""
        return self.part(Jet) is not None or self.part(MantleJet) is not None

    @property
    def by_length(self) -> bool:
        """Whether tendons are driven by their length."""
        return any(arm.wires is not None and arm.wires.stiffness is not None for arm in self.robot.each)

    def _check_driven(self, name: str) -> None:
        """Refuse a control for which this robot has no actuator."""
        robot = self.robot
        if name in ("tension", "length"):
            if all(arm.wires is None for arm in robot.each):
                kind = "muscles: drive it by `activation`" if robot.each[0].muscles is not None else "no tendons"
                raise InputError(f"{robot.name} cannot be driven by `{name}`; it has {kind}")
            if self.by_length != (name == "length"):
                other = "length" if self.by_length else "tension"
                raise InputError(f"the tendons of {robot.name} are driven by their {other}; got `{name}`")
        if name == "activation" and all(arm.muscles is None for arm in robot.each):
            raise InputError(f"{robot.name} cannot be driven by `activation`; it has no muscles")
        if name == "leg_force" and (not robot.single or robot.one.legs is None):
            raise InputError(f"{robot.name} cannot be driven by `leg_force`; it has no legs")
        if name in ("grip", "take") and self.part(Suckers) is None:
            raise InputError(f"`{name}` is for a system with `Suckers()` among its surroundings; this one has none")

    def commands(self, control: Control) -> Commands:
        """The part of a control that is for the surroundings."""
        rows = self.environment.count

        def of_nodes(segments):
            return jnp.zeros(rows) if segments is None else per_node(self.robot, segments)

        jet = jnp.zeros(()) if control.jet is None else jnp.asarray(control.jet, float)
        set_, fins = (control.fins, control.pump, control.nozzle), self.part(Fins)
        none = (None if fins is None else jnp.zeros((len(fins.root), 2)), jnp.zeros(()), jnp.zeros(2))
        swimming = (zero if value is None else value for value, zero in zip(set_, none, strict=True))
        return Commands(of_nodes(control.grip), of_nodes(control.take), jet, *swimming)

    def inputs(self, control: Control, before: State, after: PerArm, share, forces: AbstractForces | None) -> Inputs:
        """The inputs of the mechanics at a moment of a step.

        **Arguments:** `before`: the state at the step's begin; `after`: the activation at its end; `share`: of the step
        that has passed; `forces`: of the surroundings.
        """
        inputs = no_inputs(self.robot, forces)._replace(base_pose=before.base_pose)
        inputs = self.muscles.apply(inputs, control.activation, before.activation, after, share)
        tendons = control.length if self.by_length else control.tension
        inputs = TendonDrive(self.by_length).apply(inputs, tendons, (), (), share)
        inputs = TorqueDrive().apply(inputs, control.torque, (), (), share)
        if control.leg_force is not None:
            legs = LegDrive(self.robot)
            inputs = legs.apply(inputs, legs.generalised(before.q, control.leg_force), (), (), share)
        if control.load is not None:
            inputs = inputs._replace(force=control.load)
        if control.follower is not None:
            inputs = inputs._replace(follower=control.follower)
        if control.base is not None and not self.robot.free_base:
            base = control.base
            inputs = inputs._replace(base_pose=base.T, base_twist=base.V, base_acceleration=base.A)
        return inputs

    def forces_at(self, state: State, dt: float = 1e-9) -> AbstractForces | None:
        """The forces of the surroundings in a state, no sucker taking hold or letting go.

        **Arguments:** `dt`: of the step for which they are linear, where they are; hardly any when not given [s].
        """
        place = self.place(state)
        if place is None:
            return None
        quiet = self._holding(state)
        environment = self.environment
        each = zip(self.surroundings, state.surroundings, strict=True)
        found = [part.begin(own, place, environment, quiet, dt)[1] for part, own in each]
        return Together(tuple(forces for forces in found if forces is not None))

    def _holding(self, state: State) -> Commands:
        """The commands that keep every sucker as it is, and let fins and jet go on."""
        quiet = self.commands(Control())._replace(fins=None, pump=None, nozzle=None)
        suckers = self.part_state(state, Suckers)
        if suckers is None:
            return quiet
        taken = [own.attachment.held[: len(quiet.take)] for own in self.objects(state)]
        take = jnp.max(jnp.stack(taken), 0) if taken else quiet.take
        return quiet._replace(grip=suckers.held, take=take)

    def inputs_at(self, state: State, control: Control | None = None) -> Inputs:
        """The inputs of the mechanics in a state, under a constant control."""
        control = Control() if control is None else self.check(control)
        return self.inputs(control, state, state.activation, 1.0, self.forces_at(state))


def _check_parts(parts: tuple) -> None:
    """Refuse objects that are no surroundings, and parts that cannot be combined."""
    for part in parts:
        if not isinstance(part, AbstractSurroundings):
            raise InputError(f"`surroundings` must hold such as Water(), Ground(), Suckers(); got {shown(part)}")
    for kind in (Water, Ground, Suckers, Fins, MantleJet):
        if sum(isinstance(part, kind) for part in parts) > 1:
            raise InputError(f"`surroundings` must hold at most one {kind.__name__}; got several")
    if any(isinstance(part, Suckers) for part in parts) and not any(isinstance(part, Ground | Ball) for part in parts):
        raise InputError("`Suckers` need something to hold: add Ground() or a Ball(...) to the surroundings")


def _above_ground(robot: Robot, parts: tuple) -> Robot:
    """A free body that would start within the ground starts on it."""
    ground = next((part for part in parts if isinstance(part, Ground)), None)
    if ground is None or robot.body is None or not robot.free_base:
        return robot
    start = robot.T_world_body.position
    height = jnp.maximum(start[2], ground.height + robot.body.radius)
    return eqx.tree_at(lambda r: r.T_world_body.position, robot, start.at[2].set(height))


def _with_contact_nodes(arm: ArmModel) -> ArmModel:
    """The arm with a contact node at the end of every segment, where it has none yet."""
    return arm if arm.skin_at else replace(arm, skin_at=(arm.tip_at,))


def _check_shape(name: str, value, like) -> None:
    """Refuse an array, or one of several, that has another shape."""
    if jax.tree.structure(value) != jax.tree.structure(like):
        count = len(like) if isinstance(like, tuple) else 1
        raise InputError(f"`{name}` must be one array for each of {count} arms; got {shown(value)}")
    for index, (one, other) in enumerate(zip(jax.tree.leaves(value), jax.tree.leaves(like), strict=True)):
        if jnp.shape(one) != other.shape:
            where = f" of arm {index + 1}" if isinstance(like, tuple) else ""
            raise InputError(f"`{name}`{where} must have the shape {other.shape}; got {jnp.shape(one)}")
