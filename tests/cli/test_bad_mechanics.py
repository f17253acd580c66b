"""What the mechanics cannot work with is refused in one line, on the command line and in Python."""

import jax.numpy as jnp
import pytest

from hydrostat.bodies import Arm, Material, Section
from hydrostat.cli import main
from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics.robot import no_inputs, single_arm
from hydrostat.mechanics.statics import equilibrium
from hydrostat.robots import find_robot, format_robot
from hydrostat.segments import StrainSegment
from hydrostat.simulation import simulate
from hydrostat.system import Control, System

ARM = Arm(
    StrainSegment(jnp.full(2, 0.1), ("bend_y",)),
    Section(jnp.full(2, 0.01), jnp.full(2, 0.01)),
    Material(*(jnp.full(2, value) for value in (1e6, 0.4, 1000.0, 0.0))),
    SE3.identity(),
)


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("modes = ", "count = 0\nmodes = ", "count"),
        ("youngs_modulus = 60000000000.0", "youngs_modulus = -1.0", "youngs_modulus"),
        ("mass = 0.0", "mass = nan", "mass"),
        ("place = 1.0", "place = 1.2", "place"),
        ("disc_radius = 0.01", "disc_radius = 0.005", "offset"),
    ],
    ids=["zero segments", "negative stiffness", "NaN load", "load beyond the tip", "tendon outside"],
)
def test_a_bad_robot_is_one_line(old, new, word, tmp_path, capsys):
    text = format_robot(find_robot("finger"))
    assert old in text
    file = tmp_path / "bad.toml"
    file.write_text(text.replace(old, new))
    code = main(["run", "finger-grasp", "--robot", str(file), "--out", str(tmp_path / "out")])
    printed = capsys.readouterr()
    assert code == 2
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert word in printed.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("setting", "word"), [("dt_ms=0", "dt_ms"), ("tension_n=nan", "tension_n"), ("friction=-1", "friction")]
)
def test_a_bad_setting_is_one_line(setting, word, tmp_path, capsys):
    code = main(["run", "finger-grasp", "--set", setting, "--out", str(tmp_path / "out")])
    printed = capsys.readouterr()
    assert (code, printed.out, printed.err.count("\n")) == (2, "", 1)
    assert word in printed.err
    assert not (tmp_path / "out").exists()


def test_the_library_refuses_the_same():
    model = single_arm(ARM, load_places=[1.0])
    load = no_inputs(model)._replace(force=jnp.full((1, 6), jnp.nan))
    with pytest.raises(InputError, match="finite"):
        equilibrium(model, load)
    with pytest.raises(InputError, match="finite"):
        simulate(System(model), Control(load=load.force), 0.1, 1e-3)
    with pytest.raises(InputError, match="dt"):
        simulate(System(model), dt=0.0)
    with pytest.raises(InputError, match=r"from 0 to 1.*1\.2"):
        single_arm(ARM, load_places=[1.2])
    with pytest.raises(InputError, match="youngs_modulus"):
        single_arm(
            Arm(ARM.segments, ARM.section, Material(*(jnp.full(2, v) for v in (-1.0, 0.4, 1e3, 0.0))), ARM.T_world_base)
        )
    with pytest.raises(InputError, match="gravity"):
        single_arm(ARM, gravity=(0.0, 0.0))
    with pytest.raises(InputError, match="stretch"):
        single_arm(ARM, constant_volume=True)
    with pytest.raises(InputError, match="negative"):
        single_arm(ARM, lumps=[(1.0, -0.1)])
