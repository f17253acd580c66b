"""Figure and replay of squid-reach."""

from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from hydrostat.bodies import Arm
from hydrostat.mechanics import kinematics
from hydrostat.results.trajectory import Trajectory
from hydrostat.robots.limbed import BodySpec
from hydrostat.scenarios.replaying import cylinder, tube_of
from hydrostat.surroundings import Box
from hydrostat.viewer import Line, Tube, write_replay

_FRAMES = 400
_TUBES = ((214, 96, 77), (230, 162, 60), (62, 128, 146), (120, 122, 180))
_GREY, _BAR_COLOR = (120, 128, 136), (86, 122, 84)


class Scene(NamedTuple):
    """What is around the limbs."""

    arms: dict[str, Arm]
    bar: tuple
    obstacles: tuple
    wall: Box


def draw(path: Path, rows: dict[str, Trajectory], seen, scene: Scene, press: float, title: str) -> None:
    """The limbs at a few moments from two sides, what the tips feel and see, and the tensions."""
    from hydrostat.results import figures

    figure = figures.new_figure(14.0, 7.6)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 4)
    side, top = figure.add_subplot(grid[:, 0:2]), figure.add_subplot(grid[0, 2])
    times, arm = rows["palpation"].time, rows["palpation"].memory
    moments = np.linspace(0, len(times) - 1, 5).astype(int)
    for axes, (a, b) in ((side, (0, 2)), (top, (0, 1))):
        for i, (name, limb) in enumerate(scene.arms.items()):
            for row in moments:
                last = row == moments[-1]
                line = np.asarray(kinematics.centreline(limb, jnp.asarray(rows[name].state.q[row]), 6).position)
                width, alpha, label = (3.0, 1.0, name) if last else (0.9, 0.45, None)
                color = figures.COLORS[i]
                axes.plot(line[:, a], line[:, b], color=color, linewidth=width, alpha=alpha, label=label)
        for k, (first, second, radius) in enumerate((scene.bar, *scene.obstacles)):
            _capsule(
                axes, np.array(first)[[a, b]], np.array(second)[[a, b]], radius, "#567a54" if k == 0 else "#9aa3ab"
            )
        centre, half = np.asarray(scene.wall.pose.position)[[a, b]], np.asarray(scene.wall.half_sizes)[[a, b]]
        corners = centre + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        axes.fill(*corners.T, color="#9aa3ab", alpha=0.5, linewidth=0)
        axes.set_aspect("equal")
    figures.style_axes(side, "from the side: at the start, on the way and at the end (thick)", "x [m]", "z [m]")
    figures.style_axes(top, "from above", "x [m]", "y [m]")
    side.legend(fontsize=8, frameon=False, loc="lower left")

    force = figure.add_subplot(grid[0, 3])
    force.plot(times, arm.force, color=figures.COLORS[1], label="at the palpation tip")
    force.axhline(press, color="#33322e", linewidth=0.8, linestyle="--", label="set")
    force.legend(fontsize=7, frameon=False)
    figures.style_axes(force, "pressing force", "time [s]", "[N]")
    looking = figure.add_subplot(grid[1, 2])
    for error, color, name in ((seen.camera_error, 2, "camera to bar"), (seen.light_error, 3, "light to camera's aim")):
        looking.semilogy(times, np.maximum(np.rad2deg(error), 1e-4), color=figures.COLORS[color], label=name)
    looking.legend(fontsize=7, frameon=False)
    figures.style_axes(looking, "pointing error", "time [s]", "[deg]")
    pull = figure.add_subplot(grid[1, 3])
    for name, color in zip(scene.arms, figures.COLORS, strict=False):
        pull.plot(times, np.asarray(rows[name].memory.tension), color=color, linewidth=0.9)
    figures.style_axes(pull, "tensions of all tendons, colours as on the left", "time [s]", "[N]")
    figures.save(figure, path)


def _capsule(axes, first: np.ndarray, second: np.ndarray, radius: float, color: str) -> None:
    """The outline of a capsule in a plane."""
    along = second - first
    angle = np.arctan2(along[1], along[0]) if np.any(along) else 0.0
    turn = np.linspace(-np.pi / 2, np.pi / 2, 25)
    ends = [(second, turn), (first, turn + np.pi)]
    outline = [c + radius * np.stack([np.cos(t + angle), np.sin(t + angle)], -1) for c, t in ends]
    axes.fill(*np.concatenate(outline).T, color=color, alpha=0.6, linewidth=0)


def replay(path: Path, rows: dict[str, Trajectory], scene: Scene, body: BodySpec, title: str) -> None:
    """The limbs, the body, and what is around them."""
    every = rows["palpation"].time
    step = max(1, -(-len(every) // _FRAMES))
    times = every[::step]
    tubes: list[Tube] = [
        tube_of(name, arm, np.asarray(rows[name].state.q)[::step], color=color)
        for (name, arm), color in zip(scene.arms.items(), _TUBES, strict=True)
    ]
    still = np.zeros((len(times), 1))
    for k, (a, b, radius) in enumerate((scene.bar, *scene.obstacles)):
        name, color = ("bar", _BAR_COLOR) if k == 0 else (f"obstacle {k}", _GREY)
        tubes.append(cylinder(name, np.array(a) + still, np.array(b) + still, radius, color))
    for shape in body.shapes:
        if shape.kind in ("cylinder", "capsule"):
            half = 0.5 * shape.size[1] * np.array([1.0, 0.0, 0.0])
            # The body's z is forwards, the world's x.
            middle = np.array([shape.position[2], shape.position[1], -shape.position[0]])
            tubes.append(cylinder(shape.name, middle - half + still, middle + half + still, shape.size[0], _GREY))
    write_replay(path, times, tubes, [_outline(scene.wall)], title=title)


def _outline(wall: Box) -> Line:
    """The near face of the wall."""
    centre, half = np.asarray(wall.pose.position), np.asarray(wall.half_sizes)
    signs = np.array([[-1, -1, -1], [-1, 1, -1], [-1, 1, 1], [-1, -1, 1], [-1, -1, -1]], float)
    return Line("wall", centre + signs * half, color=_GREY, width=0.004)
