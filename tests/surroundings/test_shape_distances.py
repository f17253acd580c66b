"""Signed distances: against sampled surfaces, their own gradients, and at the points where formulas break."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial import cKDTree

from hydrostat import SE3
from hydrostat.errors import InputError
from hydrostat.lie import se3
from hydrostat.surroundings import Box, Capsule, Plane, Sphere

POSE = se3.exp(jnp.array([0.4, -0.7, 0.2, 0.3, -0.1, 0.5]))
A, B = np.array([0.3, -0.2, 0.1]), np.array([-0.1, 0.4, 0.6])
HALF = np.array([0.5, 0.3, 0.2])
SHAPES = {
    "plane": Plane([0.1, 0.2, 0.3], [1.0, -2.0, 2.0]),
    "sphere": Sphere([0.1, -0.2, 0.3], 0.4),
    "capsule": Capsule(A, B, 0.25),
    "box": Box(POSE, HALF),
    "ball": Capsule(A, A, 0.25),
}
surface_of = jax.jit(jax.vmap(lambda shape, point: shape.distance_and_normal(point), in_axes=(None, 0)))


def points(count=400, seed=0):
    return np.random.default_rng(seed).uniform(-1.2, 1.2, (count, 3))


# --- Sampled surfaces: points that cover a surface so that none of it is farther from a sample than `cover`.


def sphere_samples(spacing=0.02):
    angles = np.arange(0, np.pi + spacing, spacing)
    turns = np.arange(0, 2 * np.pi, spacing)
    polar, azimuth = (x.ravel() for x in np.meshgrid(angles, turns))
    rim = np.sin(polar)
    return np.stack([rim * np.cos(azimuth), rim * np.sin(azimuth), np.cos(polar)], -1), spacing


def capsule_samples():
    unit, spacing = sphere_samples()
    ends = np.concatenate([A + 0.25 * unit, B + 0.25 * unit])
    axis = (B - A) / np.linalg.norm(B - A)
    # Both ends as whole spheres, and the side; what lies inside the capsule is not on its surface.
    across = np.linalg.svd(axis[None])[2][1:]
    turn = np.arange(0, 2 * np.pi, spacing)[:, None]
    ring = 0.25 * (np.cos(turn) * across[0] + np.sin(turn) * across[1])
    side = (A + np.linspace(0, 1, 200)[:, None, None] * (B - A) + ring).reshape(-1, 3)
    samples = np.concatenate([ends, side])
    along = np.clip((samples - A) @ axis / np.linalg.norm(B - A), 0, 1)[:, None]
    outer = np.linalg.norm(samples - A - along * (B - A), axis=-1) > 0.25 * (1 - 1e-9)
    return samples[outer], 0.25 * spacing


def box_samples(count=81):
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, count)] * 2), -1).reshape(-1, 2)
    faces = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            face = np.insert(grid, axis, side, axis=1)
            faces.append(face * HALF)
    local = np.concatenate(faces)
    world = local @ np.asarray(POSE.rotation).T + np.asarray(POSE.position)
    return world, 2 * HALF.max() / (count - 1)


def samples_of(name):
    if name == "box":
        return box_samples()
    if name == "capsule":
        return capsule_samples()
    unit, spacing = sphere_samples()
    return (
        (A + 0.25 * unit, 0.25 * spacing)
        if name == "ball"
        else (np.array([0.1, -0.2, 0.3]) + 0.4 * unit, 0.4 * spacing)
    )


def inside(name, point):
    if name == "box":
        local = (point - np.asarray(POSE.position)) @ np.asarray(POSE.rotation)
        return np.all(np.abs(local) < HALF, -1)
    if name == "capsule":
        axis = A + np.linspace(0, 1, 2001)[:, None] * (B - A)
        return cKDTree(axis).query(point)[0] < 0.25
    centre, radius = (A, 0.25) if name == "ball" else ([0.1, -0.2, 0.3], 0.4)
    return np.linalg.norm(point - centre, axis=-1) < radius


@pytest.mark.parametrize("name", ["sphere", "capsule", "box", "ball"])
def test_distance_is_that_to_the_nearest_of_many_points_of_the_surface(name):
    samples, cover = samples_of(name)
    point = points()
    distance = np.asarray(surface_of(SHAPES[name], point).distance)
    nearest = cKDTree(samples).query(point)[0]
    # The nearest sample is never nearer than the surface, and farther by no more than the gaps between samples.
    assert np.all(nearest >= np.abs(distance) - 1e-12)
    assert np.all(nearest <= np.abs(distance) + cover)
    # The sampled axis of the capsule decides only beyond its own coarseness.
    clear = np.abs(distance) > 1e-6
    np.testing.assert_array_equal((distance < 0)[clear], inside(name, point)[clear])


def test_plane_by_its_definition():
    point, plane = points(), SHAPES["plane"]
    np.testing.assert_allclose(plane.normal, np.array([1, -2, 2]) / 3)
    expected = (point - [0.1, 0.2, 0.3]) @ np.array([1, -2, 2]) / 3
    np.testing.assert_allclose(surface_of(plane, point).distance, expected, atol=1e-15)


# --- Degenerate places: centre, axis, ends, faces, edges, corners, and where two faces are equally near.


def on_box(*local):
    return np.asarray(POSE.apply(jnp.asarray(np.array(local) * HALF)))


DEGENERATE = [
    ("sphere", [0.1, -0.2, 0.3]),
    ("sphere", [0.1, -0.2, 0.3 + 1e-160]),
    ("sphere", [0.1, -0.2, 0.7]),
    ("capsule", A),
    ("capsule", B),
    ("capsule", 0.5 * (A + B)),
    ("capsule", 0.3 * A + 0.7 * B),
    ("ball", A),
    ("box", on_box(0, 0, 0)),
    ("box", on_box(1, 0, 0)),
    ("box", on_box(1, 1, 0)),
    ("box", on_box(1, -1, 1)),
    ("box", on_box(2, 1, 1)),
    ("box", on_box(1, 1, 5)),
    ("plane", [0.1, 0.2, 0.3]),
]


# Every shape sees all these points, its own degenerate ones among them.
ALL = np.concatenate([points(100), np.array([point for _, point in DEGENERATE], float)])
# In reverse mode, where a hidden branch that is not finite shows.
derivatives_of = jax.jit(
    jax.vmap(jax.jacrev(lambda shape, point: shape.distance_and_normal(point), (0, 1)), in_axes=(None, 0))
)


@pytest.mark.parametrize("name", SHAPES)
def test_nothing_is_nan_even_at_degenerate_points(name):
    leaves = jax.tree.leaves((surface_of(SHAPES[name], ALL), derivatives_of(SHAPES[name], ALL)))
    assert all(np.all(np.isfinite(leaf)) for leaf in leaves)


@pytest.mark.parametrize("name", SHAPES)
def test_normal_is_the_gradient_and_leads_to_the_closest_point(name):
    shape = SHAPES[name]
    surface = surface_of(shape, ALL)
    gradient = derivatives_of(shape, ALL).distance[1]
    np.testing.assert_allclose(gradient, surface.normal, atol=1e-13)
    # The compiler may take one over a root by Newton's method, which on some processors is good to 2e-14.
    np.testing.assert_allclose(np.linalg.norm(surface.normal, axis=-1), 1.0, rtol=1e-13)
    np.testing.assert_allclose(surface.closest + surface.distance[:, None] * surface.normal, ALL, atol=1e-14)
    # The closest point is on the surface; a ulp off it, the nearest face or end may be another one, but as near.
    np.testing.assert_allclose(surface_of(shape, surface.closest).distance, 0.0, atol=1e-14)


@pytest.mark.parametrize("name", SHAPES)
def test_gradient_agrees_with_differences(name):
    # Away from kinks, which few of these points are near; central differences err by h^2 / distance to the axis.
    point, h = points(), 1e-6
    steps = h * np.eye(3)
    slope = [
        (surface_of(SHAPES[name], point + e).distance - surface_of(SHAPES[name], point - e).distance) for e in steps
    ]
    error = np.abs(np.stack(slope, -1) / (2 * h) - surface_of(SHAPES[name], point).normal)
    assert np.all(np.sort(error.max(-1))[:-2] < 1e-8)


def test_normal_on_the_axis_of_a_capsule_is_across_it():
    surface = SHAPES["capsule"].distance_and_normal(jnp.asarray(0.4 * A + 0.6 * B))
    assert float(surface.distance) == pytest.approx(-0.25)
    assert float(surface.normal @ (B - A)) == pytest.approx(0.0, abs=1e-15)


# --- Motion, stacks, errors


@pytest.mark.parametrize("name", SHAPES)
def test_velocity_of_the_material_is_that_of_a_rigid_body(name):
    v, w = jnp.array([0.1, 0.2, -0.3]), jnp.array([1.0, -2.0, 0.5])
    shape = eqx.tree_at(lambda s: (s.velocity, s.angular_velocity), SHAPES[name], (v, w))
    reference = {"plane": [0.1, 0.2, 0.3], "sphere": [0.1, -0.2, 0.3], "capsule": (A + B) / 2, "ball": A}
    centre = reference.get(name, POSE.position)
    point = np.array([0.7, 0.1, -0.4])
    np.testing.assert_allclose(shape.velocity_at(jnp.asarray(point)), v + np.cross(w, point - centre), atol=1e-15)
    assert not np.any(SHAPES[name].velocity_at(jnp.asarray(point)))


def test_shapes_of_one_kind_stack():
    centres = jnp.asarray(points(5))
    spheres = jax.vmap(Sphere)(centres, jnp.full(5, 0.1))
    distances = jax.vmap(lambda sphere: sphere.distance_and_normal(jnp.zeros(3)).distance)(spheres)
    np.testing.assert_allclose(distances, np.linalg.norm(centres, axis=-1) - 0.1, rtol=1e-14)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Sphere([0, 0, 0], -1), "`radius` must be positive; got -1"),
        (lambda: Sphere([0, 0, 0], 0.0), "`radius` must be positive; got 0"),
        (lambda: Sphere([0, 0, 0], float("nan")), "`radius` must be a positive number; got nan"),
        (lambda: Sphere([0, 0, 0], [1, 2]), "`radius` must be a positive number; got [1, 2]"),
        (lambda: Sphere([0, 0], 1), "`centre` must be 3 finite numbers; got [0, 0]"),
        (lambda: Sphere("here", 1), "`centre` must be 3 finite numbers; got 'here'"),
        (lambda: Sphere([0, 0, 0], 1, velocity=[0, 0, np.inf]), "`velocity` must be 3 finite numbers; got [0, 0, inf]"),
        (lambda: Sphere([0, 0, 0], 1, angular_velocity=3), "`angular_velocity` must be 3 finite numbers; got 3"),
        (lambda: Plane([0, 0, 0], [0, 0, 0]), "`normal` must not be zero; got [0, 0, 0]"),
        (lambda: Plane([0, 0], [0, 0, 1]), "`point` must be 3 finite numbers; got [0, 0]"),
        (lambda: Capsule([0, 0, None], [0, 0, 1], 1), "`a` must be 3 finite numbers; got [0, 0, None]"),
        (lambda: Capsule([0, 0, 0], [0, 1], 1), "`b` must be 3 finite numbers; got [0, 1]"),
        (lambda: Capsule([0, 0, 0], [0, 0, 1], 0), "`radius` must be positive; got 0"),
        (lambda: Box(SE3.identity(), [1, 1, -1]), "`half_sizes` must be positive; got [1.0, 1.0, -1.0]"),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert str(error.value) == message
