"""Checks of what a user gives the scenarios of fingers, tentacles and platforms, before JAX is there."""

from types import SimpleNamespace

import numpy as np

from hydrostat import tables
from hydrostat.errors import InputError
from hydrostat.robots import RobotSpec

_LEAST_PICTURES, _MOST_PICTURES = 4, 100_000
_MOST_KNOTS = 20_000
_FRAME = 0.008  # s, of the camera that watches a tentacle


def check_grasp(spec: RobotSpec, settings: SimpleNamespace) -> None:
    """Refuse nodes that cannot be shared among pieces."""
    del spec
    if settings.nodes % settings.pieces:
        raise InputError(f"`nodes` must be a multiple of `pieces`, {settings.pieces}; got {settings.nodes}")


def check_identify(spec: RobotSpec, settings: SimpleNamespace) -> None:
    """Refuse a record that is too short or too long, and an arm without friction."""
    if settings.record:
        interval, tip = tables.read_tip_record(settings.record)
        count, source = len(tip), "it holds"
    else:
        interval, count = 1.0 / settings.rate_hz, round(settings.seconds * settings.rate_hz)
        source = f"{settings.seconds:g} s at `rate_hz` = {settings.rate_hz:g} make"
    if not _LEAST_PICTURES <= count <= _MOST_PICTURES:
        raise InputError(f"the record must hold {_LEAST_PICTURES} to {_MOST_PICTURES} pictures; {source} {count}")
    if not all(segment.friction > 0.0 for segment in spec.segments):
        raise InputError(f"this scenario needs friction to identify in both segments; {spec.name} has none in one")
    del interval


def check_tip_target(spec: RobotSpec, settings: SimpleNamespace) -> None:
    """Refuse a curve that cannot be read and a target that is none."""
    del spec
    if settings.curve:
        tables.read_points(settings.curve)
    if settings.target and len(settings.target) not in (3, 5):
        count = len(settings.target)
        raise InputError(f"`target` must be x, y, z, or x, y, z, azimuth_deg, polar_deg; got {count} numbers")


def check_knots(spec: RobotSpec, settings: SimpleNamespace) -> None:
    """Refuse a stepped move of too many steps."""
    del spec
    turn = np.subtract(settings.goal_alpha_deg, settings.start_alpha_deg)
    turn = (turn + 180.0) % 360.0 - 180.0
    bend = np.subtract(settings.goal_theta_deg, settings.start_theta_deg)
    distance = float(np.deg2rad(np.sqrt(np.sum(turn**2 + bend**2))))
    if distance / settings.step_rad > _MOST_KNOTS:
        raise InputError(
            f"`step_rad` must be at least {distance / _MOST_KNOTS:.2g}, for a stepped move of {_MOST_KNOTS} steps at "
            f"most; got {settings.step_rad:g}"
        )


def check_vibration(spec: RobotSpec, settings: SimpleNamespace) -> None:
    """Refuse a stepped move of too many steps, and too short a time after it."""
    check_knots(spec, settings)
    dt = 1e-3 * settings.dt_ms
    least = 2.0 * max(1, round(_FRAME / dt)) * dt
    if settings.seconds_after < least:
        raise InputError(
            f"`seconds_after` must be at least two pictures, {least:g} s; got {settings.seconds_after:g} s"
        )


def check_tracking(spec: RobotSpec, settings: SimpleNamespace) -> None:
    """Refuse settings that a controller does not have, and a file that holds no path."""
    if hasattr(settings, "path"):
        if not settings.path:
            raise InputError("`path` must name a CSV file with x, y, z [m] along the path; got none")
        tables.read_path(settings.path)
    if settings.obstacle and len(settings.obstacle) != 4:
        raise InputError(f"`obstacle` must be x, y, z and a radius; got {len(settings.obstacle)} numbers")
    if settings.obstacle and not settings.obstacle[3] > 0.0:
        raise InputError(f"the radius of `obstacle`, its last number, must be above 0; got {settings.obstacle[3]:g}")
    if settings.controller == "paper" and (settings.obstacle or settings.orientation != "free"):
        raise InputError("the paper's controller has no `obstacle` and no `orientation`; take controller=continuous")
    messages = ("message_delay_ticks", "message_loss_percent", "message_noise_percent")
    named = [name for name in messages if getattr(settings, name)]
    if named and settings.controller != "decentralised":
        raise InputError(f"`{named[0]}` needs agents that send messages; take controller=decentralised")
    if settings.controller == "decentralised":
        if settings.obstacle:
            raise InputError(
                "`obstacle` needs a centre: agents know their neighbours alone; take controller=continuous"
            )
        if settings.frozen_segment > len(spec.segments):
            raise InputError(
                f"`frozen_segment` must be at most {len(spec.segments)}, the number of segments; "
                f"got {settings.frozen_segment}"
            )


def check_dynamics(spec: RobotSpec, settings: SimpleNamespace) -> None:
    """Refuse a file that holds no path."""
    del spec
    if settings.file:
        tables.read_path(settings.file)


def check_counts(spec: RobotSpec, settings: SimpleNamespace) -> None:
    """Refuse numbers of segments that are not whole."""
    del spec
    if any(count != int(count) for count in settings.segments):
        raise InputError(f"`segments` must be a list of whole numbers; got {list(settings.segments)}")
