"""What the mechanics of an arm needs to know: masses, stiffness, and everything that pulls at it."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int

from hydrostat.bodies import Arm
from hydrostat.bodies.rod import damping, gauss_points, node_inertias, stiffness
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics.nodes import AbstractMuscles, AbstractSurroundings, AbstractTissue, AbstractWires
from hydrostat.segments import SWELL

GRAVITY = (0.0, 0.0, -9.81)
"""The world's gravity unless said otherwise [m/s^2]."""


class Places(eqx.Module):
    """Material points of an arm, by segment and fraction of it."""

    segment: Int[Array, " m"]
    fraction: Float[Array, " m"]


class Wires(eqx.Module):
    """The wires of an arm, and how they are driven: by their tension, or by their length."""

    course: AbstractWires
    stiffness: Float[Array, " w"] | None
    """Tension per stretch of a wire that is driven by its length [N/m]; None for wires driven by their tension."""
    damping: Float[Array, " w"] | None
    """Tension per rate of stretch [N s/m]."""


class Model(eqx.Module):
    """An arm with its masses and forces, ready for the recursions.

    A fixed base stays where the arm says or follows what is prescribed; a free base is a rigid body of its own, whose
    six coordinates are the twist from where it was when the step began.
    """

    arm: Arm
    grid: Float[Array, " d"]
    """Fractions of every segment at which its material points are looked at, each once."""
    inertia: Float[Array, "n g 6"]
    """Diagonal spatial inertias at the Gauss points."""
    stiffness: Float[Array, "n k"]
    damping: Float[Array, "n k"]
    rest: Float[Array, "n k"]
    """Coordinates of the unstressed arm beyond its rest strain (a preshape)."""
    gravity: Float[Array, " 3"]
    lumps: Places
    lump_inertia: Float[Array, "m 6"]
    """Diagonal spatial inertias of lumped masses."""
    loads: Places
    base_inertia: Float[Array, " 6"] | None
    """Diagonal spatial inertia of a free base; None for a fixed one."""
    wires: Wires | None = None
    surroundings: AbstractSurroundings | None = None
    tissue: AbstractTissue | None = None
    """Another elasticity than the linear one of `stiffness`."""
    muscles: AbstractMuscles | None = None
    constant_volume: bool = eqx.field(static=True, default=False)
    """Whether the section follows the stretch: radius = rest radius / sqrt(stretch), and as swell says where that is a
    coordinate."""
    girth_inertia: Float[Array, " n"] | None = None
    """Moment of inertia about the axis, which motion across it feels [kg m^2]; None where the radius is no coordinate.
    """
    gauss_at: tuple[int, ...] = eqx.field(static=True, default=())
    """Which points of the grid carry the masses."""
    skin_at: tuple[int, ...] = eqx.field(static=True, default=())
    """Which meet the surroundings."""
    tip_at: int = eqx.field(static=True, default=0)
    """Which is the segment's end."""

    @property
    def skin(self) -> Float[Array, " c"]:
        """Fractions of every segment at which it meets its surroundings."""
        return self.grid[np.array(self.skin_at, int)]

    @property
    def free_base(self) -> bool:
        """Whether the base moves by the forces on it."""
        return self.base_inertia is not None

    @property
    def T_world_body(self) -> SE3:
        """Where the body that carries the arm starts: the arm's base."""
        return self.arm.T_world_base


class Branched(eqx.Module):
    """Several arms on one body; they may differ in number of segments and in their coordinates.

    Coordinates and inputs of the arms are tuples, one entry per arm. Gravity, base and surroundings are the body's:
    those of the arms' own models do not count.
    """

    arms: tuple[Model, ...]
    mounts: tuple[SE3, ...]
    """Where each arm sits in the body's frame."""
    T_world_body: SE3
    """Where the body starts."""
    gravity: Float[Array, " 3"]
    base_inertia: Float[Array, " 6"] | None
    surroundings: AbstractSurroundings | None = None

    @property
    def free_base(self) -> bool:
        """Whether the body moves by the forces on it."""
        return self.base_inertia is not None


