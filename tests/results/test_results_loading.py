"""What `load` gives with metrics, and what it says about folders that are no results."""

import re

import pytest

import hydrostat
from hydrostat.results import Recorder, Variable, load, write_json


@pytest.fixture
def result(tmp_path):
    with Recorder(tmp_path / "run", [Variable("energy", unit="J")], 10) as recorder:
        recorder.append([0.0, 0.1, 0.2], energy=[1.0, 2.0, 3.0])
    return tmp_path / "run"


def test_metrics_come_with_the_result(result):
    assert "metrics" not in load(result).attrs
    write_json(result / "metrics.json", {"tip_error_mm": 0.5, "reached": True})
    assert load(str(result)).attrs["metrics"] == {"tip_error_mm": 0.5, "reached": True}
    assert hydrostat.load is load


def refuses(kind, path, message):
    with pytest.raises(kind, match=f"^{re.escape(message)}") as caught:
        load(path)
    assert "\n" not in str(caught.value)


def test_missing_folder(tmp_path):
    path = tmp_path / "nowhere"
    refuses(FileNotFoundError, path, f"no result at '{path}'; give the folder that a run has written")


def test_not_a_result(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "file"):
        refuses(ValueError, path, f"'{path}' is not a result; give a folder that contains trajectory.zarr")


def test_missing_commit(result):
    (result / "committed.json").unlink()
    refuses(ValueError, result, f"'{result}' holds no rows: its committed.json is missing, recording had not begun")


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "is damaged: it must be JSON; got Expecting value"),
        ('{"rows": 3, "comp', "is damaged: it must be JSON; got Unterminated string"),
        ("\xff", "is damaged: it must be JSON; got "),
        ("[3]", "is damaged: it must be a JSON object; got [3]"),
        ("{}", 'must be like {"rows": 10, "complete": true}; got {}'),
        ('{"rows": -1, "complete": true}', 'must be like {"rows": 10, "complete": true}; got {'),
        ('{"rows": 2.0, "complete": true}', 'must be like {"rows": 10, "complete": true}; got {'),
        ('{"rows": 2, "complete": 1}', 'must be like {"rows": 10, "complete": true}; got {'),
        ('{"rows": 11, "complete": true}', "says 11 rows; trajectory.zarr has only 10"),
    ],
)
def test_damaged_commit(result, text, message):
    (result / "committed.json").write_text(text, encoding="latin-1")
    refuses(ValueError, result, f"'{result}/committed.json' {message}")


def test_damaged_metrics(result):
    (result / "metrics.json").write_text("{")
    refuses(ValueError, result, f"'{result}/metrics.json' is damaged: it must be JSON; got ")


@pytest.mark.parametrize("text", ["", "{", "{}", '{"zarr_format": 3, "node_type": "group", "attributes": {}}'])
def test_damaged_trajectory(result, text):
    (result / "trajectory.zarr" / "zarr.json").write_text(text)
    file = "" if text.startswith('{"') or text == "{}" else "/zarr.json"
    refuses(ValueError, result, f"'{result}/trajectory.zarr{file}' is damaged")


def test_empty_trajectory(result):
    (result / "trajectory.zarr" / "zarr.json").unlink()
    refuses(ValueError, result, f"'{result}/trajectory.zarr' is damaged or was not written by hydrostat: ")
