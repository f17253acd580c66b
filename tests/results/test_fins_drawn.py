"""Fins are drawn where their blade elements are that push the water."""

import jax.numpy as jnp
import numpy as np
import pytest

import hydrostat as hs
from hydrostat.lie import so3
from hydrostat.mechanics.nodes import Nodes
from hydrostat.results.filming import surfaces_of
from hydrostat.results.replaying import _outlines, replay_scene
from hydrostat.results.scene import Scene
from hydrostat.surroundings.fins import Beat, FinForces, Fins


@pytest.fixture(scope="module")
def swimmer():
    return hs.System(hs.robots.squid_vehicle(arms=[2]), [hs.Water(1025.0, added_mass=1.0), hs.robots.squid_fins()])


@pytest.fixture(scope="module")
def beating(swimmer):
    """A state with a turned body, and fins with waves and flaps."""
    rng, state = np.random.default_rng(1), swimmer.rest()
    pose = hs.SE3(so3.exp(jnp.array([0.4, -0.8, 0.3])), jnp.array([1.0, -2.0, 0.5]))
    fins = state.surroundings[1]._replace(phase=jnp.asarray(1.3), amplitude=jnp.asarray(rng.uniform(-0.4, 0.4, (6, 2))))
    return state._replace(base_pose=pose, surroundings=(state.surroundings[0], fins))


def test_the_membrane_passes_the_blade_elements(swimmer, beating):
    fins, state = swimmer.part(Fins), swimmer.part_state(beating, Fins)
    beat = Beat(state.phase, state.amplitude, jnp.zeros((6, 2)), jnp.zeros(()))
    R = jnp.asarray(beating.base_pose.rotation)[None]
    still = jnp.zeros((1, 3))
    body = Nodes(still, still, still, still, jnp.zeros(1), jnp.zeros(1), rotation=R)
    levers = np.asarray(FinForces(fins, beat, jnp.asarray(1025.0), jnp.zeros(3)).elements(body)[0])
    places = beating.base_pose.position + levers.reshape(6, 4, 2, 3)
    count = 401
    membrane = np.asarray(fins.membrane(state, count))
    membrane = beating.base_pose.position + membrane @ np.asarray(beating.base_pose.rotation).T
    gauss = [0.5 * (np.polynomial.legendre.leggauss(n)[0] + 1.0) for n in (4, 2)]
    at = np.stack([[np.interp(gauss[0], np.linspace(0.0, 1.0, count), membrane[f, :, e, i]) for f in range(6)]
                   for e in (0, 1) for i in range(3)], -1).reshape(6, 4, 2, 3)  # fmt: skip
    expected = at[:, :, :1] + gauss[1][:, None] * (at[:, :, 1:] - at[:, :, :1])
    # Chords of a wave of amplitude 0.8 rad: (k ds)^2 / 8 of the span.
    sagitta = (2.0 * np.pi * float(fins.waves) / (count - 1)) ** 2 / 8.0 * float(fins.span)
    np.testing.assert_allclose(places, expected, atol=sagitta)
    lengths = np.linalg.norm(membrane[:, :, 1] - membrane[:, :, 0], axis=-1)
    np.testing.assert_allclose(lengths, float(fins.span))


def test_scenes_films_and_pages_have_them(swimmer, beating, tmp_path):
    scene = Scene.of(hs.results.Trajectory.of_states(swimmer, beating))
    rays = scene.fins.shape[2]
    membrane = np.asarray(swimmer.part(Fins).membrane(swimmer.part_state(beating, Fins), rays))
    expected = beating.base_pose.position + membrane @ np.asarray(beating.base_pose.rotation).T
    np.testing.assert_allclose(scene.fins[0], expected, atol=1e-12)
    drawn = [surface.vertices for surface in surfaces_of(scene, 0)[0]]
    assert any(np.array_equal(one, scene.fins[0].reshape(-1, 3)) for one in drawn)
    lines = {line.name: line.points for line in _outlines(scene)}
    assert {tuple(point) for i in range(6) for point in lines[f"fin {i + 1}"][0]} == {
        tuple(point) for point in scene.fins.reshape(-1, 3)
    }
    assert replay_scene(scene, tmp_path / "squid.html", "squid").exists()
    assert Scene.of(hs.results.Trajectory.of_states(swimmer, beating), slice(0, 1)).rows(slice(0, 1)).fins is not None


def test_a_page_has_them_and_moves_them(swimmer, beating):
    pytest.importorskip("viser")
    from hydrostat.live import LiveScene, open_server

    server = open_server(port=0)
    scene = LiveScene(server, swimmer, root="/squid")
    before = scene.things.fins.vertices.copy()
    drawn = scene.update(beating)
    np.testing.assert_allclose(scene.things.fins.vertices, drawn.fins[0].reshape(-1, 3), atol=1e-6)
    assert np.abs(scene.things.fins.vertices - before).max() > 0.5
    a, b, c = (scene.things.fins.vertices[scene.things.fins.faces[:, i]] for i in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=-1).sum()
    fins = swimmer.part(Fins)
    # Flat membranes would have length times span; waves have more, and chords less than these.
    assert area == pytest.approx(6 * float(fins.length) * float(fins.span), rel=0.25)
    server.stop()
