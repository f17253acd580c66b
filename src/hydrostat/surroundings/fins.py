"""Undulating fins along the sides of a body: blade elements that push water by their normal velocity.

A fin section is a membrane between rays that are hinged along a straight root. The ray at the distance s along the
root stands at the angle theta(s, t) from its mean direction e towards the section's normal n,

    X(s, r, t) = X_0 + s a + r (cos(theta) e + sin(theta) n),

a being the direction of the root and r the distance from it. The membrane's normal, of the length of its area per
ds dr, is N = n_theta - r theta_s a, where n_theta = cos(theta) n - sin(theta) e. The water, at the velocity U far away,
resists the part of the membrane's velocity v along it with the square of that (cross-flow principle),

    dF = -1/2 rho C_n |(v - U) . N| ((v - U) . N) N / |N|^2 ds dr.

This is blade-element theory, as for the pectoral fins of robotic fish (Behbahani, Wang and Tan 2013, AIM), of its
forces that along the normal alone. It is quasi-steady: added mass of the membrane, suction at its edge and what the
sections do to each other's water are not in it; rays are rigid and massless, and their motors follow the wave whatever
the load.

A wave of the amplitude A that travels along +a pushes the body along -a; for small A with the mean force
2/(3 pi) rho C_n k A^3 (2 pi f)^2 l h^4 / 4, f being the frequency, k the wave number, l and h length and span of the
section. Waves of both directions may be on a fin at once (Curet, Patankar, Lauder and MacIver 2011,
J. R. Soc. Interface). The other motion is a flap of all rays together that is faster one way than the other:
sin(phi - sigma sin(phi)) with the phase phi = 2 pi f t, whose mean force is along the normal.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.errors import InputError
from hydrostat.lie import small
from hydrostat.mechanics.nodes import AbstractForces, NodeForces, Nodes, at_levers
from hydrostat.surroundings.base import AbstractSurroundings, Commands, Environment, OnBody, Place
from hydrostat.surroundings.shapes import scalar

_ALONG, _OUT = 4, 2
_S, _S_WEIGHTS = (0.5 * (y + one) for y, one in zip(np.polynomial.legendre.leggauss(_ALONG), (1.0, 0.0), strict=True))
_R, _R_WEIGHTS = (0.5 * (y + one) for y, one in zip(np.polynomial.legendre.leggauss(_OUT), (1.0, 0.0), strict=True))
"""Gauss points along the root and along the rays, as shares, and their weights."""


class FinState(NamedTuple):
    """The state of the fins of a body."""

    phase: Float[Array, ""]
    """Phase of the beat [rad]."""
    amplitude: Float[Array, "f 2"]
    """Amplitudes of the wave and of the flap of each section [rad]; negative ones go the other way."""
    command: Float[Array, "f 2"]
    """Amplitudes that were commanded last [rad]."""
    force: Float[Array, " 3"]
    """Force of all fins on the body at the end of the step, in world axes [N]."""
    work: Float[Array, ""]
    """Work of the fins' motors since the start [J]."""
    wake: Float[Array, ""]
    """Energy left in still water, or taken from a current, since the start [J]."""


class FinPower(NamedTuple):
    """The power of fins at a moment [W]; what motors give is what the body and the water get."""

    motors: Float[Array, ""]
    body: Float[Array, ""]
    wake: Float[Array, ""]


