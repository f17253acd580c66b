"""A robot from a TOML text: two segments, four wires each, on the side of a wall."""

import hydrostat as hs
from hydrostat.robots.build import build_robot

TENDON = """
[[tendon]]
azimuth_deg = {azimuth}
offset = [0.015, 0.010]
starts_at_segment = {segment}
ends_at_segment = {segment}
"""
TEXT = """
name = "wall arm"
[base]
position = [0, 0, 1]
axis = [1, 0, 0]
[[arm.segment]]
length = 0.4
radius = [0.02, 0.012]
count = 2
[material]
youngs_modulus = 69e3
""" + "".join(TENDON.format(azimuth=90 * i, segment=segment) for segment in (1, 2) for i in range(4))

spec = hs.robots.parse_robot(TEXT.replace("offset = [0.015, 0.010]", "offset = [0.010, 0.010]"))
robot = build_robot(spec)
print(robot.name, "has", robot.arm.count, "segments and", len(robot.tendons.ends_at), "wires")
try:
    hs.robots.parse_robot(TEXT.replace("length = 0.4", "length = -0.4"))
except hs.errors.InputError as error:
    print("a slip is named:", error)
