"""A segment as a chain of small rigid manipulators, each with two revolute joints and a prismatic one (RRP).

After Emet, Gur and Dede (2023), equations 7 to 13 and table I, corrected. An arc of angle theta, azimuth phi and length
l is replaced by the chords between N + 1 equally spaced points. Neighbouring chords meet at theta / N, the first and
the last chord meet the arc's tangents at theta / 2N. The scheme `exact` has both half angles and the chords' length; it
ends where the arc ends, turned as the arc is. The scheme `paper` is the printed one: no half angle at the end, and
pieces of the arc's length instead of its chords'.

theta may have either sign and may be zero; phi is kept and never computed from points. Plain NumPy; all functions take
batches as leading axes. Angles in radians, lengths in metres.
"""

from typing import NamedTuple

import numpy as np

from hydrostat.errors import choice, whole

SCHEMES = ("exact", "paper")


class TwinJoints(NamedTuple):
    """The joint values of one segment with N sections."""

    turns: np.ndarray
    """Angle of each section's first joint, about z: zeta_(3k-2), (..., N)."""
    bends: np.ndarray
    """Angle of each section's second joint, about y: zeta_(3k-1), (..., N)."""
    slides: np.ndarray
    """Extension of each section's prismatic joint, along z: s_(3k) [m], (..., N)."""
    tool_bend: np.ndarray
    """Angle of the tool frame after the last section, about y."""
    tool_spin: np.ndarray
    """Angle of the tool frame after that, about z: it undoes the first turn, so that the frame is free of torsion."""


class SignedArc(NamedTuple):
    """An arc whose angle may be negative, which is an arc towards the other side."""

    theta: np.ndarray
    phi: np.ndarray
    length: np.ndarray


class Frames(NamedTuple):
    """Poses as rotation matrices and positions."""

    rotation: np.ndarray
    """Rotation matrices (..., 3, 3)."""
    position: np.ndarray
    """Positions (..., 3) [m]."""


def arc_frame(theta, phi, length, *, torsion_free: bool = True) -> Frames:
    """The end of an arc: p = l sinc(theta/2) (sin(theta/2) (cos phi, sin phi), cos(theta/2)).

    Equations 1 to 3 without their singularity; the rotation is Rz(phi) Ry(theta), equation 20, and free of torsion
    Rz(phi) Ry(theta) Rz(-phi).
    """
    theta, phi, length = np.broadcast_arrays(*(np.asarray(x, float) for x in (theta, phi, length)))
    half = 0.5 * theta
    chord = length * _sinc(half)
    across = chord * np.sin(half)
    position = np.stack([across * np.cos(phi), across * np.sin(phi), chord * np.cos(half)], -1)
    rotation = about_z(phi) @ about_y(theta)
    return Frames(rotation @ about_z(-phi) if torsion_free else rotation, position)


def joints_of_arc(theta, phi, length, sections: int, scheme: str = "exact") -> TwinJoints:
    """The joint values that make the chain follow an arc."""
    choice("scheme", scheme, SCHEMES)
    count = whole("sections", sections, least=1, most=10_000)
    theta, phi, length = np.broadcast_arrays(*(np.asarray(x, float) for x in (theta, phi, length)))
    turns = np.zeros((*theta.shape, count))
    turns[..., 0] = phi
    bends = np.repeat((theta / count)[..., None], count, -1)
    bends[..., 0] *= 0.5
    half = theta / (2.0 * count)
    slide = length / count * (_sinc(half) if scheme == "exact" else 1.0)
    slides = np.repeat(slide[..., None], count, -1)
    if scheme == "paper":
        return TwinJoints(turns, bends, slides, np.zeros_like(theta), np.zeros_like(theta))
    return TwinJoints(turns, bends, slides, half, -phi)


def arc_of_joints(joints: TwinJoints, scheme: str = "exact") -> SignedArc:
    """The arc that a chain follows, the inverse of `joints_of_arc`.

    The angle is the sum of all bends; the printed scheme leaves out the last of 2N halves. Joints that lie on no arc
    give the one with the same sums of angles and lengths.
    """
    choice("scheme", scheme, SCHEMES)
    count = joints.bends.shape[-1]
    theta, length = joints.bends.sum(-1), joints.slides.sum(-1)
    if scheme == "paper":
        theta = theta * (2.0 * count / (2.0 * count - 1.0))
    else:
        theta = theta + joints.tool_bend
        length = length / _sinc(theta / (2.0 * count))
    return SignedArc(theta, joints.turns.sum(-1), length)


