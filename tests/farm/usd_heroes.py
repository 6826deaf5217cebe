"""Made characters of USD, one per case: a column of 2 m on two joints; the upper one bends and stops."""

import math

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdSkel, Vt

JOINTS = ["Lower", "Lower/Upper"]
BODY, RIG, SKELETON, ANIMATION = "/Hero/Body", "/Hero", "/Hero/Skeleton", "/Hero/Animation"
BINDS = [Gf.Matrix4d(1.0), Gf.Matrix4d(1.0).SetTranslate(Gf.Vec3d(0.0, 1.0, 0.0))]
# Frames and angles of the upper joint.
KEYS = ((1, 0.0), (4, 0.8), (7, -0.3))
FRAMES = range(1, 25)


def hero(path, edit=lambda stage: None, codes=24.0):
    """A character in a file. edit: makes the case. codes: time codes per second."""
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageUpAxis(stage, "Y")
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(codes)
    stage.SetStartTimeCode(FRAMES[0] * codes / 24.0)
    stage.SetEndTimeCode(FRAMES[-1] * codes / 24.0)
    root = UsdSkel.Root.Define(stage, RIG)
    stage.SetDefaultPrim(root.GetPrim())
    skeleton = add_skeleton(stage, SKELETON)
    bind(column(stage, BODY))
    for prim in (root.GetPrim(), skeleton.GetPrim()):
        UsdSkel.BindingAPI.Apply(prim)
    UsdSkel.BindingAPI(root.GetPrim()).CreateAnimationSourceRel().SetTargets([ANIMATION])
    UsdSkel.BindingAPI(root.GetPrim()).CreateSkeletonRel().SetTargets([SKELETON])
    add_animation(stage, ANIMATION, codes / 24.0)
    edit(stage)
    stage.Save()
    return path


def add_skeleton(stage, path):
    skeleton = UsdSkel.Skeleton.Define(stage, path)
    skeleton.CreateJointsAttr(JOINTS)
    skeleton.CreateBindTransformsAttr(BINDS)
    skeleton.CreateRestTransformsAttr(BINDS)
    return skeleton


def add_animation(stage, path, codes):
    """codes: time codes a frame."""
    animation = UsdSkel.Animation.Define(stage, path)
    animation.CreateJointsAttr(JOINTS)
    animation.CreateTranslationsAttr([Gf.Vec3f(0.0), Gf.Vec3f(0.0, 1.0, 0.0)])
    animation.CreateScalesAttr([Gf.Vec3h(1.0)] * 2)
    turns = animation.CreateRotationsAttr()
    # A sample per frame: UsdSkel bakes samples and no frames between them.
    for frame in range(KEYS[0][0], KEYS[-1][0] + 1):
        angle = float(np.interp(frame, *zip(*KEYS, strict=True)))
        upper = Gf.Quatf(math.cos(angle / 2), math.sin(angle / 2), 0.0, 0.0)
        turns.Set([Gf.Quatf(1.0), upper], frame * codes)
    return animation


def column(stage, path, radius=0.3, rings=12, sides=12):
    """A mesh of 2 m along y."""
    mesh = UsdGeom.Mesh.Define(stage, path)
    turns = 2.0 * np.pi * np.arange(sides) / sides
    points = [
        (radius * math.cos(turn), 2.0 * ring / rings, radius * math.sin(turn))
        for ring in range(rings + 1)
        for turn in turns
    ]
    faces = [
        (a * sides + b, (a + 1) * sides + b, (a + 1) * sides + (b + 1) % sides, a * sides + (b + 1) % sides)
        for a in range(rings)
        for b in range(sides)
    ]
    faces += [tuple(range(sides)), tuple(range(rings * sides, (rings + 1) * sides))[::-1]]
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(np.array(points, np.float32)))
    mesh.CreateFaceVertexCountsAttr([len(face) for face in faces])
    mesh.CreateFaceVertexIndicesAttr([corner for face in faces for corner in face])
    mesh.CreateSubdivisionSchemeAttr("none")
    return mesh


