"""track-dynamics: the chain of platforms with its masses follows a path under gravity, with a payload it must learn."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from hydrostat.actuation.legs import radial_forces
from hydrostat.compiling import quick_jit
from hydrostat.control.computed_torque import ComputedTorque, Plan, inverse_dynamics, plan_of, with_payload
from hydrostat.control.paths import PAPER_PATHS, curve_through, read_points
from hydrostat.control.resolved_rate import Law, Posture
from hydrostat.control.tracking import follow
from hydrostat.errors import InputError
from hydrostat.mechanics.model import GRAVITY
from hydrostat.mechanics.robot import Robot
from hydrostat.results import Recorder, Variable, figures
from hydrostat.results.trajectory import Trajectory
from hydrostat.robots.build import build_robot
from hydrostat.robots.spec import RobotSpec
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.track_goals import Goals, plan_goals
from hydrostat.scenarios.tracking import Platforms, draw_tracking, examine, limits_of, platforms, replay_tracking
from hydrostat.simulation.simulate import Run as Simulation
from hydrostat.system import System

_EVERY = 5  # steps from row to row
_TRACKING_GAIN = 100.0  # 1/s, of the planned motion
_INTEGRAL_SHARE = 0.1


def dynamics(run: Run) -> Outcome:
    """Plan the motion, then let the legs' forces make it."""
    settings, dt = run.settings, 1e-3 * run.settings.dt_ms
    arm = platforms(run.robot)
    curve = curve_through(read_points(settings.file, least=2)) if settings.file else PAPER_PATHS[settings.path]
    known = _known(run.robot, settings.gravity)
    real = with_payload(known.robot, settings.payload_kg)
    goals = plan_goals(arm, curve, settings.approach_seconds, settings.seconds, dt, "free")
    with run.compiling("planning"):
        plan = _plan(arm, goals, dt)
        needed = np.asarray(_along(real, plan, jnp.arange(0, len(plan.q), _EVERY)))
    strongest = float(limits_of(arm).force[0])
    if np.abs(needed).max() > strongest:
        raise InputError(
            f"the path must be one that the legs are strong enough for; it takes {np.abs(needed).max():.0f} N of one, "
            f"and they have {strongest:g} N: give it more time, or less payload"
        )
    controller = ComputedTorque(
        plan,
        known.robot,
        bandwidth=settings.bandwidth,
        integral_share=_INTEGRAL_SHARE,
        learning_time=1e-3 * settings.learning_ms,
    )
    system = System(real, gravity=known.gravity)
    simulation = Simulation(system, controller, dt, every=_EVERY)
    seconds, start = float(goals.times[-1]), system.rest(plan.q[0], plan.v[0])
    with run.compiling("compiling the arm"):
        simulation.compile(seconds, start)

    # The last row may lie a little beyond the path's end, where the tip stays.
    row_count = -(-(len(goals.times) - 1) // _EVERY) + 1
    wanted = np.asarray(goals.poses.position)[np.minimum(np.arange(row_count) * _EVERY, len(goals.times) - 1)]
    with run.timed(), _recorder(run, arm, row_count) as recorder:

        def keep(rows: Trajectory) -> None:
            q = np.array(rows.state.q)
            recorder.append(
                rows.time,
                q=q,
                v=np.asarray(rows.state.v),
                leg_force=np.asarray(rows.memory.forces),
                payload_estimate=np.asarray(rows.memory.payload),
                tip=_tips(arm, q),
                tip_wanted=wanted[np.round(rows.time / (_EVERY * dt)).astype(int)],
            )

        rows = simulation(seconds, state=start, on_rows=keep, on_progress=lambda done: run.progress("moving", done))

    T = arm.segments.pose(jnp.asarray(rows.state.q), 1.0)
    turns = np.asarray(jax.vmap(arm.segments.twist_rates)(jnp.asarray(rows.state.q)))
    seen = examine(arm, T, np.einsum("tnij,tnj->tni", turns, np.asarray(rows.state.v)), rows.time, limits=True)
    miss = np.linalg.norm(seen.positions[:, -1] - wanted, axis=-1)
    begun = -(-goals.first // _EVERY)
    forces = np.asarray(rows.memory.forces)[1:]
    radial = [np.asarray(side) for side in radial_forces(arm.segments, T[1:], jnp.asarray(forces))]
    settled = np.asarray(rows.memory.payload)[begun:]
    masses = known.robot.one
    metrics = {
        "tracking_rmse_percent": 100.0 * float(np.sqrt(np.mean(miss[begun:] ** 2))) / arm.length,
        "tracking_max_mm": 1e3 * float(miss[begun:].max()),
        "arm_mass_kg": float(jnp.sum(masses.inertia[..., 3]) + jnp.sum(masses.lump_inertia[:, 3])),
        "payload_kg": settings.payload_kg,
        "payload_estimate_kg": float(np.mean(settled)),
        "leg_force_max_n": float(np.abs(forces).max()),
        "leg_force_rms_n": float(np.sqrt(np.mean(forces**2))),
        "leg_force_limit_n": strongest,
        "leg_force_needed_max_n": float(np.abs(needed).max()),
        "radial_force_max_n": float(max(np.abs(side).max() for side in radial)),
        "approach_s": goals.first * dt,
        "duration_s": seconds,
        **seen.metrics,
    }
    notes = list(seen.notes)
    if metrics["leg_force_max_n"] >= strongest:
        notes.append(f"legs were at the end of their strength, {strongest:g} N")
    title = f"track-dynamics: {run.robot.name}, {settings.path}, {settings.payload_kg:g} kg unknown at the tip"

    def below(axes):
        axes.plot(rows.time[1:], np.abs(forces).max((1, 2)), color="#5b5f97", linewidth=1.2, label="largest")
        axes.plot(rows.time[1:], np.sqrt(np.mean(forces**2, (1, 2))), color="#28666e", linewidth=1.2, label="rms")
        shown = np.abs(needed).max((1, 2))
        axes.plot(goals.times[::_EVERY][: len(shown)], shown, ":", color="#c8553d", linewidth=1.2,
                  label="largest by inverse dynamics of the plan")  # fmt: skip
        figures.style_axes(axes, "forces of the legs", "time [s]", "[N]")
        axes.legend(fontsize=7, frameon=False)

    dots = slice(begun, None, max(1, (len(miss) - begun) // 20))
    return Outcome(
        metrics,
        figure=lambda path: draw_tracking(
            path, arm, seen, rows.time, curve, (rows.time[dots], wanted[dots]), title, below
        ),
        replay=lambda path: replay_tracking(path, seen, rows.time, curve, title),
        sim_seconds=seconds,
        dt=dt,
        steps=round(seconds / dt),
        notes=notes,
    )


def _known(spec: RobotSpec, gravity: bool) -> System:
    """The arm as its controller knows it, with room for a payload at its tip."""
    return System(build_robot(spec, lumps=[(1.0, 0.0)]), gravity=GRAVITY if gravity else (0.0, 0.0, 0.0))


def _plan(arm: Platforms, goals: Goals, dt: float) -> Plan:
    """The motion of the whole arm whose tip follows the goals."""
    law = Law(arm.segments, arm.base, posture=Posture(jnp.ones(()), jnp.ones(())), legs=limits_of(arm))
    _, rows = follow(law, arm.rest, goals.poses, jnp.asarray(goals.forward), _TRACKING_GAIN, dt)
    miss = np.linalg.norm(np.asarray(rows.T_world_tip.position) - np.asarray(goals.poses.position), axis=-1)
    if not miss[goals.first :].max() <= 0.01 * arm.length:
        raise InputError(
            f"the path must be one that the legs can follow; the tip would fall behind by "
            f"{miss[goals.first :].max():.3g} m: give it more time, or bring it within reach"
        )
    return plan_of(arm.segments.coordinates_of(rows.T), dt)


@quick_jit
def _along(robot: Robot, plan: Plan, rows):
    """The legs' forces by inverse dynamics at rows of a plan."""
    return jax.lax.map(lambda row: inverse_dynamics(robot, plan, row), rows)


def _tips(arm: Platforms, q: np.ndarray) -> np.ndarray:
    """Where the tip is, for rows of coordinates (rows, n, 6) [m]."""
    rotation = np.broadcast_to(np.asarray(arm.base.rotation), (len(q), 3, 3))
    position = np.broadcast_to(np.asarray(arm.base.position), (len(q), 3))
    rest = np.asarray(arm.segments.rest)
    for i in range(q.shape[1]):
        position = position + np.einsum("tij,tj->ti", rotation, rest[i] + q[:, i, 3:])
        rotation = rotation @ Rotation.from_rotvec(q[:, i, :3]).as_matrix()
    return position


def _recorder(run: Run, arm: Platforms, total: int) -> Recorder:
    n = arm.robot.arm.count
    variables = [
        Variable("q", ("segment", "coordinate"), (n, 6), "rad or m", "rotation vector and displacement of each plate"),
        Variable("v", ("segment", "coordinate"), (n, 6), "rad/s or m/s", "rates of q"),
        Variable("leg_force", ("segment", "leg"), (n, 6), "N", "of the legs, positive where they push"),
        Variable("payload_estimate", (), (), "kg", "what the controller believes the tip to carry"),
        Variable("tip", ("axis",), (3,), "m", "tip in the world"),
        Variable("tip_wanted", ("axis",), (3,), "m", "where it is to be"),
    ]
    return run.recorder(variables, total, attributes={"scenario": "track-dynamics", "robot": run.robot.name})
