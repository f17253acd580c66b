"""The tentacle's scenarios through the command line: the contract of the report, and what each must show."""

import json

import numpy as np
import pytest

import hydrostat
from hydrostat.cli import main
from hydrostat.errors import InputError
from hydrostat.scenarios.runner import run_scenario

REPORT_KEYS = [
    "scenario",
    "sim_seconds",
    "wall_seconds",
    "compile_seconds",
    "real_time_factor",
    "dt",
    "steps",
    "metrics",
    "files",
]


def run(capsys, tmp_path, *arguments):
    code = main(["run", *arguments, "--json", "--no-figures", "--out", str(tmp_path)])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    report = json.loads(printed.out)  # exactly one object, or this fails
    assert list(report) == REPORT_KEYS
    assert report["scenario"] == arguments[0]
    assert all(report[key] is None for key in ("sim_seconds", "dt", "steps", "real_time_factor"))
    assert report["wall_seconds"] > 0.0
    return report


def test_move(capsys, tmp_path):
    report = run(capsys, tmp_path, "tentacle-move")
    metrics = report["metrics"]
    assert metrics["wire_round_trip_rad"] <= 1e-9
    assert metrics["path_deviation_constant_speed_mm"] <= 1e-6
    assert metrics["path_deviation_smooth_mm"] <= 1e-6
    assert metrics["path_deviation_stepped_mm"] > 0.1
    assert 0.0 < metrics["compression_max_mm"] <= metrics["compression_bound_mm"] == 1e-3
    assert metrics["compression_constant_speed_mm"] > metrics["compression_max_mm"]
    assert 0.0 < metrics["tip_error_mm"] <= metrics["tip_step_bound_mm"] < 0.05
    assert len(metrics["pulses"]) == 9
    assert all(isinstance(count, int) for count in metrics["pulses"])
    # On the cylinder the three wires of a segment keep their sum: so do the pulses, to rounding of each.
    assert all(abs(sum(metrics["pulses"][i : i + 3])) <= 1 for i in (0, 3, 6))

    data = hydrostat.load(report["files"]["folder"])
    assert data.attrs["complete"]
    assert float(np.max(np.abs(data["bend"] - data["bend_wanted"]))) < 1e-4  # some steps of 0.25 um on 45 mm
    assert data["pulses"].values[-1].tolist() == metrics["pulses"]
    with open(report["files"]["pulses"]) as file:
        assert sum(1 for _ in file) - 1 >= sum(map(abs, metrics["pulses"]))

    # The stepped way strays by the square of its steps: a quarter of the default's leaves a sixteenth.
    finer = run(capsys, tmp_path, "tentacle-move", "--set", "step_rad=0.125", "--set", "pulse_file=false")["metrics"]
    assert finer["path_deviation_stepped_mm"] < metrics["path_deviation_stepped_mm"] / 8.0


# Every run examines cylinder and cone with hard and with soft wires; the robot says which of them moves.
@pytest.mark.parametrize(
    "robot",
    [pytest.param(f"tentacle_{kind}", marks=pytest.mark.slow) for kind in ("cone", "through", "soft")],
)
def test_move_of_the_other_robots(capsys, tmp_path, robot):
    keys = ("--set", "pulse_file=false", "--set", "compression_bound_mm=1e-5", "--set", "seconds=10")
    metrics = run(capsys, tmp_path, "tentacle-move", "--robot", robot, *keys)["metrics"]
    assert metrics["wire_round_trip_rad"] <= 1e-9
    assert metrics["compression_max_mm"] <= 1e-5
    assert metrics["path_deviation_smooth_mm"] <= 1e-5
    assert metrics["tip_error_mm"] <= metrics["tip_step_bound_mm"]


