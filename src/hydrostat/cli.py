"""The command line: `hydrostat list`, `run`, `statics`, `modes`, `drive`, `new`, `export`, `stream`, `bench`.

What a user typed is checked before JAX is imported; a fault is one line on stderr. Exit codes: 0 done; 1 a bug of
ours; 2 bad input or a missing extra; 3 diverged or not solved; 130 interrupted.
"""

import argparse
import json
import os
import re
import sys
import tomllib
import traceback
from pathlib import Path
from typing import Any, NoReturn

from hydrostat import _terminal as terminal
from hydrostat._stream_command import add_stream, run_stream
from hydrostat._version import __version__
from hydrostat.errors import InputError, UnsolvedError, shown
from hydrostat.exporting.request import CHAINS, FORMATS, check_request, default_chain
from hydrostat.robots.catalogue import ROBOTS, find_robot
from hydrostat.robots.file import format_robot
from hydrostat.scenarios.catalogue import SCENARIOS, find_scenario


class _Parser(argparse.ArgumentParser):
    """A parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{' '.join(message.split())}; see `{self.prog} --help`")


def _parser() -> _Parser:
    parser = _Parser(prog="hydrostat", description="Simulate and control octopus-inspired continuum arms.")
    parser.add_argument("--version", action="version", version=f"hydrostat {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)

    lister = commands.add_parser("list", help="every scenario and robot, one line each")
    lister.add_argument("--json", action="store_true", help="as one JSON object")

    run = commands.add_parser("run", help="run a scenario", add_help=False)
    run.add_argument("scenario", nargs="?", metavar="SCENARIO")
    run.add_argument("--robot", metavar="NAME|FILE.toml", help="instead of the scenario's own robot")
    run.add_argument("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE", help="change a key")
    run.add_argument("--seed", type=int, default=0, metavar="N", help="of everything random (default 0)")
    run.add_argument("--out", default="results", metavar="DIR", help="where the result folder goes (default results)")
    run.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    run.add_argument("--no-figures", action="store_true", help="draw nothing")
    run.add_argument("-h", "--help", action="store_true", help="the scenario's keys with units, defaults and meaning")

    for name, summary in _FOR_ANY_ROBOT.items():
        _add_any_robot(commands.add_parser(name, help=summary, description=f"{summary}."), name)

    new = commands.add_parser("new", help="write a commented robot file to start from")
    new.add_argument("file", metavar="FILE.toml")
    new.add_argument("--like", default="tentacle", metavar="ROBOT", help="the robot to start from (default tentacle)")

    export = commands.add_parser("export", help="a robot as rigid bodies, for other programs")
    export.add_argument("robot", metavar="ROBOT|FILE.toml")
    export.add_argument("--format", required=True, choices=FORMATS, help="of MuJoCo, or of most others")
    export.add_argument(
        "--sections",
        type=int,
        metavar="N",
        help="rigid sections of each segment; default, for "
        "each arm: 10, and 1 where it has ten segments or more, or where they are rigid, struts and platforms",
    )
    export.add_argument(
        "--chain",
        choices=CHAINS,
        help="elastic: two hinges and a slide with springs in each section, for dynamics (default for mjcf); rrp: "
        "revolute, revolute, prismatic, exact for arcs, for kinematics (default for urdf, which has no springs)",
    )
    export.add_argument(
        "--water",
        action="store_true",
        help="in sea water: drag and buoyancy, without the inertia of added mass, which MuJoCo does not have (mjcf)",
    )
    export.add_argument("--free-base", action="store_true", help="let the body that carries limbs float")
    export.add_argument("--out", metavar="FILE", help="where to write it (default: standard output)")

    add_stream(commands)

    bench = commands.add_parser("bench", help="this machine's speed")
    bench.add_argument("case", nargs="?", metavar="CASE", help="what to measure; without it, the cases are listed")
    bench.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    return parser


_FOR_ANY_ROBOT = {
    "statics": "where a robot rests under its weight, its tendons or muscles, and loads",
    "modes": "natural frequencies and mode shapes of a robot about where it rests",
    "drive": "the motion of a robot under tensions, activations and loads that rise, or tensions from a file",
}


def _add_any_robot(parser: argparse.ArgumentParser, name: str) -> None:
    """The options of a command for any robot; each is a key of the scenario of that name."""
    parser.add_argument("robot", metavar="ROBOT|FILE.toml")
    parser.add_argument("--tension", metavar="N,N,...", help="of every tendon, limb after limb [N]")
    parser.add_argument("--activation", metavar="A,A,...", help="of the muscles of every segment, 0 to 1")
    parser.add_argument("--load", metavar="X,Y,Z", help="force on every tip, in world axes [N]")
    parser.add_argument("--gravity", metavar="X,Y,Z", help="of the world (default 0,0,-9.81) [m/s^2]")
    parser.add_argument("--base-axis", metavar="X,Y,Z", help="where the base points, instead of as in the file")
    parser.add_argument("--water", action="store_true", help="in sea water: buoyancy, and drag on what moves")
    parser.add_argument("--current", metavar="X,Y,Z", help="velocity of that water [m/s]")
    parser.add_argument(
        "--pieces",
        type=int,
        metavar="N",
        help="pieces that every segment is cut into (default 4; 1 where segments have muscles)",
    )
    if name == "modes":
        parser.add_argument("--count", type=int, metavar="N", help="how many frequencies (default 6)")
    if name == "drive":
        parser.add_argument("--csv", metavar="FILE", help="time [s] and the tension of every tendon [N] in each line")
        parser.add_argument("--rise", type=float, metavar="S", help="over which all of it rises (default 1) [s]")
        parser.add_argument("--seconds", type=float, metavar="S", help="to simulate (default: to the end) [s]")
        parser.add_argument("--dt-ms", type=float, metavar="MS", help="time step (default 2) [ms]")
    parser.add_argument(
        "--out", default="results", metavar="DIR", help="where the result folder goes (default results)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--no-figures", action="store_true", help="draw nothing")


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
    terminal.leave_within_a_second_when_interrupted()
    try:
        options = _parser().parse_args(arguments)
        commands = {"list": _list, "run": _run, "new": _new, "export": _export, "bench": _bench, "stream": run_stream}
        commands |= dict.fromkeys(_FOR_ANY_ROBOT, _any_robot)
        return commands[options.command](options)
    except InputError as error:
        return _complain(error, 2)
    except ImportError as error:
        if "pip install" in str(error):  # a missing extra says how to get it
            return _complain(error, 2)
        return _bug()
    except UnsolvedError as error:
        return _complain(error, 3)
    except KeyboardInterrupt:
        print("\nhydrostat: interrupted; what was recorded is on disk", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone: leave quietly, and keep the interpreter from flushing into the void.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception:
        return _bug()


def _complain(error: Exception, code: int) -> int:
    print(f"hydrostat: {' '.join(str(error).split())}", file=sys.stderr)
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
    return _report(options, options.scenario, _settings(options.settings), _seed(options.seed))


def _report(options, scenario: str, settings: dict[str, Any], seed: int) -> int:
    """Run a scenario and print what came out."""
    from hydrostat.scenarios.runner import run_scenario

    folders: list[Path] = []
    progress = terminal.progress()
    try:
        report = run_scenario(
            scenario,
            options.robot,
            settings,
            seed=seed,
            out=options.out,
            figures=not options.no_figures,
            progress=progress,
            on_folder=folders.append,
        )
    except KeyboardInterrupt:
        progress.close()
        where = f"; what was recorded is in {folders[0]}" if folders else ""
        print(f"\nhydrostat: interrupted{where}", file=sys.stderr)
        return 130
    except UnsolvedError as error:
        progress.close()
        raise UnsolvedError(f"{error}; what was recorded is in {folders[0]}") from None
    notes = report.pop("notes")
    if options.json:
        print(json.dumps(report, allow_nan=False))
        for note in notes:
            print(f"hydrostat: {note}", file=sys.stderr)
    else:
        terminal.print_report(report, notes)
    return 0


def _run_help(name: str | None) -> str:
    """What `hydrostat run [SCENARIO] --help` prints."""
    usage = (
        "usage: hydrostat run SCENARIO [--robot NAME|FILE.toml] [--set KEY=VALUE]... [--seed N] [--out DIR] [--json]"
    )
    usage += " [--no-figures]"
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
            file.write(text)
    except FileExistsError:
        raise InputError(f"{shown(str(path))} exists and is left alone; give another name") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no file name"
        raise InputError(f"{shown(str(path))} could not be written: {reason}") from None
    print(path)


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


if __name__ == "__main__":
    sys.exit(main())
