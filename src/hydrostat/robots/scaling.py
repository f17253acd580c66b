"""Robots with scaled parameters, for derivatives and batches."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from hydrostat.actuation import HydrostatMuscles, NeoHookean
from hydrostat.bodies.rod import damping, node_inertias, stiffness
from hydrostat.errors import InputError
from hydrostat.mechanics.model import ArmModel
from hydrostat.mechanics.robot import Robot, with_arms

Factor = float | Float[Array, ""]


def scaled(
    robot: Robot,
    *,
    youngs_modulus: Factor = 1.0,
    viscosity: Factor = 1.0,
    density: Factor = 1.0,
    radius: Factor = 1.0,
    muscle_stress: Factor = 1.0,
) -> Robot:
    """The robot with parameters of all its arms multiplied by factors, and everything that follows from them.

    `jax.grad` and `jax.vmap` go through it. Masses follow from density and radius, stiffness from Young's modulus and
    radius, what muscles can pull from their stress and the radius. Platforms keep their plates, and tendons their
    places; the body of a robot with limbs stays as it is.
    """

    def of_arm(model: ArmModel) -> ArmModel:
        if model.telescopes is not None:
            raise InputError(f"parameters can be scaled of muscles in tissue; those of {robot.name} have the law paper")
        arm = model.arm
        section, material = arm.section, arm.material
        changed = eqx.tree_at(
            lambda a: (
                a.section.radius_base,
                a.section.radius_tip,
                a.material.youngs_modulus,
                a.material.viscosity,
                a.material.density,
            ),
            arm,
            (
                section.radius_base * radius,
                section.radius_tip * radius,
                material.youngs_modulus * youngs_modulus,
                material.viscosity * viscosity,
                material.density * density,
            ),
        )
        model = eqx.tree_at(lambda m: m.arm, model, changed)
        points = len(model.gauss_at)
        plates = model.legs is not None
        if not plates:
            # Friction is what damping there is beyond that of the material.
            friction = model.damping - damping(arm, points)
            parts = (node_inertias(changed, points), stiffness(changed, points), damping(changed, points) + friction)
            model = eqx.tree_at(lambda m: (m.inertia, m.stiffness, m.damping), model, parts)
        if model.radial_inertia is not None:
            model = eqx.tree_at(lambda m: m.radial_inertia, model, jnp.sum(model.inertia[..., 2], 1))
        return _with_tissue(_with_muscles(model, radius, muscle_stress), radius, youngs_modulus)

    return with_arms(robot, of_arm)


def _with_muscles(model: ArmModel, radius: Factor, stress: Factor) -> ArmModel:
    """Muscles of a wider section and another stress; oblique fibres are longer in it."""
    muscles = model.muscles
    if not isinstance(muscles, HydrostatMuscles):
        return model
    straight = muscles.rest[:, None] ** 2
    fibres = jnp.sqrt(straight + radius**2 * (muscles.fibre_rest**2 - straight))
    new = eqx.tree_at(
        lambda m: (m.radius, m.area, m.volume, m.fibre_rest, m.stress),
        muscles,
        (
            muscles.radius * radius,
            muscles.area * radius**2,
            muscles.volume * radius**2,
            fibres,
            muscles.stress * stress,
        ),
    )
    return eqx.tree_at(lambda m: m.muscles, model, new)


def _with_tissue(model: ArmModel, radius: Factor, youngs_modulus: Factor) -> ArmModel:
    """Tissue of a wider section and another modulus."""
    tissue = model.tissue
    if not isinstance(tissue, NeoHookean):
        return model
    parts = (tissue.volume * radius**2, tissue.moment * radius**4, tissue.modulus * youngs_modulus)
    new = eqx.tree_at(lambda t: (t.volume, t.moment, t.modulus), tissue, parts)
    return eqx.tree_at(lambda m: m.tissue, model, new)
