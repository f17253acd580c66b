"""Driving a limb from the page: the robot's side as a process of its own, the link, and the operator's side here."""

import subprocess
import time
from collections.abc import Callable

import numpy as np

from hydrostat.errors import UnsolvedError
from hydrostat.teleoperation.adaptation import LimbEstimate
from hydrostat.teleoperation.channel import Link, LinkConditions
from hydrostat.teleoperation.clocks import RealClock
from hydrostat.teleoperation.endpoint import Endpoint
from hydrostat.teleoperation.hands import HapticDevice
from hydrostat.teleoperation.limbs import find_limb
from hydrostat.teleoperation.operator_side import OperatorSide
from hydrostat.teleoperation.page import TeleopPage
from hydrostat.teleoperation.page_device import PageDevice
from hydrostat.teleoperation.processes import Episode, SideSettings, port_of, start_process
from hydrostat.teleoperation.simulated import TICK, SimulatedLimb

_REACH = 0.35  # of the limb's length, that the page lets the tip go from where it starts
_AHEAD = 0.08  # of the limb's length, from the tip to the face of the obstacle below it
_ASIDE, _RADIUS = 0.2, 0.06  # of the limb's length: how far to port of the tip a ball lies on that face, and its radius
_MOST_BALLS = 3  # that the operator's model can have around it


class Driving:
    """A limb that is driven from a page.

    with Driving("squid", LinkConditions(delay=0.5)) as driving:
        print(driving.address)
        driving.run()
    """

    def __init__(
        self,
        robot: str,
        conditions: LinkConditions | None = None,
        *,
        limb: str = "",
        token: str = "",
        peer: tuple[str, int] | None = None,
        page_port: int = 8080,
        haptic: HapticDevice | None = None,
        softer_percent: float = 10.0,
        say: Callable[[str], None] = lambda text: None,
    ):
        """**Arguments:** `robot`: name or TOML file; `conditions`: of the link; `limb`: which one, of several; `token`:
        that both sides prove; `peer`: address of a robot's side that runs elsewhere, None to start one here; `haptic`:
        a device that takes the place of the page's inputs and is given the forces; `softer_percent`: how much softer
        the simulated robot is than its model; `say`: gets what is being done.
        """
        conditions = conditions or LinkConditions()
        self._process: subprocess.Popen | None = None
        self._link: Link | None = None
        say("compiling")
        found = find_limb(robot, limb)
        # A robot with a body has eyes.
        model = SimulatedLimb(found, balls=_MOST_BALLS if found.body is not None else 0)
        tip = model.view.tip
        if peer is None:
            say("starting the robot's side")
            length = model.limb.length
            face = ((float(tip[0]), float(tip[1]), float(tip[2] - _AHEAD * length)), (0.0, 0.0, 1.0))
            ball = ((face[0][0], face[0][1] + _ASIDE * length, face[0][2] + _RADIUS * length), _RADIUS * length)
            balls = (ball,) if model.balls else ()
            episode = Episode(1e9, conditions.bandwidth, 0, seed=conditions.seed)
            settings = SideSettings("robot", robot, limb, (episode,), token=token, faces=(face,), balls=balls,
                                    stiffness_scale=1.0 - 0.01 * softer_percent)  # fmt: skip
            self._process, port = start_side(settings)
            self._link = Link(conditions, ("127.0.0.1", port)).__enter__()
            peer = ("127.0.0.1", self._link.port)
        self.device = PageDevice(tip, _REACH * model.limb.length, haptic)
        estimate = LimbEstimate(model.limb) if model.limb.spec.tendons else None
        endpoint = Endpoint(token, host="127.0.0.1" if peer[0].startswith("127.") else "0.0.0.0", peer=peer)
        self.side = OperatorSide(model, estimate, endpoint, self.device, bandwidth=conditions.bandwidth)
        self.page = TeleopPage(self.side, self.device, port=page_port, title=model.limb.name)
        self.clock = RealClock(TICK)

    @property
    def address(self) -> str:
        """The address of the page, with gamepads."""
        return f"http://127.0.0.1:{self.page.gamepads.port}/"

    def run(self, seconds: float = np.inf, until: Callable[[], bool] = lambda: False) -> None:
        """Drive for some seconds, until something holds, or until the robot's process ends."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until():
            self.clock.wait()
            self.side.tick(self.clock.now)
            if self._process is not None and self._process.poll() is not None:
                said = "".join(self._process.stdout or ())
                raise UnsolvedError(f"the robot's side ended with code {self._process.returncode} {said}".strip())

    def __enter__(self) -> "Driving":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """End the page, the link and the robot's side."""
        self.page.close()
        if self._link is not None:
            self._link.close()
        self.side.endpoint.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def start_side(settings: SideSettings) -> tuple[subprocess.Popen, int]:
    """The process of a side, and the port that it listens on; it ends when this process does."""
    process = start_process(settings)
    return process, port_of(process)
