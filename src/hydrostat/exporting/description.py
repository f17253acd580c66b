"""A robot as rigid bodies and joints, before it is written in the words of a format."""

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
    """[N m/rad] or [N/m]"""
    damping: float = 0.0
    """[N m s/rad] or [N s/m]"""
    rest: float = 0.0
    """Where its spring is at rest."""


@dataclass(frozen=True)
class Shape:
    """What a link looks like: a shape with its axis along z, sizes as in `hydrostat.robots.limbed.SHAPES`."""

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
    """None for the world."""
    position: np.ndarray
    """Of its frame in its parent's, all joints at zero [m]."""
    rotation: np.ndarray
    joints: tuple[Joint, ...] = ()
    solids: tuple[Solid, ...] = ()
    shapes: tuple[Shape, ...] = ()
    sites: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    """Points that tendons pass, by name [m]."""
    role: str = ""
    """`camera` or `light` where the link's z is what it looks along or shines along; `tool` for other tips."""
    free: bool = False
    """Whether it floats freely in the world."""


@dataclass(frozen=True)
class Tendon:
    """A tendon: straight from site to site, or guided all along, which is linear in the joint values."""

    name: str
    most: float
    """Largest tension its motor pulls with [N]."""
    sites: tuple[str, ...] = ()
    lever: Mapping[str, float] = field(default_factory=dict)
    """Of a guided tendon: its change of length per joint value, by joint [m/rad or 1]."""


@dataclass(frozen=True)
class Chain(ABC):
    """One limb as a chain of links: how its configurations become joint values."""

    name: str
    """Of the limb."""
    tip: str
    """The link whose frame is the limb's tip."""
    names: tuple[str, ...]
    """Of the pieces, base to tip: what the names of their joints begin with."""

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
    """What one arm becomes."""

    chain: Chain
    links: tuple[Link, ...]
    tendons: tuple[Tendon, ...]
    timestep: float


@dataclass(frozen=True)
class Twin:
    """A whole robot as rigid bodies."""

    name: str
    links: tuple[Link, ...]
    """Parents before their children."""
    tendons: tuple[Tendon, ...]
    chains: tuple[Chain, ...]
    timestep: float
    """That an engine with explicit springs can take [s]."""
    left_out: tuple[str, ...] = ()
    """What rigid bodies cannot hold, in sentences."""

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
