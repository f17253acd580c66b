"""The octopus crawls by its suckers, swims by its arms, and brings prey to its mouth."""

import json
import os
import subprocess
import sys

import pytest

from hydrostat.errors import InputError
from hydrostat.robots.catalogue import find_robot
from hydrostat.scenarios.catalogue import find_scenario


def command(scenario, tmp_path, *options):
    """A process of its own, as a user's: shapes are not checked there, and it is compiled to run fast."""
    line = [sys.executable, "-m", "hydrostat.cli", "run", scenario, "--json", "--no-figures", "--out", str(tmp_path)]
    line += [word for option in options for word in ("--set", option)]
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    return subprocess.run(line, capture_output=True, text=True, timeout=1800, check=False, env=environment)


@pytest.fixture
def run(tmp_path):
    """The metrics of a scenario."""

    def run(scenario, *options):
        done = command(scenario, tmp_path, *options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["metrics"]

    return run


@pytest.mark.slow
@pytest.mark.parametrize("direction", [10.0, 22.5])
def test_crawls_where_it_is_told(run, direction):
    # At 5 ms a tip of 0.5 mm that drops is deeper in the ground in one row of the second.
    metrics = run("octopus-crawl", "gait=push", f"direction_deg={direction}", "dt_ms=2.5")
    assert metrics["advance_per_stroke_mm"] >= 30.0
    assert abs(metrics["advance_without_suckers_mm"]) <= 5.0
    assert metrics["heading_error_deg"] <= 5.0
    assert metrics["penetration_max_radii"] <= 0.2


@pytest.mark.slow
def test_crawls_the_papers_way_by_its_suckers(run):
    metrics = run("octopus-crawl", "gait=bend", "closed_loop=false")
    assert metrics["advance_per_stroke_mm"] >= 15.0
    assert metrics["advance_per_stroke_mm"] >= 1.2 * metrics["advance_without_suckers_mm"]


@pytest.mark.slow
def test_without_two_of_the_three_arms_behind_it_goes_half_as_far(run):
    whole, without = run("octopus-crawl", "gait=push"), run("octopus-crawl", "gait=push", "lost_arms=[4,5]")
    assert without["advance_per_stroke_mm"] >= 0.5 * whole["advance_per_stroke_mm"]


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["lost_arms=[4,5,6]", "failed_suckers=[4,5,6]"])
@pytest.mark.parametrize("gait", ["alternate", "push"])
def test_without_the_arms_behind_those_ahead_pull(run, fault, gait):
    metrics = run("octopus-crawl", fault, f"gait={gait}")
    assert metrics["advance_per_stroke_mm"] >= 15.0
    assert metrics["heading_error_deg"] <= 15.0
    if gait == "push":
        assert metrics["gait_changed_at_stroke"] is not None


@pytest.mark.slow
@pytest.mark.parametrize("direction", [35.0, 100.0])
@pytest.mark.parametrize("added_mass", ["true", "false"])
def test_without_the_arms_behind_it_goes_other_ways_and_with_the_water_that_arms_carry(run, direction, added_mass):
    metrics = run("octopus-crawl", "lost_arms=[4,5,6]", f"direction_deg={direction}", f"added_mass={added_mass}")
    assert metrics["advance_per_stroke_mm"] >= 15.0
    assert metrics["heading_error_deg"] <= 15.0


@pytest.mark.slow
@pytest.mark.parametrize("step", ["5", "2.5"])
@pytest.mark.parametrize("direction", ["0", "22.5", "37", "90"])
def test_crawls_by_the_suckers_of_the_paper(run, direction, step):
    settings = ("gait=outer", "strokes=6", "muscle_noise_percent=5", "added_mass=true", f"dt_ms={step}")
    metrics = run("octopus-crawl", *settings, f"direction_deg={direction}")
    assert metrics["advance_per_stroke_mm"] >= 20.0
    assert metrics["advance_without_suckers_mm"] <= 5.0
    assert metrics["heading_error_deg"] <= 15.0


@pytest.mark.slow
def test_a_brain_that_sends_messages_crawls_as_one_that_drives_all_muscles(run):
    whole, parts = run("octopus-crawl"), run("octopus-crawl", "hierarchy=true")
    # Suckers let go a step of 5 ms earlier at a hand-over, while the body moves at 50 mm/s: 0.25 mm, of seven of them.
    assert parts["advance_per_stroke_mm"] == pytest.approx(whole["advance_per_stroke_mm"], abs=7 * 0.25 / 4)
    assert parts["heading_error_deg"] == pytest.approx(whole["heading_error_deg"], abs=1.0)
    assert "messages" not in whole
    # To lie down, and two for each of four strokes.
    assert parts["messages"] == 8 * (1 + 2 * 4)
    assert parts["repeats"] == parts["lost_messages"] == parts["lost_reports"] == 0
    assert parts["numbers_per_stroke"] < 1e-3 * parts["numbers_per_stroke_without_arms"]