def rest(mesh):
    return np.array(mesh.GetPointsAttr().Get(Usd.TimeCode.EarliestTime()))


def bind(mesh, order=(0, 1)):
    """Two influences a point. order: the joints' numbers."""
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    upper = np.clip(rest(mesh)[:, 1] - 0.5, 0.0, 1.0)
    weights = np.column_stack((1.0 - upper, upper)).astype(np.float32)
    binding.CreateJointIndicesPrimvar(False, 2).Set(Vt.IntArray(list(order) * len(upper)))
    binding.CreateJointWeightsPrimvar(False, 2).Set(Vt.FloatArray.FromNumpy(weights.ravel()))
    return binding


def body(stage):
    return UsdGeom.Mesh(stage.GetPrimAtPath(BODY))


def binding(stage, path=BODY):
    return UsdSkel.BindingAPI(stage.GetPrimAtPath(path))


def constant(stage, path=BODY):
    """One joint for all points at once."""
    binding(stage, path).CreateJointIndicesPrimvar(True, 1).Set([1])
    binding(stage, path).CreateJointWeightsPrimvar(True, 1).Set([1.0])


def equal(stage):
    """The same two joints, by the same shares, for each point."""
    count = len(rest(body(stage)))
    binding(stage).GetJointWeightsPrimvar().Set(Vt.FloatArray([0.02, 0.98] * count))


def own_joints(stage):
    bind(body(stage), order=(1, 0)).CreateJointsAttr(["Lower/Upper", "Lower"])


def blend_shapes(stage, between=False, sparse=False):
    mesh = body(stage)
    high = np.flatnonzero(rest(mesh)[:, 1] > 1.2)
    offsets = np.zeros((len(rest(mesh)), 3), np.float32)
    offsets[high, 0] = 0.4
    shape = UsdSkel.BlendShape.Define(stage, BODY + "/Lean")
    if sparse:
        shape.CreatePointIndicesAttr(Vt.IntArray(high.tolist()))
        offsets = offsets[high]
    shape.CreateOffsetsAttr(Vt.Vec3fArray.FromNumpy(offsets))
    if between:
        half = shape.CreateInbetween("half")
        half.SetWeight(0.5)
        half.SetOffsets(Vt.Vec3fArray.FromNumpy(-offsets))
    binding(stage).CreateBlendShapesAttr(["lean"])
    binding(stage).CreateBlendShapeTargetsRel().SetTargets([shape.GetPath()])
    animation = UsdSkel.Animation(stage.GetPrimAtPath(ANIMATION))
    animation.CreateBlendShapesAttr(["other", "lean"])
    weights = animation.CreateBlendShapeWeightsAttr()
    for frame in FRAMES[:8]:
        weights.Set([0.3, (frame - 1) / 7.0 * (0.7 if between else 1.0)], frame)


def dual_quaternions(stage):
    binding(stage).CreateSkinningMethodAttr("dualQuaternion")


def half_weights(stage):
    """Weights with a sum other than 1, as from rounding."""
    weights = binding(stage).GetJointWeightsPrimvar()
    weights.Set(Vt.FloatArray.FromNumpy(0.98 * np.array(weights.Get(), np.float32)))


def sampled_points(stage):
    """Points with samples and nothing else."""
    points = body(stage).GetPointsAttr()
    values = points.Get()
    points.Clear()
    points.Set(values, 1)


def moving_points(stage):
    sampled_points(stage)
    points = body(stage).GetPointsAttr()
    points.Set(Vt.Vec3fArray.FromNumpy((np.array(points.Get(1)) * [1.2, 1.0, 1.0]).astype(np.float32)), 8)


