"""Checks of what a user gives the scenarios of squids, before JAX is there."""

import importlib.util
from types import SimpleNamespace

from hydrostat.errors import InputError
from hydrostat.robots import LimbedSpec
from hydrostat.robots.variants import detached_limb

_TWIN_ROW = 0.01  # s, from row to row beside a twin


def check_press(spec: LimbedSpec, settings: SimpleNamespace) -> None:
    """Refuse a force that the tendons cannot let go of."""
    del spec
    most = 4.0 * settings.pretension_n
    if not most > settings.press_n:
        rule = f"less than {most:g} N, which four tendons of `pretension_n` can let go of"
        raise InputError(f"`press_n` must be {rule}; got {settings.press_n:g}")


def check_twin(spec: LimbedSpec, settings: SimpleNamespace) -> None:
    """Refuse a limb that is not there, sections and steps that do not divide it, and MuJoCo's absence."""
    need_mujoco(spec, settings)
    count = len(detached_limb(spec, settings.limb).segments)
    if settings.sections % count:
        rule = f"must be a multiple of {count}, the segments of the {settings.limb} limb"
        raise InputError(f"`sections` {rule}; got {settings.sections}")
    dt = 1e-3 * settings.dt_ms
    if abs(max(1, round(_TWIN_ROW / dt)) * dt - _TWIN_ROW) > 1e-9:
        raise InputError(f"`dt_ms` must divide a row of {1e3 * _TWIN_ROW:g} ms; got {settings.dt_ms:g} ms")


def need_mujoco(spec: LimbedSpec, settings: SimpleNamespace) -> None:
    """Refuse a scenario that needs MuJoCo where it is not installed."""
    del spec, settings
    if importlib.util.find_spec("mujoco") is None:
        raise InputError("this scenario needs MuJoCo, which is not installed: pip install 'hydrostat[rigid]'")


def check_swum_waypoints(spec: LimbedSpec, settings: SimpleNamespace) -> None:
    """Refuse waypoints that are not three coordinates each."""
    del spec
    count = len(settings.waypoints_m)
    if not count or count % 3:
        raise InputError(f"`waypoints_m` must be three numbers for each waypoint, one at least; got {count} numbers")
