"""One character for `null_space.py`: a shot in the full space, and in both kinds of bases.

python null_space_of.py FILE --report OUT.json [--frames 60]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import character as characters
import flesh
import one_character
import script
from bases_of import left_out
from learn_of import Bench

if TYPE_CHECKING:
    import jounce

MODES = 16
# Share of the largest singular value below which a condition is linearly dependent.
DEPENDENT = 1e-8


def main() -> None:
    """Measures one character and writes the report."""
    options = one_character.parser(__doc__, frames=60).parse_args()
    one_character.measure(options, compare)


def compare(package: str, character: characters.Character, shot: characters.Shot) -> dict:
    """Errors of both bases."""
    import jounce

    host = flesh.added(character.armature, character.body, shot.first)
    bench = Bench(package, host, range(shot.first, shot.last + 1), "arap")
    body, frequency = bench.body, bench.body.full_space(bench.material).frequency
    rig = body.rig.merged(body.merged)
    full = jounce.Model.full_space(body.mesh, bench.material, body.rig, leak=body.leak)
    exact, _, _ = bench.played(full)
    weights = jounce.skinning_modes(body.mesh, bench.material, MODES, rig, body.leak).weights
    bones = len(np.unique(body.merged))
    many = jounce.skinning_modes(body.mesh, bench.material, MODES + bones).weights
    made = {"modes": affine(body.mesh, weights), "null space": complementary(bench, affine(body.mesh, many))}
    report = {"tets": len(body.mesh.tets), "bones": bones}
    for name, functions in made.items():
        axes = np.eye(3)
        shapes = np.einsum("nk,ac->kanc", functions[:, : 4 * MODES], axes).reshape(
            -1, *body.mesh.vertices.shape
        )
        basis = jounce.Basis(np.ascontiguousarray(shapes))
        report[f"left out, {name}"] = left_out(bench, basis, exact)
        model = jounce.Model.reduced(body.mesh, bench.material, basis, rig=body.rig, frequency=frequency)
        report[f"error, {name}"] = bench.error(bench.played(model)[0], exact)
    return report


def affine(mesh: jounce.TetMesh, weights: np.ndarray) -> np.ndarray:
    """Affine motions of functions in one coordinate: n x 4m, with positions scaled to -1 to 1."""
    middle, half = np.mean(mesh.vertices, axis=0), 0.5 * np.ptp(mesh.vertices, axis=0).max()
    homogeneous = np.column_stack([(mesh.vertices - middle) / half, np.ones(len(mesh.vertices))])
    return np.einsum("nk,nj->nkj", weights, homogeneous).reshape(len(weights), -1)


def complementary(bench: Bench, functions: np.ndarray) -> np.ndarray:
    """The smoothest combinations of functions in the null space of the rig's four conditions per bone."""
    body = bench.body
    rig_weights = np.asarray(body.rig.weights)
    momentum = (bench.mass * (1.0 - np.asarray(body.leak)))[:, None] * affine(body.mesh, rig_weights)
    felt = momentum.T @ functions
    felt /= np.linalg.norm(felt, axis=1, keepdims=True) + 1e-300
    _, values, rows = np.linalg.svd(felt)
    rank = int((values > DEPENDENT * values[0]).sum())
    free = functions @ rows[rank:].T
    # The lowest in the Laplacian, as modes are.
    mass, energy = free.T @ (bench.mass[:, None] * free), stretched(body.mesh, free)
    lengths, turn = np.linalg.eigh(mass)
    kept = turn[:, lengths > DEPENDENT * lengths[-1]] / np.sqrt(lengths[lengths > DEPENDENT * lengths[-1]])
    _, order = np.linalg.eigh(kept.T @ energy @ kept)
    return free @ kept @ order


def stretched(mesh: jounce.TetMesh, functions: np.ndarray) -> np.ndarray:
    """Integrals of the products of functions' gradients, k x k."""
    corners = np.asarray(mesh.vertices)[mesh.tets]
    back = np.linalg.inv(corners[:, 1:] - corners[:, :1])
    sums = np.zeros((functions.shape[1],) * 2)
    for axis in range(3):
        differences = functions[mesh.tets[:, 1:]] - functions[mesh.tets[:, :1]]
        slopes = np.einsum("tj,tjk->tk", back[:, axis], differences)
        sums += slopes.T @ (np.asarray(mesh.volumes)[:, None] * slopes)
    return sums


if __name__ == "__main__":
    script.run(main)
