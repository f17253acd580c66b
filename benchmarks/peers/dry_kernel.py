"""The dry recursion as one would write it by hand for this machine: the measure of the hardware.

An arm is a chain of rigid links with a slide and two hinges in the middle of every section, stepped by the linearly
implicit Euler method: Featherstone's articulated-body algorithm with the springs' h C + h^2 K on its diagonal. All
spatial vectors are in world axes about the world's origin, so that nothing has to be transformed from link to link.
Six-vectors are unrolled to scalars, each a vector register whose lanes are arms (`vector_code`). It knows nothing of
water, muscles or contact, and its method is of first order. A hinge may turn by a radian or so, for which its series
of sine and cosine are exact to 1e-12.
"""

import functools
import math

import numpy as np

from peers.rods import Rod
from peers.vector_code import Kernel, Writer

# Per link and arm: three joints of S (6), c (6), U (6), u, 1/d; then inertia (21) and bias (6).
_JOINT, _INERTIA = 20, 60
_SLOTS = _INERTIA + 27


def _entry(i: int, j: int) -> int:
    """The place of an entry in the packed upper triangle."""
    i, j = min(i, j), max(i, j)
    return i * 6 - i * (i - 1) // 2 + j - i


# Coefficients of sin(x) / x and of cos(x) by x^2.
_SERIES = {"sn": [(-1.0) ** i / math.factorial(2 * i + 1) for i in range(8)],
           "cs": [(-1.0) ** i / math.factorial(2 * i) for i in range(9)]}  # fmt: skip


def _series(name: str) -> str:
    """A power series of xx after Horner."""
    text = "0.0"
    for value in reversed(_SERIES[name]):
        text = f"({text}) * xx + {value!r}" if value > 0.0 else f"({text}) * xx - {-value!r}"
    return text


def sweeps() -> list[tuple[list[str], list[str], bool]]:
    """The three sweeps over the links: what comes before each, the statements of a link, whether tip to base."""
    start = [f"X[{3 * i + j}, b] = {'1.0' if i == j else '0.0'}" for i in range(3) for j in range(3)]
    start += [f"X[{i}, b] = 0.0" for i in range(9, 18)]
    none = [f"Y[{i}, b] = 0.0" for i in range(27)]
    fall = [f"X[{i}, b] = 0.0" for i in range(3)] + [f"X[{3 + i}, b] = -G[{i}, b]" for i in range(3)]
    return [(start, _motion() + _inertia(), False), (none, _elimination(), True), (fall, _accelerations(), False)]


def _motion() -> list[str]:
    """Base to tip: axes of the joints, velocities, products of velocities, and the rotation of a link."""
    out: list[str] = []
    out += [f"r{i}{j} = X[{3 * i + j}, b]" for i in range(3) for j in range(3)]
    out += [f"o{i} = X[{9 + i}, b]" for i in range(3)]
    out += [f"w{i} = X[{12 + i}, b]" for i in range(6)]  # the twist, (angular, linear) at the origin
    out += ["run = P[j, 0] + q[j, 0, b]", *(f"o{i} = o{i} + r{i}2 * run" for i in range(3))]
    for number, axis in ((0, 2), (1, 0), (2, 1)):
        base = number * _JOINT
        out += [f"e{i} = r{i}{axis}" for i in range(3)]
        if number == 0:
            out += ["s0 = 0.0", "s1 = 0.0", "s2 = 0.0", "s3 = e0", "s4 = e1", "s5 = e2"]
        else:
            out += ["s0 = e0", "s1 = e1", "s2 = e2", "s3 = o1 * e2 - o2 * e1", "s4 = o2 * e0 - o0 * e2",
                    "s5 = o0 * e1 - o1 * e0"]  # fmt: skip
        out += [f"g = v[j, {number}, b]", *(f"t{i} = s{i} * g" for i in range(6))]
        # c = w x (S q'), a cross product of motions.
        out += ["c0 = w1 * t2 - w2 * t1", "c1 = w2 * t0 - w0 * t2", "c2 = w0 * t1 - w1 * t0"]
        out += ["c3 = w1 * t5 - w2 * t4 + w4 * t2 - w5 * t1", "c4 = w2 * t3 - w0 * t5 + w5 * t0 - w3 * t2",
                "c5 = w0 * t4 - w1 * t3 + w3 * t1 - w4 * t0"]  # fmt: skip
        for i in range(6):
            out += [f"W[j, {base + i}, b] = s{i}", f"W[j, {base + 6 + i}, b] = c{i}", f"w{i} = w{i} + t{i}"]
        if number:
            a, d = (axis + 1) % 3, (axis + 2) % 3
            out += [f"x = q[j, {number}, b]", "xx = x * x", f"sn = x * ({_series('sn')})", f"cs = {_series('cs')}"]
            for i in range(3):
                out += [f"x = r{i}{a} * cs + r{i}{d} * sn", f"r{i}{d} = r{i}{d} * cs - r{i}{a} * sn", f"r{i}{a} = x"]
    return out


