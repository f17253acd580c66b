"""G-code for motion controllers that take lines, not pulses."""

from pathlib import Path

import numpy as np

from hydrostat.errors import InputError

_PLAIN = str.maketrans("()", "[]")  # a comment cannot hold another

AXES = "XYZABCUVW"
"""The nine axis letters of the RS-274 dialect (NIST 6556; LinuxCNC): one per wire."""


def write_gcode(path: Path, times: np.ndarray, travel: np.ndarray, title: str) -> int:
    """Write the wires' travel as straight coordinated moves; the number of moves.

    Each line says where all wires are at the end of one interval, and by inverse-time feed (G93: F is one over the
    minutes that the move takes) when: all axes arrive together.

    **Arguments:** `times`: ends of the intervals, the start included, (m,) [s]; `travel`: change of each wire's length
    since the start, (m, w) [m]; positive lengthens the wire.
    """
    if travel.shape[1] > len(AXES):
        raise InputError(f"G-code has {len(AXES)} axes; got {travel.shape[1]} wires")
    letters = AXES[: travel.shape[1]]
    lines = [
        f"({title.translate(_PLAIN)})",
        "(one axis per wire, in millimetres from the start; positive lengthens the wire)",
        "G21 G90 G93",
    ]
    for seconds, row in zip(np.diff(times), travel[1:] * 1e3, strict=True):
        position = " ".join(f"{letter}{value:.6f}" for letter, value in zip(letters, row, strict=True))
        lines.append(f"G1 {position} F{60.0 / seconds:.6f}")
    lines += ["G94", "M2"]
    path.write_text("\n".join(lines) + "\n")
    return len(times) - 1
