"""Requests to a page's server that are answered: those of our own page and of programs, none of others' pages.

A browser lets every page that is open in it connect to servers of this machine, and says of which page it was; and a
name on the internet may lead to this machine, and then stands as the host of a request. Both are refused.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names of this machine for itself."""


def is_own(host: str | None, origin: str | None) -> bool:
    """Whether a request was made to this machine by its own name, and by our own page or by a program.

    **Arguments:** `host`, `origin`: the fields of its head with these names; None for those that it has not.
    """
    try:
        is_local = urlsplit(f"//{host or ''}").hostname in LOOPBACK
        return is_local and (origin is None or urlsplit(origin).netloc == host)
    except ValueError:
        return False


def guarded(answer: Callable[..., Any]) -> Callable[..., Any]:
    """The answer of a server to requests, for our own page alone."""
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    def answer_to(connection: Any, request: Any) -> Any:
        if not is_own(request.headers.get("Host"), request.headers.get("Origin")):
            return Response(403, "Forbidden", Headers(), b"this page is for the browsers of this machine alone")
        return answer(connection, request)

    return answer_to
