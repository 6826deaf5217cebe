"""Operators: against formulas written here with numpy, against finite differences, and against goldens."""

import subprocess
import sys

import cases
import jounce
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sparse
from jounce import operators
from refusals import refused

LAWS = ["arap", "corotated", "neo_hookean", "stvk", "mooney_rivlin", "polynomial"]
STEP = 1e-5


@pytest.fixture(scope="module")
def hats(bar):
    """Volumes (t,) and gradients of hat functions (t, 4, 3) by inverse matrices."""
    corners = bar.vertices[bar.tets]
    edges = (corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)
    last = np.linalg.inv(edges)
    return np.linalg.det(edges) / 6.0, np.concatenate([-last.sum(1, keepdims=True), last], axis=1)


@pytest.fixture(scope="module")
def lattice(box):
    """Partly filled cells."""
    return jounce.TetMesh.lattice(box[0] * [1.0, 0.9, 0.7], box[1], resolution=7, solid=True)


def shaken(mesh, size=0.15, seed=1):
    """Positions after large local changes of shape, none of them inside out everywhere."""
    draw = np.random.default_rng(seed)
    spacing = np.cbrt(mesh.volumes.mean())
    return mesh.vertices * [1.2, 0.9, 1.1] + size * spacing * draw.standard_normal(mesh.vertices.shape)


def test_gradient_is_that_of_hat_functions(mesh, bar, hats):
    operator = operators.gradient(mesh)
    t, n = len(bar.tets), len(bar.vertices)
    rows = np.arange(3 * t).reshape(t, 1, 3).repeat(4, axis=1)
    columns = bar.tets[:, :, None].repeat(3, axis=2)
    expected = sparse.csr_array((hats[1].ravel(), (rows.ravel(), columns.ravel())), shape=(3 * t, n))
    assert operator.shape == (3 * t, n)
    assert abs(operator.to_scipy() - expected).max() < 1e-12 * abs(expected).max()


def test_laplacian_follows_from_the_gradient(mesh, hats):
    conductivity = np.random.default_rng(2).uniform(0.5, 2.0, len(hats[0]))
    gradient = operators.gradient(mesh).to_scipy()
    weights = sparse.diags_array(np.repeat(conductivity * hats[0], 3))
    expected = gradient.T @ weights @ gradient
    found = operators.laplacian(mesh, conductivity).to_scipy()
    assert abs(found - expected).max() < 1e-12 * abs(expected).max()
    uniform = operators.laplacian(mesh).to_scipy()
    assert abs(uniform - gradient.T @ sparse.diags_array(np.repeat(hats[0], 3)) @ gradient).max() < 1e-12


def test_mass_is_a_quarter_of_each_tet(mesh, bar, hats):
    density = np.linspace(500.0, 1500.0, len(bar.tets))
    expected = np.zeros(len(bar.vertices))
    np.add.at(expected, bar.tets, (density * hats[0] / 4)[:, None])
    assert np.allclose(operators.lumped_mass(mesh, jounce.Material(density=density)), expected, rtol=1e-13)


def test_jacobian_poses_by_linear_blending(mesh, rig, bar):
    jacobian = operators.skinning_jacobian(mesh.vertices, rig)
    assert jacobian.shape == (3 * len(bar.vertices), 12 * bar.weights.shape[1])
    for pose in bar.poses[[0, 7, 60]]:
        homogeneous = np.concatenate([bar.vertices, np.ones((len(bar.vertices), 1))], axis=1)
        expected = np.einsum("nb,bij,nj->ni", bar.weights, pose, homogeneous)
        assert np.abs((jacobian.to_scipy() @ pose.ravel()).reshape(-1, 3) - expected).max() < 1e-13
        assert np.abs(rig.posed(mesh.vertices, pose) - expected).max() < 1e-13


@pytest.mark.parametrize("leak", [None, 0.3])
def test_constraints_are_complementary_to_the_rig(mesh, material, rig, leak):
    """Each in turn spans what the dense definition J' M D says, no more and no less."""
    n = len(mesh.vertices)
    leak = None if leak is None else np.full(n, leak)
    kept = operators.lumped_mass(mesh, material) * (
        1.0 - (jounce.momentum_leak(mesh) if leak is None else leak)
    )
    homogeneous = np.concatenate([mesh.vertices, np.ones((n, 1))], axis=1)
    blended = rig.weights[:, :, None] * homogeneous[:, None, :]
    of_displacements = (kept[:, None, None] * blended).reshape(n, -1)
    of_weights = (kept[:, None, None, None] * blended[..., None] * homogeneous[:, None, None, :]).reshape(
        n, -1
    )
    for constraint, dense in [
        (operators.displacement_constraint(mesh, material, rig, leak), of_displacements),
        (operators.weight_constraint(mesh, material, rig, leak), of_weights),
    ]:
        rows = constraint.to_scipy().toarray()
        base = scipy.linalg.orth((dense / np.linalg.norm(dense, axis=0)), rcond=1e-10)
        assert np.linalg.matrix_rank(rows) == len(rows) == base.shape[1]
        assert np.allclose(np.linalg.norm(rows, axis=1), 1.0)
        own = np.linalg.qr(rows.T)[0]
        assert np.linalg.norm(own - base @ (base.T @ own), 2) < 1e-6


