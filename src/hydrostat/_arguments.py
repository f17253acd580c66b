"""The arguments of the command line."""

import argparse
from typing import NoReturn

from hydrostat._stream_command import add_stream
from hydrostat._teleop_command import add_teleop
from hydrostat._version import __version__
from hydrostat._view_command import add_view
from hydrostat.errors import InputError
from hydrostat.exporting.request import CHAINS, FORMATS

FOR_ANY_ROBOT = {
    "statics": "where a robot rests under its weight, its tendons or muscles, and loads",
    "modes": "natural frequencies and mode shapes of a robot about where it rests",
    "drive": "the motion of a robot under tensions, activations and loads that rise, or tensions from a file",
}
"""Commands for any robot: each is a scenario of that name."""


class _Parser(argparse.ArgumentParser):
    """A parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{' '.join(message.split())}; see `{self.prog} --help`")


def make_parser() -> argparse.ArgumentParser:
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
    run.add_argument("--resume", metavar="FOLDER", help="go on with a run that did not come to its end")
    run.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    run.add_argument("--no-figures", action="store_true", help="draw nothing")
    run.add_argument("-h", "--help", action="store_true", help="the scenario's keys with units, defaults and meaning")

    for name, summary in FOR_ANY_ROBOT.items():
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

    check = commands.add_parser("check", help="whether a result is whole: every chunk is there, and as it was written")
    check.add_argument("folder", metavar="FOLDER", help="the result folder")
    check.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    add_stream(commands)
    add_teleop(commands)
    add_view(commands)

    bench = commands.add_parser("bench", help="this machine's speed")
    bench.add_argument("case", nargs="?", metavar="CASE", help="what to measure; without it, the cases are listed")
    bench.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    return parser


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
