"""Single numbers made of results: errors, orders of convergence, frequencies and changes of energy."""

import numpy as np


def rms(values) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


def percent(part, whole, smallest: float = 0.0) -> float | None:
    """The ratio of two numbers in percent; None where the second is not larger than `smallest`."""
    return 100.0 * float(part) / float(whole) if abs(whole) > smallest else None


def convergence_order(sizes, errors, rounding: float = 0.0) -> float | None:
    """The order at which errors fall with sizes: the negative slope of their logarithms, by least squares.

    None for a single size, and where an error is below `rounding` and so tells nothing.
    """
    if len(sizes) < 2 or min(errors) <= rounding:
        return None
    return -float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


def polar_angle(positions) -> np.ndarray:
    """The angle of positions in a plane (rows, 2), seen from the origin and without jumps from row to row [rad]."""
    return np.unwrap(np.arctan2(positions[..., 1], positions[..., 0]))


def crossing_frequency(time, values) -> float | None:
    """The frequency at which values over time [s] cross zero upwards [Hz]; None where they do not twice."""
    time, values = np.asarray(time), np.asarray(values)
    before = np.flatnonzero((values[:-1] < 0.0) & (values[1:] >= 0.0))
    if len(before) < 2:
        return None
    rise = values[before + 1] - values[before]
    crossed = time[before] - values[before] * (time[before + 1] - time[before]) / rise
    return float((len(crossed) - 1) / (crossed[-1] - crossed[0]))


def energy_change(energies) -> np.ndarray:
    """The change of the total energy since the first row, over the largest kinetic energy.

    **Arguments:** `energies`: kinetic, elastic and gravitational energy (rows, 3) [J].
    """
    energies = np.asarray(energies)
    total = np.sum(energies, -1)
    return (total - total[0]) / np.max(energies[:, 0])


def path_deviation(time, path, reference_time, reference_path) -> float:
    """The largest distance of a path (rows, 3) from another at the same time, which is interpolated between rows."""
    reference = [np.interp(time, reference_time, y) for y in np.asarray(reference_path).T]
    return float(np.max(np.linalg.norm(np.asarray(path) - np.stack(reference, -1), axis=-1)))


def largest_difference(one, other) -> float:
    """The largest difference of any number in two trees of arrays of the same structure."""
    import jax

    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return float(max(np.max(np.abs(np.asarray(a) - np.asarray(b))) for a, b in pairs))
