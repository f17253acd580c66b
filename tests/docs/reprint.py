"""Run the commands of a page and say where it differs from what they print, or write that there.

`python tests/docs/reprint.py docs/papers/kang.md` runs every command whose metrics the page states and names each
difference. With `--write` the figures on the page are replaced, to as many digits as stand there, and figures in the
prose that then have no source beside them are named: sentences are for whoever reads them. `--only WORDS` takes the
commands alone that contain these words.
"""

import argparse
import sys
import tempfile
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

from figures import ELSEWHERE, sections, untraced
from printed import Command, agrees, difference, is_figure, is_number, page, stated_values, statements


def settings_of(command: Command) -> dict:
    """The settings of a command as the command line reads them."""
    return {key: value_of(text) for key, text in command.settings}


def value_of(text: str):
    """A value as it is typed: TOML, or a word."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def printed_by(command: Command, folder: Path) -> dict[str, Any]:
    """The metrics that a command prints."""
    from hydrostat.scenarios.runner import run_scenario

    options = {"seed": command.seed, "out": folder, "figures": False}
    return run_scenario(command.scenario, command.robot, settings_of(command), **options)["metrics"]


def written(said: str, value: Any) -> str:
    """A value as it stands on a page in the place of another: with as many digits, or two where that was a word."""
    if not is_number(value):
        return {True: "yes", False: "no", None: "none"}.get(value, str(value))
    if not is_figure(said):
        return f"{value:.2g}"
    digits = len(said.partition("e")[0].partition(".")[2])
    if "e" in said:
        mantissa, _, power = f"{value:.{digits}e}".partition("e")
        return f"{mantissa}e{int(power)}"
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if "−" in said else text


def rewritten(text: str, printed: dict[Command, dict[str, Any]]) -> str:
    """A page with what commands print now in the place of what differs; metrics of another length stay as they are."""
    places = []
    for one in statements(text):
        metrics = printed.get(one.command, {})
        values = stated_values(one, metrics) if one.metric in metrics else []
        if len(values) == len(one.said):
            pairs = zip(one.spans, one.said, values, strict=True)
            places += [(span, written(said, value)) for span, said, value in pairs if not agrees(said, value)]
    for (begin, end), new in sorted(places, reverse=True):
        text = text[:begin] + new + text[end:]
    return text


def main() -> int:
    """Compare a page with its commands, or write what they print; the exit code is 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("--write", action="store_true", help="replace the figures on the page")
    parser.add_argument("--only", default="", metavar="WORDS", help="the commands alone that contain these words")
    options = parser.parse_args()
    said = defaultdict(list)
    for one in statements(page(options.page)):
        if options.only in str(one.command):
            said[one.command].append(one)
    differences = 0
    for number, (command, stated) in enumerate(said.items(), 1):
        print(f"[{number}/{len(said)}] {command}", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            metrics = printed_by(command, Path(folder))
        wrong = [text for one in stated if (text := difference(one, metrics))]
        differences += len(wrong)
        for text in wrong:
            print(f"{command}: {text}", flush=True)
        if options.write and wrong:
            # The page is written after every command, so that an interrupted run keeps what it found.
            options.page.write_text(rewritten(page(options.page), {command: metrics}), encoding="utf-8")
    for heading, text in sections(page(options.page)):
        if heading not in ELSEWHERE and (bare := untraced(text)):
            print(f"no command beside {', '.join(bare)} in {heading!r}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
