"""The motions of scenarios and robots as they are shown live: the same systems and controllers as when they are run."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hydrostat.errors import InputError
from hydrostat.robots import AnySpec, find_robot
from hydrostat.scenarios.base import Progress, Run
from hydrostat.scenarios.catalogue import find_scenario
from hydrostat.scenarios.keys import Scenario

if TYPE_CHECKING:
    from hydrostat.simulation import Motion


def live_motion(
    name: str,
    robot: str | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> "Motion":
    """The motion that a scenario shows live: system, controller, step and first state.

    The scenario runs up to where it would simulate that motion, in a folder that is removed again.

    **Arguments:** as those of `run_scenario`; `InputError` for a scenario that has no motion to show.
    """
    scenario = find_scenario(name)
    return motion_of(scenario, find_robot(robot or scenario.robot), settings or {}, seed=seed, progress=progress)


def motion_of(
    scenario: Scenario, spec: AnySpec, settings: Mapping[str, Any], *, seed: int = 0, progress: Progress | None = None
) -> "Motion":
    """The motion that a scenario shows live with a robot; the arguments are those of `live_motion`."""
    scenario.check(spec)
    values, name = scenario.settings(settings, spec), scenario.name
    if not scenario.live:
        raise InputError(f"{name} is not shown live: it simulates no motion of one robot; run it, and view its result")
    from hydrostat.simulation import find_motion

    module, function = scenario.function.split(":")
    with TemporaryDirectory(prefix="hydrostat-") as folder:
        run = Run(spec, values, seed, Path(folder), progress or Progress())
        program = getattr(importlib.import_module(module), function)
        found = find_motion(lambda: program(run), scenario.live)
    if found is None:
        raise InputError(f"{name} with these settings simulates no motion that could be shown live")
    return found
