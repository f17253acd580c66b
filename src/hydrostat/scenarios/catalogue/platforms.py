"""The scenarios of chains of platforms, with their keys."""

from hydrostat.robots.checks import check_platforms
from hydrostat.scenarios.catalogue.machine_checks import check_counts, check_dynamics
from hydrostat.scenarios.catalogue.tracking import PLATFORMS
from hydrostat.scenarios.keys import Key, Scenario

PLATFORM_SCENARIOS = (
    Scenario(
        name="track-dynamics",
        summary="the same arm with its masses: leg forces that track under gravity, with an unknown payload",
        robot="stewart_arm",
        accepts=PLATFORMS,
        check_robot=check_platforms,
        live=1,
        function="hydrostat.scenarios.track_dynamics:dynamics",
        check_settings=check_dynamics,
        keys=(
            Key("path", "ellipse", "", "one of the paper's paths",
                options=("line", "ellipse", "sinusoid", "reach", "fetch")),
            Key("file", "", "", "a CSV file with x, y, z [m] along another path, in its place"),
            Key("payload_kg", 5.0, "kg", "what hangs at the tip; the controller is not told", least=0.0, most=1e4),
            Key("gravity", True, "", "whether things have weight"),
            Key("approach_seconds", 5.0, "s", "time to come to the path", above=0.0, most=600.0),
            Key("seconds", 10.0, "s", "time for the path", above=0.0, most=600.0),
            Key("bandwidth", 60.0, "rad/s", "how fast errors fade", above=0.0, most=1e4),
            Key("learning_ms", 20.0, "ms", "how fast the payload is learnt; 0: not at all", least=0.0, most=1e6),
            Key("dt_ms", 2.0, "ms", "time step, and control tick", above=0.0, most=100.0),
        ),
    ),
    Scenario(
        name="track-regulate",
        summary="the regulator alone: the tip goes to one target from any shape, and its error decays",
        robot="stewart_arm",
        accepts=PLATFORMS,
        check_robot=check_platforms,
        function="hydrostat.scenarios.track_regulate:regulate",
        keys=(
            Key("controller", "paper", "", "paper: without limits; continuous: ours, within limits",
                options=("paper", "continuous")),
            Key("target", (1.5, 1.0, 4.0), "m", "where the tip is to go: x, y, z", least=-1e4, most=1e4,
                most_entries=3),
            Key("gain", 20.0, "1/s", "of the regulator: the error decays as exp(- gain t)", above=0.0, most=1e4),
            Key("seconds", 1.0, "s", "how long", above=0.0, most=600.0),
            Key("reached_m", 0.05, "m", "how near the tip must come for the target to count as reached", above=0.0,
                most=100.0),
            Key("start_bend_deg", 90.0, "deg", "bend of the whole arm at the start", least=0.0, most=720.0),
            Key("start_azimuth_deg", 200.0, "deg", "where it bends to", least=-360.0, most=360.0),
            Key("start_twist_deg", 60.0, "deg", "twist of the whole arm at the start", least=-1440.0, most=1440.0),
            Key("start_stretch", 1.0, "", "length at the start over that at rest", least=0.3, most=3.0),
            Key("start_noise_deg", 0.0, "deg", "largest rotation of each segment from that shape, at random by --seed",
                least=0.0, most=60.0),
            Key("dt_ms", 2.0, "ms", "control tick", above=0.0, most=100.0),
        ),
    ),
    Scenario(
        name="track-segments",
        summary="the paper's tracking by arms of 5 to 40 segments: how well, how bent, and the cost of a tick",
        robot="stewart_arm",
        accepts=PLATFORMS,
        check_robot=check_platforms,
        function="hydrostat.scenarios.track_segments:study",
        check_settings=check_counts,
        keys=(
            Key("path", "ellipse", "", "one of the paper's paths",
                options=("line", "ellipse", "sinusoid", "reach", "fetch")),
            Key("segments", (5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0), "", "numbers of segments, whole",
                least=1.0, most=200.0, most_entries=20),
            Key("dt_ms", 2.0, "ms", "control tick", above=0.0, most=100.0),
            Key("targets", 21, "", "targets on the path", least=2, most=10_000),
            Key("gamma_m", 0.05, "m", "how near the tip must come to a target", above=0.0, most=100.0),
            Key("gain", 20.0, "1/s", "of the paper's regulator", above=0.0, most=1e4),
            Key("seconds_max", 60.0, "s", "when the paper's controller gives up", above=0.0, most=3600.0),
        ),
    ),
    Scenario(
        name="stewart-motions",
        summary="elongate, shorten, bend and twist, each alone, by the lengths of the legs",
        robot="stewart_arm",
        accepts=PLATFORMS,
        check_robot=check_platforms,
        function="hydrostat.scenarios.stewart_motions:motions",
        keys=(
            Key("seconds", 2.0, "s", "of each motion, there and back", above=0.0, most=600.0),
            Key("elongate_percent", 50.0, "%", "how much longer", least=0.0, most=150.0),
            Key("shorten_percent", 30.0, "%", "how much shorter", least=0.0, most=70.0),
            Key("bend_deg", 120.0, "deg", "of the whole arm", least=0.0, most=720.0),
            Key("bend_azimuth_deg", 30.0, "deg", "where it bends to", least=-360.0, most=360.0),
            Key("twist_deg", 180.0, "deg", "of the whole arm", least=-1440.0, most=1440.0),
        ),
    ),
)  # fmt: skip
"""The others, as `hydrostat list` shows them."""
