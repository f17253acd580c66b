"""A result that is damaged says so in one line: a missing or changed chunk is named, and never read as NaN."""

import json
import os
import shutil

import numpy as np
import pytest

import hydrostat
from hydrostat.cli import main
from hydrostat.errors import InputError
from hydrostat.results import Recorder, Variable, columns
from hydrostat.results.checking import check_result
from hydrostat.results.folders import resuming

ROWS = 90
VARIABLES = [Variable("tip", ("component",), (3,), "m", "tip")]


def record(folder, rows, begin=0, close=True, total=100):
    """Write rows in blocks of seven; chunks hold fewer rows than all."""
    recorder = Recorder(folder, VARIABLES, total)
    for first in range(begin, rows, 7):
        times = np.arange(first, min(first + 7, rows), dtype=float)
        recorder.append(times, tip=np.outer(times, [1.0, 2.0, 3.0]))
    if close:
        recorder.close()


@pytest.fixture
def result(tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "CHUNK_BYTES", 400)
    record(tmp_path / "run", ROWS)
    return tmp_path / "run"


def chunk(result, number=2):
    return result / "trajectory.zarr" / "tip" / f"c.{number}.0"


def edit(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def flip(path, place=3):
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def array(content, name="tip"):
    return content["consolidated_metadata"]["metadata"][name]


def metadata(result, change, sums=True):
    """Change the metadata, and its checksum as well, so that the metadata itself is looked at."""
    edit(result / "trajectory.zarr" / "zarr.json", change)
    if sums:
        edit(result / "committed.json", lambda content: content["files"].pop("zarr.json"))


def without(result, pattern):
    for path in (result / "trajectory.zarr" / "tip").glob(pattern):
        path.unlink()


def replaced_by_folder(path):
    path.unlink()
    path.mkdir()


def replaced_by_pipe(path):
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def replaced_by_endless(path):
    path.unlink()
    path.symlink_to("/dev/zero")


DAMAGES = {
    "commit is a pipe": (lambda r: replaced_by_pipe(r / "committed.json"), "it is a pipe or a device"),
    "commit has no end": (lambda r: replaced_by_endless(r / "committed.json"), "it is a pipe or a device"),
    "metrics are a pipe": (lambda r: replaced_by_pipe(r / "metrics.json"), "it is a pipe or a device"),
    "metadata is a pipe": (lambda r: replaced_by_pipe(r / "trajectory.zarr" / "zarr.json"), "it is a pipe or a device"),
    "a file is a pipe": (lambda r: replaced_by_pipe(chunk(r).parent / "zarr.json"), "it is a pipe or a device"),
    "a chunk is a pipe": (lambda r: replaced_by_pipe(chunk(r)), "chunk 2 of 'tip' could not be read: it is a pipe"),
    "a chunk is missing": (lambda r: chunk(r).unlink(), "chunk 2 of 'tip' is missing"),
    "a bit is flipped": (lambda r: flip(chunk(r)), "chunk 2 of 'tip' has been changed"),
    "a bit of the axis": (lambda r: flip(r / "trajectory.zarr" / "time" / "c.0"), "chunk 0 of 'time' has been"),
    "a chunk is cut off": (lambda r: chunk(r).write_bytes(b"123"), "chunk 2 of 'tip' must be of"),
    "a chunk is a folder": (lambda r: replaced_by_folder(chunk(r)), "chunk 2 of 'tip' could not be read: Is a dir"),
    "all chunks are missing": (lambda r: without(r, "c.*"), "chunk 0 of 'tip' is missing"),
    "an array is missing": (lambda r: shutil.rmtree(chunk(r).parent), "'tip/zarr.json' is missing"),
    "metadata changed": (lambda r: metadata(r, lambda c: array(c)["shape"].reverse(), sums=False), "is damaged"),
    "a huge shape": (lambda r: metadata(r, lambda c: array(c).update(shape=[10**30, 3])), "which none has"),
    "a huge row": (lambda r: metadata(r, lambda c: array(c).update(shape=[100, 10**30])), "which none has"),
    "chunks of other names": (
        lambda r: metadata(r, lambda c: array(c)["chunk_key_encoding"]["configuration"].update(separator="_")),
        "have names that none has",
    ),
    "a chunk of size 0": (
        lambda r: metadata(r, lambda c: array(c)["chunk_grid"]["configuration"].update(chunk_shape=[0, 3])),
        "whole numbers",
    ),
    "a shape of text": (lambda r: metadata(r, lambda c: array(c).update(shape="ab")), "whole numbers"),
    "no shape": (lambda r: metadata(r, lambda c: array(c).pop("shape")), "not that of a recording"),
    "another type": (lambda r: metadata(r, lambda c: array(c).update(data_type="int8")), "must hold float64"),
    "an axis that is a list": (lambda r: metadata(r, lambda c: c["attributes"].update(axis=[0])), "its axis"),
    "metadata is a list": (lambda r: (r / "trajectory.zarr" / "zarr.json").write_text("[]"), "must be a JSON object"),
    "deep metadata": (lambda r: (r / "trajectory.zarr" / "zarr.json").write_text("[" * 10**5), "must be JSON"),
    "deep commit": (lambda r: (r / "committed.json").write_text('{"a":' * 10**5), "must be JSON"),
    "deep metrics": (lambda r: (r / "metrics.json").write_text("[" * 10**5), "must be JSON"),
    "commit is a folder": (lambda r: replaced_by_folder(r / "committed.json"), "could not be read: Is a directory"),
    "huge rows": (lambda r: edit(r / "committed.json", lambda c: c.update(rows=10**40)), "must be like"),
    "wrong sums": (lambda r: edit(r / "committed.json", lambda c: c.update(chunks=[1])), "checksums"),
    "sums of another array": (lambda r: edit(r / "committed.json", lambda c: c.update(chunks={"a": []})), "has not"),
    "more rows than sums": (lambda r: edit(r / "committed.json", lambda c: c.update(rows=100)), "checksum"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_named_in_one_line(result, name, capsys):
    damage, message = DAMAGES[name]
    damage(result)
    with pytest.raises(InputError) as caught:
        hydrostat.load(result)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    if "metrics" not in name:
        assert main(["check", str(result)]) == 2
        printed = capsys.readouterr()
        assert (printed.out, printed.err.count("\n")) == ("", 1)


def test_a_whole_result_is_told_as_such(result, capsys):
    assert check_result(result) == (ROWS, 8, True)
    assert main(["check", str(result)]) == 0
    assert "90 rows, 8 chunks, all as written; complete" in capsys.readouterr().out
    assert main(["check", str(result / "none")]) == 2
    assert "no result at" in capsys.readouterr().err


def test_every_row_is_verified_while_it_is_written(tmp_path):
    """Checksums fit the rows after every append, also in the middle of a chunk."""
    recorder = Recorder(tmp_path, VARIABLES, 30)
    for first in range(0, 30, 4):
        times = np.arange(first, min(first + 4, 30), dtype=float)
        recorder.append(times, tip=np.ones((len(times), 3)))
        assert hydrostat.load(tmp_path).sizes["time"] == recorder.rows


def test_results_of_early_versions_are_read_without_checksums(result):
    edit(result / "committed.json", lambda content: [content.pop("chunks"), content.pop("files")])
    assert hydrostat.load(result).sizes["time"] == ROWS


def test_results_of_early_versions_with_chunks_in_folders(tmp_path, monkeypatch):
    """They are read, verified, and continued."""
    monkeypatch.setattr(columns, "CHUNK_BYTES", 400)
    record(tmp_path / "new", ROWS)
    with monkeypatch.context() as early:
        early.setattr(columns, "_SEPARATOR", "/")
        record(tmp_path / "run", 40, close=False)
    assert (tmp_path / "run" / "trajectory.zarr" / "tip" / "c" / "0" / "0").is_file()
    with resuming(tmp_path / "run"):
        record(tmp_path / "run", ROWS)
    assert check_result(tmp_path / "run") == (ROWS, 8, True)
    np.testing.assert_array_equal(hydrostat.load(tmp_path / "run")["tip"], hydrostat.load(tmp_path / "new")["tip"])


def test_a_recording_is_continued(tmp_path, monkeypatch):
    """Rows that are there are not written again; what follows is as if there had been no interruption."""
    monkeypatch.setattr(columns, "CHUNK_BYTES", 400)
    record(tmp_path / "whole", ROWS)
    record(tmp_path / "run", 40, close=False)
    with resuming(tmp_path / "run"):
        record(tmp_path / "run", ROWS)
    one, other = (hydrostat.load(tmp_path / name) for name in ("whole", "run"))
    assert other.attrs["complete"]
    np.testing.assert_array_equal(one["tip"], other["tip"])
    sums = [json.loads((tmp_path / name / "committed.json").read_text())["chunks"] for name in ("whole", "run")]
    assert sums[0] == sums[1]
    with resuming(tmp_path / "run"), pytest.raises(InputError, match="is another one"):
        record(tmp_path / "run", 40, total=50)
