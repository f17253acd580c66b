"""`hydrostat statics` and the exported twin in MuJoCo: the same robot file, the same tip."""

import json

import numpy as np
import pytest
from test_twin_mechanics import rest_in_mujoco

from hydrostat.cli import main
from hydrostat.exporting import load_mujoco, make_twin
from hydrostat.robots import find_robot, parse_robot
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
    (tmp_path / "arm.toml").write_text(text)
    # The arm that hydrostat solves for is cut into as many pieces as the twin has sections.
    settings = {"tension_n": TENSIONS, "gravity_m_s2": GRAVITY, "pieces": 6}
    report = run_scenario("statics", str(tmp_path / "arm.toml"), settings, out=tmp_path / "out", figures=False)

    spec = parse_robot(text)
    twin = make_twin(spec, 6, "elastic")
    model, data = load_mujoco(twin)
    model.jnt_limited[:] = 0
    model.opt.gravity[:] = GRAVITY
    tip = rest_in_mujoco(model, data, twin, np.zeros((12, 3)), TENSIONS)
    assert np.linalg.norm(tip[:2]) > 0.05
    np.testing.assert_allclose(1e3 * tip, report["metrics"]["tip_mm"], atol=0.01 * 240.0)


@pytest.mark.slow
def test_the_arm_that_new_writes_rests_where_its_twin_does(tmp_path, capsys):
    file, tensions = str(tmp_path / "my_arm.toml"), (5.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 3.0)
    assert main(["new", file]) == 0
    capsys.readouterr()
    options = ["--tension", ",".join(map(str, tensions)), "--gravity", ",".join(map(str, GRAVITY))]
    assert main(["statics", file, *options, "--json", "--no-figures", "--out", str(tmp_path / "out")]) == 0
    metrics = json.loads(capsys.readouterr().out)["metrics"]
    # The twin as `hydrostat export` writes it: ten sections for each of three segments.
    spec = find_robot(file)
    twin = make_twin(spec)
    model, data = load_mujoco(twin)
    model.jnt_limited[:] = 0
    model.opt.gravity[:] = GRAVITY
    tip = rest_in_mujoco(model, data, twin, np.zeros((30, 2)), tensions)
    length = sum(segment.length for segment in spec.segments)
    assert tip[1] > 0.5 * length
    np.testing.assert_allclose(1e3 * tip, metrics["tip_mm"], atol=0.01 * 1e3 * length)
