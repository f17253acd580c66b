"""Commands with feedback: shapes of an arm that its muscles hold whatever their gains, a load or a current do.

A plan is a `Course` of shapes, bends and lengths of all segments, gone through smoothly. It is tabulated step by step
with the forces on the coordinates that inverse dynamics needs for it in still water. A `Servo` observes the shape that
the arm has, and asks of the muscles those forces and, with the arm's mass matrix M and the error e,

    M (3 w e' + 3 w^2 e + w^3 integral of e),

under which errors of an arm without lag would fade as (1, t, t^2) exp(-w t). `holding_activations` says which
activations exert such forces, segment by segment.
"""

import dataclasses
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.bodies import Arm
from hydrostat.compiling import quick_jit
from hydrostat.control.base import Controller
from hydrostat.control.muscle_allocation import holding_activations
from hydrostat.control.point_plans import arc_to_point, ease_of_change
from hydrostat.control.profiles import minimum_jerk
from hydrostat.control.tip_correction import TipCorrection
from hydrostat.errors import InputError
from hydrostat.lie import SE3, small
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.dynamics import residual
from hydrostat.mechanics.model import ArmModel, Places, places
from hydrostat.mechanics.motion import Coordinates
from hydrostat.mechanics.robot import Robot, no_inputs, single_arm, split
from hydrostat.segments import SWELL
from hydrostat.sensing import Observation
from hydrostat.surroundings.water import Water
from hydrostat.system import Control, System

_PLAN_ITERATIONS = 12
_MOST_MISSING = 1.0  # rad s, or relative lengths times seconds, that the sum may reach


@quick_jit
def shape_to_point(
    arm: Arm, point: Float[Array, " 3"], direction: Float[Array, " 3"] | None = None
) -> Float[Array, "n k"]:
    """A shape whose tip is at a point: an arc, stretched or shortened a little, that starts with a bend to its side.

    The first guess has the chord's length and direction as if arm and arc were continuous; what is missing is made up
    by the least changes, by Newton's method. Where a direction of the tip is prescribed, the tip is turned there bit by
    bit.

    **Arguments:** `direction`: a unit vector, not opposite to the one in which the arc would end.
    """
    check_volume_kept(arm)
    length, ease = jnp.sum(arm.segments.length), ease_of_change(arm)

    def towards(reached, q, target):
        J = jax.jacfwd(reached)(q).reshape(len(target), -1)
        JW = J * ease.reshape(-1)
        change = small.matvec(small.inverse_positive(small.matmul(JW, J.T)), target - reached(q))
        return q + small.matvec(JW.T, change).reshape(q.shape)

    def place(q):
        return kinematics.tip_pose(arm, q).position

    first = arc_to_point(arm, point)
    q = jax.lax.scan(lambda q, _: (towards(place, q, point), None), first, None, length=_PLAN_ITERATIONS)[0]
    if direction is None:
        return q
    begin = kinematics.tip_pose(arm, q).rotation[:, 2]

    def turned(q, share):
        tangent = begin + share * (direction - begin)
        tangent = tangent / small.norm(tangent)

        def place_and_turn(q):
            T = kinematics.tip_pose(arm, q)
            return jnp.concatenate([T.position / length, small.matvec(T.rotation.T, tangent)[:2]])

        return towards(place_and_turn, q, jnp.concatenate([point / length, jnp.zeros(2)])), None

    shares = jnp.minimum(jnp.arange(1, 2 * _PLAN_ITERATIONS + 1) / _PLAN_ITERATIONS, 1.0)
    return jax.lax.scan(turned, q, shares)[0]


def check_volume_kept(arm: Arm) -> None:
    """Refuse an arm whose radius is a coordinate: its shape does not determine the pressure that holds it."""
    if SWELL in arm.segments.modes:
        raise InputError("a plan needs the arm with its volume kept exactly; the segments of this one swell")


class Course(NamedTuple):
    """A sequence of shapes at times, with smooth transitions."""

    times: Float[Array, " w"]
    """Increasing times [s]; the first is the begin."""
    shapes: Float[Array, "w n k"]
    grips: Float[Array, "w n"]
    """Grip of the suckers from each time on, 1 to hold."""
    waits: Float[Array, " w"]
    """Indicator of times at which the course stands still until a sucker holds something."""

    def at(self, time) -> tuple[Float[Array, "n k"], Float[Array, "n k"], Float[Array, " n"]]:
        """The shape, its rate and the grip at a time; before the first time, as then."""
        time = jnp.maximum(time, self.times[0])
        before = (time >= self.times).astype(float)
        here = before - jnp.concatenate([before[1:], jnp.zeros(1)])  # 1 for the piece that the time is in
        span = jnp.maximum(jnp.diff(self.times, append=self.times[-1:] + 1.0), 1e-9)
        t = jnp.clip((time - self.times) / span, 0.0, 1.0)
        pace = minimum_jerk(t)
        next_ones = jnp.concatenate([self.shapes[1:], self.shapes[-1:]])
        shapes = self.shapes + pace[:, None, None] * (next_ones - self.shapes)
        rate = (30.0 * t**2 * (1.0 - t) ** 2 / span)[:, None, None] * (next_ones - self.shapes)
        chosen = here[:, None, None]
        return jnp.sum(chosen * shapes, 0), jnp.sum(chosen * rate, 0), jnp.sum(here[:, None] * self.grips, 0)


