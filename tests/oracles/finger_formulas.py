"""The planar two-arc finger of Dehghani and Moosavian (2014): the paper's own formulas, corrected.

They serve those who want the paper's model as it stands, and as an independent check of the general mechanics, which
they share nothing with but the Stumpff functions. Equation numbers are the paper's; many of them are misprinted there.

**Frame of this file** (the paper's): the base at the origin, Y along the tangent there, vectors are (X, Y). The angles
theta = (theta_1, theta_2) from the first to the last tangent of each arc are positive counter-clockwise, so the finger
bends towards -X. The contact point is where the arcs meet.

**hydrostat's frame**: the arm along z, in the plane x-z, bent towards +x by a positive `bend_y`. The paper's X, Y, Z
are -x, z, y: a proper rotation, not a mirror. Counter-clockwise is thus a positive turn about y, and bend_y = theta / L
with the same sign. `to_strains`, `from_strains`, `to_space`, `from_space` convert; forces on the strains are L times
the torques here, and their mass matrix is diag(L) M diag(L).

**At theta = 0** the printed formulas are 0/0. Here they are written in the Stumpff functions c_k of theta^2, that is
c_0 = cos theta, c_1 = sin theta / theta, c_2 = (1 - cos theta) / theta^2, c_3 = (theta - sin theta) / theta^3,
c_4 = (theta^2 / 2 - 1 + cos theta) / theta^4, ...: smooth, and without cancellation, at every angle. The paper uses
power series instead: `finger_series`.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from hydrostat.errors import InputError, shown
from hydrostat.lie import stumpff

# Of the search for an equilibrium; stiffness and energy are counted in units of E I / L.
_LONGEST_STEP = 0.3  # rad: follows the slope from the guess instead of leaping to another branch
_SOFTEST = 1e-9  # stiffness that a step is computed with at least
_ENERGY_ROUNDING = 1e-12  # rad^2: the energy of 1e-6 rad, from where Newton's step squares the error
_STEP_TOLERANCE = 1e-12  # rad: a thousand times what rounding leaves
_MAX_STEPS = 200


def _floats(value) -> Float[Array, "..."]:
    return jnp.asarray(value, float)


class FingerLoads(eqx.Module):
    """Loads on the finger; none by default."""

    gravity: Float[Array, " 2"] = eqx.field(default=(0.0, 0.0), converter=_floats)
    """Acceleration of free fall, (X, Y) [m/s^2]."""
    contact_force: Float[Array, " 2"] = eqx.field(default=(0.0, 0.0), converter=_floats)
    """Force F_c on the contact point, (X, Y) [N]; it keeps its direction when the finger moves."""
    tip_force: Float[Array, " 2"] = eqx.field(default=(0.0, 0.0), converter=_floats)
    """Force F_t on the tip, (X, Y) [N]; it keeps its direction when the finger moves."""
    tensions: Float[Array, " 2"] = eqx.field(default=(0.0, 0.0), converter=_floats)
    """Tensions F_1, F_2 of the tendons on the -X and on the +X side [N]."""

    def __check_init__(self):
        for name, value in vars(self).items():
            if value.shape != (2,):
                raise InputError(f"`{name}` must be a pair of numbers; got an array of shape {value.shape}")


class FingerFormulas(eqx.Module):
    """The two-arc finger: M theta'' + V + G_e + G_g = J_c^T F_c + J_t^T F_t - c_frc theta' + (tau, tau), eq. 43.

    A parameter of two arcs may be given as one number for both.
    """

    lengths: Float[Array, " 2"]
    """Length L of each arc [m]."""
    line_density: Float[Array, " 2"]
    """Mass per length of each arc, rho A [kg/m]."""
    bending_stiffness: Float[Array, " 2"]
    """Bending stiffness E I of each arc [N m^2]."""
    rotary_inertia: Float[Array, " 2"]
    """Moment of inertia of the section per length of each arc, rho I [kg m]."""
    tip_mass: Float[Array, ""]
    """Mass at the tip, m_tip [kg]."""
    contact_mass: Float[Array, ""]
    """Mass at the contact point, m_c [kg]."""
    tendon_offset: Float[Array, ""]
    """Distance e of both tendons from the axis [m]."""
    friction: Float[Array, ""]
    """Friction torque of the structure per rate of an arc's angle, c_frc [N m s]."""
    preshape: Float[Array, " 2"]
    """Angles theta* of the unloaded finger [rad]."""

    def __init__(
        self,
        lengths,
        line_density,
        bending_stiffness,
        *,
        rotary_inertia=0.0,
        tip_mass=0.0,
        contact_mass=0.0,
        tendon_offset=0.0,
        friction=0.0,
        preshape=0.0,
    ):
        self.lengths = _parameter("lengths", lengths, (2,), above=0.0)
        self.line_density = _parameter("line_density", line_density, (2,), above=0.0)
        self.bending_stiffness = _parameter("bending_stiffness", bending_stiffness, (2,), above=0.0)
        self.rotary_inertia = _parameter("rotary_inertia", rotary_inertia, (2,), least=0.0)
        self.tip_mass = _parameter("tip_mass", tip_mass, (), least=0.0)
        self.contact_mass = _parameter("contact_mass", contact_mass, (), least=0.0)
        self.tendon_offset = _parameter("tendon_offset", tendon_offset, (), least=0.0)
        self.friction = _parameter("friction", friction, (), least=0.0)
        self.preshape = _parameter("preshape", preshape, (2,))

    # --- Geometry

    def contact_position(self, theta: Float[Array, " 2"]) -> Float[Array, " 2"]:
        """The position of the contact point, (X, Y) [m]: r_c = (L_1 / theta_1) (cos theta_1 - 1, sin theta_1), eq.
        7."""
        return self._points(theta)[0]

    def tip_position(self, theta: Float[Array, " 2"]) -> Float[Array, " 2"]:
        """The position of the tip, (X, Y) [m]: r_c + R(theta_1) (L_2 / theta_2) (cos theta_2 - 1, sin theta_2), eq.
        9."""
        return self._points(theta)[1]

    def centroids(self, theta: Float[Array, " 2"]) -> Float[Array, "2 2"]:
        """The mass centres r_G1 and r_G2 of the two arcs, rows of (X, Y) [m]; eqs 10 and 12."""
        return jnp.stack(self._points(theta)[2:])

    def contact_jacobian(self, theta: Float[Array, " 2"]) -> Float[Array, "2 2"]:
        """The Jacobian J_c of the contact point: its velocity (X, Y) per rate of the angles [m]; eq. 23."""
        return self._jacobians(theta)[0]

    def tip_jacobian(self, theta: Float[Array, " 2"]) -> Float[Array, "2 2"]:
        """The Jacobian J_t of the tip: its velocity (X, Y) per rate of the angles [m]; eq. 24, corrected."""
        return self._jacobians(theta)[1]

    def centroid_jacobians(self, theta: Float[Array, " 2"]) -> Float[Array, "2 2 2"]:
        """The Jacobians J_G1 and J_G2 of the mass centres: velocities (X, Y) per rate of the angles [m]; eqs 25, 26,
        corrected."""
        return jnp.stack(self._jacobians(theta)[2:])

    def _points(self, theta):
        """The points r_c, r_t, r_G1, r_G2: the end and the mass centre of an arc, then those of the other turned and
        shifted."""
        (r_1, r_2), (G_1, G_2) = self._arcs(theta)
        return r_1, r_1 + _rotate(theta[0], r_2), G_1, r_1 + _rotate(theta[0], G_2)

    def _jacobians(self, theta):
        """The Jacobians J_c, J_t, J_G1, J_G2: the derivatives of `_points`, column by column."""
        (_, r_2), (_, G_2) = self._arcs(theta)
        # d/dtheta of an arc's end, (1 - cos theta - theta sin theta, theta cos theta - sin theta) L / theta^2, and of
        # its mass centre, (theta (cos theta + 1) - 2 sin theta, theta sin theta + 2 cos theta - 2) L / theta^3
        _, c1, c2, c3, c4 = stumpff(theta**2, 4)
        dr_1, dr_2 = (self.lengths * jnp.stack([c2 - c1, theta * (c3 - c2)])).T
        dG_1, dG_2 = (self.lengths * jnp.stack([2 * c3 - c2, theta * (2 * c4 - c3)])).T
        zero = jnp.zeros(2)
        J_c, J_G1 = jnp.stack([dr_1, zero], -1), jnp.stack([dG_1, zero], -1)
        J_t = jnp.stack([dr_1 + _rotate(theta[0], _quarter_turn(r_2)), _rotate(theta[0], dr_2)], -1)
        J_G2 = jnp.stack([dr_1 + _rotate(theta[0], _quarter_turn(G_2)), _rotate(theta[0], dG_2)], -1)
        return J_c, J_t, J_G1, J_G2

    def _arcs(self, theta):
        """Ends and mass centres of the arcs in the frames of their bases, rows of (X, Y).

        (cos theta - 1, sin theta) L / theta and (sin theta - theta, 1 - cos theta) L / theta^2.
        """
        _, c1, c2, c3 = stumpff(theta**2, 3)
        return (self.lengths * jnp.stack([-theta * c2, c1])).T, (self.lengths * jnp.stack([-theta * c3, c2])).T

    # --- Terms of the equation of motion

    def mass_matrix(self, theta: Float[Array, " 2"]) -> Float[Array, "2 2"]:
        """The mass matrix M with both lumped masses [kg m^2]; eqs 36 (corrected) and 37.

        v_x = (cos theta_1 - 1) L_1 / theta_1^2 and v_y = (theta_1 - sin theta_1) L_1 / theta_1^2 are the contact
        point's velocity per rate of theta_1, in axes that turn with it.
        """
        (L1, L2), (rhoA1, rhoA2), (rhoI1, rhoI2) = self.lengths, self.line_density, self.rotary_inertia
        _, t2 = theta
        (_, a2, a3, a4, a5), (_, b2, b3, b4, b5) = jnp.stack(stumpff(theta**2, 5)[1:], -1)
        vx, vy = -L1 * a2, L1 * theta[0] * a3
        # S = 1 / (3 theta^2) + 2 (cos theta + 1) / theta^4 - 4 sin theta / theta^5: an arc clamped at its base
        S1, S2 = 2 * a4 - 4 * a5, 2 * b4 - 4 * b5
        M11 = (
            rhoA2 * (L2 * (vx**2 + vy**2) - 2 * L2**2 * (t2 * b3 * vy + b2 * vx) + 2 * L2**3 * b3)
            + rhoI2 * L2
            + rhoA1 * L1**3 * S1
            + rhoI1 * L1 / 3
        )
        M12 = rhoA2 * (L2**2 * (t2 * (2 * b4 - b3) * vy + (2 * b3 - b2) * vx) + L2**3 * (b3 - b4)) + rhoI2 * L2 / 2
        M22 = rhoA2 * L2**3 * S2 + rhoI2 * L2 / 3
        Jc, Jt, _, _ = self._jacobians(theta)
        return jnp.array([[M11, M12], [M12, M22]]) + self.tip_mass * Jt.T @ Jt + self.contact_mass * Jc.T @ Jc

    def coriolis_torques(self, theta: Float[Array, " 2"], theta_dot: Float[Array, " 2"]) -> Float[Array, " 2"]:
        """V = M' theta' - dT/dtheta [N m], from the derivatives of `mass_matrix`; eq. 38, its label corrected."""
        dM = jax.jacfwd(self.mass_matrix)(theta)
        return jnp.einsum("ijk,j,k", dM, theta_dot, theta_dot) - jnp.einsum("jki,j,k", dM, theta_dot, theta_dot) / 2

    def elastic_torques(self, theta: Float[Array, " 2"]) -> Float[Array, " 2"]:
        """G_e = E I (theta - theta*) / L [N m], eq. 32."""
        return self.bending_stiffness * (theta - self.preshape) / self.lengths

    def gravity_torques(self, theta: Float[Array, " 2"], gravity: Float[Array, " 2"]) -> Float[Array, " 2"]:
        """G_g = -sum m J^T g over both arcs, the tip and the contact point [N m], eq. 29."""
        J_c, J_t, J_G1, J_G2 = self._jacobians(theta)
        m1, m2 = self.line_density * self.lengths
        return -(m1 * J_G1 + m2 * J_G2 + self.tip_mass * J_t + self.contact_mass * J_c).T @ gravity

    def load_torques(self, theta: Float[Array, " 2"], loads: FingerLoads) -> Float[Array, " 2"]:
        """The generalised forces J_c^T F_c + J_t^T F_t + (tau, tau) with tau = (F_1 - F_2) e [N m]; eqs 41 and 42,
        without friction."""
        J_c, J_t, _, _ = self._jacobians(theta)
        tau = (loads.tensions[0] - loads.tensions[1]) * self.tendon_offset
        return J_c.T @ loads.contact_force + J_t.T @ loads.tip_force + tau

    def friction_torques(self, theta_dot: Float[Array, " 2"]) -> Float[Array, " 2"]:
        """The friction torques -c_frc theta' [N m], eq. 39."""
        return -self.friction * theta_dot

    def accelerations(
        self, theta: Float[Array, " 2"], theta_dot: Float[Array, " 2"], loads: FingerLoads | None = None
    ) -> Float[Array, " 2"]:
        """The accelerations theta'' from the equation of motion, eq. 43 [rad/s^2]."""
        V = self.coriolis_torques(theta, theta_dot)
        torques = self.friction_torques(theta_dot) - V - self._imbalance(theta, loads)
        return _solve(self.mass_matrix(theta), torques)

    def kinetic_energy(self, theta: Float[Array, " 2"], theta_dot: Float[Array, " 2"]) -> Float[Array, ""]:
        """The kinetic energy T = theta' M theta' / 2 [J], eq. 37."""
        return theta_dot @ self.mass_matrix(theta) @ theta_dot / 2

    def potential_energy(self, theta: Float[Array, " 2"], loads: FingerLoads | None = None) -> Float[Array, ""]:
        """The potential energy V_e + V_g, eqs 31 and 28, with the potential of the constant forces and tensions [J]."""
        loads = FingerLoads() if loads is None else loads
        r_c, r_t, r_G1, r_G2 = self._points(theta)
        m1, m2 = self.line_density * self.lengths
        elastic = jnp.sum(self.bending_stiffness * (theta - self.preshape) ** 2 / self.lengths) / 2
        weighed = m1 * r_G1 + m2 * r_G2 + self.tip_mass * r_t + self.contact_mass * r_c
        tau = (loads.tensions[0] - loads.tensions[1]) * self.tendon_offset
        pushed = loads.contact_force @ r_c + loads.tip_force @ r_t + tau * jnp.sum(theta)
        return elastic - weighed @ loads.gravity - pushed

    # --- Equilibrium and vibration

    def static_equilibrium(
        self, loads: FingerLoads | None = None, guess: Float[Array, " 2"] | None = None
    ) -> Float[Array, " 2"]:
        """The angles at rest under the loads [rad], by Newton's method led to a stable one; differentiable.

        The finger that starts exactly balanced stays so, stable or not: `natural_frequencies` tells.

        **Arguments:** `guess`: where the search starts, and so which of several equilibria it finds; the unloaded
        finger when not given.
        """
        loads = FingerLoads() if loads is None else loads
        start = self.preshape if guess is None else guess
        theta = _descend(*jax.lax.stop_gradient((self, loads, start)))
        # One more step outside the search carries the derivatives with respect to parameters and loads.
        K = jax.lax.stop_gradient(jax.jacfwd(lambda theta: self._imbalance(theta, loads))(theta))
        return theta - _solve(K, self._imbalance(theta, loads))

    def natural_frequencies(self, theta: Float[Array, " 2"], loads: FingerLoads | None = None) -> Float[Array, " 2"]:
        """The frequencies of small undamped vibrations about an equilibrium [Hz], lowest first; NaN where unstable.

        **Arguments:** `theta`: what `static_equilibrium` gave for the same loads.
        """
        # K v = (2 pi f)^2 M v with K = d(G_e + G_g - loads)/dtheta: the eigenvalues of A = M^-1 K.
        M, K = self.mass_matrix(theta), jax.jacfwd(lambda theta: self._imbalance(theta, loads))(theta)
        A = jax.vmap(_solve, (None, 1), 1)(M, K)
        mean, product = (A[0, 0] + A[1, 1]) / 2, A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
        apart = jnp.sqrt(((A[0, 0] - A[1, 1]) / 2) ** 2 + A[0, 1] * A[1, 0])
        larger = mean + jnp.copysign(apart, mean)  # in size; their product gives the other without cancellation
        return jnp.sqrt(jnp.sort(jnp.stack([product / larger, larger]))) / (2 * jnp.pi)

    def _imbalance(self, theta, loads):
        """The residual of the equilibrium, G_e + G_g - J_c^T F_c - J_t^T F_t - (tau, tau)."""
        loads = FingerLoads() if loads is None else loads
        held = self.elastic_torques(theta) + self.gravity_torques(theta, loads.gravity)
        return held - self.load_torques(theta, loads)

    # --- hydrostat's coordinates

    def to_strains(self, theta: Float[Array, " 2"]) -> Float[Array, "2 1"]:
        """The configuration of a two-segment arm with the mode `bend_y` that has these angles [1/m].

        Of an arm without rest strain; that of one whose rest strain is theta* / L is `to_strains(theta - preshape)`.
        """
        return (theta / self.lengths)[:, None]

    def from_strains(self, q: Float[Array, "2 1"]) -> Float[Array, " 2"]:
        """The angles of a two-segment arm with the mode `bend_y` [rad]."""
        return q[:, 0] * self.lengths