def test_eigenvalues_of_the_operators_are_those_of_the_golden(bar, mesh, rig):
    """The generalised eigenproblem of [FastCD] by dense scipy, beside eigenvalues of another program."""
    stored = np.load(cases.GOLDEN / "bar_modes.npz")
    material = jounce.Material(cases.YOUNG, 0.0, cases.DENSITY)
    leak = 1.0 - cases.leak_factor(stored["leak_factor"])
    constraint = operators.weight_constraint(mesh, material, rig, leak).to_scipy().toarray()
    assert len(constraint) == stored["constraint_count"]
    free = scipy.linalg.null_space(constraint)
    hessian = operators.weight_hessian(mesh, material).to_scipy()
    mass = operators.lumped_mass(mesh, material)
    reduced = free.T @ (hessian @ free), free.T @ (mass[:, None] * free)
    count = len(stored["eigenvalues"])
    found = scipy.linalg.eigh(*reduced, eigvals_only=True, subset_by_index=(0, count - 1))
    assert np.abs(found / stored["eigenvalues"] - 1.0).max() < 1e-6


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", ["tets", "cells"])
def test_derivatives_of_energies(law, kind, mesh, lattice):
    flesh = {"tets": mesh, "cells": lattice}[kind]
    energy = operators.ElasticEnergy(flesh, jounce.Material(2e4, 0.3, 1000.0, law))
    x = shaken(flesh)
    draw = np.random.default_rng(3)
    gradient = energy.gradient(x)
    hessian = energy.hessian(x).to_scipy()
    assert abs(hessian - hessian.T).max() < 1e-12 * abs(hessian).max()
    for _ in range(3):
        v = draw.standard_normal(x.shape)
        v *= np.cbrt(flesh.volumes.mean()) / np.linalg.norm(v)
        ahead, behind = x + STEP * v, x - STEP * v
        slope = (energy.value(ahead) - energy.value(behind)) / (2 * STEP)
        assert slope == pytest.approx((gradient * v).sum(), rel=1e-6, abs=1e-9 * np.abs(gradient).max())
        bent = (energy.gradient(ahead) - energy.gradient(behind)) / (2 * STEP)
        product = (hessian @ v.ravel()).reshape(x.shape)
        assert np.abs(product - bent).max() < 1e-6 * np.abs(bent).max()


def test_arap_energy_is_that_of_singular_values(mesh, material, hats):
    """`mu |F - R|^2` of each tet: the squared distances of its singular values from 1, by numpy alone."""
    x = shaken(mesh)
    shapes = np.einsum("tci,tcj->tij", x[mesh.tets], hats[1])
    stretches = np.linalg.svd(shapes, compute_uv=False)
    stretches[:, 2] *= np.sign(np.linalg.det(shapes))
    expected = (hats[0][:, None] * (stretches - 1.0) ** 2).sum() * cases.YOUNG / 2
    assert operators.ElasticEnergy(mesh, material).value(x) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", ["tets", "cells"])
def test_energy_at_rest(kind, mesh, lattice):
    """No energy and no force; the six rigid motions are the only ones without stiffness."""
    flesh = {"tets": mesh, "cells": lattice}[kind]
    energy = operators.ElasticEnergy(flesh, jounce.Material(1e4, 0.3, law="corotated"))
    assert energy.value(flesh.vertices) == pytest.approx(0.0, abs=1e-9)
    assert np.abs(energy.gradient(flesh.vertices)).max() < 1e-8
    x = flesh.vertices - flesh.vertices.mean(axis=0)
    turned = [np.cross(axis, x).ravel() for axis in np.eye(3)]
    moved = [np.tile(axis, len(x)) for axis in np.eye(3)]
    stiffness = energy.hessian().to_scipy()
    for motion in (*turned, *moved):
        assert np.abs(stiffness @ motion).max() < 1e-9 * abs(stiffness).max()
    values = np.linalg.eigvalsh(stiffness.toarray()) if kind == "cells" else None
    assert values is None or (values > 1e-7 * values[-1]).sum() == len(values) - 6


def test_stiffness_follows_from_the_gradient(mesh, hats):
    young = np.random.default_rng(5).uniform(1e4, 5e4, len(hats[0]))
    gradient = operators.gradient(mesh).to_scipy()
    # 2 mu = E / (1 + nu).
    weights = sparse.diags_array(np.repeat(young / 1.3 * hats[0], 3))
    expected = gradient.T @ weights @ gradient
    found = operators.stiffness(mesh, jounce.Material(young, 0.3)).to_scipy()
    assert abs(found - expected).max() < 1e-12 * abs(expected).max()


