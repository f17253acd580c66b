"""Equilibria and small vibrations against analytic solutions and reference tables."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.bodies import Arm, Material, Section
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.model import make_model, no_inputs
from hydrostat.mechanics.statics import equilibrium, vibrations
from hydrostat.segments import StrainSegment

LENGTH, RADIUS, YOUNG, DENSITY = 0.6, 1e-3, 60e9, 6450.0  # the Nitinol rod of paper 001
EI = YOUNG * np.pi / 4.0 * RADIUS**4
HORIZONTAL = SE3(jnp.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), jnp.zeros(3))


def rod(count, modes=("bend_y",), base=None):
    material = (YOUNG, 0.3, DENSITY, 0.0)
    return Arm(
        StrainSegment(jnp.full(count, LENGTH / count), modes),
        Section(jnp.full(count, RADIUS), jnp.full(count, RADIUS)),
        Material(*(jnp.full(count, value) for value in material)),
        SE3.identity() if base is None else base,
    )


@pytest.mark.parametrize(
    ("tip_mass", "angles", "frequencies"),
    # Two arcs of 0.3 m, horizontal clamp: the reference table, by quadrature.
    [
        (0.0, (0.13203461, 0.01879265), (2.50835, 25.3377)),
        (0.02, (0.58286381, 0.15945156), (1.04931, 13.5235)),
        (0.05, (0.93191350, 0.22825346), (0.89291, 9.4885)),
        (0.1, (1.19352587, 0.21927388), (0.83242, 7.1154)),
    ],
)
def test_two_arcs_sag_and_vibrate_as_the_reference(tip_mass, angles, frequencies):
    model = make_model(rod(2, base=HORIZONTAL), points=8, lumps=[(1.0, tip_mass)])
    found = equilibrium(model)
    assert np.asarray(found.q[:, 0]) * LENGTH / 2.0 == pytest.approx(angles, abs=1e-8)
    assert vibrations(model, found.q).frequencies == pytest.approx(frequencies, rel=1e-5)


def test_a_tip_moment_bends_the_rod_to_a_circle():
    model = make_model(rod(10), gravity=(0.0, 0.0, 0.0), load_places=[1.0])
    for turns in (0.25, 1.0, 2.0):
        moment = jnp.array([[0.0, 2.0 * np.pi * turns * EI / LENGTH, 0.0, 0.0, 0.0, 0.0]])
        found = equilibrium(model, no_inputs(model)._replace(follower=moment))
        angle = 2.0 * np.pi * turns
        tip = kinematics.tip_pose(model.arm, found.q).position
        exact = LENGTH / angle * np.array([1.0 - np.cos(angle), 0.0, np.sin(angle)])
        # Curvature is constant, which the segments hold exactly.
        assert np.asarray(tip) == pytest.approx(exact, abs=1e-12)


def test_tip_force_converges_to_bisshopp_and_drucker():
    exact = np.array([0.4934574804, 0.0, 0.8393582792])  # P L^2 / EI = 2
    errors = []
    for count in (5, 10, 20):
        model = make_model(rod(count), gravity=(0.0, 0.0, 0.0), load_places=[1.0])
        force = jnp.array([[0.0, 0.0, 0.0, 2.0 * EI / LENGTH**2, 0.0, 0.0]])
        found = equilibrium(model, no_inputs(model)._replace(force=force))
        errors.append(np.linalg.norm(kinematics.tip_pose(model.arm, found.q).position / LENGTH - exact))
    # Piecewise constant curvature that balances moments on average: second order in the number of segments.
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert slopes == pytest.approx([2.0, 2.0], abs=0.1)
    assert errors[-1] < 3e-4


def test_buckling_load_and_branch():
    count = 16
    model = make_model(rod(count), gravity=(0.0, 0.0, 0.0), load_places=[1.0])
    critical = np.pi**2 / 4.0 * EI / LENGTH**2

    def pressed(share):
        force = jnp.array([[0.0, 0.0, 0.0, 0.0, 0.0, -share * critical]])
        return no_inputs(model)._replace(force=force)

    straight = equilibrium(model, pressed(1.5)).q
    assert np.asarray(straight) == pytest.approx(0.0, abs=1e-12)
    # Below the critical load the straight rod is stable, above it is not; the discretisation shifts it by 1 / n^2.
    assert vibrations(model, straight, pressed(0.99)).frequencies[0] > 0.0
    assert vibrations(model, straight, pressed(1.01)).frequencies[0] < 0.0
    # Leaning to one side it finds the buckled branch: tip angle 100 degrees at 1.51838879 of the critical load.
    lean = jnp.full((count, 1), 1.0 / LENGTH)
    buckled = equilibrium(model, pressed(1.51838879), q=lean)
    angle = float(jnp.sum(buckled.q) * LENGTH / count)
    assert np.rad2deg(abs(angle)) == pytest.approx(100.0, abs=1.0)  # to whichever side


def test_bad_loads_and_places_are_refused():
    arm = rod(2)
    model = make_model(arm, load_places=[1.0])
    with pytest.raises(InputError, match="every load must be finite; `force` is not"):
        equilibrium(model, no_inputs(model)._replace(force=jnp.full((1, 6), jnp.nan)))
    with pytest.raises(InputError, match=r"fraction from 0 to 1 of its length; got 1\.2"):
        make_model(arm, load_places=[1.2])
    with pytest.raises(InputError, match="must not be negative; got -1"):
        make_model(arm, lumps=[(1.0, -1.0)])
    with pytest.raises(InputError, match="`youngs_modulus` must be positive; got -1"):
        make_model(eqx.tree_at(lambda a: a.material.youngs_modulus, arm, jnp.array([1.0, -1.0])))
    with pytest.raises(InputError, match="needs a fixed base"):
        equilibrium(make_model(arm, free_base=True, base_mass=1.0, base_inertia=1.0))
    with pytest.raises(InputError, match="`load_steps` must be at least 1; got 0"):
        equilibrium(model, load_steps=0)
