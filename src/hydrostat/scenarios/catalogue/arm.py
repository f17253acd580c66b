"""The scenarios of muscular arms, with their keys."""

from hydrostat.robots.checks import check_hydrostat, check_oblique
from hydrostat.robots.specs.octopus_arm import BULK_MODULUS
from hydrostat.scenarios.catalogue.animal_checks import (
    check_bend,
    check_fetch,
    check_muscle_law,
    check_reach_target,
    check_throw,
)
from hydrostat.scenarios.catalogue.fatigue import FATIGUE_KEYS
from hydrostat.scenarios.keys import Key, Scenario
from hydrostat.scenarios.own_targets import ARM_TARGETS

_HYDROSTATS = "muscular arms: robots with [muscles]"
_OBLIQUE = "muscular arms with oblique muscles: robots with [muscles] and `oblique_deg` above 0"

_ARM_KEYS = (
    Key("drag", True, "", "whether water resists; buoyancy stays"),
    Key("added_mass", True, "", "whether the water that is pushed aside adds to the mass of what moves"),
    Key("volume", "exact", "", "how the arm keeps its volume: exact, the radius follows the stretch; pressure, the "
        "radius moves by itself against the bulk modulus", options=("exact", "pressure")),
    Key("bulk_modulus", BULK_MODULUS, "Pa", "of the tissue, for volume=pressure (assumed)", least=1e6, most=1e10),
    Key("muscle_law", "own", "", "what the muscles are: own, those of the robot; paper, the pistons, springs and "
        "dampers of Kang et al.", options=("own", "paper")),
    *FATIGUE_KEYS,
)  # fmt: skip


_LOAD_KEYS = (
    Key("load_density", 1100.0, "kg/m^3", "of the load", above=0.0, most=1e5),
    Key("load_at", (), "m", "where the load starts, x, y, z of its centre; empty: beneath the arm", least=-10.0,
        most=10.0, most_entries=3),
    Key("suckers", True, "", "whether suckers hold"),
    Key("self_contact", True, "", "whether the arm touches itself"),
    Key("muscle_noise_percent", 0.0, "%", "error of the muscles' gains, one drawn for each", least=0.0, most=100.0),
)  # fmt: skip


def _current(*default: float) -> Key:
    """A current."""
    return Key("current_m_s", default, "m/s", "velocity of the water, x, y, z", least=-10.0, most=10.0)


def _muscular(
    name: str,
    summary: str,
    function: str,
    *keys: Key,
    robot: str = "octopus_arm",
    dt_ms: float = 5.0,
    check_settings=lambda robot, settings: None,
) -> Scenario:
    """A motion of a muscular arm."""

    def check(spec, settings) -> None:
        check_muscle_law(spec, settings)
        check_settings(spec, settings)

    step = Key("dt_ms", dt_ms, "ms", "time step", above=0.0, most=100.0)
    return Scenario(
        name=f"arm-{name}",
        summary=summary,
        robot=robot,
        accepts=_OBLIQUE if robot == "octopus_arm_oblique" else _HYDROSTATS,
        check_robot=check_oblique if robot == "octopus_arm_oblique" else check_hydrostat,
        live=1,
        function=f"hydrostat.scenarios.{function}",
        keys=(*keys, step, *_ARM_KEYS),
        check_settings=check,
    )


