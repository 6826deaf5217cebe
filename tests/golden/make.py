"""Writes the goldens with an independent implementation of [FastCD]; see README.md beside this file.

    python make.py REFERENCE_SCRIPT [CASE ...]

The script must offer `tet_ops`, `laplacian`, `leak_weights`, `weight_constraint`, `skinning_eigs`, `clusters`
and `FastCD`, with component-major vectors and the ARAP energy mu/2 |F - R|^2.
"""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import cases
import numpy as np
import scipy.sparse.linalg as spla

MODES = {"bar": 10, "elephant": 10, "fish": 8, "octopus": 5}
CLUSTERS, SAMPLES, LEAK_TIME = 100, 500, 1e-3


def main() -> None:
    """Writes `<case>_modes.npz` and `<case>_trajectory.npz` for the named cases, or for all."""
    spec = importlib.util.spec_from_file_location("reference", sys.argv[1])
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    for name in sys.argv[2:] or cases.CASES:
        write(reference, name, cases.CASES[name]())


def write(reference: ModuleType, name: str, case: cases.Case) -> None:
    """Computes and stores the two goldens of one case."""
    ops = _, _, volumes = reference.tet_ops(case.vertices, case.tets)
    stiffness = reference.laplacian(case.vertices, case.tets, ops=ops)
    weights = case.weights if case.surface is None else harmonic(stiffness, case.surface, case.weights)
    leak = reference.leak_weights(case.vertices, case.tets, LEAK_TIME, ops)
    stored_leak = np.round(leak * 65535).astype(np.uint16)
    constraint = reference.weight_constraint(case.vertices, weights, volumes, cases.leak_factor(stored_leak))
    values, modes = reference.skinning_eigs(stiffness, volumes, MODES[name], constraint)
    labels = reference.clusters(modes, values, case.tets, CLUSTERS)
    samples = np.sort(np.random.default_rng(0).permutation(len(case.vertices))[:SAMPLES])
    np.savez_compressed(
        cases.GOLDEN / f"{name}_modes.npz",
        leak_factor=stored_leak,
        constraint_count=constraint.shape[1],
        eigenvalues=values * 2 * cases.YOUNG / cases.DENSITY,
        samples=samples.astype(np.uint16),
        rig_weights=weights[samples],
        weights=modes[samples],
    )
    given = np.ascontiguousarray(modes.astype(np.float16))
    coefficients, iterations = trajectory(reference, case, weights, given.astype(float), labels)
    np.savez_compressed(
        cases.GOLDEN / f"{name}_trajectory.npz",
        weights=given,
        labels=labels.astype(np.int16),
        coefficients=coefficients.astype(np.float32),
    )
    print(
        name, len(case.vertices), constraint.shape, values, "iterations", iterations.mean(), iterations.max()
    )
    print("  largest |u|", np.abs(coefficients).max(), np.abs(coefficients[-1]).max())


def harmonic(stiffness, known: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Extension of vertex values (s, b) from `known` (s,) to all vertices with the least Dirichlet energy."""
    free = np.setdiff1d(np.arange(stiffness.shape[0]), known)
    result = np.empty((stiffness.shape[0], values.shape[1]))
    result[known] = values
    rows = stiffness[free]
    result[free] = spla.splu(rows[:, free].tocsc()).solve(-rows[:, known] @ values)
    return result


def trajectory(
    reference: ModuleType, case: cases.Case, weights, modes, labels
) -> tuple[np.ndarray, np.ndarray]:
    """Converged coefficients (frames, m, 3, 4), at rest in the first pose, and iterations (frames,)."""
    sim = reference.FastCD(
        case.vertices, case.tets, weights, modes, labels, cases.YOUNG, cases.DENSITY, cases.DT, 20000, 1e-13
    )
    poses = [pose.transpose(1, 0, 2).reshape(-1) for pose in case.poses]
    z = before = np.zeros(12 * modes.shape[1])
    pose_now = pose_before = poses[0]
    frames, iterations = [], []
    for pose in poses[1:]:
        z, before = sim.step(z, before, pose, pose_now, pose_before), z
        pose_now, pose_before = pose, pose_now
        frames.append(z.reshape(3, -1, 4).transpose(1, 0, 2))
        iterations.append(sim.iters)
    return np.array(frames), np.array(iterations)


if __name__ == "__main__":
    main()