def bound_elsewhere(stage):
    """Points brought to the joints by their bind transform, on a mesh in another place."""
    matrix = Gf.Matrix4d().SetScale(0.01) * Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d(0, 1, 0), 50))
    mesh = body(stage)
    points = np.column_stack((rest(mesh), np.ones(len(rest(mesh))))) @ np.linalg.inv(np.array(matrix))
    mesh.GetPointsAttr().Set(Vt.Vec3fArray.FromNumpy(points[:, :3].astype(np.float32)))
    binding(stage).CreateGeomBindTransformAttr(matrix)
    mesh.AddTranslateOp().Set(Gf.Vec3d(4.0, 1.0, -2.0))
    mesh.AddScaleOp().Set(Gf.Vec3f(2.0, 3.0, 1.0))


def moving_root(stage):
    root = UsdGeom.Xformable(stage.GetPrimAtPath(RIG))
    move = root.AddTranslateOp()
    for frame, x in ((1, 0.0), (6, 0.5)):
        move.Set(Gf.Vec3d(x, 0.0, 0.0), frame)
    root.AddScaleOp().Set(Gf.Vec3f(0.5))


def inherited(stage):
    """A rod with its binding on a parent prim."""
    mesh = UsdGeom.Xform.Define(stage, "/Hero/Group")
    constant_on = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    constant_on.CreateJointIndicesPrimvar(True, 1).Set([1])
    constant_on.CreateJointWeightsPrimvar(True, 1).Set([1.0])
    column(stage, "/Hero/Group/Rod", radius=0.1)


def from_skeleton(stage):
    """The animation is named by the skeleton alone, and the skeleton by the mesh alone."""
    for name in ("skel:animationSource", "skel:skeleton"):
        stage.GetPrimAtPath(RIG).GetRelationship(name).ClearTargets(True)
    binding(stage, SKELETON).CreateAnimationSourceRel().SetTargets([ANIMATION])
    binding(stage).CreateSkeletonRel().SetTargets([SKELETON])


def two_skeletons(stage):
    """A second column beside the first, with its own skeleton and animation."""
    add_skeleton(stage, "/Hero/Other")
    add_animation(stage, "/Hero/OtherAnimation", 1.0)
    second = column(stage, "/Hero/Twin")
    bind(second).CreateSkeletonRel().SetTargets(["/Hero/Other"])
    place = UsdGeom.Xformable(stage.GetPrimAtPath("/Hero/Other")).AddTranslateOp()
    place.Set(Gf.Vec3d(3.0, 0.0, 0.0))
    UsdSkel.BindingAPI.Apply(stage.GetPrimAtPath("/Hero/Other"))
    binding(stage, "/Hero/Other").CreateAnimationSourceRel().SetTargets(["/Hero/OtherAnimation"])


def rod_beside(stage):
    """Flesh, and a rod of the same length held by one joint."""
    rod = column(stage, "/Hero/Rod", radius=0.05)
    UsdSkel.BindingAPI.Apply(rod.GetPrim())
    points = rest(rod) + np.array([0.8, 0.0, 0.0], np.float32)
    rod.GetPointsAttr().Set(Vt.Vec3fArray.FromNumpy(points.astype(np.float32)))
    constant(stage, "/Hero/Rod")


def purposes(stage):
    """A render mesh, its stand-in, and a guide cage."""
    body(stage).CreatePurposeAttr("render")
    for name, purpose, radius in (("Proxy", "proxy", 0.32), ("Cage", "guide", 1.5)):
        mesh = column(stage, f"/Hero/{name}", radius, rings=6, sides=8)
        bind(mesh)
        mesh.CreatePurposeAttr(purpose)


def hidden(stage):
    mesh = column(stage, "/Hero/Cage", radius=1.5)
    bind(mesh)
    mesh.CreateVisibilityAttr("invisible")


def seen_late(stage):
    switch = body(stage).CreateVisibilityAttr()
    switch.Set("invisible", 1)
    switch.Set("inherited", 9)


