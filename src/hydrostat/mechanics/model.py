"""The mechanical model of one arm: masses, stiffness, and its actuators."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int

from hydrostat.bodies import Arm
from hydrostat.bodies.rod import damping, gauss_points, node_inertias, stiffness
from hydrostat.compiling import quick_jit
from hydrostat.errors import InputError
from hydrostat.mechanics.nodes import AbstractMuscles, AbstractTelescopes, AbstractTissue, AbstractWires
from hydrostat.segments import SWELL

GRAVITY = (0.0, 0.0, -9.81)
"""The default gravity of the world [m/s^2]."""


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


class ArmModel(eqx.Module):
    """An arm with its masses, its elasticity and its actuators, ready for the recursions."""

    arm: Arm
    grid: Float[Array, " d"]
    """Fractions of every segment at which its material points are evaluated, each once."""
    flow: Float[Array, " f"]
    """Fractions of every segment at which distributed forces act."""
    flow_share: Float[Array, " f"]
    """Share of the segment's length that each of these nodes stands for."""
    inertia: Float[Array, "n g 6"]
    """Diagonal spatial inertias at the Gauss points."""
    stiffness: Float[Array, "n k"]
    damping: Float[Array, "n k"]
    rest: Float[Array, "n k"]
    """Coordinates of the unstressed arm beyond its rest strain (a preshape)."""
    lumps: Places
    lump_inertia: Float[Array, "m 6"]
    """Diagonal spatial inertias of lumped masses."""
    loads: Places
    wires: Wires | None = None
    tissue: AbstractTissue | None = None
    """A nonlinear elasticity in place of the linear one of `stiffness`."""
    muscles: AbstractMuscles | None = None
    activation_time: Float[Array, ""] | None = None
    """Lag of the muscles' activation behind the command [s]; None for an arm without muscles."""
    motor: Any = None
    """The motors that drive the wires; None where there are none."""
    legs: Any = None
    """The limits of the legs of a chain of platforms; None for other arms."""
    constant_volume: bool = eqx.field(static=True, default=False)
    """Whether the section follows the stretch: radius = rest radius / sqrt(stretch), times 1 + swell where that is a
    coordinate."""
    radial_inertia: Float[Array, " n"] | None = None
    """Moment of inertia about the axis, the inertia of radial motion [kg m^2]; None where radial motion has none."""
    telescopes: AbstractTelescopes | None = None
    """Where the masses are, of an arm whose muscles are pistons in cylinders: its Gauss points then stand for the
    volume alone, for its buoyancy and the water that it carries along. None for a rod."""
    gauss_at: tuple[int, ...] = eqx.field(static=True, default=())
    """Which points of the grid carry the masses."""
    skin_at: tuple[int, ...] = eqx.field(static=True, default=())
    """Which points of the grid are contact nodes."""
    flow_at_masses: bool = eqx.field(static=True, default=False)
    """Whether the points that carry the masses are the flow nodes as well."""
    tip_at: int = eqx.field(static=True, default=0)
    """Which point of the grid is the segment's end."""

    @property
    def skin(self) -> Float[Array, " c"]:
        """Fractions of every segment at which its contact nodes are."""
        return self.grid[np.array(self.skin_at, int)]


def make_arm_model(
    arm: Arm,
    *,
    points: int = 3,
    lumps=(),
    load_places=(),
    rest=None,
    friction=None,
    wires: Wires | None = None,
    skin_points: int = 0,
    constant_volume: bool = False,
    plates: Float[Array, "n 6"] | None = None,
    tissue: AbstractTissue | None = None,
    muscles: AbstractMuscles | None = None,
    activation_time: float = 0.0,
    motor: Any = None,
    legs: Any = None,
) -> ArmModel:
    """The model of an arm: a rod by its sections and material, or rigid plates.

    **Arguments:** `points`: Gauss points per segment; `lumps`: (place, mass [kg]) or (place, mass,
    moment of inertia [kg m^2]) each, a place being a fraction 0 ... 1 of the arm's rest length; `load_places`: places
    where loads act; `rest`: coordinates of the unstressed arm; `friction`: torque per rate of each segment's bend angle
    [N m s]; `skin_points`: nodes per segment that touch the surroundings, the last one at its tip: water needs none,
    it acts at the Gauss points, or in the middle between plates;
    `constant_volume`: whether the section narrows as the arm stretches; `plates`: diagonal spatial inertias of rigid
    plates at the segments' ends, of arms that are no rod: they have no other mass and no stiffness; `tissue`: what
    the arm is made of, where its elasticity is not linear; `muscles`: what contracts in it,
    by `activation_time` [s] later than it is told to; `motor`, `legs`: what drives it.
    """
    for name, value in (("youngs_modulus", arm.material.youngs_modulus), ("density", arm.material.density)):
        require(jnp.all(value > 0.0), lambda name=name, value=value: f"`{name}` must be positive; got {_least(value)}")
    require(
        jnp.all(arm.segments.length > 0.0),
        lambda: f"`length` of every segment must be positive; got {_least(arm.segments.length)}",
    )
    if arm.count < 1:
        raise InputError("an arm must have at least 1 segment; got 0")
    lumps = [(*lump, 0.0) if len(lump) == 2 else lump for lump in lumps]
    for _, mass, moment in lumps:
        require(
            (mass >= 0.0) & (moment >= 0.0),
            lambda mass=mass, moment=moment: (
                f"a lumped mass and its inertia must not be negative; got {float(mass):g}, {float(moment):g}"
            ),
        )
    lump_inertia = jnp.stack([ball_inertia(j, m) for _, m, j in lumps]) if lumps else jnp.zeros((0, 6))
    if plates is None:
        flow = gauss_points(points)
        fractions = flow[0]
        inertia, elastic, damped = _rod(arm, points)
    else:
        flow, fractions, inertia = gauss_points(1), np.ones(1), plates[:, None]
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
    return ArmModel(
        arm=arm,
        grid=jnp.asarray(grid),
        flow=jnp.asarray(flow[0]),
        flow_share=jnp.asarray(flow[1]),
        flow_at_masses=plates is None,
        inertia=inertia,
        stiffness=elastic,
        damping=damped,
        rest=arm.straight() if rest is None else jnp.asarray(rest, float),
        lumps=places(arm, [lump[0] for lump in lumps]),
        lump_inertia=lump_inertia,
        loads=places(arm, list(load_places)),
        wires=wires,
        tissue=tissue,
        muscles=muscles,
        activation_time=None if muscles is None else jnp.asarray(activation_time, float),
        motor=motor,
        legs=legs,
        constant_volume=constant_volume,
        radial_inertia=jnp.sum(inertia[..., 2], 1) if swells else None,
        gauss_at=tuple(at[: len(gauss)].tolist()),
        skin_at=tuple(at[len(gauss) : -1].tolist()),
        tip_at=int(at[-1]),
    )