def test_shape(capsys, tmp_path):
    report = run(capsys, tmp_path, "tentacle-shape")
    metrics = report["metrics"]
    assert metrics["recovery_error_mm"] <= 1e-6
    assert metrics["residual_pose_mm"] <= 1e-6
    assert metrics["reachable_pose"] is True
    assert metrics["reachable_far"] is False
    # No arm of length L reaches 1.3 L.
    assert metrics["residual_far_mm"] >= 0.3 * 1050 - 1e-6
    assert 0.0 < metrics["residual_helix_mm"] < metrics["residual_helix_max_mm"] < 20.0
    assert 0.0 < metrics["residual_scurve_mm"] < metrics["residual_scurve_max_mm"] < 30.0


def test_shape_of_a_users_curve_and_target(capsys, tmp_path):
    s = np.linspace(0.0, 1.6, 90)
    curve = tmp_path / "line.csv"
    curve.write_text("x,y,z\n" + "\n".join(f"0.0,0.0,{z}" for z in s + 0.02) + "\n")
    settings = ["--set", f"curve={curve}", "--set", "target=[0.0, 0.0, 3.0]"]
    code = main(["run", "tentacle-shape", *settings, "--json", "--no-figures", "--out", str(tmp_path)])
    printed = capsys.readouterr()
    assert code == 0
    metrics = json.loads(printed.out)["metrics"]
    assert metrics["residual_file_mm"] < 1e-6
    assert metrics["points_beyond_arm"] == np.sum(s + 0.02 > 1.05 * 1.001)
    assert metrics["curve_start_mm"] == pytest.approx(20.0)
    assert "the curve does not begin at the arm's base but 20 mm from it" in printed.err
    assert metrics["reachable_target"] is False
    # Straight up is the nearest. There the tip does not move with the bends to first order, so the solver creeps up.
    assert metrics["residual_target_mm"] == pytest.approx(1950.0, abs=0.05)
    assert "your target: out of reach" in printed.err


def test_repeatability_agrees_with_the_noise(capsys, tmp_path):
    report = run(capsys, tmp_path, "tentacle-repeatability", "--set", "moves=20000", "--seed", "7")
    metrics = report["metrics"]
    moves = 20000
    mean, spread = np.array(metrics["angle_error_mean_deg"]), np.array(metrics["angle_error_std_deg"])
    expected_mean, expected_std = np.array(metrics["expected_mean_deg"]), np.array(metrics["expected_std_deg"])
    assert np.all(np.abs(mean - expected_mean) <= 3.0 * expected_std / np.sqrt(moves))
    # The standard error of a standard deviation; the errors' distribution is near Rayleigh's, of kurtosis 3.245.
    assert np.all(np.abs(spread - expected_std) <= 3.0 * expected_std * np.sqrt((3.245 - 1.0) / (4.0 * moves)))
    assert metrics["paper_mean_deg"] == [0.083, 0.1, 0.65]
    # The propagation itself, by hand, for the first link: a bend vector has the variance (2/3) (noise / offset)^2 in
    # both directions; along the bend the link's direction follows it, across by sin(theta) / theta of it.
    theta, sigma = np.deg2rad(40.0), np.sqrt(2.0 / 3.0) * 0.066 / 45.0
    a, b = sigma, sigma * np.sin(theta) / theta
    samples = np.random.default_rng(0).standard_normal((400_000, 2)) * [a, b]
    by_hand = np.rad2deg(np.mean(np.hypot(*samples.T)))
    assert expected_mean[0] == pytest.approx(by_hand, rel=3e-3)


def test_repeatability_without_noise_leaves_the_quantisation(capsys, tmp_path):
    settings = ("--set", "moves=3", "--set", "wire_noise_mm=0.0")
    metrics = run(capsys, tmp_path, "tentacle-repeatability", *settings)["metrics"]
    assert metrics["angle_error_mean_deg"] == pytest.approx(metrics["quantisation_error_deg"], rel=1e-9)
    assert metrics["angle_error_std_deg"] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    # Half a step of 0.25 um on three wires at 45 mm: at most 2 x 0.125e-6 / 0.045 rad per bend, over three links.
    assert 0.0 < max(metrics["quantisation_error_deg"]) < 3 * np.rad2deg(2 * 0.125e-6 / 0.045)


