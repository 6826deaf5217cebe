"""Display of final motions without Blender agrees with the body; damaged and hostile files are refused."""

import json

import jounce
import numpy as np
import pytest
from jounce.final_motion import MAGIC, SCENE, read, scene_in
from jounce.records import as_record
from jounce_core.bake.final_scene import scene_of
from jounce_core.mesh.surface import Part, Surface
from jounce_core.passes.simulation_pass import SimulationPass
from jounce_core.stepping.motion import FrameInput, Schedule, VertexInput
from jounce_core.storage.final_cache import DraftCache, FinalCache
from test_cache import ORIGIN, shake

DRIVES = [shake(frame) for frame in range(6)]
OWN = range(3, 7)


@pytest.fixture(scope="module")
def surface(body):
    """The box as two meshes."""
    points, triangles = body.embedding.points, np.array([[0, 1, 2], [5, 6, 7]])
    parts = tuple(Part(name, rows, np.eye(3)) for name, rows in (("Skin", slice(0, 5)), ("Eye", slice(5, 8))))
    return Surface(points, triangles, np.ones((8, 1)), parts)


def kept(body, surface, path, drives=DRIVES):
    """A motion in a file with its display data; its frames begin with 1."""
    model, cache = body.full_space(), FinalCache(ORIGIN, 1, path)
    start = lambda: jounce.Simulation(model, dt=1 / 24, stiffness=0.01)  # noqa: E731
    filling = SimulationPass(cache, start, Schedule(), is_final=True)
    for drive in drives:
        filling.feed(drive)
    filling.collect(wait=True)
    filling.close()
    cache.show(scene_of(surface, body, drives, "Hero", 1, OWN, 1 / 24).pack())
    return cache


@pytest.fixture
def path(tmp_path):
    """Path of the motion."""
    return tmp_path / "hero.jcache"


def test_points_are_where_the_body_has_them(body, surface, path):
    cache, motion = kept(body, surface, path), read(path)
    assert (motion.frames, motion.scene.body) == (OWN, "Hero")
    assert motion.scene.parts == (("Skin", 5), ("Eye", 3))
    for frame in OWN:
        pose = DRIVES[frame - 1].pose[0]
        moved = body.embedding.interpolate(np.float64(cache.get(frame)))
        expected = surface.points @ pose[:, :3].T + pose[:, 3] + moved
        assert np.allclose(motion.shape(frame), expected, rtol=0.0, atol=1e-12)
        assert np.abs(moved).max() > 1e-4


def test_what_the_rig_adds_is_shown(body, surface, path):
    bent = np.zeros((len(body.mesh.vertices), 3))
    bent[:, 1] = 0.1 * body.mesh.vertices[:, 0] ** 2
    drives = [FrameInput(drive.pose, 1.0, vertices=VertexInput(offsets=bent)) for drive in DRIVES]
    cache = kept(body, surface, path, drives)
    moved = body.embedding.interpolate(np.float64(cache.get(4)) + bent)
    pose = DRIVES[3].pose[0]
    expected = surface.points @ pose[:, :3].T + pose[:, 3] + moved
    # The file stores single precision.
    assert np.allclose(read(path).shape(4), expected, rtol=0.0, atol=1e-7)


def test_a_frame_that_is_held_has_the_pose_before(body, surface, path):
    drives = [*DRIVES[:4], FrameInput(np.zeros((1, 3, 4)), 0.0, held="no bones"), DRIVES[5]]
    kept(body, surface, path, drives)
    poses = read(path).scene.poses
    assert np.array_equal(poses[4], poses[3]) and np.array_equal(poses[3], DRIVES[3].pose)


def test_a_file_that_says_it_already_stays_and_moves_with_it(body, surface, path, tmp_path):
    kept(body, surface, path)
    before = path.read_bytes()
    kept(body, surface, path)
    assert path.read_bytes() == before
    FinalCache(ORIGIN, 1, path).moved(tmp_path / "other.jcache")
    assert read(tmp_path / "other.jcache").frames == OWN


def test_a_motion_that_changes_is_not_shown_by_what_was_before(body, surface, path):
    cache = kept(body, surface, path)
    cache.truncate(3)
    with pytest.raises(ValueError, match="has no meshes to show"):
        read(path)
    kept(body, surface, path)
    assert read(path).frames == OWN


def test_a_file_of_something_else_is_refused(body, surface, path, tmp_path):
    for contents in (b"", b"thesis", MAGIC, MAGIC + b"x" * (1 << 21)):
        path.write_bytes(contents)
        with pytest.raises(ValueError, match="is no final motion of Jounce"):
            read(path)
    with pytest.raises(ValueError, match="cannot be read"):
        read(tmp_path / "missing.jcache")
    with pytest.raises(ValueError, match="cannot be read"):
        read(tmp_path)
    DraftCache(ORIGIN, 1, tmp_path / "draft.jshard").append(bytes(16), np.zeros((1, 3, 4)))
    with pytest.raises(ValueError, match="is no final motion of Jounce"):
        read(tmp_path / "draft.jshard")


def test_wherever_a_file_breaks_off_or_is_damaged_nothing_wrong_is_shown(body, surface, path):
    kept(body, surface, path)
    data, whole = path.read_bytes(), read(path)
    rng = np.random.default_rng(5)
    cuts = [data[:end] for end in range(0, len(data), 211)]
    flips = [bytearray(data) for _ in range(60)]
    for flipped in flips:
        flipped[rng.integers(len(MAGIC), len(data))] ^= 1 << rng.integers(8)
    refused = 0
    for damaged in (*cuts, *flips):
        path.write_bytes(damaged)
        try:
            motion = read(path)
        except ValueError:
            refused += 1
        else:
            assert all(np.array_equal(motion.shape(frame), whole.shape(frame)) for frame in motion.frames)
    assert refused > len(cuts)


def hostile(known, data, **changes):
    """The scene of a file with changed words in its first line."""
    return json.dumps(known | changes).encode() + b"\n" + data


def test_hostile_scenes_are_refused(body, surface, path):
    cache = kept(body, surface, path)
    scene = scene_of(surface, body, DRIVES, "Hero", 1, OWN, 1 / 24).pack()
    line, _, data = scene.partition(b"\n")
    known = json.loads(line)
    assert scene_in(hostile(known, data)) is not None
    sizes = known["sizes"]
    for bad in (
        b"",
        b"[" * 100_000,
        line,
        hostile(known, data + b"x"),
        hostile(known, data[:-1]),
        hostile(known, b"\xff" * len(data)),
        *(hostile(known, data, sizes=sizes | {"f": size}) for size in (0, -1, 5, 1 << 70, 6.0, "6", None)),
        hostile(known, data, sizes={}),
        *(hostile(known, data, seconds=seconds) for seconds in (0.0, -1.0, float("nan"), float("inf"), "x")),
        *(hostile(known, data, first=first) for first in (float("inf"), 1 << 80, None)),
        hostile(known, data, parts=[["Skin", 5], ["Eye", 4]]),
        hostile(known, data, parts=[["Skin", 9], ["Eye", -1]]),
        hostile(known, data, parts=5),
        hostile(known, data, own=[1, 2, 3]),
    ):
        assert scene_in(bad) is None, bad[:200]
    # Links beyond the file are refused with the file.
    cache.show(hostile(known, data, own=[900, 950]))
    with pytest.raises(ValueError, match="damaged"):
        read(path)
    path.write_bytes(MAGIC + b"{}\n" + as_record(SCENE, 0, scene))
    with pytest.raises(ValueError, match="damaged"):
        read(path)
