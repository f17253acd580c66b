"""The drives of the squid as a vehicle: its pectoral fins and its mantle jet, from the numbers of
`specs.squid_vehicle`."""

import jax.numpy as jnp
import numpy as np

from hydrostat.robots.specs import squid_vehicle as numbers
from hydrostat.surroundings import Fins, MantleJet


def squid_fins() -> Fins:
    """The pectoral fins of `squid_vehicle`: three sections to port, from bow to stern, and three to starboard."""
    centre = numbers.squid_vehicle().body.centre
    roots, outs, normals, offsets = [], [], [], []
    aside, first = numbers.FIN_RAIL
    for side in (1.0, -1.0):
        for i, degrees in enumerate(numbers.FIN_ANGLES_DEG):
            angle = np.deg2rad(degrees)
            roots.append(np.array([0.0, side * aside, first - i * numbers.FIN_LENGTH]) - centre)
            # Up is the body's -x.
            outs.append([-np.sin(angle), side * np.cos(angle), 0.0])
            normals.append([-np.cos(angle), -side * np.sin(angle), 0.0])
            offsets.append(2.0 * np.pi * numbers.FIN_WAVES * i)
    count = len(roots)
    return Fins(
        root=jnp.array(roots),
        along=jnp.tile(jnp.array([0.0, 0.0, -1.0]), (count, 1)),
        out=jnp.array(outs),
        normal=jnp.array(normals),
        offset=jnp.array(offsets),
        length=numbers.FIN_LENGTH,
        span=numbers.FIN_SPAN,
        waves=numbers.FIN_WAVES,
        frequency=numbers.FIN_FREQUENCY,
        most=numbers.FIN_MOST,
        lag=numbers.FIN_LAG,
        skew=numbers.FIN_SKEW,
        drag=numbers.FIN_DRAG,
    )


def squid_jet() -> MantleJet:
    """The mantle jet of `squid_vehicle`; at nozzle angles of zero the water leaves backwards."""
    return MantleJet(
        place=np.array(numbers.JET_PLACE) - numbers.squid_vehicle().body.centre,
        axis=(0.0, 0.0, -1.0),
        sides=jnp.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
        capacity=numbers.JET_CAPACITY,
        pressure=numbers.JET_PRESSURE,
        flow=numbers.JET_FLOW,
        area=numbers.JET_AREA,
        velocity_coefficient=numbers.JET_VELOCITY,
        most=numbers.JET_MOST,
        lag=numbers.JET_LAG,
    )
