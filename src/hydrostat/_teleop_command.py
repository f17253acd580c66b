"""The command `hydrostat teleop`: drive a limb by hand, in the browser, over a link as good or as poor as is set."""

import argparse
import importlib.util
import os

from hydrostat import _terminal as terminal
from hydrostat._leaving import before_leaving
from hydrostat._page_options import TOKEN, check_port, check_seconds
from hydrostat.errors import InputError, UnsolvedError, shown


def add_teleop(commands) -> None:
    """Add the command to a parser's."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "teleop",
        help="drive a limb by hand, in the browser, over a poor link",
        description="Drive a limb by hand in the browser: a local model answers at once, the robot follows over a "
        "link. Both run on this machine unless told otherwise; they need a token then, which is read from the "
        f"environment as {TOKEN}.",
    )
    parser.add_argument("robot", metavar="ROBOT|FILE.toml")
    parser.add_argument("--limb", default="", metavar="NAME", help="which one of a robot with several")
    parser.add_argument("--delay", type=float, default=0.0, metavar="S", help="of the link, in each direction (0) [s]")
    parser.add_argument("--jitter", type=float, default=0.0, metavar="S", help="largest change of the delay (0) [s]")
    parser.add_argument("--loss", type=float, default=0.0, metavar="SHARE", help="of packets, 0 to 1 (0)")
    parser.add_argument("--bandwidth", default="none", metavar="RATE", help="such as 10kbit (default none: no limit)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the link (default 0)")
    parser.add_argument("--page-port", type=int, default=8080, metavar="N", help="of the page; the next that is free")
    parser.add_argument("--seconds", type=float, default=0.0, metavar="S", help="after which it ends (0: Ctrl-C) [s]")
    parser.add_argument("--connect", metavar="HOST:PORT", help="drive a robot's side that runs there")
    parser.add_argument("--robot-side", action="store_true", help="be the robot's side, and wait for an operator")
    parser.add_argument("--host", default="127.0.0.1", metavar="IP", help="where the robot's side listens (127.0.0.1)")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="where the robot's side listens (0: any)")


def run_teleop(options) -> int:
    """Drive the limb, or be the robot's side; the exit code."""
    for extra in ("msgspec", "viser"):
        if importlib.util.find_spec(extra) is None:
            raise ImportError(f"teleoperation needs {extra}: pip install 'hydrostat[teleop]'")
    check_seconds(options.seconds)
    check_port("--port", options.port)
    check_port("--page-port", options.page_port)
    from hydrostat.teleoperation import LinkConditions, bits_per_second, check_door, find_limb

    token = os.environ.get(TOKEN, "")
    check_door(options.host, token)
    peer = _address(options.connect, token)
    find_limb(options.robot, options.limb)
    bandwidth = bits_per_second(options.bandwidth)
    conditions = LinkConditions(options.delay, options.jitter, options.loss, bandwidth, seed=options.seed)
    if options.robot_side:
        return _be_the_robot(options, token, bandwidth)
    from hydrostat.live.served_page import remove_folders
    from hydrostat.teleoperation import Driving

    def close() -> str:
        remove_folders()
        return "the page is closed"

    before_leaving(close)
    bar = terminal.progress()
    try:
        driving = Driving(
            options.robot, conditions, limb=options.limb, token=token, peer=peer, page_port=options.page_port,
            say=bar.say,
        )  # fmt: skip
    finally:
        bar.close()
    with driving:
        print(f"drive {options.robot} at {driving.address}", flush=True)
        driving.run(options.seconds or float("inf"))
    return 0


def _be_the_robot(options, token: str, bandwidth: float) -> int:
    """Start the robot's side, and wait until it ends."""
    from hydrostat.teleoperation import Episode, SideSettings, start_side

    seconds = options.seconds or 1e9
    episode = Episode(seconds, bandwidth, options.port, seed=options.seed)
    settings = SideSettings("robot", options.robot, options.limb, (episode,), token=token, host=options.host)
    process, port = start_side(settings)
    print(f"{options.robot} listens on {options.host}:{port}", flush=True)
    if process.wait():
        raise UnsolvedError(f"the robot's side ended with code {process.returncode}")
    return 0


def _address(text: str | None, token: str) -> tuple[str, int] | None:
    """The address of a robot's side."""
    from hydrostat.teleoperation import check_door

    if text is None:
        return None
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 2**16:
        raise InputError(f"--connect must be an address such as 192.0.2.7:5000; got {shown(text)}")
    check_door(host, token)
    return host, int(port)
