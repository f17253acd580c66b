"""What hydrostat depends on: locked with hashes, permissively licensed, and named where an extra is missing."""

import importlib.metadata
import importlib.util
import re
from pathlib import Path

import pytest

from hydrostat.cli import main
from hydrostat.scenarios import runner
from hydrostat.scenarios.base import Outcome, Progress, Run

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "locks").glob("python-3.*.txt"))
PERMISSIVE = re.compile(
    r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation|zlib|Unlicense|BSL-1\.0|HPND|CC0", re.IGNORECASE
)
COPYLEFT = re.compile(r"GPL|MPL|Mozilla|EUPL|CDDL", re.IGNORECASE)
FILE_LEVEL = {"certifi", "hypothesis", "pathspec", "tqdm"}
"""Tools and parts of extras under the Mozilla licence, whose terms hold for their own files alone."""
UNSAID = {"cmeel-qhull"}
"""Packages whose metadata has no licence, and which were looked up: Qhull's own, permissive."""


def pins(path):
    return dict(re.findall(r"^([A-Za-z0-9_.\-]+)==([^\s;\\]+)", path.read_text(), re.MULTILINE))


def licence(name):
    """What the metadata of a package says; None where it is not installed."""
    try:
        told = importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    classifiers = [c.rpartition("::")[2].strip() for c in told.get_all("Classifier", []) if c.startswith("License")]
    return told.get("License-Expression") or "; ".join(classifiers) or (told.get("License") or "")[:80]


def needed(name, found):
    """A package and all that it needs without extras."""
    if name not in found:
        found.add(name)
        for line in importlib.metadata.requires(name) or ():
            requirement, _, condition = line.partition(";")
            other = re.match(r"[A-Za-z0-9_.\-]+", requirement)[0].lower().replace("_", "-")
            if "extra" not in condition and licence(other) is not None:
                needed(other, found)
    return found


def test_locks_are_for_two_versions_of_python():
    assert [path.name for path in LOCKS] == ["python-3.11.txt", "python-3.12.txt"]
    assert pins(LOCKS[0]) == pins(ROOT / "constraints.txt")
    assert pins(LOCKS[1]).keys() >= {"jax", "numpy", "zarr", "viser", "mujoco"}


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_everything_locked_has_a_hash_and_no_address(path):
    text = path.read_text()
    entries = re.split(r"^(?=\S)", text, flags=re.MULTILINE)[1:]
    assert len(entries) == len(pins(path)) > 100
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in entries)
    assert "://" not in text


def test_licences_are_permissive():
    wrong = []
    for name in pins(LOCKS[0]):
        said = licence(name)
        if said is None or name in UNSAID | FILE_LEVEL:
            continue
        if not PERMISSIVE.search(said) or COPYLEFT.search(said):
            wrong.append(f"{name}: {said}")
    assert not wrong


def test_what_runs_without_extras_is_permissive_without_exception():
    core = needed("hydrostat", set())
    assert core >= {"jax", "numpy", "zarr", "matplotlib"}
    assert not core & (FILE_LEVEL | UNSAID)


def test_a_scenario_says_which_extra_it_lacks(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main(["run", "squid-twin-dynamics", "--out", str(tmp_path / "out")]) == 2
    assert "pip install 'hydrostat[rigid]'" in capsys.readouterr().err
    outcome = Outcome({}, replay=lambda path: None)
    runner._files(Run(None, None, 0, tmp_path, Progress()), outcome, True, Progress())
    assert outcome.notes == ["no replay was written: it needs viser, pip install 'hydrostat[view]'"]
