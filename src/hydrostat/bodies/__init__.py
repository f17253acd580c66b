"""Bodies: arms as chains of segments, their sections and materials; hulls."""

from hydrostat.bodies.arm import Arm
from hydrostat.bodies.hull import Hull
from hydrostat.bodies.material import Material
from hydrostat.bodies.section import Section

__all__ = ["Arm", "Hull", "Material", "Section"]
