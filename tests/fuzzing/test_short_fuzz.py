"""A short run of `make fuzz`; the longer one is its own target."""

import subprocess
import sys
from pathlib import Path

import pytest

KINDS = ("robot files", "settings", "CSV files", "damaged folders")


def fuzz(scale, kinds):
    only = [part for kind in kinds for part in ("--only", kind)]
    command = [sys.executable, str(Path(__file__).with_name("fuzz.py")), "--scale", str(scale), *only]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_few_mutations_end_well():
    done = fuzz(0.005, KINDS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("tracebacks 0  over 5 s 0") == len(KINDS)


@pytest.mark.slow
def test_more_mutations_and_kills_end_well():
    done = fuzz(0.02, (*KINDS, "kills"))
    assert done.returncode == 0, done.stderr
    assert "lost rows older than 1 s 0" in done.stdout
