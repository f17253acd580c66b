"""`hydrostat statics` and the exported twin in MuJoCo: the same robot file, the same tip."""

import numpy as np
from test_twin_mechanics import rest_in_mujoco

from hydrostat.exporting import load_mujoco, make_twin
from hydrostat.robots import parse_robot
from hydrostat.scenarios import run_scenario

TENSIONS, GRAVITY = (1.0, 0.0, 0.0, 0.0, 0.5, 0.0), (0.0, 9.81, 0.0)
ARM = """
[material]
youngs_modulus = 300e3
poisson_ratio = 0.49
density = 1070.0
[[arm.segment]]
length = 0.12
radius = [0.012, 0.010]
modes = ["bend_x", "bend_y", "stretch"]
[[arm.segment]]
length = 0.12
radius = [0.010, 0.008]
modes = ["bend_x", "bend_y", "stretch"]
"""


def test_a_silicone_arm_with_six_tendons_rests_where_its_twin_does(tmp_path):
    text = ARM
    for end in (1, 2):
        for azimuth in (0, 120, 240):
            text += f"[[tendon]]\nazimuth_deg = {azimuth}.0\noffset = [0.006, 0.006]\nends_at_segment = {end}\n"
    # The arm that hydrostat solves for is cut into as many pieces as the twin has sections.
    cut = text.replace("length = 0.12\n", "length = 0.12\ncount = 6\n")
    cut = cut.replace("ends_at_segment = 2", "ends_at_segment = 12").replace("segment = 1\n", "segment = 6\n")
    (tmp_path / "arm.toml").write_text(cut)
    settings = {"tension_n": TENSIONS, "gravity_m_s2": GRAVITY}
    report = run_scenario("statics", str(tmp_path / "arm.toml"), settings, out=tmp_path / "out", figures=False)

    spec = parse_robot(text)
    twin = make_twin(spec, 6, "elastic")
    model, data = load_mujoco(twin)
    model.jnt_limited[:] = 0
    model.opt.gravity[:] = GRAVITY
    tip = rest_in_mujoco(model, data, twin, np.zeros((12, 3)), TENSIONS)
    assert np.linalg.norm(tip[:2]) > 0.05
    np.testing.assert_allclose(1e3 * tip, report["metrics"]["tip_mm"], atol=0.01 * 240.0)