ARM_SCENARIOS = (
    _muscular("elongate", "radial muscles contract: the octopus arm becomes longer and thinner",
              "arm_lengths:elongate",
              Key("activations", (0.05, 0.1, 0.2, 0.4), "", "of the radial muscles, one run each", least=0.0,
                  most=1.0, most_entries=12),
              Key("rise_seconds", 0.5, "s", "over which the muscles contract", above=0.0, most=600.0),
              Key("seconds", 1.5, "s", "of each run", above=0.0, most=600.0), dt_ms=2.5),
    _muscular("shorten", "longitudinal muscles contract: the octopus arm becomes shorter and thicker",
              "arm_lengths:shorten",
              Key("activations", (0.05, 0.1, 0.2, 0.5, 1.0), "", "of the longitudinal muscles, one run each",
                  least=0.0, most=1.0, most_entries=12),
              Key("seconds", 1.5, "s", "of each run", above=0.0, most=600.0)),
    _muscular("volume", "the octopus arm elongated, relaxed and shortened side by side, at constant volume",
              "arm_volume:elongate_and_shorten",
              Key("radial_activation", 0.2, "", "of the radial muscles, which elongate the arm", least=0.0, most=1.0),
              Key("longitudinal_activation", 0.1, "", "of the longitudinal muscles, which shorten it", least=0.0,
                  most=1.0),
              Key("rise_seconds", 0.5, "s", "over which the muscles contract", above=0.0, most=600.0),
              Key("seconds", 1.0, "s", "of each of the two runs", above=0.0, most=600.0), dt_ms=2.5),
    _muscular("bend", "longitudinal muscles of one side contract along a part of the octopus arm",
              "arm_lengths:bend",
              Key("activations", (0.02, 0.05, 0.1, 0.2), "", "of that side, one run each", least=0.0, most=1.0,
                  most_entries=12),
              Key("first_segment", 7, "", "where the bend begins", least=1, most=1000),
              Key("last_segment", 10, "", "where it ends", least=1, most=1000),
              Key("azimuth_deg", 0.0, "deg", "where it bends to", least=-360.0, most=360.0),
              Key("seconds", 2.0, "s", "of each run", above=0.0, most=600.0), check_settings=check_bend),
    _muscular("twist", "an oblique muscle contracts: the octopus arm twists, which the paper leaves out",
              "arm_lengths:twist",
              Key("activations", (0.05, 0.1, 0.2), "", "of the oblique muscle, one run each", least=-1.0, most=1.0,
                  most_entries=12),
              Key("seconds", 1.5, "s", "of each run", above=0.0, most=600.0), robot="octopus_arm_oblique"),
    _muscular("reach", "a bend travels from the base of the octopus arm to its tip, and the arm is straight",
              "arm_reach:reach",
              Key("pattern", "planned", "", "what muscles do: planned, what inverse dynamics and proprioception ask of "
                  "them for a bend that travels with minimum jerk; stiffening, a wave of stiffening in open loop",
                  options=("planned", "stiffening")),
              Key("angle_deg", 120.0, "deg", "bend before the reach, for pattern=planned", least=0.0, most=180.0),
              Key("bend", 0.1, "", "activation of the bend before the reach, for pattern=stiffening and without wave",
                  least=0.0, most=1.0),
              Key("stiffen", 0.2, "", "activation behind the wave's front, for pattern=stiffening; of radial muscles "
                  "twice", least=0.0, most=0.5),
              Key("wave", True, "", "whether there is a wave; if not, the bend is let go"),
              Key("azimuth_deg", 0.0, "deg", "where the arm bends to before", least=-360.0, most=360.0),
              Key("prepare_seconds", 1.5, "s", "time to bend", above=0.0, most=100.0),
              Key("wave_seconds", 1.0, "s", "time of the wave from base to tip", above=0.0, most=100.0),
              Key("seconds_after", 0.0, "s", "how long it is watched from the wave's begin; 0: until 0.6 s after its "
                  "end", least=0.0, most=100.0)),
    _muscular("fetch", "the octopus arm brings its tip, or a load that its suckers hold, to the mouth",
              "arm_fetch:fetch",
              Key("load_g", 0.0, "g", "mass of the load; 0: none", least=0.0, most=1e4),
              Key("feedback", False, "", "whether the arm is controlled by its senses of shape and touch, and of sight "
                  "where `load_at` is given: the load then lies on the ground"),
              Key("places", 0, "", "how many places on the ground the load is drawn from, 0.4 to 0.9 arm lengths away "
                  "and up to 75 degrees aside; the arm sees where it is. 0: one load beneath the arm", least=0,
                  most=10_000),
              Key("seconds", 3.0, "s", "how long it may take, for each place", above=0.1, most=600.0),
              _current(0.0, 0.0, 0.0), *_LOAD_KEYS, dt_ms=4.0, check_settings=check_fetch),
    _muscular("throw", "the octopus arm takes a load from the ground, swings it and lets go",
              "arm_throw:throw",
              Key("load_g", 50.0, "g", "mass of the load", least=0.0, most=1e4),
              Key("activation", 1.0, "", "of the swing", least=0.0, most=1.0),
              Key("holds_at", 0.0, "", "place along the arm that holds the load, beneath which it lies; 0: 0.4, "
                  "or 0.2 where the load is heavy", least=0.0, most=0.95),
              Key("swing_share", 0.0, "", "of the arm, from its base, that bends; 0: a little beyond the load, 0.388 "
                  "where it is heavy", least=0.0, most=1.0),
              Key("release_s", 0.0, "s", "after the swing began, when suckers let go; 0: when the load is seen to rise "
                  "at less than 25 degrees, or its range, if it is heavy, begins to fall", least=0.0, most=100.0),
              Key("seconds", 3.0, "s", "how long it is watched", above=0.5, most=600.0), *_LOAD_KEYS, dt_ms=2.5,
              check_settings=check_throw),
    _muscular("reach-target", "the octopus arm reaches for points by proprioception, in a current and with noise",
              "arm_target:reach_target", ARM_TARGETS,
              Key("targets", 100, "", "how many, drawn from the half shell before the arm", least=1, most=10_000),
              Key("near", 0.5, "", "least distance of targets, in arm lengths", above=0.1, most=1.5),
              Key("far", 1.3, "", "largest distance, in arm lengths", above=0.1, most=1.5),
              Key("seconds", 4.0, "s", "for each", above=0.5, most=600.0),
              Key("move_seconds", 1.5, "s", "that the planned motion takes", above=0.1, most=100.0),
              Key("muscle_noise_percent", 5.0, "%", "error of the muscles' gains, one drawn for each", least=0.0,
                  most=100.0),
              Key("proprioception_noise_deg", 0.0, "deg", "noise of the sense of shape, of each segment and sample; "
                  "of lengths as much, 1 rad for a rest length", least=0.0, most=90.0),
              Key("proprioception_rate_hz", 0.0, "Hz", "how often the sense of shape samples; 0: at every step",
                  least=0.0, most=1e6),
              Key("proprioception_delay_s", 0.0, "s", "how old its samples are when they arrive", least=0.0, most=10.0),
              Key("proprioception_bias_deg", 0.0, "deg", "constant error of the sense of shape, one drawn for each "
                  "segment; of lengths as much, 1 rad for a rest length", least=0.0, most=90.0),
              Key("sees_tip", False, "", "whether the seen tip corrects the plan, once the motion is over"),
              Key("vision_noise_mm", 5.0, "mm", "noise of the seen tip, of each sample", least=0.0, most=1e3),
              Key("vision_rate_hz", 10.0, "Hz", "how often the tip is seen; 0: at every step", least=0.0, most=1e6),
              _current(0.0, 0.05, 0.0), check_settings=check_reach_target),
)  # fmt: skip
"""The scenarios in the order of `hydrostat list`."""
