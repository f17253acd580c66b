"""Both sides as processes with a link between them, on a clock that they share: an experiment that can be repeated.

This process plays the link and has the clock; the robot's side and the operator's side are processes of their own,
which exchange real packets over real sockets. Simulated time waits for the slower of them, so that the results do not
depend on how fast the machine is; the time in which the local model answers the hand is taken by the machine's clock.
"""

import dataclasses
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hydrostat.errors import UnsolvedError
from hydrostat.teleoperation.channel import Link, LinkConditions
from hydrostat.teleoperation.clocks import END, SharedTime
from hydrostat.teleoperation.processes import Episode, SideSettings, start_process

TICK = 0.005
"""Time of a tick of both sides [s]."""
_START_SECONDS = 600.0  # at most, until a process has compiled what it needs
_MOST_SAID = 400  # characters of what a process said before it ended


class SideError(UnsolvedError):
    """The process of a side ended before its work was done."""


class Rows(NamedTuple):
    """The rows of both sides of one episode, by name, one for each tick; and what the link carried."""

    robot: dict[str, np.ndarray]
    operator: dict[str, np.ndarray]
    carried_bps: tuple[float, float]
    """Bits per second to the robot and to the operator, those of lost packets included."""
    lost: int
    """Number of packets that the link lost."""


def run_experiment(
    robot: SideSettings,
    operator: SideSettings,
    links: Sequence[LinkConditions],
    mediated: Sequence[bool],
    seconds: float,
    on_progress: Callable[[float], None] = lambda done: None,
) -> list[Rows]:
    """Episodes over links, one after the other, with the same two processes.

    **Arguments:** `robot`, `operator`: settings of both sides, whose episodes, clock and files are set here;
    `mediated`: for each link, whether the local model answers the hand; `seconds`: of each episode.
    """
    count = len(links)
    with tempfile.TemporaryDirectory(prefix="hydrostat-") as folder:
        shared = SharedTime()
        # All ports are known before the processes start: each episode has a link and a port of its own.
        ports = _free_ports(count)
        made = [Link(conditions, ("127.0.0.1", port)) for conditions, port in zip(links, ports, strict=True)]
        sides = []
        try:
            for side, own in (("robot", ports), ("operator", [link.port for link in made])):
                episodes = tuple(
                    Episode(seconds, conditions.bandwidth, port, through_model, conditions.seed)
                    for conditions, port, through_model in zip(links, own, mediated, strict=True)
                )
                settings = robot if side == "robot" else operator
                log = str(Path(folder) / side)
                changes = {"side": side, "episodes": episodes, "clock_port": shared.port, "log": log}
                sides.append(start_process(dataclasses.replace(settings, **changes), stderr=subprocess.PIPE))
            found = []
            for number, link in enumerate(made):
                _conduct(shared, sides, link, seconds, lambda done, n=number: on_progress((n + done) / count))
                carried = (link.to_robot.carried_bits / seconds, link.to_operator.carried_bits / seconds)
                found.append((carried, link.to_robot.lost + link.to_operator.lost))
            for one in sides:
                one.wait(60.0)
            base = Path(folder)
            return [
                Rows(_rows(base / f"robot-{n}.npz"), _rows(base / f"operator-{n}.npz"), *found[n]) for n in range(count)
            ]
        finally:
            for one in sides:
                one.kill()
                one.wait()
            for link in made:
                link.close()
            shared.close()


def _conduct(shared: SharedTime, sides, link: Link, seconds: float, on_progress: Callable[[float], None]) -> None:
    """Grant all ticks of an episode, and carry packets between them."""
    try:
        for _ in range(2):
            shared.accept(_START_SECONDS)
        ticks = round(seconds / TICK)
        for tick in range(1, ticks):
            link.deliver(tick * TICK)
            shared.grant(tick)
            link.collect(tick * TICK)
            if tick % 200 == 0:
                on_progress(tick / ticks)
        shared.grant(END)
        shared.release()
    except (OSError, TimeoutError) as error:
        gone = [one for one in sides if one.poll() is not None]
        said = [file.read()[-_MOST_SAID:] for one in gone for file in (one.stdout, one.stderr)]
        raise SideError(f"a side of the link has gone: {' '.join(' '.join(said).split()) or error}") from error


def _free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens on."""
    import socket

    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _rows(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as data:
        return {name: data[name] for name in data.files}
