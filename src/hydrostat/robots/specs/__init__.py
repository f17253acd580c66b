"""The specifications of the papers' robots: their numbers, with where they come from. They do not need JAX."""

from hydrostat.robots.specs import finger, octopus, octopus_arm, rod, squid, squid_vehicle, stewart_arm, tentacle

__all__ = ["finger", "octopus", "octopus_arm", "rod", "squid", "squid_vehicle", "stewart_arm", "tentacle"]
