"""What is written as a Zarr group is what the package of that name writes and reads."""

import json

import numpy as np
import pytest
import xarray
import zarr

from hydrostat.results.columns import create_trajectory
from hydrostat.results.variables import Coordinate, Variable

NAMES = ["bend_x", "größe", "", "a longer name"]
COORDINATES = [
    Coordinate("word", np.array(NAMES), "", "names"),
    Coordinate("place", [0.0, 0.5, np.pi], "m", "places"),
    Coordinate("number", np.arange(1, 6), "", "numbers"),
    Coordinate("unsigned", np.arange(2, dtype=np.uint64), "", "whole numbers"),
    Coordinate("flag", np.array([True, False]), "", "flags"),
]
DIMS = tuple((one.dim, len(one.values)) for one in COORDINATES)
VARIABLES = [
    Variable("speed", unit="m/s", description="a number a row"),
    *(Variable(f"of_{dim}", (dim,), (size,), "1", "one for each") for dim, size in DIMS),
]
AXIS = Variable("time", unit="s")
ATTRIBUTES = {"axis": "time", "robot": "größer", "more": {"a": [1, 2.5, None]}}


@pytest.fixture
def group(tmp_path):
    create_trajectory(tmp_path / "a", 100, axis=AXIS, variables=VARIABLES, coordinates=COORDINATES,
                      attributes=ATTRIBUTES)  # fmt: skip
    return tmp_path / "a"


@pytest.mark.parametrize("consolidated", [True, False])
def test_zarr_reads_it(group, consolidated):
    found = zarr.open_group(group, mode="r", use_consolidated=consolidated)
    assert dict(found.attrs) == ATTRIBUTES
    assert set(found.array_keys()) == {"time"} | {one.name for one in VARIABLES} | {one.dim for one in COORDINATES}
    for one in COORDINATES:
        values = found[one.dim][:]
        np.testing.assert_array_equal(values, one.values)
        assert found[one.dim].attrs["units"] == one.unit
    assert found["of_word"].shape == (100, 4)
    assert np.isnan(found["of_word"][:]).all()


def test_xarray_reads_it(group):
    found = xarray.open_zarr(group, consolidated=True, chunks=None, decode_cf=False)
    assert found["of_place"].dims == ("time", "place")
    assert list(found["word"].values) == NAMES
    assert found["speed"].attrs == {"units": "m/s", "description": "a number a row"}


def test_its_descriptions_are_those_of_zarr(group, tmp_path):
    theirs = zarr.create_group(tmp_path / "b", attributes=ATTRIBUTES)
    options = {"chunk_key_encoding": {"name": "default", "separator": "."}, "compressors": None, "filters": None}
    for one in (AXIS, *VARIABLES):
        made = zarr.open_group(group, mode="r")[one.name]
        theirs.create_array(one.name, shape=made.shape, chunks=made.chunks, dtype="<f8", fill_value=np.nan,
                            dimension_names=("time", *one.dims),
                            attributes={"units": one.unit, "description": one.description}, **options)  # fmt: skip
    for one in COORDINATES:
        kind = "str" if one.values.dtype.kind == "U" else one.values.dtype
        fill = np.nan if one.values.dtype.kind == "f" else None
        theirs.create_array(one.dim, shape=one.values.shape, dtype=kind, fill_value=fill, dimension_names=(one.dim,),
                            attributes={"units": one.unit, "description": one.description}, **options)[:] = (
            one.values)  # fmt: skip
    with pytest.warns(UserWarning, match="Consolidated"):
        zarr.consolidate_metadata(tmp_path / "b")
    for path in sorted((tmp_path / "b").rglob("zarr.json")):
        ours = group / path.relative_to(tmp_path / "b")
        assert json.loads(ours.read_text()) == json.loads(path.read_text()), path
    for one in COORDINATES:
        name = f"{one.dim}/c.0"
        assert (group / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
