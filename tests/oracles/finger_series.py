"""The series of the finger's paper (Dehghani and Moosavian 2014, appendix), corrected, for a uniform finger.

Power series in the angles a = theta_1 and b = theta_2 of the two arcs: free of the 0/0 of the printed closed forms, and
good for small angles only. `finger_formulas` has what they approximate, its frame and its signs; they serve to compare
with the paper.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float


def series_mass_matrix(lengths: Float[Array, " 2"], theta: Float[Array, " 2"]) -> Float[Array, "2 2"]:
    """The backbone's mass matrix over rho A, without rotary inertia, to degree 6 [m^3]; eq. A.1, corrected."""
    (L1, L2), (a, b) = lengths, theta
    X = L1 * L2**2
    M11 = (
        (L1**3 / 20 + L1**2 * L2 / 4 + X / 2 + L2**3 / 3)
        - (L1**3 + 7 * L1**2 * L2 + 21 * X) / 504 * a**2
        - X * a * b / 18
        - (5 * X + 2 * L2**3) / 120 * b**2
        + (L1**3 + 9 * L1**2 * L2 + 36 * X) / 25920 * a**4
        + X * (a**3 * b / 360 + a**2 * b**2 / 288 + a * b**3 / 360)
        + (7 * X + 2 * L2**3) / 5040 * b**4
        - (L1**3 + 11 * L1**2 * L2 + 55 * X) / 2217600 * a**6
        - X * (a**5 * b / 15120 + a**4 * b**2 / 8640 + a**3 * b**3 / 7200 + a**2 * b**4 / 8640 + a * b**5 / 15120)
        - (9 * X + 2 * L2**3) / 362880 * b**6
    )
    M12 = (
        (2 * X + 3 * L2**3) / 24
        - X * (a**2 / 144 + a * b / 72)
        - (9 * X + 5 * L2**3) / 720 * b**2
        + X * (a**4 / 4320 + a**3 * b / 1440 + a**2 * b**2 / 960 + a * b**3 / 1080)
        + (20 * X + 7 * L2**3) / 40320 * b**4
        - X * (a**6 / 241920 + a**5 * b / 60480 + a**4 * b**2 / 28800 + a**3 * b**3 / 21600)
        - X * (a**2 * b**4 / 24192 + a * b**5 / 40320)
        - (35 * X + 9 * L2**3) / 3628800 * b**6
    )
    M22 = L2**3 * (1 / 20 - b**2 / 504 + b**4 / 25920 - b**6 / 2217600)
    return jnp.array([[M11, M12], [M12, M22]])


def series_contact_jacobian(lengths: Float[Array, " 2"], theta: Float[Array, " 2"]) -> Float[Array, "2 2"]:
    """The Jacobian J_c, its X row to degree 4 and its Y row to degree 5 [m]; eq. A.2."""
    L1, a = lengths[0], theta[0]
    Jc11 = L1 * (-1 / 2 + a**2 / 8 - a**4 / 144)
    Jc21 = L1 * (-a / 3 + a**3 / 30 - a**5 / 840)
    return jnp.array([[Jc11, 0.0], [Jc21, 0.0]])


def series_tip_jacobian(lengths: Float[Array, " 2"], theta: Float[Array, " 2"]) -> Float[Array, "2 2"]:
    """The Jacobian J_t, its X row to degree 4 and its Y row to degree 5 [m]; eq. A.2, corrected."""
    (L1, L2), (a, b) = lengths, theta
    Jt11 = (
        -(L1 + 2 * L2) / 2
        + (L1 + 4 * L2) / 8 * a**2
        + L2 * (a * b / 2 + b**2 / 6)
        - (L1 + 6 * L2) / 144 * a**4
        - L2 * (a**3 * b / 12 + a**2 * b**2 / 12 + a * b**3 / 24 + b**4 / 120)
    )
    Jt12 = L2 * (
        (-1 / 2 + a**2 / 4 + a * b / 3 + b**2 / 8)
        - (a**4 / 48 + a**3 * b / 18 + a**2 * b**2 / 16 + a * b**3 / 30 + b**4 / 144)
    )
    Jt21 = (
        -(L1 + 3 * L2) / 3 * a
        - L2 * b / 2
        + (L1 + 5 * L2) / 30 * a**3
        + L2 * (a**2 * b / 4 + a * b**2 / 6 + b**3 / 24)
        - (L1 + 7 * L2) / 840 * a**5
        - L2 * (a**4 * b / 48 + a**3 * b**2 / 36 + a**2 * b**3 / 48 + a * b**4 / 120 + b**5 / 720)
    )
    Jt22 = L2 * (
        (-a / 2 - b / 3 + a**3 / 12 + a**2 * b / 6 + a * b**2 / 8 + b**3 / 30)
        - (a**5 / 240 + a**4 * b / 72 + a**3 * b**2 / 48 + a**2 * b**3 / 60 + a * b**4 / 144 + b**5 / 840)
    )
    return jnp.array([[Jt11, Jt12], [Jt21, Jt22]])


