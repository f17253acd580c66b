"""Plans that wrap a limb around a bar: where it touches, how hard its tendons pull, and what is out of reach."""

import jax.numpy as jnp
import numpy as np
import pytest

from hydrostat.control import plan_wrap
from hydrostat.control.wrapping import bending_tension
from hydrostat.errors import UnsolvedError
from hydrostat.mechanics import kinematics
from hydrostat.robots import limb_on_body
from hydrostat.robots.specs import squid as squid_specs
from hydrostat.surroundings import Capsule

LEAST, RADIUS, MIDDLE = 0.1, 0.034, np.array([0.22, 0.085, -0.285])


@pytest.fixture(scope="module")
def grasper():
    squid = squid_specs.squid(tendons="segments")
    return limb_on_body(squid, squid.limb("grasper").arm.cut(4), squid_specs.limb_gravity())


def bar(middle):
    across = np.array([0.0, 0.1, 0.0])
    return Capsule(a=middle - across, b=middle + across, radius=RADIUS)


def test_the_tension_that_bends_is_that_of_a_beam(grasper):
    # 450 mm from the base the limb is 15 mm thick: E I = 69 kPa pi r^4 / 4, at 7 mm from the axis, to 50 mm.
    assert bending_tension(grasper, 0.45, 0.05) == pytest.approx(69e3 * np.pi / 4.0 * 0.015**4 / (0.007 * 0.05))


def test_the_limb_is_beside_the_bar_and_then_would_pass_through_it(grasper):
    plan = plan_wrap(grasper, bar(MIDDLE), np.deg2rad(120.0), least=LEAST)
    assert plan.miss < 0.01
    ends, radii = [], np.interp(np.linspace(0.0, 1.0, 9), [0.0, 1.0], squid_specs.RADII)
    for one in (plan.beside, plan.around):
        assert one.tension.min() >= LEAST - 1e-12
        ends.append(np.asarray(kinematics.segment_poses(grasper.arm, jnp.asarray(one.q)).position))
    gaps = [np.hypot(*(end - MIDDLE)[:, [0, 2]].T) - radii - RADIUS for end in ends]
    # Beside the bar nothing touches it, and the planned segment's end is off by 25 mm.
    assert gaps[0].min() > 0.01
    assert gaps[0][plan.segment] == pytest.approx(0.025, abs=0.01)
    # The pull around it brings the end of the limb to where the bar is: there it presses.
    assert gaps[1].min() < 0.0
    # The tendon that pulls towards the bar is the one below; the others to the tip stay as they are.
    np.testing.assert_allclose(plan.around.tension[4:], [plan.tension, LEAST, LEAST, LEAST], atol=0.1)


@pytest.mark.slow
def test_a_bar_out_of_reach_is_refused(grasper):
    with pytest.raises(UnsolvedError, match="beside the bar"):
        plan_wrap(grasper, bar(np.array([0.75, 0.085, -0.1])), np.deg2rad(120.0), least=LEAST)