@pytest.mark.parametrize("kind", ["tets", "cells"])
def test_stiffness_is_the_hessian_at_rest_but_for_rotations(kind, mesh, lattice):
    flesh, material = {"tets": mesh, "cells": lattice}[kind], jounce.Material(1e4)
    stiffness = operators.stiffness(flesh, material).to_scipy()
    hessian = operators.ElasticEnergy(flesh, material).hessian().to_scipy()
    draw = np.random.default_rng(6)
    strain = draw.standard_normal((3, 3))
    u = flesh.vertices @ (strain + strain.T)
    assert np.sum(u * (stiffness @ u)) == pytest.approx(u.ravel() @ (hessian @ u.ravel()), rel=1e-9)
    # Any other motion contains local rotations, which the stiffness resists.
    noise = draw.standard_normal(u.shape)
    assert np.sum(noise * (stiffness @ noise)) > noise.ravel() @ (hessian @ noise.ravel())
    refused(ValueError, "young", operators.stiffness, flesh, jounce.Material(np.full(3, 1e4)))


@pytest.mark.parametrize("law", ["arap", "neo_hookean"])
def test_energy_is_what_the_full_space_reports(law, lattice):
    material = jounce.Material(2e4, 0.0 if law == "arap" else 0.4, law=law)
    held = lattice.vertices[:, 0] < 0.6
    model = jounce.Model.full_space(lattice, material, pinned=held)
    simulation = jounce.Simulation(model, gravity=(0.0, 0.0, -9.81), max_iterations=1000)
    report = simulation.settle()
    x = lattice.vertices + simulation.coefficients
    energy = operators.ElasticEnergy(lattice, material)
    assert energy.value(x) == pytest.approx(report.energy, rel=1e-9)
    # In balance the elastic forces of free vertices bear their weight.
    weight = 9.81 * operators.lumped_mass(lattice, material)[~held]
    assert np.abs(energy.gradient(x)[~held] + weight[:, None] * [0, 0, 1]).max() < 1e-2 * weight.max()


def test_a_definite_hessian_has_no_negative_curvature(lattice):
    energy = operators.ElasticEnergy(lattice, jounce.Material(1e4, 0.4, law="neo_hookean"))
    x = lattice.vertices * [0.5, 0.6, 1.0]
    raw, definite = (energy.hessian(x, definite=it).to_scipy().toarray() for it in (False, True))
    assert np.linalg.eigvalsh(raw)[0] < -1e-3 * np.linalg.norm(raw, 2)
    assert np.linalg.eigvalsh(definite)[0] > -1e-9 * np.linalg.norm(definite, 2)


def test_matrices_need_no_scipy(mesh):
    """Without SciPy the arrays are there, and `to_scipy` says what to install."""
    program = """
import sys
sys.modules["scipy"] = None
import jounce
mesh = jounce.TetMesh.lattice(*jounce.shapes.box(), resolution=4)
matrix = jounce.operators.laplacian(mesh)
assert len(matrix.indptr) == matrix.shape[0] + 1
assert matrix.data.sum() < 1e-9
try:
    matrix.to_scipy()
except ImportError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "to_scipy needs SciPy; install it with: pip install scipy"
    matrix = operators.laplacian(mesh)
    assert np.shares_memory(matrix.to_scipy().data, matrix.data)
    assert (
        repr(matrix)
        == f"SparseMatrix({len(mesh.vertices)} x {len(mesh.vertices)}, {len(matrix.data)} entries)"
    )
    with pytest.raises(ValueError, match="read-only"):
        matrix.data[0] = 1.0


def test_bad_input(mesh, rig, material):
    n, t = len(mesh.vertices), len(mesh.tets)
    energy = operators.ElasticEnergy(mesh, material)
    refused(ValueError, f"positions: expected shape ({n}, 3), got (2, 3)", energy.value, np.zeros((2, 3)))
    lost = mesh.vertices.copy()
    lost[3, 1] = np.nan
    refused(ValueError, "positions: element 3 is NaN", energy.gradient, lost)
    other = jounce.Material(young=np.ones(t + 1))
    refused(ValueError, f"young: expected shape ({t},)", operators.ElasticEnergy, mesh, other)
    refused(ValueError, f"conductivity: expected shape ({t},)", operators.laplacian, mesh, np.ones(3))
    refused(ValueError, "conductivity", operators.laplacian, mesh, -1.0)
    refused(
        ValueError, f"leak: expected shape ({n},)", operators.weight_constraint, mesh, material, rig, [0.5]
    )
    refused(ValueError, "points", operators.skinning_jacobian, mesh.vertices[:5], rig)
    refused(ValueError, "pose: expected shape (3, 3, 4)", rig.posed, mesh.vertices, np.eye(3, 4)[None])
