"""Meshes from and to files and other libraries, through meshio and trimesh.

`read_mesh` is in the module itself; the others are in `jounce.io`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from jounce._jounce import Body, SurfaceMesh, TetMesh
from jounce.extras import wanted

Points = npt.NDArray[np.float64]
Tets = npt.NDArray[np.int64]
Triangles = npt.NDArray[np.int32]


def read_mesh(path: str | os.PathLike[str]) -> TetMesh:
    """Reads the tets of a mesh file: .msh, .mesh, .vtk or any other format of meshio.

    Flips the tets of a completely inverted mesh, and drops vertices without a tet.

    Parameters
    ----------
    path : path
        Path of the file.

    Returns
    -------
    TetMesh
        The mesh, in the units of the file.

    Raises
    ------
    ValueError
        For a file that is missing, unreadable or without tets, and for a mesh refused by TetMesh.
    ImportError
        Without meshio.

    Examples
    --------
    >>> jounce.read_mesh("bar.msh")  # doctest: +SKIP
    TetMesh(735 vertices, 2880 tets)
    """
    name = os.fspath(path)
    mesh = _read(name)
    points = np.ascontiguousarray(mesh.points, dtype=np.float64)
    blocks = [block.data for block in mesh.cells if block.type == "tetra"]
    if not blocks:
        raise ValueError(f"path: {name} has no tetrahedra")
    tets = np.ascontiguousarray(np.concatenate(blocks), dtype=np.int64)
    if tets.min() < 0 or tets.max() >= len(points) or points.shape[1:] != (3,):
        return TetMesh(points, tets)  # raises the error
    used, renumbered = np.unique(tets, return_inverse=True)
    points = np.ascontiguousarray(points[used])
    return TetMesh(points, _turned(points, renumbered.reshape(tets.shape)))


def write_mesh(
    path: str | os.PathLike[str],
    mesh: TetMesh | SurfaceMesh | Body,
    points: npt.NDArray[Any] | None = None,
    values: Mapping[str, npt.NDArray[Any]] | None = None,
) -> None:
    """Writes a mesh to a file of any format of meshio, such as .vtu for ParaView.

    Parameters
    ----------
    path : path
        Path of the file.
    mesh : TetMesh, SurfaceMesh or Body
        The tets of a mesh, or the triangles of a surface; a body is its surface.
    points : (n, 3) array, optional
        Other places of the vertices, such as `Body.deformed`, metres.
    values : mapping of str to arrays, optional
        Values at the vertices by name, (n,) or (n, k).

    Raises
    ------
    ValueError
        For places and values of another number of vertices, and for a format that meshio does not write.
    ImportError
        Without meshio.

    Examples
    --------
    >>> mesh = jounce.TetMesh.lattice(*jounce.shapes.box(), resolution=4)
    >>> jounce.io.write_mesh("box.vtu", mesh, values={"leak": jounce.momentum_leak(mesh)})  # doctest: +SKIP
    """
    meshio = wanted("meshio", "write_mesh", "io")
    rest, kind, corners = _elements(mesh)
    for name, array in {"points": rest if points is None else points, **(values or {})}.items():
        if len(array) != len(rest):
            raise ValueError(f"{name}: expected {len(rest)} rows, one a vertex, got {len(array)}")
    shown = rest if points is None else np.asarray(points, dtype=np.float64)
    data = {name: np.asarray(array) for name, array in (values or {}).items()}
    try:
        meshio.write(os.fspath(path), meshio.Mesh(shown, [(kind, corners)], point_data=data))
    except (meshio.WriteError, meshio.ReadError, SystemExit) as error:
        raise ValueError(f"path: {os.fspath(path)} cannot be written as a mesh ({error})") from error


def read_surface(path: str | os.PathLike[str]) -> tuple[Points, Triangles]:
    """Reads the triangles of a surface file: .obj, .ply, .stl, .off, .glb or any other format of trimesh.

    Parameters
    ----------
    path : path
        Path of the file; the parts of a scene are joined.

    Returns
    -------
    tuple of ((p, 3) array, (q, 3) array of integers)
        Points, in the units of the file, and triangles, as `Body` takes them.

    Raises
    ------
    ValueError
        For a file that is missing, unreadable or without triangles.
    ImportError
        Without trimesh.

    Examples
    --------
    >>> points, triangles = jounce.io.read_surface("hero.obj")  # doctest: +SKIP
    """
    trimesh = wanted("trimesh", "read_surface", "io")
    name = os.fspath(path)
    # The exception of trimesh for a damaged file depends on the format.
    try:
        made = trimesh.load_mesh(name, process=False)
    except Exception as error:
        raise ValueError(f"path: {name} cannot be read as a surface ({error})") from error
    points, triangles = from_trimesh(made)
    if not len(triangles):
        raise ValueError(f"path: {name} has no triangles")
    return points, triangles


def from_trimesh(mesh: Any) -> tuple[Points, Triangles]:
    """Points and triangles of a `trimesh.Trimesh`, or of the joined parts of a `trimesh.Scene`.

    Parameters
    ----------
    mesh : trimesh.Trimesh or trimesh.Scene
        The mesh.

    Returns
    -------
    tuple of ((p, 3) array, (q, 3) array of integers)
        Points and triangles, as `Body` takes them.

    Examples
    --------
    >>> import trimesh
    >>> points, triangles = jounce.io.from_trimesh(trimesh.creation.icosphere())
    >>> jounce.SurfaceMesh(points, triangles)
    SurfaceMesh(642 points, 1280 triangles)
    """
    if hasattr(mesh, "to_mesh"):
        mesh = mesh.to_mesh()
    return np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.int32)


def to_trimesh(mesh: TetMesh | SurfaceMesh | Body, points: npt.NDArray[Any] | None = None) -> Any:
    """A `trimesh.Trimesh` of a surface, of a body's surface, or of the boundary of a mesh of tets.

    Parameters
    ----------
    mesh : TetMesh, SurfaceMesh or Body
        The mesh; vertices keep their numbers.
    points : (n, 3) array, optional
        Other places of the vertices, such as `Body.deformed`, metres.

    Returns
    -------
    trimesh.Trimesh
        The surface.

    Raises
    ------
    ImportError
        Without trimesh.

    Examples
    --------
    >>> box = jounce.SurfaceMesh(*jounce.shapes.box())
    >>> round(float(jounce.io.to_trimesh(box).volume), 6)
    1.0
    """
    trimesh = wanted("trimesh", "to_trimesh", "io")
    rest, _, corners = _elements(mesh)
    faces = mesh.boundary if isinstance(mesh, TetMesh) else corners
    return trimesh.Trimesh(rest if points is None else points, faces, process=False)


def _elements(mesh: TetMesh | SurfaceMesh | Body) -> tuple[Points, str, Triangles]:
    """Vertices, kind and corners of the elements of a mesh."""
    if isinstance(mesh, TetMesh):
        return mesh.vertices, "tetra", mesh.tets
    return mesh.points, "triangle", mesh.triangles


def _read(name: str) -> Any:
    meshio = wanted("meshio", "read_mesh", "io")
    # The exception of meshio for a damaged file depends on the format; some unknown formats make meshio exit.
    try:
        return meshio.read(name)
    except (Exception, SystemExit) as error:
        raise ValueError(f"path: {name} cannot be read as a mesh ({error})") from error


def _turned(points: Points, tets: Tets) -> Tets:
    """Tets with two corners swapped if all are inverted; some formats use the opposite order."""
    edges = points[tets[:, 1:]] - points[tets[:, :1]]
    inside_out = bool(np.all(np.linalg.det(edges) < 0))
    return np.ascontiguousarray(tets[:, [0, 2, 1, 3]] if inside_out else tets)
