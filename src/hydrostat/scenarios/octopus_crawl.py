"""octopus-crawl: eight arms on a free body that crawls over the ground, with its suckers and without."""

import numpy as np

from hydrostat.control.gaits import ALTERNATIONS, BodyPlan, Crawl, CrawlMemory
from hydrostat.control.hierarchy import HierarchyController, Nerves
from hydrostat.results import Trajectory
from hydrostat.results.measures import displacement
from hydrostat.scenarios.arm import fatigued_shares
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.octopus import move_both, octopus, outcome
from hydrostat.scenarios.octopus_figures import draw_on_ground, yaw

_RESERVE = 0.85  # of the distance that its strokes could take it: how far it goes in closed loop; the rest corrects
_PER_STROKE = (
    "messages_per_stroke", "reports_per_stroke", "numbers_per_message", "numbers_per_report", "numbers_per_stroke",
    "numbers_per_stroke_without_arms",
)  # fmt: skip
_STALLED = 0.33  # of the length of its strokes, below which it is said that it hardly advances


def crawl(run: Run) -> Outcome:
    """Strokes in one direction, with suckers and, beside it, without."""
    settings = run.settings
    direction = np.deg2rad(settings.direction_deg)
    ahead = np.array([np.cos(direction), np.sin(direction)])
    flow = direction + np.deg2rad(settings.current_deg)
    current = settings.current_m_s * np.array([np.cos(flow), np.sin(flow), 0.0])
    animal = octopus(run, current=current)
    speed = 1e-3 * settings.speed_mm_s if settings.speed_mm_s else None
    nerves = Nerves(1e-3 * settings.nerve_delay_ms, settings.message_loss, run.seed) if settings.hierarchy else None
    gait = {"gait": settings.gait, "speed": speed, "failed_suckers": animal.failed_suckers, "nerves": nerves}
    stroke = Crawl(direction, **gait).stroke(animal.system)
    most = settings.strokes * float(stroke.length) * (_RESERVE if settings.closed_loop else 1.0)
    distance = 1e-3 * settings.distance_mm if settings.distance_mm else most
    by_turns = ALTERNATIONS.get(settings.gait)
    settle = float(by_turns(BodyPlan.of(animal.system)).settle_s) if by_turns else 0.0
    # What is decided goes out as much earlier as it is on its way, and nothing can before the start.
    late = 1e-3 * settings.nerve_delay_ms if settings.hierarchy and not by_turns else 0.0
    seconds = late + settle + settings.strokes * float(stroke.duration)
    controllers = (
        Crawl(direction, distance, closed_loop=settings.closed_loop, **gait),
        Crawl(direction, distance, closed_loop=False, suckers=False, **gait),
    )
    held, slips = move_both(run, animal, controllers, seconds)
    moved, slipped = (displacement(one)[:, :2] for one in (held, slips))
    heading = np.arctan2(moved[-1, 1], moved[-1, 0])
    made, made_without = (max(int(_plan(one).strokes[-1]), 1) for one in (held, slips))
    begun = np.asarray(_plan(held).strokes)
    rows = [*(int(np.argmax(begun >= number)) for number in range(1, made + 1)), len(begun) - 1]
    changed = np.asarray(_plan(held).alternating)
    changed_at = int(begun[np.argmax(changed)]) if not by_turns and changed.any() else None
    metrics = {
        "advance_per_stroke_mm": 1e3 * float(moved[-1] @ ahead) / made,
        "advance_without_suckers_mm": 1e3 * float(slipped[-1] @ ahead) / made_without,
        "advance_of_strokes_mm": (1e3 * np.diff(moved[rows] @ ahead)).tolist(),
        "gait_changed_at_stroke": changed_at,
        "strokes": made,
        "distance_mm": 1e3 * distance,
        "distance_error_percent": 100.0 * float(np.linalg.norm(moved[-1] - distance * ahead)) / distance,
        "heading_error_deg": abs(float(np.rad2deg(np.angle(np.exp(1j * (heading - direction)))))),
        "yaw_deg": float(yaw(held)[-1]),
        "speed_mm_s": 1e3 * float(moved[-1] @ ahead) / seconds,
        "penetration_max_radii": float(np.max(held.ground_depth)),
        **_traffic(held, Crawl(direction, **gait).attach(animal.system, run.dt), made, run.dt),
    }
    tired = fatigued_shares(held[-1:])
    if tired is not None:
        metrics["fatigued_share_mean"] = float(np.mean(tired))
        metrics["fatigued_share_max"] = float(np.max(tired))
    notes = list(animal.notes)
    if settings.hierarchy:
        notes.append(
            f"{metrics['messages']} messages and {metrics['reports']} reports: {metrics['numbers_per_stroke']:.0f} "
            f"numbers a stroke, {metrics['numbers_per_stroke_without_arms']:.0f} if muscles were driven by the brain"
        )
    if changed_at is not None:
        notes.append(
            f"stroke {changed_at - 1} took it less far than a third of its length: arms alternate from then on"
        )
    if metrics["advance_per_stroke_mm"] < 1e3 * _STALLED * float(stroke.length):
        notes.append(f"it hardly advances: {metrics['advance_per_stroke_mm']:.1f} mm a stroke")
    title = f"octopus-crawl: {made} strokes towards {settings.direction_deg:g} deg"
    both = {"with suckers": held, "without": slips}
    return outcome(
        run,
        animal,
        (held, slips),
        metrics,
        title,
        lambda path: draw_on_ground(path, both, title, ahead),
        sim_seconds=2.0 * seconds,
        notes=notes,
    )


def _plan(motion: Trajectory) -> CrawlMemory:
    """The plan of a crawl in each row, also where a brain has made it."""
    memory = motion.memory
    return memory if isinstance(memory, CrawlMemory) else memory.brain.plan


def _traffic(motion: Trajectory, controller, strokes: int, dt: float) -> dict:
    """What a brain and its arms have sent each other, counted as it was sent; nothing where there are no messages."""
    names = ("messages", "repeats", "reports", "lost_messages", "lost_reports", "failures")
    if not isinstance(controller, HierarchyController):
        return {}
    counts = {name: int(np.sum(np.asarray(getattr(motion.memory.traffic, name))[-1])) for name in names}
    message, report = controller.numbers_per_message, controller.numbers_per_report
    steps = round(float(motion.time[-1] - motion.time[0]) / dt)
    values = (
        counts["messages"] / strokes,
        counts["reports"] / strokes,
        message,
        report,
        (message * counts["messages"] + report * counts["reports"]) / strokes,
        steps * controller.count * controller.numbers_per_step / strokes,
    )
    return {**counts, **dict(zip(_PER_STROKE, values, strict=True))}
