"""The scenarios of fingers that touch something, with their keys."""

from hydrostat.robots.checks import check_closing_finger, check_finger
from hydrostat.scenarios.catalogue.machine_checks import check_grasp
from hydrostat.scenarios.keys import Key, Scenario

FINGERS = "fingers of two segments with the mode bend_y and a tendon on either side"
CLOSING_FINGERS = "fingers of two segments that bend, planar or to all sides, with a tendon at azimuth 0"
"""The robots that these scenarios accept."""

GRASP_SCENARIOS = (
    Scenario(
        name="finger-grasp",
        summary="the tendon closes the finger on a round object, which is pulled out and grasped again",
        robot="finger",
        accepts=FINGERS,
        check_robot=check_finger,
        live=1,
        function="hydrostat.scenarios.finger_grasp:grasp",
        check_settings=check_grasp,
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
        name="finger-hand",
        summary="fingers pinch a free ball, its support is withdrawn: it is held, slips, or drops",
        robot="finger",
        accepts=CLOSING_FINGERS,
        check_robot=check_closing_finger,
        live=1,
        function="hydrostat.scenarios.finger_hand:hold",
        keys=(
            Key("fingers", 2, "", "number of fingers, evenly around the ball", least=2, most=6),
            Key("tension_n", 40.0, "N", "tension of the tendon that closes each finger", least=0.0, most=1e4),
            Key("arc_length", 0.06, "m", "length of each of the two arcs of a finger, in place of the robot's",
                above=0.0, most=10.0),
            Key("rod_radius_mm", 1.5, "mm", "radius of the rod, in place of the robot's", above=0.0, most=1e3),
            Key("mass_g", 200.0, "g", "mass of the ball", above=0.0, most=1e5),
            Key("ball_radius_mm", 30.0, "mm", "radius of the ball", above=0.0, most=1e4),
            Key("grip_height", 0.11, "m", "how far the centre of the ball is below the clamps", above=0.0, most=20.0),
            Key("clearance_mm", 2.0, "mm", "gap between the open fingers and the ball", least=0.1, most=1e3),
            Key("friction", 0.4, "", "coefficient of friction (assumed)", least=0.0, most=10.0),
            Key("slip_speed_mm_s", 0.2, "mm/s", "speed below which friction is viscous (assumed)",
                above=0.0, most=1e4),
            Key("contact_stiffness", 5e3, "N/m", "of each node that touches (assumed)", above=0.0, most=1e9),
            Key("contact_damping", 1.0, "s/m", "of the touch, after Hunt and Crossley (assumed)",
                least=0.0, most=1e6),
            Key("close_seconds", 0.5, "s", "how long the fingers take to close", above=0.0, most=100.0),
            Key("support_until", 1.0, "s", "when the support of the ball is withdrawn", above=0.0, most=1000.0),
            Key("hold_seconds", 2.0, "s", "how long it is watched after that", above=0.0, most=1000.0),
            Key("drop", 0.3, "m", "how far below the support the ground is", above=0.0, most=100.0),
            Key("nodes", 24, "", "nodes of each arc that can touch", least=1, most=1000),
            Key("pieces", 3, "", "pieces that each arc is cut into", least=1, most=100),
            Key("dt_ms", 1.0, "ms", "time step", above=0.0, most=20.0),
        ),
    ),
    Scenario(
        name="finger-force",
        summary="the paper's contact: given forces at the contact point and at the tip bend the two arcs",
        robot="finger",
        accepts=FINGERS,
        check_robot=check_finger,
        live=1,
        function="hydrostat.scenarios.finger_force:press",
        keys=(
            Key("contact_force_n", (0.0, 1.0), "N", "x and z of the force at the contact point, where the arcs meet",
                least=-1e4, most=1e4),
            Key("tip_force_n", (0.0, 0.0), "N", "x and z of the force at the tip", least=-1e4, most=1e4),
            Key("tension_n", (20.0, 0.0), "N", "tensions of the tendons at azimuths 0 and 180", least=0.0, most=1e4),
            Key("ramp_seconds", 0.5, "s", "how long forces and tensions take to grow", above=0.0, most=100.0),
            Key("seconds", 4.0, "s", "how long it is watched", above=0.0, most=3600.0),
            Key("dt_ms", 2.0, "ms", "time step", above=0.0, most=100.0),
        ),
    ),
)  # fmt: skip
"""The scenarios in the order of `hydrostat list`."""
