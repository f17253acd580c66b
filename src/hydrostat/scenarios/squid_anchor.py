"""squid-anchor: the squid holds its place while its grasper wraps a bar, then lets its fins rest and hangs on."""

import numpy as np

import hydrostat as hs
from hydrostat.control import Combined, Idle, LimbSchedule, SmoothSchedule, Then, VehiclePilot
from hydrostat.results import shape_contacts
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.squid_reach_plan import BAR
from hydrostat.scenarios.squid_vehicle import ROW_SECONDS, at_rest, common_metrics, draw, sensors, vehicle
from hydrostat.surroundings import Capsule

_OVER = (4.0, 2.0, 0.3, 0.3, 0.1, 0.1, 0.1, 0.1)  # N, of the grasper over the bar: four to each of its segments
_REACHED, _WRAPPED = 4.0, 8.0  # s, when the grasper is over the bar, and round it
_RESTS = 11.0  # s, when the fins rest
_HANGS = 8.0  # s after which it hangs still, or has gone
_SKIN_POINTS = 3  # of a piece, that can touch
_TOUCHING = 1e-3  # N: force above which a node counts as touching


def anchor(run: Run) -> Outcome:
    """Wrap, rest and hang on; beside it the same without a bar."""
    settings = run.settings
    run.whole = run.limbed.cut(settings.pieces)
    law = hs.ContactLaw(settings.contact_stiffness, damping=1.0, friction=settings.friction, slip_speed=2e-4)
    bars = {name: Capsule(a=a, b=b, radius=BAR[2]) for name, a, b in _places()}
    every = run.steps_per_row(ROW_SECONDS)
    rows: dict[str, hs.Trajectory] = {}
    for i, (name, bar) in enumerate(bars.items()):
        system = vehicle(run, [hs.Obstacles(law, [bar])], skin_points=_SKIN_POINTS)
        start = np.asarray(system.robot.T_world_body.position)
        pilot = Then(VehiclePilot(start[None], heading=0.0, use_jet=settings.jet), _RESTS, Idle())
        options = {"state": at_rest(system, 0.0), "every": every, "sensors": sensors(run)}
        options |= {"stepper": hs.LinearImplicitEuler(), "share": (i / 2, (i + 1) / 2)}
        both = Combined(pilot, _wrapping(settings.grip_n))
        rows[name] = run.simulate(system, both, settings.seconds, record=i == 0, label=name, **options)
    held = rows["held by the bar"]
    with run.compiling("examining contacts"):
        force = held.derived(shape_contacts).force[:, 0]
    time, from_here = np.asarray(held.time), [int(np.searchsorted(one.time, _RESTS)) for one in rows.values()]
    away = {
        name: 1e3 * (np.asarray(one.body) - one.body[k]) for (name, one), k in zip(rows.items(), from_here, strict=True)
    }
    drift = {name: np.linalg.norm(one, axis=1) for name, one in away.items()}
    hanging = time >= _RESTS + _HANGS
    grip = force.sum(1)
    metrics = {
        "anchored_drift_mm": float(drift["held by the bar"][-1]),
        "anchored_moves_mm": float(np.ptp(drift["held by the bar"][hanging])) if hanging.any() else None,
        "free_drift_mm": float(drift["without a bar"][-1]),
        "holds": bool(grip[-1] > _TOUCHING),
        "nodes_touching": int(np.sum(force[-1] > _TOUCHING)),
        "bar_force_end_n": float(grip[-1]),
        **common_metrics(held),
    }
    title = f"squid-anchor: current of {settings.current_m_s:g} m/s"
    ends = np.array(BAR[:2])
    curves = {"drift since the fins rest": (drift, "[mm]"), "contact with the bar": (grip, "[N]")}
    return Outcome(
        metrics,
        figure=lambda path: draw(path, held, title, ends, curves, 4),
        replay=lambda path: held.replay(path, title),
        sim_seconds=2.0 * settings.seconds,
        dt=run.dt,
        steps=2 * every * (len(held) - 1),
    )


def _places() -> tuple:
    """The ends of the bar, and of one that is out of reach."""
    far = (0.0, 0.0, -100.0)
    a, b, _ = BAR
    return ("held by the bar", a, b), ("without a bar", tuple(np.add(a, far)), tuple(np.add(b, far)))


def _wrapping(grip: float) -> LimbSchedule:
    """The tensions of the grasper: over the bar, and round it."""
    over = np.array(_OVER)
    around = np.eye(len(over))[4] * (grip - over[4])
    tension = SmoothSchedule([0.0, _REACHED], [_REACHED, _WRAPPED - _REACHED], [over, around])
    return LimbSchedule("grasper", tension=tension)
