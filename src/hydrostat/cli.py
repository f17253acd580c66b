"""The command line: `hydrostat list`, `run`, `statics`, `modes`, `drive`, `new`, `export`, `check`, `stream`,
`view`, `teleop`, `bench`.

What a user typed is checked before JAX is imported; a fault is one line on stderr. Exit codes: 0 done; 1 a bug of
ours; 2 bad input, a missing extra, or a file or folder that cannot be used; 3 diverged, not solved, or out of disk or
memory; 130 interrupted; 143 terminated.
"""

if __name__ == "__main__":  # python -m hydrostat.cli: listen to signals first
    from importlib import import_module

    import_module("hydrostat._entry").main()

import errno
import json
import os
import re
import sys
import tomllib
import traceback
from pathlib import Path
from typing import Any

from hydrostat import _terminal as terminal
from hydrostat._arguments import FOR_ANY_ROBOT, make_parser
from hydrostat._leaving import before_leaving
from hydrostat._stream_command import run_stream
from hydrostat._teleop_command import run_teleop
from hydrostat._view_command import run_view
from hydrostat.errors import InputError, UnsolvedError, shown
from hydrostat.exporting.request import check_request, default_chain
from hydrostat.robots.catalogue import ROBOTS, find_robot
from hydrostat.robots.file import format_robot
from hydrostat.scenarios.catalogue import SCENARIOS, find_scenario

_LISTS = {
    "tension": "tension_n", "activation": "activation", "load": "tip_load_n", "gravity": "gravity_m_s2",
    "base_axis": "base_axis", "current": "current_m_s",
}  # fmt: skip
"""Options that are numbers with commas between them, and their keys."""
_PLAIN = {"pieces": "pieces", "count": "count", "csv": "csv", "rise": "rise_s", "seconds": "seconds", "dt_ms": "dt_ms"}


def _any_robot(options) -> int:
    settings: dict[str, Any] = {"water": options.water}
    for option, key in _LISTS.items():
        text = getattr(options, option)
        if text is not None:
            settings[key] = _numbers(f"--{option.replace('_', '-')}", text)
    for option, key in _PLAIN.items():
        value = getattr(options, option, None)
        if value is not None:
            settings[key] = value
    scenario, spec = find_scenario(options.command), find_robot(options.robot)
    scenario.check(spec)
    try:
        scenario.settings(settings, spec)
    except InputError as error:
        raise InputError(_as_typed(str(error))) from None
    return _report(options, options.command, settings, 0)


def _as_typed(message: str) -> str:
    """A message about keys of a scenario, with the options that a user typed in their place."""
    for option, key in (_LISTS | _PLAIN).items():
        name = f"--{option.replace('_', '-')}"
        message = re.sub(rf"`{key}\[(\d+)\]`", lambda m, name=name: f"number {int(m[1]) + 1} of {name}", message)
        message = message.replace(f"`{key}`", name)
    return message.replace("water=true", "--water")


def _numbers(option: str, text: str) -> list[float]:
    """The numbers of an option, with commas between them."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"{option} must be numbers with commas between them, such as 0,3,3; got {shown(text)}"
        ) from None


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code."""
    try:
        for argument in sys.argv[1:] if arguments is None else arguments:
            _check_text(argument)
        options = make_parser().parse_args(arguments)
        commands = {"list": _list, "run": _run, "new": _new, "export": _export, "check": _check, "bench": _bench}
        commands |= {"stream": run_stream, "view": _view, "teleop": run_teleop}
        commands |= dict.fromkeys(FOR_ANY_ROBOT, _any_robot)
        return commands[options.command](options)
    except InputError as error:
        return _complain(error, 2)
    except ImportError as error:
        if "pip install" in str(error):  # a missing extra says how to get it
            return _complain(error, 2)
        return _bug()
    except UnsolvedError as error:
        return _complain(error, 3)
    except KeyboardInterrupt as error:  # where no signal handler of ours is there
        what = str(error) or "what was recorded is on disk"
        print(terminal.plain(f"\nhydrostat: interrupted; {what}"), file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone: leave quietly, and keep the interpreter from flushing into the void.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _complain(Exception("there is not enough memory; take fewer steps, rows or segments"), 3)
    except OSError as error:
        return _fault(error)
    except Exception:
        return _bug()


def _check_text(argument: str) -> None:
    """Refuse bytes that are no text: they could be neither printed nor recorded."""
    try:
        argument.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(f"arguments must be UTF-8 text; got {shown(os.fsencode(argument))}") from None


_EXHAUSTED = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EFBIG)
"""Faults of a machine that has run out of something."""


