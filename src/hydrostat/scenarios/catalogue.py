"""The scenarios that hydrostat knows by name, with their keys."""

from hydrostat.errors import InputError, listed, shown
from hydrostat.robots.checks import (
    check_bends_both_ways,
    check_finger,
    check_platforms,
    check_two_arcs,
    check_wire_driven,
)
from hydrostat.scenarios.any_catalogue import ANY_SCENARIOS
from hydrostat.scenarios.arm_catalogue import ARM_SCENARIOS
from hydrostat.scenarios.base import Key, Scenario
from hydrostat.scenarios.octopus_catalogue import OCTOPUS_SCENARIOS
from hydrostat.scenarios.squid_catalogue import SQUID_SCENARIOS

_WIRE_DRIVEN = "arms with bend_x, bend_y segments and three or more tendons ending at each; stepper motors"

_FINGERS = "fingers of two segments with the mode bend_y and a tendon on either side"

_TWO_ARCS = "planar arms of two segments with the mode bend_y, in any direction; tendons and motors are left out"


_PLATFORMS = "chains of platforms: robots with [legs]"

_TRACKING_KEYS = (
    Key("controller", "paper", "", "paper: the switching regulator, without limits; continuous: ours, within "
        "limits; decentralised: the same by agents", options=("paper", "continuous", "decentralised")),
    Key("dt_ms", 2.0, "ms", "control tick", above=0.0, most=100.0),
    Key("targets", 21, "", "points of the path that count as targets", least=2, most=10_000),
    Key("gamma_m", 0.05, "m", "how near the tip must come to a target", above=0.0, most=100.0),
    Key("gain", 20.0, "1/s", "of the paper's regulator", above=0.0, most=1e4),
    Key("seconds_max", 60.0, "s", "when the paper's controller gives up", above=0.0, most=3600.0),
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
    Key("frozen_segment", 0, "", "segment that is frozen in the second run of the decentralised controller; 0: the "
        "middle one", least=0, most=1000),
)  # fmt: skip


def _tracking(name: str, summary: str, function: str, *more: Key) -> Scenario:
    """A path to follow."""
    return Scenario(
        name=f"track-{name}",
        summary=summary,
        robot="stewart_arm",
        accepts=_PLATFORMS,
        check_robot=check_platforms,
        function=f"hydrostat.scenarios.track:{function}",
        keys=(*more, *_TRACKING_KEYS),
    )


def _weights(*default: float) -> Key:
    """Weights at the tip."""
    return Key("tip_masses_g", default, "g", "weights at the tip, one after another", least=0.0, most=1e6,
               most_entries=12)  # fmt: skip


def _angles(name: str, default: tuple[float, ...], meaning: str) -> Key:
    """An azimuth for each segment."""
    return Key(name, default, "deg", meaning, least=-360.0, most=360.0, per_segment=True)