@quick_jit
def _rod(arm: Arm, points: int) -> tuple[Array, Array, Array]:
    """Inertias at the nodes, stiffness and damping of a rod."""
    return node_inertias(arm, points), stiffness(arm, points), damping(arm, points)


def ball_inertia(moment, mass) -> Float[Array, " 6"]:
    """The diagonal of a ball's spatial inertia."""
    return jnp.stack([jnp.asarray(x, float) for x in (moment, moment, moment, mass, mass, mass)])


def _bend_friction(arm: Arm, friction: Float[Array, " n"]) -> Float[Array, "n k"]:
    """Generalised damping of a torque per rate of the bend angle: the angle is curvature times length."""
    bends = jnp.array([mode in ("bend_x", "bend_y") for mode in arm.segments.modes], float)
    return (friction * arm.segments.length**2)[:, None] * bends


def places(arm: Arm, fractions: list[float]) -> Places:
    """The material points at fractions 0 ... 1 of the arm's rest length."""
    for fraction in fractions:
        if not 0.0 <= fraction <= 1.0:
            raise InputError(f"a place on the arm must be a fraction from 0 to 1 of its length; got {fraction:g}")
    return Places(*_segments_of(arm.segments.length, jnp.asarray(fractions, float).reshape(-1)))


@quick_jit
def _segments_of(lengths: Float[Array, " n"], s: Float[Array, " m"]) -> tuple[Array, Array]:
    """The segments in which fractions of an arm's length lie, and where within them, 0 to 1."""
    ends, whole = jnp.cumsum(lengths) / jnp.sum(lengths), jnp.sum(lengths)
    index = jnp.clip(jnp.searchsorted(ends, s - 1e-9, side="left"), 0, lengths.shape[0] - 1)
    start = ends[index] - lengths[index] / whole
    return index, jnp.clip((s - start) * whole / lengths[index], 0.0, 1.0)


def relaxed(model: ArmModel) -> Float[Array, "n m"]:
    """The activation of relaxed muscles: zero everywhere."""
    return jnp.zeros((model.arm.count, 0 if model.muscles is None else model.muscles.columns))


def slack(model: ArmModel) -> Float[Array, " w"]:
    """The inputs of slack wires: no tension, or the lengths of the unstressed arm."""
    if model.wires is None:
        return jnp.zeros(0)
    lengths = jnp.sum(model.wires.course.along_segments(model.arm, model.rest), -1)
    return jnp.zeros_like(lengths) if model.wires.stiffness is None else lengths


def checked_vector(name: str, value: Any) -> Float[Array, " 3"]:
    """The value as three finite numbers."""
    vector = jnp.asarray(value, float)
    if vector.shape != (3,):
        raise InputError(f"`{name}` must be three numbers; got an array of shape {vector.shape}")
    require(jnp.all(jnp.isfinite(vector)), lambda: f"`{name}` must be three finite numbers; got {vector.tolist()}")
    return vector


def require(condition, message) -> None:
    """Raise unless the condition holds; within a traced function, where values are unknown, nothing is raised."""
    if not isinstance(condition, Tracer) and not bool(condition):
        raise InputError(message())


def _least(value) -> str:
    return f"{float(jnp.min(value)):g}"
