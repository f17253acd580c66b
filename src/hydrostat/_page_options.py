"""Options of commands that serve a page, checked before anything slow is imported."""

import math
import socket

from hydrostat.errors import InputError, shown

TOKEN = "HYDROSTAT_TOKEN"
"""The variable of the environment that holds the token: arguments of a process can be read by others."""


def check_port(option: str, port: int) -> None:
    """Refuse what is no number of a port; 0 is any that is free."""
    if not 0 <= port < 2**16:
        raise InputError(f"{option} must be a whole number from 0 to 65535; got {port}")


def check_seconds(seconds: float | None) -> None:
    """Refuse times that never come."""
    if seconds is not None and not (math.isfinite(seconds) and seconds >= 0.0):
        raise InputError(f"--seconds must be a finite number at least 0; got {seconds:g}")


def check_listening(host: str, port: int) -> None:
    """Refuse an address that is not one of this machine's, or where somebody listens already."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
            tried.listen()
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no name of a machine"
        raise InputError(f"nobody can listen at --host {shown(host)} --port {port}: {reason}") from None