def _descend(finger, loads, theta):
    """A minimum of the potential energy, by Newton's method with a shift and a longest step."""
    unit = jnp.max(finger.bending_stiffness / finger.lengths)

    def torques(theta):
        return finger._imbalance(theta, loads) / unit

    def energy(theta):
        return finger.potential_energy(theta, loads) / unit

    def advance(state):
        theta, reach, _, count = state
        # Newton's step, with a shift that makes the lowest stiffness positive where it is not: away from saddles.
        K, g = jax.jacfwd(lambda theta: (torques(theta),) * 2, has_aux=True)(theta)
        lowest = (K[0, 0] + K[1, 1]) / 2 - jnp.hypot((K[0, 0] - K[1, 1]) / 2, K[0, 1])
        step = -_solve(K + (jnp.maximum(jnp.abs(lowest), _SOFTEST) - lowest) * jnp.eye(2), g)
        size = jnp.max(jnp.abs(step))
        trial = theta + step * jnp.minimum(1.0, reach / jnp.where(size == 0.0, 1.0, size))
        # A climb by rounding alone is allowed, or the last steps would be refused.
        here = energy(theta)
        better = energy(trial) <= here + _ENERGY_ROUNDING * (1.0 + jnp.abs(here))
        reach = jnp.where(better, jnp.minimum(2.0 * reach, _LONGEST_STEP), reach / 4.0)
        return jnp.where(better, trial, theta), reach, size, count + 1

    def going_on(state):
        _, _, size, count = state
        return (size > _STEP_TOLERANCE) & (count < _MAX_STEPS)

    start = (theta, jnp.asarray(_LONGEST_STEP), jnp.asarray(jnp.inf), jnp.asarray(0))
    theta, _, size, _ = jax.lax.while_loop(going_on, advance, start)
    missed = ~(size <= _STEP_TOLERANCE)
    return eqx.error_if(theta, missed, "no equilibrium of the finger was found; try a `guess` nearer to it")


