import numpy as np
import pytest

from hydrostat.viewer.framing import FIELD_OF_VIEW, frame, grid_cell


@pytest.mark.parametrize("scale", [0.01, 1.0, 40.0])
@pytest.mark.parametrize("seed", range(5))
def test_everything_is_in_the_picture(seed: int, scale: float):
    random = np.random.default_rng(seed)
    points = scale * (random.normal(size=(200, 3)) * random.uniform(0.1, 1, 3) + random.normal(size=3))
    view = frame(points, float(points[:, 2].min()))
    back = (view.camera - view.look_at) / np.linalg.norm(view.camera - view.look_at)
    right = np.cross([0, 0, 1.0], back) / np.linalg.norm(np.cross([0, 0, 1.0], back))
    away = (view.camera - points) @ back
    assert away.min() > 0
    upwards = np.abs((points - view.camera) @ np.cross(back, right)) / away / np.tan(FIELD_OF_VIEW / 2)
    across = np.abs((points - view.camera) @ right) / away / np.tan(FIELD_OF_VIEW / 2)
    # Inside even of a window that is only a little wider than high, and not lost in the middle of it.
    assert upwards.max() < 0.81
    assert across.max() < 0.81 * 1.25
    assert max(upwards.max(), across.max() / 1.25) == pytest.approx(0.8)


def test_the_camera_looks_along_the_narrow_side_of_a_flat_motion():
    points = np.random.default_rng(0).uniform(-1, 1, (500, 3)) * [1, 0.01, 1]
    back = frame(points, -1.0).camera
    assert back[1] < 0
    assert abs(back[1]) > abs(back[0])
    assert back[2] > 0


def test_the_ground_is_at_zero_when_the_scene_nearly_stands_on_it():
    points = np.random.default_rng(0).uniform(0, 1, (50, 3))
    assert frame(points, 0.01).ground == 0.0
    assert frame(points - [0, 0, 1], -1.0).ground == -1.0


@pytest.mark.parametrize("size, cell", [(0.04, 0.01), (0.31, 0.1), (1.2, 0.1), (29, 1.0), (31, 10.0)])
def test_grid_cells_are_powers_of_ten(size: float, cell: float):
    assert grid_cell(size) == pytest.approx(cell)