@pytest.mark.slow
@pytest.mark.parametrize("nerves", ["message_loss=0.3", "nerve_delay_ms=100"])
def test_crawls_by_messages_that_are_late_or_lost(run, nerves):
    metrics = run("octopus-crawl", "hierarchy=true", nerves)
    assert metrics["advance_per_stroke_mm"] >= 25.0
    assert metrics["heading_error_deg"] <= 10.0
    assert (metrics["lost_messages"] > 0) == nerves.startswith("message_loss")


@pytest.mark.slow
def test_crawls_against_a_current(run):
    metrics = run("octopus-crawl", "current_m_s=0.1")
    assert metrics["advance_per_stroke_mm"] >= 20.0
    assert metrics["advance_without_suckers_mm"] < -20.0


@pytest.mark.slow
def test_walks_round_a_corner_with_muscles_of_wrong_gains(run):
    metrics = run("octopus-walk-path", "side_m=0.3", "muscle_noise_percent=5.0")
    assert metrics["arrived"]
    assert metrics["path_error_max_mm"] <= 40.0
    assert metrics["penetration_max_radii"] <= 0.2


@pytest.mark.slow
@pytest.mark.parametrize(("turn", "noise"), [(60.0, 0.0), (-60.0, 5.0)])
def test_turns_on_the_spot(run, turn, noise):
    metrics = run("octopus-turn", f"turn_deg={turn}", f"muscle_noise_percent={noise}")
    assert metrics["turn_error_deg"] <= 4.0
    assert metrics["drift_max_mm"] <= 20.0
    assert metrics["penetration_max_radii"] <= 0.2


@pytest.mark.slow
def test_stands_in_a_current_by_its_suckers(run):
    metrics = run("octopus-stand", "seconds=3.0")
    assert metrics["drift_max_mm"] <= 10.0
    assert metrics["drift_without_suckers_mm"] >= 100.0
    assert metrics["penetration_max_radii"] <= 0.2


@pytest.mark.slow
def test_swims_upright_and_turns_where_it_is_told(run):
    metrics = run("octopus-swim", "muscle_noise_percent=5.0")
    assert metrics["weight_in_water_mn"] == pytest.approx(47.5, abs=0.1)
    assert metrics["speed_body_lengths_s"] >= 0.1
    assert metrics["tilt_max_deg"] <= 5.0
    assert metrics["depth_error_max_mm"] <= 50.0
    assert metrics["course_speed_mm_s"] >= 50.0
    assert metrics["turn_s"] is not None


@pytest.mark.slow
def test_swims_with_the_water_that_arms_carry(run):
    metrics = run("octopus-swim", "muscle_noise_percent=5.0", "momentum=true")
    assert metrics["speed_body_lengths_s"] >= 0.1
    assert metrics["tilt_max_deg"] <= 5.0
    assert metrics["depth_error_max_mm"] <= 50.0
    assert metrics["momentum_error"] <= 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(("lost", "noise"), [([4, 5, 6], 0.0), ([1, 2, 3], 5.0)])
def test_swims_upright_without_three_neighbouring_arms(run, lost, noise):
    metrics = run("octopus-swim", f"lost_arms={lost}", f"muscle_noise_percent={noise}")
    assert metrics["tilt_max_deg"] <= 10.0
    assert metrics["speed_body_lengths_s"] >= 0.1


@pytest.mark.slow
def test_thrust_comes_from_closing_faster_than_opening(run):
    metrics = run("octopus-tethered")
    assert metrics["thrust_mn"] > 0.0
    assert abs(metrics["thrust_at_one_share"]) < 0.1
    assert -1.2 <= metrics["thrust_at_inverse_share"] <= -0.6


@pytest.mark.slow
def test_momentum_stays_where_nothing_is_around(run):
    metrics = run("octopus-float", "seconds=1.0")
    assert metrics["momentum_error"] <= 1e-10
    assert metrics["momentum_error_uncorrected"] > 1e-8  # what is corrected is not nothing
    assert metrics["angular_momentum_error"] <= 1e-10
    assert metrics["body_way_max_mm"] > 1.0  # it is pushed about


