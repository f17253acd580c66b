"""squid-poses: the paper's poses, their tips by hand, and pictures where something can draw them."""

import importlib.util

import numpy as np
import pytest

from hydrostat.exporting import picture
from hydrostat.exporting.picture import NoRendererError, View, render
from hydrostat.exporting.twin import make_twin
from hydrostat.results import load
from hydrostat.robots.rrp_twin import arc_frame, followed_by
from hydrostat.robots.specs.squid import squid
from hydrostat.scenarios.runner import run_scenario

# The body's z is the world's x, its x is down, its y the world's.
BODY = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])


def tip_by_hand(azimuth_deg, *arcs):
    """The tip of a limb that sits at an azimuth of the bow plate, by the closed form of its arcs [mm]."""
    angle = np.deg2rad(azimuth_deg)
    frames = [arc_frame(np.deg2rad(theta), np.deg2rad(phi), length) for theta, phi, length in arcs]
    end = frames[0] if len(frames) == 1 else followed_by(*frames)
    return 1e3 * BODY @ (end.position + 0.08 * np.array([np.cos(angle), np.sin(angle), 0.0]))


def test_tips_of_the_poses_are_those_of_the_papers_numbers(tmp_path):
    report = run_scenario("squid-poses", None, {"sections": 5}, out=tmp_path, figures=False)
    metrics = report["metrics"]
    assert report["sim_seconds"] is None
    assert metrics["mujoco_tip_difference_max_mm"] <= 1e-6
    straight = [metrics[f"straight_{limb}_tip_mm"] for limb in ("grasper", "palpation", "camera", "light")]
    np.testing.assert_allclose(np.array(straight)[:, 0], 600.0, atol=1e-6)
    # Figure 10, from the text.
    by_hand = {
        "grasper": tip_by_hand(45.0, (30.0, 10.0, 0.29), (60.0, 30.0, 0.29)),
        "palpation": tip_by_hand(-45.0, (60.0, 20.0, 0.3), (-30.0, 15.0, 0.3)),
        "camera": tip_by_hand(135.0, (90.0, -5.0, 0.6)),
        "light": tip_by_hand(-135.0, (0.0, 0.0, 0.6)),
    }
    for limb, tip in by_hand.items():
        np.testing.assert_allclose(metrics[f"all_differ_{limb}_tip_mm"], tip, atol=1e-6)
    # Figure 8 c differs from 8 b by the palpation arm alone, which is longer, and 8 d from 8 c by the grasper.
    reached = {name: metrics[f"palpation_arm_reaches_out_{name}_tip_mm"] for name in by_hand}
    assert np.linalg.norm(np.subtract(reached["palpation"], metrics["bent_palpation_tip_mm"])) > 15.0
    assert reached["grasper"] == metrics["bent_grasper_tip_mm"]
    assert reached["palpation"] == metrics["grasper_grasps_palpation_tip_mm"]
    assert load(tmp_path / "squid-poses")["tip"].shape == (5, 4, 3)


def test_without_a_renderer_the_limbs_are_drawn_from_two_sides_and_a_note_says_so(tmp_path, monkeypatch):
    def nothing(*_):
        raise NoRendererError("MuJoCo found nothing to draw with (egl: none)")

    monkeypatch.setattr(picture, "render", nothing)
    report = run_scenario("squid-poses", None, {"sections": 2}, out=tmp_path)
    assert report["metrics"]["rendered_by_mujoco"] is False
    assert "the limbs are drawn from two sides: MuJoCo found nothing to draw with" in report["notes"][0]
    assert "\n" not in report["notes"][0]
    assert (tmp_path / "squid-poses" / "figure.png").stat().st_size > 10_000


def test_without_mujoco_its_difference_is_null(tmp_path, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "mujoco" else found(name, *rest)
    )
    report = run_scenario("squid-poses", None, out=tmp_path, figures=False)
    assert report["metrics"]["mujoco_tip_difference_max_mm"] is None
    assert "pip install 'hydrostat[rigid]'" in report["notes"][0]


def test_what_cannot_draw_is_named(monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "egl")
    import mujoco.egl

    def broken(*_):
        raise RuntimeError("no display\nand more")

    monkeypatch.setattr(mujoco.egl, "GLContext", broken)
    shape = [np.zeros((n, 3)) for n in (2, 2, 1, 1)]
    with pytest.raises(NoRendererError, match=r"nothing to draw with \(egl: no display\); on Debian: apt-get install"):
        render(make_twin(squid(), 2, "rrp"), [(shape, View())], (64, 48))


def test_a_picture_shows_limbs_and_body():
    twin = make_twin(squid(), 6, "rrp")
    shape = [np.zeros((n, 3)) for n in (2, 2, 1, 1)]
    try:
        whole, empty = render(
            twin, [(shape, View((-0.3, 0.0, 0.0), 2.5)), (shape, View((9.0, 9.0, 9.0), 0.5))], (240, 180)
        )
    except NoRendererError as error:
        pytest.skip(str(error))
    assert whole.shape == (180, 240, 3)
    assert np.std(whole.astype(float), axis=(0, 1)).max() > 15.0  # something is there
    orange = (whole[..., 0] > 150) & (whole[..., 2] < 110)
    assert orange.sum() > 50  # the grasper and the palpation arm have warm colours
    assert not ((empty[..., 0] > 150) & (empty[..., 2] < 110)).any()
