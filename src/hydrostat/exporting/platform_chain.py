"""A chain of Stewart platforms: six joints from each plate to the next. Its legs close loops, and are left out."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from hydrostat.exporting.description import Chain, Joint, Limb, Link, Shape
from hydrostat.exporting.solids import Solid
from hydrostat.robots.build import build_arm
from hydrostat.robots.spec import RobotSpec

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_MOST_TURN = 1.5  # rad
_STEP = 2e-3  # s


@dataclass(frozen=True)
class PlatformChain(Chain):
    """Plates with six joints each."""

    def values(self, q: np.ndarray) -> dict[str, float]:
        """The joint values by name; q (n, 6) are rotation vectors and displacements."""
        if q.shape != (len(self.names), 6):
            raise ValueError(f"`q` of {self.name} must be of shape {(len(self.names), 6)}; got {q.shape}")
        values = {}
        for name, row in zip(self.names, q, strict=True):
            angles = Rotation.from_rotvec(row[:3]).as_euler("XYZ")
            values |= {f"{name}_move_{axis}": float(value) for axis, value in zip(_AXES, row[3:], strict=True)}
            values |= {f"{name}_turn_{axis}": float(value) for axis, value in zip(_AXES, angles, strict=True)}
        return values

    def configuration(self, values: Mapping[str, float]) -> np.ndarray:
        """The configuration (n, 6) of joint values."""
        rows = []
        for name in self.names:
            turn = Rotation.from_euler("XYZ", [values[f"{name}_turn_{axis}"] for axis in _AXES]).as_rotvec()
            rows.append([*turn, *(values[f"{name}_move_{axis}"] for axis in _AXES)])
        return np.array(rows, float)


def platform_links(spec: RobotSpec, prefix: str, base: str) -> Limb:
    """The links of a chain of platforms on a link named `base`."""
    assert spec.legs is not None
    plates = np.asarray(build_arm(spec).inertia)[:, 0]
    names = [f"{prefix}_plate_{i}" for i in range(1, len(spec.segments) + 1)]
    links: list[Link] = []
    parent = base
    for name, segment, plate in zip(names, spec.segments, plates, strict=True):
        reach = spec.legs.max_stroke
        moves = [Joint(f"{name}_move_{axis}", "slide", direction, (-reach, reach)) for axis, direction in _AXES.items()]
        turns = [
            Joint(f"{name}_turn_{axis}", "hinge", direction, (-_MOST_TURN, _MOST_TURN))
            for axis, direction in _AXES.items()
        ]
        matter = Solid(float(plate[5]), np.zeros(3), np.diag(plate[:3]))
        disc = Shape("cylinder", (segment.radius[1], spec.legs.plate_thickness), (0.0, 0.0, 0.0))
        above = np.array([0.0, 0.0, segment.length])
        links.append(Link(name, parent, above, np.eye(3), (*moves, *turns), (matter,), (disc,)))
        parent = name
    links.append(Link(f"{prefix}_tip", parent, np.zeros(3), np.eye(3)))
    return Limb(PlatformChain(prefix, f"{prefix}_tip", tuple(names)), tuple(links), (), _STEP)
