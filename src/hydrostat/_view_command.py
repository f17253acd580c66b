"""The command `hydrostat view`: a scenario or a robot live, or a result again, in the browser."""

import argparse
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

from hydrostat import _terminal as terminal
from hydrostat._leaving import before_leaving
from hydrostat._page_options import TOKEN, check_listening, check_port, check_seconds
from hydrostat.errors import InputError, listed, shown
from hydrostat.robots.catalogue import ROBOTS, find_robot
from hydrostat.robots.checks import check_octopus
from hydrostat.robots.limbed import AnySpec, LimbedSpec
from hydrostat.robots.spec import RobotSpec
from hydrostat.scenarios.catalogue import SCENARIOS, find_scenario

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def add_view(commands) -> None:
    """Add the command to a parser's."""
    live = ", ".join(name for name, scenario in SCENARIOS.items() if scenario.live)
    parser: argparse.ArgumentParser = commands.add_parser(
        "view",
        help="a scenario or a robot live, or a result again, in the browser",
        description="Open a page in the browser. A scenario or a robot is simulated live, and can be touched; the "
        f"folder of a result is replayed. Live are: {live}. Other scenarios are run, then replayed. Pages for other "
        f"machines must know a token, which is read from the environment as {TOKEN}.",
    )
    parser.add_argument("what", metavar="SCENARIO|ROBOT|RESULT", help="a name, a robot's TOML file, or a result folder")
    parser.add_argument("--robot", metavar="NAME|FILE.toml", help="instead of the scenario's own robot")
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE", help="change a key")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of everything random (default 0)")
    parser.add_argument("--out", default="results", metavar="DIR", help="where results of scenarios that run go")
    parser.add_argument("--port", type=int, default=8080, metavar="N", help="of the page; the next free one (8080)")
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="to listen at (this machine alone)")
    parser.add_argument("--dark", action="store_true", help="a dark page")
    parser.add_argument("--paused", action="store_true", help="do not begin to play")
    parser.add_argument("--no-browser", action="store_true", help="print the address, and open no browser")
    parser.add_argument("--seconds", type=float, metavar="S", help="to serve the page, else until Ctrl-C")


def check_door(host: str, port: int, token: str) -> None:
    """Refuse to listen to other machines without a token, or where it cannot be."""
    check_port("--port", port)
    if host not in _LOOPBACK and (len(token) < 16 or not token.isalnum()):
        got = f"{len(token)} characters" if token else "none"
        raise InputError(f"--host {shown(host)} needs a token of 16 letters and digits or more in {TOKEN}; got {got}")
    if host not in _LOOPBACK:
        check_listening(host, port)


def run_view(options, parse_settings, run_first) -> int:
    """Serve the page; the exit code.

    **Arguments:** `parse_settings`: reads the values of `--set`; `run_first`: runs a scenario that is not live, and
    returns the folder of its result.
    """
    token = os.environ.get(TOKEN, "")
    check_door(options.host, options.port, token)
    check_seconds(options.seconds)
    if not importlib.util.find_spec("viser"):
        raise ImportError("the page needs viser: pip install 'hydrostat[view]'")
    if Path(options.what).is_dir():
        if options.robot or options.settings:
            raise InputError("a result is replayed as it was recorded; leave --robot and --set out")
        return _serve(options, _replay(Path(options.what)))
    scenario, robot = _scenario_of(options)
    settings = parse_settings(options.settings)
    found = find_scenario(scenario)
    spec = find_robot(robot or found.robot)
    found.check(spec)
    found.settings(settings, spec)
    if not found.live:
        print(terminal.plain(f"{scenario} is not shown live: it is run, then replayed"), file=sys.stderr)
        return _serve(options, _replay(Path(run_first(scenario, robot, settings))))
    return _serve(options, _live(scenario, robot, settings, options))


def _scenario_of(options) -> tuple[str, str | None]:
    """The scenario that shows what was asked for, and its robot."""
    what = options.what
    if what in SCENARIOS:
        return what, options.robot
    if what in ROBOTS or what.endswith(".toml"):
        if options.robot:
            raise InputError(f"{shown(what)} is a robot already; leave --robot out")
        spec = find_robot(what)
        return _motion_of(spec), what
    names = listed([*SCENARIOS, *ROBOTS])
    raise InputError(f"what to view must be a scenario, a robot, or the folder of a result; got {shown(what)}: {names}")


def _motion_of(spec: AnySpec) -> str:
    """The scenario in which a robot by itself is shown."""
    if isinstance(spec, RobotSpec) and spec.legs is not None:
        return "track-dynamics"
    return "octopus-walk-path" if _crawls(spec) else "drive"


def _crawls(spec: AnySpec) -> bool:
    """Whether a robot is one that crawls over the ground."""
    if not isinstance(spec, LimbedSpec):
        return False
    try:
        check_octopus(spec)
    except InputError:
        return False
    return True


def _live(scenario: str, robot: str | None, settings: dict[str, Any], options):
    """A function that makes the live page on a server."""
    from hydrostat.live import LivePage, LiveSession
    from hydrostat.scenarios.live_motions import live_motion

    progress = terminal.progress()
    try:
        progress.say("loading")
        motion = live_motion(scenario, robot, settings, seed=options.seed, progress=progress)
        progress.say("compiling")
        session = LiveSession(motion)
        session.running.advance(1)
        session.reset()
    finally:
        progress.close()
    return lambda server: LivePage(server, session, scenario, dark=options.dark, playing=not options.paused)


def _replay(folder: Path):
    """A function that makes the page of a result on a server; a file where that is all there is."""
    from hydrostat.live import ReplayPage
    from hydrostat.scenarios.recorded_motions import recorded_motion

    recorded = recorded_motion(folder)
    if recorded is None:
        page = folder / "replay.html"
        if not page.exists():
            raise InputError(f"{shown(str(folder))} holds no motion that can be replayed, and no replay.html")
        return page
    return lambda server: ReplayPage(server, recorded, folder.name)


def _serve(options, page: Any) -> int:
    """Serve a page until Ctrl-C, or open a file."""
    import webbrowser

    if isinstance(page, Path):
        print(terminal.plain(str(page.resolve())), flush=True)
        if not options.no_browser:
            webbrowser.open(page.resolve().as_uri())
        return 0
    from hydrostat.live import Gateway, open_server
    from hydrostat.live.served_page import remove_folders

    def close() -> str:
        remove_folders()
        return "the page is closed"

    # The program ends without the interpreter's own end, at which viser would stop the server.
    before_leaving(close)
    try:
        outside = options.host not in _LOOPBACK
        server = open_server(0 if outside else options.port, label="hydrostat")
        made = page(server)
        address = shared = f"http://localhost:{server.get_port()}"
        if outside:
            token = os.environ[TOKEN]
            gateway = Gateway(options.host, options.port, server.get_port(), token)
            gateway.start()
            shared = f"http://{options.host}:{gateway.port}/?token={token}"
        print(terminal.plain(f"{shared}  (Ctrl-C ends it)"), flush=True)
        if not options.no_browser:
            webbrowser.open(address)  # of this machine: it needs no token, which others could read
        made.run(options.seconds)
    finally:
        close()
    return 0
