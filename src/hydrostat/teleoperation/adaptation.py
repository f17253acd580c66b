"""How the operator's model learns from reports: the stiffness of its own limb, and place and stiffness of an obstacle.

**The limb.** While its motors hold lengths u of its tendons the limb rests at q with R(q; u, a) = 0, where a is the
logarithm of Young's modulus over the nominal one. The implicit function theorem gives the derivative of the tip's place
p(q), g = dp/da = -(dp/dq) K^-1 dR/da with K = dR/dq. A report of the tip p_i under u_i is, to first order,
p_i = p(a) + g (a* - a) + noise of deviation s. The estimate that is the best in the sense of least squares over all
reports, older ones counting less by a factor w < 1 for each that followed, is the recursive one:

    P^-1 <- w P^-1 + g.g / s^2,    a <- a + P g.(p_i - p(a)) / s^2.

Its error e = a - a* becomes e w P_new / P: V = e^2 / P shrinks at least by w in each step, and e goes to zero where g.g
does not stay zero, that is, where the tendons hold the limb away from its shape without stress. R leaves out inertia
and the water's drag: the means of the last half second are compared, and ten times the distance that the tip has moved
within it is taken as noise as well, so that a limb that swings tells little. Reports of a limb that is touched are not
used. Lengths tell more than tensions would: under given tensions the limb is so soft that every swing counts fiftyfold.

**The obstacle.** A face with outward normal n pushes a contact node whose centre is at n.x = x by F = k (x_0 - x),
which is linear in (k, k x_0): the same recursion with two unknowns, y = F and the regressor (-(x - c), 1) about a fixed
place c, from a prior of the place that the robot's eyes estimate and of a stiffness that is assumed. It excites itself:
every touch goes in and out. Where no eyes told of the face, the first force tells its normal. A ball is the same, with
the distance from its centre for x; but two eyes tell its centre and its radius to a millimetre, so that touches tell k
alone.
"""

from collections import deque
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat.compiling import compiled
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import no_inputs
from hydrostat.mechanics.statics import at_rest
from hydrostat.robots import scaled
from hydrostat.teleoperation.limbs import Limb, straight_lengths

_NEWTON_STEPS = 3
_TIP_NOISE = 2e-3  # m: sensors, and inertia and drag that the statics leave out
_SWING = 10.0  # error of statics over a motion of the tip, assumed: a limb that is accelerated tells little
_MEMORY = 20.0  # s: time constant with which reports of the limb are forgotten
_ALIKE = 0.1  # s: reports that are nearer to each other tell the same
_PRIOR = 0.3  # deviation of the logarithm of Young's modulus before any report
_RANGE = 1.5  # of that logarithm, either side
_FORCE_NOISE = 5e-3  # N
_FACE_NOISE = 5e-3  # m: deviation of a face that eyes estimate
_STIFFNESS_PRIOR = 1.0  # deviation over the assumed stiffness of an obstacle
_FORGET_FACE = 0.99
RECENT = 0.5
"""Time over which the motion of a limb counts against what its report tells of its statics [s]."""
_STIFF_RANGE = (2.0, 2e4)  # N/m
_MOST_OFF = 0.05  # m, of a face from where it was seen or first touched
_KEPT = 100  # touches of a face that are kept, to be told again where its first sight comes later


class Moment(NamedTuple):
    """What a report tells of a limb at rest."""

    time: float
    """Time of the robot [s]."""
    tip: np.ndarray
    """Place of the tip [m]."""
    drive: np.ndarray
    """Lengths that the motors hold of the tendons, less those of the straight limb [m]."""


