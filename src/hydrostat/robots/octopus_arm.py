"""The arm of an octopus, after Kang et al. (2012) with the numbers of Yekutieli et al. (2005); what is assumed says so."""

SEGMENTS = 20
LENGTH = 0.240  # m, Yekutieli et al. 2005
RADII = (7.5e-3, 0.5e-3)  # m, base and tip: widths of 15 and 1 mm, same source; a round section is assumed
DENSITY = 1042.0  # kg/m^3, same source
WATER_DENSITY = 1022.0  # kg/m^3, same source
YOUNGS_MODULUS = 10e3  # Pa, of sucker tissue (Tramacere et al. 2014), within 2 to 15 kPa of other sources
VISCOSITY = 100.0  # Pa s, assumed
STRESS = 80e3  # Pa, largest active muscle stress, Yekutieli et al. 2005
STIFFNESS = 132e3  # Pa, growth of the active stress with relative length, same source
OFFSET = 0.5**0.5  # of the longitudinal muscles over the radius: halves the section's area; assumed
BEND_LIMIT = 1.0  # rad for each segment of 12 mm, assumed
LIMIT_FACTOR = 50.0  # assumed
ACTIVATION_TIME = 0.03  # s, assumed: 20 to 40 ms