class Crown(eqx.Module):
    """Equal arms on one body, as those of an octopus.

    Coordinates and inputs of the arms are arrays with the arm as leading axis. Arms are computed one after another by
    the same code, so that eight of them take as long to compile as one. Gravity, base and surroundings are the body's:
    those of the arm's own model do not count.
    """

    arm: Model
    mounts: SE3
    """Where the arms sit in the body's frame."""
    T_world_body: SE3
    """Where the body starts."""
    gravity: Float[Array, " 3"]
    base_inertia: Float[Array, " 6"] | None
    surroundings: AbstractSurroundings | None = None

    @property
    def count(self) -> int:
        """The number of arms."""
        return self.mounts.position.shape[0]

    @property
    def free_base(self) -> bool:
        """Whether the body moves by the forces on it."""
        return self.base_inertia is not None


AnyModel = Model | Branched | Crown


class Inputs(NamedTuple):
    """What acts on a robot at a moment, from outside the mechanics; of several arms, a tuple each."""

    force: Float[Array, "m 6"] | tuple
    """Dead loads at the places of the loads: moment [N m] and force [N] in world axes."""
    follower: Float[Array, "m 6"] | tuple
    """Follower loads: the same in the axes of the material point."""
    torque: Float[Array, "n k"] | tuple
    """Generalised forces on the coordinates."""
    wires: Float[Array, " w"] | tuple
    """Tension [N] or length [m] of each wire, as the arm's wires are driven."""
    activation: Float[Array, "n m"] | tuple
    """Of every muscle, 0 to 1."""
    base_pose: SE3
    base_twist: Float[Array, " 6"]
    """Body twist of a prescribed base."""
    base_acceleration: Float[Array, " 6"]
    """Its rate, component by component."""
    surroundings: AbstractSurroundings | None
    """What is around at this moment; objects may move."""


def make_model(
    arm: Arm,
    *,
    points: int = 3,
    gravity=GRAVITY,
    lumps=(),
    load_places=(),
    rest=None,
    free_base: bool = False,
    base_mass: float = 0.0,
    base_inertia: float = 0.0,
    friction=None,
    wires: Wires | None = None,
    skin_points: int = 0,
    surroundings: AbstractSurroundings | None = None,
    constant_volume: bool = False,
    plates: Float[Array, "n 6"] | None = None,
    tissue: AbstractTissue | None = None,
    muscles: AbstractMuscles | None = None,
) -> Model:
    """The model of an arm: a rod by its sections and material, or rigid plates.

    **Arguments:** `points`: Gauss points per segment; `gravity` [m/s^2]; `lumps`: (place, mass [kg]) or (place, mass,
    moment of inertia [kg m^2]) each, a place being a fraction 0 ... 1 of the arm's rest length; `load_places`: places
    where loads act; `rest`: coordinates of the unstressed arm; `free_base`: whether the base is a body that moves, of
    mass `base_mass` and moment of inertia `base_inertia`; `friction`: torque per rate of each segment's bend angle
    [N m s]; `skin_points`: nodes per segment that meet the surroundings, the last one at its tip;
    `constant_volume`: whether the section narrows as the arm stretches; `plates`: diagonal spatial inertias of rigid
    plates at the segments' ends, of arms that are no rod: they have no other mass and no stiffness; `tissue`: what
    the arm is made of, where its elasticity is not linear; `muscles`: what contracts in it.
    """
    gravity = _checked_vector("gravity", gravity)
    for name, value in (("youngs_modulus", arm.material.youngs_modulus), ("density", arm.material.density)):
        _require(jnp.all(value > 0.0), lambda name=name, value=value: f"`{name}` must be positive; got {_least(value)}")
    _require(
        jnp.all(arm.segments.length > 0.0),
        lambda: f"`length` of every segment must be positive; got {_least(arm.segments.length)}",
    )
    if arm.count < 1:
        raise InputError("an arm must have at least 1 segment; got 0")
    lumps = [(*lump, 0.0) if len(lump) == 2 else lump for lump in lumps]
    for _, mass, moment in lumps:
        _require(
            (mass >= 0.0) & (moment >= 0.0),
            lambda mass=mass, moment=moment: (
                f"a lumped mass and its inertia must not be negative; got {float(mass):g}, {float(moment):g}"
            ),
        )
    lump_inertia = jnp.stack([_six(j, m) for _, m, j in lumps]) if lumps else jnp.zeros((0, 6))
    if plates is None:
        fractions, _ = gauss_points(points)
        inertia, elastic, damped = node_inertias(arm, points), stiffness(arm, points), damping(arm, points)
    else:
        fractions, inertia = jnp.ones(1), plates[:, None]
        elastic = damped = jnp.zeros((arm.count, arm.coordinates))
    if friction is not None:
        damped = damped + _bend_friction(arm, jnp.asarray(friction, float))
    if constant_volume and "stretch" not in arm.segments.modes:
        raise InputError("a section of constant volume needs the mode stretch; this arm's segments lack it")
    swells = SWELL in arm.segments.modes
    if swells and (tissue is None or not constant_volume):
        raise InputError("segments that swell need a tissue and `constant_volume`; this arm lacks one of them")
    gauss, touching = np.asarray(fractions, float), np.arange(1, skin_points + 1) / max(skin_points, 1)
    grid, at = np.unique(np.concatenate([gauss, touching, [1.0]]), return_inverse=True)
    return Model(
        arm=arm,
        grid=jnp.asarray(grid),
        inertia=inertia,
        stiffness=elastic,
        damping=damped,
        rest=arm.straight() if rest is None else jnp.asarray(rest, float),
        gravity=gravity,
        lumps=places(arm, [lump[0] for lump in lumps]),
        lump_inertia=lump_inertia,
        loads=places(arm, list(load_places)),
        base_inertia=_six(base_inertia, base_mass) if free_base else None,
        wires=wires,
        surroundings=surroundings,
        tissue=tissue,
        muscles=muscles,
        constant_volume=constant_volume,
        girth_inertia=jnp.sum(inertia[..., 2], 1) if swells else None,
        gauss_at=tuple(at[: len(gauss)].tolist()),
        skin_at=tuple(at[len(gauss) : -1].tolist()),
        tip_at=int(at[-1]),
    )


