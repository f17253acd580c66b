"""Arms, sections and materials: what their numbers mean."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import dblquad

from hydrostat import SE3
from hydrostat.bodies import Arm, Material, Section
from hydrostat.segments import StrainSegment


@pytest.fixture(scope="module")
def arm():
    lengths, ones = jnp.array([0.3, 0.2, 0.1]), jnp.ones(3)
    return Arm(
        segments=StrainSegment(lengths, ("bend_x", "bend_y", "stretch")),
        section=Section(jnp.array([0.03, 0.025, 0.02]), jnp.array([0.025, 0.02, 0.01])),
        material=Material(69e3 * ones, 0.5 * ones, 1070 * ones, 100 * ones),
        T_world_base=SE3.identity(),
    )


def test_counts_and_lengths(arm):
    assert (arm.count, arm.coordinates) == (3, 3)
    assert float(arm.length) == pytest.approx(0.6)
    np.testing.assert_array_equal(arm.straight(), np.zeros((3, 3)))


def test_section_tapers_linearly(arm):
    np.testing.assert_allclose(arm.section.radius(0.0), [0.03, 0.025, 0.02])
    np.testing.assert_allclose(arm.section.radius(1.0), [0.025, 0.02, 0.01])
    np.testing.assert_allclose(arm.section.radius(0.5), [0.0275, 0.0225, 0.015])


def test_area_and_second_moment_are_integrals_over_the_disc():
    section, s = Section(jnp.array(2.0), jnp.array(1.0)), 0.25
    radius = 1.75
    # In polar coordinates: y = r sin(a), area element r dr da; tolerance of the quadrature.
    area, _ = dblquad(lambda r, a: r, 0, 2 * np.pi, 0, radius)
    moment, _ = dblquad(lambda r, a: (r * np.sin(a)) ** 2 * r, 0, 2 * np.pi, 0, radius)
    assert float(section.area(s)) == pytest.approx(area, rel=1e-10)
    assert float(section.second_moment(s)) == pytest.approx(moment, rel=1e-10)


def test_shear_modulus(arm):
    # G = E / (2 (1 + nu)): a third of Young's modulus when incompressible.
    np.testing.assert_allclose(arm.material.shear_modulus, 23e3)
