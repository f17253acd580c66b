"""track-dynamics: the chain of platforms with its masses follows a path under gravity, with a payload it must learn."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from hydrostat import System, control
from hydrostat.actuation import radial_forces
from hydrostat.errors import InputError
from hydrostat.mechanics import GRAVITY
from hydrostat.results import Trajectory, Variable, accuracy, panels, platform_figures, platform_motion
from hydrostat.robots import build_robot
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.track_strength import check_strength, outcome_notes, strength_metrics
from hydrostat.simulation import Simulation

_EVERY = 5  # steps from row to row
_TRACKING_GAIN = 100.0  # 1/s, of the planned motion
_INTEGRAL_SHARE = 0.1
_MEMORY = {"leg_force": "forces", "payload_estimate": "payload", "plan_time": "phase"}
"""Variables that the controller remembers."""


def dynamics(run: Run) -> Outcome:
    """Plan the motion, then let the forces of the legs make it."""
    settings, dt = run.settings, 1e-3 * run.settings.dt_ms
    robot = build_robot(run.robot, lumps=[(1.0, 0.0)])  # with room for a payload at its tip
    arm, gravity = control.Platforms.of(build_robot(run.robot)), GRAVITY if settings.gravity else (0.0, 0.0, 0.0)
    file, paths = settings.file, control.PAPER_PATHS
    curve = control.curve_through(control.read_points(file, least=2)) if file else paths[settings.path]
    known = System(robot, gravity=gravity)
    real = System(control.with_payload(known.robot, settings.payload_kg), gravity=gravity)
    goals = control.plan_tip_goals(arm, curve, settings.approach_seconds, settings.seconds, dt)
    with run.compiling("planning"):
        plan = _plan(arm, goals)
        needed = np.asarray(control.inverse_dynamics_along(real.robot, plan, jnp.arange(0, len(plan.q), _EVERY)))
    strongest, most = float(arm.legs.force[0]), float(np.abs(needed).max())
    check_strength(known, real, plan, strongest)
    options = {"bandwidth": settings.bandwidth, "integral_share": _INTEGRAL_SHARE, "waits": settings.waits}
    controller = control.ComputedTorque(plan, known.robot, learning_time=1e-3 * settings.learning_ms, **options)
    simulation = Simulation(real, controller, dt, every=_EVERY)
    seconds, start = float(goals.times[-1]) + settings.extra_seconds, real.rest(plan.q[0], plan.v[0])
    with run.compiling("compiling the arm"):
        _ = simulation.compile(seconds, start)[:1].tip
    count = simulation.rows(seconds) + 1
    with run.timed(), _recorder(run, arm.count, count) as recorder:

        def record(rows: Trajectory) -> None:
            places = goals.positions_at(rows.memory.phase)
            memory = {name: getattr(rows.memory, field) for name, field in _MEMORY.items()}
            recorder.append(rows.time, q=rows.q, v=rows.v, tip=rows.tip, tip_wanted=places, **memory)

        rows = simulation(seconds, state=start, on_rows=record, on_progress=lambda done: run.progress("moving", done))

    T = arm.segments.pose(jnp.asarray(rows.q), 1.0)
    twist = np.einsum("tnij,tnj->tni", jax.vmap(arm.segments.twist_rates)(jnp.asarray(rows.q)), rows.v)
    motion = platform_motion(arm, T, twist, rows.time)
    phase = np.asarray(rows.memory.phase)
    goal = goals.positions_at(phase)
    errors, begun = np.linalg.norm(motion.tip - goal, axis=-1), -(-goals.first // _EVERY)
    forces = np.asarray(rows.memory.forces)[1:]
    radial = radial_forces(arm.segments, T[1:], jnp.asarray(forces))
    masses = known.robot.one
    metrics = {
        "tracking_rmse_percent": 100.0 * accuracy.rms(errors[begun:]) / arm.length,
        "tracking_max_mm": 1e3 * float(errors[begun:].max()),
        "arm_mass_kg": float(jnp.sum(masses.inertia[..., 3]) + jnp.sum(masses.lump_inertia[:, 3])),
        "payload_kg": settings.payload_kg,
        "payload_estimate_kg": float(np.mean(rows.memory.payload[begun:])),
        "leg_force_max_n": float(np.abs(forces).max()),
        "leg_force_rms_n": accuracy.rms(forces),
        "leg_force_limit_n": strongest,
        "leg_force_needed_max_n": most,
        **strength_metrics(rows.time, errors, forces, strongest),
        "path_done_percent": 100.0 * float(np.clip((phase[-1] - goals.first * dt) / settings.seconds, 0.0, 1.0)),
        "behind_plan_s": max(float(rows.time[-1] - phase[-1]), 0.0),
        "radial_force_max_n": float(max(np.abs(side).max() for side in radial)),
        "approach_s": goals.first * dt,
        "duration_s": seconds,
        **motion.metrics,
    }
    title = f"track-dynamics: {run.robot.name}, {settings.path}, {settings.payload_kg:g} kg unknown at the tip"

    def draw(path: Path) -> None:
        dots = slice(begun, None, max(1, (len(errors) - begun) // 20))
        marks = rows.time[dots], goal[dots]
        curves = {
            "largest": np.abs(forces).max((1, 2)),
            "rms": np.sqrt(np.mean(forces**2, (1, 2))),
            "largest by inverse dynamics of the plan": np.abs(needed).max((1, 2)),
        }
        times = dict(zip(curves, (rows.time[1:], rows.time[1:], goals.times[::_EVERY][: len(needed)]), strict=True))
        options = {"colors": (3, 1, 0), "styles": ("-", "-", ":")}

        def below(axes) -> None:
            panels.draw_curves(axes, times, curves, "forces of the legs", "[N]", **options)
            panels.draw_level(axes, strongest, "their strength")

        platform_figures.draw_tip_tracking(path, motion, curve, marks, title, below)

    return Outcome(
        metrics,
        figure=draw,
        replay=lambda path: platform_figures.replay_platforms(path, motion, title, curve),
        sim_seconds=seconds,
        dt=dt,
        steps=round(seconds / dt),
        notes=motion.notes + outcome_notes(metrics),
    )


def _plan(arm: control.Platforms, goals: control.TipGoals) -> control.Plan:
    """The motion of the whole arm whose tip follows the goals."""
    rows = goals.follow(control.tracking_law(arm), min(_TRACKING_GAIN, 1.0 / goals.dt))
    errors = goals.errors(rows.T_world_tip)[goals.first :]
    if not errors.max() <= 0.01 * arm.length:
        raise InputError(
            f"the path must be one that the legs can follow; the tip would fall behind by {errors.max():.3g} m: give "
            f"it more time, or bring it within reach"
        )
    return control.plan_of(arm.segments.coordinates_of(rows.T), goals.dt)


def _recorder(run: Run, n: int, total: int):
    """The recorder of coordinates, forces and the tip."""
    variables = [
        Variable("q", ("segment", "coordinate"), (n, 6), "rad or m", "rotation vector and displacement of each plate"),
        Variable("v", ("segment", "coordinate"), (n, 6), "rad/s or m/s", "rates of q"),
        Variable("leg_force", ("segment", "leg"), (n, 6), "N", "of the legs, positive where they push"),
        Variable("payload_estimate", (), (), "kg", "what the controller believes the tip to carry"),
        Variable("plan_time", (), (), "s", "of the plan, that is reached"),
        Variable("tip", ("axis",), (3,), "m", "tip in the world"),
        Variable("tip_wanted", ("axis",), (3,), "m", "where it is to be"),
    ]
    return run.recorder(variables, total, attributes={"scenario": "track-dynamics", "robot": run.robot.name})
