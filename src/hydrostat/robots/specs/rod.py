"""Plain elastic rods without actuators.

The Nitinol rod among them is as slender and stiff as the finger's, with all six strains free and a weight at its tip:
what a stepper for stiff arms is measured with. Length, thickness and material are those of `finger`; the number of
segments and the weight are assumed. It is clamped horizontally along the world's x; its section then has x straight
down and y along the world's y, so that a positive `bend_y` bends it down and a positive `bend_x` towards the world's y.
"""

from hydrostat import errors
from hydrostat.robots.spec import MASS, MODES, SIZE, BaseSpec, MassSpec, MaterialSpec, RobotSpec, SegmentSpec
from hydrostat.robots.specs.finger import DENSITY, LENGTHS, POISSON_RATIO, RADIUS, YOUNGS_MODULUS

SEGMENTS = 20  # assumed
TIP_MASS = 0.05  # kg, assumed
# A soft silicone, assumed: the material of an elastic rod unless said otherwise.
SILICONE = MaterialSpec(youngs_modulus=1e6, poisson_ratio=0.5, density=1000.0)


def elastic_rod(
    length: float,
    radius: float | tuple[float, float],
    segments: int = 10,
    *,
    modes: tuple[str, ...] = MODES,
    youngs_modulus: float = SILICONE.youngs_modulus,
    poisson_ratio: float = SILICONE.poisson_ratio,
    density: float = SILICONE.density,
    viscosity: float = 0.0,
    tip_mass: float = 0.0,
    axis: tuple[float, ...] = (1.0, 0.0, 0.0),
) -> RobotSpec:
    """The specification of a rod that is clamped at the world's origin.

    **Arguments:** `length` [m]; `radius` [m]: one, or that of the base and that of the tip; `segments`: number of equal
    segments; `modes`: the strains that every segment is free in; `youngs_modulus` [Pa]; `poisson_ratio`; `density`
    [kg/m^3]; `viscosity` [Pa s]; `tip_mass` [kg]; `axis`: where its base points.
    """
    errors.whole("segments", segments, least=1, most=1000)
    length = errors.number("length", length, **SIZE)
    ends = errors.numbers("radius", (radius, radius) if isinstance(radius, int | float) else radius, 2, **SIZE)
    tip_mass = errors.number("tip_mass", tip_mass, **MASS)
    return RobotSpec(
        name="elastic rod",
        base=BaseSpec(position=(0.0, 0.0, 0.0), axis=axis),
        segments=SegmentSpec(length=length, radius=(ends[0], ends[1]), modes=modes).pieces(segments),
        material=MaterialSpec(youngs_modulus, poisson_ratio, density, viscosity),
        masses=(MassSpec(1.0, tip_mass),) if tip_mass > 0.0 else (),
    )


def rod(
    segments: int = SEGMENTS,
    *,
    tip_mass: float = TIP_MASS,
    modes: tuple[str, ...] = MODES,
    viscosity: float = 0.0,
) -> RobotSpec:
    """The specification of the Nitinol rod.

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
