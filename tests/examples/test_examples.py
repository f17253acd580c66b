"""Every example runs, and so does the README's."""

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


def test_the_readme_example_runs(capsys):
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL).group(1)
    exec(compile(code, "README.md", "exec"), {})
    assert "(9, 3, 2)" in capsys.readouterr().out


def test_the_readme_names_every_scenario_and_robot():
    from hydrostat.robots import ROBOTS
    from hydrostat.scenarios import SCENARIOS

    text = (ROOT / "README.md").read_text()
    assert [name for name in [*SCENARIOS, *ROBOTS] if f"`{name}`" not in text] == []
