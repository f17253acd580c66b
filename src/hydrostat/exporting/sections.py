"""The joint values of a chain of sections for a configuration of the arm, and back.

A section has the relative pose (R, p) from its base to its end. Its hinges make the rotation H, such that both ends
have the arm's direction; where the arm cannot twist, two hinges leave a small spin about the axis, which is carried
along and taken out of the next section's bend. Its slides make up for what two straight halves are longer or shorter
than the arm.
"""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from hydrostat.bodies import Arm
from hydrostat.compiling import quick_jit
from hydrostat.lie import so3
from hydrostat.robots.rrp_twin import about_x, about_y, about_z
from hydrostat.segments import StrutSegment
from hydrostat.segments.base import AbstractSegment

_LINEAR = ("shear_x", "shear_y", "stretch")
_UP = np.array([0.0, 0.0, 1.0])
_tangent = quick_jit(so3.tangent)


def joint_order(index: int, strut: bool) -> tuple[str, ...]:
    """The order of a section's joints, by mode, which alternates; a strut's hinges come last, at its end."""
    hinges = ("bend_x", "bend_y", "twist") if index % 2 == 0 else ("bend_y", "bend_x", "twist")
    return (*_LINEAR, *hinges) if strut or index % 2 == 0 else (*hinges, *_LINEAR)


def follow(arm: Arm, q: np.ndarray) -> list[dict[str, float]]:
    """The joint values of every section, by mode [rad, m]."""
    poses = _end_poses(arm.segments, jnp.asarray(q))
    rotations, positions = np.asarray(poses.rotation), np.asarray(poses.position)
    lengths, free = np.asarray(arm.segments.length), np.asarray(arm.segments.free)
    found, spin = [], 0.0
    for i, (R, p) in enumerate(zip(rotations, positions, strict=True)):
        modes = {mode for mode, is_free in zip(arm.segments.modes, free[i], strict=True) if is_free}
        angles = _angles(about_z(-spin) @ R, modes, i)
        H = turned(angles, i)
        slides = _slides(arm, _projection(about_z(-spin), R, H, modes, i), R, p, lengths[i], modes)
        found.append({**angles, **slides})
        spin = _spin(R.T @ about_z(spin) @ H, modes)
    return found


@quick_jit
def _end_poses(segments: AbstractSegment, q):
    """The pose of every segment's end in its base."""
    return jax.vmap(lambda segment, q: segment.pose(q, 1.0))(segments, q)


def followed(arm: Arm, joints: list[dict[str, float]]) -> np.ndarray:
    """The configuration (n, k) of joint values, the inverse of `follow`."""
    lengths, free = np.asarray(arm.segments.length), np.asarray(arm.segments.free)
    rest = np.asarray(getattr(arm.segments, "rest_strain", np.zeros((arm.count, 6))))
    rows, spin = [], 0.0
    for i, values in enumerate(joints):
        modes = {mode for mode, is_free in zip(arm.segments.modes, free[i], strict=True) if is_free}
        H = turned(values, i)
        R = _shortest(about_z(spin) @ H) if _spins(modes) else about_z(spin) @ H
        w = Rotation.from_matrix(R).as_rotvec()
        P = _projection(about_z(-spin), R, H, modes, i)
        strain = np.concatenate([w / lengths[i], _stretches(arm, P, R, w, lengths[i], values)]) - rest[i]
        spin = _spin(R.T @ about_z(spin) @ H, modes)
        order = ("bend_x", "bend_y", "twist", *_LINEAR)
        rows.append([strain[order.index(mode)] if mode in modes else 0.0 for mode in arm.segments.modes])
    return np.array(rows)


def _spins(modes: set[str]) -> bool:
    """Whether a section turns about its axis by its two bending hinges, with no hinge to undo it."""
    return {"bend_x", "bend_y"} <= modes and "twist" not in modes


def _spin(left: np.ndarray, modes: set[str]) -> float:
    """The angle of the chain's frame about the axis against the arm's, at the end of a section."""
    return _about_axis(left) if _spins(modes) else 0.0


def _about_axis(R: np.ndarray) -> float:
    """The angle of a turn about z; of another rotation, of the nearest such turn."""
    return float(np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1]))


