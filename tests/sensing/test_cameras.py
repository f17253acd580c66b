"""Cameras: what they see by geometry, errors of stereo against their analytic size, balls from their outlines."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.sensing import Camera, Spotlight, StereoHead

TURN, PLACE = Rotation.from_euler("xyz", [0.3, -0.4, 1.1]).as_matrix(), np.array([0.2, -0.1, 0.4])
POSE = SE3(jnp.asarray(TURN), jnp.asarray(PLACE))


def ahead(points):
    """Points of the world from their places in the camera's frame."""
    return np.asarray(points) @ TURN.T + PLACE


def test_a_point_is_seen_where_the_ray_through_its_pixel_passes_it():
    camera = Camera()
    points = ahead([[0.1, -0.05, 0.5], [0.0, 0.0, 1.0], [-0.2, 0.1, 2.0]])
    pixels = camera.project(POSE, points)
    away = (points - PLACE) @ TURN
    np.testing.assert_allclose(camera.rays(pixels), away / np.linalg.norm(away, axis=1)[:, None], atol=1e-12)
    np.testing.assert_allclose(pixels[1], [320.0, 240.0])
    # The edge of the picture is half the field of view from its middle.
    edge = camera.project(POSE, ahead([[0.0, np.tan(0.5 * camera.field_of_view), 1.0]]))
    np.testing.assert_allclose(edge[0], [320.0, 480.0])
    assert np.isnan(camera.project(POSE, ahead([[0.0, 0.0, -1.0]]))).all()


def test_triangulation_is_exact_without_noise_and_has_the_analytic_error_with_it():
    exact = StereoHead(Camera(), baseline=0.1)
    points = ahead(np.random.default_rng(0).uniform([-0.1, -0.1, 0.5], [0.1, 0.1, 1.5], (50, 3)))
    np.testing.assert_allclose(exact.triangulate(POSE, points), points, atol=1e-12)
    for depth in (0.5, 1.0):
        head = StereoHead(Camera(noise=0.5), baseline=0.1, seed=3)
        many = np.repeat(ahead([[0.05, 0.02, depth]]), 4000, 0)
        off = (head.triangulate(POSE, many) - many) @ TURN
        # A standard deviation of n samples is known to 1 / sqrt(2 n); four times that.
        assert off[:, 2].std() == pytest.approx(head.depth_noise(depth), rel=4.0 / np.sqrt(8000))


def test_balls_are_exact_without_noise_and_err_as_their_outlines_do():
    centre, radius = ahead([0.06, -0.04, 0.8]), 0.05
    (found,) = StereoHead(Camera(), baseline=0.1).observe(0.0, POSE, [(centre, radius)])
    np.testing.assert_allclose(found.centre, centre, atol=1e-10)
    assert found.radius == pytest.approx(radius, abs=1e-10)
    head = StereoHead(Camera(noise=0.5), baseline=0.1, seed=4)
    seen = [head.observe(float(t), POSE, [(centre, radius)])[0] for t in range(600)]
    depth = np.array([(one.centre - centre) @ TURN[:, 2] for one in seen])
    # The centre of a circle from m points of its outline has the noise s sqrt(2 / m); 48 points are measured.
    assert depth.std() == pytest.approx(head.depth_noise(0.8) * np.sqrt(2.0 / 48), rel=4.0 / np.sqrt(1200) + 0.05)
    assert abs(depth.mean()) < 4.0 * depth.std() / np.sqrt(600) + 1e-4
    assert np.mean([one.radius for one in seen]) == pytest.approx(radius, rel=0.01)


def test_pictures_come_at_the_rate_and_what_is_not_all_in_both_is_not_seen():
    head = StereoHead(Camera(rate=10.0), baseline=0.1)
    ball = (ahead([0.0, 0.0, 0.6]), 0.05)
    assert [len(head.observe(0.01 * i, POSE, [ball])) for i in range(12)] == [1] + 9 * [0] + [1, 0]
    for place in ([0.0, 0.0, -0.6], [0.6, 0.0, 0.6], [0.0, 0.0, 0.04]):
        assert head.observe(np.inf, POSE, [(ahead(place), 0.05)]) == []
        head._next = -np.inf


def test_light_falls_with_distance_and_beside_the_cone():
    lamp = Spotlight(attenuation=0.0)
    light = lamp.light(POSE, ahead([[0.0, 0.0, 0.5], [0.0, 0.0, 1.0], [0.5, 0.0, 0.5], [0.0, 0.0, -0.5]]))
    np.testing.assert_allclose(light[:2], [1.0, 0.25])
    assert light[2] < 0.02
    assert light[3] < 1e-4
    dim = Spotlight(attenuation=0.7).light(POSE, ahead([[0.0, 0.0, 1.5]]))
    np.testing.assert_allclose(dim, np.exp(-0.7) / 9.0)


@pytest.mark.parametrize("bad", [{"noise": -1.0}, {"rate": 0.0}, {"width": 0}, {"field_of_view": 4.0}], ids=str)
def test_a_camera_that_cannot_be_is_refused(bad):
    with pytest.raises(InputError, match=next(iter(bad))):
        Camera(**bad)
