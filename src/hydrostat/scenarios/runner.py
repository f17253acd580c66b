"""Running a scenario: folder, clocks, files, report."""

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from hydrostat.errors import InputError, shown
from hydrostat.results import check_metrics, new_folder, write_json
from hydrostat.results.folders import PART, discard_leftovers, discard_unless_recorded, missing_folders, resuming
from hydrostat.robots import find_robot
from hydrostat.scenarios.base import Outcome, Progress, Run
from hydrostat.scenarios.catalogue import find_scenario
from hydrostat.scenarios.resuming import chosen_settings, read_beginning, write_beginning


def run_scenario(
    name: str,
    robot: str | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
    out: str | Path = "results",
    figures: bool = True,
    resume: str | Path | None = None,
    progress: Progress | None = None,
    on_folder: Callable[[Path, list[Path]], None] = lambda folder, made: None,
) -> dict[str, Any]:
    """Run a scenario and write DIR/SCENARIO/; the report is the object that `--json` prints, with `notes` besides.

    **Arguments:** `robot`: a name or a TOML file, the scenario's own when not given; `settings`: values for its keys;
    `seed`: of everything random; `out`: DIR; `figures`: whether to draw; `resume`: the
    folder of a run that did not come to its end, which goes on as it began: of the rest, `figures` alone counts, and
    `name` must be its scenario; `on_folder`: told the result folder
    when it has been made, and the folders made before it, the innermost first.
    """
    scenario = find_scenario(name)
    if resume is None:
        spec = find_robot(robot or scenario.robot)
    else:
        begun = read_beginning(Path(resume))
        if begun.scenario != scenario.name:
            raise InputError(f"the run in {shown(str(resume))} is of {begun.scenario}; got {scenario.name}")
        spec, seed, settings = begun.robot, begun.seed, chosen_settings(begun.settings, scenario.keys)
    scenario.check(spec)
    values = scenario.settings(settings or {}, spec)

    if resume is None:
        made = missing_folders(out)
        try:
            folder = new_folder(Path(out), scenario.name)
        except OSError as error:
            raise InputError(str(error) if error.errno is None else f"{error.strerror} in {str(out)!r}") from None
    else:
        made, folder = [], Path(resume)
    on_folder(folder, made)
    progress = progress or Progress()
    run = Run(spec, values, seed, folder, progress)
    module, function = scenario.function.split(":")
    try:
        if resume is None:
            write_beginning(folder, scenario.name, spec, values, seed)
        progress.say("loading")
        importlib.import_module("zarr")  # slow to import: not on the clock of the first recorder
        outcome: Outcome = _with_checkpoints(
            run, getattr(importlib.import_module(module), function), resume is not None
        )
        report = _report(scenario.name, run, outcome)
        files = _files(run, outcome, figures, progress)
        files["metrics"] = str(folder / "metrics.json")
        report["files"] = files
        settings_used = {key: list(v) if isinstance(v, tuple) else v for key, v in vars(values).items()}
        write_json(
            folder / "metrics.json",
            {**report, "notes": outcome.notes, "robot": spec.name, "seed": seed, "settings": settings_used},
        )
        discard_leftovers(folder)
    except BaseException:
        discard_unless_recorded(folder, made)
        raise
    finally:
        progress.close()
    return {**report, "notes": outcome.notes}


def _with_checkpoints(run: Run, function: Callable[[Run], Outcome], resume: bool) -> Outcome:
    """The outcome of a scenario whose simulations keep all their rows on disk, and go on from there when resumed."""
    from hydrostat.simulation.checkpoints import Checkpoints, keeping

    with keeping(Checkpoints(run.folder, resume)), resuming(run.folder) if resume else nullcontext():
        return function(run)


def _files(run: Run, outcome: Outcome, figures: bool, progress: Progress) -> dict[str, str]:
    """The files of a result by their kinds, once its figure and its replay have been written."""
    folder = run.folder
    files = {"folder": str(folder), **outcome.files}
    if (folder / "trajectory.zarr").exists():
        files["trajectory"] = str(folder / "trajectory.zarr")
    if figures and outcome.figure:
        progress.say("drawing")
        _whole(outcome.figure, folder / "figure.png")
        files["figure"] = str(folder / "figure.png")
    if figures and outcome.replay and not importlib.util.find_spec("viser"):
        outcome.notes.append("no replay was written: it needs viser, pip install 'hydrostat[view]'")
    elif figures and outcome.replay:
        progress.say("writing the replay")
        _whole(outcome.replay, folder / "replay.html")
        files["replay"] = str(folder / "replay.html")
    return files


def _whole(write: Callable[[Path], Any], path: Path) -> None:
    """Have a file written that is there whole or not at all."""
    part = path.with_name(f"{PART}{path.name}")
    write(part)
    part.replace(path)


def _report(name: str, run: Run, outcome: Outcome) -> dict[str, Any]:
    """The object of the contract, without its files."""
    wall = run.wall_seconds
    factor = outcome.sim_seconds / wall if outcome.sim_seconds is not None and wall > 0.0 else None
    return {
        "scenario": name,
        "sim_seconds": outcome.sim_seconds,
        "wall_seconds": wall,
        "compile_seconds": run.compile_seconds,
        "real_time_factor": factor,
        "dt": outcome.dt,
        "steps": outcome.steps,
        "metrics": check_metrics(outcome.metrics),
    }
