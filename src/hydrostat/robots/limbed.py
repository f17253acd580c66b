"""The specification of a robot with several limbs on one rigid body; nothing here needs JAX.

A limb is a robot of one arm whose base is in the body's frame.
"""

import math
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from hydrostat import errors
from hydrostat.errors import InputError, listed, shown
from hydrostat.robots.hull_spec import HullSpec
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
    moments: tuple[float, ...] | None = None
    """Moments of inertia about the shape's own x, y and z [kg m^2]; None for those of even density."""

    def __post_init__(self):
        errors.text("name", self.name)
        errors.choice("kind", self.kind, tuple(SHAPES))
        checked = {
            "size": errors.numbers("size", self.size, len(SHAPES[self.kind]), **SIZE),
            "position": errors.numbers("position", self.position, 3, least=-1e3, most=1e3),
            "mass": errors.number("mass", self.mass, **MASS),
        }
        if self.moments is not None:
            checked["moments"] = errors.numbers("moments", self.moments, 3, least=0.0, most=1e6)
            if 2.0 * max(checked["moments"]) > sum(checked["moments"]) * (1.0 + 1e-9):
                raise InputError(
                    f"`moments` must be those of a solid, none above the sum of the others; got {shown(self.moments)}"
                )
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def inertia(self) -> np.ndarray:
        """Moments of inertia about its own x, y and z [kg m^2]: those given, else of even density."""
        if self.moments is not None:
            return np.array(self.moments)
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
    free: bool = False
    """Whether the body moves by the forces on it, unless the caller that builds the robot says otherwise."""
    hull: HullSpec | None = None
    """Hull of a body that swims; None where water resists a ball of the body's volume."""

    def __post_init__(self):
        if self.hull is not None and not isinstance(self.hull, HullSpec):
            raise InputError(f"`hull` must be a HullSpec; got {shown(self.hull)}")
        if not isinstance(self.free, bool):
            raise InputError(f"`free` must be true or false; got {shown(self.free)}")
        if not self.shapes:
            raise InputError("a body must have at least one shape; got none")
        object.__setattr__(self, "volume", errors.number("volume", self.volume, least=0.0, most=1e6))
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
        most = errors.number("most_bend_deg", self.most_bend_deg, above=0.0, most=720.0)
        low, high = errors.numbers("length_range", self.length_range, 2, above=0.0, most=100.0)
        if not low <= 1.0 <= high:
            raise InputError(f"`length_range` must hold 1, the length at rest; got {low:g} to {high:g}")
        object.__setattr__(self, "most_bend_deg", most)
        object.__setattr__(self, "length_range", (low, high))


@dataclass(frozen=True)
class RingSpec:
    """Equal limbs, evenly around the z axis of their body: the first one in the plane of x and z, on the side of +x."""

    count: int
    """Number of limbs."""
    ring_radius: float
    """Radius of the circle of the limbs' bases [m]."""
    height: float = 0.0
    """Position of that circle's plane along the body's z [m]."""
    pitch_deg: float = 0.0
    """Angle of the limbs from straight outwards towards the body's -z [deg]; -90: along its z."""
    name: str = "arm"
    """Name of each limb; its number, from 1, is added."""
    role: str = "tool"
    most_bend_deg: float = 90.0
    length_range: tuple[float, ...] = (0.5, 2.0)

    def __post_init__(self):
        errors.whole("count", self.count, least=1, most=_MOST_LIMBS)
        errors.text("name", self.name)
        checked = {
            "ring_radius": errors.number("ring_radius", self.ring_radius, least=0.0, most=1e3),
            "height": errors.number("height", self.height, least=-1e3, most=1e3),
            "pitch_deg": errors.number("pitch_deg", self.pitch_deg, least=-90.0, most=90.0),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def mount(self, index: int) -> BaseSpec:
        """Where a limb, by its number from 0, sits in the body's frame; its local x points to the body's -z side."""
        yaw, pitch = 2.0 * math.pi * index / self.count, math.radians(self.pitch_deg)
        position = (self.ring_radius * math.cos(yaw), self.ring_radius * math.sin(yaw), self.height)
        axis = (math.cos(pitch) * math.cos(yaw), math.cos(pitch) * math.sin(yaw), -math.sin(pitch))
        return BaseSpec(position, axis, math.degrees(yaw))

    def limbs(self, arm: RobotSpec) -> tuple[LimbSpec, ...]:
        """The limbs, each with an arm like the given one."""
        names = [f"{self.name} {index + 1}" for index in range(self.count)]
        return tuple(
            LimbSpec(
                name,
                replace(arm, name=name, base=self.mount(index)),
                self.role,
                self.most_bend_deg,
                self.length_range,
            )
            for index, name in enumerate(names)
        )


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
        """The first limb whose arm differs from that of limb 1 in more than name, mount and notes; None where all are
        equal."""
        first = self.limbs[0].arm
        own = {"name": first.name, "base": first.base, "notes": first.notes}
        return next((limb for limb in self.limbs if replace(limb.arm, **own) != first), None)

    def ring(self) -> RingSpec | None:
        """The ring whose limbs are exactly those of the robot; None where its limbs are not such a ring."""
        first, name = self.limbs[0], self.limbs[0].name.rsplit(" ", 1)[0]
        (x, _, height), axis = first.arm.base.position, first.arm.base.axis
        pitch = round(math.degrees(math.atan2(-axis[2], axis[0])), 9)
        if not (name.strip() and 0.0 <= x <= 1e3 and abs(height) <= 1e3 and abs(pitch) <= 90.0):
            return None
        limits = (first.role, first.most_bend_deg, first.length_range)
        ring = RingSpec(len(self.limbs), x, height, pitch, name, *limits)
        return ring if ring.limbs(first.arm) == self.limbs else None

    def cut(self, pieces: int) -> "LimbedSpec":
        """The same robot with every segment of its limbs as a chain of equal pieces."""
        return replace(self, limbs=tuple(replace(limb, arm=limb.arm.cut(pieces)) for limb in self.limbs))


AnySpec: TypeAlias = RobotSpec | LimbedSpec
"""The specification of a single arm, or of a body with limbs."""
