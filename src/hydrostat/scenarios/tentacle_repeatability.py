"""tentacle-repeatability: what wire noise and whole motor steps leave of a repeated move."""

from pathlib import Path

import numpy as np

from hydrostat.control import LoadedShape, WireModel, bends_of_angles, loaded_shape
from hydrostat.control.wire_errors import link_angle_errors, link_directions, noise_length_moments
from hydrostat.results import Variable, along_bends, figures, panels, replay_with_tendons
from hydrostat.robots import build_robot
from hydrostat.scenarios.base import Outcome, Run

_BLOCK = 500  # moves per compiled call
PAPER_MEAN_DEG = (0.083, 0.1, 0.65)  # Boccolato, table 1
PAPER_VARIANCE = (0.02166, 0.024, 0.011)  # table 1; printed in degrees, so it may be a standard deviation


def repeatability(run: Run) -> Outcome:
    """Move home and out again many times; each arrival has wires at whole motor steps, with noise.

    The error of a link is the angle between the direction of its end and its goal. To first order that is the length of
    a normal vector of two components, so its mean and its spread follow from the noise of the wires.
    """
    settings = run.settings
    robot = build_robot(run.robot)
    model = WireModel(robot.arm, robot.tendons)
    goal = bends_of_angles(settings.alpha_deg, settings.theta_deg)
    noise, step = 1e-3 * settings.wire_noise_mm, robot.motor.step
    with run.compiling("compiling the wires"):
        home, lengths = (model.lengths(bends[None])[0] for bends in (np.zeros_like(goal), goal))
        quantised = home + step * np.round((lengths - home) / step)
        directions, rates = link_directions(robot, goal)
        loaded = _loaded(settings, robot, goal, np.sign(np.round(lengths - home, 12)))
        stopped = directions if loaded.bend is goal else link_directions(robot, loaded.bend)[0]
        quantised = quantised + model.lengths(loaded.bend[None])[0] - lengths
        quantisation = np.asarray(link_angle_errors(robot, stopped, np.tile(quantised, (_BLOCK, 1))))[0]
        bias = 2.0 * np.arcsin(0.5 * np.linalg.norm(np.asarray(stopped) - np.asarray(directions), axis=-1))
    errors = _arrivals(run, robot, directions, quantised, noise)
    expected_mean, expected_spread = np.rad2deg([noise_length_moments(np.asarray(one), noise) for one in rates]).T
    mean, spread = np.rad2deg(errors.mean(0)), np.rad2deg(errors.std(0, ddof=1))
    standard_error = expected_spread / np.sqrt(settings.moves)
    unbiased = noise > 0.0 and np.all(bias == 0.0)
    paper = robot.arm.count == len(PAPER_MEAN_DEG)
    metrics = {
        "angle_error_mean_deg": mean,
        "angle_error_std_deg": spread,
        "paper_mean_deg": list(PAPER_MEAN_DEG) if paper else None,
        "paper_variance": list(PAPER_VARIANCE) if paper else None,
        "expected_mean_deg": expected_mean,
        "expected_std_deg": expected_spread,
        "mean_deviation_standard_errors": (mean - expected_mean) / standard_error if unbiased else None,
        "bias_deg": np.rad2deg(bias),
        "least_tension_n": float(np.min(loaded.tension)),
        "quantisation_error_deg": np.rad2deg(quantisation),
        "moves": settings.moves,
        "wire_noise_mm": settings.wire_noise_mm,
    }
    title = f"tentacle-repeatability: {run.robot.name}, wire noise {settings.wire_noise_mm:g} mm"
    times = np.linspace(0.0, 4.0, 81)
    there_and_back = (0.5 - 0.5 * np.cos(0.5 * np.pi * times))[:, None, None] * goal
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, np.rad2deg(errors), expected_mean, paper, title),
        replay=lambda path: replay_with_tendons(along_bends(robot, times, there_and_back), path, title),
    )


def _loaded(settings, robot, goal: np.ndarray, approach: np.ndarray) -> LoadedShape:
    """Where the arm stops without noise; at the goal itself where wires do not stretch and drives have no play."""
    if settings.wire_stiffness_n == 0.0:
        lag = np.zeros(len(approach))
        return LoadedShape(goal, lag + settings.mean_tension_n, lag)
    loads = {"friction": settings.friction, "backlash": 1e-3 * settings.backlash_mm}
    stiffness, tension = settings.wire_stiffness_n, settings.mean_tension_n
    return loaded_shape(robot, goal, approach, wire_stiffness=stiffness, mean_tension=tension, **loads)


def _arrivals(run: Run, robot, directions, lengths: np.ndarray, noise: float) -> np.ndarray:
    """The angle errors of all links after every move (moves, n) [rad], recorded block by block."""
    moves, rng = run.settings.moves, np.random.default_rng(run.seed)
    errors, wires = np.empty((moves, robot.arm.count)), len(lengths)
    goal = "angle between the link's direction and its goal"
    variables = [
        Variable("angle_error", ("link",), (robot.arm.count,), "rad", goal),
        Variable("wire_error", ("wire",), (wires,), "m", "noise of each wire at arrival"),
    ]
    options = {
        "axis": "move",
        "axis_unit": "1",
        "attributes": {"scenario": "tentacle-repeatability", "robot": run.robot.name},
    }
    with run.timed(), run.recorder(variables, moves, **options) as recorder:
        for first in range(0, moves, _BLOCK):
            count = min(_BLOCK, moves - first)
            wire_errors = noise * rng.standard_normal((_BLOCK, wires))
            block = np.asarray(link_angle_errors(robot, directions, lengths + wire_errors))[:count]
            errors[first : first + count] = block
            index = np.arange(first, first + count, dtype=float)
            recorder.append(index, angle_error=block, wire_error=wire_errors[:count])
            run.progress("moving", (first + count) / moves)
    return errors


def _draw(path: Path, degrees: np.ndarray, expected_mean: np.ndarray, paper: bool, title: str) -> None:
    """The errors move by move, as the paper plots them, and their distribution."""
    links = degrees.shape[1]
    figure, grid = panels.new_panels(title, links, 2, (10.0, 2.6 * links), width_ratios=[2, 1])
    for link in range(links):
        series, histogram = (figure.add_subplot(grid[link, column]) for column in range(2))
        color, last = figures.COLORS[link % len(figures.COLORS)], link == links - 1
        series.plot(degrees[:200, link], ".", color=color, markersize=3)
        series.axhline(expected_mean[link], color="#33322e", linewidth=1, label="mean expected from the noise")
        if paper:
            series.axhline(PAPER_MEAN_DEG[link], color="#888888", linestyle="--", linewidth=1, label="paper's mean")
        if link == 0:
            series.legend(fontsize=7, frameon=False)
        figures.style_axes(series, f"link {link + 1}", "move" if last else "", "error [deg]")
        histogram.hist(degrees[:, link], 60, color=color, alpha=0.7, density=True)
        figures.style_axes(histogram, "", "error [deg]" if last else "", "density")
    figures.save(figure, path)
