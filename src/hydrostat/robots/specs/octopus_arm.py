"""The arm of an octopus, after Kang et al. (2012): a muscular hydrostat of 20 segments.

The paper prints no number but the 20 segments. Size, densities and the muscles' law are those of Yekutieli et al.
(2005) as others transcribed them; the tissue's stiffness is that measured at suckers (Tramacere et al. 2014); what has
no source is assumed and says so.
"""

from hydrostat.errors import choice, whole
from hydrostat.robots.spec import BaseSpec, MaterialSpec, MusclesSpec, RobotSpec, SegmentSpec

SEGMENTS = 20
LENGTH = 0.240  # m, Yekutieli et al. 2005
RADII = (7.5e-3, 0.5e-3)  # m, base and tip: widths of 15 and 1 mm, the same; a round section is assumed
TISSUE = MaterialSpec(
    youngs_modulus=10e3,  # Pa, Tramacere et al. 2014; other sources have 2 to 15 kPa
    poisson_ratio=0.5,
    density=1042.0,  # kg/m^3, Yekutieli et al. 2005
    viscosity=100.0,  # Pa s, assumed
)
BULK_MODULUS = 1e8  # Pa, assumed: water has 2.2e9; as soft as keeps volumes within 1e-3 at full activation
STRESS = 80e3  # Pa, Yekutieli et al. 2005
STIFFNESS = 132e3  # Pa, the same
BEND_LIMIT_DEG = 57.3  # for a segment of 12 mm, assumed
OBLIQUE_DEG = 60.0  # over a segment, assumed


def octopus_arm(segments: int = SEGMENTS, kind: str = "strut", oblique: bool = False) -> RobotSpec:
    """The arm's specification.

    **Arguments:** `segments`: how many; `kind`: strut, as the paper's, or strain, arcs; `oblique`: whether it has
    oblique muscles, which twist it.
    """
    count = whole("segments", segments, least=1, most=1000)
    choice("kind", kind, ("strut", "strain"))
    base, tip = RADII
    radii = [base + (tip - base) * i / count for i in range(count + 1)]
    modes = ("bend_x", "bend_y", "twist", "stretch") if oblique else ("bend_x", "bend_y", "stretch")
    share = SEGMENTS / count
    return RobotSpec(
        name=f"octopus arm ({count} {kind} segments{', oblique muscles' if oblique else ''})",
        base=BaseSpec(position=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)),
        segments=tuple(SegmentSpec(LENGTH / count, (radii[i], radii[i + 1]), modes) for i in range(count)),
        material=TISSUE,
        muscles=MusclesSpec(
            STRESS,
            STIFFNESS,
            segments=kind,
            oblique_deg=min(OBLIQUE_DEG * share, 170.0) if oblique else 0.0,
            bend_limit_deg=min(BEND_LIMIT_DEG * share, 170.0),
        ),
        notes="Kang et al. 2012: 20 segments; Yekutieli et al. 2005: size, densities, muscles; all else is assumed.",
    )
