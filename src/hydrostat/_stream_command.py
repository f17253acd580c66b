"""The command `hydrostat stream`: G-code to motion controllers over serial lines."""

import argparse
import json
import sys

from hydrostat import _terminal as terminal
from hydrostat._leaving import wait_when_interrupted
from hydrostat.errors import InputError
from hydrostat.streaming import stream


def add_stream(commands) -> None:
    """Add the command to a parser's."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "stream",
        help="stream G-code to GRBL controllers over serial lines",
        description="Stream G-code to GRBL controllers over serial lines. Ctrl-C holds the motors and says where they "
        "stand.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE.gcode", help="a file for each controller")
    parser.add_argument(
        "--port", action="append", required=True, metavar="/dev/tty...", help="of the controller; once for each file"
    )
    parser.add_argument("--baud", type=int, default=115200, metavar="N", help="rate of the line (default 115200)")
    parser.add_argument("--buffer", type=int, default=128, metavar="N", help="receive buffer [bytes] (default 128)")
    parser.add_argument(
        "--line", type=int, default=79, metavar="N", help="characters of a line that the controller takes (default 79)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run_stream(options) -> int:
    """Stream the files; the exit code."""
    for name, least in (("buffer", 16), ("line", 8)):
        if getattr(options, name) < least:
            raise InputError(f"--{name} must be at least {least}; got {getattr(options, name)}")
    # Motors need their time to stop: an interrupt must not end the program before they stand.
    wait_when_interrupted()
    bar = terminal.progress()
    try:
        done = stream(
            options.files,
            options.port,
            baud=options.baud,
            buffer=options.buffer,
            longest=options.line,
            progress=lambda share: bar.show("streaming", share),
        )
    finally:
        bar.close()
    if options.json:
        print(json.dumps(done._asdict()))
    else:
        if not done.stopped:
            print(
                f"{done.lines} lines in {done.seconds:.1f} s; at most {done.fullest} bytes waited in a receive buffer"
            )
        for port, travel in zip(options.port, done.travel, strict=True):
            axes = ", ".join(f"{value:.3f}" for value in travel)
            print(f"{port}: motors stand at {axes} mm from the start")
    if done.stopped:
        print(f"hydrostat: interrupted after {done.lines} lines; the motors were held and stand", file=sys.stderr)
        return 130
    return 0
