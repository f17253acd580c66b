"""track-regulate: the error decays as the theory says, from any shape, and what cannot be reached is said."""

import numpy as np
import pytest

import hydrostat
from hydrostat.errors import InputError
from hydrostat.scenarios.runner import run_scenario


def regulated(out, seed=0, **settings):
    return run_scenario("track-regulate", settings=settings, seed=seed, out=out, figures=False)


@pytest.mark.parametrize("noise, seed", [(0.0, 0), (5.0, 1)])
def test_the_error_decays_at_the_gain_from_any_shape(tmp_path, noise, seed):
    report = regulated(tmp_path, seed, dt_ms=0.5, seconds=0.25, start_noise_deg=noise)
    metrics = report["metrics"]
    # Of Euler's steps: - ln(1 - K dt) / dt.
    assert metrics["decay_rate_1_s"] == pytest.approx(-np.log(1.0 - 20.0 * 5e-4) / 5e-4, rel=0.01)
    # The root mean square of the exponential over time, within the first order of a step.
    spent = 2.0 * 20.0 * 0.25
    exact = metrics["error_start_m"] * np.sqrt((1.0 - np.exp(-spent)) / spent)
    assert metrics["rmse_m"] == pytest.approx(exact, rel=0.02)
    assert metrics["rmse_percent"] == pytest.approx(100.0 * metrics["rmse_m"] / 5.0)
    data = hydrostat.load(report["files"]["folder"])
    errors = np.linalg.norm(data["tip"].values - [1.5, 1.0, 4.0], axis=-1)
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(metrics["rmse_m"], rel=1e-9)


def test_a_target_out_of_reach_is_named(tmp_path):
    notes = regulated(tmp_path, target=[40.0, 0.0, 3.0], seconds=0.01)["notes"]
    assert "out of reach" in notes[0]
    assert "the target is not reached in 0.01 s" in notes[1]


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"target": [1.0, 2.0]}, "`target` must be x, y and z; got 2 numbers"),
        ({"start_stretch": 3.0, "controller": "continuous"}, "the start must be a shape within the strokes"),
        ({"gain": 600.0}, "overshoots"),
    ],
)
def test_senseless_settings_are_refused_in_one_line(tmp_path, settings, words):
    with pytest.raises(InputError) as caught:
        regulated(tmp_path, **settings)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
