"""The inputs of the page: places from gizmo, sliders and keys, velocities from gamepads, forces to haptic devices."""

import json
import urllib.error
import urllib.request

import numpy as np
import pytest

from hydrostat.teleoperation.gamepad import SPEED, GamepadPage, velocity_of
from hydrostat.teleoperation.page_device import PageDevice


class Handle:
    """A virtual haptic device: a handle at a place, and the forces that it was given."""

    def __init__(self):
        self.forces = []

    def position(self, now):
        return np.array([now, 0.0, 0.0])

    def render(self, force, now):
        self.forces.append((now, np.array(force)))


def test_a_haptic_device_moves_the_tip_and_is_given_the_force():
    handle = Handle()
    device = PageDevice(np.zeros(3), 0.1, handle)
    np.testing.assert_array_equal(device.position(0.5), [0.5, 0.0, 0.0])
    device.render(np.array([0.0, 0.0, 2.0]), 0.5)
    assert handle.forces[0][0] == 0.5
    np.testing.assert_array_equal(handle.forces[0][1], [0.0, 0.0, 2.0])


def test_inputs_move_the_place_within_reach_and_not_too_fast():
    device = PageDevice(np.ones(3), 0.1)
    device.move_to(np.array([1.05, 1.0, 1.0]))
    steps = [device.position(0.005 * tick)[0] for tick in range(1, 200)]
    assert np.diff(steps).max() <= 0.25 * 0.005 * (1.0 + 1e-9)
    assert steps[-1] == 1.05
    device.move_by(np.array([0.0, 0.0, -0.5]))
    assert np.linalg.norm(device.goal - 1.0) == pytest.approx(0.1)


def test_a_stick_moves_on_at_a_velocity():
    device = PageDevice(np.zeros(3), 0.5)
    device.position(0.0)
    for tick in range(1, 101):
        device.set_velocity(velocity_of([1.0, 0.05, 0.0, -0.5]))
        place = device.position(0.01 * tick)
    np.testing.assert_allclose(place, [SPEED, 0.0, 0.5 * SPEED], rtol=1e-9)
    # The page is closed with the stick pushed: nobody says that it is at rest again.
    later = [device.position(1.0 + 0.01 * tick)[0] for tick in range(1, 201)]
    assert later[-1] - place[0] <= 0.32 * SPEED
    assert later[-1] == later[50]


def test_the_gamepad_page_takes_axes_from_itself_alone():
    moved = []
    page = GamepadPage(1, moved.append)
    try:
        address = f"http://127.0.0.1:{page.port}/"
        text = urllib.request.urlopen(address, timeout=10).read().decode()
        secret = text.split("fetch('/")[1].split("'")[0]

        def post(path, body, **headers):
            try:
                return urllib.request.urlopen(urllib.request.Request(address + path, body, headers), timeout=10).status
            except urllib.error.HTTPError as error:
                return error.code

        assert post(secret, json.dumps([0.5, 0, 0, 0]).encode()) == 204
        np.testing.assert_allclose(moved[0], [0.5 * SPEED, 0.0, 0.0])
        assert post("guess", b"[1,1,1,1]") == 403
        for body in (b"", b"{}", b"[1]", b'["a",0,0,0]', b"[NaN,0,0,0]", b"[" * 300, b"[1e999,0,0,0]", b"x" * 500):
            assert post(secret, body) == 400
        # A page of another server, and a name on the internet that leads here.
        assert post(secret, b"[1,1,1,1]", Origin="http://other.example") == 403
        assert post("", None, Host=f"other.example:{page.port}") == 403
        assert len(moved) == 1
    finally:
        page.close()
