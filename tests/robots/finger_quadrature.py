"""The truth about the finger: Gauss-Legendre quadrature of the tangent along both arcs.

It knows no division by theta, and works for complex angles, so that its derivatives follow from Cauchy's integral.
"""

import numpy as np

# 16 nodes integrate exp(i x u) over [0, 1] to about (x/4)^32 / 32! = 2e-30 for |x| <= 6: twice the widest arc here.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
NODES, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2


def along_arcs(lengths, theta):
    """Positions (2, ..., 17, 2) and their derivatives (2, ..., 17, 2, 2) at the nodes and at the end of both arcs."""
    a, b = (theta[..., i, None, None] for i in (0, 1))
    reach = np.append(NODES, 1.0)[:, None]
    u, w = reach * NODES, reach * WEIGHTS
    positions, jacobians = [], []
    start, start_jacobian = 0.0, 0.0
    for length, angle, d_angle in ((lengths[0], a * u, (u, 0 * u)), (lengths[1], a + b * u, (1 + 0 * u, u))):
        # r = integral of (-sin, cos), its derivative that of (-cos, -sin) times the angle's.
        r = length * np.stack([np.sum(-w * np.sin(angle), -1), np.sum(w * np.cos(angle), -1)], -1)
        J = [[-length * np.sum(w * f(angle) * d, -1) for d in d_angle] for f in (np.cos, np.sin)]
        J = np.moveaxis(np.array(J), (0, 1), (-2, -1))
        positions.append(start + r)
        jacobians.append(start_jacobian + J)
        start, start_jacobian = positions[-1][..., -1:, :], jacobians[-1][..., -1:, :, :]
    return positions, jacobians


def quadrature(finger, theta, loads):
    """All geometry and M, G_g and the torques of the loads, from first principles."""
    L, rhoA, rhoI = (np.asarray(x) for x in (finger.lengths, finger.line_density, finger.rotary_inertia))
    m_tip, m_c, e = float(finger.tip_mass), float(finger.contact_mass), float(finger.tendon_offset)
    r, J = along_arcs(L, np.asarray(theta))
    centroids = np.stack([np.einsum("g,...gi->...i", WEIGHTS, x[..., :-1, :]) for x in r], -2)
    J_G = np.stack([np.einsum("g,...gij->...ij", WEIGHTS, x[..., :-1, :, :]) for x in J], -3)
    J_c, J_t = J[0][..., -1, :, :], J[1][..., -1, :, :]
    spin = np.array([[NODES, 0 * NODES], [1 + 0 * NODES, NODES]])  # turn of a section per angle, arc by arc
    M = m_tip * np.einsum("...ai,...aj->...ij", J_t, J_t) + m_c * np.einsum("...ai,...aj->...ij", J_c, J_c)
    for i in (0, 1):
        body = J[i][..., :-1, :, :]
        M = M + L[i] * rhoA[i] * np.einsum("g,...gai,...gaj->...ij", WEIGHTS, body, body)
        M = M + L[i] * rhoI[i] * np.einsum("g,ig,jg->ij", WEIGHTS, spin[i], spin[i])
    m = L * rhoA
    weighed = np.einsum("k,...kai->...ai", m, J_G) + m_tip * J_t + m_c * J_c
    F_1, F_2 = np.asarray(loads.tensions)
    return {
        "contact_position": r[0][..., -1, :],
        "tip_position": r[1][..., -1, :],
        "centroids": centroids,
        "contact_jacobian": J_c,
        "tip_jacobian": J_t,
        "centroid_jacobians": J_G,
        "mass_matrix": M,
        "gravity_torques": -np.einsum("...ai,a->...i", weighed, loads.gravity),
        "load_torques": np.einsum("...ai,a->...i", J_c, loads.contact_force)
        + np.einsum("...ai,a->...i", J_t, loads.tip_force)
        + (F_1 - F_2) * e,
    }


def taylor(function, centre, count=20):
    """The coefficients of (theta - centre)^(i, j) of a dictionary of functions, axes i and j first.

    By Cauchy's integral over the torus |a| = |b| = 1. The functions are entire and grow like exp|a| and exp|b|, so that
    20 points on each circle alias by 1 / 20! = 4e-19.
    """
    circle = np.exp(2j * np.pi * np.arange(count) / count)
    values = function(np.asarray(centre) + np.stack(np.meshgrid(circle, circle, indexing="ij"), -1))
    return {name: np.real(np.fft.fft2(f, axes=(0, 1), norm="forward")) for name, f in values.items()}
