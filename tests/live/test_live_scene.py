"""What a live page draws is where the robot is."""

import jax
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.viewer import colors
from hydrostat.viewer.platform_marks import CLEAR
from hydrostat.viewer.tubes import tube_faces, tube_vertices

pytest.importorskip("viser")
from hydrostat.live import LiveScene, open_server, snapshot
from hydrostat.live.controls import meanings
from hydrostat.live.merged_copies import MergedCopies


@pytest.fixture(scope="module")
def server():
    server = open_server(port=0)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def arm():
    system = hs.System(hs.robots.octopus_arm(), [hs.Water(current=(0.1, 0.0, 0.0))])
    bent = jax.tree.map(np.asarray, system.rest())
    q = np.array(bent.q)
    q[:, 0] = 4.0
    q[:, system.robot.arm.segments.modes.index("stretch")] += 0.2
    return system, bent._replace(q=q, activation=np.linspace(0.0, 1.0, bent.activation.size).reshape(-1, 5))


def volume(vertices, faces):
    a, b, c = (vertices[faces[:, i]].astype(float) for i in range(3))
    return float(np.sum(a * np.cross(b, c)) / 6.0)


def test_a_tube_has_the_volume_of_its_cones():
    z, radii = np.linspace(0.0, 1.0, 9), np.linspace(0.1, 0.04, 9)
    positions = np.column_stack([np.zeros((9, 2)), z])
    frames = np.broadcast_to(np.eye(3), (9, 3, 3))
    sides = 40
    found = volume(tube_vertices(positions, frames, radii, sides), tube_faces(9, sides))
    # A polygon of n sides has sin(2 pi / n) / (2 pi / n) of the circle's area; its tip lacks less than a dome.
    shrunk = np.sinc(2.0 / sides)
    cone = np.pi / 3.0 * (0.1**2 + 0.1 * 0.04 + 0.04**2) * shrunk
    assert cone - np.pi * 0.04**2 * 0.02 < found < cone
    assert found > 0.0  # faces are counter-clockwise from outside


def test_tubes_of_several_arms_are_those_of_each():
    rng = np.random.default_rng(0)
    positions, radii = rng.normal(size=(3, 5, 3)), rng.uniform(0.1, 0.2, (3, 5))
    frames = np.linalg.qr(rng.normal(size=(3, 5, 3, 3)))[0]
    together = tube_vertices(positions, frames, radii)
    for own, one in zip(together, zip(positions, frames, radii, strict=True), strict=True):
        np.testing.assert_array_equal(own, tube_vertices(*one))


def test_the_scene_follows_the_state(server, arm):
    system, bent = arm
    scene = LiveScene(server, system, root="/follows")
    before = scene.skin.meshes[0].vertices.copy()
    drawn = scene.update(bent)
    after = scene.skin.meshes[0].vertices
    np.testing.assert_allclose(after[-1], hs.results.Trajectory.of_states(system, bent).tip[0], atol=1e-6)
    assert np.abs(after - before).max() > 0.01
    # Rings have the radius that the arm has there now.
    rings = after[:-2].reshape(-1, 14, 3)
    widths = np.linalg.norm(rings[:5] - drawn.arms[0].positions[0, :5, None], axis=-1)
    np.testing.assert_allclose(widths, np.broadcast_to(drawn.arms[0].radii[0, :5, None], widths.shape), rtol=1e-4)


def test_activation_is_seen_on_the_side_of_its_muscle(server, arm):
    system, bent = arm
    activation = np.zeros_like(bent.activation)
    activation[3, 1] = 1.0  # the muscle at 90 degrees of the fourth segment
    scene = LiveScene(server, system, bent._replace(activation=activation), root="/active")
    patches = scene._layers["muscles"].copies
    away = np.abs(patches.batched_colors.astype(int) - patches.batched_colors[-1]).max(-1)
    (bright,) = np.argwhere(away > 20).ravel()
    arms = scene.scene.arms[0]
    first = 3 * arms.per_segment
    np.testing.assert_allclose(patches.batched_positions[bright], arms.positions[0, first], atol=1e-6)
    w, x, y, z = patches.batched_wxyzs[bright]
    outwards = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])
    assert outwards @ arms.rotations[0, first, :, 1] > 0.9


def test_only_muscles_that_are_active_are_drawn(server, arm):
    system, bent = arm
    scene = LiveScene(server, system, bent, root="/some")
    patches = scene._layers["muscles"].copies
    activation = np.asarray(bent.activation)
    # The four longitudinal muscles of a segment are a patch each, its radial muscles four.
    active = 4 * np.sum(activation[:, 4] > 0.01) + np.sum(activation[:, :4] > 0.01)
    assert active <= len(patches.batched_positions) < active + 64
    scene.update(bent._replace(activation=np.zeros_like(activation)))
    assert len(patches.batched_positions) == min(64, 8 * len(activation))