def make_branched(
    arms,
    T_world_body: SE3 | None = None,
    *,
    gravity=GRAVITY,
    base_mass: float | None = None,
    base_inertia: float = 0.0,
    surroundings: AbstractSurroundings | None = None,
) -> Branched:
    """Several arms on one body.

    **Arguments:** `arms`: their models, each with its base where it is while the body is at `T_world_body` (the world's
    origin when not given); `base_mass` [kg]: of a body that moves freely; None for one that is fixed or prescribed;
    `base_inertia`: its moment of inertia [kg m^2].
    """
    if not arms:
        raise InputError("a robot must have at least one arm; got none")
    body = SE3.identity() if T_world_body is None else T_world_body
    mounts = tuple(body.inverse() @ model.arm.T_world_base for model in arms)
    free = None if base_mass is None else _six(base_inertia, base_mass)
    return Branched(tuple(arms), mounts, body, _checked_vector("gravity", gravity), free, surroundings)


def make_crown(
    arm: Model,
    mounts: SE3,
    T_world_body: SE3 | None = None,
    *,
    gravity=GRAVITY,
    base_inertia: Float[Array, " 6"] | None = None,
    surroundings: AbstractSurroundings | None = None,
) -> Crown:
    """Equal arms on one body.

    **Arguments:** `arm`: the model of each; `mounts`: where they sit in the body's frame, with a leading axis;
    `T_world_body`: where the body starts, the world's origin when not given; `base_inertia`: diagonal spatial inertia
    of a body that moves freely, its frame at the centre of mass; None for one that is fixed or prescribed.
    """
    if mounts.position.ndim != 2 or not len(mounts.position):
        raise InputError(f"`mounts` must be a row of poses; got positions of shape {mounts.position.shape}")
    if arm.wires is not None or arm.loads.fraction.shape[0] or arm.lumps.fraction.shape[0]:
        raise InputError("equal arms on one body must have neither wires nor lumped masses nor places for loads")
    body = SE3.identity() if T_world_body is None else T_world_body
    return Crown(arm, mounts, body, _checked_vector("gravity", gravity), base_inertia, surroundings)