@pytest.mark.slow
def test_prey_is_found_taken_and_brought(run):
    metrics = run("octopus-forage", "placements=2", "distance_m=[0.3, 0.35]")
    assert metrics["taken_rate"] == 1.0
    assert metrics["delivered_rate"] >= 0.5  # of two; one in ten may fail
    assert min(metrics["mouth_distance_mm"]) <= 1.0
    # Five arms bear the body when it is raised, and the body lies on its prey.
    assert metrics["penetration_max_radii"] <= 0.35
    assert 0.0 < metrics["overlap_max_radii"] <= 0.3


@pytest.mark.slow
def test_escapes_by_jets(run):
    metrics = run("octopus-jet", "bursts=2")
    assert metrics["escape_mm"] >= 200.0
    assert metrics["without_jet_mm"] < 0.0  # its weight makes it sink
    assert metrics["impulse_n_s"] == pytest.approx(2 * 1022.0 * (40e-6 / 0.25) ** 2 / 60e-6 * 0.25, rel=0.05)


def test_bad_input_is_one_line(tmp_path):
    done = command("octopus-crawl", tmp_path, "lost_arms=[1,2,3,4,5,6,7,8]")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "lost_arms" in done.stderr


@pytest.mark.parametrize(
    ("scenario", "target", "message"),
    [
        ("octopus-forage", [300.0, 0.0, 5.0], "`target_mm` must be x, y, of several targets one after another; got 3"),
        ("octopus-forage", [100.0, 0.0], "prey 1 of `target_mm` is out of reach: it must lie 200 to 10000 mm"),
        ("octopus-forage", [400.0, 0.0, 3e4, 0.0], "prey 2 of `target_mm` is out of reach"),
        ("arm-reach-target", [1.0, 2.0], "`target_mm` must be x, y, z, of several targets one after another; got 2"),
        ("arm-reach-target", [400.0, 0.0, 0.0], "must be 24 to 360 mm from the arm's base; got 400 mm"),
        ("arm-reach-target", [100.0, 0.0, 0.0, -50.0, 0.0, 100.0], "target 2 .* before the arm's base; it is 50 mm"),
    ],
)
def test_targets_out_of_reach_are_refused_in_a_line(scenario, target, message):
    chosen = find_scenario(scenario)
    with pytest.raises(InputError, match=message) as error:
        chosen.settings({"target_mm": target}, find_robot(chosen.robot))
    assert "\n" not in str(error.value)


def test_a_last_mass_of_nothing_is_refused():
    chosen = find_scenario("octopus-forage")
    with pytest.raises(InputError, match=r"`prey_to_g` must be 0 or above 0\.01 g; got 0\.001"):
        chosen.settings({"prey_to_g": 0.001}, find_robot(chosen.robot))


@pytest.mark.slow
def test_prey_of_one_to_fifty_grams_is_delivered_by_muscles_of_wrong_gains(run):
    metrics = run("octopus-forage", "placements=3", "prey_g=1", "prey_to_g=50", "muscle_noise_percent=10")
    assert metrics["prey_g"] == pytest.approx([50.0 ** (1.0 / 6.0), 50.0**0.5, 50.0 ** (5.0 / 6.0)])
    assert metrics["delivered_rate"] >= 0.6  # of three; one in ten may fail


@pytest.mark.slow
def test_prey_that_flees_is_caught_up_with_and_delivered(run):
    metrics = run("octopus-forage", "placements=2", "prey_flees_mm_s=5")
    assert min(metrics["prey_drift_mm"]) > 20.0
    assert metrics["delivered_rate"] == 1.0


@pytest.mark.slow
def test_forages_where_the_user_says(run):
    metrics = run("octopus-forage", "target_mm=[300, 80]")
    assert len(metrics["mouth_distance_mm"]) == 1
    assert metrics["taken_rate"] == 1.0


def test_other_robots_are_refused():
    with pytest.raises(InputError, match="muscular"):
        find_scenario("octopus-crawl").check(find_robot("squid"))
    with pytest.raises(InputError, match="limbs on a body"):
        find_scenario("octopus-crawl").check(find_robot("octopus_arm"))


def test_no_key_is_named_twice():
    from hydrostat.scenarios import SCENARIOS

    for scenario in SCENARIOS.values():
        names = [key.name for key in scenario.keys]
        assert len(names) == len(set(names)), scenario.name
