"""Pictures and replays of trajectories: that they show what there is, where it is."""

import numpy as np
import pytest
from small_trajectories import hand, octopus_on_ground

from hydrostat.results import Trajectory, figures
from hydrostat.results.drawing import ABOVE, FRONT, Scene, _capsule, _pieces, draw_above, draw_arm_side, draw_side, hull


@pytest.fixture(scope="module")
def octopus():
    return octopus_on_ground()


def test_scene_holds_everything(octopus):
    scene = Scene.of(octopus)
    assert len(scene.arms) == 2
    assert scene.names == ("arm 1", "arm 2")
    assert np.allclose(scene.arms[1].positions[:, -1], octopus.tip[:, 1], rtol=0.0, atol=1e-15)
    assert np.array_equal(scene.body, octopus.body)
    assert scene.ground == 0.0
    assert scene.objects.shape == (11, 1, 3)
    assert len(scene.object_radii) == 1
    assert np.array_equal(scene.arms[0].holds, octopus.held[:, 0])
    assert len(Scene.of(octopus, [0, 10]).time) == 2


def test_far_pieces_come_before_near_ones(octopus):
    scene = Scene.of(octopus)
    # The last two pieces are the ball and the body. From above, what is higher is nearer.
    ball, body = _pieces(scene, -1, ABOVE)[-2:]
    assert body.nearness == octopus.body[-1, 2]
    assert ball.nearness == octopus.objects[-1, 0, 2]
    # Against y, what has the smaller y is nearer.
    ball, _ = _pieces(scene, -1, FRONT)[-2:]
    assert ball.nearness == -octopus.objects[-1, 0, 1]


def test_outline_of_a_piece_touches_both_circles():
    a, b = np.array([0.0, 0.0]), np.array([3.0, 1.0])
    outline = _capsule(a, b, 1.0, 0.4)
    for centre, radius in ((a, 1.0), (b, 0.4)):
        # No corner lies within either circle, and no side cuts it by more than the corners of a circle do.
        assert np.linalg.norm(outline - centre, axis=-1).min() >= radius - 1e-12
        along = np.roll(outline, -1, 0) - outline
        length = np.linalg.norm(along, axis=-1)
        away = centre - outline
        distance = (along[:, 0] * away[:, 1] - along[:, 1] * away[:, 0]) / length
        assert np.all(distance >= radius * np.cos(np.pi / 23) - 1e-12)
    # A circle within the other is seen as one circle.
    assert np.allclose(np.linalg.norm(_capsule(a, np.array([0.2, 0.0]), 1.0, 0.4), axis=-1), 1.0)


def test_arms_end_where_they_end():
    # A straight, upright finger of 100 mm: seen from the side its outline is a rectangle.
    pieces = _pieces(Scene.of(hand()[:1]), 0, FRONT)
    corners = np.concatenate([piece.outline for piece in pieces])
    assert np.allclose([corners.min(0), corners.max(0)], [[-0.01, 0.0], [0.01, 0.1]], rtol=0.0, atol=1e-6)
    # From above, only the tip faces the viewer.
    assert [len(piece.rims) for piece in _pieces(Scene.of(hand()[:1]), 0, ABOVE)] == [0] * (len(pieces) - 1) + [1]


def test_hull_of_points():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    inner = 0.5 + 0.3 * np.random.default_rng(0).uniform(-1.0, 1.0, (20, 2))
    assert {tuple(p) for p in hull(np.concatenate([inner, square]))} == {tuple(p) for p in square}


def test_views_are_drawn(octopus):
    figure = figures.new_figure(4.0, 4.0)
    for draw in (draw_side, draw_above, draw_arm_side):
        axes = figure.add_subplot()
        draw(axes, octopus, 3)
        assert axes.collections or axes.patches


@pytest.mark.parametrize("unequal", [False, True])
def test_default_figure(unequal, tmp_path):
    trajectory = hand(unequal=unequal)
    figure = trajectory.plot(tmp_path / "new" / "figure.png", "falling")
    assert (tmp_path / "new" / "figure.png").stat().st_size > 10_000
    titles = [axes.get_title(loc="left") for part in figure.subfigs for axes in part.axes]
    assert "from the side, 0 s" in titles
    assert "from above, 0.01 s" in titles
    assert "energy" in titles


def test_default_figure_of_one_row(tmp_path):
    hand()[:1].plot(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").exists()


def test_replay_is_one_page(octopus, tmp_path):
    pytest.importorskip("viser")
    page = octopus.replay(tmp_path / "page.html", title="an octopus").read_text(encoding="utf-8")
    assert "an octopus" in page
    assert (tmp_path / "page.html").stat().st_size < 3e6


def test_a_single_state_is_drawn_without_curves_over_time(tmp_path):
    swing = hand()
    still = Trajectory.of_states(swing.system, swing.final)
    assert len(still) == 1
    assert np.array_equal(still.tip[0], swing.tip[-1])
    figure = still.plot(tmp_path / "still.png")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["from the side", "from above"]
    assert (tmp_path / "still.png").stat().st_size > 0
