"""squid-twin-dynamics: the limb and its twin move alike, the closer the finer; and what it refuses."""

import sys

import numpy as np
import pytest

from hydrostat.cli import main
from hydrostat.errors import InputError
from hydrostat.results import load
from hydrostat.scenarios.runner import run_scenario


@pytest.mark.slow
def test_the_limb_and_its_twin_move_alike_and_the_more_so_the_finer(tmp_path):
    found = []
    for sections in (5, 10):
        settings = {"sections": sections, "seconds": 0.6}
        report = run_scenario("squid-twin-dynamics", None, settings, out=tmp_path / str(sections))
        found.append(report["metrics"])
    coarse, fine = (metrics["tip_difference_percent"] for metrics in found)
    # Of second order in a section's length, less what MuJoCo's own step adds.
    assert coarse > 2.5 * fine
    assert fine < 5.0
    assert fine < 0.05 * found[1]["tip_motion_percent"]
    # In water the twin lacks the water that is carried along, and little else.
    assert found[1]["tip_difference_water_drag_alone_percent"] < 0.6 * found[1]["tip_difference_water_percent"]
    assert min(found[1][name] for name in found[1] if name.startswith("real_time_factor")) > 0.0
    rows = load(tmp_path / "10" / "squid-twin-dynamics")
    assert rows.sizes == {"time": 61, "node": 11, "axis": 3}
    # Both start in the same pose, to second order, from the same place.
    starts = [rows[f"position_{name}"][0].to_numpy() for name in ("air", "twin_air")]
    np.testing.assert_allclose(starts[0], starts[1], atol=1e-3)
    assert (tmp_path / "10" / "squid-twin-dynamics" / "figure.png").stat().st_size > 10_000


@pytest.mark.slow
def test_two_seconds_in_air_within_two_percent(tmp_path):
    report = run_scenario("squid-twin-dynamics", out=tmp_path, figures=False)
    assert report["metrics"]["tip_difference_percent"] <= 2.0
    assert report["metrics"]["tip_motion_percent"] > 100.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"limb": "tail"}, "limb must be one of grasper, palpation, camera, light; got 'tail'"),
        ({"limb": "grasper", "sections": 5}, "`sections` must be a multiple of 2, the segments of the grasper limb"),
        ({"dt_ms": 3.0}, "`dt_ms` must divide a row of 10 ms; got 3 ms"),
    ],
)
def test_what_does_not_fit_is_refused(settings, message, tmp_path):
    with pytest.raises(InputError, match=message):
        run_scenario("squid-twin-dynamics", None, settings, out=tmp_path)
    assert not any(tmp_path.iterdir())


def test_without_mujoco_it_is_one_line_and_exit_code_2(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    assert main(["run", "squid-twin-dynamics", "--json", "--out", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert (
        printed.err == "hydrostat: this scenario needs MuJoCo, which is not installed: pip install 'hydrostat[rigid]'\n"
    )
    assert not any(tmp_path.iterdir())
