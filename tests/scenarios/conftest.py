"""Runs of scenarios whose folders nobody looks at."""

import pytest

from hydrostat.scenarios.runner import run_scenario


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The metrics of a scenario, run without figures."""
    out = tmp_path_factory.mktemp("results")

    def run(name, robot=None, seed=0, **settings):
        return run_scenario(name, robot, settings, seed=seed, out=out, figures=False)["metrics"]

    return run