def _fault(error: OSError) -> int:
    """Name a fault of the machine, which is no bug: a full disk, a folder that cannot be written."""
    if error.errno is None and not error.strerror:
        return _bug()
    path = error.filename2 or error.filename  # of two, the one that was written
    where = f" at {shown(os.fsdecode(path))}" if isinstance(path, str | bytes) else ""
    reason = error.strerror or os.strerror(error.errno or 0)
    return _complain(Exception(f"{reason}{where}"), 3 if error.errno in _EXHAUSTED else 2)


def out_of_print(error: Exception) -> int:
    """Say that standard output took nothing; the exit code."""
    if isinstance(error, BrokenPipeError):
        return 0
    reason = getattr(error, "strerror", None) or str(error)
    code = 3 if getattr(error, "errno", None) in _EXHAUSTED else 2
    return _complain(Exception(f"nothing could be printed: {reason}"), code)


def _complain(error: Exception, code: int) -> int:
    print(terminal.plain(f"hydrostat: {' '.join(str(error).split())}"), file=sys.stderr)
    return code


def _bug() -> int:
    traceback.print_exc()
    print("hydrostat: this is a bug in hydrostat, not in what you did; please report it", file=sys.stderr)
    return 1


def _list(options) -> int:
    if options.json:
        scenarios = [
            {"name": s.name, "summary": s.summary, "robot": s.robot, "accepts": s.accepts} for s in SCENARIOS.values()
        ]
        robots = [{"name": robot.name, "summary": robot.summary} for robot in ROBOTS.values()]
        print(json.dumps({"scenarios": scenarios, "robots": robots}))
        return 0
    width = max(map(len, [*SCENARIOS, *ROBOTS]))
    print("Scenarios (hydrostat run SCENARIO --help)")
    for scenario in SCENARIOS.values():
        print(f"  {scenario.name:<{width}}  {scenario.summary}")
    print("Robots (hydrostat run SCENARIO --robot NAME; hydrostat new FILE.toml --like NAME)")
    for robot in ROBOTS.values():
        print(f"  {robot.name:<{width}}  {robot.summary}")
    return 0


def _run(options) -> int:
    if options.help:
        print(_run_help(options.scenario))
        return 0
    if options.scenario is None:
        raise InputError("`hydrostat run` needs a scenario; `hydrostat list` names them")
    if options.resume is not None and (options.robot or options.settings or options.seed):
        raise InputError("--resume goes on with a run as it began; leave --robot, --set and --seed out")
    return _report(options, options.scenario, _settings(options.settings), _seed(options.seed))


class _Recording:
    """The folder that a run records into, for what is said when it does not come to its end."""

    def __init__(self):
        self._folder: Path | None = None
        self._made: list[Path] = []

    def begin(self, folder: Path, made: list[Path]) -> None:
        """A run has made its folder, and these before it."""
        self._folder, self._made = folder, made

    def discard(self) -> str:
        """What there is of a result, in words; a folder without any is removed."""
        from hydrostat.results.folders import discard_unless_recorded

        if self._folder is None:
            return "nothing was recorded"
        if self._folder.exists() and not discard_unless_recorded(self._folder, self._made):
            return f"what was recorded is in {self._folder}, and `--resume` goes on with it"
        return "nothing was recorded"


