"""The shapes of a replay: tubes (arms) and lines (wires, targets, paths), as arrays over time."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from hydrostat.viewer.skin_marks import Copies

Color = tuple[int, int, int]

# A skinned tube follows its centreline to fourth order in the node spacing, so more nodes than this cannot be seen.
MAX_NODES = 33


@dataclass(frozen=True, eq=False)
class Tube:
    """One arm over time, a round tube along its centreline.

    **Arguments:** `name`: its name in the scene tree; unique among the tubes; `positions`: [frame, node, 3] centreline
    nodes from base to tip, world [m]; `rotations`: [frame, node, 3, 3] world; the columns are the section's x, its y
    and the tangent z; `radii`: [node] or [frame, node] [m]; `color`: red, green, blue, 0 to 255; `opacity`: below 1 for
    one that is seen through; None for others.
    """

    name: str
    positions: np.ndarray
    rotations: np.ndarray
    radii: np.ndarray
    color: Color = (232, 121, 88)
    opacity: float | None = None

    @staticmethod
    def ball(name: str, centres: np.ndarray, radius: float, color: tuple[int, int, int] = (70, 110, 150)) -> "Tube":
        """A ball over time, as a very short, very round tube.

        **Arguments:** `name`: its name in the scene tree; `centres`: [frame, 3] world [m]; `radius`: [m]; `color`: red,
        green, blue, 0 to 255.
        """
        z = radius * np.cos(np.linspace(np.pi, 0.0, 13))
        positions = centres[:, None] + z[None, :, None] * np.array([0.0, 0.0, 1.0])
        rotations = np.broadcast_to(np.eye(3), (*positions.shape[:2], 3, 3))
        radii = np.maximum(np.sqrt(np.maximum(radius**2 - z**2, 0.0)), 0.02 * radius)
        return Tube(name, positions, rotations, np.broadcast_to(radii, positions.shape[:2]), color)

    def __post_init__(self) -> None:
        where = f"tube {self.name!r}"
        positions = finite(self.positions, f"`positions` of {where}")
        if positions.ndim != 3 or positions.shape[1] < 2 or positions.shape[2] != 3:
            raise ValueError(
                f"`positions` of {where} must be [frame, node, 3] with at least 2 nodes; got {positions.shape}"
            )
        frames, nodes, _ = positions.shape
        rotations = finite(self.rotations, f"`rotations` of {where}")
        if rotations.shape != (frames, nodes, 3, 3):
            raise ValueError(f"`rotations` of {where} must be {(frames, nodes, 3, 3)}; got {rotations.shape}")
        defect = np.abs(np.swapaxes(rotations, -1, -2) @ rotations - np.eye(3)).max(initial=0.0)
        if defect > 1e-3 or np.any(np.linalg.det(rotations) < 0):
            raise ValueError(f"`rotations` of {where} must be rotation matrices; R^T R differs from 1 by {defect:.2g}")
        radii = finite(self.radii, f"`radii` of {where}")
        if radii.shape not in ((nodes,), (frames, nodes)):
            raise ValueError(f"`radii` of {where} must be {(nodes,)} or {(frames, nodes)}; got {radii.shape}")
        if np.any(radii <= 0):
            raise ValueError(f"`radii` of {where} must be positive; got {radii.min():.3g}")
        _check_color(self.color, where)
        for field, value in (("positions", positions), ("rotations", rotations), ("radii", radii)):
            object.__setattr__(self, field, value)


@dataclass(frozen=True, eq=False)
class Line:
    """A wire, a target curve, the path of a tip.

    **Arguments:** `name`: its name in the scene tree; unique among the lines; `points`: [point, 3] for a line that
    stays, [frame, point, 3] for one that moves, world [m]; `color`: red, green, blue, 0 to 255; `width`: [m].
    """

    name: str
    points: np.ndarray
    color: Color = (60, 70, 84)
    width: float = 0.003

    def __post_init__(self) -> None:
        where = f"line {self.name!r}"
        points = finite(self.points, f"`points` of {where}")
        if points.ndim not in (2, 3) or points.shape[-2] < 2 or points.shape[-1] != 3:
            raise ValueError(
                f"`points` of {where} must be [point, 3] or [frame, point, 3] with at least 2 points; "
                f"got {points.shape}"
            )
        if not (np.isfinite(self.width) and self.width > 0):
            raise ValueError(f"`width` of {where} must be positive; got {self.width}")
        _check_color(self.color, where)
        object.__setattr__(self, "points", points)


@dataclass(frozen=True, eq=False)
class Marks:
    """Copies of a small mesh over time, such as muscles that are active.

    **Arguments:** `name`: its name in the scene tree; unique among the marks; `mesh`: its vertices and faces; `at`:
    gives the copies at a time [s]; `count`: about how many there are.
    """

    name: str
    mesh: tuple[np.ndarray, np.ndarray]
    at: Callable[[float], Copies]
    count: int


@dataclass(frozen=True)
class Track:
    """A tube at the frames that are shown, with the poses of its bones.

    **Arguments:** `stations`: [node] arc length of the nodes, first at 0 [m]; `positions`: [frame, node, 3] world [m];
    `wxyz`: [frame, node, 4] orientation of the sections, unit quaternions, world; `radii`: [frame, node] [m].
    """

    stations: np.ndarray
    positions: np.ndarray
    wxyz: np.ndarray
    radii: np.ndarray

    @property
    def steady(self) -> bool:
        """Whether the radii change by less than can be seen."""
        return bool(np.ptp(self.radii, axis=0).max() < 0.01 * self.radii.max())


def track(tube: Tube, times: np.ndarray, shown: np.ndarray) -> Track:
    """Thin out a tube's nodes and put its motion on the times `shown`, both [frame], in s."""
    # Neighbours that coincide (the end of one segment, the start of the next) are one node.
    gaps = np.linalg.norm(np.diff(tube.positions, axis=1), axis=-1).mean(axis=0)
    if gaps.sum() == 0:
        raise ValueError(f"`positions` of tube {tube.name!r} must have a length; all nodes coincide")
    distinct = np.flatnonzero(np.concatenate([[True], gaps > 1e-6 * gaps.sum()]))
    kept = distinct[np.round(np.linspace(0, len(distinct) - 1, min(len(distinct), MAX_NODES))).astype(int)]

    frames, nodes = len(times), len(kept)
    wxyz = Rotation.from_matrix(tube.rotations[:, kept].reshape(-1, 3, 3)).as_quat(scalar_first=True)
    wxyz = wxyz.reshape(frames, nodes, 4)
    # q and -q are the same rotation: take the one nearer to the frame before, so that mixing two frames is short.
    flips = np.sum(wxyz[1:] * wxyz[:-1], axis=-1, keepdims=True) < 0
    wxyz[1:] *= np.where(np.cumsum(flips, axis=0) % 2, -1, 1)
    wxyz = resample(wxyz, times, shown)
    return Track(
        stations=np.concatenate([[0.0], np.cumsum(gaps)])[kept],
        positions=resample(tube.positions[:, kept], times, shown),
        wxyz=wxyz / np.linalg.norm(wxyz, axis=-1, keepdims=True),
        radii=resample(np.broadcast_to(tube.radii[..., kept], (frames, nodes)), times, shown),
    )


def resample(values: np.ndarray, times: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Interpolate `values` [frame, ...] at `times` linearly onto `shown`."""
    if len(times) == 1:
        return np.repeat(values, len(shown), axis=0)
    left = np.clip(np.searchsorted(times, shown, side="right") - 1, 0, len(times) - 2)
    share = (shown - times[left]) / (times[left + 1] - times[left])
    share = share.reshape(-1, *[1] * (values.ndim - 1))
    return (1 - share) * values[left] + share * values[left + 1]


def finite(values: np.ndarray, what: str) -> np.ndarray:
    """Return `values` as an array of floats, or say which one is not a number."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be an array of numbers; got {type(values).__name__}") from None
    if not np.all(np.isfinite(array)):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{what} must be finite; got {array[where]} at {list(where)}")
    return array


def _check_color(color: Color, where: str) -> None:
    if len(color) != 3 or not all(0 <= channel <= 255 for channel in color):
        raise ValueError(f"`color` of {where} must be three numbers from 0 to 255; got {color}")
