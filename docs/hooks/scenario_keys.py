"""Puts the keys of a scenario, as the program knows them, where a page says `<!-- keys of NAME -->`.

`<!-- every scenario -->` becomes a section for each of them, with what it does, its robot and its keys.
"""

import json
import re

from hydrostat.scenarios.catalogue import SCENARIOS


def on_page_markdown(markdown: str, **_) -> str:
    """Replace every mark by a table."""
    markdown = markdown.replace("<!-- every scenario -->", "\n\n".join(_section(name) for name in SCENARIOS))
    return re.sub(r"<!-- keys of ([\w-]+) -->", lambda match: _table(match[1]), markdown)


def _section(name: str) -> str:
    """The heading, the summary and the keys of a scenario."""
    scenario = SCENARIOS[name]
    summary = scenario.summary[0].upper() + scenario.summary[1:]
    words = f"{summary}. Robot: `{scenario.robot}` unless `--robot` says otherwise; it accepts {scenario.accepts}."
    return f"## {name}\n\n{words}\n\n{_table(name)}"


def _table(name: str) -> str:
    """The keys with their units, defaults, bounds and meanings."""
    rows = ["| key | default | unit | bounds | meaning |", "|---|---|---|---|---|"]
    for key in SCENARIOS[name].keys:
        default = json.dumps(list(key.default) if isinstance(key.default, tuple) else key.default)
        meaning = key.meaning + (", one per segment" if key.per_segment else "")
        rows.append(f"| `{key.name}` | `{default}` | {key.unit} | {_bounds(key)} | {meaning} |")
    return "\n".join(rows)


def _bounds(key) -> str:
    """What values are allowed, in words."""
    if key.options:
        return ", ".join(f"`{option}`" for option in key.options)
    words = [("above", key.above), ("at least", key.least), ("at most", key.most)]
    return ", ".join(f"{word} {value:g}" for word, value in words if value is not None)