def _inertia() -> list[str]:
    """The inertia of a link about the origin, and the rate of its momentum w x* (I w)."""
    out = ["m = P[j, 1]", "across = P[j, 3]", "more = P[j, 4] - across"]
    out += [f"n{i} = o{i} + r{i}2 * P[j, 2]" for i in range(3)]
    out += ["nn = n0 * n0 + n1 * n1 + n2 * n2"]
    for i in range(3):
        for j in range(i, 3):
            diagonal = " + across + m * nn" if i == j else ""
            out.append(f"i{_entry(i, j)} = more * r{i}2 * r{j}2 - m * n{i} * n{j}{diagonal}")
    skew = {(0, 1): "-m * n2", (0, 2): "m * n1", (1, 0): "m * n2", (1, 2): "-m * n0", (2, 0): "-m * n1",
            (2, 1): "m * n0"}  # fmt: skip
    for i in range(3):
        for j in range(3):
            out.append(f"i{_entry(i, 3 + j)} = {skew.get((i, j), '0.0')}")
            if j >= i:
                out.append(f"i{_entry(3 + i, 3 + j)} = {'m' if i == j else '0.0'}")
    out += [f"h{i} = " + " + ".join(f"i{_entry(i, k)} * w{k}" for k in range(6)) for i in range(6)]
    out += ["p0 = w1 * h2 - w2 * h1 + w4 * h5 - w5 * h4", "p1 = w2 * h0 - w0 * h2 + w5 * h3 - w3 * h5",
            "p2 = w0 * h1 - w1 * h0 + w3 * h4 - w4 * h3", "p3 = w1 * h5 - w2 * h4", "p4 = w2 * h3 - w0 * h5",
            "p5 = w0 * h4 - w1 * h3"]  # fmt: skip
    out += [f"W[j, {_INERTIA + i}, b] = i{i}" for i in range(21)]
    out += [f"W[j, {_INERTIA + 21 + i}, b] = p{i}" for i in range(6)]
    out += [f"X[{3 * i + j}, b] = r{i}{j}" for i in range(3) for j in range(3)]
    out += [f"X[{9 + i}, b] = o{i}" for i in range(3)] + [f"X[{12 + i}, b] = w{i}" for i in range(6)]
    return out


def _elimination() -> list[str]:
    """Tip to base: each joint is eliminated from articulated inertia and bias."""
    back = [f"i{i} = Y[{i}, b] + W[j, {_INERTIA + i}, b]" for i in range(21)]
    back += [f"p{i} = Y[{21 + i}, b] + W[j, {_INERTIA + 21 + i}, b]" for i in range(6)]
    for number in (2, 1, 0):
        base, k = number * _JOINT, "P[j, 5]" if number == 0 else "P[j, 6]"
        back += [f"s{i} = W[j, {base + i}, b]" for i in range(6)]
        back += [f"u{i} = " + " + ".join(f"i{_entry(i, k_)} * s{k_}" for k_ in range(6)) for i in range(6)]
        product = " + ".join(f"s{i} * u{i}" for i in range(6))
        back += [f"k = {k}", f"d = 1.0 / ({product} + k * (dt * tau + dt * dt))"]
        back += [f"f = -k * (q[j, {number}, b] + (dt + tau) * v[j, {number}, b]) - ("
                 + " + ".join(f"s{i} * p{i}" for i in range(6)) + ")"]  # fmt: skip
        back += [f"W[j, {base + 12 + i}, b] = u{i}" for i in range(6)]
        back += [f"W[j, {base + 18}, b] = f", f"W[j, {base + 19}, b] = d", "f = f * d"]
        for i in range(6):
            back.append(f"x = u{i} * d")
            back += [f"i{_entry(i, j)} = i{_entry(i, j)} - x * u{j}" for j in range(i, 6)]
        back += [f"c{i} = W[j, {base + 6 + i}, b]" for i in range(6)]
        for i in range(6):
            back.append(f"p{i} = p{i} + u{i} * f + " + " + ".join(f"i{_entry(i, k_)} * c{k_}" for k_ in range(6)))
    back += [f"Y[{i}, b] = i{i}" for i in range(21)] + [f"Y[{21 + i}, b] = p{i}" for i in range(6)]
    return back


