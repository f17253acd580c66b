"""A robot file that uses every kind of table."""

GOOD = """\
name = "my arm"
notes = "made up"
[base]
position = [0.1, 0, 0]
axis = [0, 0, 1]
[[arm.segment]]
length = 0.30
radius = [0.030, 0.020]
modes = ["bend_x", "bend_y", "stretch"]
[[arm.segment]]
length = 0.20
radius = [0.020, 0.010]
count = 4
friction = 0.5
preshape_deg = [-20, 60]
[material]
youngs_modulus = 69e3
poisson_ratio = 0.5
density = 1070
viscosity = 100
[[mass]]
place = 0.6
mass = 0.05
[[mass]]
place = 1
mass = 2
inertia = 1e-3
[[tendon]]
azimuth_deg = 0
offset = [0.020, 0.010]
ends_at_segment = 1
[[tendon]]
azimuth_deg = 90
offset = [0.020, 0.005]
ends_at_segment = 5
starts_at_segment = 1
[motor]
steps_per_turn = 5000
screw_pitch = 1.25e-3
"""
