"""Live pages: a robot that moves in the browser while it is simulated, and that can be touched there."""

from hydrostat.live.scene import LiveScene, contact_forces, snapshot
from hydrostat.live.server import Stage, open_server

__all__ = ["LiveScene", "Stage", "contact_forces", "open_server", "snapshot"]
