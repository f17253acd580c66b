"""The two sides as processes of their own: each reads what it is to do from its standard input, as JSON.

    python -m hydrostat.teleoperation.processes

Settings, and with them the token, come by the standard input, since arguments of a process can be read by others.
"""

import json
import os
import subprocess
import sys
import threading
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hydrostat.errors import HydrostatError, InputError, UnsolvedError
from hydrostat.teleoperation.clocks import Clock, RealClock, SharedClock
from hydrostat.teleoperation.endpoint import Endpoint

if TYPE_CHECKING:
    from hydrostat.teleoperation.simulated import SimulatedLimb


@dataclass(frozen=True)
class Episode:
    """One session between both sides."""

    seconds: float
    """How long it lasts [s]; infinite for a process that runs until it is ended."""
    bandwidth: float
    """Bandwidth of the link [bit/s]."""
    port: int
    """Port of the robot's side for the robot, of the link for the operator."""
    mediated: bool = True
    """Whether the operator's local model answers the hand."""
    seed: int = 0


@dataclass(frozen=True)
class SideSettings:
    """The settings of the process of one side."""

    side: str
    """Which side: robot or operator."""
    robot: str
    """The name or the file of the robot."""
    limb: str
    """The limb of a robot that has several; empty for the default."""
    episodes: tuple[Episode, ...]
    token: str = ""
    host: str = "127.0.0.1"
    clock_port: int = 0
    """Port of the process that has the shared clock; 0 for the machine's clock."""
    stiffness_scale: float = 1.0
    """Young's modulus of the robot's limb over that which both sides know."""
    contact_stiffness: float = 40.0
    """Stiffness of the contact with obstacles [N/m]."""
    faces: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...] = ()
    """A point [m] and the outward normal of each face of the obstacles."""
    balls: tuple[tuple[tuple[float, ...], float], ...] = ()
    """Centre and radius of each ball among the obstacles [m]."""
    start: tuple[float, ...] = ()
    """Place of the hand at the start [m]; where the tip is when empty."""
    force_scale: float = 25.0
    """Force on the hand over that on the limb."""
    log: str = ""
    """File, without its ending, that the rows of each episode go to; empty for none."""

    def text(self) -> str:
        """The settings as JSON."""
        return json.dumps(asdict(self))

    @staticmethod
    def of(text: str) -> "SideSettings":
        """The settings that a text holds."""
        data = json.loads(text)
        episodes = tuple(Episode(**one) for one in data.pop("episodes"))
        faces = tuple((tuple(point), tuple(normal)) for point, normal in data.pop("faces"))
        balls = tuple((tuple(centre), radius) for centre, radius in data.pop("balls"))
        return SideSettings(episodes=episodes, faces=faces, balls=balls, start=tuple(data.pop("start")), **data)


@dataclass
class Log:
    """Rows of numbers by name, one for each tick."""

    rows: dict[str, list] = field(default_factory=dict)

    def add(self, **values: Any) -> None:
        """Add a row."""
        for name, value in values.items():
            self.rows.setdefault(name, []).append(np.array(value, float))

    def save(self, path: str) -> None:
        """Write all rows into one file."""
        np.savez(path, **{name: np.array(values) for name, values in self.rows.items()})  # type: ignore[arg-type]


def start_process(settings: SideSettings, stderr: int | None = None) -> subprocess.Popen:
    """Start the process of a side; it ends when this process does.

    It is in a session of its own: Ctrl-C at the terminal is for this process alone.

    **Arguments:** `stderr`: as of `subprocess.Popen`.
    """
    command, pipe = [sys.executable, "-m", "hydrostat.teleoperation.processes"], subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=stderr, text=True, start_new_session=True)
    assert process.stdin is not None
    process.stdin.write(settings.text() + "\n")
    process.stdin.flush()
    return process


def port_of(process: subprocess.Popen) -> int:
    """The port that a process says that it listens on; its error where it says one."""
    assert process.stdout is not None
    said = process.stdout.readline()
    if not said:
        raise UnsolvedError(f"a side of the link ended with code {process.wait()} before it listened")
    answer = json.loads(said)
    if "error" in answer:
        raise InputError(answer["error"])
    return answer["port"]


