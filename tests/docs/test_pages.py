"""What the documentation says in Python runs, prints what it says, writes what it names, and stays short."""

import os

import pytest
from pages import DOCS, ROOT, difference, fences, imports, lines_of_code, run

HOW_TO = sorted(path for path in (DOCS / "how-to").glob("*.md"))
MOST_LINES = 25
ALLOWED = {"hydrostat", "jax", "jax.numpy", "numpy"}
ALSO = {"export-and-compare": {"mujoco"}, "real-time": {"time"}}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder with the robot file that the pages share."""
    monkeypatch.chdir(tmp_path)
    shared = next(fence for fence in fences(DOCS / "how-to" / "own-arm.md") if fence.title == "my_arm.toml")
    (tmp_path / "my_arm.toml").write_text(shared.text)
    return tmp_path


def test_there_are_ten():
    assert len(HOW_TO) == 10


# It compiles gradients through a motion for half a minute; tests/stepping has a smaller one.
SLOW = "via-point"
RUNS = [pytest.param(page, id=page.stem, marks=[pytest.mark.slow] if page.stem == SLOW else []) for page in HOW_TO]


@pytest.mark.parametrize("page", RUNS)
def test_how_to_runs(page, here):
    run(page)


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_how_to_is_short_and_public(page):
    assert 0 < lines_of_code(page) <= MOST_LINES
    assert imports(page) <= ALLOWED | ALSO.get(page.stem, set())
    assert "## When it goes wrong" in page.read_text()


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_pictures_of_a_how_to_are_made_by_its_code(page):
    text = page.read_text()
    shown = [part.split(")")[0] for part in text.split("](../assets/how-to/")[1:]]
    for name in shown:
        assert f'"{name}"' in text, f"{page.name} shows {name}, and does not make it"
        assert os.path.getsize(DOCS / "assets" / "how-to" / name) < 200_000


@pytest.mark.parametrize(
    "stated, printed, same",
    [
        ("tip 1.23 mm", "tip  1.2345 mm", True),
        ("tip 1.23 mm", "tip 1.25 mm", False),
        ("[1.5e-03 2]", "[1.54e-03 2]", True),
        ("3 rows", "4 rows", False),
        ("tip 1.2 mm", "top 1.2 mm", False),
        ("-0.5", "0.5", False),
    ],
)
def test_what_a_page_states_is_compared(stated, printed, same):
    assert (difference(stated, printed) is None) == same


@pytest.mark.slow
def test_tutorial_runs(here):
    run(DOCS / "tutorial.md")


@pytest.mark.parametrize("page", [pytest.param("docs/index.md", marks=pytest.mark.slow), "docs/library.md"])
def test_page_runs(page, here):
    run(ROOT / page)


def test_the_gallery_shows_every_picture_and_says_how_to_make_it():
    from hydrostat.scenarios import SCENARIOS

    text = (DOCS / "gallery.md").read_text()
    viewing = (DOCS / "viewing.md").read_text()
    for picture in (DOCS / "assets").glob("*.png"):
        if picture.stem.startswith("view-"):
            assert f"](assets/{picture.name})" in viewing
            continue
        assert f"](assets/{picture.name})" in text
        assert f"hydrostat run {picture.stem}" in text
        assert picture.stem in SCENARIOS
