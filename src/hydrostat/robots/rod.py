"""The Nitinol rod on its own: as slender and stiff as the finger's, with all six strains free and a weight at its tip.

It is what a stepper for stiff arms is measured with. Length, thickness and material are those of `finger`; the number
of segments and the weight are assumed. It is clamped horizontally along the world's x; its section then has x straight
down and y along the world's y, so that a positive `bend_y` bends it down and a positive `bend_x` towards the world's y.
"""

from hydrostat import errors
from hydrostat.robots.finger import DENSITY, LENGTHS, POISSON_RATIO, RADIUS, YOUNGS_MODULUS
from hydrostat.robots.spec import MASS, MODES, BaseSpec, MassSpec, MaterialSpec, RobotSpec, SegmentSpec

SEGMENTS = 20  # assumed
TIP_MASS = 0.05  # kg, assumed


def rod(
    segments: int = SEGMENTS,
    *,
    tip_mass: float = TIP_MASS,
    modes: tuple[str, ...] = MODES,
    viscosity: float = 0.0,
) -> RobotSpec:
    """The rod's specification.

    **Arguments:** `segments`: number of equal segments; `tip_mass` [kg]; `modes`: the strains that every segment is
    free in; `viscosity` [Pa s].
    """
    errors.whole("segments", segments, least=1, most=1000)
    tip_mass = errors.number("tip_mass", tip_mass, **MASS)
    whole = SegmentSpec(length=sum(LENGTHS), radius=(RADIUS, RADIUS), modes=modes)
    return RobotSpec(
        name="rod",
        base=BaseSpec(position=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)),
        segments=whole.pieces(segments),
        material=MaterialSpec(YOUNGS_MODULUS, POISSON_RATIO, DENSITY, viscosity),
        masses=(MassSpec(1.0, tip_mass),),
        notes="A NiTi rod of 60 cm by 2 mm, as in Dehghani and Moosavian 2014, with a weight at its tip. "
        "The material is from data sheets; segments and weight are assumed.",
    )
