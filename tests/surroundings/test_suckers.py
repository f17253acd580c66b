"""Suckers: what they pull with, what the ball answers, and that neither momentum nor energy is made."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hydrostat.errors import InputError
from hydrostat.surroundings import Nodes, Suckers
from hydrostat.surroundings.ball_grip import BallGrip, BallState, hold

K, C = 98.0, 0.5
LAW = Suckers(K, C)
COUNT = 5
MASS, RADIUS = 0.01, 0.013
INERTIA = np.array([MASS] * 3 + [0.4 * MASS * RADIUS**2] * 3)
DT = 5e-3


class Case(NamedTuple):
    """A ball, what holds it, what else acts on it, and nodes near what they hold."""

    ball: BallState
    held: jax.Array
    lever: jax.Array
    resisting: jax.Array
    loads: jax.Array
    nodes: Nodes


def make_nodes(position, velocity):
    zero, n = jnp.zeros((len(position), 3)), len(position)
    size = jnp.full(n, 3e-3)
    return Nodes(jnp.asarray(position, float), jnp.asarray(velocity, float), zero, zero, size, size)


def random_case(seed, resisted=True):
    rng = np.random.default_rng(seed)
    centre, velocity, spin = rng.normal(size=3), 0.3 * rng.normal(size=3), 5.0 * rng.normal(size=3)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    lever = rng.normal(size=(COUNT, 3))
    lever *= 1.2 * RADIUS / np.linalg.norm(lever, axis=1, keepdims=True)
    held = rng.integers(0, 2, COUNT).astype(float)
    held[0] = 1.0
    root = rng.normal(size=(6, 6)) * np.array([1.0, 1.0, 1.0, 0.01, 0.01, 0.01])
    resisting = root.T @ root if resisted else np.zeros((6, 6))
    loads = rng.normal(size=6) * np.array([0.1] * 3 + [1e-3] * 3)
    nodes = make_nodes(centre + lever + 2e-3 * rng.normal(size=(COUNT, 3)), 0.3 * rng.normal(size=(COUNT, 3)))
    ball = BallState(*(jnp.asarray(x) for x in (centre, turn * np.sign(np.linalg.det(turn)), velocity, spin)))
    return Case(ball, *(jnp.asarray(x) for x in (held, lever, resisting, loads)), nodes)


@jax.jit
def made(case, inertia, dt) -> BallGrip:
    return hold(LAW, case.ball, case.held, case.lever, inertia, case.resisting, case.loads, dt)


@jax.jit
def acted(grip, nodes):
    return grip.forces(nodes), grip.moved(nodes), grip.pulls(nodes)


@jax.jit
def later(grip, elapsed, nodes):
    after = grip.after(elapsed)
    return after.forces(nodes), after.moved(nodes)


# --- Momentum

seeds = st.integers(0, 2**32 - 1)


@given(seeds)
@hypothesis_settings(max_examples=30)
def test_nodes_lose_the_momentum_that_the_ball_gains_beyond_its_other_loads(seed):
    case = random_case(seed)
    forces, ball, _ = acted(made(case, INERTIA, DT), case.nodes)
    before = np.concatenate([case.ball.velocity, case.ball.spin])
    after = np.concatenate([ball.velocity, ball.spin])
    gained = INERTIA * (after - before)
    others = DT * (np.asarray(case.loads) - np.asarray(case.resisting) @ (after - before))
    force = np.asarray(forces.force)
    on_ball = -DT * np.concatenate([force.sum(0), np.cross(case.lever, force).sum(0)])
    size = np.abs(np.concatenate([gained[:3], gained[3:] / RADIUS])).max()
    np.testing.assert_allclose((gained - others)[:3], on_ball[:3], rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose((gained - others)[3:], on_ball[3:], rtol=0, atol=1e-12 * size * RADIUS)
    assert not np.any(force[np.asarray(case.held) == 0.0])
    assert not np.any(forces.torque)


@given(seeds)
@hypothesis_settings(max_examples=30)
def test_a_sucker_is_a_spring_and_a_damper_between_where_both_are_at_the_end(seed):
    case = random_case(seed)
    forces, ball, pulls = acted(made(case, INERTIA, DT), case.nodes)
    lever = np.asarray(case.lever)
    there = np.asarray(ball.velocity) + np.cross(ball.spin, lever)
    apart = np.asarray(case.nodes.position) - (np.asarray(case.ball.position) + lever + DT * there)
    expected = -np.asarray(case.held)[:, None] * (K * apart + C * (np.asarray(case.nodes.velocity) - there))
    np.testing.assert_allclose(forces.force, expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(pulls, np.linalg.norm(expected, axis=1), rtol=0, atol=1e-11)
    np.testing.assert_allclose(ball.position, case.ball.position + DT * ball.velocity, rtol=0, atol=1e-15)
    # The ball turns by its spin, and stays a ball.
    turned = np.asarray(ball.rotation) @ np.asarray(case.ball.rotation).T
    angle = DT * np.linalg.norm(ball.spin)
    np.testing.assert_allclose(np.trace(turned), 1.0 + 2.0 * np.cos(angle), rtol=0, atol=1e-12)
    np.testing.assert_allclose(turned @ ball.spin, ball.spin, rtol=0, atol=1e-12 * np.linalg.norm(ball.spin))


def test_a_ball_that_nothing_holds_follows_its_loads_alone():
    case = random_case(3, resisted=False)
    case = case._replace(held=jnp.zeros(COUNT))
    forces, ball, pulls = acted(made(case, INERTIA, DT), case.nodes)
    assert not any(np.any(part) for part in forces)
    assert not np.any(pulls)
    rate = np.asarray(case.loads) / INERTIA
    np.testing.assert_allclose(ball.velocity, case.ball.velocity + DT * rate[:3], rtol=1e-12)
    np.testing.assert_allclose(ball.spin, case.ball.spin + DT * rate[3:], rtol=1e-12)


def test_in_a_step_of_no_duration_nothing_happens_to_the_ball():
    case = random_case(4)
    _, ball, _ = acted(made(case, INERTIA, 0.0), case.nodes)
    for now, before in zip(ball, case.ball, strict=True):
        np.testing.assert_allclose(now, before, rtol=0, atol=1e-14)


# --- Matrices


@pytest.mark.parametrize("dt", [1e-4, 5e-3, 0.1])
@pytest.mark.parametrize("resisted", [True, False])
def test_matrices_are_minus_the_differences_of_the_pull_for_one_held_node(dt, resisted):
    case = random_case(5, resisted)._replace(held=jnp.zeros(COUNT).at[2].set(1.0))
    grip = made(case, INERTIA, dt)
    forces, _, _ = acted(grip, case.nodes)
    # The pull is linear: differences of any size do.
    for part, matrix in (("position", forces.stiffness), ("velocity", forces.damping)):
        for axis in range(3):
            moved = getattr(case.nodes, part).at[2, axis].add(1e-2)
            other, _, _ = acted(grip, case.nodes._replace(**{part: moved}))
            slope = (np.asarray(forces.force) - np.asarray(other.force))[2] / 1e-2
            np.testing.assert_allclose(matrix[2, 3:, 3 + axis], slope, rtol=0, atol=1e-9 * K)
        others = np.delete(np.asarray(matrix), 2, 0)
        assert not np.any(others)
        assert not np.any(matrix[2, :3])
        assert not np.any(matrix[2, :, :3])


@pytest.mark.parametrize("dt", [1e-4, 5e-3, 0.1, 10.0])
def test_matrices_are_positive_semidefinite_and_no_more_than_the_spring(dt):
    for seed in range(5):
        forces, _, _ = acted(made(random_case(seed), INERTIA, dt), random_case(seed).nodes)
        for matrix, most in ((np.asarray(forces.stiffness), K), (np.asarray(forces.damping), C)):
            np.testing.assert_allclose(matrix, np.swapaxes(matrix, 1, 2), rtol=0, atol=1e-12 * most)
            values = np.linalg.eigvalsh(matrix)
            assert values.min() > -1e-12 * most
            assert values.max() < most * (1.0 + 1e-12)


def test_a_heavy_ball_holds_as_a_wall_does():
    case = random_case(6, resisted=False)
    still = case.ball._replace(velocity=jnp.zeros(3), spin=jnp.zeros(3))
    case = case._replace(ball=still, loads=jnp.zeros(6))
    forces, _, _ = acted(made(case, 1e12 * INERTIA, DT), case.nodes)
    apart = np.asarray(case.nodes.position - case.ball.position - case.lever)
    wall = -np.asarray(case.held)[:, None] * (K * apart + C * np.asarray(case.nodes.velocity))
    np.testing.assert_allclose(forces.force, wall, rtol=0, atol=1e-9)
    eye = np.asarray(case.held)[:, None, None] * np.eye(3)
    np.testing.assert_allclose(forces.stiffness[:, 3:, 3:], K * eye, rtol=0, atol=1e-6)
    np.testing.assert_allclose(forces.damping[:, 3:, 3:], C * eye, rtol=0, atol=1e-8)


# --- Within a step


@pytest.mark.parametrize("share", [1e-3, 1.0 - np.sqrt(0.5), 0.5, 1.0])
def test_what_moves_on_evenly_with_the_ball_is_not_pulled_at_any_time_of_the_step(share):
    # Had the ball been taken where it is at the step's end, it would pull ahead at all earlier times.
    case, velocity = random_case(7), np.array([0.3, -0.2, 0.5])
    ball = case.ball._replace(velocity=jnp.asarray(velocity), spin=jnp.zeros(3))
    case = case._replace(ball=ball, loads=jnp.zeros(6))
    grip, elapsed = made(case, INERTIA, DT), share * DT
    start = case.ball.position + case.lever
    nodes = make_nodes(start + elapsed * velocity, np.broadcast_to(velocity, (COUNT, 3)))
    forces, moved = later(grip, elapsed, nodes)
    np.testing.assert_allclose(forces.force, 0.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(moved.velocity, velocity, rtol=1e-12)
    np.testing.assert_allclose(moved.position, ball.position + elapsed * velocity, rtol=0, atol=1e-15)
    if share < 0.9:
        assert np.abs(acted(grip, nodes)[0].force).max() > 1e-3


def test_later_in_a_step_is_the_same_as_a_step_of_that_duration():
    case = random_case(8)
    forces, moved = later(made(case, INERTIA, DT), 0.3 * DT, case.nodes)
    expected, ball, _ = acted(made(case, INERTIA, 0.3 * DT), case.nodes)
    for one, other in zip([*forces, *moved], [*expected, *ball], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


@eqx.filter_jit
def tugged(law, case, mass, dt, count):
    """Two beads of a mass that hold a ball, all of them implicit: energies after each step."""
    inertia = jnp.asarray(INERTIA)

    def energy(ball, nodes, anchor):
        apart = nodes.position - ball.position - anchor @ ball.rotation.T
        moving = 0.5 * jnp.sum(inertia * jnp.concatenate([ball.velocity, ball.spin]) ** 2)
        return moving + 0.5 * mass * jnp.sum(nodes.velocity**2) + 0.5 * law.stiffness * jnp.sum(apart**2)

    def step(carry, _):
        ball, nodes, anchor = carry
        grip = hold(law, ball, jnp.ones(2), anchor @ ball.rotation.T, inertia, jnp.zeros((6, 6)), jnp.zeros(6), dt)

        def improve(nodes_next, _):
            # Newton's method on the nodes' end velocities, each with its own block.
            forces = grip.forces(nodes_next)
            missing = mass * (nodes_next.velocity - nodes.velocity) - dt * forces.force
            own = mass * jnp.eye(3) + dt * forces.damping[:, 3:, 3:] + dt**2 * forces.stiffness[:, 3:, 3:]
            velocity = nodes_next.velocity - jnp.linalg.solve(own, missing[..., None])[..., 0]
            return nodes._replace(velocity=velocity, position=nodes.position + dt * velocity), None

        ahead = nodes._replace(position=nodes.position + dt * nodes.velocity)
        last, _ = jax.lax.scan(improve, ahead, None, length=60)
        moved = grip.moved(last)
        return (moved, last, anchor), energy(moved, last, anchor)

    nodes = jax.tree.map(lambda y: y[:2], case.nodes)
    anchor = case.lever[:2] @ case.ball.rotation
    first = energy(case.ball, nodes, anchor)
    return first, jax.lax.scan(step, (case.ball, nodes, anchor), None, length=count)[1]


@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_beads_that_hold_a_ball_never_gain_energy(damping):
    case = random_case(9)
    case = case._replace(ball=case.ball._replace(spin=jnp.zeros(3)))
    first, rest = tugged(Suckers(K, damping), case, 5e-3, 1e-3, 400)
    energies = np.array([float(first), *np.asarray(rest)])
    # The anchors are those of the step's begin: turning by dt w leaves an error of second order, here 1e-3.
    assert np.all(np.diff(energies) < 1e-3 * energies[0])
    assert energies[-1] < 0.95 * energies[0]


# --- The law


@pytest.mark.parametrize("name, value", [("stiffness", 0.0), ("damping", -1.0), ("reach", -1e-3), ("suction", 0.0),
                                         ("suction", float("nan")), ("reach", "far")])  # fmt: skip
def test_bad_laws_are_refused_in_one_line(name, value):
    with pytest.raises(InputError, match=f"`{name}` must be") as refused:
        Suckers(**{name: value})
    assert "\n" not in str(refused.value)


def test_the_pull_off_force_is_suction_times_the_suckers_area():
    # 10 N for 1 cm^2 at 100 kPa: the disc is 0.7 as wide as the arm.
    radius = jnp.array([np.sqrt(1e-4 / np.pi) / 0.7, 0.0])
    np.testing.assert_allclose(Suckers(suction=1e5).pull_off(radius), [10.0, 0.0], rtol=1e-12)