def _bends(name: str, default: tuple[float, ...], meaning: str) -> Key:
    """A bend for each segment."""
    return Key(name, default, "deg", meaning, least=0.0, most=170.0, per_segment=True)


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario(
            name="tentacle-move",
            summary="from shape to shape by its wires in three ways; pulses and G-code for the motors",
            robot="tentacle",
            accepts=_WIRE_DRIVEN,
            check_robot=check_wire_driven,
            function="hydrostat.scenarios.tentacle_move:move",
            keys=(
                Key("seconds", 6.0, "s", "duration of the move", above=0.0, most=3600.0),
                _angles("start_alpha_deg", (0.0, 60.0, -45.0), "azimuth each segment bends to, at the start"),
                _bends("start_theta_deg", (40.0, 50.0, 30.0), "bend of each segment at the start"),
                _angles("goal_alpha_deg", (110.0, -60.0, 80.0), "azimuths at the end"),
                _bends("goal_theta_deg", (60.0, 75.0, 90.0), "bends at the end"),
                Key("way", "smooth", "", "which way is recorded, replayed and turned into pulses",
                    options=("stepped", "constant_speed", "smooth")),
                Key("step_rad", 0.5, "rad", "largest step of the state in the stepped way", above=0.0, most=100.0),
                Key("profile", "scurve", "", "time law of the smooth way", options=("scurve", "trapezoid")),
                Key("compression_bound_mm", 1e-3, "mm", "virtual compression allowed in the smooth way",
                    least=1e-9, most=100.0),
                Key("pulse_file", True, "", "whether to write every pulse's time to pulses.csv"),
            ),
        ),
        Scenario(
            name="tentacle-shape",
            summary="the configuration for a tip pose, a helix, an S-curve and a curve from a file",
            robot="tentacle",
            accepts=_WIRE_DRIVEN,
            check_robot=check_wire_driven,
            function="hydrostat.scenarios.tentacle_shape:shape",
            keys=(
                _angles("alpha_deg", (30.0, 150.0, -80.0), "azimuths of the shape that makes pose and curve"),
                _bends("theta_deg", (50.0, 60.0, 70.0), "bends of that shape"),
                Key("curve", "", "", "a CSV file with x, y, z [m] from base to tip, in the world, to fit as well"),
                Key("target", (), "m, deg", "a tip target x, y, z, or with the azimuth and the polar angle of its "
                    "direction as well", least=-1e4, most=1e4),
                Key("helix_curvature", 3.0, "1/m", "of the helix", least=0.0, most=50.0),
                Key("helix_torsion", 2.0, "1/m", "of the helix", least=-50.0, most=50.0),
                Key("scurve_curvature", 2.5, "1/m", "largest curvature of the S-curve", least=0.0, most=50.0),
            ),
        ),
        Scenario(
            name="tentacle-repeatability",
            summary="angle errors of the links after repeated moves, from wire noise and motor steps",
            robot="tentacle",
            accepts=_WIRE_DRIVEN,
            check_robot=check_wire_driven,
            function="hydrostat.scenarios.tentacle_repeatability:repeatability",
            keys=(
                Key("moves", 5000, "", "number of repeated moves", least=2, most=10_000_000),
                Key("wire_noise_mm", 0.066, "mm", "standard deviation of each wire's length at arrival "
                    "(assumed: it gives link 1 the paper's mean error)", least=0.0, most=5.0),
                _angles("alpha_deg", (0.0, 60.0, -45.0), "azimuths of the shape moved to"),
                _bends("theta_deg", (40.0, 50.0, 30.0), "its bends"),
            ),
        ),
        Scenario(
            name="tentacle-vibration",
            summary="how much the tentacle shakes during and after a move, for three ways of moving its wires",
            robot="tentacle",
            accepts=_WIRE_DRIVEN,
            check_robot=check_wire_driven,
            function="hydrostat.scenarios.tentacle_vibration:vibration",
            keys=(
                Key("seconds", 6.0, "s", "duration of the move", above=0.0, most=600.0),
                Key("seconds_after", 2.0, "s", "how long it is watched after the move", above=0.0, most=600.0),
                _angles("start_alpha_deg", (0.0, 60.0, -45.0), "azimuth each segment bends to, at the start"),
                _bends("start_theta_deg", (40.0, 50.0, 30.0), "bend of each segment at the start"),
                _angles("goal_alpha_deg", (110.0, -60.0, 80.0), "azimuths at the end"),
                _bends("goal_theta_deg", (60.0, 75.0, 90.0), "bends at the end"),
                Key("step_rad", 0.5, "rad", "largest step of the state in the stepped way", above=0.0, most=100.0),
                Key("dt_ms", 2.0, "ms", "time step", above=0.0, most=20.0),
                Key("pieces", 2, "", "pieces that each segment is cut into, so that it can swing between its ends",
                    least=1, most=20),
                Key("wire_stiffness_n", 2.0e5, "N", "tension per relative stretch of a wire (assumed: steel cable)",
                    above=0.0, most=1e9),
                Key("pretension_n", 100.0, "N", "tension of every wire in the shape wanted (assumed)",
                    least=0.0, most=1e5),
                Key("drift_window", 0.5, "s", "width of the moving average that is taken out as the move itself",
                    above=0.0, most=10.0),
            ),
        ),
        Scenario(
            name="finger-release",
            summary="the clamped rod with weights at its tip is pulled up and let go; frequencies and energy",
            robot="finger",
            accepts=_TWO_ARCS,
            check_robot=check_two_arcs,
            function="hydrostat.scenarios.finger_release:release",
            keys=(
                _weights(0.0, 20.0, 50.0, 100.0),
                Key("pull_deg", 20.0, "deg", "where the tip is held before: angle above the clamp's axis, seen from "
                    "the clamp", least=-85.0, most=85.0),
                Key("seconds", 4.0, "s", "how long it is watched", above=0.0, most=3600.0),
                Key("dt_ms", 2.0, "ms", "time step", above=0.0, most=1000.0),
            ),
        ),
        Scenario(
            name="finger-statics",
            summary="the rod sags under weights: two arcs and a refined chain against the exact rod",
            robot="finger",
            accepts=_TWO_ARCS,
            check_robot=check_two_arcs,
            function="hydrostat.scenarios.finger_statics:statics",
            keys=(
                _weights(0.0, 5.0, 10.0, 20.0, 50.0, 100.0),
                Key("pieces", 64, "", "equal pieces of each arc in the refined chain", least=1, most=256),
            ),
        ),
        Scenario(
            name="finger-convergence",
            summary="ever more arcs and modes against the exact rod: sag, first frequency, and the cost of a step",
            robot="finger",
            accepts=_TWO_ARCS,
            check_robot=check_two_arcs,
            function="hydrostat.scenarios.finger_convergence:convergence",
            keys=(
                Key("tip_mass_g", 50.0, "g", "weight at the tip", least=0.0, most=1e6),
                Key("doublings", 5, "", "how often the two arcs are doubled", least=1, most=7),
                Key("dt_ms", 2.0, "ms", "time step of the timed runs", above=0.0, most=1000.0),
            ),
        ),
        Scenario(
            name="finger-grasp",
            summary="the tendon closes the finger on a round object, which is pulled out and grasped again",
            robot="finger",
            accepts=_FINGERS,
            check_robot=check_finger,
            function="hydrostat.scenarios.finger_grasp:grasp",
            keys=(
                Key("tension_n", 70.0, "N", "tension that tendon 1 is pulled to", least=0.0, most=1e4),
                Key("lift_n", 6.0, "N", "tension of tendon 2 while the object comes back", least=0.0, most=1e4),
                Key("close_seconds", 1.0, "s", "how long it takes to close and to open", above=0.0, most=100.0),
                Key("hold_until", 1.5, "s", "when the object starts to go", above=0.0, most=1000.0),
                Key("pull_seconds", 1.0, "s", "how long the object goes, and comes back", above=0.0, most=1000.0),
                Key("pull_distance", 0.6, "m", "how far the object goes", least=1e-6, most=10.0),
                Key("pull_direction_deg", 0.0, "deg", "where to, from the world's x towards its z",
                    least=-360.0, most=360.0),
                Key("object_position", (0.22, -0.10), "m", "x and z of the object's axis", least=-10.0, most=10.0),
                Key("object_radius", 0.08, "m", "of the object", above=0.0, most=10.0),
                Key("friction", 0.3, "", "coefficient of friction (assumed)", least=0.0, most=10.0),
                Key("slip_speed_mm_s", 5.0, "mm/s", "speed below which friction is viscous (assumed)",
                    above=0.0, most=1e4),
                Key("contact_stiffness", 5e3, "N/m", "of each node that touches (assumed)", above=0.0, most=1e9),
                Key("contact_damping", 1.0, "s/m", "of the touch, after Hunt and Crossley (assumed)",
                    least=0.0, most=1e6),
                Key("nodes", 24, "", "nodes of each arc that can touch", least=1, most=1000),
                Key("pieces", 4, "", "pieces that each arc is cut into", least=1, most=100),
                Key("dt_ms", 1.0, "ms", "time step", above=0.0, most=20.0),
            ),
        ),
        Scenario(
            name="finger-identify",
            summary="the finger's Young's modulus and friction from a recorded path of its tip, by gradients",
            robot="finger",
            accepts=_FINGERS,
            check_robot=check_finger,
            function="hydrostat.scenarios.finger_identify:identify",
            keys=(
                Key("record", "", "", "a CSV file with time [s], x, z [m] of the tip; when empty, a synthetic one"),
                Key("seconds", 2.0, "s", "length of the synthetic record", above=0.05, most=100.0),
                Key("rate_hz", 100.0, "Hz", "its rate", above=0.0, most=1e4),
                Key("noise_mm", 0.5, "mm", "its noise, a standard deviation", least=0.0, most=100.0),
                Key("release_deg", (40.0, 40.0), "deg", "how far up each arc is bent before the release",
                    least=-180.0, most=180.0),
                Key("guess_youngs_modulus", 0.75, "", "first guess, over the robot's value", above=0.0, most=100.0),
                Key("guess_friction", 2.0, "", "first guess, over the robot's value", above=0.0, most=1000.0),
                Key("dt_ms", 2.0, "ms", "time step of the model", above=0.0, most=20.0),
            ),
        ),
        Scenario(
            name="rod-abrupt",
            summary="a stiff rod is let go out of a sideways pull, with steps of 1 to 5 ms: what its energy does",
            robot="rod",
            accepts="arms whose segments have bend_x and bend_y",
            check_robot=check_bends_both_ways,
            function="hydrostat.scenarios.rod_abrupt:abrupt",
            keys=(
                Key("pull_n", (0.0, 1.0, 0.5), "N", "force on the tip that holds the rod until it is let go, in the "
                    "world: sideways and up", least=-1e4, most=1e4),
                Key("seconds", 2.0, "s", "how long it is watched", above=0.0, most=600.0),
                Key("dt_ms", (1.0, 2.0, 5.0), "ms", "time steps, each without and with damping", above=0.0, most=1e3),
                Key("damping_time_ms", 1.0, "ms", "ratio of the material's viscosity to its stiffness, where damped",
                    above=0.0, most=1e6),
            ),
        ),
        _tracking("line", "the tip of a chain of platforms follows a straight line", "line"),
        _tracking("ellipse", "the tip follows an ellipse", "ellipse"),
        _tracking("sinusoid", "the tip follows a growing sinusoid", "sinusoid"),
        _tracking("reach", "the tip reaches out, as an octopus does", "reach"),
        _tracking("fetch", "the tip fetches, from far out back to the base", "fetch"),
        _tracking("file", "the tip follows your own path", "from_file",
                  Key("path", "", "", "a CSV file with x, y, z [m] along the path, in the world")),
        *ARM_SCENARIOS,
        *OCTOPUS_SCENARIOS,
        Scenario(
            name="track-dynamics",
            summary="the same arm with its masses: leg forces that track under gravity, with an unknown payload",
            robot="stewart_arm",
            accepts=_PLATFORMS,
            check_robot=check_platforms,
            function="hydrostat.scenarios.track_dynamics:dynamics",
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
            name="track-segments",
            summary="the paper's tracking by arms of 5 to 40 segments: how well, how bent, and the cost of a tick",
            robot="stewart_arm",
            accepts=_PLATFORMS,
            check_robot=check_platforms,
            function="hydrostat.scenarios.track_segments:study",
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
            accepts=_PLATFORMS,
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
        *SQUID_SCENARIOS,
        *ANY_SCENARIOS,
    )
}  # fmt: skip
"""All scenarios that `hydrostat run` knows, by name."""


def find_scenario(name: str) -> Scenario:
    """The scenario of a name."""
    if name not in SCENARIOS:
        raise InputError(f"scenario must be one of {listed(SCENARIOS)}; got {shown(name)}")
    return SCENARIOS[name]
