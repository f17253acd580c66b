"""Every example runs, and so does the README's."""

import ast
import math
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# It compiles gradients through a motion for half a minute; tests/stepping has a smaller one.
SLOW = "05_gradients_through_motion"
EXAMPLES = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem == SLOW else [])
    for path in sorted((ROOT / "examples").glob("*.py"))
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_runs(example, capsys):
    runpy.run_path(str(example))
    assert capsys.readouterr().out.strip()


BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def test_the_readme_has_six_statements():
    assert [len(ast.parse(block).body) for block in BLOCKS] == [6]


@pytest.mark.slow
def test_the_readme_example_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(BLOCKS[0], "README.md", "exec"), names)
    x, y, _ = names["crawl"].body[-1] - names["crawl"].body[0]
    assert abs(math.atan2(y, x) - 0.6) < 0.1
    assert capsys.readouterr().out.strip()
    assert {"crawl.png", "crawl.html"} <= {path.name for path in tmp_path.iterdir()}


def test_the_readme_names_every_scenario_and_robot():
    from hydrostat.robots import ROBOTS
    from hydrostat.scenarios import SCENARIOS

    text = (ROOT / "README.md").read_text()
    assert [name for name in [*SCENARIOS, *ROBOTS] if f"`{name}`" not in text] == []
