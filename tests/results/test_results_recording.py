"""Round trips through the recorder, and what it refuses."""

import json
import math
import re
import warnings

import numpy as np
import pytest
import xarray

from hydrostat.results import Coordinate, Recorder, Variable, load
from hydrostat.results import columns as columns_module
from hydrostat.results.columns import CHUNK_BYTES, Column

VARIABLES = [
    Variable("position", ("node", "component"), (4, 3), "m", "of the nodes, in the world"),
    Variable("energy", unit="J", description="kinetic"),
]
COORDINATES = [
    Coordinate("component", ["x", "y", "z"]),
    Coordinate("node", np.linspace(0, 1, 4), "m", "arc length"),
]


def blocks_of(first: int, last: int) -> dict[str, np.ndarray]:
    rows = np.arange(first, last, dtype=float)
    return {"position": rows[:, None, None] + np.arange(12).reshape(4, 3) / 16, "energy": -rows}


def append(recorder: Recorder, first: int, last: int) -> None:
    recorder.append(np.arange(first, last) / 8, **blocks_of(first, last))


def check(dataset: xarray.Dataset, rows: int, axis: str = "time") -> None:
    np.testing.assert_array_equal(dataset[axis].values, np.arange(rows) / 8)
    for name, block in blocks_of(0, rows).items():
        np.testing.assert_array_equal(dataset[name].values, block)


def test_round_trip_with_units_and_coordinates(tmp_path):
    with Recorder(
        tmp_path / "run", VARIABLES, 20, attributes={"scenario": "reach", "dt": 0.1}, coordinates=COORDINATES
    ) as recorder:
        append(recorder, 0, 20)
    dataset = load(tmp_path / "run")
    check(dataset, 20)
    assert dataset.attrs == {"axis": "time", "scenario": "reach", "dt": 0.1, "complete": True}
    assert dataset["position"].dims == ("time", "node", "component")
    assert dataset["position"].attrs == {"units": "m", "description": "of the nodes, in the world"}
    assert dataset["time"].attrs["units"] == "s"
    assert dataset["node"].attrs == {"units": "m", "description": "arc length"}
    np.testing.assert_array_equal(dataset["node"].values, np.linspace(0, 1, 4))
    np.testing.assert_array_equal(dataset["position"].sel(component="y").values, blocks_of(0, 20)["position"][..., 1])


def test_another_record_axis(tmp_path):
    with Recorder(tmp_path, VARIABLES, 5, axis="move", axis_unit="") as recorder:
        append(recorder, 0, 5)
    dataset = load(tmp_path)
    check(dataset, 5, axis="move")
    assert dataset["energy"].dims == ("move",)
    assert dataset["move"].attrs["units"] == ""


def test_times_in_seconds_stay_numbers(tmp_path):
    with Recorder(tmp_path, [Variable("delay", unit="seconds")], 2, axis_unit="seconds") as recorder:
        recorder.append([0.0, 1.0], delay=[2.0, 3.0])
    assert load(tmp_path)["delay"].dtype == np.float64
    assert load(tmp_path)["time"].dtype == np.float64


@pytest.mark.parametrize("chunk_bytes", [CHUNK_BYTES, 2000, 1])
def test_odd_blocks_equal_the_whole(tmp_path, monkeypatch, chunk_bytes):
    monkeypatch.setattr(columns_module, "CHUNK_BYTES", chunk_bytes)
    first = 0
    with Recorder(tmp_path, VARIABLES, 203) as recorder:
        for size in (1, 2, 0, 41, 3, 100, 7, 49):
            append(recorder, first, first + size)
            first += size
            check(load(tmp_path), first)
        assert recorder.rows == first == 203
    check(load(tmp_path), 203)


