"""Flesh for a character of USD, with nothing but the module and usd-core."""

import os
import subprocess
import sys

import numpy as np
import pytest
from jounce.usd import Settings, add_flesh
from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, Vt

FRAMES = range(1, 25)


def character(path, angle=0.6, metres=0.01):
    """A column of 2 m on two joints along z with a swinging upper one; translated and rotated."""
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, metres)
    UsdGeom.SetStageUpAxis(stage, "Z")
    stage.SetTimeCodesPerSecond(24)
    stage.SetStartTimeCode(FRAMES[0])
    stage.SetEndTimeCode(FRAMES[-1])
    root = UsdSkel.Root.Define(stage, "/Hero")
    root.AddTranslateOp().Set(Gf.Vec3d(50.0, -20.0, 3.0))
    root.AddRotateZOp().Set(30.0)
    skeleton = UsdSkel.Skeleton.Define(stage, "/Hero/Skeleton")
    skeleton.CreateJointsAttr(["Lower", "Lower/Upper"])
    length = 1.0 / metres
    rests = [Gf.Matrix4d(1.0), Gf.Matrix4d(1.0).SetTranslate(Gf.Vec3d(0.0, 0.0, length))]
    skeleton.CreateBindTransformsAttr(rests)
    skeleton.CreateRestTransformsAttr(rests)
    animation = UsdSkel.Animation.Define(stage, "/Hero/Animation")
    animation.CreateJointsAttr(["Lower", "Lower/Upper"])
    animation.CreateTranslationsAttr([Gf.Vec3f(0.0), Gf.Vec3f(0.0, 0.0, length)])
    animation.CreateScalesAttr([Gf.Vec3h(1.0), Gf.Vec3h(1.0)])
    turns = animation.CreateRotationsAttr()
    for frame in FRAMES:
        half = 0.5 * angle * np.sin(0.5 * (frame - 1))
        turns.Set([Gf.Quatf(1.0), Gf.Quatf(float(np.cos(half)), float(np.sin(half)), 0.0, 0.0)], frame)
    column(stage, length)
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets(["/Hero/Animation"])
    stage.Save()
    return path


def column(stage, length, sides=12, rings=12):
    """The mesh, bound to the skeleton, with joints in reverse order in its influences."""
    mesh = UsdGeom.Mesh.Define(stage, "/Hero/Body")
    turns = 2.0 * np.pi * np.arange(sides) / sides
    points = [
        (0.3 * length * np.cos(turn), 0.3 * length * np.sin(turn), 2.0 * length * ring / rings)
        for ring in range(rings + 1)
        for turn in turns
    ]
    faces = [
        (ring * sides + side, ring * sides + (side + 1) % sides)
        + ((ring + 1) * sides + (side + 1) % sides, (ring + 1) * sides + side)
        for ring in range(rings)
        for side in range(sides)
    ]
    ends = [tuple(range(sides))[::-1], tuple(range(rings * sides, (rings + 1) * sides))]
    mesh.CreatePointsAttr([Gf.Vec3f(*map(float, point)) for point in points])
    mesh.CreateFaceVertexCountsAttr([len(face) for face in (*faces, *ends)])
    mesh.CreateFaceVertexIndicesAttr([corner for face in (*faces, *ends) for corner in face])
    mesh.CreateSubdivisionSchemeAttr("none")
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    upper = np.clip(np.array(points)[:, 2] / length - 0.5, 0.0, 1.0)
    binding.CreateSkeletonRel().SetTargets(["/Hero/Skeleton"])
    binding.CreateJointsAttr(["Lower/Upper", "Lower"])
    binding.CreateJointIndicesPrimvar(False, 2).Set(Vt.IntArray([0, 1] * len(points)))
    weights = np.column_stack((upper, 1.0 - upper)).ravel()
    binding.CreateJointWeightsPrimvar(False, 2).Set(Vt.FloatArray([float(weight) for weight in weights]))


def skinned(path, frame):
    """USD's own skinning of the mesh, in the world (p, 3)."""
    # A copy, since open layers are shared.
    stage = Usd.Stage.Open(Usd.Stage.Open(str(path)).Flatten())
    root = UsdSkel.Root(stage.GetPrimAtPath("/Hero"))
    UsdSkel.BakeSkinning(root, Gf.Interval(FRAMES[0], FRAMES[-1]))
    return world(stage, frame)


def world(stage, frame):
    """Points of the mesh in the world (p, 3)."""
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/Hero/Body"))
    matrix = np.array(UsdGeom.XformCache(frame).GetLocalToWorldTransform(mesh.GetPrim()))
    return np.array(mesh.GetPointsAttr().Get(frame)) @ matrix[:3, :3] + matrix[3, :3]


@pytest.fixture
def source(tmp_path):
    """A character in a file."""
    return character(tmp_path / "hero.usda")


