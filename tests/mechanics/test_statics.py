"""Two arcs against their reference table, and what is refused; `tests/physics` has the analytic solutions."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.bodies import Arm, Material, Section
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics.robot import no_inputs, single_arm
from hydrostat.mechanics.statics import equilibrium, vibrations
from hydrostat.segments import StrainSegment

LENGTH, RADIUS, YOUNG, DENSITY = 0.6, 1e-3, 60e9, 6450.0  # the Nitinol rod of paper 001
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
    model = single_arm(rod(2, base=HORIZONTAL), points=8, lumps=[(1.0, tip_mass)])
    found = equilibrium(model)
    assert np.asarray(found.q[:, 0]) * LENGTH / 2.0 == pytest.approx(angles, abs=1e-8)
    assert vibrations(model, found.q).frequencies == pytest.approx(frequencies, rel=1e-5)


def test_bad_loads_and_places_are_refused():
    arm = rod(2)
    model = single_arm(arm, load_places=[1.0])
    with pytest.raises(InputError, match="every load must be finite; `force` is not"):
        equilibrium(model, no_inputs(model)._replace(force=jnp.full((1, 6), jnp.nan)))
    with pytest.raises(InputError, match=r"fraction from 0 to 1 of its length; got 1\.2"):
        single_arm(arm, load_places=[1.2])
    with pytest.raises(InputError, match="must not be negative; got -1"):
        single_arm(arm, lumps=[(1.0, -1.0)])
    with pytest.raises(InputError, match="`youngs_modulus` must be positive; got -1"):
        single_arm(eqx.tree_at(lambda a: a.material.youngs_modulus, arm, jnp.array([1.0, -1.0])))
    with pytest.raises(InputError, match="needs a fixed base"):
        equilibrium(single_arm(arm, free_base=True, base_mass=1.0, base_inertia=1.0))
    with pytest.raises(InputError, match="`load_steps` must be at least 1; got 0"):
        equilibrium(model, load_steps=0)