def _accelerations() -> list[str]:
    """Base to tip: accelerations of the joints, and their step."""
    last = [f"a{i} = X[{i}, b]" for i in range(6)]
    for number in (0, 1, 2):
        base = number * _JOINT
        last += [f"a{i} = a{i} + W[j, {base + 6 + i}, b]" for i in range(6)]
        product = " + ".join(f"W[j, {base + 12 + i}, b] * a{i}" for i in range(6))
        last += [f"g = (W[j, {base + 18}, b] - ({product})) * W[j, {base + 19}, b]"]
        last += [f"a{i} = a{i} + W[j, {base + i}, b] * g" for i in range(6)]
        last += [f"x = v[j, {number}, b] + dt * g", f"v[j, {number}, b] = x",
                 f"q[j, {number}, b] = q[j, {number}, b] + dt * x"]  # fmt: skip
    last += [f"X[{i}, b] = a{i}" for i in range(6)]
    return last


@functools.cache
def compiled(lanes: int) -> Kernel:
    """The kernel for some arms side by side."""
    columns = {"q": 3, "v": 3, "P": 7, "G": 3, "W": _SLOTS, "X": 18, "Y": 27}
    return Kernel(Writer(lanes, columns, ("P",)).function(sweeps()), len(columns))


def parameters(rod: Rod, segments: int) -> np.ndarray:
    """Lengths, masses and springs of the links; a link reaches from the middle of a section to that of the next."""
    step = rod.length / segments

    def radius(place: float) -> float:
        return rod.radius[0] + (rod.radius[1] - rod.radius[0]) * place / rod.length

    rows = []
    for j in range(segments):
        # Two pieces: the second half of this section, and the first one of the next, but for the last.
        places = [0.25 * step, 0.75 * step][: 1 if j == segments - 1 else 2]
        radii = [radius((j + 0.5) * step + place) for place in places]
        masses = [rod.density * np.pi * r**2 * 0.5 * step for r in radii]
        mass = sum(masses)
        centre = sum(m * z for m, z in zip(masses, places, strict=True)) / mass
        pieces = list(zip(masses, places, radii, strict=True))
        across = sum(m * (0.25 * r**2 + step**2 / 48.0 + (z - centre) ** 2) for m, z, r in pieces)
        along = sum(0.5 * m * r**2 for m, _, r in pieces)
        r = radius((j + 0.5) * step)
        stiffness = (rod.youngs_modulus * np.pi * r**2 / step, 0.25 * rod.youngs_modulus * np.pi * r**4 / step)
        rows.append((0.5 * step if j == 0 else step, mass, centre, across, along, *stiffness))
    return np.array(rows)


class DryArms:
    """Some equal arms side by side, from rest."""

    def __init__(self, rod: Rod, segments: int, lanes: int):
        self.kernel, self.rod = compiled(lanes), rod
        self.parameters = parameters(rod, segments)
        # The kernel's arms point along z, the rods along x.
        self.gravity = np.repeat(np.roll(np.array(rod.gravity), -1)[:, None], lanes, 1)
        self.q, self.v = np.zeros((2, segments, 3, lanes))
        self.memory = np.zeros((segments, _SLOTS, lanes)), np.zeros((18, lanes)), np.zeros((27, lanes))

    def step(self, dt: float, count: int) -> None:
        """Make some steps."""
        arrays = (self.q, self.v, self.parameters, self.gravity, *self.memory)
        self.kernel(arrays, self.rod.damping_time, dt, count, len(self.parameters))

    def tip(self, lane: int = 0) -> np.ndarray:
        """The position of a tip [m]."""
        R, p = np.eye(3), np.zeros(3)
        for row, (slide, x, y) in zip(self.parameters, self.q[:, :, lane], strict=True):
            p = p + R[:, 2] * (row[0] + slide)
            R = R @ np.array([[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]])
            R = R @ np.array([[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]])
        p = p + R[:, 2] * 0.5 * self.rod.length / len(self.parameters)
        return np.roll(p, 1)
