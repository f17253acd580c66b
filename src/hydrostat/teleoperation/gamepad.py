"""Gamepads: a small page of our own around viser's, which reads the browser's Gamepad API and sends what it says.

viser's page offers no gamepads, so ours holds it in a frame. It posts the sticks of the first gamepad thirty times a
second to the address that it came from, under a secret that only this page knows: another page in the same browser
cannot move the robot, neither here nor through viser's page (`own_requests`). Left stick: x and y; right stick, up and
down: z.
"""

import hmac
import json
import secrets
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from hydrostat.live.own_requests import is_own

SPEED = 0.08
"""Speed of the tip at a stick that is pushed all the way [m/s]."""
_DEAD = 0.12  # of a stick's range, within which it is at rest
_MOST_BODY = 400
_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>hydrostat teleop</title>
<style>html,body{margin:0;height:100%%;background:#15191e;font:13px sans-serif;color:#dde}
iframe{border:0;width:100%%;height:calc(100%% - 26px)}#bar{height:26px;line-height:26px;padding:0 10px}</style></head>
<body><div id="bar">no gamepad: press a button of one to use it</div>
<iframe src="http://%(host)s:%(port)d/" allow="gamepad"></iframe><script>
const bar=document.getElementById('bar');let quiet=true;
async function poll(){const pads=[...navigator.getGamepads()].filter(p=>p&&p.connected);
if(pads.length){const a=[...pads[0].axes].slice(0,4).map(v=>Math.round(v*1000)/1000);while(a.length<4)a.push(0);
bar.textContent='gamepad: '+pads[0].id;const still=a.every(v=>Math.abs(v)<%(dead)g);
if(!still||!quiet){quiet=still;try{await fetch('/%(secret)s',{method:'POST',body:JSON.stringify(a)})}catch(e){}}}
setTimeout(poll,33)}poll();</script></body></html>"""


def velocity_of(axes: list[float]) -> np.ndarray:
    """The velocity that the axes of a gamepad ask for [m/s]: x to the right, y away, z up."""
    sticks = np.clip(np.asarray(axes[:4], float), -1.0, 1.0)
    sticks = np.where(np.abs(sticks) < _DEAD, 0.0, sticks)
    return SPEED * np.array([sticks[0], -sticks[1], -sticks[3]])


class GamepadPage:
    """The page around viser's, served to this machine alone."""

    def __init__(self, viser_port: int, move: Callable[[np.ndarray], None], port: int = 0):
        """**Arguments:** `viser_port`: of the page that it holds; `move`: gets velocities [m/s]; `port`: 0 for any."""
        secret = secrets.token_urlsafe(16)
        values = {"host": "127.0.0.1", "port": viser_port, "secret": secret, "dead": _DEAD}
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler((_PAGE % values).encode(), secret, move))
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        """The port of the page."""
        threading.Thread(target=self._server.serve_forever, daemon=True, name="gamepad page").start()

    def close(self) -> None:
        """Stop serving the page."""
        self._server.shutdown()
        self._server.server_close()


def _handler(page: bytes, secret: str, move: Callable[[np.ndarray], None]) -> type[BaseHTTPRequestHandler]:
    """The answers to requests."""

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self):
            """Give the page."""
            if not self._is_own():
                return self._answer(403)
            return self._answer(200 if self.path == "/" else 404, page if self.path == "/" else b"")

        def do_POST(self):
            """Take the axes of a gamepad."""
            is_known = hmac.compare_digest(self.path.encode("utf-8", "replace"), f"/{secret}".encode())
            if not is_known or not self._is_own():
                return self._answer(403)
            try:
                size = int(self.headers.get("Content-Length", 0))
                axes = json.loads(self.rfile.read(size)) if 0 < size <= _MOST_BODY else None
                if not (isinstance(axes, list) and len(axes) >= 4 and np.all(np.isfinite(np.asarray(axes, float)))):
                    return self._answer(400)
            except (ValueError, TypeError, OverflowError, RecursionError):
                return self._answer(400)
            move(velocity_of(axes))
            return self._answer(204)

        def _is_own(self) -> bool:
            return is_own(self.headers.get("Host"), self.headers.get("Origin"))

        def _answer(self, code: int, body: bytes = b"") -> None:
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args) -> None:
            """Say nothing."""

    return Handler