class LimbEstimate:
    """The estimate of Young's modulus of a limb with tendons."""

    def __init__(self, limb: Limb):
        robot = limb.statics_model()
        count = len(limb.spec.tendons)
        like = jnp.zeros(robot.arm.straight().shape)

        straight = straight_lengths(robot)

        def predicted(log_scale, lengths, q):
            """The place of the tip at rest, and its derivative by the logarithm of Young's modulus."""

            def residual(q, log_scale):
                inputs = no_inputs(robot)._replace(wires=straight + lengths)
                return at_rest(scaled(robot, youngs_modulus=jnp.exp(log_scale)), q, inputs).ravel()

            size = q.size
            for _ in range(_NEWTON_STEPS):
                K = jax.jacfwd(residual)(q, log_scale).reshape(size, size)
                q = q - jnp.linalg.solve(K, residual(q, log_scale)).reshape(q.shape)
            place = lambda q: kinematics.tip_pose(robot.arm, q).position  # noqa: E731
            K = jax.jacfwd(residual)(q, log_scale).reshape(size, size)
            change = -jnp.linalg.solve(K, jax.jacfwd(residual, 1)(q, log_scale)).reshape(q.shape)
            tip, slope = jax.jvp(place, (q,), (change,))
            return jnp.concatenate([tip, slope])

        self._shape = like.shape
        self._predicted = compiled(predicted, jnp.zeros(()), jnp.zeros(count), like)
        self.reset()

    def reset(self) -> None:
        """Forget all reports."""
        self.log_scale, self._information = 0.0, _PRIOR**-2
        self.error = 0.0
        """Distance of the last reported tip from the predicted one [m]."""

    def update(self, recent: "list[Moment]", q: np.ndarray, interval: float) -> None:
        """Learn from the last reports of a limb that nothing touches, by their means.

        **Arguments:** `recent`: the last half second; `q`: coordinates, from which the rest is looked for; `interval`:
        since the report before [s].
        """
        if recent[-1].time - recent[0].time < 0.5 * RECENT:
            return  # too short to tell whether the limb is still
        tip, lengths = np.mean([one.tip for one in recent], 0), np.mean([one.drive for one in recent], 0)
        moved = max(float(np.linalg.norm(one.tip - tip)) for one in recent)
        inputs = (np.asarray(self.log_scale), lengths, q.reshape(self._shape))
        out = np.asarray(self._predicted(*inputs))
        if not np.all(np.isfinite(out)):
            return
        miss, slope = tip - out[:3], out[3:]
        self.error = float(np.linalg.norm(miss))
        weight = min(interval / _ALIKE, 1.0) / (_TIP_NOISE**2 + (_SWING * moved) ** 2)
        self._information = np.exp(-interval / _MEMORY) * self._information + weight * float(slope @ slope)
        step = weight * float(slope @ miss) / self._information
        self.log_scale = float(np.clip(self.log_scale + step, -_RANGE, _RANGE))

    @property
    def scale(self) -> float:
        """Young's modulus over the nominal one."""
        return float(np.exp(self.log_scale))


class Face(NamedTuple):
    """A flat face of an obstacle as the operator's model has it."""

    point: np.ndarray
    """A point of the face [m]."""
    normal: np.ndarray
    stiffness: float
    """Stiffness of the contact [N/m]."""


class RoundObstacle(NamedTuple):
    """A ball as the operator's model has it."""

    centre: np.ndarray
    """[m]"""
    radius: float
    """[m]"""
    stiffness: float
    """Stiffness of the contact [N/m]."""


class _Spring:
    """The estimate of a contact F = k (d + o) from depths d of a node: its stiffness k, and by how much the surface is
    farther out than it was seen, o."""

    def __init__(self, stiffness: float):
        """**Arguments:** `stiffness`: that is assumed at first [N/m]."""
        self._theta = np.array([stiffness, 0.0])  # (k, k o)
        self._information = np.diag([(_STIFFNESS_PRIOR * stiffness) ** -2, (stiffness * _FACE_NOISE) ** -2])
        self.touches = 0

    def touch(self, depth: float, force: float) -> None:
        """Learn from a force [N] at a depth below the surface as it was seen [m]."""
        self.touches += 1
        regressor = np.array([depth, 1.0])
        miss = force - float(regressor @ self._theta)
        # Only what this touch tells anew is forgotten: a press that stays where it is tells one combination of place
        # and stiffness again and again, and must not let go of what coming and going told of the other.
        along = self._information @ regressor
        kept = self._information - (1.0 - _FORGET_FACE) * np.outer(along, along) / (regressor @ along)
        self._information = kept + np.outer(regressor, regressor) / _FORCE_NOISE**2
        self._theta = self._theta + np.linalg.solve(self._information, regressor) * miss / _FORCE_NOISE**2

    @property
    def stiffness(self) -> float:
        """The stiffness of the contact [N/m]."""
        # The estimate itself is not bounded, or the recursion would not be that of least squares any more.
        return float(np.clip(self._theta[0], *_STIFF_RANGE))

    @property
    def offset(self) -> float:
        """Distance of the surface farther out than where it was seen [m]."""
        return float(np.clip(self._theta[1] / self.stiffness, -_MOST_OFF, _MOST_OFF))