class Fins(AbstractSurroundings):
    """The fin sections of a body, each with a wave and a flap. Places and directions are in the body's frame."""

    touches = False

    root: Float[Array, "f 3"]
    """Where the root of each section begins, from the body's centre of mass [m]."""
    along: Float[Array, "f 3"]
    """Direction of the root, a unit vector."""
    out: Float[Array, "f 3"]
    """Mean direction of the rays, a unit vector across the root."""
    normal: Float[Array, "f 3"]
    """Direction in which rays turn at positive angles, a unit vector across both."""
    offset: Float[Array, " f"]
    """Phase by which a section is behind [rad]."""
    length: Float[Array, ""] = eqx.field(converter=scalar("length"))
    """Length of the root of a section [m]."""
    span: Float[Array, ""] = eqx.field(converter=scalar("span"))
    """Length of the rays [m]."""
    waves: Float[Array, ""] = eqx.field(converter=scalar("waves"))
    """Number of waves on a section."""
    frequency: Float[Array, ""] = eqx.field(converter=scalar("frequency"))
    """Frequency of the beat [Hz]."""
    most: Float[Array, ""] = eqx.field(converter=scalar("most"))
    """Largest sum of a section's amplitudes [rad]."""
    lag: Float[Array, ""] = eqx.field(converter=scalar("lag"))
    """Time in which amplitudes follow their command to 63 percent [s]."""
    skew: Float[Array, ""] = eqx.field(converter=scalar("skew"))
    """Skew sigma of a flap, from 0, as fast both ways, to 1."""
    drag: Float[Array, ""] = eqx.field(converter=scalar("drag"))
    """Coefficient C_n of the force along the normal."""

    def init(self, environment: Environment) -> FinState:
        """The state of fins at rest."""
        if environment.water is None or environment.body is None:
            raise InputError("`Fins` need `Water()` among the surroundings, and a robot with a body")
        zero, still = jnp.zeros(()), jnp.zeros((len(self.root), 2))
        return FinState(zero, still, still, jnp.zeros(3), zero, zero)

    def begin(self, state: FinState, place: Place, environment: Environment, commands: Commands, dt):
        """The motion of the fins during the step, and the forces that it makes."""
        assert environment.water is not None
        setpoint = state.command if commands.fins is None else commands.fins
        setpoint = setpoint * jnp.minimum(
            1.0, self.most / jnp.maximum(jnp.sum(jnp.abs(setpoint), -1, keepdims=True), 1e-9)
        )
        after = setpoint + (state.amplitude - setpoint) * jnp.exp(-dt / self.lag)
        beat = Beat(state.phase, state.amplitude, (after - state.amplitude) / dt, jnp.zeros(()))
        water = environment.water
        forces = FinForces(self, beat, water.density, water.current)
        assert place.body is not None
        power = forces.power(place.body)
        work, wake = state.work + 0.5 * dt * power.motors, state.wake + 0.5 * dt * power.wake
        return state._replace(command=setpoint, work=work, wake=wake), OnBody(forces, jnp.zeros(()))

    def finish(self, state: FinState, forces, place: Place, environment: Environment, dt) -> FinState:
        """The state of the fins after the step; work is by the trapezoidal rule."""
        del environment
        assert place.body is not None
        assert isinstance(forces, OnBody)
        assert isinstance(forces.part, FinForces)
        acting = forces.part.after(dt)
        power = acting.power(place.body)
        beat = acting.beat
        phase = beat.phase + 2.0 * np.pi * self.frequency * dt
        turns = jnp.floor(phase / (2.0 * np.pi))
        force = jnp.sum(acting.elements(place.body)[1], 0)
        work, wake = state.work + 0.5 * dt * power.motors, state.wake + 0.5 * dt * power.wake
        amplitude = beat.amplitude + dt * beat.rate
        return FinState(phase - 2.0 * np.pi * turns, amplitude, state.command, force, work, wake)

    def angles(self, beat: "Beat") -> tuple[Float[Array, "f a"], Float[Array, "f a"], Float[Array, "f a"]]:
        """The angles of the rays at the stations of each section, their rates [rad/s] and their slopes along the root
        [rad/m]."""
        s = jnp.broadcast_to(jnp.asarray(_S) * self.length, (len(self.root), _ALONG))

        def at(elapsed, s):
            return self.ray_angles(
                beat.phase + 2.0 * np.pi * self.frequency * elapsed, beat.amplitude + beat.rate * elapsed, s
            )

        one = jnp.ones_like(beat.elapsed)
        angle, rate = jax.jvp(lambda t: at(t, s), (beat.elapsed,), (one,))
        slope = jax.jvp(lambda s: at(beat.elapsed, s), (s,), (jnp.ones_like(s),))[1]
        return angle, rate, slope

    def ray_angles(
        self, phase: Float[Array, ""], amplitude: Float[Array, "f 2"], s: Float[Array, "f a"]
    ) -> Float[Array, "f a"]:
        """The angles of the rays at distances s along the roots [m], at a phase of the beat."""
        k = 2.0 * np.pi * self.waves / self.length
        phase = phase - self.offset
        wave, flap = jnp.moveaxis(amplitude, -1, 0)
        phase, wave, flap = (y[:, None] for y in (phase, wave, flap))
        back, forth = jnp.maximum(wave, 0.0), jnp.maximum(-wave, 0.0)
        skewed = [jnp.sin(phase - sign * self.skew * jnp.sin(phase)) for sign in (1.0, -1.0)]
        flapping = jnp.maximum(flap, 0.0) * skewed[0] + jnp.maximum(-flap, 0.0) * skewed[1]
        return back * jnp.sin(phase - k * s) + forth * jnp.sin(phase + k * s) + flapping

    def membrane(self, state: FinState, stations: int) -> Float[Array, "f a 2 3"]:
        """Both ends of the rays of each section, at the root and at the edge, from the body's centre of mass [m].

        **Arguments:** `stations`: number of rays of a section that are asked for.
        """
        s = jnp.broadcast_to(self.length * jnp.linspace(0.0, 1.0, stations), (len(self.root), stations))
        angle = self.ray_angles(state.phase, state.amplitude, s)[:, :, None]
        root = self.root[:, None] + s[:, :, None] * self.along[:, None]
        ray = jnp.cos(angle) * self.out[:, None] + jnp.sin(angle) * self.normal[:, None]
        return jnp.stack([root, root + self.span * ray], 2)


