"""Replays within a notebook."""

import html
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hydrostat import errors
from hydrostat.results.replaying import replay

if TYPE_CHECKING:
    from hydrostat.results.trajectory import Trajectory


class Shown:
    """A replay that a notebook shows where it is the value of a cell; the page is whole, and asks for nothing else."""

    def __init__(self, page: str, height: int):
        self.page, self.height = page, height
        """The page, as HTML."""

    def _repr_html_(self) -> str:
        """The page in a frame of its own."""
        inner = html.escape(self.page, quote=True)
        style = "width:100%;border:0;border-radius:6px"
        return f'<iframe srcdoc="{inner}" height="{self.height}" style="{style}" title="replay"></iframe>'


def show(trajectory: "Trajectory", title: str | None = None, height: int = 480) -> Shown:
    """The replay of a trajectory for a notebook; `height`: of its frame [pixels]."""
    height = errors.whole("height", height, least=50, most=10_000)
    with TemporaryDirectory(prefix="hydrostat-") as folder:
        page = replay(trajectory, Path(folder) / "replay.html", title).read_text(encoding="utf-8")
    return Shown(page, height)
