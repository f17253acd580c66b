"""Write a motion as one HTML file that opens from disk, plays in a loop and can be orbited."""

import html
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hydrostat.viewer.recording import Arm, Curve, Swarm, record
from hydrostat.viewer.shapes import MAX_NODES, Line, Marks, Tube, finite, resample, track

_FRAMES_PER_SECOND = 30
_HOLD_SECONDS = 0.5  # how long the last frame stands before a motion that does not close starts again
_MAX_POINTS = 5000  # of a line that stays
_MAX_BYTES = 6e6  # for the motion; the page itself is 1 MB
_BYTES_PER_BONE, _BYTES_PER_POINT, _BYTES_PER_COPY = 30, 10, 16  # of one frame, measured


def write_replay(
    path: str | Path,
    times: np.ndarray,
    tubes: Sequence[Tube],
    lines: Sequence[Line] = (),
    title: str = "",
    seconds_per_loop: float | None = None,
    marks: Sequence[Marks] = (),
) -> Path:
    """Write an HTML page that replays the motion of tubes and lines, in real time and in a loop; return its path.

    Long motions of many arms are shown with fewer frames a second, so that the file stays below about 8 MB.

    **Arguments:** `path`: the file to write; its folder is made if needed; `times`: [frame] increasing [s]; `tubes`:
    arms; their arrays begin with the axis of `times`; `lines`: wires, targets, paths; those that move begin with the
    axis of `times`; `title`: shown in the corner of the page and on the browser's tab; `seconds_per_loop`: time that
    the motion takes on the screen [s]; None plays it as fast as it happened; `marks`: on the skin of arms.
    """
    times = _checked_times(times, tubes, lines)
    duration = float(times[-1] - times[0])
    seconds = duration if seconds_per_loop is None else float(seconds_per_loop)
    if seconds_per_loop is not None and not (np.isfinite(seconds) and seconds > 0):
        raise ValueError(f"`seconds_per_loop` must be positive; got {seconds_per_loop}")

    shown = np.linspace(times[0], times[-1], _frame_count(seconds if duration > 0 else 0.0, tubes, lines, marks))
    arms = [Arm(tube.name, track(tube, times, shown), tube.color, tube.opacity) for tube in tubes]
    curves = [Curve(line.name, _points(line, times, shown), line.color, line.width) for line in lines]

    swarms = [Swarm(own.name, own.mesh, [own.at(float(time)) for time in shown]) for own in marks]

    controls = "drag to orbit, scroll to zoom"
    if duration > 0:
        # Every frame stands for the same time; a motion that does not close shows its end a little longer.
        sleeps = np.full(len(shown), seconds / (len(shown) - 1))
        sleeps[-1] = 0.0 if _closes(arms, curves) else _HOLD_SECONDS
        speed = duration / seconds
        pace = "real time · " if abs(speed - 1) < 1e-6 else f"{speed:.3g} × real time · "
        controls += ", space to pause"
    else:
        sleeps, pace = np.zeros(1), ""
    page, grid = record(arms, curves, swarms, sleeps)

    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_with_title(page, title, f"{pace}grid {grid:g} m · {controls}"), encoding="utf-8")
    return path


def _checked_times(times: np.ndarray, tubes: Sequence[Tube], lines: Sequence[Line]) -> np.ndarray:
    """Return `times` as an array, or say what does not fit."""
    times = finite(times, "`times`")
    if times.ndim != 1 or len(times) == 0 or np.any(np.diff(times) <= 0):
        raise ValueError(f"`times` must be [frame] and increase; got shape {times.shape}")
    if not tubes and not lines:
        raise ValueError("a replay needs at least one tube or line; got none")
    for kind, items in (("tube", tubes), ("line", lines)):
        names = [item.name for item in items]
        if "" in names or len(set(names)) < len(names):
            raise ValueError(f"every {kind} needs a name of its own; got {names}")
    moving = [("tube", tube.name, len(tube.positions)) for tube in tubes]
    moving += [("line", line.name, len(line.points)) for line in lines if line.points.ndim == 3]
    for kind, name, frames in moving:
        if frames != len(times):
            raise ValueError(f"{kind} {name!r} must have as many frames as `times`, {len(times)}; got {frames}")
    return times


def _frame_count(seconds: float, tubes: Sequence[Tube], lines: Sequence[Line], marks: Sequence[Marks]) -> int:
    """Return as many frames as the eye needs, or as the file may hold."""
    if seconds == 0:
        return 1
    bones = sum(min(tube.positions.shape[1], MAX_NODES) * tube.radii.ndim for tube in tubes)
    points = sum(line.points.shape[1] for line in lines if line.points.ndim == 3)
    copies = sum(own.count for own in marks)
    a_frame = _BYTES_PER_BONE * bones + _BYTES_PER_POINT * points + _BYTES_PER_COPY * copies
    affordable = _MAX_BYTES / max(a_frame, 1)
    return int(max(2, min(np.ceil(seconds * _FRAMES_PER_SECOND) + 1, affordable)))


def _points(line: Line, times: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Return the points [frame, point, 3] of a moving line, or [1, point, 3] of a fixed one, not more than are seen."""
    if line.points.ndim == 3:
        return resample(line.points, times, shown)
    count = len(line.points)
    return line.points[None, np.round(np.linspace(0, count - 1, min(count, _MAX_POINTS))).astype(int)]


def _closes(arms: Sequence[Arm], curves: Sequence[Curve]) -> bool:
    """Tell whether the last frame is the first one again, within a hundredth of what moves."""
    motions = [arm.track.positions for arm in arms] + [curve.points for curve in curves]
    jump = max(np.abs(motion[-1] - motion[0]).max() for motion in motions)
    return bool(jump < 0.01 * max(np.ptp(motion, axis=0).max() for motion in motions))


def _with_title(page: str, title: str, caption: str) -> str:
    """Put the title on the tab and, with the caption, in the corner of the page."""
    title = html.escape(title)
    corner = (
        '<div style="position:fixed;bottom:56px;left:20px;z-index:2;pointer-events:none;color:#29323d;'
        'font-family:system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif">'
        f'<div style="font-size:20px;font-weight:600">{title}</div>'
        f'<div style="font-size:13px;color:#6b7683;margin-top:3px">{caption}</div></div>'
    )
    end = page.rindex("</body>")
    page = page[:end] + corner + page[end:]
    return page.replace("<title>Viser</title>", f"<title>{title or 'hydrostat replay'}</title>", 1)
