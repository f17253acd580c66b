"""What is done in the page happens in the order of its controls, whatever the order of the threads that tell of it."""

from types import SimpleNamespace

import numpy as np
import pytest

import hydrostat as hs
from hydrostat.live import LiveSession
from hydrostat.sensing import Sensors
from hydrostat.simulation import Motion
from hydrostat.stepping.step import default_stepper

pytest.importorskip("viser")
from hydrostat.live import open_server
from hydrostat.live.touching import TouchControls


def told(coroutine) -> None:
    """Run a coroutine that waits for nothing: the browser of other tests has a loop of its own, beside which no other
    may run.
    """
    with pytest.raises(StopIteration):
        coroutine.send(None)


@pytest.fixture(scope="module")
def server():
    server = open_server(port=0)
    yield server
    server.stop()


@pytest.fixture
def touched(server, arm_session):
    """The controls of the arm, and what they ask to be done between two steps."""
    arm_session.reset()
    asked = []
    yield TouchControls(server, arm_session, 0.5, asked.append), asked
    arm_session.reset()
    arm_session.set_current((0.0, 0.0, 0.0))


def test_the_current_is_the_last_that_was_asked_for(touched, arm_session):
    controls, asked = touched
    controls.current.value = 0.04
    controls.current.value = 0.05
    for function in reversed(asked):
        function()
    np.testing.assert_allclose(arm_session.system.surroundings[0].current, [0.05, 0.0, 0.0])


def test_an_arm_that_is_let_go_again_is_not_held(touched):
    controls, asked = touched
    controls.hold.value = True
    controls.hold.value = False
    for function in reversed(asked):
        function()
    assert not controls.handle.visible


def test_the_handle_of_an_object_goes_with_it_unless_it_is_dragged(server):
    system = hs.System(hs.robots.octopus_arm(), [hs.Water(), hs.Ball(0.02, 5e-3, (0.1, 0.2, -0.1))])
    motion = Motion(system, hs.commands.Bend(0.1, 2.0), 5e-3, None, Sensors(), default_stepper(system))
    session, asked = LiveSession(motion), []
    controls = TouchControls(server, session, 0.5, asked.append)
    ((box, handle),) = controls.objects
    (moved,) = handle._impl_aux.update_cb
    scene = SimpleNamespace(objects=np.array([[[0.0, 0.0, 0.3]]]))
    before = np.array(handle.position)
    controls.follow_objects(scene)
    np.testing.assert_array_equal(handle.position, before)  # it is hidden: nothing is sent
    box.value = True
    asked.pop()()
    np.testing.assert_allclose(handle.position, [0.1, 0.2, -0.1])
    controls.follow_objects(scene)
    np.testing.assert_allclose(handle.position, [0.0, 0.0, 0.3])
    told(moved(SimpleNamespace(phase="start")))
    handle.position = (0.0, 0.1, 0.2)
    told(moved(SimpleNamespace(phase="update")))
    controls.follow_objects(scene)
    np.testing.assert_allclose(handle.position, [0.0, 0.1, 0.2])
    assert len(asked) == 1  # grabbing it moves nothing
    asked.pop()()
    np.testing.assert_allclose(session.system.objects(session.state)[0].ball.position, [0.0, 0.1, 0.2])
    told(moved(SimpleNamespace(phase="end")))
    controls.follow_objects(scene)
    np.testing.assert_allclose(handle.position, [0.0, 0.0, 0.3])
