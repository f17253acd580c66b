"""The keys of muscles that tire."""

from hydrostat.scenarios.keys import Key

FATIGUE_KEYS = (
    Key("fatigue", False, "", "whether muscles tire and recover, by the three-compartment model of Xia and Frey Law"),
    Key("fatigue_rate", 0.01, "1/s", "at which active muscle tires (assumed; of the order of that of human joints)",
        least=0.0, most=1e3),
    Key("recovery_rate", 0.001, "1/s", "at which it recovers (assumed likewise)", least=0.0, most=1e3),
)  # fmt: skip
"""Whether muscles tire, and how fast."""
