"""modes: the natural frequencies and mode shapes of any robot about the equilibrium under what acts on it."""

from pathlib import Path

import numpy as np

from hydrostat.results import Trajectory, drawing, figures
from hydrostat.scenarios.any_robot import control_of, ramp, system_of, tips_mm
from hydrostat.scenarios.base import Outcome, Run

_SHOWN = 4  # mode shapes in the figure
_SWING = 0.1  # of the longest arm, by which some point of a drawn shape moves
_PHASES = 48  # rows of the replay


def modes(run: Run) -> Outcome:
    """Small undamped vibrations about the equilibrium."""
    from hydrostat.statics import vibrations

    system, settings = system_of(run), run.settings
    rest = ramp(run, system, np.array([0.0, 1.0]))
    with run.timed():
        found = vibrations(system, control_of(system, settings), rest.final.q)
        frequencies = np.asarray(found.frequencies)[: settings.count]
    metrics = {
        "frequency_hz": frequencies.tolist(),
        "stable": bool(np.all(np.asarray(found.frequencies) > 0.0)),
        "tip_mm": tips_mm(rest.tip[-1]),
    }
    notes = [] if metrics["stable"] else ["the equilibrium is not stable: negative frequencies are rates of growth"]
    title = f"modes of {system.robot.name}"
    shapes = np.asarray(found.shapes).reshape(len(np.asarray(found.frequencies)), -1)
    swings = [_swinging(rest, shape) for shape in shapes[: min(_SHOWN, settings.count)]]
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, swings, frequencies, title),
        replay=lambda path: swings[0].replay(path, f"{title}: {frequencies[0]:.3g} Hz, slowed to one swing a second"),
        notes=notes,
    )


def _swinging(rest: Trajectory, shape: np.ndarray) -> Trajectory:
    """One swing of a mode about the equilibrium, in a second."""
    import jax
    from jax.flatten_util import ravel_pytree

    flat, unravel = ravel_pytree(rest.final.q)
    flat = np.asarray(flat)
    phases = np.sin(2.0 * np.pi * np.arange(_PHASES + 1) / _PHASES)

    def rows(size: float) -> Trajectory:
        q = [jax.tree.map(np.asarray, unravel(flat + size * phase * shape)) for phase in phases]
        many = jax.tree.map(lambda y: np.broadcast_to(np.asarray(y), (len(phases), *np.shape(y))), rest.final)
        state = many._replace(q=jax.tree.map(lambda *y: np.stack(y), *q), time=np.arange(len(phases)) / _PHASES)
        control = jax.tree.map(lambda y: np.broadcast_to(y[-1], (len(phases), *y.shape[1:])), rest.control)
        return Trajectory.of_states(rest.system, state, control)

    # By how much points move for a small size tells how large it may be.
    small = 1e-6 / max(float(np.abs(shape).max()), 1e-300)
    moved = max(
        float(np.abs(np.asarray(one)[_PHASES // 4] - np.asarray(one)[0]).max())
        for one in drawing.per_arm(rest.system.robot, rows(small).points)
    )
    longest = max(float(arm.arm.length) for arm in rest.system.robot.each)
    return rows(small * _SWING * longest / max(moved, 1e-300))


def _draw(path: Path, swings: list[Trajectory], frequencies: np.ndarray, title: str) -> None:
    """Both turning points and the middle of each mode, in the plane in which there is most to see."""
    figure = figures.new_figure(3.4 * len(swings), 4.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    for axes, swing, frequency in zip(
        figure.subplots(1, len(swings), squeeze=False)[0], swings, frequencies, strict=False
    ):
        scene = drawing.Scene.of(swing, [0, _PHASES // 4, 3 * _PHASES // 4])
        tips = np.asarray(swing.tip).reshape(len(swing), -1, 3)
        moved = np.ptp(tips, axis=0).max(0)
        plane = max((drawing.FRONT, drawing.SIDE, drawing.ABOVE), key=lambda plane: np.hypot(*moved[list(plane)]))
        for row, paleness in ((1, 0.7), (2, 0.7), (0, 0.0)):
            drawing.draw_view(axes, scene, row, plane, paleness=paleness, path=False)
        x, y = ("xyz"[k] for k in plane)
        figures.style_axes(axes, f"{frequency:.3g} Hz", f"{x} [mm]", f"{y} [mm]")
    figures.save(figure, path)
