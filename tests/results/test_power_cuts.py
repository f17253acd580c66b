"""What a power cut leaves of a recording: the rows that had been carried to the medium, opened with a warning."""

import numpy as np
import pytest

import hydrostat
from hydrostat.errors import InputError
from hydrostat.results import Recorder, Variable, columns, recording
from hydrostat.results.checking import check_result
from hydrostat.results.folders import resuming

CARRIED, ALL, TOTAL = 21, 35, 100
VARIABLES = [Variable("tip", ("component",), (3,), "m", "tip")]


def append(recorder, begin, end):
    times = np.arange(begin, end, dtype=float)
    recorder.append(times, tip=np.outer(times, [1.0, 2.0, 3.0]))


def empty_commit(folder):
    """The file that was renamed last has its name and no content."""
    (folder / "committed.json").write_bytes(b"")


def empty_rows(folder):
    """The last rows of a chunk never came to the medium."""
    path = folder / "trajectory.zarr" / "tip" / "c.2.0"
    content = bytearray(path.read_bytes())
    content[24 * 6 :] = bytes(len(content) - 24 * 6)
    path.write_bytes(content)


def missing_chunk(folder):
    (folder / "trajectory.zarr" / "tip" / "c.3.0").unlink()


@pytest.fixture
def cut(tmp_path, monkeypatch):
    """A recording that was cut off; 21 of its 35 rows, in chunks of ten, had been carried to the medium."""
    monkeypatch.setattr(columns, "CHUNK_BYTES", 240)
    monkeypatch.setattr(recording, "_SYNC_SECONDS", -1.0)
    recorder = Recorder(tmp_path / "run", VARIABLES, TOTAL)
    append(recorder, 0, 13)
    append(recorder, 13, CARRIED)
    monkeypatch.setattr(recording, "_SYNC_SECONDS", 1e9)
    append(recorder, CARRIED, ALL)
    return tmp_path / "run"


def test_a_killed_process_loses_nothing(cut):
    assert hydrostat.load(cut).sizes["time"] == ALL
    assert check_result(cut).rows == ALL


@pytest.mark.parametrize("damage", [empty_commit, empty_rows, missing_chunk])
def test_rows_that_were_on_the_medium_are_opened_and_the_others_named(cut, damage):
    damage(cut)
    with pytest.warns(UserWarning, match=f"only its first {CARRIED} rows"):
        found = hydrostat.load(cut)
    assert found.sizes["time"] == CARRIED
    assert not found.attrs["complete"]
    np.testing.assert_array_equal(found["tip"], np.outer(np.arange(CARRIED), [1.0, 2.0, 3.0]))
    with pytest.raises(InputError, match=f"its first {CARRIED} rows are whole"):
        check_result(cut)


@pytest.mark.parametrize("damage", [empty_commit, empty_rows, missing_chunk])
def test_recording_goes_on_from_them(cut, damage):
    damage(cut)
    with resuming(cut), pytest.warns(UserWarning, match="first 21 rows"), Recorder(cut, VARIABLES, TOTAL) as recorder:
        append(recorder, 0, ALL)
    assert check_result(cut) == (ALL, 6, True)
    np.testing.assert_array_equal(hydrostat.load(cut)["tip"], np.outer(np.arange(ALL), [1.0, 2.0, 3.0]))


def test_damage_of_what_was_carried_is_named(cut):
    empty_commit(cut)
    (cut / "trajectory.zarr" / "tip" / "c.0.0").unlink()
    with pytest.raises(InputError, match="must be JSON"):
        hydrostat.load(cut)


def test_a_recording_that_has_come_to_its_end_is_damaged_or_whole(cut, monkeypatch):
    with resuming(cut), Recorder(cut, VARIABLES, TOTAL) as recorder:
        append(recorder, 0, ALL)
        monkeypatch.setattr(recording, "_SYNC_SECONDS", -1.0)
        append(recorder, ALL, TOTAL)
    assert not (cut / "synced.json").exists()
    missing_chunk(cut)
    with pytest.raises(InputError, match="chunk 3 of 'tip' is missing"):
        hydrostat.load(cut)
