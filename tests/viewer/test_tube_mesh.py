import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hydrostat.viewer.mesh import TubeMesh, bind, tube_mesh

SIDES = 48
# A regular polygon of SIDES corners has this share of its circle's area.
POLYGON = SIDES / (2 * np.pi) * np.sin(2 * np.pi / SIDES)


def volume(mesh: TubeMesh) -> float:
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(np.sum(a * np.cross(b, c)) / 6)


def half_ellipsoid(radius: float, height: float, rings: int = 6) -> float:
    """Volume under the dome as it is built: frusta between circles on a quarter of an ellipse."""
    angle = np.linspace(0, np.pi / 2, rings + 1)
    r, z = radius * np.cos(angle), height * np.sin(angle)
    return float(np.pi / 3 * np.sum(np.diff(z) * (r[1:] ** 2 + r[1:] * r[:-1] + r[:-1] ** 2)))


def test_volume_of_a_cylinder():
    mesh = tube_mesh(np.linspace(0, 0.5, 8), np.full(8, 0.03), sides=SIDES)
    exact = np.pi * 0.03**2 * (0.5 - 0.015) + half_ellipsoid(0.03, 0.015)
    np.testing.assert_allclose(volume(mesh), POLYGON * exact, rtol=1e-12)
    # The faceted dome is nearly two thirds of the cylinder around it.
    np.testing.assert_allclose(half_ellipsoid(0.03, 0.015), 2 / 3 * np.pi * 0.03**2 * 0.015, rtol=0.03)


def test_volume_of_a_cone():
    base, tip, length = 0.05, 0.02, 1.05
    mesh = tube_mesh(np.linspace(0, length, 12), np.linspace(base, tip, 12), sides=SIDES)
    dome = tip / 2
    shoulder = tip + (base - tip) * dome / length
    frustum = np.pi / 3 * (length - dome) * (base**2 + base * shoulder + shoulder**2)
    np.testing.assert_allclose(volume(mesh), POLYGON * (frustum + half_ellipsoid(shoulder, dome)), rtol=1e-12)


@pytest.mark.parametrize("nodes", [2, 3, 20])
@pytest.mark.parametrize("radius", [0.001, 0.05, 2.0])
def test_closed_and_facing_outwards(nodes: int, radius: float):
    mesh = tube_mesh(np.linspace(0, 1, nodes), np.full(nodes, radius))
    edges = np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]])
    there = {tuple(edge) for edge in edges.tolist()}
    # Every edge is walked exactly once in each direction: no hole, no flap, one orientation.
    assert len(there) == len(edges)
    assert there == {(b, a) for a, b in there}
    assert set(mesh.faces.ravel().tolist()) == set(range(len(mesh.vertices)))
    assert volume(mesh) > 0


def test_tip_and_base_stay_where_they_are():
    mesh = tube_mesh(np.array([0.0, 0.1, 0.3]), np.array([0.02, 0.02, 0.01]))
    assert mesh.vertices[:, 2].min() == 0.0
    assert mesh.vertices[:, 2].max() == 0.3


@pytest.mark.parametrize("nodes", [2, 3, 20])
def test_weights(nodes: int):
    stations = np.cumsum(np.linspace(1, 2, nodes)) - 1
    mesh = tube_mesh(stations, np.full(nodes, 0.1))
    assert mesh.weights.shape == (len(mesh.vertices), nodes)
    assert np.all(mesh.weights >= 0)
    np.testing.assert_allclose(mesh.weights.sum(axis=1), 1, rtol=1e-12)
    # At most two nodes move a vertex, and they balance where it is.
    assert np.count_nonzero(mesh.weights, axis=1).max() <= 2
    np.testing.assert_allclose(mesh.weights @ stations, mesh.vertices[:, 2], atol=1e-12)


def skinned_arc_error(nodes: int, curvature: float = 2.0, radius: float = 0.05) -> float:
    """Bend a straight tube of 1 m to an arc by linear blend skinning; return how far its rings' centres are off."""
    stations = np.linspace(0, 1, nodes)
    sides = 12
    mesh = tube_mesh(stations, np.full(nodes, radius), sides)
    angle = curvature * stations
    positions = np.stack([1 - np.cos(angle), 0 * angle, np.sin(angle)], axis=-1) / curvature
    rotations = Rotation.from_euler("y", angle[:, None]).as_matrix()
    local = bind(mesh.vertices)[:, None] - bind(stations[:, None] * np.array([0.0, 0, 1]))
    moved = np.einsum("vn,vni->vi", mesh.weights, positions + np.einsum("nij,vnj->vni", rotations, local))
    centres = moved[:-2].reshape(-1, sides, 3).mean(axis=1)
    heights = mesh.vertices[:-2, 2].reshape(-1, sides).mean(axis=1)
    truth = np.stack([1 - np.cos(curvature * heights), 0 * heights, np.sin(curvature * heights)], -1) / curvature
    # Across the arc: along it a ring may slide, which nobody sees.
    outwards = np.stack([np.cos(curvature * heights), 0 * heights, -np.sin(curvature * heights)], axis=-1)
    return float(np.abs(np.sum((centres - truth) * outwards, axis=-1)).max())


def test_skinned_tube_follows_an_arc_to_fourth_order():
    coarse, fine = skinned_arc_error(9), skinned_arc_error(17)
    assert coarse < 1e-5  # of a tube of 1 m; chords between the nodes would be off by 4 mm
    assert 14 < coarse / fine < 18