def left_handed(stage):
    mesh = body(stage)
    mesh.CreateOrientationAttr("leftHanded")
    counts = mesh.GetFaceVertexCountsAttr().Get()
    corners = iter(mesh.GetFaceVertexIndicesAttr().Get())
    faces = [[next(corners) for _ in range(count)] for count in counts]
    mesh.GetFaceVertexIndicesAttr().Set([corner for face in faces for corner in reversed(face)])


def instanced(stage):
    """Two instances of one character in the scene."""
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/World").GetPrim())
    for number, x in enumerate((0.0, 4.0)):
        UsdGeom.Xform.Define(stage, f"/World/Place{number}").AddTranslateOp().Set(Gf.Vec3d(x, 0.0, 0.0))
        prim = stage.DefinePrim(f"/World/Place{number}/Hero")
        prim.GetReferences().AddInternalReference(RIG)
        prim.SetInstanceable(True)
    stage.GetPrimAtPath(RIG).SetSpecifier(Sdf.SpecifierClass)


def unposed(stage):
    """Joints without transforms."""
    stage.RemovePrim(ANIMATION)
    stage.GetPrimAtPath(SKELETON).RemoveProperty("restTransforms")


def no_range(stage):
    for name in ("startTimeCode", "endTimeCode"):
        stage.ClearMetadata(name)


def fractions(stage):
    stage.SetStartTimeCode(0.6)
    stage.SetEndTimeCode(23.4)


def vanishing(stage):
    scale = body(stage).AddScaleOp()
    for frame, size in ((1, 1.0), (12, 0.0)):
        scale.Set(Gf.Vec3f(size), frame)


def smooth(mesh):
    points = rest(mesh)
    return (
        np.column_stack((points[:, 0], 0 * points[:, 0], points[:, 2]))
        / np.linalg.norm(points[:, ::2], axis=1)[:, None]
    )


def normals(stage, kind="vertex", primvar=False):
    """Smooth normals across the column, of points or of corners."""
    mesh = body(stage)
    values = smooth(mesh).astype(np.float32)
    corners = np.array(mesh.GetFaceVertexIndicesAttr().Get())
    if primvar:
        made = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("normals", Sdf.ValueTypeNames.Normal3fArray, kind)
        made.Set(Vt.Vec3fArray.FromNumpy(values))
        made.SetIndices(Vt.IntArray(corners.tolist()))
    else:
        mesh.CreateNormalsAttr(Vt.Vec3fArray.FromNumpy(values[corners] if kind == "faceVarying" else values))
        mesh.SetNormalsInterpolation(kind)


def in_pieces(case):
    """Makes the character of the case of a file."""

    def edit(stage):
        stage.RemovePrim(BODY)
        count = case[0].weights.shape[1]
        skeleton = UsdSkel.Skeleton(stage.GetPrimAtPath(SKELETON))
        skeleton.GetJointsAttr().Set(JOINTS[:count])
        skeleton.GetBindTransformsAttr().Set(BINDS[:count])
        skeleton.GetRestTransformsAttr().Set(BINDS[:count])
        for piece in case:
            mesh = UsdGeom.Mesh.Define(stage, f"{RIG}/{piece.name}")
            # The upward axis of the file is y.
            points = (piece.points @ [[1, 0, 0], [0, 0, -1], [0, 1, 0]]).astype(np.float32)
            mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(points))
            mesh.CreateFaceVertexCountsAttr([len(face) for face in piece.faces])
            mesh.CreateFaceVertexIndicesAttr([corner for face in piece.faces for corner in face])
            weights = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
            weights.CreateJointIndicesPrimvar(False, count).Set(Vt.IntArray(list(range(count)) * len(points)))
            values = Vt.FloatArray.FromNumpy(piece.weights.astype(np.float32).ravel())
            weights.CreateJointWeightsPrimvar(False, count).Set(values)
            if piece.material:
                material = UsdShade.Material.Define(stage, f"/Materials/{piece.material}")
                UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(material)

    return edit
