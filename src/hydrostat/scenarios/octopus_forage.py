"""octopus-forage: an octopus crawls to its prey, takes it with one arm and brings it to its mouth."""

from pathlib import Path

import numpy as np

from hydrostat import Obstacles
from hydrostat.control.gaits import Forage
from hydrostat.errors import InputError
from hydrostat.results import Delivery, drawing, figures, gaps_to_arms, shape_contacts
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import move, octopus, row_steps
from hydrostat.scenarios.octopus_prey import SHELL, gap_to_rock, placements, prey_at
from hydrostat.scenarios.own_targets import prey_places, rock_of
from hydrostat.surroundings import Sphere

_BROUGHT = 0.03
"""Largest distance from the mouth to the surface of prey that is brought there [m]."""

_GAINS = 0.25
"""Least share of the pace of its crawl by which it is taken to gain on prey, in the time that it has."""


def forage(run: Run) -> Outcome:
    """One hunt for each placement of the prey."""
    settings = run.settings
    rock = rock_of(run.limbed, settings)
    places = prey_places(run.limbed, settings) if settings.target_mm else placements(run, rock)
    prey = [prey_at(settings, place, (index + 0.5) / len(places)) for index, place in enumerate(places)]
    farthest = max(settings.distance_m)
    if settings.target_mm or rock is not None:
        farthest = float(np.linalg.norm(places - np.array(run.limbed.base.position[:2]), axis=1).max())
        farthest += 0.0 if rock is None else 0.3 + rock[2]  # the way round it
    flow = np.deg2rad(settings.current_deg)
    current = settings.current_m_s * np.array([np.cos(flow), np.sin(flow), 0.0])
    stones = [] if rock is None else [Obstacles(SHELL, [Sphere(centre=np.array([*rock[:2], 0.0]), radius=rock[2])])]
    hunts: list[Delivery] = []
    depths, overlaps, gaps = [], [], []
    animal, seconds, every = None, 0.0, row_steps(run)
    for index, one in enumerate(prey):
        share = (index / len(prey), (index + 1) / len(prey))
        animal = octopus(run, current=current, parts=[one, *stones], draw=index)
        if settings.target_mm:
            for name, gap in gaps_to_arms(animal.system).items():
                if gap < 0.0:
                    clear = f"prey {index + 1} of `target_mm` must start clear of the arms"
                    raise InputError(f"{clear}; it reaches {-1e3 * gap:.3g} mm into {name}")
        controller = Forage(failed_suckers=animal.failed_suckers, rock=rock)
        stroke = controller.stroke(animal.system)
        pace = float(stroke.length / stroke.duration)
        gains = max(pace - 1e-3 * settings.prey_flees_mm_s - settings.current_m_s, _GAINS * pace) / pace
        strokes = int(np.ceil(1.3 * farthest / gains / float(stroke.length))) + 3
        seconds = strokes * float(stroke.duration) + controller.fetch_seconds
        hunt = move(run, animal, controller, seconds, every=every, share=share, record=index == 0)
        hunts.append(Delivery.of(hunt))
        gaps.append(gap_to_rock(hunt, rock))
        depths.append(np.max(hunt.ground_depth))
        overlaps.append(float(max(np.max(hunt.object_overlap), np.max(hunt.body_overlap), 0.0)))
    assert animal is not None
    metrics = {
        "delivered_rate": float(np.mean([one.delivered() for one in hunts])),
        "brought_rate": float(np.mean([one.brought(_BROUGHT) for one in hunts])),
        "taken_rate": float(np.mean([one.held.any() for one in hunts])),
        "mouth_distance_mm": [1e3 * float(one.distance[-1]) for one in hunts],
        "prey_drift_mm": [1e3 * one.drift() for one in hunts],
        "arrival_s": [_first(one.hunt.memory.there, one.hunt.time) for one in hunts],
        "taken_s": [_first(one.held, one.hunt.time) for one in hunts],
        "prey_g": [1e3 * float(one.mass) for one in prey],
        "penetration_max_radii": float(max(depths)),
        "overlap_max_radii": float(max(overlaps)),
        "overlap_radii": overlaps,
    }
    if rock is not None:
        metrics["rock_gap_mm"] = [1e3 * gap for gap in gaps]
        metrics["rock_overlap_max_radii"] = max(
            float(np.max(one.hunt.derived(shape_contacts).depth, initial=0.0)) for one in hunts
        )
    brought, delivered = sum(one.brought(_BROUGHT) for one in hunts), sum(one.delivered() for one in hunts)
    near = f"{brought} within {1e3 * _BROUGHT:g} mm of the mouth"
    title = f"octopus-forage: of {len(hunts)} prey {near}, {delivered} at it for a second"
    return Outcome(
        metrics,
        figure=lambda path: _draw(path, hunts, title, rock),
        replay=lambda path: hunts[0].hunt.replay(path, title),
        sim_seconds=len(hunts) * seconds,
        dt=1e-3 * settings.dt_ms,
        steps=len(hunts) * every * (len(hunts[0].hunt) - 1),
        notes=animal.notes,
    )


def _first(flags, times) -> float | None:
    """The first time at which a condition holds; None where it never does."""
    flags = np.asarray(flags)
    return float(times[int(np.argmax(flags))]) if flags.any() else None


def _draw(path: Path, hunts: list[Delivery], title: str, rock) -> None:
    """The first hunt from above, and how near all prey came to the mouth."""
    figure = figures.new_figure(13.0, 7.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(2, 4)
    first = hunts[0].hunt
    came, took = int(np.argmax(np.asarray(first.memory.there))), int(np.argmax(hunts[0].held))
    scene = drawing.Scene.of(first)
    for column, row in enumerate((0, came, took, len(first) - 1)):
        axes = figure.add_subplot(grid[0, column])
        drawing.draw_above(axes, scene, row)
        figures.style_axes(axes, f"from above, {first.time[row]:.2f} s", "x [mm]", "y [mm]")
    axes = figure.add_subplot(grid[1, :2])
    for one in hunts:
        axes.plot(one.hunt.time, 1e3 * one.distance, linewidth=1.0)
    axes.axhline(1e3 * _BROUGHT, color="#33322e", linewidth=0.8, linestyle="--")
    figures.style_axes(axes, "from the prey to the mouth", "time [s]", "[mm]")
    axes = figure.add_subplot(grid[1, 2:])
    for one in hunts:
        color = figures.COLORS[0 if one.brought(_BROUGHT) else 2]
        axes.plot(*(1e3 * np.asarray(one.hunt.body)[:, :2].T), color=color, linewidth=1.0)
        axes.plot(*(1e3 * one.start[:2]), "o", color=color, markersize=5)
    if rock is not None:
        x, y, radius = 1e3 * np.array(rock)
        turn = np.linspace(0.0, 2.0 * np.pi, 60)
        axes.fill(x + radius * np.cos(turn), y + radius * np.sin(turn), color="#d3d0c8")
    axes.set_aspect("equal")
    figures.style_axes(axes, "where prey lay, and the ways there", "x [mm]", "y [mm]")
    figures.save(figure, path)
