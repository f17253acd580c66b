"""The scenarios of the squid, with their keys."""

from hydrostat.robots.checks import check_limbs_of_arcs, check_squid, check_squid_vehicle
from hydrostat.scenarios.catalogue.animal_checks import check_press, check_swum_waypoints, check_twin
from hydrostat.scenarios.keys import Key, Scenario

_LIMBS_OF_ARCS = "robots with limbs on a body, whose segments have the modes bend_x, bend_y and stretch"

_WATER = (
    Key("current_m_s", 0.2, "m/s", "speed of the water", least=0.0, most=2.0),
    Key("current_deg", 90.0, "deg", "where the water goes, from the world's x towards its y", least=-360.0, most=360.0),
)
_VEHICLE = (
    Key("jet", True, "", "whether the jet may help the fins"),
    Key("noise", 0.0, "", "noise of the sensors over that which is assumed for them", least=0.0, most=20.0),
    Key("dt_ms", 5.0, "ms", "time step, and control tick", above=0.0, most=20.0),
)

SQUID_SCENARIOS = (
    Scenario(
        name="squid-verify",
        summary="soft limbs as chains of rigid RRP sections against their arcs: exact, as printed, in MuJoCo",
        robot="squid",
        accepts=_LIMBS_OF_ARCS,
        check_robot=check_limbs_of_arcs,
        limbed=True,
        function="hydrostat.scenarios.squid_verify:verify",
        keys=(
            Key("most_sections", 50, "", "most sections of a segment, from 1 on", least=1, most=500),
            Key("bends", 7, "", "bends of the grid, from one side to the other", least=2, most=101),
            Key("mujoco_sections", 10, "", "sections of a segment in MuJoCo", least=1, most=40),
        ),
    ),
    Scenario(
        name="squid-twin-dynamics",
        summary="a limb let go from a bent pose, in air and in water, beside its exported twin in MuJoCo",
        robot="squid",
        accepts="robots with limbs on a body, whose segments have the modes bend_x, bend_y and stretch",
        check_robot=check_limbs_of_arcs,
        limbed=True,
        function="hydrostat.scenarios.squid_twin_dynamics:twin_dynamics",
        check_settings=check_twin,
        keys=(
            Key("limb", "camera", "", "which limb"),
            Key("mount", "squid", "", "where the limb points: as on the robot; straight down; straight up",
                options=("squid", "down", "up")),
            Key("bend_deg", 90.0, "deg", "even bend of the whole limb at the start", least=0.0, most=360.0),
            Key("azimuth_deg", 180.0, "deg", "where it is bent to, of the squid's limbs 0: down, 180: up",
                least=-360.0, most=360.0),
            Key("sections", 40, "", "of the whole limb, here and in MuJoCo", least=1, most=80),
            Key("seconds", 2.0, "s", "of each motion", above=0.0, most=60.0),
            Key("dt_ms", 1.0, "ms", "our step", above=0.0, most=10.0),
            Key("twin_dt_ms", 0.1, "ms", "MuJoCo's step, of a method of first order; 0: that of the exported file",
                least=0.0, most=10.0),
            Key("added_mass", 1.0, "", "of our water, over the mass of the water displaced", least=0.0, most=10.0),
        ),
    ),
    Scenario(
        name="squid-poses",
        summary="the paper's named poses of all four limbs, drawn by MuJoCo from the exported robot",
        robot="squid",
        accepts=_LIMBS_OF_ARCS,
        check_robot=check_limbs_of_arcs,
        limbed=True,
        function="hydrostat.scenarios.squid_poses:poses",
        keys=(
            Key("sections", 24, "", "sections of a segment in MuJoCo", least=1, most=40),
        ),
    ),
    Scenario(
        name="squid-reach",
        summary="in the sea, by tendons: the grasper wraps a bar, one arm presses, one observes, one shines there",
        robot="squid",
        accepts="the squid",
        check_robot=check_squid,
        limbed=True,
        function="hydrostat.scenarios.squid_reach:reach",
        check_settings=check_press,
        keys=(
            Key("press_n", 0.1, "N", "force that the palpation arm presses with", above=0.0, most=10.0),
            Key("pretension_n", 0.5, "N", "of each of its tendons, to be let go", least=0.1, most=2.0),
            Key("grip_n", 4.5, "N", "tension of the tendon that wraps the grasper", least=0.1, most=15.0),
            Key("softer_percent", 5.0, "%", "how much softer the limbs are than the controller knows; negative: "
                "stiffer", least=-50.0, most=50.0),
            Key("friction", 0.6, "", "coefficient of friction (assumed)", least=0.0, most=10.0),
            Key("contact_stiffness", 2e3, "N/m", "of each node that touches (assumed)", above=0.0, most=1e9),
            Key("seconds", 16.0, "s", "how long it lasts", least=11.0, most=600.0),
            Key("pieces", 4, "", "pieces that each segment is cut into", least=2, most=20),
            Key("dt_ms", 2.0, "ms", "time step, and control tick", above=0.0, most=20.0),
        ),
    ),
    Scenario(
        name="squid-swim",
        summary="the squid swims from waypoint to waypoint in a current, by its fins and its jet",
        robot="squid_vehicle",
        accepts="the squid as a vehicle",
        check_robot=check_squid_vehicle,
        limbed=True,
        function="hydrostat.scenarios.squid_swim:swim",
        check_settings=check_swum_waypoints,
        keys=(
            Key("waypoints_m", (3.0, 0.0, 0.0, 3.0, 3.0, -0.5, 0.0, 3.0, -0.5, -1.0, 3.0, 0.0), "m",
                "points to pass, three coordinates each; the first leg begins 0.48 m behind the world's origin",
                least=-1e3, most=1e3, most_entries=300),
            Key("speed_m_s", 0.12, "m/s", "over ground", above=0.0, most=1.0),
            *_WATER,
            Key("seconds", 115.0, "s", "how long it lasts", above=0.0, most=3600.0),
            *_VEHICLE,
        ),
    ),
    Scenario(
        name="squid-station",
        summary="the squid holds its place by its fins while something pulls at its grasper",
        robot="squid_vehicle",
        accepts="the squid as a vehicle",
        check_robot=check_squid_vehicle,
        limbed=True,
        function="hydrostat.scenarios.squid_station:station",
        keys=(
            Key("pull_n", 5.0, "N", "force at the grasper's tip", least=0.0, most=50.0),
            Key("pull_deg", 0.0, "deg", "where it pulls, from the world's x, which is ahead, towards its y",
                least=-360.0, most=360.0),
            Key("pull_down_deg", 0.0, "deg", "by how much it pulls down", least=-90.0, most=90.0),
            Key("rise_s", 2.0, "s", "in which the pull grows", above=0.0, most=60.0),
            Key("current_m_s", 0.0, "m/s", "speed of the water", least=0.0, most=2.0),
            Key("current_deg", 180.0, "deg", "where the water goes, from the world's x towards its y", least=-360.0,
                most=360.0),
            Key("seconds", 30.0, "s", "how long it lasts", least=10.0, most=3600.0),
            *_VEHICLE,
        ),
    ),
)  # fmt: skip
