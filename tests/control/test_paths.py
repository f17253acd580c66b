"""Paths for the tip: the paper's five, a user's own from a file, and distances from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrostat.control.paths import PAPER_PATHS, curve_through, distances_to, smooth_pace
from hydrostat.errors import InputError, shown
from hydrostat.tables import read_points

# --- The paper's paths

E, HALF = np.e, np.sqrt(np.e)
# Equations 26 to 30 at t = 0, 1/2 and 1, worked out by hand.
BY_HAND = {
    "line": [(-0.5, 0.5, 6.0), (1.0, 2.0, 6.5), (2.5, 3.5, 7.0)],
    "ellipse": [(1.0, 0.0, 4.0), (-1.0, 0.0, 4.0), (1.0, 0.0, 4.0)],
    "sinusoid": [(0.0, -1.0, 5.0), (0.0, 1.0, 5.0), (0.0, 3.0, 5.0)],
    "reach": [(-2.0, 0.5, 1.0), (3.0 * HALF - 5.0, -0.5, 4.0), (3.0 * E - 5.0, 0.5, 7.0)],
    "fetch": [(3.0 * E - 2.0, 2.0, 8.0), (3.0 * HALF - 2.0, -2.0, 5.0), (1.0, 2.0, 2.0)],
}


@pytest.mark.parametrize("name", BY_HAND)
def test_the_papers_paths(name):
    np.testing.assert_allclose(PAPER_PATHS[name](np.array([0.0, 0.5, 1.0])), BY_HAND[name], rtol=0, atol=1e-14)


def test_there_are_five_of_them_and_quarters_are_right_where_halves_vanish():
    assert set(PAPER_PATHS) == set(BY_HAND)
    quarter = np.array([0.25, 0.75])
    np.testing.assert_allclose(PAPER_PATHS["ellipse"](quarter), [(0, 1, 5), (0, -1, 3)], rtol=0, atol=1e-14)
    np.testing.assert_allclose(
        PAPER_PATHS["sinusoid"](quarter), [(1, 0, 5 + E**0.25), (-1, 2, 5 - E**0.75)], rtol=0, atol=1e-14
    )


# Distances of the nearest and the farthest target from the base, as the corrected model lists them, and the mean
# distance from target to target.
REACHES = {
    "line": (6.04, 8.22, 0.218),
    "ellipse": (3.16, 5.10, 0.381),
    "sinusoid": (3.65, 6.38, 0.462),
    "reach": (2.29, 7.69, 0.415),
    "fetch": (3.0, 10.3, 0.585),
}


@pytest.mark.parametrize("name", REACHES)
def test_targets_are_as_far_from_the_base_as_the_paper_needs(name):
    targets = PAPER_PATHS[name](np.linspace(0.0, 1.0, 21))
    away = np.linalg.norm(targets, axis=-1)
    spacing = np.linalg.norm(np.diff(targets, axis=0), axis=-1).mean()
    assert (away.min(), away.max(), spacing) == pytest.approx(REACHES[name], rel=0.01)


# --- Files


def file(tmp_path, text):
    path = tmp_path / "path.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


GOOD = [(0.0, 0.0, 5.0), (1.0, -2.5, 0.25), (1e-3, 0.0, -1.0)]


@pytest.mark.parametrize(
    "text",
    [
        "0,0,5\n1,-2.5,0.25\n1e-3,0,-1\n",
        "x,y,z\n0,0,5\n1,-2.5,0.25\n1e-3,0,-1",
        '"x [m]","y [m]","z [m]"\r\n 0 , 0, 5\r\n\r\n1,-2.5,.25\r\n   \r\n1e-3,0,-1\r\n\r\n',
    ],
    ids=["numbers alone", "with names", "quoted names, spaces, empty lines and returns"],
)
def test_a_file_of_points_is_read(tmp_path, text):
    np.testing.assert_array_equal(read_points(file(tmp_path, text), least=2), GOOD)


def refusal(path, least=2):
    """The message that a file is refused with: one line, and the file's name in it."""
    with pytest.raises(InputError) as caught:
        read_points(path, least)
    message = str(caught.value)
    assert "\n" not in message
    assert message.isprintable()
    assert "curve file" in message
    return message


