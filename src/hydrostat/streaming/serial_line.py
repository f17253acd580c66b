"""A serial line by the operating system's own calls."""

import os
import select
import time

from hydrostat.errors import InputError, UnsolvedError, shown

_SECONDS_TO_WRITE = 5.0  # after which a line that takes nothing counts as dead


class SerialLine:
    """A serial line in raw mode: eight bits, no parity, no flow control; every byte passes as it is."""

    def __init__(self, port: str, baud: int = 115200):
        try:
            import termios
        except ImportError:
            raise InputError("serial lines need an operating system with POSIX terminals, such as Linux") from None
        speed = getattr(termios, f"B{baud}", None)
        if speed is None:
            raise InputError(f"`baud` must be a rate that serial lines have, such as 115200; got {baud}")
        self.port = port
        try:
            self._file = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is no file name"
            raise InputError(f"the port {shown(port)} could not be opened: {reason}") from None
        try:
            settings = termios.tcgetattr(self._file)
            special = settings[6]
            special[termios.VMIN], special[termios.VTIME] = 0, 0
            flags = termios.CS8 | termios.CREAD | termios.CLOCAL
            # Neither input, output nor local modes; the control flags are those of eight bits.
            termios.tcsetattr(self._file, termios.TCSANOW, [0, 0, flags, 0, speed, speed, special])
        except termios.error:
            os.close(self._file)
            raise InputError(f"the port must be a serial line such as /dev/ttyUSB0; got {shown(port)}") from None

    def fileno(self) -> int:
        """The file descriptor, for `select`."""
        return self._file

    def read(self) -> bytes:
        """All bytes that have arrived; none where nothing has."""
        try:
            return os.read(self._file, 4096)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise UnsolvedError(f"the line to {self.port} broke: {error.strerror}") from None

    def write(self, data: bytes) -> None:
        """Send bytes, all of them."""
        late = time.monotonic() + _SECONDS_TO_WRITE
        while data:
            try:
                data = data[os.write(self._file, data) :]
            except BlockingIOError:
                if time.monotonic() > late:
                    raise UnsolvedError(f"the line to {self.port} takes no more bytes") from None
                select.select([], [self._file], [], 0.1)
            except OSError as error:
                raise UnsolvedError(f"the line to {self.port} broke: {error.strerror}") from None

    def close(self) -> None:
        """Give the line back."""
        os.close(self._file)
