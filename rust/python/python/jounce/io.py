"""Tet meshes from files, through meshio."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from jounce._jounce import TetMesh

Points = npt.NDArray[np.float64]
Tets = npt.NDArray[np.int64]


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


def _read(name: str) -> Any:
    try:
        import meshio
    except ImportError as error:
        raise ImportError("read_mesh needs meshio; install it with: pip install meshio") from error
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
