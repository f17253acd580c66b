"""tentacle-repeatability: what wire noise and whole motor steps leave of a repeated move."""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import ellipe

from hydrostat.actuation import shape_from_lengths
from hydrostat.control.shapes import configuration
from hydrostat.control.wire_motion import WireModel
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import Robot
from hydrostat.results import Variable
from hydrostat.robots.build import build_robot
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.tentacle import pairs_to_bends, replay

_BLOCK = 500  # moves per compiled call
PAPER_MEAN_DEG = (0.083, 0.1, 0.65)  # Boccolato, table 1
PAPER_VARIANCE = (0.02166, 0.024, 0.011)  # table 1; printed in degrees, so it may be a standard deviation


def repeatability(run: Run) -> Outcome:
    """Move home and out again many times; each arrival has wires at whole motor steps, with noise.

    The error of a link is the angle between the directions its end has and should have. To first order that is the
    length of a normal vector of two components, so its mean and its spread follow from the stated noise.
    """
    set_ = run.settings
    robot = build_robot(run.robot)
    model = WireModel(robot.arm, robot.tendons)
    wanted = pairs_to_bends(set_.alpha_deg, set_.theta_deg)
    noise = 1e-3 * set_.wire_noise_mm
    with run.compiling("compiling the wires"):
        lengths = model.lengths(wanted[None])[0]
        home = model.lengths(np.zeros_like(wanted)[None])[0]
        quantised = home + robot.motor.step * np.round((lengths - home) / robot.motor.step)
        directions, rates = _link_directions(robot, wanted)
        _angle_errors(robot, directions, np.zeros((_BLOCK, len(lengths))) + quantised)

    rng = np.random.default_rng(run.seed)
    errors = np.empty((set_.moves, robot.arm.count))
    variables = [
        Variable(
            "angle_error", ("link",), (robot.arm.count,), "rad", "angle between the link's direction and its goal"
        ),
        Variable("wire_error", ("wire",), (len(lengths),), "m", "noise of each wire at arrival"),
    ]
    attributes = {"scenario": "tentacle-repeatability", "robot": run.robot.name}
    with (
        run.timed(),
        run.recorder(variables, set_.moves, axis="move", axis_unit="1", attributes=attributes) as recorder,
    ):
        for first in range(0, set_.moves, _BLOCK):
            count = min(_BLOCK, set_.moves - first)
            wire_errors = noise * rng.standard_normal((_BLOCK, len(lengths)))
            block = np.asarray(_angle_errors(robot, directions, quantised + wire_errors))[:count]
            errors[first : first + count] = block
            recorder.append(
                np.arange(first, first + count, dtype=float), angle_error=block, wire_error=wire_errors[:count]
            )
            run.progress("moving", (first + count) / set_.moves)

    expected = [_rayleigh(np.asarray(rates[link]), noise) for link in range(robot.arm.count)]
    quantisation = np.asarray(_angle_errors(robot, directions, np.tile(quantised, (_BLOCK, 1))))[0]
    mean, spread = np.rad2deg(errors.mean(0)), np.rad2deg(errors.std(0, ddof=1))
    expected_mean, expected_spread = np.rad2deg(expected).T
    standard_error = expected_spread / np.sqrt(set_.moves)
    paper = robot.arm.count == len(PAPER_MEAN_DEG)
    metrics = {
        "angle_error_mean_deg": mean,
        "angle_error_std_deg": spread,
        "paper_mean_deg": list(PAPER_MEAN_DEG) if paper else None,
        "paper_variance": list(PAPER_VARIANCE) if paper else None,
        "expected_mean_deg": expected_mean,
        "expected_std_deg": expected_spread,
        "mean_deviation_standard_errors": (mean - expected_mean) / standard_error if noise > 0.0 else None,
        "quantisation_error_deg": np.rad2deg(quantisation),
        "moves": set_.moves,
        "wire_noise_mm": set_.wire_noise_mm,
    }
    title = f"tentacle-repeatability: {run.robot.name}, wire noise {set_.wire_noise_mm:g} mm"
    times = np.linspace(0.0, 4.0, 81)
    there_and_back = (0.5 - 0.5 * np.cos(0.5 * np.pi * times))[:, None, None] * wanted
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, errors, expected_mean, paper, title),
        replay=lambda path: replay(path, robot, times, there_and_back, title),
    )


def _ends(robot: Robot, q) -> jax.Array:
    """The directions that the links' ends point to, (n, 3)."""
    return kinematics.segment_poses(robot.arm, q).rotation[1:, :, 2]


@eqx.filter_jit
def _link_directions(robot, bends):
    """Directions of the links' ends, and their rates per length of each wire, (n, 3) and (n, 3, w)."""
    lengths = robot.tendons.lengths(robot.arm, configuration(robot.arm, bends))

    def directions(lengths):
        return _ends(robot, shape_from_lengths(robot.arm, robot.tendons, lengths).q)

    return _ends(robot, configuration(robot.arm, bends)), jax.jacfwd(directions)(lengths)


@eqx.filter_jit
def _angle_errors(robot, directions, lengths):
    """The angle between each link's direction and its goal, for many arrivals, (m, w) -> (m, n) [rad]."""

    def of_arrival(lengths):
        reached = _ends(robot, shape_from_lengths(robot.arm, robot.tendons, lengths).q)
        # The angle by its half's sine: exact for small angles, where an arc cosine loses half the digits.
        chord = jnp.sqrt(jnp.sum((reached - directions) ** 2, -1))
        return 2.0 * jnp.arcsin(jnp.minimum(0.5 * chord, 1.0))

    return jax.vmap(of_arrival)(lengths)


def _rayleigh(rates: np.ndarray, noise: float) -> tuple[float, float]:
    """Mean and standard deviation of the length of rates @ N(0, noise^2), a normal vector in a plane [rad].

    With the variances a >= b along the principal axes the mean is sqrt(2 a / pi) E(1 - b / a), E being the complete
    elliptic integral of the second kind, and the mean square is a + b.
    """
    a, b, _ = np.linalg.eigvalsh(noise**2 * rates @ rates.T)[::-1]
    if a <= 0.0:
        return 0.0, 0.0
    mean = np.sqrt(2.0 * a / np.pi) * ellipe(1.0 - max(b, 0.0) / a)
    return float(mean), float(np.sqrt(max(a + b - mean**2, 0.0)))


def _draw(path: Path, errors: np.ndarray, expected_mean: np.ndarray, paper: bool, title: str) -> None:
    """The errors move by move, as the paper plots them, and their distribution."""
    from hydrostat.results import figures

    figure = figures.new_figure(10.0, 2.6 * errors.shape[1])
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    axes = figure.subplots(errors.shape[1], 2, squeeze=False, width_ratios=[2, 1])
    degrees = np.rad2deg(errors)
    for link, (series, histogram) in enumerate(axes):
        color = figures.COLORS[link % 6]
        series.plot(degrees[:200, link], ".", color=color, markersize=3)
        series.axhline(expected_mean[link], color="#33322e", linewidth=1, label="mean expected from the noise")
        if paper:
            series.axhline(PAPER_MEAN_DEG[link], color="#888888", linestyle="--", linewidth=1, label="paper's mean")
        figures.style_axes(series, f"link {link + 1}", "move" if link == errors.shape[1] - 1 else "", "error [deg]")
        histogram.hist(degrees[:, link], 60, color=color, alpha=0.7, density=True)
        figures.style_axes(histogram, "", "error [deg]" if link == errors.shape[1] - 1 else "", "density")
    axes[0, 0].legend(fontsize=7, frameon=False)
    figures.save(figure, path)
