"""An arm in motion: a soft arm on a wall swings under its weight; where it rests, and how it vibrates there."""

import jax.numpy as jnp

import hydrostat as hs
from hydrostat.bodies import Arm, Material, Section
from hydrostat.mechanics import make_arm_model, single_arm
from hydrostat.segments import StrainSegment

COUNT = 6
arm = Arm(
    StrainSegment(jnp.full(COUNT, 0.05), ("bend_x", "bend_y")),
    Section(jnp.linspace(0.015, 0.01, COUNT), jnp.linspace(0.014, 0.009, COUNT)),
    Material(*(jnp.full(COUNT, value) for value in (3e5, 0.45, 1070.0, 300.0))),  # Pa, -, kg/m^3, Pa s
    hs.SE3(jnp.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), jnp.zeros(3)),  # along the world's x
)
# 10 g at the tip, where a load can act as well.
system = hs.System(single_arm(make_arm_model(arm, lumps=[(1.0, 0.01)], load_places=[1.0])))

# Released from straight: rows every 10 ms.
tip = hs.simulate(system, seconds=1.0, dt=2e-3, every=5).tip
print(f"the tip falls from {1e3 * tip[0, 2]:.0f} mm to {1e3 * tip[:, 2].min():.0f} mm at its lowest")

# Where it comes to rest, alone and with a sideways force of 0.2 N at the tip, and how it vibrates there.
push = hs.Control(load=[[0.0, 0.0, 0.0, 0.0, 0.2, 0.0]])
for name, control in (("alone", None), ("pushed", push)):
    found = hs.equilibrium(system, control)
    rest = 1e3 * found.tip
    slowest = hs.vibrations(system, control, found.q).frequencies[:2]
    print(f"{name}: rests at ({rest[0]:.0f}, {rest[1]:.0f}, {rest[2]:.0f}) mm")
    print(f"{name}: swings at {slowest[0]:.2f} and {slowest[1]:.2f} Hz")