class Table(NamedTuple):
    """A course, tabulated step by step."""

    shape: Float[Array, "steps n k"]
    rate: Float[Array, "steps n k"]
    force: Float[Array, "steps n k"]
    """Generalised forces that muscles must exert for the motion in still water [N per coordinate]."""
    grip: Float[Array, "steps n"]
    wait: Float[Array, " steps"]


class KnownArm(NamedTuple):
    """The controller's model of one arm: on a body that stays, in still water."""

    robot: Robot
    """The robot, a single arm."""
    water: Water | None
    """The still water; None where there is none."""
    load: Float[Array, "m 6"] | None = None
    """Constant loads at the robot's load places, moment and force in world axes; None where there are none."""

    @property
    def arm(self) -> ArmModel:
        """The model of the arm."""
        return self.robot.one

    @staticmethod
    def of(system: System) -> "KnownArm":
        """The arm of a system, or the first of several equal ones, where it sits on the body."""
        robot = system.robot
        arm = robot.one
        if not robot.single:
            base: SE3 = split(robot, robot.mounts)[0]
            arm = eqx.tree_at(lambda arm: arm.arm.T_world_base, arm, base)
        water = system.part(Water)
        still = None if water is None else eqx.tree_at(lambda water: water.current, water, jnp.zeros(3))
        return KnownArm(single_arm(arm, gravity=robot.gravity, name=robot.name), still)

    def carrying(self, place: float, mass, volume=0.0) -> "KnownArm":
        """The same arm with a mass [kg] at a fraction of it, in the place of other lumped masses and loads.

        **Arguments:** `volume`: of the mass, which water lifts by what it displaces [m^3].
        """
        point = jnp.concatenate([jnp.zeros(3), jnp.full(3, mass)])
        at = places(self.arm.arm, [place])
        robot = eqx.tree_at(
            lambda r: (r.arms.lumps, r.arms.lump_inertia, r.arms.loads), self.robot, (at, point[None], at)
        )
        displaced = 0.0 if self.water is None else self.water.density * volume
        lift = jnp.concatenate([jnp.zeros(3), -displaced * self.robot.gravity])
        return KnownArm(robot, self.water, lift[None])

    def ready_to_carry(self) -> "KnownArm":
        """The same arm with a mass of nothing at the end of every segment, in the place of other lumped masses."""
        n = self.arm.arm.count
        at = Places(jnp.arange(n), jnp.ones(n))
        robot = eqx.tree_at(
            lambda r: (r.arms.lumps, r.arms.lump_inertia, r.arms.loads), self.robot, (at, jnp.zeros((n, 6)), at)
        )
        return KnownArm(robot, self.water, jnp.zeros((n, 6)))

    def with_mass(self, share: Float[Array, " n"], mass, volume) -> "KnownArm":
        """An arm that is ready to carry, with shares of a mass [kg] at the ends of its segments.

        **Arguments:** `volume`: of the mass, which water lifts by what it displaces [m^3].
        """
        inertia = jnp.concatenate([jnp.zeros((len(share), 3)), jnp.repeat((share * mass)[:, None], 3, 1)], 1)
        robot = eqx.tree_at(lambda r: r.arms.lump_inertia, self.robot, inertia)
        displaced = 0.0 if self.water is None else self.water.density * volume
        lift = jnp.concatenate([jnp.zeros(3), -displaced * self.robot.gravity])
        return KnownArm(robot, self.water, share[:, None] * lift)

    def needed(self, q, rate, acceleration) -> Float[Array, "n k"]:
        """The forces on the coordinates for a motion: inverse dynamics with relaxed muscles."""
        x, v, a = (Coordinates(part, jnp.zeros(6)) for part in (q, rate, acceleration))
        inputs = no_inputs(self.robot, self.water)
        return residual(self.robot, x, v, a, inputs if self.load is None else inputs._replace(force=self.load)).q


