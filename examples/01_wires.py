"""From a shape to the lengths of its wires, and back."""

import jax.numpy as jnp

import hydrostat as hs
from hydrostat.control.shapes import configuration

robot = hs.robots.tentacle(shape="cone", wires="soft")
bend = jnp.array([[0.6, 0.2], [-0.9, 0.5], [0.0, 1.2]])
lengths = robot.tendons.lengths(robot.arm, configuration(robot.arm, bend))
print("wires [mm]:", (1e3 * lengths).round(3))

# Half a millimetre too much on every wire of the first segment is virtual compression; the shape stays the same.
found = hs.actuation.shape_from_lengths(robot.arm, robot.tendons, lengths.at[:3].add(0.5e-3))
print("bend found [rad]:", found.bend.round(6).tolist())
print("virtual compression [mm]:", (1e3 * found.compression).round(6))
