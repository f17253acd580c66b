"""G-code for motion controllers that take lines, not pulses."""

from pathlib import Path

import numpy as np

from hydrostat.errors import InputError, whole

_PLAIN = str.maketrans("()", "[]")  # a comment cannot hold another

AXES = "XYZABCUVW"
"""The nine axis letters of the RS-274 dialect (NIST 6556; LinuxCNC): one per wire."""


def write_gcode_files(
    path: Path, times: np.ndarray, travel: np.ndarray, title: str, axes: int = len(AXES)
) -> list[Path]:
    """Write the travel of any number of wires as G-code, one file for each motion controller; their paths.

    All files have the same moves in the same times, so that controllers that start together stay together. Where one
    is enough it has the path's own name; else they are numbered.

    **Arguments:** `axes`: of a controller, 3 for GRBL; others as in `write_gcode`.
    """
    whole("axes", axes, least=1, most=len(AXES))
    parts = [travel[:, first : first + axes] for first in range(0, travel.shape[1], axes)]
    if len(parts) == 1:
        write_gcode(path, times, travel, title)
        return [path]
    paths = [path.with_name(f"{path.stem}-{number}{path.suffix}") for number in range(1, len(parts) + 1)]
    for number, (one, part) in enumerate(zip(paths, parts, strict=True)):
        first = number * axes + 1
        write_gcode(one, times, part, f"{title}, wires {first} to {first + part.shape[1] - 1}")
    return paths


def write_gcode(path: Path, times: np.ndarray, travel: np.ndarray, title: str) -> int:
    """Write the wires' travel as straight coordinated moves; the number of moves.

    Each line says where all wires are at the end of one interval, and by inverse-time feed (G93: F is one over the
    minutes that the move takes) when: all axes arrive together. G92 makes the place where the motors stand the zero.

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
        "G92 " + " ".join(f"{letter}0" for letter in letters),
    ]
    for seconds, row in zip(np.diff(times), travel[1:] * 1e3, strict=True):
        position = " ".join(f"{letter}{value:.6f}" for letter, value in zip(letters, row, strict=True))
        lines.append(f"G1 {position} F{60.0 / seconds:.6f}")
    lines += ["G94", "M2"]
    path.write_text("\n".join(lines) + "\n")
    return len(times) - 1