def test_opens_directly_with_xarray(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Recorder(tmp_path, VARIABLES, 10, coordinates=COORDINATES) as recorder:
            append(recorder, 0, 6)
        dataset = xarray.open_zarr(tmp_path / "trajectory.zarr")
    assert dataset.sizes["time"] == 10
    check(dataset.isel(time=slice(0, 6)), 6)
    for name in ("time", "position", "energy"):
        assert dataset[name].isel(time=slice(6, None)).isnull().all()
    assert dataset["position"].attrs["units"] == "m"


def test_readable_while_being_written(tmp_path):
    recorder = Recorder(tmp_path, VARIABLES, 30)
    assert load(tmp_path).sizes["time"] == 0
    append(recorder, 0, 4)
    early = load(tmp_path)
    append(recorder, 4, 30)
    check(early, 4)
    check(load(tmp_path), 30)
    assert load(tmp_path).attrs["complete"] is False
    recorder.close()
    recorder.close()
    assert load(tmp_path).attrs["complete"] is True


@pytest.mark.parametrize(
    "total, shape", [(1, ()), (1000, ()), (1_000_000, ()), (3001, (8, 20, 6)), (10, (1000, 1000)), (7, (3,))]
)
def test_chunk_files_are_neither_tiny_nor_huge(total, shape):
    row_bytes = 8 * math.prod(shape)
    chunk_bytes = columns_module._chunk_rows(total, shape) * row_bytes
    assert chunk_bytes <= max(CHUNK_BYTES + row_bytes, row_bytes)
    assert chunk_bytes >= min(CHUNK_BYTES / 2, total * row_bytes)


def test_numbers_of_other_types(tmp_path):
    with Recorder(tmp_path, [Variable("flag"), Variable("angle", ("joint",), (2,), "rad")], 3) as recorder:
        big_endian = np.arange(6, dtype=">f4").reshape(2, 3).T
        recorder.append(range(3), flag=[True, False, True], angle=big_endian)
    np.testing.assert_array_equal(load(tmp_path)["flag"].values, [1.0, 0.0, 1.0])
    np.testing.assert_array_equal(load(tmp_path)["angle"].values, big_endian)


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
@pytest.mark.parametrize("failing_call", [0, 1, 2])
def test_failed_append_keeps_what_was_committed(tmp_path, monkeypatch, error, failing_call):
    recorder = Recorder(tmp_path, VARIABLES, 20)
    append(recorder, 0, 5)
    write, calls = Column.write, []

    def failing_write(self, start, rows):
        calls.append(self)
        if len(calls) > failing_call:
            write(self, start, rows[: len(rows) // 2] + 1000)
            raise error
        write(self, start, rows)

    with monkeypatch.context() as patch:
        patch.setattr(Column, "write", failing_write)
        with pytest.raises(type(error)):
            append(recorder, 5, 15)
    check(load(tmp_path), 5)
    assert recorder.rows == 5
    append(recorder, 5, 20)
    check(load(tmp_path), 20)


def one_line(text: str) -> str:
    return f"^{re.escape(text)}$"


@pytest.mark.parametrize(
    "times, changes, message",
    [
        (
            [0.0, 1.0],
            {"energy": np.zeros(3)},
            "'energy' must have shape (2,) to match 'time'; got (3,)",
        ),
        (
            [0.0],
            {"position": np.zeros((1, 3, 4))},
            "'position' must have shape (1, 4, 3) to match 'time'; got (1, 3, 4)",
        ),
        (0.0, {}, "the values of 'time' must be one-dimensional; got shape ()"),
        ([[0.0]], {}, "the values of 'time' must be one-dimensional; got shape (1, 1)"),
        ([0.0], {"energy": ["much"]}, "'energy' must hold real numbers; got type <U4"),
        ([0.0], {"energy": [1j]}, "'energy' must hold real numbers; got type complex128"),
        (
            [0.0],
            {"enrgy": np.zeros(1)},
            "append needs exactly the variables ['position', 'energy']; unknown ['enrgy']",
        ),
        (
            [0.0],
            {"energy": None, "power": 1, "heat": 2},
            "append needs exactly the variables ['position', 'energy']; missing ['energy']; unknown ['power', 'heat']",
        ),
        (
            np.zeros(8),
            {},
            "this recorder was made for 10 rows and holds 3; got 8 more; make it with a larger `total`",
        ),
    ],
)
def test_refused_appends(tmp_path, times, changes, message):
    recorder = Recorder(tmp_path, VARIABLES, 10)
    append(recorder, 0, 3)
    blocks = {name: block for name, block in (blocks_of(0, np.size(times)) | changes).items() if block is not None}
    with pytest.raises(ValueError, match=one_line(message)):
        recorder.append(times, **blocks)
    check(load(tmp_path), 3)


def test_closed_recorder(tmp_path):
    recorder = Recorder(tmp_path, VARIABLES, 10)
    recorder.close()
    with pytest.raises(ValueError, match=one_line("this recorder is closed; rows can be appended only before close()")):
        append(recorder, 0, 1)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"total": 0}, "`total` must be a positive number of rows; got 0"),
        ({"total": 2.5}, "`total` must be a positive number of rows; got 2.5"),
        ({"axis": "my axis"}, "the record axis must be an identifier such as tip_position; got 'my axis'"),
        (
            {"axis": "node"},
            "axis, dimensions and variables must have different names; got 'node' more than once",
        ),
        (
            {"variables": [Variable("a", ("n",), (2,)), Variable("b", ("n",), (3,))]},
            "dimension 'n' must have one size; got 2 before and 3 in 'b'",
        ),
        (
            {"variables": [Variable("a"), Variable("a")]},
            "axis, dimensions and variables must have different names; got 'a' more than once",
        ),
        (
            {"coordinates": [Coordinate("joint", [1, 2])]},
            "a coordinate's dimension must be one of ['component', 'node']; got 'joint'",
        ),
        (
            {"coordinates": [Coordinate("node", [1, 2])]},
            "the coordinate of 'node' must have 4 values; got 2",
        ),
        (
            {"coordinates": [Coordinate("node", range(4)), Coordinate("node", range(4))]},
            "dimension 'node' must have at most one coordinate; got more",
        ),
        (
            {"attributes": {"metrics": {}}},
            "`attributes` must not contain 'metrics', which is set when a result is loaded",
        ),
        (
            {"attributes": {"gap": math.nan}},
            "`attributes` must be strict JSON (no NaN, no arrays); got {'gap': nan}: "
            "Out of range float values are not JSON compliant",
        ),
    ],
)
def test_refused_recorders(tmp_path, arguments, message):
    arguments = {"variables": VARIABLES, "total": 10} | arguments
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        Recorder(tmp_path / "run", **arguments)
    assert not (tmp_path / "run").exists()


