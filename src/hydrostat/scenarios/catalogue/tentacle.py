"""The scenarios of wire-driven tentacles, with their keys."""

from hydrostat.robots.checks import check_wire_driven
from hydrostat.scenarios.catalogue.machine_checks import check_knots, check_tip_target, check_vibration
from hydrostat.scenarios.keys import Key, Scenario

_WIRE_DRIVEN = "arms with bend_x, bend_y segments and three or more tendons ending at each; stepper motors"


def _angles(name: str, default: tuple[float, ...], meaning: str) -> Key:
    """An azimuth for each segment."""
    return Key(name, default, "deg", meaning, least=-360.0, most=360.0, per_segment=True)


def _bends(name: str, default: tuple[float, ...], meaning: str) -> Key:
    """A bend for each segment."""
    return Key(name, default, "deg", meaning, least=0.0, most=170.0, per_segment=True)


TENTACLE_SCENARIOS = (
    Scenario(
        name="tentacle-move",
        summary="from shape to shape by its wires in three kinds of move; pulses and G-code for the motors",
        robot="tentacle",
        accepts=_WIRE_DRIVEN,
        check_robot=check_wire_driven,
        function="hydrostat.scenarios.tentacle_move:move",
        check_settings=check_knots,
        keys=(
            Key("seconds", 6.0, "s", "duration of the move", above=0.0, most=3600.0),
            _angles("start_alpha_deg", (0.0, 60.0, -45.0), "azimuth each segment bends to, at the start"),
            _bends("start_theta_deg", (40.0, 50.0, 30.0), "bend of each segment at the start"),
            _angles("goal_alpha_deg", (110.0, -60.0, 80.0), "azimuths at the end"),
            _bends("goal_theta_deg", (60.0, 75.0, 90.0), "bends at the end"),
            Key("way", "smooth", "", "which move is recorded, replayed and turned into pulses",
                options=("stepped", "constant_speed", "smooth")),
            Key("step_rad", 0.5, "rad", "largest step of the state in the stepped move", above=0.0, most=100.0),
            Key("profile", "scurve", "", "time law of the smooth move", options=("scurve", "trapezoid")),
            Key("deceleration", 1.0, "", "largest deceleration of the smooth move over its largest acceleration",
                above=0.0, most=1.0),
            Key("speed_changes", (), "s, 1", "changes of speed on the fly in the smooth move, in pairs: a time, and "
                "the new speed over the cruising speed", least=0.0, most=3600.0),
            Key("speed_steps", 1, "", "steps of the move at constant speed", least=1, most=100_000),
            Key("compression_bound_mm", 1e-3, "mm", "virtual compression allowed in the smooth move",
                least=1e-9, most=100.0),
            Key("gcode_axes", 9, "", "axes of a motion controller, 3 for GRBL: further wires go to further files",
                least=1, most=9),
            Key("pulse_file", True, "", "whether to write every pulse's time to pulses.csv"),
        ),
    ),
    Scenario(
        name="tentacle-sweep",
        summary="azimuths turn all the way round at a constant rate, continuously and in steps of constant wire speed",
        robot="tentacle",
        accepts=_WIRE_DRIVEN,
        check_robot=check_wire_driven,
        function="hydrostat.scenarios.tentacle_sweep:sweep",
        keys=(
            Key("seconds", 12.0, "s", "duration of the sweep", above=0.0, most=3600.0),
            _angles("alpha_deg", (0.0, 0.0, 0.0), "azimuth each segment bends to, at the start"),
            _bends("theta_deg", (40.0, 50.0, 30.0), "bend of each segment, which stays"),
            Key("turn_deg", (360.0, 360.0, 360.0), "deg", "angle that the azimuth of each segment turns by",
                least=-36000.0, most=36000.0, per_segment=True),
            Key("steps", 24, "", "steps of constant wire speed", least=1, most=100_000),
            Key("ramp_up_s", 0.0, "s", "time in which the rate rises, in the continuous sweep", least=0.0, most=3600.0),
            Key("ramp_down_s", 0.0, "s", "time in which it falls at the end", least=0.0, most=3600.0),
            Key("way", "continuous", "", "which sweep is recorded, replayed and turned into pulses",
                options=("continuous", "in_steps")),
        ),
    ),
    Scenario(
        name="tentacle-shape",
        summary="the configuration for a tip pose, a helix, an S-curve and a curve from a file",
        robot="tentacle",
        accepts=_WIRE_DRIVEN,
        check_robot=check_wire_driven,
        function="hydrostat.scenarios.tentacle_shape:shape",
        check_settings=check_tip_target,
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
            Key("wire_stiffness_n", 0.0, "N", "tension per relative stretch of a wire; 0 for wires that do not stretch "
                "and drives without play", least=0.0, most=1e9),
            Key("mean_tension_n", 300.0, "N", "mean tension of the wires, where they stretch", least=0.0, most=1e5),
            Key("friction", 0.0, "", "coefficient of friction of the wires along the arm", least=0.0, most=2.0),
            Key("backlash_mm", 0.0, "mm", "play of each drive", least=0.0, most=10.0),
        ),
    ),
    Scenario(
        name="tentacle-vibration",
        summary="how much the tentacle shakes during and after a move, for three kinds of move",
        robot="tentacle",
        accepts=_WIRE_DRIVEN,
        check_robot=check_wire_driven,
        live=1,
        function="hydrostat.scenarios.tentacle_vibration:vibration",
        check_settings=check_vibration,
        keys=(
            Key("seconds", 6.0, "s", "duration of the move", above=0.0, most=600.0),
            Key("seconds_after", 2.0, "s", "how long it is watched after the move", above=0.0, most=600.0),
            _angles("start_alpha_deg", (0.0, 60.0, -45.0), "azimuth each segment bends to, at the start"),
            _bends("start_theta_deg", (40.0, 50.0, 30.0), "bend of each segment at the start"),
            _angles("goal_alpha_deg", (110.0, -60.0, 80.0), "azimuths at the end"),
            _bends("goal_theta_deg", (60.0, 75.0, 90.0), "bends at the end"),
            Key("step_rad", 0.5, "rad", "largest step of the state in the stepped move", above=0.0, most=100.0),
            Key("dt_ms", 2.0, "ms", "time step", above=0.0, most=20.0),
            Key("pieces", 8, "", "pieces that each segment is cut into, so that it can swing between its ends",
                least=1, most=40),
            Key("wire_stiffness_n", 2.0e5, "N", "tension per relative stretch of a wire (assumed: steel cable)",
                above=0.0, most=1e9),
            Key("pretension_n", 100.0, "N", "tension of every wire in the planned shape (assumed)",
                least=0.0, most=1e5),
            Key("drift_window", 0.5, "s", "width of the moving average that is taken out as the move itself",
                above=0.0, most=10.0),
            Key("camera_azimuth_deg", -90.0, "deg", "where the camera stands that watches a target at the tip "
                "(assumed)", least=-360.0, most=360.0),
        ),
    ),
)  # fmt: skip
"""The scenarios in the order of `hydrostat list`."""
