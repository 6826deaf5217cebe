"""Stored final motions become USD with nothing but the module and usd-core."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from jounce.final_motion import FRAME, MAGIC, SCENE, Scene
from jounce.records import as_record
from jounce.usd_cache import write_motions
from pxr import Gf, Usd, UsdGeom

TRIANGLES = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6]])
POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [3, 0, 0], [3, 1, 0]], float)


def scene(first, count):
    """Two meshes on a bone with a velocity along x of a metre per frame, in a cage of four vertices."""
    poses = np.tile(np.eye(3, 4), (count, 1, 1, 1))
    poses[:, 0, 0, 3] = first + np.arange(count)
    return Scene(
        body="Hero",
        parts=(("Body.001", 4), ("Eye", 3)),
        first=first,
        own=(first, first + count),
        seconds=1 / 25,
        points=POINTS,
        triangles=TRIANGLES,
        bones=np.zeros((7, 1)),
        weights=np.ones((7, 1)),
        corners=np.tile(np.arange(4), (7, 1)),
        shares=np.full((7, 4), 0.25),
        poses=poses,
        offsets=np.zeros((1, 4, 3)),
    )


def kept(path, made):
    """A file with the flesh lifted by the frame number in centimetres."""
    records = []
    for index in range(len(made.poses)):
        lifted = np.tile([0.0, 0.0, 0.01 * (made.first + index)], (4, 1)).astype("<f4")
        records.append(as_record(FRAME, index, bytes(16) + lifted.tobytes()))
    records.append(as_record(SCENE, len(made.poses) - 1, made.pack()))
    path.write_bytes(MAGIC + b"{}\n" + b"".join(records))
    return path


def expected(frame):
    """Positions of the points."""
    return POINTS + [frame, 0.0, 0.01 * frame]


@pytest.fixture
def shards(tmp_path):
    """A shot in two files."""
    return [kept(tmp_path / f"{first}.jshard", scene(first, count)) for first, count in ((1, 6), (7, 4))]


def world(stage, path, frame):
    """The points of a mesh in the world."""
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath(path))
    matrix = np.array(UsdGeom.XformCache(frame).GetLocalToWorldTransform(mesh.GetPrim()))
    return np.array(mesh.GetPointsAttr().Get(frame)) @ matrix[:3, :3] + matrix[3, :3]


@pytest.mark.parametrize("suffix", ["usda", "usdc"])
def test_shards_become_the_meshes_of_the_shot(shards, tmp_path, suffix):
    out = tmp_path / f"flesh.{suffix}"
    assert write_motions(shards, out) == ["/Hero/Body_001", "/Hero/Eye"]
    stage = Usd.Stage.Open(str(out))
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode(), stage.GetTimeCodesPerSecond()) == (1, 10, 25)
    assert (UsdGeom.GetStageUpAxis(stage), UsdGeom.GetStageMetersPerUnit(stage)) == ("Z", 1.0)
    body, eye = (UsdGeom.Mesh(stage.GetPrimAtPath(path)) for path in ("/Hero/Body_001", "/Hero/Eye"))
    assert body.GetPointsAttr().GetTimeSamples() == list(range(1, 11))
    assert list(body.GetFaceVertexIndicesAttr().Get()) == [0, 1, 2, 0, 2, 3]
    assert list(eye.GetFaceVertexIndicesAttr().Get()) == [0, 1, 2]
    for frame in (1, 6, 7, 10):
        assert np.allclose(world(stage, "/Hero/Body_001", frame), expected(frame)[:4], atol=1e-6)
        assert np.allclose(world(stage, "/Hero/Eye", frame), expected(frame)[4:], atol=1e-6)


def character(path, up, metres):
    """A character in a scene with the meshes of the body, matched by name."""
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, metres)
    UsdGeom.SetStageUpAxis(stage, up)
    UsdGeom.Xform.Define(stage, "/World").AddTranslateOp().Set(Gf.Vec3d(5.0, -2.0, 3.0))
    for name, count in (("Body_001", 4), ("Eye", 3), ("Other", 3)):
        UsdGeom.Xform.Define(stage, f"/World/{name}").AddRotateZOp().Set(30.0)
        mesh = UsdGeom.Mesh.Define(stage, f"/World/{name}/Mesh")
        mesh.CreatePointsAttr([(0.0, 0.0, 0.0)] * count)
    stage.Save()
    return path


@pytest.mark.parametrize(("up", "metres"), [("Z", 1.0), ("Y", 0.01)])
def test_a_character_takes_the_shapes(shards, tmp_path, up, metres):
    over, out = character(tmp_path / "hero.usda", up, metres), tmp_path / "flesh.usda"
    before = over.read_bytes()
    assert write_motions(shards, out, over) == ["/World/Body_001/Mesh", "/World/Eye/Mesh"]
    assert over.read_bytes() == before
    stage = Usd.Stage.Open(str(out))
    shape = expected(9)[:4] / metres
    turned = shape if up == "Z" else shape[:, [0, 2, 1]] * [1.0, 1.0, -1.0]
    assert np.allclose(world(stage, "/World/Body_001/Mesh", 9), turned, atol=1e-6 / metres)
    assert not UsdGeom.Mesh(stage.GetPrimAtPath("/World/Other/Mesh")).GetPointsAttr().GetTimeSamples()


def faced(path, up):
    """The same with faces and a normal for each point, away from the ground of the motion's file."""
    character(path, up, 1.0)
    stage = Usd.Stage.Open(str(path))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/World/Body_001/Mesh"))
    mesh.GetPointsAttr().Set([tuple(map(float, point)) for point in POINTS[:4]])
    mesh.CreateFaceVertexCountsAttr([3, 3])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2, 0, 2, 3])
    mesh.CreateNormalsAttr([(0.0, 0.0, 1.0)] * 4)
    mesh.SetNormalsInterpolation("vertex")
    stage.Save()
    return path


