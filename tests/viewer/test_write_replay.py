import base64
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hydrostat.viewer import Line, Tube, write_replay

pytest.importorskip("viser")


def decoded(path: Path) -> dict:
    """Unpack viser's recording from a page: {"durationSeconds", "messages": [(time, message)]}, arrays as NumPy's."""
    import msgspec
    import zstandard

    packed = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', path.read_text()).group(1))  # pyright: ignore
    data = zstandard.ZstdDecompressor().decompress(packed[8:], max_output_size=int.from_bytes(packed[:8], "little"))
    length = int.from_bytes(data[:8], "little")
    recording = msgspec.msgpack.decode(data[8 : 8 + length])
    at, buffers = 8 + length, []
    for size in recording["binaryBufferLengths"]:
        at += -at % 8
        buffers.append(data[at : at + size])
        at += size

    def filled(value):
        if isinstance(value, dict) and "__binary_index" in value:
            return np.frombuffer(buffers[value["__binary_index"]], dtype=value["dtype"])
        if isinstance(value, dict):
            return {key: filled(item) for key, item in value.items()}
        return value

    return {**recording, "messages": [(time, filled(message)) for time, message in recording["messages"]]}


def skin_at_end(messages: list, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Do the browser's work: move the vertices [vertex, 3] of the one skinned mesh by the last pose of its bones.

    The second array [vertex, node] says how much each vertex follows each node, whose bones are neighbours.
    """
    props = next(message["props"] for _, message in messages if message["type"] == "SkinnedMeshMessage")
    bound = props["bone_positions"].reshape(-1, 3).astype(float)
    positions, wxyz = bound.copy(), props["bone_wxyzs"].reshape(-1, 4).astype(float)
    for _, message in messages:
        if message["type"] == "SetBonePositionMessage":
            positions[message["bone_index"]] = message["position"]
        if message["type"] == "SetBoneOrientationMessage":
            wxyz[message["bone_index"]] = message["wxyz"]
    rotations = Rotation.from_quat(wxyz, scalar_first=True).as_matrix()
    bones, weights = props["skin_indices"].reshape(-1, 4), props["skin_weights"].reshape(-1, 4)
    local = props["vertices"].reshape(-1, 1, 3) - bound[bones]
    moved = positions[bones] + np.einsum("vkij,vkj->vki", rotations[bones], local)
    shares = np.zeros((len(bones), len(bound)))
    np.add.at(shares, (np.arange(len(bones))[:, None], bones), weights)
    return np.einsum("vk,vki->vi", weights, moved), shares.reshape(len(bones), nodes, -1).sum(axis=-1)


@pytest.mark.parametrize("breathing", [False, True])
def test_the_page_holds_the_motion(tmp_path, swing, breathing: bool):
    times, tubes, lines = swing(breathing=breathing)
    path = write_replay(tmp_path / "new" / "swing.html", times, tubes, lines, title="Swing <S>")
    assert path == tmp_path / "new" / "swing.html"
    assert path.stat().st_size < 2e6
    assert "<title>Swing &lt;S&gt;</title>" in path.read_text()

    recording = decoded(path)
    # Four seconds, thirty frames each, and half a second to look at the end.
    assert recording["durationSeconds"] == pytest.approx(4.5)
    moments = np.unique([time for time, _ in recording["messages"]])
    np.testing.assert_allclose(moments, np.arange(121) / 30, atol=1e-9)

    # The rings at the nodes are circles of the right radius about the right points, across the tangent, to the
    # rounding of the file: 1/2^15 of the scene in each coordinate, and as much in each orientation.
    nodes = tubes[0].positions.shape[1]
    surface, shares = skin_at_end(recording["messages"], nodes)
    radii = np.broadcast_to(tubes[0].radii, tubes[0].positions.shape[:2])[-1]
    for node in range(1, nodes - 1):
        ring = surface[shares[:, node] > 1 - 1e-6] - tubes[0].positions[-1, node]
        assert len(ring) == 36
        np.testing.assert_allclose(np.linalg.norm(ring, axis=-1), radii[node], rtol=0, atol=4e-5)
        np.testing.assert_allclose(ring @ tubes[0].rotations[-1, node, :, 2], 0, atol=4e-5)

    # The wires end where they should, one polyline each.
    wires = {}
    for _, message in recording["messages"]:
        if message["type"] == "LineSegmentsMessage":
            wires[message["name"]] = message["props"]["points"]
        if message["type"] == "SceneNodeUpdateMessage":
            wires[message["name"]] = message["updates"]["points"]
    assert set(wires) == {f"/lines/{line.name}" for line in lines}
    for line in lines:
        shown = wires[f"/lines/{line.name}"].reshape(-1, 2, 3)
        want = line.points[-1] if line.points.ndim == 3 else line.points
        np.testing.assert_allclose(shown[:, 1], want[1:], atol=4e-5)
        np.testing.assert_array_equal(shown[1:, 0], shown[:-1, 1])


def test_nothing_in_the_recording_resets_at_each_loop(tmp_path, swing):
    times, tubes, _ = swing(frames=5)
    kinds = {message["type"] for _, message in decoded(write_replay(tmp_path / "s.html", times, tubes))["messages"]}
    assert not kinds & {"EnvironmentMapMessage", "EnableLightsMessage", "FogMessage"}


def test_other_speeds_and_closed_motions(tmp_path, swing):
    times, tubes, _ = swing(frames=41)
    slow = decoded(write_replay(tmp_path / "slow.html", times, tubes, seconds_per_loop=10.0))
    assert slow["durationSeconds"] == pytest.approx(10.5)
    assert "0.4 × real time" in (tmp_path / "slow.html").read_text()
    # There and back again: the loop has no seam, so nothing is held.
    tube = tubes[0]
    there_and_back = Tube(
        "arm",
        np.concatenate([tube.positions, tube.positions[-2::-1]]),
        np.concatenate([tube.rotations, tube.rotations[-2::-1]]),
        tube.radii,
    )
    path = write_replay(tmp_path / "closed.html", np.linspace(0, 2, 81), [there_and_back])
    assert decoded(path)["durationSeconds"] == pytest.approx(2.0)


def test_a_single_frame_is_a_still_picture(tmp_path, swing):
    times, tubes, _ = swing(frames=2)
    tube = tubes[0]
    still = Tube("arm", tube.positions[1:], tube.rotations[1:], tube.radii)
    path = write_replay(tmp_path / "still.html", times[1:], [still], [Line("path", tube.positions[:, -1])])
    assert decoded(path)["durationSeconds"] == 0
    assert "space to pause" not in path.read_text()
    assert "grid 0.1 m" in path.read_text()


def test_long_motions_of_many_arms_stay_small(tmp_path, swing, monkeypatch):
    times, tubes, _ = swing(frames=81, breathing=True)
    tube = tubes[0]
    arms = [Tube(f"arm {k}", tube.positions + np.array([0, k, 0]), tube.rotations, tube.radii) for k in range(4)]
    monkeypatch.setattr("hydrostat.viewer.replay._MAX_BYTES", 3e5)
    path = write_replay(tmp_path / "many.html", times, arms)
    assert path.stat().st_size < 1.3e6
    assert decoded(path)["durationSeconds"] == pytest.approx(4.5)
    assert len({time for time, _ in decoded(path)["messages"]}) > 20
    # A path of very many points is thinned, with both ends kept.
    angle = np.linspace(0, 6, 200_000)
    helix = np.stack([np.cos(angle), np.sin(angle), angle], axis=-1)
    path = write_replay(tmp_path / "helix.html", [0.0], [], [Line("helix", helix)])
    assert path.stat().st_size < 1.3e6
    shown = next(m["props"]["points"] for _, m in decoded(path)["messages"] if m["type"] == "LineSegmentsMessage")
    np.testing.assert_allclose(shown.reshape(-1, 3)[[0, -1]], helix[[0, -1]], atol=3e-4)


def test_silent_and_nothing_left_running(tmp_path, swing, capfd):
    times, tubes, lines = swing(frames=5)
    before = set(threading.enumerate())
    with ThreadPoolExecutor(3) as pool:
        jobs = [pool.submit(write_replay, tmp_path / f"{k}.html", times, tubes, lines) for k in range(3)]
        paths = [job.result() for job in jobs]
    assert {path.stat().st_size for path in paths} == {paths[0].stat().st_size}
    assert set(threading.enumerate()) == before
    assert capfd.readouterr() == ("", "")


def test_the_server_stops_when_the_recording_fails(tmp_path, swing, capfd, monkeypatch):
    import rich

    times, tubes, _ = swing(frames=5)
    before = set(threading.enumerate())

    def fail(*_):
        raise RuntimeError("no more space")

    monkeypatch.setattr("hydrostat.viewer.recording._pose", fail)
    with pytest.raises(RuntimeError, match="no more space"):
        write_replay(tmp_path / "a.html", times, tubes)
    assert set(threading.enumerate()) == before
    assert not rich.get_console().quiet
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")


def test_without_viser_one_line_says_what_to_install(tmp_path, swing, monkeypatch):
    times, tubes, _ = swing(frames=5)
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'hydrostat[view]'")):
        write_replay(tmp_path / "a.html", times, tubes)


def test_importing_the_viewer_brings_neither_viser_nor_jax():
    code = "import sys, hydrostat.viewer; print([m for m in ('viser', 'jax') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
