"""Comparison with an independent implementation of [FastCD]; tests/golden/README.md describes its origin."""

import cases
import jounce
import numpy as np

TOLERANCE = 1e-6


def rigged(case):
    mesh = jounce.TetMesh(case.vertices, case.tets)
    weights = case.weights
    if case.surface is not None:
        weights = jounce.spread_to_interior(mesh, case.surface, case.weights)
    return mesh, weights


def load(name, part):
    return np.load(cases.GOLDEN / f"{name}_{part}.npz")


def test_weights_spread_to_the_same_values(golden):
    name, case = golden
    stored = load(name, "modes")
    _, weights = rigged(case)
    assert np.abs(weights[stored["samples"]] - stored["rig_weights"]).max() < 1e-12


def test_modes_have_the_same_eigenvalues_and_span(golden):
    name, case = golden
    stored = load(name, "modes")
    mesh, weights = rigged(case)
    material = jounce.Material(cases.YOUNG, 0.0, cases.DENSITY)
    leak = 1.0 - cases.leak_factor(stored["leak_factor"])
    count = len(stored["eigenvalues"])
    modes = jounce.skinning_modes(mesh, material, count, jounce.Rig(mesh, weights), leak)
    assert np.abs(modes.eigenvalues / stored["eigenvalues"] - 1).max() < TOLERANCE
    assert sine_of_largest_angle(modes.weights[stored["samples"]], stored["weights"]) < TOLERANCE


def sine_of_largest_angle(a, b):
    """Between the spans of two sets of columns, by the remainder of one outside the other."""
    a, b = np.linalg.qr(a)[0], np.linalg.qr(b)[0]
    return np.linalg.norm(b - a @ (a.T @ b), 2)


def test_trajectories_agree(golden):
    name, case = golden
    stored = load(name, "trajectory")
    mesh, weights = rigged(case)
    given = np.ascontiguousarray(stored["weights"], dtype=float)
    modes = jounce.SkinningModes(given, np.arange(1.0, given.shape[1] + 1))
    material = jounce.Material(cases.YOUNG, 0.0, cases.DENSITY)
    labels = stored["labels"].astype(np.int32)
    model = jounce.Model.skinning(mesh, material, modes, labels, jounce.Rig(mesh, weights))
    simulation = jounce.Simulation(model, dt=cases.DT, max_iterations=2000, tolerance=1e-12, pose_rest=0.0)
    simulation.reset(case.poses[0])
    expected = np.array([displacement(case, given, z) for z in stored["coefficients"].astype(float)])
    got = []
    for pose in case.poses[1:]:
        simulation.step(pose)
        got.append(displacement(case, given, simulation.coefficients))
    assert len(got) == cases.FRAMES
    largest = np.abs(expected).max()
    assert largest > 0.01, "the motion would be too small to compare"
    assert np.abs(np.array(got) - expected).max() / largest < TOLERANCE


def displacement(case, weights, coefficients):
    """u = sum_k W_k Z_k [X; 1] in float64, at every twentieth vertex."""
    points = np.column_stack([case.vertices, np.ones(len(case.vertices))])[::20]
    return np.einsum("ik,kdc,ic->id", weights[::20], coefficients, points)