WRONG = {
    "empty": ("", ["at least 2 points", "holds 0"]),
    "names alone": ("x,y,z\n", ["at least 2 points", "holds 0"]),
    "one point": ("0,0,5\n", ["at least 2 points", "holds 1"]),
    "a number that is none, in x": ("0,0,5\nnan,0,5\n", ["line 2", "finite", "nan,0,5"]),
    "a number that is none, in y": ("0,0,5\n1,nan,5\n", ["line 2", "finite", "1,nan,5"]),
    "a number that is none, in z": ("0,0,5\n1,0,NaN\n", ["line 2", "finite", "1,0,NaN"]),
    "infinite": ("0,0,5\n1,inf,5\n", ["line 2", "finite", "1,inf,5"]),
    "minus infinite": ("0,0,-inf\n1,2,5\n", ["line 1", "finite", "0,0,-inf"]),
    "huge": ("0,0,5\n1,2e4,5\n", ["line 2", "at most 10000 m", "1,2e4,5"]),
    "beyond all numbers": ("0,0,5\n1,1e999,5\n", ["line 2", "finite", "1e999"]),
    "text": ("0,0,5\n1,two,3\n", ["line 2", "three numbers x, y, z", "1,two,3"]),
    "names twice": ("x,y,z\nx,y,z\n0,0,1\n", ["line 2", "three numbers", "x,y,z"]),
    "four columns": ("0,0,5,1\n0,0,6,1\n", ["line 1", "three numbers", "0,0,5,1"]),
    "two columns": ("0,0,5\n0,5\n", ["line 2", "three numbers", "0,5"]),
    "semicolons": ("0;0;5\n0;0;6\n", ["line", "three numbers"]),
    "a very long cell": (f"0,0,5\n0,{'1' * 200_000},5\n", ["could not be read as CSV"]),
    "a long line of text": (f"0,0,5\n{'word ' * 100},1,2\n", ["line 2", "..."]),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_refused_in_one_line(tmp_path, name):
    text, words = WRONG[name]
    message = refusal(file(tmp_path, text))
    for word in words:
        assert word in message


def test_the_line_that_is_wrong_is_counted_as_an_editor_does(tmp_path):
    assert "line 5" in refusal(file(tmp_path, "x,y,z\n\n0,0,5\n\n1,two,3\n"))


def test_a_file_that_cannot_be_read_is_refused_in_one_line(tmp_path):
    assert "No such file" in refusal(str(tmp_path / "nowhere.csv"))
    assert "directory" in refusal(str(tmp_path))
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\xff\xfe0,0\n")
    assert "UTF-8" in refusal(str(binary))


# --- Curves

coordinate = st.integers(-50, 50).map(lambda k: 0.1 * k)
point_lists = st.lists(st.tuples(*[coordinate] * 3), min_size=2, max_size=12).map(np.array)


def marks_of(points):
    """The parameters that belong to points, in proportion to the distance along them."""
    marks = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    return marks / marks[-1]


@given(point_lists.filter(lambda points: np.any(points != points[0])))
def test_a_curve_goes_through_its_points_in_turn(points):
    curve = curve_through(points)
    # Coordinates of up to 5 m, and splines whose condition grows with the unevenness of the marks.
    np.testing.assert_allclose(curve(marks_of(points)), points, rtol=0, atol=1e-9)


def test_two_points_give_a_line_and_three_a_parabola():
    t = np.linspace(0.0, 1.0, 7)
    a, b = np.array([1.0, 2.0, 3.0]), np.array([-1.0, 5.0, 4.0])
    np.testing.assert_allclose(curve_through(np.array([a, b]))(t), a + t[:, None] * (b - a), rtol=0, atol=1e-14)
    # Marks at 0, 1/2 and 1: the second difference of a parabola is constant.
    points = np.array([[0.0, 0.0, 5.0], [1.0, 1.0, 5.0], [2.0, 0.0, 5.0]])
    np.testing.assert_allclose(curve_through(points)(t)[:, 1], 4.0 * t * (1.0 - t), rtol=0, atol=1e-14)
    assert curve_through(points)(np.array(0.5)).shape == (3,)


def test_points_repeated_in_a_row_count_once():
    points = np.array([[0.0, 0.0, 5.0], [1.0, 1.0, 5.0], [2.0, 0.0, 4.0], [3.0, 0.0, 5.0], [4.0, 1.0, 6.0]])
    t = np.linspace(0.0, 1.0, 11)
    repeated = np.repeat(points, [1, 3, 1, 2, 2], axis=0)
    np.testing.assert_allclose(curve_through(repeated)(t), curve_through(points)(t), rtol=0, atol=1e-14)
    # A closed path comes back to its first point, which counts again.
    closed = np.concatenate([points, points[:1]])
    np.testing.assert_allclose(curve_through(closed)(np.array([0.0, 1.0])), closed[[0, 0]], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "points",
    [[(0.0, 0.0, 5.0)] * 3, [(0.0, 0.0, 0.0), (1e-200, 0.0, 0.0)]],
    ids=["the same", "no distance apart"],
)
def test_points_in_one_place_are_no_path(points):
    with pytest.raises(InputError, match="2 different points"):
        curve_through(np.array(points))


def test_points_closer_than_rounding_count_once():
    curve = curve_through(np.array([(0.0, 0.0, 5.0), (1.0, 0.0, 5.0), (1.0, 1e-20, 5.0)]))
    np.testing.assert_allclose(curve(np.array([0.0, 0.5, 1.0]))[:, 0], [0.0, 0.5, 1.0], rtol=0, atol=1e-14)


def test_a_straight_path_is_paced_by_its_length():
    # Unevenly spaced points on a line: the parameter is the share of the way, exactly.
    share = np.array([0.0, 0.1, 0.15, 0.7, 1.0])
    a, b = np.array([1.0, 2.0, 3.0]), np.array([-1.0, 5.0, 4.0])
    t = np.linspace(0.0, 1.0, 9)
    curve = curve_through(a + share[:, None] * (b - a))
    np.testing.assert_allclose(curve(t), a + t[:, None] * (b - a), rtol=0, atol=1e-13)


# --- Distances


def test_distances_from_a_line_are_exact():
    line = PAPER_PATHS["line"]
    a, b = line(np.array([0.0, 1.0]))
    along = (b - a) / np.linalg.norm(b - a)
    across = np.cross(along, [0.0, 0.0, 1.0])
    across /= np.linalg.norm(across)
    share = np.array([0.0, 0.123456, 0.5, 1.0])
    beside = a + share[:, None] * (b - a) + 0.3 * across
    np.testing.assert_allclose(distances_to(line, beside), 0.3, rtol=0, atol=1e-12)
    # Beyond its ends the end is the nearest.
    beyond = np.array([a - 2.0 * along, b + 0.7 * along])
    np.testing.assert_allclose(distances_to(line, beyond), [2.0, 0.7], rtol=0, atol=1e-12)
    np.testing.assert_allclose(distances_to(line, line(np.linspace(0, 1, 37))), 0.0, rtol=0, atol=1e-12)


def test_distances_from_a_circle_are_exact_to_its_polygon():
    radius, pieces = 2.0, 4000
    circle = lambda t: radius * np.stack([np.cos(2 * np.pi * t), np.sin(2 * np.pi * t), 0 * t], -1)  # noqa: E731
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 50)
    outward = np.stack([np.cos(angle), np.sin(angle), 0 * angle], -1)
    sagitta = radius * (1.0 - np.cos(np.pi / pieces))
    for r in (0.5, 1.9, 2.0, 2.3):
        np.testing.assert_allclose(distances_to(circle, r * outward), abs(r - radius), rtol=0, atol=1.01 * sagitta)
    lifted = 2.3 * outward + [0.0, 0.0, 0.4]
    np.testing.assert_allclose(distances_to(circle, lifted), 0.5, rtol=0, atol=1.01 * sagitta)