def _six(moment, mass) -> Float[Array, " 6"]:
    """The diagonal of a ball's spatial inertia."""
    return jnp.stack([jnp.asarray(x, float) for x in (moment, moment, moment, mass, mass, mass)])


def _bend_friction(arm: Arm, friction: Float[Array, " n"]) -> Float[Array, "n k"]:
    """Generalised damping of a torque per rate of the bend angle: the angle is curvature times length."""
    bends = jnp.array([mode in ("bend_x", "bend_y") for mode in arm.segments.modes], float)
    return (friction * arm.segments.length**2)[:, None] * bends


def places(arm: Arm, fractions: list[float]) -> Places:
    """The material points at fractions 0 ... 1 of the arm's rest length."""
    ends = jnp.cumsum(arm.segments.length) / arm.length
    for fraction in fractions:
        if not 0.0 <= fraction <= 1.0:
            raise InputError(f"a place on the arm must be a fraction from 0 to 1 of its length; got {fraction:g}")
    s = jnp.asarray(fractions, float).reshape(-1)
    index = jnp.clip(jnp.searchsorted(ends, s - 1e-9, side="left"), 0, arm.count - 1)
    start = ends[index] - arm.segments.length[index] / arm.length
    return Places(index, jnp.clip((s - start) * arm.length / arm.segments.length[index], 0.0, 1.0))


def no_inputs(model: AnyModel) -> Inputs:
    """Nothing acts, slack wires, and the base stays where it is; what is around is what the model says."""
    if isinstance(model, Branched):
        each = [no_inputs(arm) for arm in model.arms]
        parts = ((i.force, i.follower, i.torque, i.wires, i.activation) for i in each)
        force, follower, torque, wires, activation = zip(*parts, strict=True)
    elif isinstance(model, Crown):
        one = no_inputs(model.arm)
        force, follower, torque, wires, activation = (
            jax.tree.map(lambda y, count=model.count: jnp.broadcast_to(y, (count, *y.shape)), part)
            for part in (one.force, one.follower, one.torque, one.wires, one.activation)
        )
    else:
        force = follower = jnp.zeros((model.loads.fraction.shape[0], 6))
        torque = jnp.zeros_like(model.stiffness)
        wires = _slack(model)
        activation = relaxed(model)
    still = jnp.zeros(6)
    return Inputs(force, follower, torque, wires, activation, model.T_world_body, still, still, model.surroundings)


def relaxed(model: Model) -> Float[Array, "n m"]:
    """No muscle is active."""
    if model.muscles is None:
        return jnp.zeros((model.arm.count, 0))
    return jnp.zeros_like(model.muscles.lengths(model.arm, model.rest))


def _slack(model: Model) -> Float[Array, " w"]:
    """Wires that do not pull: no tension, or the lengths of the unstressed arm."""
    if model.wires is None:
        return jnp.zeros(0)
    lengths = jnp.sum(model.wires.course.along_segments(model.arm, model.rest), -1)
    return jnp.zeros_like(lengths) if model.wires.stiffness is None else lengths


def check_inputs(inputs: Inputs) -> None:
    """Refuse loads that are not numbers."""
    for name in ("force", "follower", "torque", "wires", "activation", "base_twist", "base_acceleration"):
        for value in jax.tree.leaves(getattr(inputs, name)):
            _require(jnp.all(jnp.isfinite(value)), lambda name=name: f"every load must be finite; `{name}` is not")


def _checked_vector(name: str, value: Any) -> Float[Array, " 3"]:
    vector = jnp.asarray(value, float)
    if vector.shape != (3,):
        raise InputError(f"`{name}` must be three numbers; got an array of shape {vector.shape}")
    _require(jnp.all(jnp.isfinite(vector)), lambda: f"`{name}` must be three finite numbers; got {vector.tolist()}")
    return vector


def _require(condition, message) -> None:
    """Raise unless the condition holds; inside a traced function there is nothing to look at, and nothing is raised."""
    if not isinstance(condition, Tracer) and not bool(condition):
        raise InputError(message())


def _least(value) -> str:
    return f"{float(jnp.min(value)):g}"
