"""The law at one point of touch: smooth, never attractive, dissipative, with the derivatives it states."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from hydrostat.errors import InputError
from hydrostat.surroundings import ContactLaw

K, C, MU, V, D0 = 800.0, 0.7, 0.6, 0.01, 1e-3
LAW = ContactLaw(K, C, MU, V, D0)
RELAXED = ContactLaw(K, C, MU, V, D0, relaxation=C * 1e-3)
both_laws = pytest.mark.parametrize("law", [LAW, RELAXED], ids=["plain", "relaxed"])
NORMAL = np.array([2.0, -1.0, 2.0]) / 3
at_point = jax.jit(lambda law, depth, normal, velocity: law.at_point(depth, normal, velocity))
slopes = jax.jit(
    jax.jacfwd(lambda law, depth, velocity: law.at_point(depth, jnp.asarray(NORMAL), velocity).force, (1, 2))
)

depths = st.floats(-2e-3, 5e-3)
vectors = st.tuples(*[st.floats(-4, 4)] * 3).map(np.array)


def stored(depth):
    """The elastic energy k times the integral of the onset p."""
    d = jnp.maximum(depth, 0.0)
    return K * jnp.where(d < D0, d**3 / (6 * D0), 0.5 * d * d - 0.5 * D0 * d + D0**2 / 6)


stored_slope = jax.jit(jax.grad(stored))


@both_laws
@given(depth=depths, velocity=vectors)
def test_force_pushes_and_friction_opposes_slip_within_its_cone(law, depth, velocity):
    touch = at_point(law, depth, NORMAL, velocity)
    f = touch.force @ NORMAL
    tangential, slip = touch.force - f * NORMAL, velocity - (velocity @ NORMAL) * NORMAL
    rounding = 1e-13 * (1.0 + abs(f))
    assert f >= -rounding
    assert np.linalg.norm(tangential) <= MU * f + rounding
    # Against the slip, and of the stated size.
    speed = np.linalg.norm(slip)
    np.testing.assert_allclose(tangential, -MU * f * slip / np.sqrt(speed**2 + V**2), atol=rounding)
    if depth <= 0.0:
        assert not np.any(touch.force)
    # What is not stored is lost: power of the force plus rate of the stored energy is never positive.
    rate = -velocity @ NORMAL
    assert touch.force @ velocity + stored_slope(depth) * rate <= rounding * (1.0 + np.abs(velocity).max())


@both_laws
@given(depth=depths, velocity=vectors)
def test_linearisation_is_the_derivative_but_for_the_stated_terms(law, depth, velocity):
    touch = at_point(law, depth, NORMAL, velocity)
    by_depth, by_velocity = slopes(law, depth, jnp.asarray(velocity))
    k, c, g = touch[1:]
    n, f = NORMAL, touch.force @ NORMAL
    slip = velocity - (velocity @ n) * n
    root = np.sqrt(slip @ slip + V**2)
    # -dF/dx = k n n^T, less the change of friction with f: depth falls along n.
    np.testing.assert_allclose(by_depth, k * (n - MU * slip / root), rtol=1e-12, atol=1e-10)
    # -dF/dv = C, less the secant's excess, less the change of friction with f.
    C3 = c * np.outer(n, n) + g * (np.eye(3) - np.outer(n, n))
    excess = MU * f * np.outer(slip, slip) / root**3
    dropped = MU * c * np.outer(slip, n) / root
    np.testing.assert_allclose(-by_velocity, C3 - excess - dropped, rtol=1e-12, atol=1e-10 * (1 + np.abs(C3).max()))
    assert min(k, c, g) >= 0.0


@both_laws
@pytest.mark.parametrize("depth, speed", [(0.0, 1.0), (D0, 1.0), (D0, -1.0), (2e-3, 0.0), (2e-3, -2.0 / C), (0.0, 0.0)])
def test_force_has_a_continuous_slope(law, depth, speed):
    # Across touch-down, the end of the onset, the turn of the speed and the end of the force: the slopes on both
    # sides differ by no more than curvature times the step between them.
    step = 1e-9
    sides = [slopes(law, depth + s * step, jnp.asarray(-(speed + s * step) * NORMAL)) for s in (-1, 1)]
    curvature = K / D0 * (1 + C * abs(speed)) ** 2
    for before, after in zip(*sides, strict=True):
        np.testing.assert_allclose(before, after, atol=4 * curvature * step)
    assert all(np.all(np.isfinite(x)) for side in sides for x in side)


def test_a_relaxation_time_bounds_the_damping_of_deep_contact():
    tau = float(RELAXED.relaxation)
    deep = 1e3 * D0
    for depth in (1e-6, D0, deep):
        p = depth**2 / (2 * D0) if depth < D0 else depth - D0 / 2
        touch = at_point(RELAXED, depth, NORMAL, jnp.zeros(3))
        np.testing.assert_allclose(touch.normal_damping, K * C * p / (1 + C * p / tau), rtol=1e-12)
    # Shallow as without it, deep in tau times the stiffness.
    shallow = at_point(LAW, 1e-6, NORMAL, jnp.zeros(3)).normal_damping
    np.testing.assert_allclose(at_point(RELAXED, 1e-6, NORMAL, jnp.zeros(3)).normal_damping, shallow, rtol=1e-6)
    np.testing.assert_allclose(at_point(RELAXED, deep, NORMAL, jnp.zeros(3)).normal_damping, K * tau, rtol=2e-3)


def test_gradients_are_finite_at_rest():
    size = jax.jit(
        jax.grad(
            lambda law, depth, velocity: jnp.sum(law.at_point(depth, jnp.asarray(NORMAL), velocity).force ** 2),
            (0, 1, 2),
        )
    )
    leaves = [leaf for depth in (0.0, 1e-3) for leaf in jax.tree.leaves(size(LAW, depth, jnp.zeros(3)))]
    assert all(np.all(np.isfinite(leaf)) for leaf in leaves)


def bounce(mass, speed, steps, dt):
    """A ball falls on a wall without gravity, RK4: speed and energy along the way."""

    def rate(state):
        depth, closing = state
        force = LAW.at_point(depth, jnp.array([0.0, 0, 1]), jnp.array([0.0, 0, 1]) * -closing).force[2]
        return jnp.array([closing, -force / mass])

    def step(state, _):
        a = rate(state)
        b = rate(state + 0.5 * dt * a)
        c = rate(state + 0.5 * dt * b)
        d = rate(state + dt * c)
        state = state + dt / 6 * (a + 2 * b + 2 * c + d)
        return state, jnp.array([state[1], 0.5 * mass * state[1] ** 2 + stored(state[0])])

    return jax.lax.scan(step, jnp.array([-1e-6, speed]), length=steps)[1]


@pytest.mark.parametrize("mass", [0.01, 0.3])
@pytest.mark.parametrize("speed", [0.02, 1.0])
def test_restitution_is_that_of_the_law_whatever_the_mass(mass, speed):
    # Along each half of the bounce m v dv / w(c v) = -k p(d) dd, so both halves have the same integral of v / w.
    closing = (C * speed - np.log1p(C * speed)) / C**2
    opening = lambda out: 4 / C**2 * (1 / (1 - C * out / 2) - 1 + np.log1p(-C * out / 2)) - closing  # noqa: E731
    expected = brentq(opening, 1e-9, speed)
    assert expected / speed == pytest.approx(1 - 2 / 3 * C * speed, abs=(C * speed) ** 2)
    # Half a period on the soft onset and on the spring, three times over. RK4 loses two orders where the force has
    # a kink in its slope: error of order (steps per bounce)^-3 there, and 4000 steps a bounce or more.
    duration = 3 * np.pi * np.sqrt(mass / K) + 12 * D0 / speed
    history = np.asarray(jax.jit(bounce, static_argnums=2)(mass, speed, 30000, duration / 30000))
    assert -history[-1, 0] == pytest.approx(expected, rel=1e-6)
    assert np.max(np.diff(history[:, 1])) < 1e-9 * history[0, 1]


@pytest.mark.parametrize(
    "values, message",
    [
        (dict(stiffness=-1), "`stiffness` must be positive; got -1"),
        (dict(stiffness=0), "`stiffness` must be positive; got 0"),
        (dict(stiffness=float("nan")), "`stiffness` must be a positive number; got nan"),
        (dict(stiffness="hard"), "`stiffness` must be a positive number; got 'hard'"),
        (dict(damping=-0.1), "`damping` must be zero or positive; got -0.1"),
        (dict(friction=-0.5), "`friction` must be zero or positive; got -0.5"),
        (dict(friction=[0.1, 0.2]), "`friction` must be zero or a positive number; got [0.1, 0.2]"),
        (dict(slip_speed=0.0), "`slip_speed` must be positive; got 0"),
        (dict(slip_speed=float("inf")), "`slip_speed` must be a positive number; got inf"),
        (dict(onset=0.0), "`onset` must be positive; got 0"),
    ],
)
def test_errors_say_what_is_wrong(values, message):
    with pytest.raises(InputError) as error:
        ContactLaw(**(dict(stiffness=1.0, damping=0.0, friction=0.0, slip_speed=1.0) | values))
    assert str(error.value) == message


def test_a_law_can_be_made_of_traced_numbers():
    pushed = lambda k: ContactLaw(k, C, MU, V, D0).at_point(2e-3, jnp.asarray(NORMAL), jnp.zeros(3)).force @ NORMAL  # noqa: E731
    # Beyond the onset the force is k (d - d_0 / 2).
    assert float(jax.grad(pushed)(jnp.asarray(K))) == pytest.approx(2e-3 - 0.5 * D0)


@pytest.mark.parametrize("share", [0.1, 0.25])
def test_one_load_presses_thin_nodes_in_by_one_share_of_their_radius(share):
    radius = jnp.array([0.5e-3, 1e-3, 2e-3, 4e-3, 8e-3])
    law = LAW.by_radius(radius, 0.3 * radius)
    force = np.asarray(law.pressed(share * radius, jnp.zeros(5))[0])
    np.testing.assert_allclose(force[:3], force[3], rtol=1e-12)  # up to half of the thickest
    assert force[4] == pytest.approx(2.0 * force[3])  # from there on one stiffness for all