def series_coriolis_torques(
    lengths: Float[Array, " 2"], theta: Float[Array, " 2"], theta_dot: Float[Array, " 2"]
) -> Float[Array, " 2"]:
    """The velocity terms V of the backbone over rho A, to degree 5 in the angles [m^3/s^2]; eq. A.3, corrected.

    V_1 = V11 a'^2 + V12 a' b' + V13 b'^2 and V_2 = V21 a'^2 + V23 b'^2: V22 is zero.
    """
    (L1, L2), (a, b), (a_dot, b_dot) = lengths, theta, theta_dot
    X = L1 * L2**2
    V11 = (
        -(L1**3 + 7 * L1**2 * L2 + 21 * X) / 504 * a
        - X * b / 36
        + (L1**3 + 9 * L1**2 * L2 + 36 * X) / 12960 * a**3
        + X * (a**2 * b / 240 + a * b**2 / 288 + b**3 / 720)
        - (L1**3 + 11 * L1**2 * L2 + 55 * X) / 739200 * a**5
        - X * (a**4 * b / 6048 + a**3 * b**2 / 4320 + a**2 * b**3 / 4800 + a * b**4 / 8640 + b**5 / 30240)
    )
    V12 = (
        -X * a / 18
        - (5 * X + 2 * L2**3) / 60 * b
        + X * (a**3 / 360 + a**2 * b / 144 + a * b**2 / 120)
        + (7 * X + 2 * L2**3) / 1260 * b**3
        - X * (a**5 / 15120 + a**4 * b / 4320 + a**3 * b**2 / 2400 + a**2 * b**3 / 2160 + a * b**4 / 3024)
        - (9 * X + 2 * L2**3) / 60480 * b**5
    )
    V13 = (
        -X * a / 72
        - (9 * X + 5 * L2**3) / 360 * b
        + X * (a**3 / 1440 + a**2 * b / 480 + a * b**2 / 360)
        + (20 * X + 7 * L2**3) / 10080 * b**3
        - X * (a**5 / 60480 + a**4 * b / 14400 + a**3 * b**2 / 7200 + a**2 * b**3 / 6048 + a * b**4 / 8064)
        - (35 * X + 9 * L2**3) / 604800 * b**5
    )
    V21 = (
        X * a / 72
        + (5 * X + 3 * L2**3) / 180 * b
        - X * (a**3 / 2160 + a**2 * b / 720 + a * b**2 / 480)
        - (7 * X + 3 * L2**3) / 3780 * b**3
        + X * (a**5 / 120960 + a**4 * b / 30240 + a**3 * b**2 / 14400 + a**2 * b**3 / 10800 + a * b**4 / 12096)
        + (3 * X + L2**3) / 60480 * b**5
    )
    V23 = L2**3 * (-b / 504 + b**3 / 12960 - b**5 / 739200)
    V1 = V11 * a_dot**2 + V12 * a_dot * b_dot + V13 * b_dot**2
    return jnp.stack([V1, V21 * a_dot**2 + V23 * b_dot**2])


def series_gravity_along_minus_y(lengths: Float[Array, " 2"], theta: Float[Array, " 2"]) -> Float[Array, " 2"]:
    """The gravity terms G_g of the backbone over rho A g for gravity along -Y, to degree 5 [m^2]; eq. A.4, corrected.

    The base is below, the finger upright; for a hanging finger change the sign.
    """
    (L1, L2), (a, b) = lengths, theta
    G1 = (
        -(L1**2 + 4 * L1 * L2 + 6 * L2**2) / 12 * a
        - L2**2 * b / 6
        + (L1**2 + 6 * L1 * L2 + 15 * L2**2) / 180 * a**3
        + L2**2 * (a**2 * b / 12 + a * b**2 / 24 + b**3 / 120)
        - (L1**2 + 8 * L1 * L2 + 28 * L2**2) / 6720 * a**5
        - L2**2 * (a**4 * b / 144 + a**3 * b**2 / 144 + a**2 * b**3 / 240 + a * b**4 / 720 + b**5 / 5040)
    )
    G2 = L2**2 * (
        (-a / 6 - b / 12 + a**3 / 36 + a**2 * b / 24 + a * b**2 / 40 + b**3 / 180)
        - (a**5 / 720 + a**4 * b / 288 + a**3 * b**2 / 240 + a**2 * b**3 / 360 + a * b**4 / 1008 + b**5 / 6720)
    )
    return jnp.stack([G1, G2])


def series_gravity_along_minus_x(lengths: Float[Array, " 2"], theta: Float[Array, " 2"]) -> Float[Array, " 2"]:
    """The gravity terms G_g of the backbone over rho A g for gravity along -X, to degree 4 [m^2]; not in the paper.

    The base is clamped horizontally, and a positive angle bends downwards; for gravity along +X change the sign.
    """
    (L1, L2), (a, b) = lengths, theta
    G1 = (
        -(L1**2 + 3 * L1 * L2 + 3 * L2**2) / 6
        + (L1**2 + 5 * L1 * L2 + 10 * L2**2) / 40 * a**2
        + L2**2 * (a * b / 6 + b**2 / 24)
        - (L1**2 + 7 * L1 * L2 + 21 * L2**2) / 1008 * a**4
        - L2**2 * (a**3 * b / 36 + a**2 * b**2 / 48 + a * b**3 / 120 + b**4 / 720)
    )
    G2 = L2**2 * (
        (-1 / 6 + a**2 / 12 + a * b / 12 + b**2 / 40)
        - (a**4 / 144 + a**3 * b / 72 + a**2 * b**2 / 80 + a * b**3 / 180 + b**4 / 1008)
    )
    return jnp.stack([G1, G2])
