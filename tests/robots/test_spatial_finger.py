"""The finger with three cables bends to where they pull, by the closed form, and in its plane as the planar one."""

import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.errors import InputError
from hydrostat.robots import build_robot
from hydrostat.robots.checks import check_closing_finger
from hydrostat.robots.specs.finger import RADIUS, TENDON_OFFSET, YOUNGS_MODULUS, finger, finger_spatial

PULL = 5.0  # N
CURVATURE = PULL * TENDON_OFFSET / (YOUNGS_MODULUS * np.pi * RADIUS**4 / 4.0)
CASES = [
    ((PULL, 0.0, 0.0), 0.0),
    ((0.0, PULL, 0.0), 120.0),
    ((0.0, PULL, PULL), 180.0),  # two of three pull between them, as strongly as one
]


def at_rest(spec, tension, gravity):
    """The coordinates at rest under tensions, and the tip."""
    system = hs.System(build_robot(spec), gravity=(0.0, 0.0, -gravity))
    rest = hs.equilibrium(system, hs.Control(tension=jnp.array(tension)))
    return np.asarray(rest.state.q), np.asarray(rest.tip)


@pytest.mark.parametrize("tension, azimuth_deg", CASES)
def test_it_bends_to_where_its_cables_pull(tension, azimuth_deg):
    q, tip = at_rest(finger_spatial(), tension, 0.0)
    # Azimuth 0 of the section points down, and 90 degrees along the world's y.
    away = (np.rad2deg(np.arctan2(tip[1], -tip[2])) - azimuth_deg + 180.0) % 360.0 - 180.0
    assert away == pytest.approx(0.0, abs=1e-6)
    assert np.linalg.norm(q, axis=1) == pytest.approx(CURVATURE, rel=1e-6)


def test_equal_pulls_do_not_bend_it():
    q, _ = at_rest(finger_spatial(), (PULL, PULL, PULL), 0.0)
    assert np.max(np.abs(q)) <= 1e-9 * CURVATURE


def test_in_its_plane_it_is_the_planar_finger():
    planar, _ = at_rest(finger(tip_mass=0.02), (PULL, 0.0), 9.81)
    spatial, _ = at_rest(finger_spatial(tip_mass=0.02), (PULL, 0.0, 0.0), 9.81)
    np.testing.assert_allclose(spatial[:, 1], planar[:, 0], rtol=1e-7)
    assert np.max(np.abs(spatial[:, 0])) <= 1e-9 * np.max(np.abs(planar))


def test_what_cannot_close_is_refused():
    check_closing_finger(finger_spatial())
    check_closing_finger(finger())
    with pytest.raises(InputError, match="the mode bend_y, and maybe bend_x; got stretch in segment 1"):
        check_closing_finger(finger(modes=("stretch",)))
    with pytest.raises(InputError, match="needs a tendon at azimuth 0 that ends at segment 2"):
        check_closing_finger(finger(azimuths_deg=(90.0, 180.0)))
