"""Faces of a USD mesh, and transport of normals with the motion of the points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Normals:
    """Authored normals of a mesh. name: of their attribute. triangles: (t, 3).

    corners: (c,), point indices of the face corners, or all points for normals per point. groups: (k,), the
    first corner of each normal; None with one normal per corner.
    """

    name: str
    triangles: Indices
    corners: Indices
    groups: Indices | None

    def read(self, mesh: Any, time: Any) -> Floats:
        """The normals (k, 3) of a mesh at a time."""
        return np.array(values(mesh, self.name, time), dtype=np.float64).reshape(-1, 3)

    @property
    def points(self) -> Indices:
        """A point (k,) for each normal."""
        return self.corners if self.groups is None else self.corners[self.groups]

    def carried(self, normals: Floats, before: Floats, after: Floats) -> Floats:
        """Unit normals (k, 3) after points (p, 3) have moved from before to after.

        Triangles transform normals by the cofactors of their deformation gradients; points take the
        area-weighted mean, `sum_t A_t cof(F_t) = 1/2 sum_t cof(D'_t) D_t^T` with the edges and the unit
        normal as columns of `D`.
        """
        gradient = 0.5 * cofactors(edges(after, self.triangles)) @ edges(before, self.triangles).mT
        turns = np.zeros((len(before), 3, 3))
        for corner in self.triangles.T:
            np.add.at(turns, corner, gradient)
        own = turns[self.corners]
        if self.groups is not None:
            own = np.add.reduceat(own, self.groups, axis=0)
        turned = np.einsum("kij,kj->ki", own, normals)
        return unit(turned, normals)


def values(mesh: Any, name: str, time: Any) -> Any:
    """The values of an attribute of normals at a time, one per element."""
    from pxr import UsdGeom

    primvar = UsdGeom.Primvar(mesh.GetPrim().GetAttribute(name))
    return primvar.ComputeFlattened(time) if primvar else mesh.GetPrim().GetAttribute(name).Get(time)


def normals_of(mesh: Any) -> Normals | None:
    """The effective normals of a mesh; None without matching normals."""
    from pxr import Usd, UsdGeom

    first = Usd.TimeCode.EarliestTime()
    primvar = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("normals")
    name = "primvars:normals" if primvar and primvar.HasAuthoredValue() else "normals"
    kind = primvar.GetInterpolation() if name != "normals" else mesh.GetNormalsInterpolation()
    found = values(mesh, name, first)
    if not found:
        return None
    corners = np.array(mesh.GetFaceVertexIndicesAttr().Get(first), dtype=np.int64)
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get(first), dtype=np.int64)
    points, groups = np.arange(len(mesh.GetPointsAttr().Get(first))), None
    if kind == UsdGeom.Tokens.faceVarying:
        points = corners
    elif kind == UsdGeom.Tokens.uniform and counts.all():
        points, groups = corners, np.cumsum(counts) - counts
    elif kind not in (UsdGeom.Tokens.vertex, UsdGeom.Tokens.varying):
        return None
    fits = len(found) == len(points if groups is None else groups)
    return Normals(name, fans(mesh), points, groups) if fits else None


def fans(mesh: Any) -> Indices:
    """The faces of a mesh as triangles (t, 3)."""
    from pxr import Usd, UsdGeom

    first = Usd.TimeCode.EarliestTime()
    faces = mesh.GetFaceVertexIndicesAttr().Get(first), mesh.GetFaceVertexCountsAttr().Get(first)
    fits, reason = UsdGeom.Mesh.ValidateTopology(*faces, len(mesh.GetPointsAttr().Get(first)))
    if not fits:
        raise ValueError(f"{mesh.GetPath()}: its faces do not fit its points ({reason.strip().rstrip('.')})")
    corners, counts = (np.array(array, dtype=np.int64) for array in faces)
    starts = np.cumsum(counts) - counts
    made = []
    for step in range(1, int(counts.max(initial=0)) - 1):
        start = starts[counts > step + 1]
        made.append(np.column_stack((corners[start], corners[start + step], corners[start + step + 1])))
    return np.concatenate(made) if made else np.empty((0, 3), dtype=np.int64)


def edges(points: Floats, triangles: Indices) -> Floats:
    """Two edges and the unit normal of each triangle as columns, (t, 3, 3)."""
    a, b, c = points[triangles.T]
    across = np.cross(b - a, c - a)
    return np.stack((b - a, c - a, unit(across, across)), axis=2)


def cofactors(matrices: Floats) -> Floats:
    """The cofactors of matrices (t, 3, 3)."""
    a, b, c = np.moveaxis(matrices, 2, 0)
    return np.stack((np.cross(b, c), np.cross(c, a), np.cross(a, b)), axis=2)


def unit(vectors: Floats, others: Floats) -> Floats:
    """Vectors (k, 3) of length 1; the rows of `others` for vectors of length 0."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(lengths > 0.0, vectors / np.where(lengths > 0.0, lengths, 1.0), others)
