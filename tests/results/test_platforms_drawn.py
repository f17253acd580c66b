"""Legs and rings of chains of platforms are drawn where they are."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.actuation import rest_poses
from hydrostat.control import Platforms
from hydrostat.results.filming import surfaces_of
from hydrostat.results.platform_figures import draw_platforms_side, rings
from hydrostat.results.platform_rows import platform_rows
from hydrostat.results.platform_summary import platform_motion
from hydrostat.results.replaying import arm_tubes, skin_marks_of
from hydrostat.results.scene import Scene
from hydrostat.results.trajectory import Trajectory
from hydrostat.robots import build_robot
from hydrostat.robots.specs.stewart_arm import stewart_arm
from hydrostat.viewer import colors
from hydrostat.viewer.platform_marks import CLEAR, hoop, legs_of, rings_of, rod
from hydrostat.viewer.skin_marks import placed

COUNT = 4


@pytest.fixture(scope="module")
def moved():
    """Three moments of an arm of four segments, as a scene, and its rows by the segments' own equations."""
    system = hs.System(build_robot(stewart_arm(COUNT)))
    rng = np.random.default_rng(0)
    q = np.concatenate([rng.uniform(-0.3, 0.3, (3, COUNT, 3)), rng.uniform(-0.15, 0.15, (3, COUNT, 3))], -1)
    states = [system.rest(q=one)._replace(time=np.asarray(0.5 * k)) for k, one in enumerate(q)]
    trajectory = _joined(system, states)
    arm = Platforms.of(system.robot)
    T = arm.segments.pose(jnp.asarray(q), 1.0)
    return Scene.of(trajectory), platform_rows(arm, T), platform_motion(arm, T, None, 0.5 * np.arange(3.0), dt=0.5)


def _joined(system, states):
    """The trajectory of some states."""
    return Trajectory.of_states(system, jax.tree.map(lambda *y: np.stack([np.asarray(one) for one in y]), *states))


def test_legs_and_rings_follow_from_the_plates(moved):
    scene, rows, _ = moved
    (arm,) = scene.arms
    assert arm.frame is not None
    place = arm.positions, arm.rotations
    joints = np.moveaxis(rows.joints, 2, 3).reshape(3, -1, 2, 3)
    np.testing.assert_allclose(arm.frame.legs(*place), joints, atol=1e-13)
    np.testing.assert_allclose(arm.frame.rings(*place).radii, rows.rings.reshape(3, -1), atol=1e-14)
    # The skin is as wide as the rings: at the end of a segment, as its upper one.
    np.testing.assert_allclose(arm.radii[:, arm.per_segment :: arm.per_segment], rows.rings[..., 1], atol=1e-13)
    assert np.ptp(rows.rings[:, 1, 0]) > 1e-3


def test_legs_begin_and_end_on_the_circles_of_their_rings(moved):
    scene, *_ = moved
    (arm,) = scene.arms
    place = arm.positions[1], arm.rotations[1]
    rings, legs = arm.frame.rings(*place), arm.frame.legs(*place).reshape(COUNT, 6, 2, 3)
    for k, ends in enumerate(np.moveaxis(legs, 2, 1).reshape(2 * COUNT, 6, 3)):
        away = ends - rings.centres[k]
        np.testing.assert_allclose(np.linalg.norm(away, axis=-1), rings.radii[k], rtol=1e-12)
        np.testing.assert_allclose(away @ rings.rotations[k][:, 2], 0.0, atol=1e-13)
    circles = rings.circles(9)
    np.testing.assert_allclose(circles[:, 0], circles[:, -1], atol=1e-15)


def test_other_arms_have_no_frame():
    system = hs.System(hs.robots.build_robot(hs.robots.find_robot("rod")))
    assert Scene.of(_joined(system, [system.rest()] * 3)).arms[0].frame is None


