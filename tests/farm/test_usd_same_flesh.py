"""A character of USD has the flesh that `Body` gives it by default, and moves with it."""

import sys
from pathlib import Path

import jounce
import numpy as np
from jounce import standard, usd
from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bipeds

FRAMES = range(1, 13)


def character(path):
    """The biped, which leaps."""
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, "Z")
    stage.SetTimeCodesPerSecond(24)
    stage.SetStartTimeCode(FRAMES[0])
    stage.SetEndTimeCode(FRAMES[-1])
    UsdSkel.Root.Define(stage, "/Hero")
    joints = []
    for name, parent in zip(bipeds.NAMES, bipeds.PARENTS, strict=True):
        word = name.replace(".", "_")
        joints.append(word if parent < 0 else f"{joints[parent]}/{word}")
    heads = [Gf.Vec3d(*map(float, head)) for head in bipeds.HEADS]
    above = [
        head - (heads[at] if at >= 0 else Gf.Vec3d()) for head, at in zip(heads, bipeds.PARENTS, strict=True)
    ]
    skeleton = UsdSkel.Skeleton.Define(stage, "/Hero/Skeleton")
    skeleton.CreateJointsAttr(joints)
    skeleton.CreateBindTransformsAttr([Gf.Matrix4d(1.0).SetTranslate(head) for head in heads])
    skeleton.CreateRestTransformsAttr([Gf.Matrix4d(1.0).SetTranslate(step) for step in above])
    animation = UsdSkel.Animation.Define(stage, "/Hero/Animation")
    animation.CreateJointsAttr(joints)
    animation.CreateRotationsAttr([Gf.Quatf(1.0)] * len(joints))
    animation.CreateScalesAttr([Gf.Vec3h(1.0)] * len(joints))
    places = animation.CreateTranslationsAttr()
    for frame in FRAMES:
        leap = Gf.Vec3d(0.0, 0.0, height(frame))
        places.Set(
            [
                Gf.Vec3f(step + leap if at < 0 else step)
                for step, at in zip(above, bipeds.PARENTS, strict=True)
            ],
            frame,
        )
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets(["/Hero/Animation"])
    skin(stage)
    stage.Save()
    return path


def height(frame):
    """The leap in a frame, metres, exact in 32 bits."""
    return round(1024.0 * 0.2 * np.sin(0.6 * (frame - 1)) ** 2) / 1024.0


def skin(stage):
    """The mesh, bound to the skeleton."""
    points, triangles, weights = bipeds.merged(list(bipeds.body().values()))
    mesh = UsdGeom.Mesh.Define(stage, "/Hero/Body")
    mesh.CreatePointsAttr([Gf.Vec3f(*map(float, point)) for point in points])
    mesh.CreateFaceVertexCountsAttr([3] * len(triangles))
    mesh.CreateFaceVertexIndicesAttr(triangles.ravel().tolist())
    mesh.CreateSubdivisionSchemeAttr("none")
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets(["/Hero/Skeleton"])
    each = weights.shape[1]
    binding.CreateJointIndicesPrimvar(False, each).Set(Vt.IntArray(list(range(each)) * len(points)))
    binding.CreateJointWeightsPrimvar(False, each).Set(Vt.FloatArray(weights.ravel().tolist()))


def test_a_character_of_usd_has_the_flesh_of_body(tmp_path):
    stage = Usd.Stage.Open(str(character(tmp_path / "hero.usda")))
    [hero] = usd.characters(stage)
    found = list(usd.shapes(hero, usd.Settings(), FRAMES))
    points, triangles, weights = bipeds.merged(list(bipeds.body().values()))
    core = jounce.SkeletonCore(
        bipeds.HEADS,
        bipeds.PARENTS,
        names=bipeds.NAMES,
        rigid=jounce.SkeletonCore.hard_points(points, triangles, weights),
        still=[parent >= 0 for parent in bipeds.PARENTS],
    )
    body = jounce.Body(points, triangles, weights, core=core, bone_parents=bipeds.PARENTS)
    simulation = jounce.Simulation(body.model, dt=1 / 24, **standard.motion(body.mesh))
    pose = np.tile(np.eye(3, 4), (len(bipeds.NAMES), 1, 1))
    most = worst = 0.0
    for frame, shape in zip(FRAMES, found, strict=True):
        pose[:, 2, 3] = height(frame)
        (simulation.settle if frame == FRAMES[0] else simulation.step)(pose)
        flesh = body.model.displacement(simulation.coefficients, body.embedding)
        most = max(most, np.abs(flesh).max())
        worst = max(worst, np.abs(shape.points - shape.posed - flesh).max())
    assert most > 0.01 and worst < 1e-6, (most, worst)