@pytest.mark.parametrize("final", [False, True])
def test_flesh_follows_the_skeleton_and_goes_on_where_it_stops(source, tmp_path, final):
    out = tmp_path / "flesh.usdc"
    assert add_flesh(source, out, Settings(resolution=10, core=0.0, final=final)) == ["/Hero/Body"]
    stage = Usd.Stage.Open(str(out))
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (FRAMES[0], FRAMES[-1])
    off = [np.linalg.norm(world(stage, frame) - skinned(source, frame), axis=1).max() for frame in FRAMES]
    # In centimetres, of a body 2 m long: at rest at first, then behind.
    assert off[0] < 1e-2
    assert 1.0 < max(off) < 60.0


def test_what_nothing_moves_stays_as_usd_has_it(tmp_path):
    source, out = character(tmp_path / "hero.usda", angle=0.0), tmp_path / "flesh.usda"
    add_flesh(source, out, Settings(resolution=10))
    stage = Usd.Stage.Open(str(out))
    for frame in FRAMES[::6]:
        assert np.allclose(world(stage, frame), skinned(source, frame), atol=1e-2)


def test_nothing_else_deforms_the_meshes_and_the_source_stays(source, tmp_path):
    before, out = source.read_bytes(), tmp_path / "layers" / "flesh.usda"
    out.parent.mkdir()
    add_flesh(source, out, Settings(resolution=10), range(5, 9))
    assert source.read_bytes() == before
    assert list(out.parent.iterdir()) == [out]
    assert list(Sdf.Layer.FindOrOpen(str(out)).subLayerPaths) == [os.path.join("..", "hero.usda")]
    stage = Usd.Stage.Open(str(out))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/Hero/Body"))
    assert mesh.GetPointsAttr().GetTimeSamples() == [5.0, 6.0, 7.0, 8.0]
    assert not mesh.GetPrim().HasAPI(UsdSkel.BindingAPI)
    shapes = world(stage, 7)
    UsdSkel.BakeSkinning(UsdSkel.Root(stage.GetPrimAtPath("/Hero")), Gf.Interval(5, 8))
    assert np.array_equal(world(stage, 7), shapes)


def test_units_change_nothing(tmp_path):
    made = []
    # Units related by a power of two, for equal rounding of points.
    for metres in (0.5, 1.0):
        source, out = character(tmp_path / f"hero {metres}.usda", metres=metres), tmp_path / "flesh.usdc"
        stage = Usd.Stage.Open(str(source))
        stage.GetPrimAtPath("/Hero").GetAttribute("xformOp:translate").Set(Gf.Vec3d(0.0))
        stage.Save()
        add_flesh(source, out, Settings(resolution=10))
        made.append(world(Usd.Stage.Open(str(out)), 15) * metres)
        out.unlink()
    assert np.allclose(*made, atol=1e-4)


def run(*arguments):
    """The command."""
    return subprocess.run(
        [sys.executable, "-m", "jounce", *map(str, arguments)], capture_output=True, text=True
    )


def test_the_command_says_what_it_did(source, tmp_path):
    done = run("usd", source, tmp_path / "flesh.usda", "--resolution", "8", "--frequency", "3")
    assert done.returncode == 0, done.stderr
    assert "/Hero/Body: in" in done.stdout and "100%" in done.stdout


@pytest.mark.parametrize(
    ("given", "range_"), [(("--end", "6"), (1, 6)), (("--start", "20"), (20, 24)), ((), (1, 24))]
)
def test_the_file_gives_what_the_command_does_not(source, tmp_path, given, range_):
    out = tmp_path / "flesh.usda"
    done = run("usd", source, out, "--resolution", "8", *given)
    assert done.returncode == 0, done.stderr
    stage = Usd.Stage.Open(str(out))
    times = UsdGeom.Mesh(stage.GetPrimAtPath("/Hero/Body")).GetPointsAttr().GetTimeSamples()
    assert (times[0], times[-1]) == range_


def test_refusals_are_one_sentence_and_write_nothing(source, tmp_path):
    empty, text, out = tmp_path / "empty.usda", tmp_path / "text.usda", tmp_path / "flesh.usda"
    Usd.Stage.CreateNew(str(empty)).Save()
    text.write_text("no USD")
    for arguments, sentence in [
        ((tmp_path / "missing.usda", out), "missing.usda does not exist"),
        ((text, out), "cannot be read"),
        ((empty, out), "no mesh that a skeleton deforms"),
        ((source, source), "character itself"),
        ((source, tmp_path / "flesh.abc"), "no .usda or .usdc"),
        ((source, tmp_path / "nowhere" / "flesh.usda"), "cannot be written"),
        ((source, out, "--resolution", "0"), "resolution"),
    ]:
        done = run("usd", *arguments)
        assert done.returncode == 1 and sentence in done.stderr, (arguments, done)
        assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr
        assert not out.exists()
    for given in (("--start", "9", "--end", "2"), ("--resolution", "many")):
        done = run("usd", source, out, *given)
        assert done.returncode == 2 and given[0] in done.stderr
    assert run("usd", source, out, "--end", "0").returncode == 1
    assert run("fry").returncode == 2
