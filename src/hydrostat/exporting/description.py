"""A robot as rigid bodies and joints, before it is written in a format."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from hydrostat.exporting.solids import Solid


@dataclass(frozen=True)
class Joint:
    """A joint at the origin of its link: a hinge [rad] or a slide [m], zero where the arm is straight."""

    name: str
    kind: str
    """`hinge` or `slide`."""
    axis: tuple[float, float, float]
    range: tuple[float, float]
    stiffness: float = 0.0
    """Stiffness of the joint's spring [N m/rad] or [N/m]."""
    damping: float = 0.0
    """Damping of the joint [N m s/rad] or [N s/m]."""
    rest: float = 0.0
    """Joint value at which the spring is at rest."""
    armature: float = 0.0
    """Inertia of the joint's motor, which weighs nothing and moves with nothing else [kg m^2] or [kg]."""


@dataclass(frozen=True)
class Shape:
    """The visible shape of a link, its axis along z, with sizes as in `hydrostat.robots.limbed.SHAPES`."""

    kind: str
    size: tuple[float, ...]
    position: tuple[float, float, float]
    color: str = "skin"
    name: str = ""


@dataclass(frozen=True)
class Link:
    """A rigid body, and the joints between it and its parent: the first moves all the others."""

    name: str
    parent: str | None
    """Name of the parent; None for the world."""
    position: np.ndarray
    """Position of the link's frame in its parent's, all joints at zero [m]."""
    rotation: np.ndarray
    joints: tuple[Joint, ...] = ()
    solids: tuple[Solid, ...] = ()
    shapes: tuple[Shape, ...] = ()
    sites: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    """Points that tendons pass, by name [m]."""
    role: str = ""
    """Kind of the tip: `camera` or `light`, whose axis of view or of light is the link's z; `tool` for other tips."""
    free: bool = False
    """Whether the link floats freely in the world."""


@dataclass(frozen=True)
class Tendon:
    """A tendon: straight from site to site, or guided all along, which is linear in the joint values."""

    name: str
    most: float
    """Largest tension of the tendon's motor [N]."""
    sites: tuple[str, ...] = ()
    lever: Mapping[str, float] = field(default_factory=dict)
    """Change of a guided tendon's length per joint value, by joint [m/rad or 1]."""


@dataclass(frozen=True)
class Leg:
    """A leg straight from site to site, which pushes and pulls."""

    name: str
    sites: tuple[str, str]
    most: float
    """Largest force of the leg [N]."""
    range: tuple[float, float]
    """Shortest and longest length [m]."""
    radius: float
    """Radius of the leg as it is drawn [m]."""


@dataclass(frozen=True)
class Ring:
    """The ring of a plate, drawn through the joints of the legs on it."""

    name: str
    sites: tuple[str, ...]
    radius: float
    """Radius of the ring's own section as it is drawn [m]."""


@dataclass(frozen=True)
class Servo:
    """A motor that holds a joint at a value."""

    joint: str
    range: tuple[float, float]
    stiffness: float
    """Force per distance from the value [N m/rad] or [N/m]."""
    damping: float
    """Force per rate of the joint [N m s/rad] or [N s/m]."""


@dataclass(frozen=True)
class Chain(ABC):
    """One limb as a chain of links, with the map between its configurations and joint values."""

    name: str
    """Name of the limb."""
    tip: str
    """The link whose frame is the limb's tip."""
    names: tuple[str, ...]
    """Prefixes of the joint names of the pieces, base to tip."""

    @property
    def rigid_sections(self) -> int:
        """How many rigid sections the whole limb has."""
        return len(self.names)

    @abstractmethod
    def values(self, q: np.ndarray) -> dict[str, float]:
        """The joint values by name, of a configuration (n, k)."""

    @abstractmethod
    def configuration(self, values: Mapping[str, float]) -> np.ndarray:
        """The configuration of joint values, the inverse of `values`."""


@dataclass(frozen=True)
class Limb:
    """The rigid bodies and actuators of one arm."""

    chain: Chain
    links: tuple[Link, ...]
    tendons: tuple[Tendon, ...]
    timestep: float
    legs: tuple[Leg, ...] = ()
    rings: tuple[Ring, ...] = ()
    servos: tuple[Servo, ...] = ()


@dataclass(frozen=True)
class Twin:
    """A whole robot as rigid bodies."""

    name: str
    links: tuple[Link, ...]
    """Links, parents before their children."""
    tendons: tuple[Tendon, ...]
    chains: tuple[Chain, ...]
    timestep: float
    """Largest step of an engine with explicit springs [s]."""
    left_out: tuple[str, ...] = ()
    """Notes on properties of the robot that rigid bodies cannot represent, in sentences."""
    legs: tuple[Leg, ...] = ()
    rings: tuple[Ring, ...] = ()
    servos: tuple[Servo, ...] = ()

    @property
    def joints(self) -> list[Joint]:
        """All joints, in the order of the links."""
        return [joint for link in self.links for joint in link.joints]

    def values(self, *configurations: np.ndarray) -> dict[str, float]:
        """The joint values by name, of a configuration for each limb."""
        if len(configurations) != len(self.chains):
            raise ValueError(f"{self.name} needs {len(self.chains)} configurations; got {len(configurations)}")
        values: dict[str, float] = {}
        for chain, q in zip(self.chains, configurations, strict=True):
            values |= chain.values(np.asarray(q, float))
        return values

    def configurations(self, values: Mapping[str, float]) -> list[np.ndarray]:
        """The configuration of every limb, from joint values by name."""
        return [chain.configuration(values) for chain in self.chains]
