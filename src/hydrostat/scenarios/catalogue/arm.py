"""The scenarios of muscular arms, with their keys."""

from hydrostat.scenarios.catalogue.animal_checks import check_bend, check_fetch, check_reach_target, check_throw
from hydrostat.scenarios.catalogue.arm_keys import LOAD_KEYS, NOISE, current, muscular
from hydrostat.scenarios.keys import Key
from hydrostat.scenarios.own_targets import ARM_TARGETS

ARM_SCENARIOS = (
    muscular("elongate", "radial muscles contract: the octopus arm becomes longer and thinner",
              "arm_lengths:elongate",
              Key("activations", (0.05, 0.1, 0.2, 0.4), "", "of the radial muscles, one run each", least=0.0,
                  most=1.0, most_entries=12),
              Key("rise_seconds", 0.5, "s", "over which the muscles contract", above=0.0, most=600.0),
              Key("seconds", 1.5, "s", "of each run", above=0.0, most=600.0), dt_ms=2.5),
    muscular("shorten", "longitudinal muscles contract: the octopus arm becomes shorter and thicker",
              "arm_lengths:shorten",
              Key("activations", (0.05, 0.1, 0.2, 0.5, 1.0), "", "of the longitudinal muscles, one run each",
                  least=0.0, most=1.0, most_entries=12),
              Key("seconds", 1.5, "s", "of each run", above=0.0, most=600.0)),
    muscular("volume", "the octopus arm elongated, relaxed and shortened side by side, at constant volume",
              "arm_volume:elongate_and_shorten",
              Key("radial_activation", 0.2, "", "of the radial muscles, which elongate the arm", least=0.0, most=1.0),
              Key("longitudinal_activation", 0.1, "", "of the longitudinal muscles, which shorten it", least=0.0,
                  most=1.0),
              Key("rise_seconds", 0.5, "s", "over which the muscles contract", above=0.0, most=600.0),
              Key("seconds", 1.0, "s", "of each of the two runs", above=0.0, most=600.0), dt_ms=2.5),
    muscular("bend", "longitudinal muscles of one side contract along a part of the octopus arm",
              "arm_lengths:bend",
              Key("activations", (0.02, 0.05, 0.1, 0.2), "", "of that side, one run each", least=0.0, most=1.0,
                  most_entries=12),
              Key("first_segment", 7, "", "where the bend begins", least=1, most=1000),
              Key("last_segment", 10, "", "where it ends", least=1, most=1000),
              Key("azimuth_deg", 0.0, "deg", "where it bends to", least=-360.0, most=360.0),
              Key("seconds", 2.0, "s", "of each run", above=0.0, most=600.0), check_settings=check_bend),
    muscular("twist", "an oblique muscle contracts: the octopus arm twists, which the paper leaves out",
              "arm_lengths:twist",
              Key("activations", (0.05, 0.1, 0.2), "", "of the oblique muscle, one run each", least=-1.0, most=1.0,
                  most_entries=12),
              Key("seconds", 1.5, "s", "of each run", above=0.0, most=600.0), robot="octopus_arm_oblique"),
    muscular("reach", "a bend travels from the base of the octopus arm to its tip, and the arm is straight",
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
                  "end", least=0.0, most=100.0), current(0.0, 0.0, 0.0), NOISE),
    muscular("fetch", "the octopus arm brings its tip, or a load that its suckers hold, to the mouth",
              "arm_fetch:fetch",
              Key("load_g", 0.0, "g", "mass of the load; 0: none", least=0.0, most=1e4),
              Key("feedback", False, "", "whether the arm is controlled by its senses of shape and touch, and of sight "
                  "where `load_at` is given: the load then lies on the ground"),
              Key("places", 0, "", "how many places on the ground the load is drawn from, 0.4 to 0.9 arm lengths away "
                  "and up to 75 degrees aside; the arm sees where it is. 0: one load beneath the arm", least=0,
                  most=10_000),
              Key("seconds", 3.0, "s", "how long it may take, for each place", above=0.1, most=600.0),
              current(0.0, 0.0, 0.0), *LOAD_KEYS, dt_ms=4.0, check_settings=check_fetch),
    muscular("throw", "the octopus arm takes a load from the ground, swings it and lets go",
              "arm_throw:throw",
              Key("load_g", 50.0, "g", "mass of the load", least=0.0, most=1e4),
              Key("activation", 1.0, "", "of the swing", least=0.0, most=1.0),
              Key("holds_at", 0.0, "", "place along the arm that holds the load, beneath which it lies; 0: 0.4, "
                  "or 0.25 where the load is heavy", least=0.0, most=0.95),
              Key("swing_share", 0.0, "", "of the arm, from its base, that moves; 0: a little beyond the load, or "
                  "that of the whip where it is heavy", least=0.0, most=1.0),
              Key("release_s", 0.0, "s", "after the swing began, when suckers let go; 0: when the load is seen to rise "
                  "at less than 25 degrees, or its range, if it is heavy, hardly grows", least=0.0, most=100.0),
              Key("throws", 1, "", "how many throws, each with other gains of the muscles", least=1, most=10_000),
              Key("seconds", 3.0, "s", "how long each is watched", above=0.5, most=600.0), *LOAD_KEYS, dt_ms=2.5,
              check_settings=check_throw),
    muscular("reach-target", "the octopus arm reaches for points by proprioception, in a current and with noise",
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
              current(0.0, 0.05, 0.0), check_settings=check_reach_target),
)  # fmt: skip
"""The scenarios in the order of `hydrostat list`."""