# --- Pace


def test_a_smooth_pace_starts_and_ends_at_rest():
    duration = 3.0
    assert smooth_pace(np.array([0.0, 1.5, 3.0]), duration) == pytest.approx([0.0, 0.5, 1.0], abs=1e-15)
    assert smooth_pace(np.array([-1.0, 4.0]), duration).tolist() == [0.0, 1.0]
    pace = smooth_pace(np.linspace(0.0, duration, 1001), duration)
    assert np.all(np.diff(pace) > 0.0)
    # Neither speed nor acceleration at the ends: it leaves them as 10 (t / T)^3.
    h = 1e-3
    assert float(smooth_pace(np.array([h]), duration)[0]) == pytest.approx(10.0 * (h / duration) ** 3, rel=1e-3)
    assert 1.0 - float(smooth_pace(np.array([duration - h]), duration)[0]) == pytest.approx(
        10.0 * (h / duration) ** 3, rel=2e-3
    )


def test_points_of_a_file_may_have_two_columns_where_that_is_allowed(tmp_path):
    file = tmp_path / "way.csv"

    def refusal(text, **options):
        file.write_text(text)
        with pytest.raises(InputError) as error:
            read_points(str(file), **options)
        assert "\n" not in str(error.value)
        return str(error.value)

    file.write_text("x,y\n0,0\n0.5, 1\n")
    np.testing.assert_array_equal(read_points(str(file), columns=(2, 3)), [[0.0, 0.0], [0.5, 1.0]])
    file.write_text("0,0,1\n0.5,1,2\n")
    np.testing.assert_array_equal(read_points(str(file), columns=(2, 3)), [[0.0, 0.0, 1.0], [0.5, 1.0, 2.0]])
    either = "must be two numbers x, y or three numbers x, y, z"
    assert f"line 1 of curve file {shown(str(file))} {either}; got '1'" in refusal("1\n", columns=(2, 3))
    assert either in refusal("1,2,3,4\n", columns=(2, 3))
    assert "line 2" in refusal("0,0\n1,two\n", columns=(2, 3))
    assert "finite" in refusal("0,nan\n", columns=(2, 3))
    assert "must have 2 numbers, as the lines before; got '1,2,3'" in refusal("0,0\n1,2,3\n", columns=(2, 3))
    assert "at least 2 points x, y or x, y, z; it holds 1" in refusal("0,0\n", columns=(2, 3), least=2)
    assert "must be three numbers x, y, z; got '0,0'" in refusal("0,0\n")
