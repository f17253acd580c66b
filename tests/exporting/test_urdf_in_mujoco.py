"""The URDF of every robot in MuJoCo: it loads, with all joints, and thin links have the inertia that it asks for."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from hydrostat.exporting import default_chain, make_twin, write_urdf
from hydrostat.exporting.urdf import LEAST_INERTIA
from hydrostat.robots import ROBOTS, find_robot, parse_robot

mujoco = pytest.importorskip("mujoco")

MIXED = """
[body]
volume = 1e-3
shape = [{name = "ball", kind = "sphere", size = [0.06], position = [0, 0, 0], mass = 1}]
[[limb]]
name = "struts"
muscles = {stress = 8e4, stiffness = 1e5}
segment = [{length = 0.2, radius = [0.01, 0.01], count = 2, modes = ["bend_x", "bend_y", "stretch"]}]
[[limb]]
name = "arcs"
segment = [{length = 0.2, radius = [0.01, 0.01]}]
"""


@pytest.mark.parametrize("name", ROBOTS)
def test_every_robot_loads(name, tmp_path):
    spec = find_robot(name)
    twin = make_twin(spec, None, default_chain(spec, "urdf"))
    file = tmp_path / "robot.urdf"
    file.write_text(write_urdf(twin)[0], encoding="utf-8")
    model = mujoco.MjModel.from_xml_path(str(file))
    assert model.njnt == len(twin.joints)
    assert {model.joint(i).name for i in range(model.njnt)} == {joint.name for joint in twin.joints}
    assert model.body_inertia[1:].min() >= LEAST_INERTIA * (1.0 - 1e-9)


def test_the_least_inertia_changes_no_mass_and_no_link_that_has_more():
    text = write_urdf(make_twin(find_robot("octopus_arm_arcs"), None, "elastic"))[0]
    links = {link.get("name"): link.find("inertial") for link in ET.fromstring(text).iter("link")}

    def moments(name):
        return [float(links[name].find("inertia").get(key)) for key in ("ixx", "iyy", "izz")]

    # A cylinder of the first segment's middle, of 12 mm and a radius of some 7 mm, is far above it.
    radius = 7.15e-3
    mass = 1042.0 * np.pi * radius**2 * 0.012
    assert moments("arm_segment_1")[2] == pytest.approx(0.5 * mass * radius**2, rel=0.1)
    # Of a link there for a joint alone at the tip, all moments are raised alike, to the least.
    thin = moments(next(name for name in links if name.startswith("arm_segment_20_") and name.endswith("_link")))
    assert min(thin) == pytest.approx(LEAST_INERTIA)
    total = sum(float(inertial.find("mass").get("value")) for inertial in links.values() if inertial is not None)
    assert total == pytest.approx(1042.0 * np.pi / 3.0 * 0.24 * (7.5**2 + 7.5 * 0.5 + 0.5**2) * 1e-6)


def test_sections_count_for_each_arm_of_a_body():
    twin = make_twin(parse_robot(MIXED), 4)
    assert [chain.rigid_sections for chain in twin.chains] == [2, 4]
    assert "rigid sections of each arm: struts 2, arcs 4" in write_urdf(twin)[0]
