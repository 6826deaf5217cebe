"""Shared fixtures: the made bar, and the research meshes if available."""

import sys
from pathlib import Path

import jounce
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))

import cases


@pytest.fixture(scope="session", params=list(cases.CASES))
def golden(request):
    """Name and case of each golden; those on missing research meshes are skipped."""
    if request.param != "bar" and cases.data_folder() is None:
        pytest.skip("the research meshes are absent: set JOUNCE_DATA to the folder that holds research/")
    return request.param, cases.CASES[request.param]()


@pytest.fixture(scope="session")
def bar():
    return cases.bar()


@pytest.fixture(scope="session")
def mesh(bar):
    return jounce.TetMesh(bar.vertices, bar.tets)


@pytest.fixture(scope="session")
def rig(bar, mesh):
    return jounce.Rig(mesh, bar.weights)


@pytest.fixture(scope="session")
def material():
    return jounce.Material(young=cases.YOUNG, density=cases.DENSITY)


@pytest.fixture(scope="session")
def modes(mesh, material, rig):
    return jounce.skinning_modes(mesh, material, 6, rig)


@pytest.fixture(scope="session")
def labels(mesh, modes):
    return jounce.cluster_tets(mesh, modes, 40)


@pytest.fixture(scope="session")
def model(mesh, material, modes, labels, rig):
    return jounce.Model.skinning(mesh, material, modes, labels, rig)


@pytest.fixture
def simulation(model, bar):
    simulation = jounce.Simulation(model, dt=cases.DT)
    simulation.reset(bar.poses[0])
    return simulation


@pytest.fixture(scope="session")
def box():
    """Points (8, 3), triangles (12, 3) and weights (8, 2) of a box, 4 m long, with a bone at each end."""
    points = np.array([(x, y, z) for x in (0.0, 4.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = np.array([corners for a, b, c, d in quads for corners in ((a, b, c), (a, c, d))])
    weights = np.stack([points[:, 0] < 2, points[:, 0] > 2], 1).astype(float)
    return points, triangles, weights