class FaceEstimate:
    """The estimate of one face of an obstacle: where it is, and how stiff."""

    def __init__(self, point: np.ndarray, normal: np.ndarray, radius: float, stiffness: float):
        """**Arguments:** `radius`: of the contact node at the tip [m]; `stiffness`: that is assumed at first [N/m]."""
        self._radius, self._stiffness = radius, stiffness
        self._contacts: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=_KEPT)
        self._begin(point, normal)

    def _begin(self, point: np.ndarray, normal: np.ndarray) -> None:
        """Know no more than a first sight."""
        self.normal = np.asarray(normal, float) / np.linalg.norm(normal)
        self._point, self._sights, self._spring = np.asarray(point, float), 1, _Spring(self._stiffness)

    def turn(self, point: np.ndarray, normal: np.ndarray) -> None:
        """Take in the first sight of a face that was felt before: its normal was that of the first force, friction
        included. The last touches are told again.
        """
        self._begin(point, normal)
        for force, place in self._contacts:
            self._spring.touch(-self.height(place), float(self.normal @ force))

    def felt_from(self, point: np.ndarray, normal: np.ndarray) -> float:
        """How far from another face it was touched last [m]; infinite where it was not."""
        if not self._contacts:
            return np.inf
        return abs(float(normal @ (self._contacts[-1][1] - point)) - self._radius)

    def see(self, point: np.ndarray) -> None:
        """Take in another sight of the face; it counts until the face is touched, which tells more."""
        if self._spring.touches:
            return
        self._sights += 1
        self._point = self._point + float(self.normal @ (np.asarray(point) - self._point)) / self._sights * self.normal

    def height(self, place: np.ndarray) -> float:
        """The height of a node at a place [m] above the face as it was seen [m]."""
        return float(self.normal @ (np.asarray(place) - self._point)) - self._radius

    def touch(self, force: np.ndarray, place: np.ndarray) -> None:
        """Learn from a contact force [N] on a node whose centre is at a place [m]."""
        self._contacts.append((np.asarray(force, float), np.asarray(place, float)))
        self._spring.touch(-self.height(place), float(self.normal @ force))

    @property
    def face(self) -> Face:
        """The face as it is estimated."""
        return Face(self._point + self._spring.offset * self.normal, self.normal, self._spring.stiffness)


class BallEstimate:
    """The estimate of an obstacle that is seen as a ball: its place and radius by eyes, its stiffness by touch."""

    def __init__(self, centre: np.ndarray, radius: float, tip_radius: float, stiffness: float):
        """**Arguments:** `tip_radius`: of the contact node at the tip [m]; `stiffness`: that is assumed at first
        [N/m].
        """
        self._centre, self._radius, self._tip_radius = np.asarray(centre, float), float(radius), tip_radius
        self._stiffness, self._information, self._sights = stiffness, (_STIFFNESS_PRIOR * stiffness) ** -2, 1

    def see(self, centre: np.ndarray, radius: float) -> None:
        """Take in another sight of the ball."""
        self._sights += 1
        self._centre = self._centre + (np.asarray(centre) - self._centre) / self._sights
        self._radius += (float(radius) - self._radius) / self._sights

    def height(self, place: np.ndarray) -> float:
        """The height of the tip's node at a place [m] above the ball [m]."""
        return float(np.linalg.norm(np.asarray(place) - self._centre)) - self._radius - self._tip_radius

    def touch(self, force: np.ndarray, place: np.ndarray) -> None:
        """Learn from a contact force [N] on a node whose centre is at a place [m]."""
        depth = -self.height(place)
        if depth <= 0.0:
            return  # it is another part of the limb that touches, which is thicker than the tip
        away = np.asarray(place) - self._centre
        pressed = float(away @ force) / max(float(np.linalg.norm(away)), 1e-9)
        self._information = _FORGET_FACE * self._information + (depth / _FORCE_NOISE) ** 2
        self._stiffness += depth * (pressed - depth * self._stiffness) / _FORCE_NOISE**2 / self._information

    @property
    def ball(self) -> RoundObstacle:
        """The ball as it is estimated."""
        return RoundObstacle(self._centre, self._radius, float(np.clip(self._stiffness, *_STIFF_RANGE)))