def test_layers_can_be_hidden_and_the_whole_removed(server, arm):
    system, bent = arm
    scene = LiveScene(server, system, root="/hidden")
    scene.show("muscles", False)
    before = scene._layers["muscles"].copies.batched_positions.copy()
    scene.update(bent)
    np.testing.assert_array_equal(scene._layers["muscles"].copies.batched_positions, before)
    assert scene.shown == {"muscles": False, "trails": True, "current": True, "forces": False}
    scene.remove()
    assert server.scene.get_handle_by_name("/hidden/muscles") is None


def test_tendons_are_redder_the_tighter_they_are(server):
    system = hs.System(hs.robots.tentacle())
    control = hs.Control(tension=np.arange(9.0))
    scene = LiveScene(server, system, root="/tendons")
    assert scene.legend() == {}  # all are slack
    drawn = scene.update(system.rest(), control)
    np.testing.assert_allclose(drawn.arms[0].tension[0], np.arange(9.0))
    lines = scene._layers["tendons"].lines
    starts = np.cumsum([0, *(len(course.directions) - 1 for course in drawn.arms[0].tendons)])[:-1]
    red = lines.colors[starts, 0, 0].astype(int)
    assert np.all(np.diff(red) > 0)
    assert scene.legend() == {"tension": 8.0}


def test_a_snapshot_is_of_one_row(arm):
    system, bent = arm
    found = snapshot(system, bent)
    assert found.time.shape == (1,)
    np.testing.assert_array_equal(found.current, [0.1, 0.0, 0.0])


def test_no_other_machine_without_a_gateway():
    with pytest.raises(ValueError, match="must be an address of this machine for itself"):
        open_server(port=0, host="0.0.0.0")


def test_a_hull_is_drawn_as_its_spheroid():
    from hydrostat.live.surrounding_layers import hull_mesh

    hull = hs.robots.squid_vehicle(arms=[2]).body.hull
    vertices, faces = hull_mesh(hull, rings=48)
    away = (
        (vertices - np.asarray(hull.centre)) / [float(hull.radius)] * [1.0, 1.0, float(hull.radius / hull.half_length)]
    )
    np.testing.assert_allclose(np.linalg.norm(away, axis=1), 1.0, rtol=1e-5)
    whole = 4.0 / 3.0 * np.pi * float(hull.radius) ** 2 * float(hull.half_length)
    # Flat faces of rings of m lie within: by about (pi / m)^2 of the volume.
    assert whole * (1.0 - 3.0 * (np.pi / 48) ** 2) < volume(vertices, faces) < whole


def test_a_body_that_is_held_is_drawn_where_its_limbs_begin(server):
    from hydrostat.live.fixed_body import draw_fixed_body
    from hydrostat.robots import find_robot

    spec = find_robot("squid")
    frame = draw_fixed_body(server.scene, "/held", spec)
    w, x, y, z = frame.wxyz
    ahead = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])  # the body's z
    np.testing.assert_allclose(ahead, spec.base.axis, atol=1e-6)
    system = hs.System(hs.robots.squid())
    begins = np.array([arm.positions[0, 0] for arm in snapshot(system, system.rest()).arms])
    np.testing.assert_allclose((begins - np.asarray(frame.position)) @ ahead, 0.0, atol=1e-6)
    head = server.scene.get_handle_by_name("/held/head")
    assert head.position[2] + 0.5 * head.height == pytest.approx(0.0)
    assert server.scene.get_handle_by_name("/held/tail").dimensions == (0.06, 0.24, 0.24)


def test_legs_and_rings_of_platforms_are_seen_through_their_skin(server):
    system = hs.System(hs.robots.stewart_arm(3))
    scene = LiveScene(server, system, root="/platforms")
    assert [mesh.opacity for mesh in scene.skin.meshes] == [CLEAR]
    assert scene.shown == {"legs": True, "trails": True, "forces": False}
    rods, hoops = (part.copies for part in scene._layers["legs"]._parts)
    assert (len(rods.batched_positions), len(hoops.batched_positions)) == (6 * 3, 2 * 3)
    before, state = np.array(rods.batched_positions), system.rest()
    q = np.array(state.q)
    q[:, 5] += 0.5
    drawn = scene.update(state._replace(q=q))
    (arm,) = drawn.arms
    place = arm.positions[0], arm.rotations[0]
    np.testing.assert_allclose(rods.batched_positions, arm.frame.legs(*place)[:, 0], atol=1e-6)
    assert np.abs(rods.batched_positions - before).max() > 0.5
    # Longer segments have narrower rings, and the skin goes with them.
    at_rest = 0.25 * np.sqrt(system.robot.arm.segments.length[0] / (system.robot.arm.segments.length[0] + 0.5))
    np.testing.assert_allclose([hoops.batched_scales[0, 0], arm.radii[0, 0]], at_rest, rtol=1e-6)
    scene.set_light(True)
    merged = scene._layers["legs"]._parts[0].copies
    assert isinstance(merged, MergedCopies)
    scene.show("legs", False)
    assert not merged.frame.visible
    assert ("leg", colors.LEG) in meanings(scene)
    scene.remove()
    # Other arms have no such layer, and a whole skin.
    other = LiveScene(server, hs.System(hs.robots.tentacle()), root="/other")
    assert "legs" not in other.shown
    assert other.skin.meshes[0].opacity is None
    other.remove()