def _angles(R: np.ndarray, modes: set[str], index: int) -> dict[str, float]:
    """The hinge angles that turn the axis as R does; with a twist, those of R itself."""
    x, y, z = R[:, 2]
    if "twist" in modes and {"bend_x", "bend_y"} <= modes:
        a, b, c = Rotation.from_matrix(R).as_euler("XYZ" if index % 2 == 0 else "YXZ")
        return {"bend_x": a, "bend_y": b, "twist": c} if index % 2 == 0 else {"bend_x": b, "bend_y": a, "twist": c}
    if {"bend_x", "bend_y"} <= modes:
        # Rx(a) Ry(b) turns z to (sin b, -sin a cos b, cos a cos b); Ry(b) Rx(a) to (sin b cos a, -sin a, cos b cos a).
        if index % 2 == 0:
            return {"bend_x": float(np.arctan2(-y, z)), "bend_y": float(np.arctan2(x, np.hypot(y, z)))}
        return {"bend_x": float(np.arctan2(-y, np.hypot(x, z))), "bend_y": float(np.arctan2(x, z))}
    if "bend_x" in modes:
        return {"bend_x": float(np.arctan2(-y, z)), **_twist(R, modes)}
    if "bend_y" in modes:
        return {"bend_y": float(np.arctan2(x, z)), **_twist(R, modes)}
    return _twist(R, modes)


def _twist(R: np.ndarray, modes: set[str]) -> dict[str, float]:
    """The rotation about the axis, where there is one."""
    return {"twist": _about_axis(R)} if "twist" in modes else {}


def turned(angles: dict[str, float], index: int) -> np.ndarray:
    """The rotation H of the hinges, in the order that the section has them."""
    x, y = about_x(angles.get("bend_x", 0.0)), about_y(angles.get("bend_y", 0.0))
    return (x @ y if index % 2 == 0 else y @ x) @ about_z(angles.get("twist", 0.0))


def _shortest(R: np.ndarray) -> np.ndarray:
    """The rotation free of torsion that turns the axis as R does."""
    x, y, z = R[:, 2]
    across = np.hypot(x, y)
    scale = np.arctan2(across, z) / across if across > 0.0 else 1.0
    return Rotation.from_rotvec([-y * scale, x * scale, 0.0]).as_matrix()


def _projection(spin: np.ndarray, R: np.ndarray, H: np.ndarray, modes: set[str], index: int) -> np.ndarray:
    """The projection of a section's lengthening on its slides, a row for each free slide."""
    free = [mode for mode in _LINEAR if mode in modes]
    if free == ["stretch"]:
        middle = _UP + R @ _UP  # both halves lengthen alike, each along its own direction
        return 2.0 * middle[None] / (middle @ middle)
    axes = spin if index % 2 == 0 else H.T @ spin  # before the hinges, or behind them
    return axes[[_LINEAR.index(mode) for mode in free]]


def _slides(arm: Arm, P: np.ndarray, R: np.ndarray, p: np.ndarray, length: float, modes: set[str]):
    """The values of the free slides."""
    free = [mode for mode in _LINEAR if mode in modes]
    if isinstance(arm.segments, StrutSegment):
        return {mode: float(p[2] - length) for mode in free}
    excess = p - 0.5 * length * (_UP + R @ _UP)
    return {mode: float(v) for mode, v in zip(free, P @ excess, strict=True)}


def _stretches(arm: Arm, P: np.ndarray, R: np.ndarray, w: np.ndarray, length: float, values) -> np.ndarray:
    """The linear strains, beyond the straight one, of the free slides; the others are zero."""
    free = [mode for mode in _LINEAR if mode in values]
    strains = np.zeros(3)
    if not free:
        return strains
    slides = np.array([values[mode] for mode in free])
    columns = [_LINEAR.index(mode) for mode in free]
    if isinstance(arm.segments, StrutSegment):
        strains[columns] = slides / length
        return strains
    # p = l V(w) (e_z + strains), and the slides are linear in p.
    V = np.asarray(_tangent(-jnp.asarray(w)))
    at_rest = P @ (length * V @ _UP - 0.5 * length * (_UP + R @ _UP))
    strains[columns] = np.linalg.solve(P @ (length * V[:, columns]), slides - at_rest)
    return strains
