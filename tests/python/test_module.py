"""The interface between Python and Rust: arrays without copies, docstrings, meshes from files."""

import gc
import inspect
import typing

import jounce
import meshio
import numpy as np
import pytest


@pytest.mark.parametrize("name", [name for name in jounce.__all__ if name != "__version__"])
def test_everything_public_is_documented(name):
    thing = getattr(jounce, name)
    parts = [thing]
    if inspect.isclass(thing):
        parts += [value for key, value in vars(thing).items() if not key.startswith("_")]
    for part in parts:
        assert (getattr(part, "__doc__", "") or "").strip(), part


def test_all_names_what_there_is():
    public = {name for name in vars(jounce._jounce) if not name.startswith("_")}
    modules = {"gltf", "io", "operators", "plot", "shapes", "splines", "standard"}
    groups = {name for name, thing in vars(jounce.settings).items() if typing.is_typeddict(thing)}
    inside = {"STANDARD", *jounce.operators.__all__, *jounce.standard.__all__} - {"momentum_leak"}
    assert (public - inside) | modules | groups | {"__version__", "read_mesh", "view"} == set(jounce.__all__)


def test_signatures_show_the_defaults():
    assert inspect.signature(jounce.Model.projective).parameters["handles"].default == 60
    assert inspect.signature(jounce.Body).parameters["modes"].default == 24
    assert inspect.signature(jounce.Material).parameters["young"].default == 1e5


def test_arrays_of_a_mesh_are_views_that_outlive_it(bar):
    mesh = jounce.TetMesh(bar.vertices, bar.tets)
    vertices, volumes = mesh.vertices, mesh.volumes
    assert vertices.base is mesh
    assert np.shares_memory(vertices, mesh.vertices)
    del mesh
    gc.collect()
    assert np.array_equal(vertices, bar.vertices)
    assert volumes.sum() > 0
    with pytest.raises(ValueError, match="read-only"):
        vertices[0] = 0


def test_arrays_come_back_as_they_went_in(mesh, rig, bar, box):
    assert np.array_equal(mesh.tets, bar.tets)
    assert mesh.tets.dtype == np.int32
    assert np.allclose(rig.weights, bar.weights, rtol=0, atol=1e-15)
    points = box[0] * 0.1
    embedding = jounce.Embedding(mesh, points)
    assert np.array_equal(embedding.points, points)
    inside = np.ascontiguousarray(mesh.vertices[mesh.tets].mean(1))
    embedding = jounce.Embedding(mesh, inside)
    assert np.array_equal(embedding.tets, np.arange(len(inside)))
    assert embedding.furthest == pytest.approx(0, abs=1e-12)
    assert np.allclose(embedding.interpolate(mesh.vertices), inside, atol=1e-12)


def test_the_boundary_is_closed_and_faces_outwards(mesh):
    corners = mesh.vertices[mesh.boundary]
    enclosed = np.einsum("qi,qi->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert enclosed == pytest.approx(mesh.volumes.sum(), rel=1e-12)


def test_lattice_near_a_number_of_tets(box):
    lattice = jounce.TetMesh.lattice(*box[:2], tet_count=3000)
    assert 500 < len(lattice.tets) <= 3000


def test_leak_is_one_outside_and_falls_inside(mesh):
    leak = jounce.momentum_leak(mesh)
    outside = np.unique(mesh.boundary)
    inside = np.setdiff1d(np.arange(len(leak)), outside)
    assert np.abs(leak[outside] - 1).max() < 1e-5
    assert leak.min() == pytest.approx(0, abs=1e-12)
    assert leak[inside].max() < 1


def test_spreading_reproduces_linear_functions(mesh):
    outside = np.unique(mesh.boundary)
    spread = jounce.spread_to_interior(mesh, outside, mesh.vertices[outside].copy())
    assert np.abs(spread - mesh.vertices).max() < 1e-10


@pytest.mark.parametrize("suffix", [".msh", ".mesh", ".vtk", ".vtu"])
def test_meshes_are_read_back(bar, tmp_path, suffix):
    path = tmp_path / f"bar{suffix}"
    meshio.write(path, meshio.Mesh(bar.vertices, [("tetra", bar.tets)]))
    read = jounce.read_mesh(path)
    assert np.array_equal(read.tets, bar.tets)
    assert np.abs(read.vertices - bar.vertices).max() < 1e-12


def test_a_mesh_inside_out_is_turned_and_loose_vertices_are_left_out(bar, tmp_path):
    path = tmp_path / "turned.vtk"
    vertices = np.vstack([[[9.0, 9.0, 9.0]], bar.vertices])
    meshio.write(path, meshio.Mesh(vertices, [("tetra", bar.tets[:, [1, 0, 2, 3]] + 1)]))
    read = jounce.read_mesh(str(path))
    assert len(read.vertices) == len(bar.vertices)
    assert np.all(read.volumes > 0)
    path = tmp_path / "mixed.vtk"
    mixed = bar.tets.copy()
    mixed[7] = mixed[7, [1, 0, 2, 3]]
    meshio.write(path, meshio.Mesh(bar.vertices, [("tetra", mixed)]))
    with pytest.raises(ValueError, match="tet 7 is inverted"):
        jounce.read_mesh(path)
