"""The pages that watch: which of them have drawn the last pictures, and with how much detail each is drawn.

A browser that draws slowly gets pictures as fast as it draws them, always the newest, and with less detail: no shadows,
and light from above instead of a whole sky.
"""

import json
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from hydrostat.live.served_page import REPORT

if TYPE_CHECKING:
    from viser import ClientHandle, ViserServer

DETAILS = ("automatic", "full", "light")
"""How much detail pages are drawn with; automatic: light where a browser draws by the processor, or slowly."""
_AHEAD = 2  # pictures that may be under way to a page: one is drawn, one comes
PATIENCE = 1.0
"""Time without an answer after which a page is not waited for [s]: it may be in a hidden tab."""
_LONGEST_REPORT = 200  # characters
_SLOW_MS, _SLOW_REPORTS = 30.0, 40  # from picture to picture, in this number of answers one after the other
_SKY, _FLOOR = (255, 255, 255), (186, 178, 170)  # colours of the light from above and from below
_SKY_INTENSITY = 2.2


class _Watcher:
    """One page."""

    def __init__(self, client: "ClientHandle"):
        self.client = client
        self.answered, self.heard = 0, time.monotonic()
        self.slow, self.light = 0, False
        self.judged_light = False


class Watchers:
    """The pages of a server."""

    def __init__(self, server: "ViserServer", answered: Callable[[], object] = lambda: None):
        """**Arguments:** `answered`: called when a page that was waited for has drawn a picture."""
        self._answered, self._waited_for = answered, False
        self._each: dict[int, _Watcher] = {}
        self._pictures, self._stopped = 0, False
        self._changed = threading.Condition()
        self.patience = PATIENCE
        """Time without an answer after which a page is not waited for [s]."""
        self.detail = DETAILS[0]
        """How much detail is asked for, one of `DETAILS`."""
        server.on_client_connect(self._connected)
        server.on_client_disconnect(self._disconnected)

    @property
    def light(self) -> int:
        """The number of pages that are drawn with less detail."""
        return sum(one.light for one in list(self._each.values()))

    @property
    def all_light(self) -> bool:
        """Whether there are pages, and all of them are drawn with less detail."""
        each = list(self._each.values())
        return bool(each) and all(one.light for one in each)

    @property
    def under_way(self) -> int:
        """The largest number of pictures that a page was sent and has not drawn yet."""
        return max((self._pictures - one.answered for one in list(self._each.values())), default=0)

    def ready(self, ahead: bool = False) -> bool:
        """Whether a page that answers has drawn what was sent, but for a picture under way.

        The fastest page is waited for: one that is slower gets the newest picture when it draws the next.

        **Arguments:** `ahead`: for a picture that is not to wait for its turn, such as of what a user has done: one
        more may be under way.
        """
        now, most = time.monotonic(), _AHEAD + ahead
        awaited = [one for one in list(self._each.values()) if now - one.heard <= self.patience]
        found = not awaited or min(self._pictures - one.answered for one in awaited) < most
        self._waited_for = not found
        return found

    def sent(self, tell: bool = False) -> None:
        """A picture was sent: ask the pages whether it is drawn.

        **Arguments:** `tell`: call `answered` when the next page says so.
        """
        with self._changed:
            self._waited_for = self._waited_for or tell
            self._pictures += 1
            self._changed.notify_all()

    def set_detail(self, detail: str) -> None:
        """Draw all pages with some detail, one of `DETAILS`."""
        self.detail = detail
        for one in list(self._each.values()):
            self._choose(one)

    def _connected(self, client: "ClientHandle") -> None:
        one = _Watcher(client)
        one.answered = self._pictures
        self._each[client.client_id] = one
        threading.Thread(target=self._follow, args=(one,), daemon=True, name="watcher").start()

    def _disconnected(self, client: "ClientHandle") -> None:
        self._each.pop(client.client_id, None)
        with self._changed:
            self._changed.notify_all()

    def _follow(self, one: _Watcher) -> None:
        """Ask a page after each picture for its report: it answers when it draws the next."""
        self._choose(one)
        while one.client.client_id in self._each:
            with self._changed:
                if not self._changed.wait_for(lambda: self._pictures > one.answered, timeout=1.0):
                    continue
                asked = self._pictures
            try:
                report = one.client.local_storage.get_item(REPORT, timeout=5.0)
            except TimeoutError:
                continue
            except RuntimeError:
                # It has gone, or its browser keeps its storage to itself: that is an answer, too.
                report = None
                time.sleep(0.01)
            one.answered, one.heard = asked, time.monotonic()
            self._judge(one, report)
            if self._waited_for:
                self._answered()

    def _judge(self, one: _Watcher, report: str | None) -> None:
        """Find out from the report of a page whether it is slow. What is slow once stays so: light does not flicker."""
        if report is not None and len(report) > _LONGEST_REPORT:
            return
        try:
            found = json.loads(report) if report else {}
            software, slow = bool(found.get("software")), float(found.get("frame_ms") or 0.0) > _SLOW_MS
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            return
        one.slow = one.slow + 1 if slow else 0
        if not one.judged_light and (software or one.slow >= _SLOW_REPORTS):
            one.judged_light = True
            self._choose(one)

    def _choose(self, one: _Watcher) -> None:
        light = one.judged_light if self.detail == DETAILS[0] else self.detail == DETAILS[2]
        if light == one.light:
            return
        one.light = light
        scene = one.client.scene
        with one.client.atomic():
            scene.configure_default_lights(True, cast_shadow=not light)
            scene.configure_environment_map(None if light else "city")
            if light:
                scene.add_light_hemisphere("/sky", sky_color=_SKY, ground_color=_FLOOR, intensity=_SKY_INTENSITY)
            else:
                scene.remove_by_name("/sky")
