"""Trajectories as labelled data: names, units, coordinates, and the way to disk and back."""

import numpy as np
import pytest
import xarray
from small_trajectories import arm_in_water, hand, octopus_on_ground

import hydrostat
from hydrostat.errors import InputError
from hydrostat.results import TrajectoryRecorder, load
from hydrostat.results.labels import QUANTITIES


@pytest.fixture(scope="module")
def arm():
    return arm_in_water()


@pytest.fixture(scope="module")
def octopus():
    return octopus_on_ground()


def test_labels_of_an_arm(arm):
    data = arm.to_xarray()
    assert data.tip.dims == ("time", "axis")
    assert list(data.axis.values) == ["x", "y", "z"]
    assert list(data.segment.values) == [1, 2]
    assert list(data.plate.values) == [0, 1, 2]
    assert list(data.muscle.values) == ["long_0", "long_90", "long_180", "long_270", "radial"]
    assert list(data.coordinate.values) == ["bend_x", "bend_y", "stretch"]
    assert set(data.data_vars) == {"tip", "plate_position", "q", "stretch", "bend", "activation", "muscle_power"}
    assert data.tip.attrs == {"units": "m", "description": "tip in the world"}
    assert data.time.attrs["units"] == "s"
    assert data.attrs["surroundings"] == "Water"
    assert float(data.tip.sel(axis="z")[-1]) == arm.tip[-1, 2]
    assert np.array_equal(data.activation.sel(muscle="radial"), arm.activation[..., 4])


def test_every_quantity_says_what_it_is():
    for one in QUANTITIES.values():
        assert one.description, one.name
        assert one.unit or one.name in ("q", "v"), one.name


def test_labels_of_an_octopus_and_the_way_to_disk_and_back(octopus, tmp_path):
    octopus.save(tmp_path / "mine", attributes={"scenario": "test"})
    back = hydrostat.load(tmp_path / "mine")
    assert back.tip.dims == ("time", "arm", "axis")
    assert list(back.arm.values) == ["arm 1", "arm 2"]
    assert back.attrs["scenario"] == "test"
    assert back.attrs["robot"] == "octopus"
    assert back.attrs["complete"] is True
    fresh = octopus.to_xarray()
    assert set(back.data_vars) == set(fresh.data_vars)
    assert {"body", "body_rotation", "held", "taken", "objects"} <= set(back.data_vars)
    for name in fresh.variables:
        assert np.array_equal(back[name].values, fresh[name].values), name
        assert back[name].attrs == fresh[name].attrs, name
    # By itself a quantity is another compiled function: the same to rounding.
    np.testing.assert_allclose(back.tip.sel(arm="arm 2"), octopus.tip[:, 1], rtol=0, atol=1e-15)
    with pytest.raises(FileExistsError, match="exists already and is not overwritten"):
        octopus.save(tmp_path / "mine")


def test_pieces_are_on_disk_as_they_come(arm, tmp_path):
    with TrajectoryRecorder(tmp_path / "run", arm.system, 21, variables=("tip", "q")) as recorder:
        recorder.append(arm[:8])
        begun = load(tmp_path / "run")
        assert begun.sizes["time"] == 8
        assert begun.attrs["complete"] is False
        recorder.append(arm[8:])
        assert recorder.rows == 21
    whole = load(tmp_path / "run")
    assert set(whole.data_vars) == {"tip", "q"}
    assert whole.attrs["complete"] is True
    assert np.array_equal(whole.tip, arm.tip)


def test_netcdf(arm, tmp_path):
    path = arm.to_netcdf(tmp_path / "arm.nc")
    with xarray.open_dataset(path, decode_times=False) as back:
        assert back.tip.dims == ("time", "axis")
        assert back.tip.attrs["units"] == "m"
        assert np.array_equal(back.plate_position, arm.points)


def test_what_shorter_arms_lack_is_not_a_number():
    trajectory = hand(unequal=True)
    data = trajectory.to_xarray()
    assert list(data.arm.values) == ["thumb", "finger"]
    assert data.plate_position.dims == ("time", "arm", "plate", "axis")
    assert data.bend.shape == (6, 2, 2)
    assert np.array_equal(data.bend.sel(arm="finger"), trajectory.bend[1])
    assert np.all(np.isnan(data.bend.sel(arm="thumb", segment=2)))
    assert not np.any(np.isnan(data.bend.sel(arm="thumb", segment=1)))


def test_unknown_names_are_refused(arm):
    with pytest.raises(InputError, match=r"^`variables` of this system must be taken from tip, .*; got 'held'$"):
        arm.to_xarray(["tip", "held"])


def test_all_there_is(arm):
    data = arm.to_xarray("all")
    assert np.allclose(data.kinetic_energy + data.elastic_energy + data.gravitational_energy, arm.energy().total)
    assert data.v.dims == ("time", "segment", "coordinate")