def main() -> int:
    """Run one side until its episodes are over, or its clock ends; the exit code.

    What is no bug is said in one line on standard output, as the port is.
    """
    text = sys.stdin.readline()
    if not text:  # the process that started this one has gone
        return 0
    try:
        _run(SideSettings.of(text))
    except (HydrostatError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        print(json.dumps({"error": " ".join(reason.split())}), flush=True)
        return 2
    return 0


def _run(settings: SideSettings) -> None:
    """Run the episodes of one side."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    from hydrostat.teleoperation.limbs import find_limb
    from hydrostat.teleoperation.simulated import TICK, SimulatedLimb

    limb = SimulatedLimb(find_limb(settings.robot, settings.limb), balls=len(settings.balls))
    run = _robot_episode if settings.side == "robot" else _make_operator_episode(limb)
    for number, episode in enumerate(settings.episodes):
        limb.reset()
        clock = (
            SharedClock(settings.clock_port, settings.side, TICK) if settings.clock_port else RealClock(TICK)
        )  # fmt: skip
        log = Log()
        run(settings, episode, limb, clock, log)
        if settings.log:
            log.save(f"{settings.log}-{number}.npz")


def _end_with_parent() -> None:
    """End when the standard input does: the process that started this one has gone."""
    while sys.stdin.readline():
        pass
    os._exit(0)


def _robot_episode(settings: SideSettings, episode: Episode, limb: "SimulatedLimb", clock: Clock, log: Log) -> None:
    """One session of the robot's side."""
    from hydrostat.teleoperation.robot_side import RobotSide

    faces = [(np.array(point), np.array(normal)) for point, normal in settings.faces]
    balls = [(np.array(centre), radius) for centre, radius in settings.balls]
    limb.alter(settings.stiffness_scale, faces, settings.contact_stiffness, balls)
    endpoint = Endpoint(settings.token, host=settings.host, port=episode.port)
    side = RobotSide(limb, endpoint, bandwidth=episode.bandwidth, faces=faces, balls=balls, seed=episode.seed)
    print(json.dumps({"port": endpoint.port}), flush=True)
    while clock.wait() and clock.now < episode.seconds:
        side.tick(clock.now)
        playout, view = side.playout, limb.view
        log.add(time=clock.now, tip=view.tip, force=view.force, target=playout.place, played=playout.played,
                holding=playout.holding, resuming=playout.resuming, correction=limb.correction)  # fmt: skip
    log.rows["counters"] = [_counts(endpoint)]
    endpoint.close()


def _make_operator_episode(limb: "SimulatedLimb"):
    """A session of the operator's side as a function, with what is compiled once."""
    from hydrostat.teleoperation.adaptation import LimbEstimate
    from hydrostat.teleoperation.hands import VirtualHand
    from hydrostat.teleoperation.operator_side import OperatorSide

    estimate = LimbEstimate(limb.limb) if limb.limb.spec.tendons else None

    def episode_of(settings: SideSettings, episode: Episode, limb: "SimulatedLimb", clock: Clock, log: Log) -> None:
        if estimate is not None:
            estimate.reset()
        start = np.array(settings.start or limb.view.tip)
        hand = VirtualHand(start, _axes(np.array(settings.faces[0][1])), force_scale=settings.force_scale)
        endpoint = Endpoint(settings.token, peer=(settings.host, episode.port))
        options = {"bandwidth": episode.bandwidth, "mediated": episode.mediated}
        side = OperatorSide(limb, estimate, endpoint, hand, **options)
        print(json.dumps({"port": endpoint.port}), flush=True)
        while clock.wait() and clock.now < episode.seconds:
            side.tick(clock.now)
            face = side.faces[0].face if side.faces else None
            log.add(time=clock.now, hand=hand.position(clock.now), intention=hand.intention(clock.now),
                    tip=limb.view.tip, force=limb.view.force, remote_force=side.remote_force, latency=side.latency,
                    scale=1.0 if estimate is None else estimate.scale, stiffness=face.stiffness if face else np.nan,
                    offset=face.normal @ face.point if face else np.nan,
                    correction=limb.correction)  # fmt: skip
        log.rows["counters"] = [_counts(endpoint)]
        endpoint.close()

    return episode_of


def _counts(endpoint: Endpoint) -> np.ndarray:
    """Packets accepted, dropped and sent, and bytes sent."""
    counters = endpoint.counters
    return np.array([counters.accepted, counters.refused, counters.sent, counters.sent_bytes])


def _axes(normal: np.ndarray) -> np.ndarray:
    """The inward normal of a face and two tangents, the first of them level, as rows."""
    inward = -normal / np.linalg.norm(normal)
    level = np.cross(inward, [0.0, 0.0, 1.0])
    level = level / np.linalg.norm(level) if np.linalg.norm(level) > 1e-6 else np.array([1.0, 0.0, 0.0])
    return np.stack([inward, level, np.cross(inward, level)])


if __name__ == "__main__":
    sys.exit(main())