def to_space(vector: Float[Array, "*batch 2"]) -> Float[Array, "*batch 3"]:
    """A position or vector (X, Y) of the paper, in the base frame of hydrostat's arm: (x, y, z) = (-X, 0, Y)."""
    return jnp.stack([-vector[..., 0], jnp.zeros_like(vector[..., 0]), vector[..., 1]], -1)


def from_space(vector: Float[Array, "*batch 3"]) -> Float[Array, "*batch 2"]:
    """The part in the finger's plane of a vector in the base frame of hydrostat's arm: (X, Y) = (-x, z)."""
    return jnp.stack([-vector[..., 0], vector[..., 2]], -1)


def _solve(A, b):
    """The solution of A x = b for a symmetric matrix of two rows."""
    (A11, A12), (_, A22) = A
    return jnp.stack([A22 * b[0] - A12 * b[1], A11 * b[1] - A12 * b[0]]) / (A11 * A22 - A12**2)


def _rotate(angle, v):
    """R(angle) v, counter-clockwise."""
    c, s = jnp.cos(angle), jnp.sin(angle)
    return jnp.stack([c * v[0] - s * v[1], s * v[0] + c * v[1]])


def _quarter_turn(v):
    """v turned by 90 degrees counter-clockwise: the derivative of R(angle) v at angle = 0."""
    return jnp.stack([-v[1], v[0]])


def _parameter(name, value, shape, *, above=None, least=None):
    """A parameter as an array of its shape, refused in words where its values are known and wrong."""
    array = jnp.asarray(value, float)
    if array.shape not in ((), shape):
        expected = "a number" if shape == () else "a number or a pair of numbers"
        raise InputError(f"`{name}` must be {expected}; got an array of shape {array.shape}")
    if not isinstance(array, Tracer):
        values = np.asarray(array)
        wrong = ~np.isfinite(values)
        bounds = ""
        if above is not None:
            wrong, bounds = wrong | (values <= above), f" above {above:g}"
        if least is not None:
            wrong, bounds = wrong | (values < least), f", at least {least:g}"
        if np.any(wrong):
            raise InputError(f"`{name}` must be finite{bounds}; got {shown(values.tolist())}")
    return jnp.broadcast_to(array, shape)
