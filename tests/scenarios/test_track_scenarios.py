"""The tracking scenarios: the paper's numbers, ours within all limits, agents, orientation, obstacles, and refusals."""

import math

import numpy as np
import pytest

import hydrostat
from hydrostat.errors import InputError
from hydrostat.scenarios.runner import run_scenario

# Durations [s] and cross-track errors [m] of the corrected model at a tick of 2 ms; of fetch, whose first move is 7 m
# long, the duration depends on how the arm is stepped.
PAPER = {
    "line": (1.810, 0.02, 0.0057),
    "ellipse": (2.268, 0.02, 0.0186),
    "sinusoid": (2.366, 0.02, 0.0166),
    "reach": (2.402, 0.02, 0.0053),
    "fetch": (2.852, 0.06, 0.0147),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs a scenario once for each choice of settings; its metrics hold no number that is none."""
    out, known = tmp_path_factory.mktemp("track"), {}

    def of(name, /, **settings):
        key = name, str(sorted(settings.items()))
        if key not in known:
            known[key] = run_scenario(f"track-{name}", settings=settings, out=out, figures=False)
            for value in known[key]["metrics"].values():
                assert not isinstance(value, float) or math.isfinite(value)
        return known[key]

    return of


@pytest.fixture
def curve_file(tmp_path):
    """Writes points to a file."""

    def of(*points):
        file = tmp_path / "curve.csv"
        file.write_text("x,y,z\n" + "".join(f"{x},{y},{z}\n" for x, y, z in points))
        return str(file)

    return of


# --- The paper's controller


@pytest.mark.parametrize("path", PAPER)
def test_the_papers_controller_gives_the_numbers_of_the_corrected_model(run, path):
    duration, share, crosstrack = PAPER[path]
    report = run(path)
    metrics = report["metrics"]
    assert metrics["targets_reached"] == 21
    assert metrics["arrival_rms_m"] <= 0.05
    assert metrics["duration_s"] == pytest.approx(duration, rel=share)
    assert metrics["crosstrack_rms_m"] == pytest.approx(crosstrack, rel=0.1)
    assert report["sim_seconds"] == metrics["duration_s"]
    assert report["dt"] == pytest.approx(2e-3)
    # What the law without limits does to flat segments is said.
    folded = any("folded through the plate below" in note for note in report["notes"])
    assert folded == (metrics["folded_segments"] > 0)
    assert any("passes through itself" in note for note in report["notes"]) == metrics["crosses_itself"]


def test_the_recorded_rows_are_those_of_the_metrics(run):
    report = run("line")
    data = hydrostat.load(report["files"]["folder"])
    assert data.attrs["complete"]
    tip, time = data["tip"].values, data["time"].values
    assert time[-1] == pytest.approx(report["metrics"]["duration_s"])
    np.testing.assert_allclose(tip[0], [0.0, 0.0, 5.0], atol=1e-12)
    np.testing.assert_array_equal(data["plate_position"].values[:, -1], tip)
    # It ends within gamma of the last target, (2.5, 3.5, 7), and headed for the first at first.
    assert np.linalg.norm(tip[-1] - [2.5, 3.5, 7.0]) <= 0.05
    np.testing.assert_allclose(data["tip_wanted"].values[0], [-0.5, 0.5, 6.0], atol=1e-12)
    # Legs at rest by the octahedron, 60 deg apart on rings of 0.25 and 0.2375 m and 0.0797 m above each other.
    rest = np.sqrt(0.0796545**2 + 0.25**2 + 0.2375**2 - 0.25 * 0.2375)
    np.testing.assert_allclose(data["leg_length"].values[0, 0], rest, rtol=1e-6)


def test_a_gamma_larger_than_the_spacing_is_named_and_all_targets_are_passed(run):
    report = run("line", gamma_m=0.25)
    assert report["metrics"]["targets_reached"] == 21
    assert report["metrics"]["arrival_rms_m"] <= 0.25
    assert report["metrics"]["duration_s"] < 1.0
    assert any("gamma 0.25 m is larger than the distance 0.218 m" in note for note in report["notes"])


@pytest.mark.parametrize("seconds_max", [0.1, 1e-4])
def test_the_controller_gives_up_when_it_is_told_to(run, seconds_max):
    report = run("line", seconds_max=seconds_max)
    assert report["metrics"]["targets_reached"] < 21
    assert report["metrics"]["duration_s"] <= seconds_max + 2e-3
    assert any("not reached" in note for note in report["notes"])


def test_the_authors_code_reaches_its_own_thresholds_and_keeps_no_volume(run):
    metrics = run("spiral", controller="authors")["metrics"]
    assert metrics["targets_reached"] == 21
    assert 0.04 < metrics["pose_rms_at_arrival"] <= metrics["pose_rms_at_arrival_max"] <= 0.06
    # Every step before an arrival is above the threshold, so the mean over all is.
    assert metrics["pose_rms_mean"] > 0.06
    assert metrics["volume_error_max"] > 0.5


# --- Continuous tracking


@pytest.mark.parametrize("path", PAPER)
def test_continuous_tracking_is_exact_and_within_all_limits(run, path):
    report = run(path, controller="continuous")
    metrics = report["metrics"]
    assert metrics["tracking_rmse_percent"] <= 0.01
    assert metrics["targets_reached"] == 21
    assert (metrics["stroke_limit_m"], metrics["rate_limit_m_s"]) == (0.7, 2.0)
    assert metrics["stroke_used_max_m"] <= 0.7
    assert metrics["rate_used_max_m_s"] <= 2.0
    assert metrics["leg_ratio_min"] >= 0.4
    assert metrics["leg_ratio_max"] <= 2.5
    assert metrics["folded_segments"] == 0
    assert metrics["crosses_itself"] is False
    assert metrics["conditioning_min"] > 0.01
    assert report["notes"] == []
    # The rows themselves: no leg changes by more than its rate allows from tick to tick.
    data = hydrostat.load(report["files"]["folder"])
    assert np.max(np.abs(np.diff(data["leg_length"].values, axis=0))) <= 2.0 * 2e-3 * 1.001
    miss = np.linalg.norm(data["tip"].values - data["tip_wanted"].values, axis=-1)
    along = data["time"].values >= metrics["approach_s"] - 1e-9
    assert 100 * np.sqrt(np.mean(miss[along] ** 2)) / 5.0 == pytest.approx(metrics["tracking_rmse_percent"], rel=1e-6)


@pytest.mark.parametrize("path", ["line", pytest.param("ellipse", marks=pytest.mark.slow)])
def test_agents_move_as_the_centre_does_and_bear_a_frozen_segment(run, path):
    metrics = run(path, controller="decentralised")["metrics"]
    assert metrics["difference_from_central"] <= 1e-9
    assert metrics["frozen_segment"] == 10
    assert metrics["frozen_segment_rmse_percent"] <= 0.1
    # 19 messages up and 19 down between 20 agents.
    assert metrics["messages_per_segment_per_step"] == pytest.approx(1.9)
    assert (metrics["message_up_numbers"], metrics["message_down_numbers"]) == (39, 7)
    # The rest of its report is that of the centre.
    centre = run(path, controller="continuous")["metrics"]
    for name in ("tracking_rmse_percent", "stroke_used_max_m", "leg_ratio_max"):
        assert metrics[name] == pytest.approx(centre[name], rel=1e-6)


@pytest.mark.parametrize("orientation", ["held", pytest.param("tangent", marks=pytest.mark.slow)])
def test_the_tip_keeps_its_orientation(run, orientation):
    report = run("ellipse", controller="continuous", orientation=orientation)
    assert report["metrics"]["orientation_rmse_deg"] <= 0.01
    assert report["metrics"]["tracking_rmse_percent"] <= 0.01
    assert report["metrics"]["folded_segments"] == 0
    assert report["notes"] == []


def clearance(report, ball):
    """The least distance of the recorded arm from a ball, its segments as capsules of their wider ring."""
    data = hydrostat.load(report["files"]["folder"])
    plates, rings = data["plate_position"].values, data["ring"].values.max(-1)
    starts, along = plates[:, :-1], np.diff(plates, axis=1)
    share = np.sum((ball[:3] - starts) * along, -1) / np.sum(along * along, -1)
    nearest = starts + np.clip(share, 0.0, 1.0)[..., None] * along
    return float(np.min(np.linalg.norm(nearest - ball[:3], axis=-1) - ball[3] - rings))


COARSE = {"dt_ms": 5.0, "seconds": 2.5, "tracking_gain": 50.0}


def test_an_obstacle_in_the_way_is_kept_clear_of_and_the_tip_still_tracks(run):
    ball = np.array([0.0, 0.6, 2.5, 0.25])
    assert clearance(run("line", controller="continuous", **COARSE), ball) < -0.1  # it is in the way
    report = run("line", controller="continuous", obstacle=ball.tolist(), **COARSE)
    kept = report["metrics"]["obstacle_clearance_min_m"]
    assert kept == pytest.approx(clearance(report, ball), abs=1e-9)
    # The margin of 0.1 m, but for what the rings grow by within a tick.
    assert kept >= 0.099
    assert report["metrics"]["tracking_rmse_percent"] <= 0.01
    assert report["notes"] == []


def test_an_obstacle_that_the_arm_must_slip_past_does_not_whip_it(run):
    # The limits of single segments once let plates move at 405 m/s here, and the tip left its path by 227 mm.
    ball = np.array([1.2, 0.3, 3.0, 0.5])
    report = run("reach", controller="continuous", obstacle=ball.tolist(), **COARSE)
    metrics = report["metrics"]
    assert metrics["tracking_max_mm"] <= 5.0
    assert clearance(report, ball) >= 0.099
    data = hydrostat.load(report["files"]["folder"])
    ways = np.linalg.norm(np.diff(data["plate_position"].values, axis=0), axis=-1)
    assert ways.max() / 5e-3 == pytest.approx(metrics["plate_speed_max_m_s"], rel=1e-9)
    assert metrics["plate_speed_max_m_s"] <= 15.0
    assert metrics["rate_used_max_m_s"] <= 2.0
    assert metrics["crosses_itself"] is False
    assert report["notes"] == []


def test_a_path_through_the_obstacle_is_named_and_the_arm_stays_outside(run):
    ball = np.array([1.05, 1.9, 6.45, 0.4])
    report = run("line", controller="continuous", obstacle=ball.tolist(), **COARSE)
    assert clearance(report, ball) >= 0.095
    assert report["metrics"]["plate_speed_max_m_s"] <= 15.0
    assert report["metrics"]["rate_used_max_m_s"] <= 2.0
    assert any("tip target inside the obstacle between" in note for note in report["notes"])
    assert any("falls behind its path" in note for note in report["notes"])


# --- Named outcomes and refusals


FAR = [(30.0, 0.0, 0.0), (30.0, 1.0, 0.0), (30.0, 2.0, 1.0)]


def test_targets_out_of_reach_are_named_by_the_papers_controller(run, curve_file):
    report = run("file", path=curve_file(*FAR), seconds_max=1.0)
    assert report["metrics"]["targets_reached"] < 21
    assert "out of reach: up to 30.08 m away, where the arm reaches 15." in report["notes"][0]
    assert any("not reached in" in note for note in report["notes"])


def test_targets_out_of_reach_are_named_by_ours_and_legs_stay_within_limits(run, curve_file):
    short = {"approach_seconds": 0.4, "seconds": 0.4}
    report = run("file", path=curve_file(*FAR), controller="continuous", **short)
    metrics = report["metrics"]
    assert metrics["targets_reached"] == 0
    assert metrics["stroke_used_max_m"] <= 0.7 + 1e-9
    assert metrics["leg_ratio_max"] <= 2.5 + 1e-9
    assert metrics["rate_used_max_m_s"] <= 2.0 + 1e-9
    assert metrics["folded_segments"] == 0
    assert "out of reach" in report["notes"][0]
    assert any("falls behind its path by up to" in note for note in report["notes"])


def test_a_path_of_ones_own_is_tracked_and_drawn(curve_file, tmp_path):
    path = curve_file((1.0, 0.0, 4.5), (1.0, 0.5, 4.8), (0.5, 1.0, 5.0), (0.0, 1.0, 4.6))
    settings = {"path": path, "controller": "continuous"}
    report = run_scenario("track-file", settings=settings, out=tmp_path, figures=True)
    assert report["metrics"]["tracking_rmse_percent"] <= 0.01
    folder = tmp_path / "track-file"
    np.testing.assert_allclose(hydrostat.load(folder)["tip"].values[-1], [0.0, 1.0, 4.6], atol=1e-3)
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert b"<html" in (folder / "replay.html").read_bytes()[:2000].lower()


def refusal(name, out, /, **settings):
    with pytest.raises(InputError) as caught:
        run_scenario(f"track-{name}", settings=settings, out=out, figures=False)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "text, words",
    [
        ("0,0,5\n", ["at least 2 points", "holds 1"]),
        ("0,0,5\n0,0,5\n0,0,5\n", ["2 different points"]),
        ("0,0,5\nnan,0,5\n", ["line 2", "finite"]),
        ("0,0,5\n1,0,nan\n", ["line 2", "finite"]),
        ("0,0,5\n1,0,inf\n", ["line 2", "finite"]),
        ("0,0,5\none,two,three\n", ["line 2", "three numbers"]),
    ],
    ids=["one point", "one place", "NaN in x", "NaN in z", "infinity", "words"],
)
def test_a_path_that_is_none_is_refused_in_one_line(tmp_path, text, words):
    file = tmp_path / "curve.csv"
    file.write_text(text)
    message = refusal("file", tmp_path, path=str(file))
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    "settings, word",
    [
        (
            {"obstacle": [1.0, 2.0, 3.0], "controller": "continuous"},
            "`obstacle` must be x, y, z and a radius; got 3 numbers",
        ),
        (
            {"obstacle": [1.0, 2.0, 3.0, -0.1], "controller": "continuous"},
            "the radius of `obstacle`, its last number, must be above 0",
        ),
        ({"obstacle": [0.0, 0.3, 3.0, 0.3], "controller": "continuous"}, "`obstacle` must be clear of the arm at rest"),
        ({"obstacle": [1.0, 2.0, 3.0, 0.1], "controller": "decentralised"}, "`obstacle` needs a centre"),
        ({"frozen_segment": 21, "controller": "decentralised"}, "`frozen_segment` must be at most 20"),
        ({"frozen_segment": -1}, "`frozen_segment` must be a whole number from 0"),
        ({"tracking_gain": 600.0, "controller": "continuous"}, "`tracking_gain` must be at most 500"),
        ({"orientation": "held", "controller": "paper"}, "no `orientation`"),
        ({"controller": "mine"}, "`controller` must be one of paper, continuous, decentralised, authors"),
        ({"orientation": "held", "controller": "authors"}, "no `orientation`"),
        ({"targets": 1}, "`targets` must be a whole number from 2"),
        ({"dt_ms": 0.0}, "`dt_ms` must be a finite number above 0"),
        ({"gamma_m": float("nan")}, "`gamma_m` must be a finite number"),
        ({"path": "x.csv"}, "no key 'path'"),
    ],
)
def test_senseless_settings_are_refused_in_one_line(tmp_path, settings, word):
    assert word in refusal("line", tmp_path, **settings)


def test_a_path_from_a_file_needs_its_file(tmp_path):
    assert "`path` must name a CSV file" in refusal("file", tmp_path)
    assert "No such file" in refusal("file", tmp_path, path=str(tmp_path / "nowhere.csv"))