def denavit_hartenberg(joints: TwinJoints) -> np.ndarray:
    """The Denavit-Hartenberg table I with its numbers: rows (zeta, s, gamma, a) of the 3N links, (..., 3N, 4) [rad, m,
    rad, m].

    A link's frame is Rz(zeta) Tz(s) Tx(a) Rx(gamma) from the one before; the tool frame is not part of the table.
    """
    zero, quarter = np.zeros_like(joints.turns), np.full_like(joints.turns, 0.5 * np.pi)
    rows = [
        (joints.turns, zero, -quarter, zero),
        (joints.bends, zero, quarter, zero),
        (zero, joints.slides, zero, zero),
    ]
    table = np.stack([np.stack(row, -1) for row in rows], -2)  # (..., N, 3, 4)
    return table.reshape(*table.shape[:-3], -1, 4)


def chain_frames(joints: TwinJoints) -> Frames:
    """The base and the end of every section, and last the tool: N + 2 poses, link by link from the table.

    Equations 10 and 11 as the product of the links' transforms.
    """
    table = denavit_hartenberg(joints)
    batch = table.shape[:-2]
    rotation = np.broadcast_to(np.eye(3), (*batch, 3, 3))
    position = np.zeros((*batch, 3))
    poses = [(rotation, position)]
    for i in range(table.shape[-2]):
        zeta, s, gamma, a = (table[..., i, j] for j in range(4))
        rotation = rotation @ about_z(zeta)
        step = np.stack([a, np.zeros_like(a), s], -1)
        position = position + (rotation @ step[..., None])[..., 0]
        rotation = rotation @ about_x(gamma)
        if i % 3 == 2:
            poses.append((rotation, position))
    poses.append((rotation @ about_y(joints.tool_bend) @ about_z(joints.tool_spin), position))
    rotations, positions = zip(*poses, strict=True)
    return Frames(np.stack(rotations, -3), np.stack(positions, -2))


def tool_frame(joints: TwinJoints) -> Frames:
    """The tool after the last section, in closed form: equations 12 and 13, p = sum of s_k C_k e_3.

    C_k turns by the sum of the bends so far about the one bend axis; only the first joint may turn about z.
    """
    phi = joints.turns[..., 0]
    inclination = np.cumsum(joints.bends, -1)
    across = np.sum(joints.slides * np.sin(inclination), -1)
    along = np.sum(joints.slides * np.cos(inclination), -1)
    position = np.stack([across * np.cos(phi), across * np.sin(phi), along], -1)
    turned = about_z(phi) @ about_y(inclination[..., -1] + joints.tool_bend)
    return Frames(turned @ about_z(joints.tool_spin), position)


def followed_by(first: Frames, second: Frames) -> Frames:
    """The composition of two poses, the second of which is in the frame of the first."""
    moved = (first.rotation @ second.position[..., None])[..., 0]
    return Frames(first.rotation @ second.rotation, first.position + moved)


def limb_frames(base: Frames, theta, phi, length, sections: int, scheme: str = "exact") -> Frames:
    """The tip frames of a limb whose segments are chains of sections: arcs of angle, azimuth and length, (..., n) each.

    **Arguments:** `base`: frame of the limb's base in the world.
    """
    frame = base
    for i in range(np.shape(theta)[-1]):
        every = chain_frames(joints_of_arc(theta[..., i], phi[..., i], length[..., i], sections, scheme))
        frame = followed_by(frame, Frames(every.rotation[..., -1, :, :], every.position[..., -1, :]))
    return frame


def largest_error(found: Frames, truth: Frames) -> tuple[float, float]:
    """The largest distance [m] and the largest angle [rad] between frames.

    The angle t comes from the norm of R - 1, which is 2 sqrt(2) sin(t / 2): exact for small angles.
    """
    between = np.swapaxes(truth.rotation, -1, -2) @ found.rotation - np.eye(3)
    half_sine = np.linalg.norm(between, axis=(-2, -1)) / np.sqrt(8.0)
    distance = np.linalg.norm(found.position - truth.position, axis=-1)
    return float(np.max(distance)), float(np.max(2.0 * np.arcsin(np.minimum(half_sine, 1.0))))


def about_x(angle) -> np.ndarray:
    """The rotation about x, (..., 3, 3)."""
    return _about(angle, 0)


def about_y(angle) -> np.ndarray:
    """The rotation about y, (..., 3, 3)."""
    return _about(angle, 1)


def about_z(angle) -> np.ndarray:
    """The rotation about z, (..., 3, 3)."""
    return _about(angle, 2)


def _about(angle, axis: int) -> np.ndarray:
    angle = np.asarray(angle, float)
    matrix = np.zeros((*angle.shape, 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[..., axis, axis] = 1.0
    matrix[..., i, i] = matrix[..., j, j] = np.cos(angle)
    matrix[..., j, i] = np.sin(angle)
    matrix[..., i, j] = -np.sin(angle)
    return matrix


def _sinc(x) -> np.ndarray:
    """The function sin x / x."""
    return np.sinc(np.asarray(x) / np.pi)
