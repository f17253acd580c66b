"""The finger that grasps, and the finger that is identified: what the runs must show, and what they refuse."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat
from hydrostat.errors import InputError, UnsolvedError
from hydrostat.identification import read_tip_record
from hydrostat.mechanics import kinematics
from hydrostat.robots.build import build_robot
from hydrostat.robots.file import format_robot
from hydrostat.robots.specs.finger import finger
from hydrostat.scenarios.runner import run_scenario

# Coarser than by default, and a third of the time.
GRASP = {"dt_ms": 2.0, "nodes": 16, "pieces": 2}
OBJECT, OBJECT_RADIUS, ROD_RADIUS = np.array([0.22, -0.10]), 0.08, 1e-3
NODES = 32  # of both arcs


def robot_file(folder, spec):
    file = folder / "robot.toml"
    file.write_text(format_robot(spec))
    return str(file)


# --- Grasp


@pytest.fixture(scope="module")
def grasped(tmp_path_factory):
    report = run_scenario("finger-grasp", settings=GRASP, out=tmp_path_factory.mktemp("grasp"), figures=False)
    return report, hydrostat.load(report["files"]["folder"])


def test_grasp_touches_by_itself_and_repeats(grasped):
    report, data = grasped
    metrics = report["metrics"]
    # Closing, hold to 1.5 s, out and back in 1 s each, opening and closing in 1 s each, and half a second.
    assert report["sim_seconds"] == 6.0
    assert report["steps"] == 3000
    assert 0.0 < metrics["first_touch_s"] < 1.0
    assert metrics["middle_force_n"] > 0.0
    assert metrics["tip_force_n"] > 0.0
    assert (metrics["separations"], metrics["recontacts"]) == (1, 1)
    assert metrics["force_repeats_percent"] == pytest.approx(100.0, abs=5.0)
    assert metrics["penetration_max_mm"] < 3.0
    assert metrics["pull_force_max_n"] > 0.0

    assert data.attrs["complete"]
    times, forces = data["time"].values, data["contact_force"].values
    np.testing.assert_allclose(times, np.arange(601) * 0.01, atol=1e-9)
    assert forces.shape == (601, NODES)
    held = 149  # the last row before the object goes
    assert forces[held].sum() == pytest.approx(metrics["middle_force_n"] + metrics["tip_force_n"], rel=1e-9)
    # While the object is away nothing touches, and it is as far as it was to go.
    touching = forces.sum(-1) > 1e-3
    away = np.abs(data["object_shift"].values[:, 0] - 0.6) < 1e-9
    assert away.any()
    assert not touching[away].any()
    # What the object feels is never more than what the nodes feel one by one.
    assert np.all(np.linalg.norm(data["object_force"].values, axis=-1) <= forces.sum(-1) * (1.0 + 1e-12) + 1e-12)
    # The tendon pulls the finger down on it: the object is pushed down.
    assert data["object_force"].values[held, 2] < -1.0


def test_first_touch_is_where_finger_and_object_meet(grasped):
    report, data = grasped
    arm = build_robot(finger().cut(GRASP["pieces"])).arm
    first = int(np.flatnonzero(data["contact_force"].values.sum(-1) > 1e-3)[0])
    assert data["time"].values[first] == report["metrics"]["first_touch_s"]

    def gaps(row):
        """Between the object and the nodes of the finger, from its shape alone."""
        line = kinematics.centreline(arm, jnp.asarray(data["strain"].values[row]), 8).position[1:]
        return np.hypot(*(np.asarray(line)[:, [0, 2]] - OBJECT).T) - OBJECT_RADIUS - ROD_RADIUS

    assert np.all(gaps(first - 1) > 0.0)
    assert np.any(gaps(first) < 0.0)
    # The node that is deepest is that of the report.
    places = np.arange(1, NODES + 1) / NODES
    assert places[np.argmin(gaps(first))] == pytest.approx(report["metrics"]["first_touch_fraction"], abs=1e-12)


@pytest.mark.slow
def test_order_of_the_tendons_does_not_matter(grasped, tmp_path):
    spec = finger()
    other = replace(spec, tendons=spec.tendons[::-1])
    report = run_scenario("finger-grasp", robot_file(tmp_path, other), GRASP, out=tmp_path, figures=False)
    assert report["metrics"] == pytest.approx(grasped[0]["metrics"], rel=1e-6)


@pytest.mark.slow
def test_nothing_to_grasp(tmp_path):
    settings = {**GRASP, "object_position": [0.0, 5.0]}
    metrics = run_scenario("finger-grasp", settings=settings, out=tmp_path, figures=False)["metrics"]
    nothing = ("first_touch_s", "first_touch_fraction", "middle_place_fraction", "force_repeats_percent")
    assert all(metrics[name] is None for name in nothing)
    zeros = ("middle_force_n", "tip_force_n", "separations", "recontacts", "final_force_n", "penetration_max_mm")
    assert all(metrics[name] == 0.0 for name in zeros)


# --- Identification

SHORT = {"seconds": 1.0}


@pytest.fixture(scope="module")
def identified(tmp_path_factory):
    folder = tmp_path_factory.mktemp("identify")
    return [run_scenario("finger-identify", settings=SHORT, seed=seed, out=folder, figures=False) for seed in (0, 1)]


@pytest.mark.parametrize("seed", [0, 1])
def test_identify_finds_what_made_the_record(identified, seed):
    metrics = identified[seed]["metrics"]
    assert len(metrics["relative_error_percent"]) == 2
    assert all(0.0 < error <= 1.0 for error in metrics["relative_error_percent"])
    # Noise of 0.5 mm on 200 numbers, known to 1 / sqrt(400) of itself: 5 %, three times.
    assert metrics["residual_rms_mm"] == pytest.approx(0.5, rel=0.15)
    # Within three standard errors, and what a step of 2 ms is off by: (w dt)^2 / 12 with the first mode's 16 rad/s and
    # the second's 160, at most 1 % of it in the path.
    for error, spread in zip(metrics["relative_error_percent"], metrics["standard_error_percent"], strict=True):
        assert error < 3.0 * spread + 0.03
    data = hydrostat.load(identified[seed]["files"]["folder"])
    assert data.attrs["complete"]
    left = data["recorded"].values - data["fitted"].values
    assert 1e3 * np.sqrt(np.mean(left**2)) == pytest.approx(metrics["residual_rms_mm"], rel=1e-9)


def test_seeds_differ(identified):
    assert identified[0]["metrics"]["youngs_modulus_gpa"] != identified[1]["metrics"]["youngs_modulus_gpa"]


def record_of(report, file, interval=0.01):
    data = hydrostat.load(report["files"]["folder"])
    tip = data["recorded"].values
    rows = [f"{interval * (i + 1)!r},{x!r},{z!r}" for i, (x, z) in enumerate(tip.tolist())]
    file.write_text("\n".join(["time,x,z", *rows]) + "\n")
    return str(file)


def test_a_record_from_a_file_gives_the_same_numbers(identified, tmp_path):
    settings = {"record": record_of(identified[1], tmp_path / "tip.csv")}
    metrics = run_scenario("finger-identify", settings=settings, out=tmp_path, figures=False)["metrics"]
    assert metrics["relative_error_percent"] is None
    known = identified[1]["metrics"]
    # The mean of the intervals is 10 ms to rounding, which 500 steps and a fit to 1e-8 of its cost magnify.
    for name in ("youngs_modulus_gpa", "friction_n_m_s", "residual_rms_mm", "standard_error_percent"):
        assert metrics[name] == pytest.approx(known[name], rel=1e-6)


def test_a_fit_that_runs_away_is_not_called_found(identified, tmp_path):
    settings = {**SHORT, "guess_youngs_modulus": 0.01, "guess_friction": 1000.0}
    with pytest.raises(UnsolvedError, match="start from a nearer guess") as caught:
        run_scenario("finger-identify", settings=settings, out=tmp_path, figures=False)
    assert "\n" not in str(caught.value)


ROWS = [f"{0.01 * (i + 1)},0.5,{-0.01 * i}" for i in range(6)]
MALFORMED = {
    "empty": ([], "at least 4 rows"),
    "a header alone": (["time,x,z"], "at least 4 rows"),
    "too few rows": (["time,x,z", *ROWS[:3]], "at least 4 rows"),
    "two columns": (
        ["time,x", *(row.rsplit(",", 1)[0] for row in ROWS)],
        "line 2 of .* must be three numbers",
    ),
    "ragged": (["time,x,z", *ROWS, "0.07,0.5"], "line 8 of"),
    "words": (["time,x,z", *ROWS, "0.07,here,there"], "line 8 of"),
    "an empty cell": (["time,x,z", *ROWS, "0.07,,1"], "line 8 of"),
    "not a number": (["time,x,z", *ROWS, "0.07,nan,1"], "row 7"),
    "infinite": (["time,x,z", "0.01,inf,1", *ROWS[1:]], "row 1"),
    "uneven": (["time,x,z", *ROWS[:3], *ROWS[4:]], "equally spaced"),
    "from time zero": (["time,x,z", "0.0,0.5,0.0", *ROWS], "one interval after the release"),
    "no time passes": (["time,x,z", *["0,0.5,0.1"] * 6], "equally spaced"),
    "backwards": (["time,x,z", *("-" + row for row in ROWS)], "equally spaced"),
    "too long": (["time,x,z", *(f"{1e6 * (i + 1)},0.5,0" for i in range(6))], "100 s at most"),
    "one huge cell": (["time,x,z", *ROWS, "1" * 200_000], "could not be read as CSV"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_records_are_refused_in_one_line(name, tmp_path):
    rows, message = MALFORMED[name]
    file = tmp_path / "tip.csv"
    file.write_text("\n".join(rows))
    with pytest.raises(InputError, match=message) as caught:
        read_tip_record(str(file))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"time,x,z\n\x00\x00\x00\n"])
def test_records_that_are_no_text_are_refused(content, tmp_path):
    file = tmp_path / "tip.csv"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"not UTF-8 text|line 2 of"):
        read_tip_record(str(file))


def test_a_record_needs_no_line_of_names(tmp_path):
    file = tmp_path / "tip.csv"
    file.write_text("\n".join(ROWS))
    assert read_tip_record(str(file)).tip.shape == (6, 2)


# --- What is refused

REFUSED = [
    ("finger-grasp", {"nodes": 25}, "`nodes` must be a multiple of `pieces`, 4; got 25"),
    ("finger-grasp", {"nodes": 2, "pieces": 4}, "`nodes` must be a multiple"),
    ("finger-grasp", {"nodes": 0}, "`nodes` must be a whole number from 1"),
    ("finger-grasp", {"tension_n": -1.0}, "`tension_n` must be a finite number at least 0"),
    ("finger-grasp", {"object_radius": 0.0}, "`object_radius` must be a finite number above 0"),
    ("finger-grasp", {"object_position": [0.1]}, "`object_position` must be a list of 2 numbers"),
    ("finger-grasp", {"hold_until": float("nan")}, "`hold_until` must be a finite number"),
    ("finger-identify", {"rate_hz": 0.1}, "must hold 4 to 100000 pictures"),
    ("finger-identify", {"rate_hz": 0.0}, "`rate_hz` must be a finite number above 0"),
    ("finger-identify", {"release_deg": [1.0, 2.0, 3.0]}, "`release_deg` must be a list of 2 numbers"),
    ("finger-identify", {"record": 5}, "`record` must be a line of text"),
    ("finger-identify", {"record": "/no/such/file.csv"}, "could not be read: No such file"),
    ("finger-identify", {"guess_friction": 0.0}, "`guess_friction` must be a finite number above 0"),
]


@pytest.mark.parametrize(("scenario", "settings", "message"), REFUSED)
def test_bad_settings_are_refused_in_one_line(scenario, settings, message, tmp_path):
    with pytest.raises(InputError, match=message) as caught:
        run_scenario(scenario, settings=settings, out=tmp_path, figures=False)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("scenario", ["finger-grasp", "finger-identify"])
def test_unfit_robots_are_refused_in_one_line(scenario, tmp_path):
    spec = finger()
    unfit = {
        "needs a finger of 2 segments": finger(segments=4),
        "the mode bend_y alone": replace(
            spec, segments=tuple(replace(segment, modes=("bend_x", "bend_y")) for segment in spec.segments)
        ),
        "tendons at azimuths 0 and 180": replace(spec, tendons=spec.tendons[:1]),
    }
    for message, robot in unfit.items():
        with pytest.raises(InputError, match=message) as caught:
            run_scenario(scenario, robot_file(tmp_path, robot), out=tmp_path, figures=False)
        assert "\n" not in str(caught.value)


def test_a_finger_without_friction_has_none_to_identify(tmp_path):
    with pytest.raises(InputError, match="needs friction to identify"):
        run_scenario("finger-identify", robot_file(tmp_path, finger(friction=0.0)), out=tmp_path, figures=False)
