"""Figures on the pages of the papers are what the commands beside them print."""

from collections import defaultdict

import pytest
from figures import ELSEWHERE, sections, untraced
from pages import DOCS
from printed import Command, Statement, agrees, commands, difference, page, parse, statements
from reprint import printed_by, rewritten, settings_of, written

from hydrostat.robots import find_robot
from hydrostat.scenarios.catalogue import find_scenario

PAGES = [*sorted((DOCS / "papers").glob("*.md")), DOCS / "biology.md"]
QUICK = {
    "hydrostat run tentacle-repeatability",
    "hydrostat run track-line",
    "hydrostat run arm-reach",
    "hydrostat run arm-bend",
}
"""Commands that need seconds."""
SAID: dict[Command, list[tuple[str, Statement]]] = defaultdict(list)
for _path in PAGES:
    for _one in statements(page(_path)):
        SAID[_one.command].append((_path.stem, _one))
RUNS = [
    pytest.param(command, id=str(command), marks=[] if str(command) in QUICK else [pytest.mark.slow])
    for command in SAID
]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_commands_can_be_typed(path):
    for command in commands(page(path)):
        scenario = find_scenario(command.scenario)
        if any(text.endswith(".csv") for _, text in command.settings):  # a file of the reader's own
            assert set(settings_of(command)) <= {key.name for key in scenario.keys}
        else:
            scenario.settings(settings_of(command), find_robot(command.robot or scenario.robot))


@pytest.mark.parametrize("command", RUNS)
def test_it_prints_what_the_page_says(command, tmp_path):
    metrics = printed_by(command, tmp_path)
    wrong = [f"{name}.md: {text}" for name, one in SAID[command] if (text := difference(one, metrics))]
    assert not wrong, "; ".join(wrong)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_figure_has_a_command_beside_it(path):
    found = {}
    for heading, text in sections(page(path)):
        if heading not in ELSEWHERE and (missing := untraced(text)):
            found[heading] = missing
    assert not found, f"write the command and what it prints beside these figures, or say where they are from: {found}"


EXAMPLE = """
```console
$ hydrostat run squid-verify --set bends=5
tip_error_max_mm   1.5e-12
errors             0.93, -4.7
```

| `hydrostat run arm-reach` with | `speed` | other | `place[1]` |
|---|---|---|---|
| nothing else | 0.30 m/s | 7 | 5 |
| `--set wave=false` and `--seed 3` | none | 8 | – |

| `hydrostat run arm-throw` | one | two |
|---|---|---|
| `range_m` | 1.2 | 3 |
| the paper | 5 | 6 |

The speed is 0.30 m/s, 30 % of it 0.09 m, and of 12 mm nothing is known.
"""


def test_both_forms_are_read():
    found = {(str(one.command), one.metric, one.entry, one.said) for one in statements(EXAMPLE)}
    assert found == {
        ("hydrostat run squid-verify --set bends=5", "tip_error_max_mm", None, ("1.5e-12",)),
        ("hydrostat run squid-verify --set bends=5", "errors", None, ("0.93", "-4.7")),
        ("hydrostat run arm-reach", "speed", None, ("0.30",)),
        ("hydrostat run arm-reach", "place", 1, ("5",)),
        ("hydrostat run arm-reach --seed 3 --set wave=false", "speed", None, ("none",)),
        ("hydrostat run arm-throw", "range_m", 0, ("1.2",)),
        ("hydrostat run arm-throw", "range_m", 1, ("3",)),
    }


def test_figures_without_a_source_are_found():
    assert untraced(EXAMPLE) == ["0.09", "12"]
    assert untraced(EXAMPLE + "<!-- not printed: 0.09, 12 -->") == []


@pytest.mark.parametrize(
    "said, value, same",
    [
        ("0.93", 0.9332, True),
        ("0.93", 0.936, False),
        ("1.5e-12", 1.54e-12, True),
        ("1.5e-12", 1.56e-12, False),
        ("4", 4, True),
        ("4", 4.6, False),
        ("−4.7", -4.69, True),
        ("none", None, True),
        ("yes", True, True),
        ("1", True, False),
        ("0.5", None, False),
    ],
)
def test_digits_that_are_written_count(said, value, same):
    assert agrees(said, value) == same


@pytest.mark.parametrize("metrics", [{}, {"a": [1.0, 2.0]}, {"a": [1.0, 2.1, 3.0]}])
def test_what_a_command_does_not_print_is_a_difference(metrics):
    statement = Statement(parse("hydrostat run arm-reach"), "a", None, ("1", "2.0", "3"))
    assert difference(statement, metrics) is not None
    assert difference(statement, {"a": [1.0, 2.0, 3.4]}) is None


def test_a_page_is_rewritten_where_it_differs():
    printed = {
        parse("hydrostat run squid-verify --set bends=5"): {"tip_error_max_mm": 1.54e-12, "errors": [0.934, -12.34]},
        parse("hydrostat run arm-reach"): {"speed": 0.311, "place": [4, 6]},
        parse("hydrostat run arm-reach --seed 3 --set wave=false"): {"speed": 0.2345},
        parse("hydrostat run arm-throw"): {"range_m": [1.26, None]},
    }
    after = rewritten(EXAMPLE, printed)
    changes = {
        "0.93, -4.7": "0.93, -12.3",
        "| 0.30 m/s | 7 | 5 |": "| 0.31 m/s | 7 | 6 |",
        "| none |": "| 0.23 |",
        "| 1.2 | 3 |": "| 1.3 | none |",
    }
    expected = EXAMPLE
    for old, new in changes.items():
        expected = expected.replace(old, new)
    assert after == expected
    left = [one for one in statements(after) if difference(one, printed.get(one.command, {}))]
    assert left == []


@pytest.mark.parametrize(
    "said, value, text",
    [
        ("4", 5.6, "6"),
        ("−4.70", -3.1, "−3.10"),
        ("1.5e-12", 3.14e-9, "3.1e-9"),
        ("yes", False, "no"),
        ("0.5", None, "none"),
        ("none", 1.2345, "1.2"),
        ("3", "alternate", "alternate"),
    ],
)
def test_what_is_written_has_as_many_digits(said, value, text):
    assert written(said, value) == text
