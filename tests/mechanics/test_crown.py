"""Equal arms on one body are the same as any arms on one body."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hydrostat.robots.build_limbed import build_limbed, crown_model, free_model

from hydrostat.errors import InputError
from hydrostat.mechanics import dynamics, make_crown
from hydrostat.mechanics.energy import energy, external_wrench, momentum
from hydrostat.mechanics.model import no_inputs
from hydrostat.mechanics.motion import Coordinates, all_nodes
from hydrostat.robots.octopus import octopus
from hydrostat.stepping import SDIRK2, KeepMomentum, Simulation, rest_state
from hydrostat.surroundings import ContactLaw, Contacts, Water

ARMS, SEGMENTS = 3, 4
OPTIONS = {"points": 1, "skin_points": 1}


@pytest.fixture(scope="module")
def both():
    """The same octopus as equal arms, and as arms that might differ."""
    spec = octopus(ARMS, SEGMENTS, pitch_deg=20.0)
    return (
        crown_model(spec, surroundings=Water(), **OPTIONS),
        free_model(spec, build_limbed(spec), surroundings=Water(), **OPTIONS),
    )


def _motion(several: bool):
    """Some motion, and activations."""
    rng = np.random.default_rng(3)
    shape = (ARMS, SEGMENTS, 3)
    q = 0.1 * rng.normal(size=shape) * [1 / 0.06, 1 / 0.06, 1.0]
    parts = q, rng.normal(size=shape), rng.normal(size=shape)
    bases = 0.1 * rng.normal(size=(3, 6))
    activation = rng.uniform(size=(ARMS, SEGMENTS, 5))

    def per_arm(values):
        return tuple(jnp.asarray(value) for value in values) if several else jnp.asarray(values)

    return [Coordinates(per_arm(q), jnp.asarray(base)) for q, base in zip(parts, bases, strict=True)], per_arm(
        activation
    )


@pytest.fixture(scope="module")
def found(both):
    """What the mechanics says of either."""

    @eqx.filter_jit
    def of(model, motion, activation):
        x, v, a = motion
        given = no_inputs(model)._replace(activation=activation)
        lacking = dynamics.residual(model, x, v, a, given)
        solved = dynamics.solve(dynamics.factor(model, x, v, 1e-3, 1e-6, given), lacking)
        _, motions = dynamics.motions_of(model, x, v, a, given)
        return {
            "residual": lacking,
            "solved": solved,
            "nodes": all_nodes(model, motions, x),
            "energy": energy(model, x, v, given),
            "momentum": momentum(model, x, v, given),
            "wrench": external_wrench(model, x, v, given),
        }

    return [of(model, *_motion(several)) for model, several in zip(both, (False, True), strict=True)]


@pytest.mark.parametrize("what", ["residual", "solved", "nodes", "energy", "momentum", "wrench"])
def test_equal_arms_are_arms(found, what):
    crown, branched = (np.concatenate([np.ravel(y) for y in jax.tree.leaves(each[what])]) for each in found)
    np.testing.assert_allclose(crown, branched, rtol=1e-10, atol=1e-10 * np.abs(branched).max())


@pytest.mark.slow
def test_momentum_stays_in_free_float():
    """Without water and weight, muscles and stretched arms move the body, and momentum stays zero to rounding."""
    spec = octopus(ARMS, SEGMENTS)
    model = crown_model(spec, gravity=(0.0, 0.0, 0.0), **OPTIONS)
    rng = np.random.default_rng(0)
    activation = jnp.asarray(0.1 * rng.uniform(size=(ARMS, SEGMENTS, 5)))
    given = no_inputs(model)._replace(activation=activation)
    rows = Simulation(model, 5e-3, KeepMomentum(SDIRK2())).run(0.2, given)
    last = jax.tree.map(lambda y: jnp.asarray(y[-1]), rows.state)
    at = given._replace(base_pose=last.base_pose)
    x, v = Coordinates(last.q, jnp.zeros(6)), Coordinates(last.v, last.base_twist)
    size = float(jnp.sqrt(2.0 * energy(model, x, v, at).kinetic * 0.25))  # of a quarter of a kilogram
    assert size > 1e-4
    assert np.abs(momentum(model, x, v, at)).max() < 1e-10 * size


def test_refusals():
    spec = octopus(ARMS, SEGMENTS)
    model = crown_model(spec, **OPTIONS)
    with pytest.raises(InputError, match="row of poses"):
        make_crown(model.arm, model.mounts[0])
    other = octopus(ARMS, SEGMENTS + 1).limbs[1]
    with pytest.raises(InputError, match="arm 2 differs from arm 1"):
        crown_model(_with(spec, other), **OPTIONS)
    around = Contacts(ContactLaw(100.0, 1.0, 0.1, 0.01))
    crowded = eqx.tree_at(lambda m: m.surroundings, model, around, is_leaf=lambda y: y is None)
    x = Coordinates(rest_state(crowded).q, jnp.zeros(6))
    given = no_inputs(crowded)
    with pytest.raises(InputError, match="takes all arms together"):
        dynamics.residual(crowded, x, x, x, given)


def _with(spec, limb):
    """The octopus with another second limb."""
    return replace(spec, limbs=(spec.limbs[0], limb, *spec.limbs[2:]))
