"""A simulation that was interrupted goes on where it was, and ends as one that was not."""

import json
import re

import numpy as np
import pytest
from planar_rods import rod_system, simulate_module

import hydrostat as hs
from hydrostat.errors import InputError
from hydrostat.robots import find_robot
from hydrostat.scenarios.catalogue import find_scenario
from hydrostat.scenarios.resuming import read_beginning, write_beginning
from hydrostat.simulation.checkpoints import Checkpoints, keeping


class InterruptedRunError(Exception):
    """Stands for Ctrl-C."""


@pytest.fixture
def system(monkeypatch):
    monkeypatch.setattr(simulate_module, "_CHUNK_ROWS", 5)
    return rod_system(2)


def run(system, stop_at=None, **options):
    """Thirty steps in six pieces, from a bent shape, with noisy sensors; maybe interrupted."""
    pieces = []

    def on_rows(piece):
        pieces.append(len(piece))
        if stop_at is not None and len(pieces) > stop_at:
            raise InterruptedRunError

    sensors = hs.Sensors(proprioception=hs.Sensor(noise=1e-3), seed=3)
    state = system.rest(0.3 * np.ones_like(system.rest().q))
    found = hs.simulate(
        system, Follow(), seconds=0.06, dt=2e-3, state=state, sensors=sensors, on_rows=on_rows, **options
    )
    return found, pieces


class Follow(hs.Controller):
    """Sums up what its noisy sensors say, so that its memory depends on all of them."""

    def init(self, observation):
        return 0.0 * observation.q

    def __call__(self, time, observation, memory):
        return hs.Control(), memory + observation.q


def test_a_resumed_simulation_ends_as_one_without_interruption(system, tmp_path):
    whole, _ = run(system, record=tmp_path / "whole")
    assert not (tmp_path / "whole" / "checkpoint").exists()
    for stop_at in (1, 4):  # twice in a row
        with pytest.raises(InterruptedRunError):
            run(system, stop_at, **{"record" if stop_at == 1 else "resume": tmp_path / "cut"})
        assert not hs.load(tmp_path / "cut").attrs["complete"]
    found, pieces = run(system, resume=tmp_path / "cut")
    assert pieces == [1, 5, 5, 5, 5, 5, 5]
    for one, other in ((whole.q, found.q), (whole.memory, found.memory), (whole.time, found.time)):
        np.testing.assert_array_equal(one, other)
    first, second = (hs.load(tmp_path / name) for name in ("whole", "cut"))
    assert second.attrs["complete"]
    assert not (tmp_path / "cut" / "checkpoint").exists()
    np.testing.assert_array_equal(first["tip"], second["tip"])
    with pytest.raises(InputError, match="nothing to resume"):
        run(system, resume=tmp_path / "cut")


def cut_off(piece):
    piece.write_bytes(piece.read_bytes()[:-9])


def said_of_other_shape(piece):
    """The head says of the first array that its rows are columns."""
    head, newline, body = piece.read_bytes().partition(b"\n")
    begin = head.index(b'"arrays"')
    changed = re.sub(rb"\[(\d+), (\d+)", rb"[\2, \1", head[begin:], count=1)
    assert changed != head[begin:]
    piece.write_bytes(head[:begin] + changed + newline + body)


@pytest.mark.parametrize("damage", [cut_off, said_of_other_shape])
def test_a_damaged_checkpoint_is_computed_anew(system, tmp_path, damage):
    whole, _ = run(system)
    with pytest.raises(InterruptedRunError):
        run(system, 3, record=tmp_path / "cut")
    damage(sorted((tmp_path / "cut" / "checkpoint").iterdir())[1])
    np.testing.assert_array_equal(run(system, resume=tmp_path / "cut")[0].q, whole.q)


def test_another_simulation_is_not_resumed(system, tmp_path):
    with pytest.raises(InterruptedRunError):
        run(system, 3, record=tmp_path / "cut")
    with pytest.raises(InputError, match="another"):
        hs.simulate(system, seconds=0.5, dt=1e-3, resume=tmp_path / "cut")
    with pytest.raises(InputError, match="no result at"):
        run(system, resume=tmp_path / "none")
    with pytest.raises(InputError, match="`record` must be left out"):
        run(system, resume=tmp_path / "cut", record=tmp_path / "other")


def test_simulations_of_one_program_are_resumed_in_their_order(system, tmp_path):
    with keeping(Checkpoints(tmp_path)):
        first, _ = run(system)
        with pytest.raises(InterruptedRunError):
            run(system, 2)
    with keeping(Checkpoints(tmp_path, resume=True)):
        for _ in range(2):
            np.testing.assert_array_equal(run(system)[0].q, first.q)


def test_what_a_run_began_with_is_read_back(tmp_path):
    robot, scenario = find_robot("squid"), find_scenario("squid-reach")
    write_beginning(tmp_path, scenario.name, robot, scenario.settings({"press_n": 0.2}, robot), 7)
    begun = read_beginning(tmp_path)
    assert (begun.scenario, begun.robot, begun.seed, begun.settings["press_n"]) == ("squid-reach", robot, 7, 0.2)
    for change, message in (({"seed": "x"}, "its seed"), ({"version": "0"}, "begun by"), ({"robot": "a"}, "damaged")):
        content = json.loads((tmp_path / "run.json").read_text())
        (tmp_path / "other").mkdir(exist_ok=True)
        (tmp_path / "other" / "run.json").write_text(json.dumps(content | change))
        with pytest.raises(InputError, match=message):
            read_beginning(tmp_path / "other")
    (tmp_path / "metrics.json").write_text("{}")
    with pytest.raises(InputError, match="come to its end"):
        read_beginning(tmp_path)
