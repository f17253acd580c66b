"""Robots, configurations of theirs that are bent and stretched anyhow, and where their tips are by our kinematics."""

import jax.numpy as jnp
import numpy as np

from hydrostat.compiling import quick_jit
from hydrostat.mechanics import kinematics
from hydrostat.mechanics.robot import arms_in_world
from hydrostat.robots import find_robot, parse_robot
from hydrostat.robots.build import build_robot

TOML = {
    # Every strain; unlike segments; bent at rest; one way to bend; nothing but length; a twist without bends.
    "all strains": "modes = ['bend_x', 'bend_y', 'twist', 'shear_x', 'shear_y', 'stretch']",
    "bends and twist": "modes = ['bend_x', 'bend_y', 'twist']",
    "one shear": "modes = ['bend_x', 'bend_y', 'shear_x', 'stretch']",
    "preshaped": "modes = ['bend_x', 'bend_y']\npreshape_deg = [20.0, -35.0]",
    "planar": "modes = ['bend_x']",
    "piston": "modes = ['stretch']",
    "torsion bar": "modes = ['twist']",
}


def robot_of(name):
    """A robot of the catalogue, or of one of the texts above, with three segments of unlike length."""
    if name not in TOML:
        return find_robot(name)
    segments = "".join(
        f"[[arm.segment]]\nlength = {length}\nradius = [{a}, {b}]\n{TOML[name]}\n"
        for length, a, b in ((0.3, 0.03, 0.025), (0.2, 0.025, 0.02), (0.25, 0.02, 0.01))
    )
    mass = "[[mass]]\nplace = 0.55\nmass = 0.2\n[[mass]]\nplace = 1.0\nmass = 0.05\ninertia = 1e-4\n"
    base = "[base]\nposition = [0.1, -0.2, 0.3]\naxis = [1.0, 2.0, -0.5]\n"
    return parse_robot(f"{base}{segments}[material]\nyoungs_modulus = 1e5\nviscosity = 300.0\n{mass}")


def limbs_of(spec):
    """The limbs of a robot, each with its base in the world."""
    return arms_in_world(build_robot(spec, points=3))


def configurations(spec, seed=0, size=1.0):
    """A configuration for each limb: segments turn by up to a radian in all, and stretch by 3 %."""
    rng = np.random.default_rng(seed)
    found = []
    for limb in limbs_of(spec):
        arm = limb.arm
        turn = rng.uniform(-0.5, 0.5, (arm.count, arm.coordinates)) * min(1.0, 6.0 / arm.count)
        q = turn / np.asarray(arm.segments.scale)[:, None]
        for i, mode in enumerate(arm.segments.modes):
            if mode in ("stretch", "shear_x", "shear_y"):
                q[:, i] = rng.uniform(-0.03, 0.03, arm.count)
            if mode.startswith("move"):
                q[:, i] *= 0.2
        found.append(size * q)
    return found


_tip_pose = quick_jit(kinematics.tip_pose)


def tips_of(spec, qs):
    """Rotation and position of every tip."""
    poses = [_tip_pose(limb.arm, jnp.asarray(q)) for limb, q in zip(limbs_of(spec), qs, strict=True)]
    return [(np.asarray(pose.rotation), np.asarray(pose.position)) for pose in poses]