def _recorded(scenario: str, robot: str | None, settings: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Run a scenario; what there is of a result is said when it does not come to its end.

    **Arguments:** `options`: as those of `run_scenario`.
    """
    from hydrostat.scenarios.runner import run_scenario

    progress = terminal.progress()
    recording = _Recording()
    before_leaving(recording.discard)
    try:
        return run_scenario(scenario, robot, settings, progress=progress, on_folder=recording.begin, **options)
    except KeyboardInterrupt:  # where no signal handler of ours is there
        progress.close()
        raise KeyboardInterrupt(recording.discard()) from None
    except UnsolvedError as error:
        progress.close()
        raise UnsolvedError(f"{error}; {recording.discard()}") from None
    except OSError as error:
        progress.close()
        if error.errno in _EXHAUSTED:
            raise UnsolvedError(f"{error.strerror}; {recording.discard()}") from None
        raise
    finally:
        before_leaving(lambda: "the results are on disk")


def _report(options, scenario: str, settings: dict[str, Any], seed: int) -> int:
    """Run a scenario and print what came out."""
    report = _recorded(
        scenario,
        options.robot,
        settings,
        seed=seed,
        out=options.out,
        resume=getattr(options, "resume", None),
        figures=not options.no_figures,
    )
    notes = report.pop("notes")
    if options.json:
        print(json.dumps(report, allow_nan=False))
        for note in notes:
            print(f"hydrostat: {note}", file=sys.stderr)
    else:
        terminal.print_report(report, notes)
    return 0


def _view(options) -> int:
    def run_first(scenario: str, robot: str | None, settings: dict[str, Any]) -> str:
        return _recorded(scenario, robot, settings, seed=_seed(options.seed), out=options.out)["files"]["folder"]

    _seed(options.seed)
    return run_view(options, _settings, run_first)


def _run_help(name: str | None) -> str:
    """What `hydrostat run [SCENARIO] --help` prints."""
    usage = (
        "usage: hydrostat run SCENARIO [--robot NAME|FILE.toml] [--set KEY=VALUE]... [--seed N] [--out DIR] [--json]"
    )
    usage += " [--no-figures]\n       hydrostat run SCENARIO --resume FOLDER [--json] [--no-figures]"
    if name is None:
        return f"{usage}\n\n`hydrostat list` names the scenarios; `hydrostat run SCENARIO --help` lists its keys."
    scenario = find_scenario(name)
    lines = [usage, "", f"{scenario.name}: {scenario.summary}"]
    lines += [f"robot: {scenario.robot} unless --robot says otherwise; accepts {scenario.accepts}", "", "keys:"]
    rows = [(key.name, _toml(key.default), key.unit) for key in scenario.keys]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row, key in zip(rows, scenario.keys, strict=True):
        choices = f" ({' | '.join(key.options)})" if key.options else ""
        cells = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        lines.append(f"  {cells}  {key.meaning}{choices}")
    return "\n".join(lines)


def _toml(value: Any) -> str:
    """A default as one would write it after `--set key=`."""
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def _settings(pairs: list[str]) -> dict[str, Any]:
    """The values of `--set`, read as TOML, else as strings."""
    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise InputError(f"--set needs KEY=VALUE; got {shown(pair)}")
        try:
            table = tomllib.loads(f"value = {value}")
        except (tomllib.TOMLDecodeError, RecursionError, ValueError):
            table = {"value": value}
        settings[key.strip()] = table["value"] if len(table) == 1 else value
    return settings


def _seed(seed: int) -> int:
    if not 0 <= seed < 2**32:
        raise InputError(f"--seed must be a whole number from 0 to 4294967295; got {seed}")
    return seed


def _new(options) -> int:
    path = Path(options.file)
    if path.suffix != ".toml":
        raise InputError(f"the file must end in .toml; got {shown(options.file)}")
    _write(path, format_robot(find_robot(options.like)))
    return 0


def _write(path: Path, text: str) -> None:
    """Write a new file, and name it; what exists is left alone."""
    try:
        with path.open("x", encoding="utf-8") as file:
            try:
                file.write(text)
                file.flush()
            except OSError:  # a file that is cut off would be in the way of the next try
                path.unlink()
                raise
    except FileExistsError:
        raise InputError(f"{shown(str(path))} exists and is left alone; give another name") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no file name"
        raise InputError(f"{shown(str(path))} could not be written: {reason}") from None
    print(terminal.plain(str(path)))


def _export(options) -> int:
    spec = find_robot(options.robot)
    chain = options.chain or default_chain(spec, options.format)
    check_request(spec, options.format, options.sections, chain, options.water, options.free_base)
    if options.out and Path(options.out).exists():
        raise InputError(f"{shown(options.out)} exists and is left alone; give another name")
    from hydrostat.exporting import make_twin, write_mjcf, write_urdf

    twin = make_twin(spec, options.sections, chain, free_base=options.free_base)
    text, left_out = write_mjcf(twin, water=options.water) if options.format == "mjcf" else write_urdf(twin)
    if options.out:
        _write(Path(options.out), text)
    else:
        print(text, end="")
    for sentence in left_out:
        print(f"hydrostat: {sentence}", file=sys.stderr)
    return 0


def _check(options) -> int:
    from hydrostat.results.checking import check_result

    found = check_result(options.folder)
    if options.json:
        print(json.dumps(found._asdict()))
    else:
        kind = "complete" if found.complete else "not complete: recording did not come to its end"
        print(terminal.plain(f"{options.folder}: {found.rows} rows, {found.chunks} chunks, all as written; {kind}"))
    return 0


def _bench(options) -> int:
    from hydrostat.benchmarking.cases import CASES, find_case, run_case

    if options.case is None:
        cases = [{"name": case.name, "summary": case.summary} for case in CASES.values()]
        if options.json:
            print(json.dumps({"cases": cases}))
            return 0
        print("Benchmarks (hydrostat bench CASE), a minute or two each")
        for case in cases:
            print(f"  {case['name']:<{max(map(len, CASES))}}  {case['summary']}")
        return 0
    find_case(options.case)
    report = run_case(options.case, terminal.progress())
    if options.json:
        print(json.dumps(report, allow_nan=False))
    else:
        terminal.print_benchmark(report)
    return 0
