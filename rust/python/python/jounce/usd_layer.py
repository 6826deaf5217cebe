"""Shapes of meshes as samples in a layer of USD, in which nothing else deforms them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jounce.usd_character import Floats, Part, finite, geometry, matrix_of

# Attributes that are right where a skeleton or points of their own move a mesh, and nowhere else.
OUTDATED = (
    "primvars:skel:jointIndices",
    "primvars:skel:jointWeights",
    "skel:blendShapes",
    "velocities",
    "accelerations",
)


def write(stage: Any, parts: Sequence[Part], time: float, shape: Floats) -> None:
    """Gives the meshes of a body their shapes at a time code.

    parts: of another stage, in which the meshes are as they were. shape: (p, 3), in the world, metres.
    """
    from pxr import UsdGeom, Vt

    scale = UsdGeom.GetStageMetersPerUnit(stage)
    for part in parts:
        mesh = geometry(stage.GetPrimAtPath(part.prim.GetPath()))
        # A mesh that is scaled to nothing shows nowhere.
        local = np.linalg.pinv(matrix_of(part.prim, time))
        points = (shape[part.rows] / scale) @ local[:3, :3] + local[3, :3]
        array = Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(points, dtype=np.float32))
        mesh.CreatePointsAttr().Set(array, time)
        mesh.CreateExtentAttr().Set(UsdGeom.PointBased.ComputeExtent(array), time)
        if part.normals is not None:
            before = finite(geometry(part.prim).GetPointsAttr().Get(time), part.prim)
            normals = part.normals.carried(part.normals.read(geometry(part.prim), time), before, points)
            array = Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(normals, dtype=np.float32))
            mesh.GetPrim().GetAttribute(part.normals.name).Set(array, time)
        enclose(stage, part.prim, shape[part.rows] / scale, time)


def enclose(stage: Any, prim: Any, points: Floats, time: float) -> None:
    """Has the extent that a file gives the root above a mesh hold points (p, 3) of the world, in units of the stage."""
    from pxr import Gf, UsdGeom, UsdSkel, Vt

    root = UsdSkel.Root.Find(prim)
    own = UsdGeom.Boundable(root).GetExtentAttr() if root else None
    if not own or not own.HasAuthoredValue():
        return
    written = UsdGeom.Boundable(stage.GetPrimAtPath(root.GetPath())).GetExtentAttr()
    known = written if time in written.GetBracketingTimeSamples(time) else own
    local = np.linalg.pinv(matrix_of(root.GetPrim(), time))
    around = np.concatenate((np.array(known.Get(time)), points @ local[:3, :3] + local[3, :3]))
    corners = (Gf.Vec3f(*map(float, corner)) for corner in (around.min(axis=0), around.max(axis=0)))
    written.Set(Vt.Vec3fArray(list(corners)), time)


def release(stage: Any, parts: Sequence[Part]) -> None:
    """Takes meshes off their skeleton, and with it what is right at rest alone."""
    from pxr import UsdSkel

    for part in parts:
        prim = stage.GetPrimAtPath(part.prim.GetPath())
        carried = "" if part.normals is None else part.normals.name
        stale = [name for name in ("normals", "primvars:normals") if name != carried]
        for name in (*OUTDATED, *stale, f"{carried}:indices"):
            if prim.HasAttribute(name):
                prim.GetAttribute(name).Block()
        for name in ("skel:skeleton", "skel:blendShapeTargets"):
            if prim.HasRelationship(name):
                prim.GetRelationship(name).SetTargets([])
        prim.RemoveAPI(UsdSkel.BindingAPI)
        if inherits_joints(prim):
            # Bound to no skeleton, as a mesh that is not bound takes its joints from what is above it.
            UsdSkel.BindingAPI.Apply(prim).CreateSkeletonRel().SetTargets([])


def inherits_joints(prim: Any) -> bool:
    """True if something above a prim is bound to joints, and binds to them what is below."""
    from pxr import UsdSkel

    above = prim.GetParent()
    while above:
        if (
            above.HasAPI(UsdSkel.BindingAPI)
            and UsdSkel.BindingAPI(above).GetJointIndicesAttr().HasAuthoredValue()
        ):
            return True
        above = above.GetParent()
    return False
