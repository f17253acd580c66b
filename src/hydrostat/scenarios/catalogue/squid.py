"""The scenarios of the squid, with their keys."""

from hydrostat.robots.checks import check_limbs_of_arcs, check_squid
from hydrostat.scenarios.catalogue.squid_checks import check_press, check_twin
from hydrostat.scenarios.keys import Key, Scenario

_LIMBS_OF_ARCS = "robots with limbs on a body, whose segments have the modes bend_x, bend_y and stretch"

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
        live=1,
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
            Key("scenes", 0, "", "drawn scenes: places and sizes of bar, obstacles and wall; 0: the standard one",
                least=0, most=100),
            Key("press_n", 0.1, "N", "force that the palpation arm presses with", above=0.0, most=10.0),
            Key("pretension_n", 0.5, "N", "of each of its tendons, to be let go", least=0.1, most=2.0),
            Key("wrap_deg", 120.0, "deg", "angle of the bar that the grasper is to wrap", least=30.0, most=200.0),
            Key("softer_percent", 5.0, "%", "how much softer the limbs are than the controller knows; negative: "
                "stiffer", least=-50.0, most=50.0),
            Key("friction", 0.6, "", "coefficient of friction (assumed)", least=0.0, most=10.0),
            Key("contact_stiffness", 2e3, "N/m", "of each node that touches (assumed)", above=0.0, most=1e9),
            Key("seconds", 16.0, "s", "how long it lasts", least=11.0, most=600.0),
            Key("pieces", 4, "", "pieces that each segment is cut into", least=2, most=20),
            Key("dt_ms", 2.0, "ms", "time step, and control tick", above=0.0, most=20.0),
        ),
    ),
)  # fmt: skip
