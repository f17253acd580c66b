"""The specification of a robot with several limbs on one rigid body; nothing here needs JAX.

A limb is a robot of one arm whose base is in the body's frame. The body's frame has z forwards, along the limbs.
"""

import math
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from hydrostat import errors
from hydrostat.errors import InputError, listed, shown
from hydrostat.robots.spec import MASS, SIZE, BaseSpec, RobotSpec

SHAPES = {"sphere": ("radius",), "capsule": ("radius", "length"), "cylinder": ("radius", "length"), "box": "xyz"}
"""The kinds of solid shapes and their sizes: `length` along z, of a capsule between the centres of its balls."""
ROLES = ("tool", "camera", "light")
_MOST_LIMBS = 100


@dataclass(frozen=True)
class ShapeSpec:
    """A solid part of the body, its axes along those of the body."""

    name: str
    kind: str
    size: tuple[float, ...]
    """Sizes, as `SHAPES` names them [m]."""
    position: tuple[float, ...]
    """Position of the centre in the body's frame [m]."""
    mass: float
    """Mass [kg]."""

    def __post_init__(self):
        errors.text("name", self.name)
        errors.choice("kind", self.kind, tuple(SHAPES))
        errors.numbers("size", self.size, len(SHAPES[self.kind]), **SIZE)
        errors.numbers("position", self.position, 3, least=-1e3, most=1e3)
        errors.number("mass", self.mass, **MASS)

    @property
    def inertia(self) -> np.ndarray:
        """Moments of inertia about its own x, y and z [kg m^2], of even density."""
        if self.kind == "sphere":
            return np.full(3, 0.4 * self.mass * self.size[0] ** 2)
        if self.kind == "box":
            squares = np.square(self.size)
            return self.mass / 12.0 * (squares.sum() - squares)
        radius, length = self.size
        if self.kind == "cylinder":
            across = self.mass * (radius**2 / 4.0 + length**2 / 12.0)
            return np.array([across, across, 0.5 * self.mass * radius**2])
        # A capsule: a cylinder, and a half ball at either end whose centre of mass lies 3/8 radius beyond it.
        tube = math.pi * radius**2 * length
        balls = 4.0 / 3.0 * math.pi * radius**3
        tube, balls = (self.mass * part / (tube + balls) for part in (tube, balls))
        across = tube * (radius**2 / 4.0 + length**2 / 12.0)
        across += balls * (0.4 * radius**2 + length**2 / 4.0 + 0.375 * length * radius)
        return np.array([across, across, (0.5 * tube + 0.4 * balls) * radius**2])


@dataclass(frozen=True)
class BodySpec:
    """The rigid body that limbs are mounted on."""

    shapes: tuple[ShapeSpec, ...]
    volume: float
    """Volume of the displaced water [m^3]; less than that of the shapes where the body floods."""

    def __post_init__(self):
        if not self.shapes:
            raise InputError("a body must have at least one shape; got none")
        errors.number("volume", self.volume, least=0.0, most=1e6)
        if not self.mass > 0.0:
            raise InputError(f"a body must have a mass; got {self.mass:g} kg")

    @property
    def mass(self) -> float:
        """The mass of the body [kg]."""
        return sum(shape.mass for shape in self.shapes)

    @property
    def centre(self) -> np.ndarray:
        """The centre of mass, in the body's frame [m]."""
        masses, places = (np.array([getattr(s, name) for s in self.shapes]) for name in ("mass", "position"))
        return masses @ places / self.mass

    @property
    def inertia(self) -> np.ndarray:
        """The tensor about its centre of mass, in its axes [kg m^2]."""
        tensor = np.zeros((3, 3))
        for shape in self.shapes:
            arm = np.array(shape.position) - self.centre
            tensor += np.diag(shape.inertia) + shape.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return tensor


@dataclass(frozen=True)
class LimbSpec:
    """One limb: an arm on the body, the tool at its tip, and the limits of its segments."""

    name: str
    arm: RobotSpec
    """The arm, whose base is in the body's frame."""
    role: str = "tool"
    """Kind of the tip: a tool, a camera or a light."""
    most_bend_deg: float = 90.0
    """Largest angle of the arc of one segment [deg]."""
    length_range: tuple[float, ...] = (0.5, 2.0)
    """Shortest and longest length of a segment, over that at rest."""

    def __post_init__(self):
        errors.text("name", self.name)
        errors.choice("role", self.role, ROLES)
        errors.number("most_bend_deg", self.most_bend_deg, above=0.0, most=720.0)
        low, high = errors.numbers("length_range", self.length_range, 2, above=0.0, most=100.0)
        if not low <= 1.0 <= high:
            raise InputError(f"`length_range` must hold 1, the length at rest; got {low:g} to {high:g}")


@dataclass(frozen=True)
class LimbedSpec:
    """A whole robot: a body and its limbs."""

    name: str
    body: BodySpec
    limbs: tuple[LimbSpec, ...]
    base: BaseSpec = field(default_factory=BaseSpec)
    """Pose of the body's frame in the world: its position, and the direction of its z."""
    notes: str = ""
    """Source of the numbers."""

    def __post_init__(self):
        errors.text("name", self.name)
        if not 1 <= len(self.limbs) <= _MOST_LIMBS:
            raise InputError(f"a body must carry 1 to {_MOST_LIMBS} limbs; got {len(self.limbs)}")
        names = [limb.name for limb in self.limbs]
        if len(set(names)) < len(names):
            raise InputError(f"every limb needs a name of its own; got {listed(names)}")

    def limb(self, name: str) -> LimbSpec:
        """The limb of a name."""
        for limb in self.limbs:
            if limb.name == name:
                return limb
        raise InputError(f"limb must be one of {listed(limb.name for limb in self.limbs)}; got {shown(name)}")

    def odd_limb(self) -> LimbSpec | None:
        """The first limb whose arm differs from that of limb 1 in more than name and mount; None where all are
        equal."""
        first = self.limbs[0].arm
        return next((limb for limb in self.limbs if replace(limb.arm, name=first.name, base=first.base) != first), None)

    def cut(self, pieces: int) -> "LimbedSpec":
        """The same robot with every segment of its limbs as a chain of equal pieces."""
        return replace(self, limbs=tuple(replace(limb, arm=limb.arm.cut(pieces)) for limb in self.limbs))


AnySpec: TypeAlias = RobotSpec | LimbedSpec