def test_rods_and_hoops_are_where_legs_and_rings_are(moved):
    scene, *_ = moved
    (arm,) = scene.arms
    place = arm.positions[0], arm.rotations[0]
    ends, rings = arm.frame.legs(*place), arm.frame.rings(*place)
    vertices, faces = rod()
    corners = placed(vertices, legs_of(ends, 0.25))
    half = len(vertices) // 2
    np.testing.assert_allclose(corners[:, :half].mean(1), ends[:, 0], atol=1e-6)
    np.testing.assert_allclose(corners[:, half:].mean(1), ends[:, 1], atol=1e-6)
    assert faces.max() == len(vertices) - 1
    vertices, faces = hoop()
    corners = placed(vertices, rings_of(rings.centres, rings.rotations, rings.radii))
    np.testing.assert_allclose(corners.mean(1), rings.centres, atol=1e-6)
    away = np.linalg.norm(corners - rings.centres[:, None], axis=-1) / rings.radii[:, None]
    assert away.min() > 0.9
    assert away.max() < 1.1
    # Faces look outwards: a hoop has a positive volume.
    a, b, c = (vertices[faces[:, i]].astype(float) for i in range(3))
    assert np.sum(a * np.cross(b, c)) > 0.0


def test_a_replay_has_them_in_a_clear_skin(moved):
    scene, rows, _ = moved
    assert [tube.opacity for tube in arm_tubes(scene)] == [CLEAR]
    legs, rings = skin_marks_of(scene)
    assert (legs.name, legs.count, rings.name, rings.count) == ("legs", 6 * COUNT, "rings", 2 * COUNT)
    found = legs.at(0.5)
    np.testing.assert_allclose(found.positions, np.moveaxis(rows.joints, 2, 3)[1, :, :, 0].reshape(-1, 3), atol=1e-6)
    np.testing.assert_allclose(found.scales[:, 2], rows.legs[1].ravel(), atol=1e-6)
    np.testing.assert_allclose(rings.at(1.0).scales[:, 0], rows.rings[2].ravel(), atol=1e-6)


def test_the_replay_of_tracking_has_them_too(moved, tmp_path):
    pytest.importorskip("viser")
    from hydrostat.results.platform_figures import replay_platforms

    page = tmp_path / "replay.html"
    replay_platforms(page, moved[2], "four")
    assert page.stat().st_size > 100_000


def test_films_show_legs_and_rings(moved):
    scene, *_ = moved
    surfaces, _ = surfaces_of(scene, 1)
    assert [tuple(surface.colors[0]) for surface in surfaces] == [colors.LEG, colors.RING]
    assert len(surfaces[0].vertices) == 6 * COUNT * len(rod(4)[0])


def test_figures_have_both_rings_of_every_segment_and_all_legs(moved):
    from matplotlib.figure import Figure

    from hydrostat.results.drawing import draw_arm_side, draw_view

    scene, rows, motion = moved
    assert rings(motion, 0).shape[0] == 2 * COUNT
    centres = rings(motion, 0)[:, :-1].mean(1)
    np.testing.assert_allclose(centres[1::2], rows.plates.position[0, 1:], atol=1e-12)
    axes = Figure().subplots(1, 3)
    draw_platforms_side(axes[0], motion, 0, np.eye(3)[[0, 2]])
    draw_view(axes[1], scene, 0)
    draw_arm_side(axes[2], scene, 0)
    for one in axes:
        counts = [
            len(collection.get_segments()) for collection in one.collections if hasattr(collection, "get_segments")
        ]
        assert counts[-2:] == [2 * COUNT, 6 * COUNT]


def test_rest_rings_meet():
    """At rest the upper ring of a segment is the lower one of the next."""
    segments = build_robot(stewart_arm(COUNT)).arm.segments
    rings = np.asarray(segments.rings(rest_poses(segments)))
    np.testing.assert_allclose(rings[:-1, 1], rings[1:, 0], rtol=1e-12)
