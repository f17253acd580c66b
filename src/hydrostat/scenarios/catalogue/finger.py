"""The scenarios of planar fingers and of the rod, with their keys."""

from hydrostat.robots.checks import check_bends_both_ways, check_finger, check_two_arcs
from hydrostat.scenarios.catalogue.grasps import FINGERS, GRASP_SCENARIOS
from hydrostat.scenarios.catalogue.machine_checks import check_identify
from hydrostat.scenarios.keys import Key, Scenario

_TWO_ARCS = "planar arms of two segments with the mode bend_y, in any direction; tendons and motors are left out"


def _weights(*default: float) -> Key:
    """Weights at the tip."""
    return Key("tip_masses_g", default, "g", "weights at the tip, one after another", least=0.0, most=1e6,
               most_entries=12)  # fmt: skip


FINGER_SCENARIOS = (
    Scenario(
        name="finger-release",
        summary="the clamped rod with weights at its tip is pulled up and let go; frequencies and energy",
        robot="finger",
        accepts=_TWO_ARCS,
        check_robot=check_two_arcs,
        live=1,
        function="hydrostat.scenarios.finger_release:release",
        keys=(
            _weights(0.0, 20.0, 50.0, 100.0),
            Key("pull_deg", 20.0, "deg", "where the tip is held before: angle above the clamp's axis, seen from "
                "the clamp", least=-85.0, most=85.0),
            Key("seconds", 4.0, "s", "how long it is watched", above=0.0, most=3600.0),
            Key("dt_ms", 2.0, "ms", "time step; smaller where the first vibration or a violent motion needs it",
                above=0.0, most=1000.0),
            Key("measured", "", "", "a CSV file with the time since the release [s] and, in a column for each weight "
                "whose header is its mass [g], measured heights of the tip above the clamp [m]; empty for none"),
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
    *GRASP_SCENARIOS,
    Scenario(
        name="finger-identify",
        summary="the finger's Young's modulus and friction from a recorded path of its tip, by gradients",
        robot="finger",
        accepts=FINGERS,
        check_robot=check_finger,
        function="hydrostat.scenarios.finger_identify:identify",
        check_settings=check_identify,
        keys=(
            Key("record", "", "", "a CSV file with time [s], x, z [m] of the tip; when empty, a synthetic one"),
            Key("seconds", 2.0, "s", "length of the synthetic record", above=0.05, most=100.0),
            Key("rate_hz", 100.0, "Hz", "its rate", above=0.0, most=1e4),
            Key("noise_mm", 0.5, "mm", "its noise, a standard deviation", least=0.0, most=100.0),
            Key("release_deg", (40.0, 40.0), "deg", "how far up each arc is bent before the release",
                least=-180.0, most=180.0),
            Key("guess_youngs_modulus", 0.75, "", "first guess, over the robot's value", above=0.0, most=100.0),
            Key("guess_friction", 2.0, "", "first guess, over the robot's value", above=0.0, most=1000.0),
            Key("pieces", 8, "", "pieces that each arc of the model is cut into; with 1, the two arcs of the paper",
                least=1, most=100),
            Key("dt_ms", 2.0, "ms", "time step of the model", above=0.0, most=20.0),
        ),
    ),
    Scenario(
        name="rod-abrupt",
        summary="a stiff rod is let go out of a sideways pull, with steps of 1 to 5 ms: what its energy does",
        robot="rod",
        accepts="arms whose segments have bend_x and bend_y",
        check_robot=check_bends_both_ways,
        live=1,
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
)  # fmt: skip
"""The scenarios in the order of `hydrostat list`."""
