"""Moving and turning base, gravity and dead loads together changes nothing that the arm knows."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from slender_rods import COUNTS, EPS, HORIZONTAL, ideal_rod, rounding_of_squares

from hydrostat.bodies import Arm, Material, Section
from hydrostat.lie import SE3, so3
from hydrostat.mechanics.dynamics import Coordinates, residual
from hydrostat.mechanics.robot import no_inputs, single_arm
from hydrostat.mechanics.statics import equilibrium, vibrations
from hydrostat.segments import MODES, StrainSegment

MOVES = [
    SE3(so3.exp(jnp.array([0.3, -1.2, 2.0])), jnp.array([0.4, -3.0, 1.0])),
    SE3(so3.exp(jnp.array([-2.5, 0.1, 0.7])), jnp.array([-20.0, 5.0, 7.0])),
]


def turned(rotation, wrench):
    """A wrench at a point that moves along: its moment and its force are turned."""
    return jnp.concatenate([rotation @ wrench[:3], rotation @ wrench[3:]])


def seen_from(move, arm):
    """The arm on its moved base."""
    return eqx.tree_at(lambda a: a.T_world_base, arm, move @ arm.T_world_base)


@pytest.mark.parametrize("move", MOVES)
def test_equilibrium_and_frequencies_are_the_same_seen_from_anywhere(move):
    count = COUNTS[0]
    arm = ideal_rod(count, base=HORIZONTAL)
    gravity, load = jnp.array([1.0, 0.5, -3.0]), jnp.array([0.2, 0.1, -0.3, 0.5, -0.4, -0.6])

    def rest_and_spectrum(arm, gravity, load):
        model = single_arm(arm, gravity=gravity, load_places=[1.0])
        inputs = no_inputs(model)._replace(force=load[None])
        q = equilibrium(model, inputs).q
        weighted = single_arm(arm, gravity=gravity, lumps=[(1.0, 0.2)], load_places=[1.0])
        return np.asarray(q), vibrations(weighted, q, inputs).frequencies

    q, spectrum = rest_and_spectrum(arm, gravity, load)
    q_moved, spectrum_moved = rest_and_spectrum(
        seen_from(move, arm), move.rotation @ gravity, turned(move.rotation, load)
    )
    # Moments are rounded with every segment that they are summed over; the loads, some ten times EI / L^2, turn that
    # into curvatures.
    assert np.ptp(q) > 0.1
    assert q_moved == pytest.approx(q, abs=10.0 * count * EPS * np.max(np.abs(q)))
    # A mass matrix that is rounded to EPS of its largest eigenvalue, 1 / slowest^2, shifts a square by EPS times that
    # and its own square.
    squares = spectrum**2
    tolerance = rounding_of_squares(spectrum) + EPS * squares**2 / squares[0]
    assert np.all(np.abs(spectrum_moved**2 - squares) <= tolerance)
    assert np.all(tolerance[:4] <= 1e-9 * squares[:4])


@pytest.mark.parametrize("move", MOVES)
def test_forces_of_a_spatial_motion_are_the_same_seen_from_anywhere(move, lacking):
    gravity, load = jnp.array([1.0, 5.0, -9.0]), jnp.array([0.01, 0.02, -0.01, 0.1, -0.2, 0.3])
    values, size = lacking(spatial_arm(), gravity, load)
    moved, _ = lacking(seen_from(move, spatial_arm()), move.rotation @ gravity, turned(move.rotation, load))
    # Rounding of sums of some ten terms, relative to the largest generalised force.
    assert size > 0.0
    assert moved == pytest.approx(values, abs=100.0 * EPS * size)


def spatial_arm():
    """Three segments with all six strains, on a base that is turned already."""
    values = (1e5, 0.3, 1000.0, 1e3)
    return Arm(
        StrainSegment(jnp.array([0.2, 0.25, 0.1]), MODES),
        Section(jnp.array([0.02, 0.016, 0.01]), jnp.array([0.016, 0.01, 0.01])),
        Material(*(jnp.full(3, value) for value in values)),
        SE3(so3.exp(jnp.array([1.0, 0.2, -0.4])), jnp.array([0.1, 0.2, 0.3])),
    )


@pytest.fixture(scope="module")
def lacking():
    """The residual of one motion with moving base, all loads and a lumped mass, and its largest entry."""
    compiled = eqx.filter_jit(residual)
    rng = np.random.default_rng(5)
    scale = np.array([2.0, 2.0, 2.0, 0.1, 0.1, 0.1])
    motion = [Coordinates(jnp.asarray(scale * rng.normal(size=(3, 6))), jnp.zeros(6)) for _ in range(3)]
    twist, acceleration, follower = (jnp.asarray(rng.normal(size=6)) for _ in range(3))

    def of(arm, gravity, load):
        model = single_arm(arm, gravity=gravity, lumps=[(0.6, 0.05, 1e-4)], load_places=[0.9])
        inputs = no_inputs(model)._replace(
            force=load[None],
            follower=0.1 * follower[None],
            # The base's twist and its rate are in its own axes: they stay as they are.
            base_twist=twist,
            base_acceleration=acceleration,
        )
        values = np.asarray(compiled(model, *motion, inputs).q)
        return values, np.max(np.abs(values))

    return of
