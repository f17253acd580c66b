"""The paths that chains of platforms follow, with their keys."""

from hydrostat.robots.checks import check_platforms
from hydrostat.scenarios.catalogue.machine_checks import check_tracking
from hydrostat.scenarios.keys import Key, Scenario

PLATFORMS = "chains of platforms: robots with [legs]"
"""Which robots these scenarios accept."""
_TRACKING_KEYS = (
    Key("controller", "paper", "", "paper: the switching regulator, without limits; continuous: ours, within "
        "limits; decentralised: the same by agents; authors: the code that the paper's authors published, on an arm "
        "of its own", options=("paper", "continuous", "decentralised", "authors")),
    Key("dt_ms", 2.0, "ms", "control tick", above=0.0, most=100.0),
    Key("targets", 21, "", "points of the path that count as targets", least=2, most=10_000),
    Key("gamma_m", 0.05, "m", "how near the tip must come to a target", above=0.0, most=100.0),
    Key("gain", 20.0, "1/s", "of the paper's regulator", above=0.0, most=1e4),
    Key("seconds_max", 60.0, "s", "when the paper's and the authors' controllers give up", above=0.0, most=3600.0),
    Key("approach_seconds", 1.0, "s", "time to come to the path, continuous and decentralised", above=0.0, most=600.0),
    Key("seconds", 5.0, "s", "time for the path, continuous and decentralised", above=0.0, most=600.0),
    Key("tracking_gain", 100.0, "1/s", "how fast errors fade, continuous and decentralised", least=0.0, most=1e4),
    Key("orientation", "free", "", "of the tip: free; held as at rest; along the path's tangent",
        options=("free", "held", "tangent")),
    Key("favour", "rest", "", "what the arm does with its freedom: return to its rest shape; elongation rather than "
        "bends; bending rather than stretch; nothing", options=("rest", "elongation", "bending", "nothing")),
    Key("posture_gain", 1.0, "1/s", "how fast it does", least=0.0, most=1e3),
    Key("obstacle", (), "m", "a ball to keep clear of, its centre x, y, z and its radius; continuous alone",
        least=-1e4, most=1e4, most_entries=4),
    Key("obstacle_margin", 0.1, "m", "clearance to keep", least=0.0, most=100.0),
    Key("plate_speed", 15.0, "m/s", "fastest speed of a plate in the world, continuous alone", above=0.0, most=1e4),
    Key("authors_segments", 20, "", "segments of the authors' arm; theirs: 5 for the line, else 20", least=1, most=200),
    Key("authors_threshold", 0.06, "", "root mean square of position [m] and Euler angles [rad] at which the authors' "
        "controller goes on; theirs: 0.05 with 5 segments, 0.06 with 20", above=0.0, most=10.0),
    Key("authors_legs", "published", "", "which joints their legs connect: as published, where legs coincide in pairs; "
        "octahedral", options=("published", "octahedral")),
    Key("frozen_segment", 0, "", "segment that is frozen in the second run of the decentralised controller; 0: the "
        "middle one", least=0, most=1000),
    Key("message_delay_ticks", 0, "", "ticks that a message takes from agent to agent, in one more run of the "
        "decentralised controller", least=0, most=100),
    Key("message_loss_percent", 0.0, "%", "of the agents' messages that are lost, in that run", least=0.0, most=100.0),
    Key("message_noise_percent", 0.0, "%", "error of each number in them, in that run", least=0.0, most=100.0),
)  # fmt: skip


def _tracking(name: str, summary: str, function: str, *more: Key) -> Scenario:
    """A path to follow."""
    return Scenario(
        name=f"track-{name}",
        summary=summary,
        robot="stewart_arm",
        accepts=PLATFORMS,
        check_robot=check_platforms,
        function=f"hydrostat.scenarios.track:{function}",
        check_settings=check_tracking,
        keys=(*more, *_TRACKING_KEYS),
    )


TRACKING_SCENARIOS = (
    _tracking("line", "the tip of a chain of platforms follows a straight line", "line"),
    _tracking("ellipse", "the tip follows an ellipse", "ellipse"),
    _tracking("sinusoid", "the tip follows a growing sinusoid", "sinusoid"),
    _tracking("reach", "the tip reaches out, as an octopus does", "reach"),
    _tracking("fetch", "the tip fetches, from far out back to the base", "fetch"),
    _tracking("spiral", "the tip follows the spiral of the code that the paper's authors published", "spiral"),
    _tracking("file", "the tip follows your own path", "from_file",
              Key("path", "", "", "a CSV file with x, y, z [m] along the path, in the world")),
)  # fmt: skip
"""Paths of the tip, as `hydrostat list` shows them."""
