"""Copies that are merged into a few meshes show what single copies would."""

import numpy as np
import pytest

import hydrostat as hs
from hydrostat.live import LiveScene, open_server
from hydrostat.live.merged_copies import placed
from hydrostat.live.pictures import Picture
from hydrostat.viewer import colors, skin_marks


@pytest.fixture(scope="module")
def server():
    pytest.importorskip("viser")
    server = open_server(port=0)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def octopus():
    system = hs.System(hs.robots.octopus(), [hs.Water(), hs.Ground(), hs.Suckers()])
    return system, system.rest()


def test_copies_are_placed_as_a_rotation_of_each_would():
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(0)
    turns = Rotation.random(5, rng)
    places, sizes, corners = rng.normal(size=(5, 3)), rng.uniform(0.5, 2.0, (5, 3)), rng.normal(size=(4, 3))
    copies = skin_marks.Copies(places, turns.as_quat(scalar_first=True), sizes, np.zeros((5, 3), np.uint8))
    expected = [turns[i].apply(sizes[i] * corners) + places[i] for i in range(5)]
    np.testing.assert_allclose(placed(corners, copies), expected, atol=1e-6)


def test_light_detail_has_a_mesh_for_each_colour_and_shows_every_sucker_once(server, octopus):
    system, state = octopus
    scene = LiveScene(server, system, state, root="/light")
    suckers = scene._layers["suckers"]
    count = len(suckers.copies.batched_positions)
    scene.set_light(True)
    assert server.scene.get_handle_by_name("/light/suckers/1") is not None
    corners = len(skin_marks.disc(6)[0])
    # A colour that nothing has is a triangle without size.
    used = [mesh for mesh in suckers.copies.meshes if len(mesh.vertices) > 3]
    shown = [mesh.vertices.reshape(-1, corners, 3) for mesh in used]
    assert [mesh.color for mesh in suckers.copies.meshes] == [
        colors.SUCKER,
        colors.HOLDS_GROUND,
        colors.HOLDS_OBJECT,
    ]
    assert sum(int(np.sum(np.ptp(own, axis=1).max(-1) > 0.0)) for own in shown) == count
    assert all(mesh.faces.max() + 1 == len(mesh.vertices) for mesh in used)
    scene.set_light(False)
    assert server.scene.get_handle_by_name("/light/suckers/1") is None
    assert len(suckers.copies.batched_positions) == count
    scene.remove()


def test_muscles_in_light_detail_have_the_nearest_of_a_few_colours(server, octopus):
    system, state = octopus
    activation = np.zeros_like(np.asarray(state.activation))
    activation[0, 3, 1] = 1.0
    scene = LiveScene(server, system, state._replace(activation=activation), root="/nearest")
    scene.set_light(True)
    muscles = scene._layers["muscles"]
    sizes = [np.ptp(mesh.vertices.reshape(-1, 6, 3), axis=1).max(-1) if len(mesh.vertices) > 3 else np.zeros(1)
             for mesh in muscles.copies.meshes]  # fmt: skip
    drawn = [int(np.sum(own > 0.0)) for own in sizes]
    # A longitudinal muscle, fully active: one patch, in the last shade of its hue.
    assert drawn == [0, 0, 1, 0, 0, 0]
    mesh = muscles.copies.meshes[2]
    again = mesh.vertices.copy()
    muscles.update(Picture(scene.scene, 0))
    np.testing.assert_array_equal(mesh.vertices, again)
    scene.show("muscles", False)
    assert not muscles.copies.frame.visible
    scene.remove()
