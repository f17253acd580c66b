"""Tendons of soft limbs: from lengths and tensions to arcs, and back, against statics and by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import nnls

import hydrostat as hs
from hydrostat.actuation import (
    arcs_of,
    coordinates_of,
    least_pull,
    shape_from_tendon_lengths,
    shape_under_lengths,
    shape_under_tensions,
    tensions_for_shape,
)
from hydrostat.compiling import quick_jit
from hydrostat.errors import InputError
from hydrostat.mechanics import equilibrium, no_inputs
from hydrostat.robots.build import build_robot
from hydrostat.robots.spec import MaterialSpec, RobotSpec, SegmentSpec, TendonSpec
from hydrostat.segments import Arc
from hydrostat.system import System

MODES = ("bend_x", "bend_y", "stretch")
NO_WEIGHT = (0.0, 0.0, 0.0)
SEA = (0.0, 0.0, -9.81 * (1.0 - 1025.0 / 1070.0))


def cone_with_converging_tendons():
    """A limb whose tendons come nearer to the axis, so that their lengths are not linear in the bends."""
    material = MaterialSpec(youngs_modulus=69e3, density=1070.0)
    segments = SegmentSpec(0.6, (0.03, 0.01), MODES).pieces(2)
    tendons = tuple(TendonSpec(a, (0.02, 0.02 - 0.006 * end), end) for end in (1, 2) for a in (0.0, 90.0, 180.0, 270.0))
    return build_robot(RobotSpec("cone", segments, material, tendons=tendons))


LIMBS = {
    "grasper": lambda: hs.robots.squid_limb("grasper", tendons="segments"),
    "camera": lambda: hs.robots.squid_limb("camera"),
    "cone": cone_with_converging_tendons,
}


def arcs(count, seed):
    """Arcs of all azimuths, to both sides of straight, shorter and longer than at rest."""
    rng = np.random.default_rng(seed)
    theta = rng.uniform(0.0, 1.6, (200, count)) * (rng.uniform(size=(200, count)) > 0.1)
    length = 0.6 / count * rng.uniform(0.95, 1.02, (200, count))
    return Arc(*map(jnp.asarray, (theta, rng.uniform(-np.pi, np.pi, (200, count)), length)))


def under(limb, gravity):
    """The limb in a gravity."""
    return System(limb, gravity=gravity).robot


def rest_under(limb, tension, start=None):
    """Where statics has a limb rest; always in as many load steps, so that one compilation serves."""
    start = limb.one.rest if start is None else start
    return equilibrium(limb, no_inputs(limb)._replace(wires=tension), start, load_steps=4).q


@pytest.mark.parametrize("name", LIMBS)
def test_lengths_of_taut_tendons_give_the_arcs_back(name):
    limb = LIMBS[name]()
    given = arcs(limb.arm.count, 1)

    @quick_jit
    @jax.vmap
    def back_and_forth(arc):
        q = coordinates_of(limb.arm, arc)
        found = shape_from_tendon_lengths(limb.arm, limb.tendons, limb.tendons.lengths(limb.arm, q))
        return q, found, arcs_of(limb.arm, found)

    q, found, again = back_and_forth(given)
    np.testing.assert_allclose(found, q, atol=1e-9)
    np.testing.assert_allclose(again.theta, given.theta, atol=1e-9)
    np.testing.assert_allclose(again.length, given.length, atol=1e-10)


def test_by_hand_a_tendon_towards_the_bend_is_shorter_by_offset_times_angle():
    limb = hs.robots.squid_limb("camera")
    q = shape_from_tendon_lengths(limb.arm, limb.tendons, jnp.array([0.59 - 0.007, 0.59, 0.59 + 0.007, 0.59]))
    arc = arcs_of(limb.arm, q)
    np.testing.assert_allclose([arc.theta[0], arc.phi[0], arc.length[0]], [1.0, 0.0, 0.59], atol=1e-12)


def test_tendons_to_the_tip_alone_do_not_say_what_two_segments_do():
    limb = hs.robots.squid_limb("grasper")
    with pytest.raises(InputError, match="4 tendons do not say what 2 segments do"):
        shape_from_tendon_lengths(limb.arm, limb.tendons, jnp.full(4, 0.59))
    arm = hs.robots.tentacle()
    with pytest.raises(InputError, match="need the modes bend_x, bend_y, stretch"):
        shape_from_tendon_lengths(arm.arm, arm.tendons, jnp.full(9, 0.3))
    with pytest.raises(InputError, match="`tendons` must be one of tip, segments; got 'base'"):
        hs.robots.squid_limb("grasper", tendons="base")


@pytest.mark.parametrize("name", [*LIMBS, "paper's grasper"])
def test_tensions_without_weight_give_the_equilibrium_of_statics(name):
    limb = hs.robots.squid_limb("grasper", pieces=3) if name == "paper's grasper" else LIMBS[name]()
    limb = under(limb, NO_WEIGHT)
    tension = jnp.asarray(np.random.default_rng(2).uniform(0.0, 0.8, len(limb.tendons.ends_at)))
    truth = rest_under(limb, tension)
    np.testing.assert_allclose(shape_under_tensions(limb, tension).q, truth, atol=1e-9)


def test_a_tendon_bends_the_cone_by_its_moment_over_the_stiffness():
    # The closed form of the reference tables: theta = T e times the integral of ds / EI, and T times that of ds / EA.
    # Even pieces are off by second order in their size; two sizes leave the fourth.
    found = []
    for pieces in (40, 80):
        limb = under(hs.robots.squid_limb("camera", pieces=pieces), NO_WEIGHT)
        arc = shape_under_tensions(limb, jnp.array([0.0, 1.0, 0.0, 0.0])).arc
        np.testing.assert_allclose(arc.phi, np.pi / 2, atol=1e-12)
        found.append(np.array([jnp.sum(arc.theta), 0.6 - jnp.sum(arc.length)]))
    limit = (4.0 * found[1] - found[0]) / 3.0
    np.testing.assert_allclose(limit, [0.007 * 177.693119501, 9.226373513e-3], rtol=1e-5)


@pytest.mark.parametrize("name", [*LIMBS, "paper's grasper"])
def test_lengths_find_the_tensions_that_made_them(name):
    limb = hs.robots.squid_limb("grasper", pieces=3) if name == "paper's grasper" else LIMBS[name]()
    limb, count = under(limb, NO_WEIGHT), len(limb.tendons.ends_at)
    tension = jnp.asarray(np.random.default_rng(3).uniform(0.1, 0.8, count))
    shape, compliance = shape_under_tensions(limb, tension), 1e-4
    pulled = limb.tendons.lengths(limb.arm, shape.q) - compliance * tension
    found = shape_under_lengths(limb, pulled, compliance)
    np.testing.assert_allclose(found.tension, tension, atol=1e-6)
    np.testing.assert_allclose(found.q, shape.q, atol=1e-8)


def test_a_tendon_that_would_have_to_push_is_slack():
    limb = under(hs.robots.squid_limb("camera", pieces=4), NO_WEIGHT)
    straight = limb.tendons.lengths(limb.arm, limb.arm.straight())
    found = shape_under_lengths(limb, straight + jnp.array([-0.01, 0.05, 0.05, 0.05]))
    assert found.tension[0] > 0.1
    np.testing.assert_allclose(found.tension[1:], 0.0, atol=1e-12)
    one = shape_under_tensions(limb, found.tension)
    np.testing.assert_allclose(limb.tendons.lengths(limb.arm, one.q)[0], straight[0] - 0.01, atol=1e-6)


def test_the_papers_tendons_bend_both_segments_of_a_limb_to_the_same_side():
    limb = under(hs.robots.squid_limb("grasper"), NO_WEIGHT)
    straight = jnp.full(4, 0.6)
    arc = shape_under_lengths(limb, straight + jnp.array([-0.01, -0.004, 0.01, 0.004])).arc
    np.testing.assert_allclose(arc.phi[0], arc.phi[1], atol=1e-9)
    assert arc.theta[1] > 3.0 * arc.theta[0] > 0.0  # the outer half is the softer one


@pytest.mark.parametrize("gravity", [NO_WEIGHT, SEA], ids=["no weight", "sea"])
@pytest.mark.parametrize("name", LIMBS)
def test_tensions_for_a_shape_hold_it_in_statics(name, gravity):
    limb = under(LIMBS[name](), gravity)
    # A shape that pulling can hold: one that other tensions hold.
    tension = jnp.asarray(np.random.default_rng(4).uniform(0.2, 0.8, len(limb.tendons.ends_at)))
    q = rest_under(limb, tension)
    pull = tensions_for_shape(limb, q, least=jnp.zeros_like(tension))
    assert np.all(pull.tension >= 0.0)
    np.testing.assert_allclose(pull.lack, 0.0, atol=1e-6)
    again = rest_under(limb, pull.tension, q)
    np.testing.assert_allclose(again, q, atol=1e-5)
    assert jnp.sum(pull.tension**2) <= jnp.sum(tension**2) * (1.0 + 1e-6)
    more = tensions_for_shape(limb, q, least=jnp.full_like(tension, 0.1)).tension
    assert np.all(more >= 0.1)


def test_what_pulling_cannot_do_is_said():
    # A bend at full length needs a push along the axis.
    limb = under(hs.robots.squid_limb("camera"), NO_WEIGHT)
    pull = tensions_for_shape(limb, jnp.array([[0.0, 1.0, 0.0]]))
    assert pull.tension[0] > 0.1
    np.testing.assert_allclose(pull.tension[1:], 0.0, atol=1e-9)
    assert abs(float(pull.lack[0, 1])) < 1e-2  # 1/m: the bend is there
    assert float(pull.lack[0, 2]) > 0.005  # and the limb is shorter than asked for


def test_the_least_pull_is_that_of_scipy():
    rng, compiled = np.random.default_rng(5), quick_jit(least_pull)
    for _ in range(30):
        A, b = rng.normal(size=(12, 8)), rng.normal(size=12)
        found = compiled(jnp.asarray(A.T @ A), jnp.asarray(A.T @ b))
        np.testing.assert_allclose(found, nnls(A, b)[0], atol=1e-8)
