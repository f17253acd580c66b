"""track-line and its siblings: the tip of a chain of platforms follows a path, by the paper's controller or by ours."""

import time
from collections.abc import Callable

import numpy as np

from hydrostat import control
from hydrostat.errors import InputError
from hydrostat.results import goal_tracking, panels, platform_figures, target_tracking
from hydrostat.robots import build_robot
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.recorded_tracking import pieces, recorded
from hydrostat.scenarios.track_agents import agents_metrics
from hydrostat.scenarios.track_authors import AUTHORS_DT, by_authors

_FLOOR = 1e-6  # of distances in figures [m, mm]


def track(run: Run, name: str, curve: control.Curve) -> Outcome:
    """Follow a path with the tip."""
    settings, dt = run.settings, 1e-3 * run.settings.dt_ms
    arm = control.Platforms.of(build_robot(run.robot))
    targets = curve(np.linspace(0.0, 1.0, settings.targets))
    by_paper = settings.controller in ("paper", "authors")
    ways = {"paper": _by_switching, "authors": by_authors}
    tracked, cost_ms = ways.get(settings.controller, _continuously)(run, f"track-{name}", arm, curve, targets)
    dt = AUTHORS_DT if settings.controller == "authors" else dt
    motion = tracked.motion
    shown = f"{settings.authors_segments} segments" if settings.controller == "authors" else run.robot.name
    title = f"track-{name}: {shown}, {settings.controller} controller"

    def draw_errors(axes) -> None:
        words, scale = ("the path", 1.0) if by_paper else ("its goal (dashed: the path begins)", 1e3)
        errors, unit = scale * tracked.errors, "[m]" if by_paper else "[mm]"
        words = f"distance of the tip from {words}"
        panels.draw_curves(axes, motion.times, errors, words, unit, log=True, floor=_FLOOR)
        if not by_paper:
            panels.draw_level(axes, tracked.metrics["approach_s"], upright=True)

    draw, replay, ball = platform_figures.draw_tip_tracking, platform_figures.replay_platforms, settings.obstacle
    return Outcome(
        {**tracked.metrics, "control_step_ms": cost_ms},
        figure=lambda path: draw(path, motion, curve, tracked.marks, title, draw_errors, ball),
        replay=lambda path: replay(path, motion, title, curve, ball),
        sim_seconds=float(motion.times[-1]),
        dt=dt,
        steps=len(motion.times) - 1,
        notes=arm.out_of_reach(targets) + tracked.notes,
    )


def _by_switching(run: Run, name: str, arm: control.Platforms, curve: control.Curve, targets: np.ndarray) -> tuple:
    """The paper's controller, from target to target, and the cost of a tick [ms]."""
    settings = run.settings
    if settings.obstacle or settings.orientation != "free":
        raise InputError("the paper's controller has no `obstacle` and no `orientation`; take controller=continuous")
    options = {"radius": settings.gamma_m, "gain": settings.gain, "dt": 1e-3 * settings.dt_ms}
    tracker = control.TargetTracker(arm, targets, **options)
    with run.compiling("compiling the controller"):
        tracker.compile()
    ticks = round(settings.seconds_max / tracker.dt) + 1
    with recorded(run, name, arm, ticks, tracker.dt, limited=False) as recorder:
        show = lambda done: run.progress("tracking", done)  # noqa: E731
        found = tracker.run(settings.seconds_max, show, recorder.append, piece=pieces(dt=tracker.dt), keep=False)
    return target_tracking(tracker, found, recorder.summary.motion(), curve), tracker.milliseconds_per_tick()


def _continuously(run: Run, name: str, arm: control.Platforms, curve: control.Curve, targets: np.ndarray) -> tuple:
    """Continuous tracking, by one controller of the whole arm or by agents, and the cost of a tick [ms]."""
    settings, gain = run.settings, run.settings.tracking_gain
    by_agents = settings.controller == "decentralised"
    if by_agents and settings.obstacle:
        raise InputError("`obstacle` needs a centre: agents know their neighbours alone; take controller=continuous")
    if by_agents and settings.frozen_segment > arm.count:
        raise InputError(
            f"`frozen_segment` must be at most {arm.count}, the number of segments; got {settings.frozen_segment}"
        )
    names = ("favour", "posture_gain", "obstacle", "obstacle_margin", "plate_speed")
    options = {name: getattr(settings, name) for name in names}
    law = control.tracking_law(arm, orient=settings.orientation != "free", **options)
    seconds, dt = (settings.approach_seconds, settings.seconds), 1e-3 * settings.dt_ms
    goals = control.plan_tip_goals(arm, curve, *seconds, dt, settings.orientation)
    with run.compiling("compiling the controller"):
        goals.compile(law, gain, by_agents)
    begun, distances = time.perf_counter(), []
    with recorded(run, name, arm, len(goals.times), dt) as recorder:

        def record(T, goal) -> None:
            recorder.append(T, goal)
            if law.obstacle is not None:
                distances.append(np.asarray(control.clearances(law, T)))

        show = lambda done: run.progress("tracking", done)  # noqa: E731
        rows = goals.follow(law, gain, by_agents, show, on_rows=record, piece=pieces(dt=dt), keep=by_agents)
    cost_ms = 1e3 * (time.perf_counter() - begun) / len(goals.times)
    clear = np.concatenate(distances) if distances else None
    tracked = goal_tracking(goals, law, rows, recorder.summary.motion(), curve, targets, settings.gamma_m, clear)
    limits = run.robot.legs
    assert limits is not None
    fastest = {"rate_limit_m_s": limits.max_rate, "plate_speed_limit_m_s": settings.plate_speed}
    tracked.metrics.update(stroke_limit_m=limits.max_stroke, **fastest)
    if by_agents:
        tracked.metrics.update(agents_metrics(run, law, goals, rows))
    return tracked, cost_ms


def _paper_path(name: str) -> Callable[[Run], Outcome]:
    """The scenario of one of the paper's paths, its equations 26 to 30."""
    return lambda run: track(run, name, control.PAPER_PATHS[name])


line, ellipse, sinusoid, reach, fetch = map(_paper_path, ("line", "ellipse", "sinusoid", "reach", "fetch"))


def spiral(run: Run) -> Outcome:
    """Follow the spiral of the code that the authors published."""
    return track(run, "spiral", control.SPIRAL)


def from_file(run: Run) -> Outcome:
    """Follow the user's own path."""
    if not run.settings.path:
        raise InputError("`path` must name a CSV file with x, y, z [m] along the path; got none")
    return track(run, "file", control.curve_through(control.read_points(run.settings.path, least=2)))
