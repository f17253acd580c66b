"""squid-anchor: the squid swims to a bar, hooks it from below with its grasper, and lets the limb hold it.

The limb is a cone of soft silicone, thin at its tip: what its hook can hold is about the tension of the tendon that
bends it, times the tendon's lever over that of the bar. The squid's own lift of 1 % is more than that, so that
ballast trims it; then drag alone pulls at the hook.
"""

from dataclasses import replace

import numpy as np

import hydrostat as hs
from hydrostat.control import Combined, Idle, LimbSchedule, SmoothSchedule, Then, VehiclePilot
from hydrostat.results import ShapeContact, shape_contacts
from hydrostat.robots.specs.squid_vehicle import squid_vehicle
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.squid_vehicle import ROW_SECONDS, at_rest, draw, sensors, vehicle
from hydrostat.surroundings import Capsule, Fins

_BAR_X, _BAR_Z = 0.92, -0.09  # m: a bar along y, before and below the bow; all places here are assumed
_BAR_ENDS = (0.005, 0.300)  # m, along y
_SKIN_POINTS = 3  # of a piece, that can touch
_SPEED = 0.08  # m/s, of the approach
_PRETENSION, _HANGS, _LIFTS, _LOOKS_UP = 0.1, 1.0, 3.0, 4.0  # N, of the tendons
_UNDER, _LIFTED, _HOOKED = 9.0, 13.0, 19.0  # s, when the grasper is under the bar, touches it, and is round it
_DOWN, _UP, _HOOK = 0, 2, 6  # tendons of the grasper: to its first segment two, to its second one
_TOUCHING = 1e-3  # N: force above which a node counts as touching
_MEASURED = 5.0  # s, before the drives stop and at the end, over which means are taken


def anchor(run: Run) -> Outcome:
    """Approach, hook the bar, stop all drives, and how far the squid has moved from there."""
    settings = run.settings
    system, controller = _anchored(run)
    every = run.steps_per_row(ROW_SECONDS)
    options = {"state": at_rest(system, 0.0), "every": every, "sensors": sensors(run)}
    rows = run.simulate(system, controller, settings.seconds, record=True, label="anchoring", **options)
    with run.compiling("examining contacts"):
        contact = rows.derived(shape_contacts)
    times, off = np.asarray(rows.time), 1e3 * (np.asarray(rows.body) - _place(rows, settings.off_s))
    title = f"squid-anchor: current of {settings.current_m_s:g} m/s, drives stop after {settings.off_s:g} s"
    parts = {axis: off[:, i] for i, axis in enumerate("xyz")}
    force = np.linalg.norm(np.asarray(contact.reaction)[:, 0], axis=1)
    curves = {"way from its place": (parts, "[mm]"), "force on the bar": (force, "[N]")}
    metrics = _metrics(rows, contact, off, settings)
    held = metrics["held"]
    return Outcome(
        metrics,
        figure=lambda path: draw(path, rows, title, np.array([[_BAR_X, 0.057, _BAR_Z]]), curves, 4),
        replay=lambda path: rows.replay(path, title),
        sim_seconds=settings.seconds,
        dt=run.dt,
        steps=every * (len(times) - 1),
        notes=[] if held else [f"the grasper lost the bar after {metrics['lost_s']:.1f} s"],
    )


