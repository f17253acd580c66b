"""The scenarios of the squid that swims, with their keys."""

from hydrostat.robots.checks import check_squid_vehicle
from hydrostat.scenarios.catalogue.squid_checks import check_swum_waypoints
from hydrostat.scenarios.keys import Key, Scenario

_WATER = (
    Key("current_m_s", 0.2, "m/s", "speed of the water", least=0.0, most=2.0),
    Key("current_deg", 90.0, "deg", "where the water goes, from the world's x towards its y", least=-360.0, most=360.0),
)
_VEHICLE = (
    Key("jet", True, "", "whether the jet may help the fins"),
    Key("noise", 0.0, "", "noise of the sensors over that which is assumed for them", least=0.0, most=20.0),
    Key("dt_ms", 5.0, "ms", "time step, and control tick", above=0.0, most=20.0),
)

VEHICLE_SCENARIOS = (
    Scenario(
        name="squid-swim",
        summary="the squid swims from waypoint to waypoint in a current, by its fins and its jet",
        robot="squid_vehicle",
        accepts="the squid as a vehicle",
        check_robot=check_squid_vehicle,
        limbed=True,
        function="hydrostat.scenarios.squid_swim:swim",
        live=1,
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
        live=1,
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
    Scenario(
        name="squid-anchor",
        summary="the squid hooks a bar with its grasper and stays there in a current with its drives off",
        robot="squid_vehicle",
        accepts="the squid as a vehicle",
        check_robot=check_squid_vehicle,
        limbed=True,
        function="hydrostat.scenarios.squid_anchor:anchor",
        live=1,
        keys=(
            Key("current_m_s", 0.2, "m/s", "speed of the water", least=0.0, most=2.0),
            Key("current_deg", 180.0, "deg", "where the water goes, from the world's x, which is ahead, towards its y",
                least=-360.0, most=360.0),
            Key("lift_percent", 0.0, "%", "buoyancy of the squid above its weight; 1 without ballast", least=-5.0,
                most=5.0),
            Key("grip_n", 8.0, "N", "tension of the tendon that hooks the grasper", least=0.0, most=15.0),
            Key("bar_ahead_mm", 400.0, "mm", "place of the bar before the bow when it is hooked", least=300.0,
                most=500.0),
            Key("bar_mm", 20.0, "mm", "radius of the bar", least=10.0, most=60.0),
            Key("friction", 0.6, "", "coefficient of friction (assumed)", least=0.0, most=10.0),
            Key("off_s", 25.0, "s", "when fins and jet stop", least=22.0, most=600.0),
            Key("seconds", 90.0, "s", "how long it lasts", least=30.0, most=3600.0),
            Key("pieces", 4, "", "pieces that each segment of the grasper is cut into", least=2, most=20),
            Key("noise", 0.0, "", "noise of the sensors over that which is assumed for them", least=0.0, most=20.0),
            Key("dt_ms", 5.0, "ms", "time step, and control tick", above=0.0, most=20.0),
        ),
    ),
)  # fmt: skip