@pytest.mark.parametrize(("up", "normal"), [("Z", (0.0, 0.0, 1.0)), ("Y", (0.5, 0.75**0.5, 0.0))])
def test_normals_of_a_character_turn_with_its_shapes(shards, tmp_path, up, normal):
    over, out = faced(tmp_path / "hero.usda", up), tmp_path / "flesh.usda"
    write_motions(shards, out, over)
    stage = Usd.Stage.Open(str(out))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/World/Body_001/Mesh"))
    assert np.allclose(np.array(mesh.GetNormalsAttr().Get(9)), [normal] * 4, atol=1e-6)


def run(*arguments):
    """The command."""
    words = [sys.executable, "-m", "jounce", "cache", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True)


def test_the_command_says_what_it_did(shards, tmp_path):
    done = run(*shards, tmp_path / "flesh.usda")
    assert done.returncode == 0, done.stderr
    assert "/Hero/Body_001, /Hero/Eye: in" in done.stdout and "100%" in done.stdout


def test_refusals_are_one_sentence_and_write_nothing(shards, tmp_path):
    out, text = tmp_path / "flesh.usda", tmp_path / "text.jcache"
    text.write_text("no motion")
    late = kept(tmp_path / "late.jshard", scene(20, 2))
    other = kept(tmp_path / "other.jshard", replace(scene(11, 2), points=POINTS + 1.0))
    fast = kept(tmp_path / "fast.jshard", replace(scene(11, 2), body="Ann", seconds=1 / 50))
    over = character(tmp_path / "hero.usda", "Z", 1.0)
    wrong = kept(tmp_path / "wrong.jshard", replace(scene(1, 2), parts=(("Body.001", 3), ("Eye", 4))))
    for arguments, sentence in [
        ((tmp_path / "missing.jcache", out), "cannot be read"),
        ((text, out), "no final motion"),
        ((shards[0], late, out), "no file has frame 7 of Hero"),
        ((*shards, other, out), "other meshes of Hero"),
        ((*shards, fast, out), "different frame rates"),
        ((shards[0], tmp_path / "flesh.abc"), "no .usda or .usdc"),
        ((shards[0], tmp_path / "nowhere" / "flesh.usda"), "cannot be written"),
        ((shards[0], out, "--over", text), "cannot be read as USD"),
        ((wrong, out, "--over", over), "no mesh Body_001 of 3 points"),
        ((shards[0], over, "--over", over), "character itself"),
    ]:
        done = run(*arguments)
        assert done.returncode == 1 and sentence in done.stderr, (arguments, done)
        assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr
        assert not out.exists()
    assert run(out).returncode == 2
