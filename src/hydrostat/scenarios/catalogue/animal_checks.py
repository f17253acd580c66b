"""Checks of what a user gives the scenarios of octopuses and muscular arms, before JAX is there."""

from types import SimpleNamespace

import numpy as np

from hydrostat import tables
from hydrostat.errors import InputError
from hydrostat.robots import LimbedSpec, RobotSpec
from hydrostat.robots.variants import with_paper_muscles
from hydrostat.scenarios.own_targets import arm_targets, prey_places, rock_of

_SETTLE = 0.3  # s, before a swing
_RETRIEVES = 6.0  # s, in which an arm approaches a load, takes it and brings it
_MOST_DELAY_STEPS = 400  # as nerves have it
_LIGHTEST_G = 0.01  # of prey, as the key `prey_g` has it


def check_muscle_law(spec: RobotSpec, settings: SimpleNamespace) -> None:
    """Refuse the paper's muscles for an arm that cannot have them."""
    if settings.muscle_law == "paper":
        with_paper_muscles(spec)


def check_arms(spec: LimbedSpec, settings: SimpleNamespace) -> None:
    """Refuse numbers of arms that the robot does not have, or that leave it none."""
    count = len(spec.limbs)
    for name in ("lost_arms", "failed_suckers"):
        named = getattr(settings, name, ())
        if any(number != int(number) or not 1 <= number <= count for number in named):
            raise InputError(f"`{name}` must name some of the arms 1 to {count} by whole numbers; got {list(named)}")
    lost = set(settings.lost_arms)
    if len(lost) == count:
        raise InputError(f"`lost_arms` must leave one of the arms 1 to {count}; got {sorted(map(int, lost))}")


def check_crawl(spec: LimbedSpec, settings: SimpleNamespace) -> None:
    """Refuse arms that are not there, and nerves without a brain that sends messages."""
    check_arms(spec, settings)
    for name in ("nerve_delay_ms", "message_loss"):
        value = getattr(settings, name)
        if value and not settings.hierarchy:
            raise InputError(f"`{name}` must be 0 unless `hierarchy` is true; got {value:g}")
    most = _MOST_DELAY_STEPS * settings.dt_ms
    if settings.nerve_delay_ms > most:
        rule = f"at most {most:g} ms, {_MOST_DELAY_STEPS} steps"
        raise InputError(f"`nerve_delay_ms` must be {rule}; got {settings.nerve_delay_ms:g}")


def check_forage(spec: LimbedSpec, settings: SimpleNamespace) -> None:
    """Refuse arms that are not there, and prey out of reach."""
    check_arms(spec, settings)
    near, far = settings.distance_m
    if near > far:
        raise InputError(f"`distance_m` must be the smaller distance and then the larger; got {near:g}, {far:g}")
    if 0.0 < settings.prey_to_g <= _LIGHTEST_G:
        raise InputError(f"`prey_to_g` must be 0 or above {_LIGHTEST_G:g} g; got {settings.prey_to_g:g}")
    places, rock = prey_places(spec, settings), rock_of(spec, settings)
    if rock is not None and len(places) and (gap := np.linalg.norm(places - rock[:2], axis=1).min() - rock[2]) < 0.03:
        raise InputError(
            f"prey of `target_mm` must lie 30 mm from the rock of `rock_mm`; it is {1e3 * gap:.4g} mm from it"
        )


def check_waypoints(spec: LimbedSpec, settings: SimpleNamespace) -> None:
    """Refuse arms that are not there, and a file that holds no path to walk."""
    check_arms(spec, settings)
    if not settings.path_file:
        return
    points = tables.read_points(settings.path_file, least=2, columns=(2, 3))[:, :2]
    gaps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if gaps.min() < 1e-3:
        raise InputError(f"waypoints must be 1 mm apart at least; point {int(np.argmin(gaps)) + 2} is not")


def check_reach_target(spec: RobotSpec, settings: SimpleNamespace) -> None:
    """Refuse distances and times that contradict each other, and targets out of reach."""
    if settings.near >= settings.far:
        raise InputError(f"`near` must be below `far` = {settings.far:g}; got {settings.near:g}")
    if settings.move_seconds >= settings.seconds:
        raise InputError(
            f"`move_seconds` must be below `seconds` = {settings.seconds:g} s; got {settings.move_seconds:g}"
        )
    arm_targets(spec, settings)


def check_bend(spec: RobotSpec, settings: SimpleNamespace) -> None:
    """Refuse a part of the arm that is not there."""
    first, last, count = settings.first_segment, settings.last_segment, len(spec.segments)
    if not first <= last:
        raise InputError(f"`first_segment` must be at most `last_segment` = {last}; got {first}")
    if first > count:
        raise InputError(f"`first_segment` must be at most {count}, the number of segments; got {first}")


def check_load(spec: RobotSpec, settings: SimpleNamespace) -> None:
    """Refuse a place of a load that is not three numbers."""
    del spec
    if settings.load_at and len(settings.load_at) != 3:
        raise InputError(f"`load_at` must be x, y, z of the load's centre; got {len(settings.load_at)} numbers")


def check_fetch(spec: RobotSpec, settings: SimpleNamespace) -> None:
    """Refuse drawn places of nothing, of a load that is somewhere already, or without suckers or time for it."""
    check_load(spec, settings)
    if not settings.places:
        return
    if settings.load_g == 0.0:
        raise InputError("`load_g` must be above 0 to fetch it from `places`; got 0")
    if settings.load_at:
        raise InputError(f"`load_at` must be empty where `places` are drawn; got {list(settings.load_at)}")
    if not settings.suckers:
        raise InputError("`suckers` must be true to fetch a load from `places`; got false")
    if settings.seconds < _RETRIEVES:
        rule = f"at least {_RETRIEVES:g} s to fetch a load from `places`"
        raise InputError(f"`seconds` must be {rule}; got {settings.seconds:g}")


def check_throw(spec: RobotSpec, settings: SimpleNamespace) -> None:
    """Refuse a throw of nothing, or one that ends before the load is let go."""
    check_load(spec, settings)
    if settings.load_g == 0.0:
        raise InputError("`load_g` must be above 0 to throw something; got 0")
    release, end = _SETTLE + settings.release_s, settings.seconds
    if release >= end:
        raise InputError(f"`release_s` must end {_SETTLE:g} s before `seconds` = {end:g} s; got {settings.release_s:g}")