class Beat(NamedTuple):
    """The motion of the fins during a step."""

    phase: Float[Array, ""]
    """Phase at the begin of the step [rad]."""
    amplitude: Float[Array, "f 2"]
    """Amplitudes at the begin of the step [rad]."""
    rate: Float[Array, "f 2"]
    """Rate of the amplitudes [rad/s]."""
    elapsed: Float[Array, ""]
    """Time since the begin of the step [s]."""


class FinForces(AbstractForces):
    """The forces of the water on the fins of a body, at a moment of a step."""

    fins: Fins
    beat: Beat
    density: Float[Array, ""]
    """Density of the water [kg/m^3]."""
    current: Float[Array, " 3"]
    """Velocity of the water [m/s]."""

    @property
    def abrupt(self) -> bool:
        """Whether the forces are abrupt: no, they change as slowly as velocities do."""
        return False

    def after(self, elapsed) -> "FinForces":
        """The same fins at a moment of the step."""
        later = self.beat._replace(elapsed=jnp.asarray(elapsed, float))
        return FinForces(self.fins, later, self.density, self.current)

    def forces(self, nodes: Nodes) -> NodeForces:
        """The forces on the body, which is a node with axes of its own."""
        levers, forces, damping, _, _ = self.elements(nodes)
        return at_levers(levers, forces, damping)

    def power(self, body: Nodes) -> FinPower:
        """The power of the motors, that on the body, and that left in the water."""
        _, forces, _, own, relative = self.elements(body)
        motors, water = -jnp.sum(forces * own), -jnp.sum(forces * relative)
        return FinPower(motors, jnp.sum(forces * (relative + self.current - own)), water)

    def elements(self, body: Nodes) -> tuple[Array, Array, Array, Array, Array]:
        """The blade elements of all fins: levers from the body's origin [m], forces [N], their damping [N s/m],
        velocities relative to the body and velocities relative to the water [m/s]; in world axes."""
        assert body.rotation is not None
        R, fins = body.rotation[0], self.fins
        angle, rate, slope = (y[:, :, None, None] for y in fins.angles(self.beat))
        r = jnp.asarray(_R)[:, None] * fins.span
        s = jnp.asarray(_S)[:, None, None] * fins.length
        out, normal, along, root = (y[:, None, None] for y in (fins.out, fins.normal, fins.along, fins.root))
        ray = jnp.cos(angle) * out + jnp.sin(angle) * normal
        turned = jnp.cos(angle) * normal - jnp.sin(angle) * out
        area = fins.length * fins.span * jnp.asarray(_S_WEIGHTS[:, None] * _R_WEIGHTS)
        normals = turned - r * slope * along
        each = (root + s * along + r * ray, normals, (rate * r) * turned)
        levers, N, own = (small.matvec(R, y.reshape(-1, 3)) for y in (jnp.broadcast_to(y, normals.shape) for y in each))
        spin = jnp.broadcast_to(body.angular_velocity[0], levers.shape)
        relative = body.velocity[0] + small.cross(spin, levers) + own - self.current
        pushed = small.dot(relative, N)
        weight = jnp.broadcast_to(area, normals.shape[:-1]).reshape(-1) / small.dot(N, N)
        factor = 0.5 * self.density * fins.drag * weight * jnp.abs(pushed)
        damping = (2.0 * factor)[:, None, None] * N[:, :, None] * N[:, None, :]
        return levers, -(factor * pushed)[:, None] * N, damping, own, relative
