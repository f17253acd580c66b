"""New folders never collide, replaced files are whole, metrics keep their contract."""

import json
import math
import re
import subprocess
import sys

import numpy as np
import pytest

from hydrostat.results import check_metrics, folders, new_folder, write_json
from hydrostat.results.folders import discard_unless_recorded

RACER = """
import sys, pathlib
from hydrostat.results.folders import new_folder
print("ready", flush=True)
sys.stdin.readline()
for _ in range(100):
    print(new_folder(sys.argv[1], "run").name)
"""


def test_new_folder_counts_up(tmp_path):
    (tmp_path / "deep").mkdir()
    names = [new_folder(tmp_path / "deep" / "er", "arm-reach").name for _ in range(3)]
    assert names == ["arm-reach", "arm-reach-2", "arm-reach-3"]
    (tmp_path / "file").touch()
    assert new_folder(str(tmp_path), "file").name == "file-2"


def test_two_processes_never_share_a_folder(tmp_path):
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("\n")
        racer.stdin.flush()
    names = [name for racer in racers for name in racer.communicate(timeout=30)[0].split()]
    assert sorted(names) == sorted(["run"] + [f"run-{number}" for number in range(2, 201)])


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/tmp"])
def test_refused_names(tmp_path, name):
    message = f"`name` must be a plain folder name without slashes; got {name!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        new_folder(tmp_path, name)


def test_unwritable_directories(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        message = f"cannot create 'run' in '{path}': it is not a folder; give a writable directory"
        with pytest.raises(OSError, match=f"^{re.escape(message)}$"):
            new_folder(path, "run")
    # No user, not even root, may make folders here
    with pytest.raises(OSError, match=r"^cannot create 'run' in '/proc/self': .+; give a writable directory$"):
        new_folder("/proc/self", "run")


def test_metrics_become_plain(tmp_path):
    metrics = {
        "tip_error_mm": np.float32(0.5),
        "steps": np.int64(3),
        "reached": np.bool_(True),
        "force_N": np.array(2.0),
        "angles_deg": np.array([1.0, 2.0]),
        "contacts": (True, None, np.float64(2.0), 4),
        "settled_s": None,
    }
    plain = check_metrics(metrics)
    assert plain == {
        "tip_error_mm": 0.5,
        "steps": 3,
        "reached": True,
        "force_N": 2.0,
        "angles_deg": [1.0, 2.0],
        "contacts": [True, None, 2.0, 4],
        "settled_s": None,
    }
    assert {type(value) for value in plain.values()} == {float, int, bool, list, type(None)}
    write_json(tmp_path / "metrics.json", plain)
    assert json.loads((tmp_path / "metrics.json").read_text()) == plain
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.json"]


def test_metrics_from_jax():
    jax_numpy = pytest.importorskip("jax.numpy")
    metrics = {
        "a": jax_numpy.float32(0.5),
        "b": jax_numpy.arange(2),
        "c": jax_numpy.array(True),
        "d": [jax_numpy.ones(())],
    }
    assert check_metrics(metrics) == {"a": 0.5, "b": [0, 1], "c": True, "d": [1.0]}


@pytest.mark.parametrize(
    "value, got",
    [
        (math.nan, "nan"),
        (np.float64(np.inf), "inf"),
        ("fast", "'fast'"),
        (1j, "1j"),
        ({"a": 1}, "{'a': 1}"),
        ([1.0, math.nan], "nan at index 1"),
        ([[1.0]], "[1.0] at index 0"),
        (np.zeros((1, 2)), "[0.0, 0.0] at index 0"),
        ([1.0, np.zeros(2)], "[0.0, 0.0] at index 1"),
        (["a"], "'a' at index 0"),
    ],
)
def test_refused_metrics(value, got):
    message = f"metric 'tip_error_mm' must be a finite number, a boolean, None or a flat list of these; got {got}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_metrics({"fine": 1.0, "tip_error_mm": value})


def test_refused_metric_names():
    for name in ("", 3):
        message = f"the name of a metric must be a non-empty string; got {name!r}"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            check_metrics({name: 1.0})


@pytest.mark.parametrize("by_exchange", [True, False])
def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path, monkeypatch, by_exchange):
    if not by_exchange:
        monkeypatch.setattr(folders, "_LIBRARY", None)
    exchanged, exchange = [], folders._exchange
    monkeypatch.setattr(folders, "_exchange", lambda *paths: exchanged.append(exchange(*paths)) or exchanged[-1])
    path = tmp_path / "rows.json"
    folders.replace_file(path, b"first")
    with path.open("rb") as reader:  # who has begun to read goes on with what was there
        folders.replace_file(path, b"the ", memoryview(b"second"))
        assert reader.read() == b"first"
    assert path.read_bytes() == b"the second"
    if exchanged == [False] and by_exchange:
        pytest.skip("this file system does not exchange names")
    assert exchanged == [by_exchange]
    folders.replace_file(path, b"last", durable=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["rows.json"]
    assert path.read_bytes() == b"last"


def test_a_folder_is_not_replaced_by_a_file(tmp_path):
    path = tmp_path / "rows.json"
    path.mkdir()
    (path / "content").write_bytes(b"x")
    with pytest.raises(OSError, match="directory"):
        folders.replace_file(path, b"first")
    assert (path / "content").read_bytes() == b"x"


def test_json_is_strict_and_a_failure_keeps_the_old_file(tmp_path):
    path = tmp_path / "metrics.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, {"a": math.nan})
    assert json.loads(path.read_text()) == {"a": 1}


@pytest.mark.parametrize(("name", "stays"), [(None, False), ("00001-0000000.partial", False), ("00001-0000000", True)])
def test_a_folder_without_rows_stays_for_a_whole_checkpoint_alone(tmp_path, name, stays):
    folder = tmp_path / "out" / "run"
    (folder / "checkpoint").mkdir(parents=True)
    (folder / "committed.json").write_text('{"rows": 0}')
    if name is not None:
        (folder / "checkpoint" / name).write_bytes(b"x")
    (folder / "run.json.partial").write_text("{")
    assert discard_unless_recorded(folder, [tmp_path / "out"]) != stays
    assert (tmp_path / "out").exists() == stays
