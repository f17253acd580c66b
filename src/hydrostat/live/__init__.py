"""Live pages: a robot that moves in the browser while it is simulated, and that can be touched there."""

from hydrostat.live.gateway import Gateway
from hydrostat.live.page import LivePage
from hydrostat.live.replay_page import ReplayPage
from hydrostat.live.scene import LiveScene, contact_forces, snapshot
from hydrostat.live.server import Stage, open_server
from hydrostat.live.session import LiveSession
from hydrostat.live.watchers import Watchers

__all__ = [
    "Gateway",
    "LivePage",
    "LiveScene",
    "LiveSession",
    "ReplayPage",
    "Stage",
    "Watchers",
    "contact_forces",
    "open_server",
    "snapshot",
]