def test_never_overwrites(tmp_path):
    with Recorder(tmp_path, VARIABLES, 10) as recorder:
        append(recorder, 0, 3)
    message = f"'{tmp_path}/trajectory.zarr' exists already and is not overwritten; give a new folder"
    with pytest.raises(FileExistsError, match=one_line(message)):
        Recorder(tmp_path, VARIABLES, 10)
    check(load(tmp_path), 3)
    committed = json.loads((tmp_path / "committed.json").read_text())
    assert (committed["rows"], committed["complete"]) == (3, True)


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda: Variable("tip position"),
            "the name of a variable must be an identifier such as tip_position; got 'tip position'",
        ),
        (
            lambda: Variable("tip", ("a/b",), (3,)),
            "the dimension of 'tip' must be an identifier such as tip_position; got 'a/b'",
        ),
        (
            lambda: Variable("tip", ("a",), (0,)),
            "'tip' must have one positive size for each of its dimensions, all of different names; "
            "got dims ('a',), shape (0,)",
        ),
        (
            lambda: Variable("tip", ("a",), (3, 4)),
            "'tip' must have one positive size for each of its dimensions, all of different names; "
            "got dims ('a',), shape (3, 4)",
        ),
        (
            lambda: Variable("tip", ("a", "a"), (3, 3)),
            "'tip' must have one positive size for each of its dimensions, all of different names; "
            "got dims ('a', 'a'), shape (3, 3)",
        ),
        (lambda: Variable("tip", "node", 3), "`dims` and `shape` of 'tip' must be tuples; got 'node', 3"),
        (
            lambda: Coordinate("node", [[1.0]]),
            "the coordinate of 'node' must be a one-dimensional list of numbers or strings; "
            "got shape (1, 1), type float64",
        ),
    ],
)
def test_refused_declarations(make, message):
    with pytest.raises(ValueError, match=one_line(message)):
        make()
