"""The finger that grasps, and the finger that is identified: what the runs must show, and what they refuse."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from finger_formulas import FingerFormulas, FingerLoads

import hydrostat
from hydrostat.errors import DivergedError, InputError, UnsolvedError
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


def test_a_bent_finger_that_is_in_the_object_is_refused(tmp_path):
    bent = robot_file(tmp_path, finger(preshape_deg=(60.0, 60.0)))
    with pytest.raises(InputError, match="must not overlap the finger at the start") as caught:
        run_scenario("finger-grasp", bent, GRASP, out=tmp_path, figures=False)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_jammed_finger_says_so(tmp_path):
    with pytest.raises(DivergedError, match="may be jammed on the object") as caught:
        run_scenario("finger-grasp", settings={"friction": 2.0}, out=tmp_path, figures=False)
    assert "\n" not in str(caught.value)


# --- A hand that holds a free ball

HOLDS = {"hold_seconds": 0.5, "nodes": 12, "pieces": 1}


@pytest.fixture(scope="module")
def holding(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hand")

    def run(friction):
        settings = {**HOLDS, "friction": friction}
        return run_scenario("finger-hand", settings=settings, out=folder, figures=False)

    return run


@pytest.mark.slow
def test_a_hand_holds_a_ball_and_drops_it_with_half_the_friction_it_needs(holding):
    report = holding(0.4)
    held = report["metrics"]
    assert held["held"]
    # Friction and what the normals carry are the weight of 200 g.
    assert held["holding_force_n"] == pytest.approx(0.2 * 9.81, rel=1e-3)
    left, right = held["pinch_force_n"]
    assert left == pytest.approx(right, rel=1e-9)
    # The law of friction creeps at v r / sqrt(1 - r^2) under the share r of what it can carry.
    share = held["friction_needed"] / 0.4
    assert held["creep_mm_s"] == pytest.approx(0.2 * share / np.sqrt(1.0 - share**2), rel=0.1)
    data = hydrostat.load(report["files"]["folder"])
    assert data.attrs["complete"]
    assert len(data["time"]) == 151
    assert np.abs(data["ball"].values[:, :2]).max() < 1e-9

    dropped = holding(0.5 * held["friction_needed"])["metrics"]
    assert not dropped["held"]
    assert 0.0 < dropped["lost_s"] < 0.5
    assert dropped["holding_force_n"] == 0.0
    # It ends on the ground, 0.3 m below.
    assert dropped["sinks_mm"] == pytest.approx(300.0, abs=50.0)


@pytest.mark.slow
@pytest.mark.parametrize("dt_ms", [1.0, 0.5])
def test_the_friction_needed_divides_holding_from_slipping(dt_ms, tmp_path):
    def run(friction, **more):
        settings = {"dt_ms": dt_ms, "friction": friction, **more}
        return run_scenario("finger-hand", settings=settings, out=tmp_path, figures=False)["metrics"]

    needed = run(0.4)["friction_needed"]
    assert run(1.1 * needed)["held"]
    assert not run(0.9 * needed)["held"]
    three = run(0.4, fingers=3)
    assert three["held"]
    assert three["friction_needed"] < needed


# --- The paper's contact, a given force


def test_given_forces_lead_to_the_equilibrium_of_the_papers_equations(tmp_path):
    # So much friction that it has come to rest.
    spec = finger(friction=5e-3)
    settings = {"contact_force_n": [0.3, 1.0], "tip_force_n": [-0.2, 0.1], "tension_n": [20.0, 5.0]}
    report = run_scenario("finger-force", robot_file(tmp_path, spec), settings, out=tmp_path, figures=False)
    metrics = report["metrics"]
    assert metrics["tip_from_rest_mm"] < 0.5
    # The paper's X, Y are the world's z, x. Its closed formulas share nothing with the mechanics.
    radius, material = spec.segments[0].radius[0], spec.material
    area, second_moment = np.pi * radius**2, np.pi * radius**4 / 4
    model = FingerFormulas(
        [0.3, 0.3], material.density * area, material.youngs_modulus * second_moment, tendon_offset=0.010
    )
    loads = FingerLoads((-9.81, 0.0), contact_force=(1.0, 0.3), tip_force=(0.1, -0.2), tensions=(20.0, 5.0))
    expected = np.rad2deg(model.static_equilibrium(loads, guess=jnp.deg2rad(jnp.array(metrics["theta_deg"]))))
    # Three Gauss points are wrong by 1e-7 of the weight's moment.
    assert metrics["theta_rest_deg"] == pytest.approx(expected, abs=1e-4)
    assert metrics["theta_deg"] == pytest.approx(expected, abs=0.2)


# --- Identification

# Derivatives through a motion take tens of seconds to compile: what needs them is slow.
SHORT = {"seconds": 1.0, "pieces": 6}


@pytest.fixture(scope="module")
def identified(tmp_path_factory):
    folder = tmp_path_factory.mktemp("identify")
    return [run_scenario("finger-identify", settings=SHORT, seed=seed, out=folder, figures=False) for seed in (0, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_identify_finds_what_made_the_record(identified, seed):
    metrics = identified[seed]["metrics"]
    assert len(metrics["relative_error_percent"]) == 2
    # From the record of a chain of 40 arcs.
    assert 0.0 < metrics["relative_error_percent"][0] <= 1.0
    assert 0.0 < metrics["relative_error_percent"][1] <= 2.0
    # Noise of 0.5 mm on 200 numbers, known to 1 / sqrt(400) of itself: 5 %, three times.
    assert metrics["residual_rms_mm"] == pytest.approx(0.5, rel=0.15)
    # The bias of the fitted model, and three standard errors about it; the bias is known to first order.
    parts = zip(*(metrics[f"{name}_percent"] for name in ("relative_error", "standard_error", "bias")), strict=True)
    for error, spread, bias in parts:
        assert abs(error - abs(bias)) < 3.0 * spread + 0.1 * abs(bias)
    data = hydrostat.load(identified[seed]["files"]["folder"])
    assert data.attrs["complete"]
    left = data["recorded"].values - data["fitted"].values
    assert 1e3 * np.sqrt(np.mean(left**2)) == pytest.approx(metrics["residual_rms_mm"], rel=1e-9)


@pytest.mark.slow
def test_seeds_differ(identified):
    assert identified[0]["metrics"]["youngs_modulus_gpa"] != identified[1]["metrics"]["youngs_modulus_gpa"]


def record_of(report, file, interval=0.01):
    data = hydrostat.load(report["files"]["folder"])
    tip = data["recorded"].values
    rows = [f"{interval * (i + 1)!r},{x!r},{z!r}" for i, (x, z) in enumerate(tip.tolist())]
    file.write_text("\n".join(["time,x,z", *rows]) + "\n")
    return str(file)


@pytest.mark.slow
def test_a_record_from_a_file_gives_the_same_numbers(identified, tmp_path):
    settings = {"pieces": 6, "record": record_of(identified[1], tmp_path / "tip.csv")}
    metrics = run_scenario("finger-identify", settings=settings, out=tmp_path, figures=False)["metrics"]
    assert metrics["relative_error_percent"] is None
    known = identified[1]["metrics"]
    # The mean of the intervals is 10 ms to rounding, which 500 steps and a fit to 1e-8 of its cost magnify.
    for name in ("youngs_modulus_gpa", "friction_n_m_s", "residual_rms_mm", "standard_error_percent"):
        assert metrics[name] == pytest.approx(known[name], rel=1e-6)


@pytest.mark.slow
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
    ("finger-grasp", {"object_radius": 0.12}, "must not overlap the finger at the start; .* by 20.9 mm"),
    ("finger-hand", {"nodes": 25}, "`nodes` must be a multiple of `pieces`, 3; got 25"),
    ("finger-hand", {"grip_height": 0.12}, "`grip_height` must be within the fingers, above 0 and below 0.12 m"),
    ("finger-hand", {"support_until": 0.2}, "`support_until` must not be before the fingers have closed at 0.5 s"),
    ("finger-hand", {"fingers": 1}, "`fingers` must be a whole number from 2"),
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
