"""Mesh shapes as time samples in a USD layer, without any other deformation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jounce.usd_character import Floats, Part, Shape, finite, geometry, matrix_of
from jounce.usd_surface import unit

# Attributes that are only valid with skeletal animation or the authored points.
OUTDATED = (
    "primvars:skel:jointIndices",
    "primvars:skel:jointWeights",
    "skel:blendShapes",
    "velocities",
    "accelerations",
)


def write(stage: Any, parts: Sequence[Part], time: float, shape: Shape) -> None:
    """Writes the shapes of a body's meshes at a time code.

    parts: from another stage, with the original meshes.
    """
    from pxr import UsdGeom, Vt

    scale = UsdGeom.GetStageMetersPerUnit(stage)
    for part, turned in zip(parts, shape.normals, strict=True):
        mesh, own = geometry(stage.GetPrimAtPath(part.prim.GetPath())), shape.points[part.rows]
        world = matrix_of(part.prim, time)
        # A mesh with a scale of zero is invisible.
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
    """The shape with points (p, 3) in world space, metres, and the meshes' authored normals."""
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
    """Enlarges the authored extent of a mesh's root to contain points (p, 3) in the world, stage units."""
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
    """Unbinds meshes from their skeleton, and blocks attributes that are only valid at rest."""
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
            # An explicit empty binding, because an unbound mesh inherits joints from ancestors.
            UsdSkel.BindingAPI.Apply(prim).CreateSkeletonRel().SetTargets([])


def inherits_joints(prim: Any) -> bool:
    """True if a prim inherits a binding to joints from an ancestor."""
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