def _anchored(run: Run) -> tuple[hs.System, Combined]:
    """The squid before the bar, and all its controllers."""
    settings = run.settings
    spec = squid_vehicle(buoyancy=1.0 + settings.lift_percent / 100.0)
    cut = [replace(one, arm=one.arm.cut(settings.pieces)) if one.name == "grasper" else one for one in spec.limbs]
    law = hs.ContactLaw(2e3, damping=1.0, friction=settings.friction, slip_speed=2e-4)
    a, b = ([_BAR_X, y, _BAR_Z] for y in _BAR_ENDS)
    bar = hs.Obstacles(law, [Capsule(a=a, b=b, radius=settings.bar_mm / 1e3)])
    system = vehicle(run, [bar], replace(spec, limbs=tuple(cut)), skin_points=_SKIN_POINTS)
    start = np.asarray(system.robot.T_world_body.position)
    # The bow plate, from which the way to the bar counts, starts at the origin.
    displacement = np.array([_BAR_X - settings.bar_ahead_mm / 1e3, 0.0, 0.0])
    pilot = VehiclePilot((start + displacement)[None], _SPEED, heading=0.0, use_jet=False)
    one = np.eye(8)
    changes = [
        (0.0, 2.0, np.full(8, _PRETENSION) + _HANGS * one[_DOWN]),
        (_UNDER, _LIFTED - _UNDER, _LIFTS * one[_UP] - _HANGS * one[_DOWN]),
        (_LIFTED, _HOOKED - _LIFTED, settings.grip_n * one[_HOOK]),
        # Once it is hooked, the first segment is a tether.
        (settings.off_s, 2.0, -_LIFTS * one[_UP]),
    ]
    grasper = SmoothSchedule(*(list(each) for each in zip(*changes, strict=True)))
    # Camera and light arm are out of the way of the bar.
    up = SmoothSchedule([-1.0], [0.5], [_LOOKS_UP * np.eye(4)[_UP]])
    limbs = [LimbSchedule("grasper", tension=grasper), *(LimbSchedule(one, tension=up) for one in ("camera", "light"))]
    return system, Combined(Then(pilot, settings.off_s, Idle()), *limbs)


def _place(rows: hs.Trajectory, time: float) -> np.ndarray:
    """Where the body is at a time [m]."""
    return np.asarray(rows.body)[np.searchsorted(np.asarray(rows.time), time - 1e-9)]


def _metrics(rows: hs.Trajectory, contact: ShapeContact, off: np.ndarray, settings) -> dict:
    """How the hook held from when the drives stopped on."""
    times, R = np.asarray(rows.time), np.asarray(rows.body_pose.rotation)
    anchored, end = times >= settings.off_s, times > times[-1] - _MEASURED
    before = (times > settings.off_s - _MEASURED) & ~anchored
    touching = np.asarray(contact.force)[:, 0] > _TOUCHING
    lost = np.flatnonzero(anchored & ~touching.any(1))
    reaction = np.asarray(contact.reaction)[:, 0]
    away = np.asarray(contact.position)[-1] - [_BAR_X, 0.0, _BAR_Z]
    angles = np.unwrap(np.arctan2(away[:, 2], away[:, 0]))[touching[-1]]
    states = zip(rows.system.surroundings, rows.state.surroundings, strict=True)
    work = np.asarray(next(own for part, own in states if isinstance(part, Fins)).work)
    tip, distance = np.asarray(rows.tip)[:, 0], np.linalg.norm(off, axis=1)
    return {
        "held": not len(lost),
        "lost_s": float(times[lost[0]]) if len(lost) else None,
        "moved_max_mm": float(distance[anchored].max()),
        "moved_end_mm": float(distance[end].mean()),
        "drift_without_m": settings.current_m_s * float(times[-1] - settings.off_s),
        "pull_mean_n": float(np.linalg.norm(reaction[end], axis=1).mean()),
        "pull_max_n": float(np.linalg.norm(reaction[anchored], axis=1).max()),
        "tip_moved_mm": 1e3 * float(np.linalg.norm(tip[-1] - tip[anchored][0])),
        "hook_angle_deg": float(np.rad2deg(np.ptp(angles))) if len(angles) else 0.0,
        "penetration_max_radii": max(0.0, float(np.max(contact.depth))),
        "yaw_end_deg": float(np.rad2deg(np.arctan2(R[-1, 1, 2], R[-1, 0, 2]))),
        "pitch_max_deg": float(np.rad2deg(np.abs(np.arcsin(np.clip(R[anchored, 2, 2], -1.0, 1.0))).max())),
        "fin_power_before_w": float(np.ptp(work[before])) / _MEASURED,
        "fin_power_anchored_w": float(work[-1] - work[anchored][0]) / float(times[-1] - settings.off_s),
    }
