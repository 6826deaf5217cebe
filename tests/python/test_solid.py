"""Only flesh counts: tets cut by the surface, and cells with their own elastic energy."""

import jounce
import numpy as np
import pytest
from test_bad_input import refused


def test_a_body_weighs_what_its_surface_encloses(box):
    points, triangles, _ = box
    corners = points[triangles]
    enclosed = np.einsum("ti,ti->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    for resolution in (12, 25):
        body = jounce.Body(*box, resolution=resolution, modes=4, clusters=8)
        assert body.mesh.volumes.sum() == pytest.approx(enclosed, rel=0.03)
        whole = jounce.Body(*box, resolution=resolution, modes=4, clusters=8, solid=False)
        assert np.array_equal(whole.mesh.tets, body.mesh.tets)
        assert whole.mesh.volumes.sum() > 1.1 * enclosed
        assert np.allclose(whole.mesh.volumes * body.mesh.solid, body.mesh.volumes, rtol=1e-14)
        assert whole.mesh.solid.min() == 1
        assert (len(whole.mesh.cells), len(body.mesh.cells)) == (0, len(body.mesh.tets) // 5)


def test_switched_off_a_body_is_made_of_its_tets(box):
    body = jounce.Body(*box, resolution=12, modes=4, clusters=8, solid=False)
    mesh = jounce.TetMesh(body.mesh.vertices, body.mesh.tets)
    model = jounce.Model.skinning(mesh, body.material, body.modes, body.labels, rig=body.rig)
    pose = np.tile(np.eye(3, 4), (2, 1, 1))
    moved = []
    for made in (model, body.model):
        simulation = jounce.Simulation(made)
        simulation.reset(pose)
        turned = pose.copy()
        turned[1, 1, 3] = 0.2
        simulation.step(turned)
        moved.append(simulation.coefficients.copy())
    assert np.array_equal(*moved)


def test_cells_say_where_their_flesh_is(box):
    points, triangles, _ = box
    mesh = jounce.TetMesh.lattice(points, triangles, 13, solid=True)
    centre, spread = mesh.flesh[:, 0], mesh.flesh[:, 1]
    full = mesh.solid.reshape(-1, 5).min(1) == 1
    assert full.any() and not full.all()
    assert np.abs(centre[full]).max() < 1e-12
    assert np.allclose(spread[full], 1 / 3)
    assert np.abs(centre).max() < 1
    assert spread.min() >= 1 / 12 - 1e-12
    assert {frozenset(t) for t in mesh.tets.reshape(-1, 20)} == {frozenset(c) for c in mesh.cells}


def test_shares_may_be_given_and_are_checked(box):
    points, triangles, _ = box
    mesh = jounce.TetMesh.lattice(points, triangles, 8, solid=True)
    same = jounce.TetMesh(mesh.vertices, mesh.tets, solid=mesh.solid)
    assert np.array_equal(same.volumes, mesh.volumes)
    assert np.array_equal(same.solid, mesh.solid)
    arguments = mesh.vertices, mesh.tets
    refused(ValueError, "solid: expected shape", jounce.TetMesh, *arguments, solid=mesh.solid[1:])
    refused(ValueError, "solid: expected shares", jounce.TetMesh, *arguments, solid=np.zeros(len(mesh.tets)))
    both = "solid, tet_count: expected one of them"
    refused(ValueError, both, jounce.TetMesh.lattice, points, triangles, solid=True, tet_count=500)
