"""The pilot of a swimming vehicle: what it asks of the fins, what it refuses, and loads and tensions of one limb."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.control import FinAllocation, LimbSchedule, SmoothSchedule, VehiclePilot
from hydrostat.control.fin_allocation import _means
from hydrostat.errors import InputError
from hydrostat.sensing import observe

DENSITY = jnp.asarray(1025.0)


@pytest.fixture(scope="module")
def allocation():
    return FinAllocation.of(hs.robots.squid_fins(), DENSITY)


@pytest.fixture(scope="module")
def sea():
    return hs.System(hs.robots.squid_vehicle(arms=[2]), [hs.Water(1025.0, added_mass=1.0), hs.robots.squid_fins()])


@pytest.mark.parametrize(("axis", "size"), [(0, 2.0), (1, 1.0), (2, 1.0), (3, 6.0), (4, 5.0), (5, -8.0)])
def test_amplitudes_make_the_wrench_that_is_asked_for(allocation, axis, size):
    wrench = np.zeros(6)
    wrench[axis] = size
    amplitudes = allocation(jnp.asarray(wrench))
    made = np.asarray(_means(hs.robots.squid_fins(), DENSITY, amplitudes[None])[0])
    # Tables of 13 amplitudes, linear in between, and levers of one amplitude. Roll and sway need waves as well, to keep
    # the bow, which make the flaps on the same sections weaker.
    mixed = axis in (2, 4)
    assert made[axis] == pytest.approx(size, rel=0.5 if mixed else 0.05)
    np.testing.assert_allclose(np.delete(made, axis), 0.0, atol=(0.3 if mixed else 0.1) * abs(size))


def test_the_limits_of_the_fins_are_those_of_their_largest_amplitudes(allocation):
    for axis in range(6):
        wrench = np.zeros(6)
        wrench[axis] = float(allocation.most[axis])
        largest = np.abs(np.asarray(allocation(jnp.asarray(wrench)))).max()
        assert largest == pytest.approx(float(hs.robots.squid_fins().most), rel=1e-6)


def asked(sea, pilot, shift=(0.0, 0.0, 0.0), turn=0.0):
    """The wrench that a pilot asks for at the start, from a place beside it."""
    running = pilot.attach(sea, 5e-3)
    state = sea.rest()
    c, s = np.cos(turn), np.sin(turn)
    R = jnp.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ state.base_pose.rotation
    state = state._replace(base_pose=hs.SE3(R, state.base_pose.position + jnp.asarray(shift)))
    observation = jax.jit(observe, static_argnums=4)(sea, state, hs.Control(), 5e-3, False)
    memory = running.init(observation)
    memory = memory._replace(target=sea.robot.T_world_body.position, heading=jnp.zeros(()))
    return np.asarray(eqx.filter_jit(running)(0.0, observation, memory)[1].wrench)


def test_the_pilot_pulls_back_to_its_place_and_heading_and_bears_the_weight(sea):
    pilot = VehiclePilot(np.asarray(sea.robot.T_world_body.position)[None], heading=0.0)
    # The body's axes: x down, y to port, z ahead.
    at_place = asked(sea, pilot)
    lift = 1025.0 * 9.81 * float(sea.robot.body.volume) - 9.81 * float(sea.robot.base_inertia[3])
    limb = 9.81 * float(jnp.sum(sea.robot.each[0].inertia[..., 3])) * (1025.0 / 1070.0 - 1.0)
    np.testing.assert_allclose(at_place, [0.0, 0.0, 0.0, lift + limb, 0.0, 0.0], atol=1e-9)
    for shift, axis in (((0.1, 0.0, 0.0), 5), ((0.0, 0.1, 0.0), 4)):
        assert (asked(sea, pilot, shift) - at_place)[axis] < -3.0
    assert (asked(sea, pilot, (0.0, 0.0, 0.1)) - at_place)[3] > 3.0
    # Turned to port, which is about the body's -x, it asks for a moment about its x.
    assert asked(sea, pilot, turn=0.2)[0] > 1.0


def test_what_a_pilot_cannot_follow_or_drive_is_refused(sea):
    for wrong in ([], [(0.0, 0.0)], [(0.0, 0.0, np.nan)]):
        with pytest.raises(InputError, match="`waypoints` must be rows of three finite numbers"):
            VehiclePilot(wrong)
    with pytest.raises(InputError, match="`speed` must be"):
        VehiclePilot([(1.0, 0.0, 0.0)], speed=0.0)
    still = hs.System(sea.robot, [hs.Water()])
    with pytest.raises(InputError, match="`VehiclePilot` needs `Fins`"):
        VehiclePilot([(1.0, 0.0, 0.0)]).attach(still, 5e-3)


def test_a_limbs_schedule_drives_that_limb_alone(sea):
    two = hs.System(hs.robots.squid_vehicle(arms=[0, 2], load_places=[1.0]), [hs.Water()])
    rise = SmoothSchedule([0.0], [1.0], [[0.0, 0.0, 5.0]])
    control = LimbSchedule("camera", force=rise).attach(two, 5e-3).control(2.0)
    np.testing.assert_allclose(control.load[0], 0.0)
    np.testing.assert_allclose(control.load[1], [[0.0, 0.0, 0.0, 0.0, 0.0, 5.0]])
    with pytest.raises(InputError, match="`limb` must be one of grasper, camera"):
        LimbSchedule("tail", force=rise).attach(two, 5e-3)
    with pytest.raises(InputError, match="has no place for loads"):
        LimbSchedule("camera", force=rise).attach(sea, 5e-3)