def test_same_seed_same_numbers(capsys, tmp_path):
    reports = [run(capsys, tmp_path, "tentacle-repeatability", "--set", "moves=40", "--seed", "3") for _ in range(2)]
    assert reports[0]["metrics"] == reports[1]["metrics"]
    assert reports[0]["files"]["folder"] != reports[1]["files"]["folder"]
    assert reports[1]["files"]["folder"].endswith("tentacle-repeatability-2")


def test_figures_and_replay_are_written(capsys, tmp_path):
    code = main(["run", "tentacle-repeatability", "--set", "moves=50", "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert code == 0
    folder = tmp_path / "tentacle-repeatability"
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert b"<html" in (folder / "replay.html").read_bytes()[:2000].lower()
    # The table, and the paths that a user looks for.
    for expected in ("angle_error_mean_deg", str(folder / "figure.png"), str(folder / "replay.html")):
        assert expected in printed.replace("\n", "")
    stored = json.loads((folder / "metrics.json").read_text())
    assert stored["settings"]["moves"] == 50


# A small move, within what the motors can do in 1.2 s.
SHORT_MOVE = {
    "seconds": 1.2,
    "seconds_after": 0.6,
    "start_alpha_deg": [0.0, 60.0, -45.0],
    "start_theta_deg": [10.0, 12.0, 8.0],
    "goal_alpha_deg": [20.0, 60.0, -30.0],
    "goal_theta_deg": [16.0, 18.0, 15.0],
    "step_rad": 0.05,
    "pieces": 2,
}


@pytest.mark.slow
def test_vibration_is_least_in_the_smooth_way(tmp_path):
    report = run_scenario("tentacle-vibration", settings=SHORT_MOVE, out=tmp_path, figures=False)
    metrics = report["metrics"]
    assert report["sim_seconds"] == pytest.approx(3 * 1.8)
    assert report["steps"] == 3 * 900
    rms = np.array(metrics["vibration_rms_deg"]).reshape(3, 3)
    for row, way in zip(rms, ("stepped", "constant_speed", "smooth"), strict=True):
        assert row.tolist() == metrics[f"vibration_rms_{way}_deg"]
    stepped, constant, smooth = rms
    assert np.all(smooth > 0.0)
    assert np.all(stepped > smooth)
    # A jump of speed at both ends shakes as well.
    assert np.all(constant > smooth)
    assert metrics["stepped_over_smooth"] > 1.0
    assert np.all(np.array(metrics["vibration_after_stepped_deg"]) > metrics["vibration_after_smooth_deg"])
    # The largest change, a bend vector of segment 3 from 8 to 15 degrees and 15 to the side, in steps of 0.05 rad.
    assert metrics["steps_stepped"] >= 3

    data = hydrostat.load(report["files"]["folder"])
    assert data.attrs["complete"]
    rows = round(1.8 / 0.008) + 1
    way, time, turn = (data[name].values for name in ("way", "time", "turn"))
    assert [np.count_nonzero(way == number) for number in range(3)] == [rows] * 3
    assert turn.shape == (3 * rows, 3, 3)
    assert data["strain"].shape == (3 * rows, 6, 3)
    for number in range(3):
        np.testing.assert_allclose(time[way == number], 0.008 * np.arange(rows), atol=1e-9)
    # All ways begin in the same rest, and where the smooth one ends is off the goal by what the report says.
    first = turn[way == 0][0]
    assert all(np.array_equal(turn[way == number][0], first) for number in range(3))
    alpha, theta = (np.radians(SHORT_MOVE[f"goal_{name}_deg"]) for name in ("alpha", "theta"))
    goal = np.stack([-theta * np.sin(alpha), theta * np.cos(alpha), 0.0 * theta], -1)
    error = np.degrees(np.linalg.norm(turn[way == 2][-1] - goal, axis=-1).max())
    assert error == pytest.approx(metrics["final_error_deg"], rel=1e-9)
    # Held by steel: the weight of the tentacle bends it by less than a degree.
    assert error < 1.0


@pytest.mark.slow
def test_vibration_is_converged_at_its_default(tmp_path):
    def measured(**settings):
        metrics = run_scenario("tentacle-vibration", settings=settings, out=tmp_path, figures=False)["metrics"]
        return np.concatenate([np.ravel(metrics[key]) for key in metrics if key.startswith(("vibration", "target"))])

    default = measured()
    # Pieces of constant strain converge with the square of their number; the step with the square of its size.
    assert measured(pieces=16) == pytest.approx(default, rel=0.1)
    assert measured(dt_ms=1.0) == pytest.approx(default, rel=0.01)


def test_a_sweep_turns_all_the_way_round(capsys, tmp_path):
    keys = ("--set", "theta_deg=[40.0, 0.0, 0.0]", "--set", "seconds=9", "--set", "steps=12")
    metrics = run(capsys, tmp_path, "tentacle-sweep", *keys)["metrics"]
    amplitude = 45.0 * np.deg2rad(40.0)
    assert metrics["wire_amplitude_mm"][:3] == pytest.approx([amplitude] * 3, rel=1e-5)
    assert metrics["wire_amplitude_mm"][3:] == pytest.approx([0.0] * 6, abs=1e-9)
    assert metrics["bend_loss_in_steps_deg"] == pytest.approx(metrics["bend_loss_of_chords_deg"], abs=1e-6)
    assert metrics["bend_loss_of_chords_deg"][0] == pytest.approx(40.0 * (1.0 - np.cos(np.pi / 12)))
    assert metrics["wire_speed_max_continuous_mm_s"] == pytest.approx(amplitude * 2.0 * np.pi / 9.0, rel=1e-4)
    # Out and back: no pulse is left, but each wire has moved by four amplitudes.
    assert metrics["pulses"] == [0] * 9
    assert metrics["pulses_both_ways"][0] == pytest.approx(4.0 * amplitude / 0.25e-3, abs=4)
    # The tip's circle: two arms' lengths straight on from a bend of the first third.
    theta = np.deg2rad(40.0)
    radius = 350.0 * (1.0 - np.cos(theta)) / theta + 700.0 * np.sin(theta)
    assert metrics["tip_travel_mm"] == pytest.approx(2.0 * np.pi * radius, rel=1e-4)


def test_a_move_to_where_it_is_says_so(capsys, tmp_path):
    same = ["--set", "start_theta_deg=[30.0, 30.0, 30.0]", "--set", "goal_theta_deg=[30.0, 30.0, 30.0]"]
    same += ["--set", "start_alpha_deg=[0.0, 0.0, 0.0]", "--set", "goal_alpha_deg=[360.0, 360.0, 360.0]"]
    same += ["--set", "pulse_file=false"]
    assert main(["run", "tentacle-move", *same, "--json", "--no-figures", "--out", str(tmp_path)]) == 0
    assert "nothing moves; tentacle-sweep turns azimuths" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("robot", "settings", "message"),
    [
        (None, {"seconds_after": 1e-3}, "`seconds_after` must be at least two pictures"),
        (None, {"seconds": 0.1}, "the move must take at least"),
        (None, {"pieces": 0}, "`pieces` must be a whole number from 1"),
        (None, {"dt_ms": 0.0}, "`dt_ms` must be a finite number above 0"),
        (None, {"goal_theta_deg": [1.0, 2.0]}, "`goal_theta_deg` must be a list of 3 numbers, one per segment"),
        ("finger", {}, "needs segments with the modes bend_x, bend_y"),
    ],
)
def test_vibration_refuses_in_one_line(tmp_path, robot, settings, message):
    with pytest.raises(InputError, match=message) as caught:
        run_scenario("tentacle-vibration", robot, settings, out=tmp_path, figures=False)
    assert "\n" not in str(caught.value)
