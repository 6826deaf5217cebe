"""Shapes of meshes as samples in a layer of USD, in which nothing else deforms them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jounce.usd_character import Floats, Part, Shape, finite, geometry, matrix_of
from jounce.usd_surface import unit

# Attributes that are right where a skeleton or points of their own move a mesh, and nowhere else.
OUTDATED = (
    "primvars:skel:jointIndices",
    "primvars:skel:jointWeights",
    "skel:blendShapes",
    "velocities",
    "accelerations",
)


def write(stage: Any, parts: Sequence[Part], time: float, shape: Shape) -> None:
    """Gives the meshes of a body their shapes at a time code.

    parts: of another stage, in which the meshes are as they were.
    """
    from pxr import UsdGeom, Vt

    scale = UsdGeom.GetStageMetersPerUnit(stage)
    for part, turned in zip(parts, shape.normals, strict=True):
        mesh, own = geometry(stage.GetPrimAtPath(part.prim.GetPath())), shape.points[part.rows]
        world = matrix_of(part.prim, time)
        # A mesh that is scaled to nothing shows nowhere.
        local = np.linalg.pinv(world)
        points = (own / scale) @ local[:3, :3] + local[3, :3]
        array = Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(points, dtype=np.float32))
        mesh.CreatePointsAttr().Set(array, time)
        mesh.CreateExtentAttr().Set(UsdGeom.PointBased.ComputeExtent(array), time)
        if part.normals is not None and turned is not None:
            carried = part.normals.carried(turned, shape.posed[part.rows], own) @ world[:3, :3].T
            normals = unit(carried, turned)
            array = Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(normals, dtype=np.float32))
            mesh.GetPrim().GetAttribute(part.normals.name).Set(array, time)
        enclose(stage, part.prim, own / scale, time)


def as_given(parts: Sequence[Part], time: float, points: Floats) -> Shape:
    """The shape of points (p, 3) in the world, metres, with the normals that a file gives its meshes at a time code."""
    posed, normals = points.copy(), []
    for part in parts:
        world = matrix_of(part.prim, time)
        given = None if part.normals is None else part.normals.read(geometry(part.prim), time)
        if given is not None:
            own = finite(geometry(part.prim).GetPointsAttr().Get(time), part.prim)
            posed[part.rows] = own @ world[:3, :3] + world[3, :3]
            given = given @ np.linalg.pinv(world[:3, :3]).T
        normals.append(given)
    return Shape(points, posed, normals)


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