@quick_jit
def tabulated(known: KnownArm, course: Course, begins: Float[Array, " steps"], dt) -> Table:
    """A course in steps of dt [s] that begin at these times [s], with the forces of inverse dynamics."""

    def at(time):
        shape, rate, grip = course.at(time + dt)
        ahead, behind = (course.at(time + x * dt)[1] for x in (1.5, 0.5))
        needed = known.needed(shape, rate, (ahead - behind) / dt)
        wait = jnp.max(course.waits * ((course.times >= time - 1e-6 * dt) & (course.times < time + (1.0 - 1e-6) * dt)))
        return Table(shape, rate, needed, grip, wait)

    return jax.vmap(at)(begins)


@quick_jit
def planned_activation(known: KnownArm, table: Table, stiffen) -> Float[Array, " steps"]:
    """The largest activation of any muscle that each step of a plan needs, from 0 to 1."""
    least = jnp.full(known.arm.arm.count, stiffen)
    rows = (table.shape, table.force)
    return jax.vmap(lambda row: jnp.max(holding_activations(known.arm, row[0], row[1], least)))(rows)


def correction(bare: KnownArm, rate, q, behind, slower, missing) -> Float[Array, "n k"]:
    """The forces M (3 w e' + 3 w^2 e + w^3 s) that draw an arm to a planned shape.

    **Arguments:** `bare`: the arm with its masses alone; `rate`: the bandwidth w [1/s]; `q`: the shape that it has;
    `behind`, `slower`, `missing`: e, e' and the integral s of e.
    """
    drawn = 3.0 * rate * slower + 3.0 * rate**2 * behind + rate**3 * missing
    return bare.needed(q, jnp.zeros_like(drawn), drawn)


def bare_arm(known: KnownArm) -> KnownArm:
    """An arm with its masses and those of the water that it carries along, without loads, tissue and muscles."""
    arm = known.arm
    carried = None if known.water is None else known.water.entrained()
    water = None if carried is None else Water(carried.density, normal=0.0, tangential=0.0, added_mass=1.0)
    light = eqx.tree_at(
        lambda m: (m.damping, m.stiffness, m.tissue, m.muscles),
        arm,
        (jnp.zeros_like(arm.damping), jnp.zeros_like(arm.stiffness), None, None),
        is_leaf=lambda x: x is None,
    )
    light = dataclasses.replace(light, constant_volume=False)
    return KnownArm(single_arm(light, gravity=jnp.zeros(3)), water)


def most_missing(arm: Arm, most: float = _MOST_MISSING) -> Float[Array, "n k"]:
    """The bound of the integral of each coordinate's error, from one in rad s, or relative lengths times seconds."""
    segments = arm.segments
    turning = jnp.array([mode != "stretch" for mode in segments.modes])
    return jnp.where(turning, most / segments.length[:, None], most)


class ServoMemory(NamedTuple):
    """The memory of a servo."""

    step: Float[Array, ""]
    """Step of the course."""
    missing: Float[Array, "n k"]
    """Integral of the error of the shape over time [s times coordinates]."""
    shape: Float[Array, "n k"] | None = None
    """The estimated shape, for a servo that smooths its observations."""
    trust: Float[Array, ""] | None = None
    """The share of a new sample in the estimate."""
    shift: Float[Array, " 3"] | None = None
    """Displacement of the planned tip by what is seen of it [m], for a servo that sees it."""


class Servo(Controller):
    """A servo that follows a course of shapes by proprioception.

    Muscles exert what the planned motion needs, and draw the arm towards it by M (3 w e' + 3 w^2 e + w^3 s) with the
    arm's mass matrix M: e is how far the arm is behind the plan, s the sum of e over time. Weighed by its mass, what
    is light is not drawn harder than muscles that lag can follow.

    Noise of the observed shape would be drawn on with 3 w^2. With a time constant T the servo acts on an estimate x of
    the shape instead, a complementary filter of the observed shape q and its rate v, T (x' - v) = q - x: white noise
    of samples a time h apart is smaller in x by sqrt(h / 2 T), and what moves does not lag behind. In the beginning it
    is the mean of all samples, each carried on by the rates, so that the first ones do not last for T.

    Observations that are a time d old are compared with the plan of that time, so that a moving arm is not taken to be
    behind; the rate w must be as low as `fastest_rate` says.
    """

    known: KnownArm
    bare: KnownArm
    """The same arm without loads and surroundings, for its mass matrix and that of the water it carries along."""
    table: Table
    rate: Float[Array, ""]
    """Bandwidth w: the rate at which errors decay [1/s]."""
    stiffen: Float[Array, " n"]
    """Co-contraction of every segment."""
    most: Float[Array, "n k"]
    """Bound of the integral of the error."""
    suckers: bool = eqx.field(static=True, default=True)
    """Whether the arm has suckers."""
    smoothing: Float[Array, ""] | None = None
    """The time constant T of the estimated shape [s]; None where the observed one is taken as it is."""
    late: int = eqx.field(static=True, default=0)
    """Age of an observation, in decisions."""
    sight: TipCorrection | None = None
    """The correction by the seen tip; None for a servo that does not see it."""
    elastic: Float[Array, "n k k"] | None = None
    """Forces for the integral of the error in the place of those of the mass [1/s times stiffness]; None for none."""

    def init(self, observation: Observation) -> ServoMemory:
        """The memory at the start: no error."""
        own = (None, None) if self.smoothing is None else (observation.q, jnp.ones(()))
        shift = None if self.sight is None else jnp.zeros(3)
        return ServoMemory(jnp.zeros(()), jnp.zeros_like(observation.q), *own, shift)

    def _estimated(self, observation: Observation, memory: ServoMemory) -> tuple:
        """The servo's estimate of the shape, and the share of the new sample in it."""
        if self.smoothing is None or memory.shape is None or memory.trust is None:
            return observation.q, None
        expected = memory.shape + observation.period * observation.v
        trust = jnp.maximum(memory.trust / (1.0 + memory.trust), -jnp.expm1(-observation.period / self.smoothing))
        return expected + trust * (observation.q - expected), trust

    def __call__(self, time, observation: Observation, memory: ServoMemory):
        """The activations that hold the plan and draw the arm to it."""
        del time
        step, last = memory.step.astype(int), len(self.table.wait) - 1
        row, row_seen = jnp.clip(step, 0, last), jnp.clip(step - self.late, 0, last)
        here = jax.tree.map(lambda y: y[row], self.table)
        shape, rate = self.table.shape[row_seen], self.table.rate[row_seen]
        shift = memory.shift
        if self.sight is not None and shift is not None:
            shift = self.sight.moved(shift, observation.tip.position, step, observation.period)
            shape = shape + self.sight.shape(shift)
        stays = (here.wait > 0.0) & (jnp.max(observation.taken) < 0.5)
        q, trust = self._estimated(observation, memory)
        behind = shape - q
        missing = jnp.clip(memory.missing + observation.period * behind, -self.most, self.most)
        # An integral weighed by mass costs phase that a delayed loop has not; that by stiffness does not.
        by_mass = missing if self.elastic is None else jnp.zeros_like(missing)
        force = correction(self.bare, self.rate, q, behind, rate - observation.v, by_mass)
        force = force if self.elastic is None else force + small.matvec(self.elastic, missing)
        activation = holding_activations(self.known.arm, here.shape, here.force + force, self.stiffen)
        control = Control(activation=activation, take=here.grip if self.suckers else None)
        own = (None, None) if trust is None else (q, trust)
        return control, ServoMemory(memory.step + jnp.where(stays, 0.0, 1.0), missing, *own, shift)


@quick_jit
def _stiffness(arm: Arm, tissue, q: Float[Array, "n k"]) -> Float[Array, "n k k"]:
    """The stiffness of an arm's tissue in a shape."""
    return tissue.stiffness(arm, q)


def make_servo(
    known: KnownArm,
    table: Table,
    *,
    rate: float = 8.0,
    stiffen: float = 0.2,
    most: float = _MOST_MISSING,
    suckers: bool = True,
    smoothing: float = 0.0,
    late: int = 0,
    sight: TipCorrection | None = None,
    settling: float = 0.0,
) -> Servo:
    """A servo for a course.

    **Arguments:** `rate`: how fast errors fade [1/s]; `stiffen`: co-contraction of all muscles; `most`: that errors may
    sum up to [rad s, or relative lengths times seconds]: an arm that something keeps from its shape pulls no harder;
    `suckers`: whether the arm has suckers; `smoothing`: time constant over which noise of the observed shape is
    averaged out [s], 0 for an arm that observes it exactly; `late`: age of an observation in decisions; `sight`: the
    correction by the seen tip; `settling`: rate at which the integral of the error, weighed by the tissue's stiffness
    instead of the mass, removes errors [1/s]: of segments that are stiff for their mass, `rate` would leave them for
    seconds.
    """
    arm = known.arm
    check_volume_kept(arm.arm)
    rates, active = jnp.asarray(rate, float), jnp.full(arm.arm.count, stiffen)
    time = jnp.asarray(smoothing, float) if smoothing else None
    elastic = settling * _stiffness(arm.arm, arm.tissue, table.shape[-1]) if settling and arm.tissue else None
    largest = most_missing(arm.arm, most)
    return Servo(known, bare_arm(known), table, rates, active, largest, suckers, time, late, sight, elastic)
