"""One character for `bases.py`: a shot in the full space and in several untrained bases.

python bases_of.py FILE --report OUT.json [--frames 120]
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
from learn_of import Bench

if TYPE_CHECKING:
    import jounce

# Number of displacements, of cubature tets, and of displacements of the draft.
COUNT, TETS, MANY = 60, 120, 192
# Training states of the cubature: their number, and their amplitude as a share of the size.
STATES, FAR = 120, 0.1


def main() -> None:
    """Measures one character and writes the report."""
    options = one_character.parser(__doc__, frames=120).parse_args()
    one_character.measure(options, compare)


def compare(package: str, character: characters.Character, shot: characters.Shot) -> dict:
    """Errors of all bases, and their cost."""
    host = flesh.added(character.armature, character.body, shot.first)
    bench = Bench(package, host, range(shot.first, shot.last + 1), "arap")
    full = bench.body.full_space(bench.material)
    exact, _, _ = bench.played(full)
    report = {"tets": len(bench.body.mesh.tets), "frames": len(bench.poses)}
    found, report["ms, draft"], _ = bench.played(bench.body.model)
    report["error, draft"] = bench.error(found, exact)
    for name, basis in bases(bench).items():
        settings = {"material": bench.material, "frequency": full.frequency}
        whole = bench.body.reduced(basis, **settings)
        report[f"left out, {name}"] = left_out(bench, basis, exact)
        report[f"all, {name}"] = bench.error(bench.played(whole)[0], exact)
        few = bench.body.reduced(basis, tets(whole, bench), **settings)
        found, report[f"ms, {name}"], _ = bench.played(few)
        report[f"error, {name}"] = bench.error(found, exact)
    for name, basis in functions(bench, MANY).items():
        report[f"left out, {name}, {MANY}"] = left_out(bench, basis, exact)
    return report


def left_out(bench: Bench, basis: jounce.Basis, exact: np.ndarray) -> float:
    """Part of a motion (f, n, 3) outside the span of the displacements, as a share of it."""
    root = np.sqrt(np.repeat(bench.mass, 3))
    shapes, motion = (each.reshape(len(each), -1) * root for each in (np.asarray(basis.shapes), exact))
    spanned = np.linalg.qr(shapes.T)[0]
    return float(np.linalg.norm(motion - motion @ spanned @ spanned.T) / np.linalg.norm(motion))


def held(bench: Bench) -> dict:
    """Restraint of the flesh: its core is pinned; without one the flesh is complementary to the rig."""
    body = bench.body
    if body.pinned.any():
        return {"pinned": body.pinned}
    return {"rig": body.rig.merged(body.merged), "leak": body.leak}


def functions(bench: Bench, count: int) -> dict[str, jounce.Basis]:
    """Bases of equal size from functions `W_k`: twelve affine displacements of each function, or three."""
    import jounce

    mesh = bench.body.mesh
    weights = jounce.skinning_modes(mesh, bench.material, count // 3, **held(bench)).weights
    homogeneous = np.column_stack([mesh.vertices, np.ones(len(mesh.vertices))])
    axes = np.eye(3)
    affine = np.einsum("nk,nj,ac->kjanc", weights[:, : count // 12], homogeneous, axes)
    moved = np.einsum("nk,ac->kanc", weights, axes)
    made = {"skinning": affine, "Laplacian": moved}
    return {name: jounce.Basis(each.reshape(-1, *mesh.vertices.shape)) for name, each in made.items()}


def bases(bench: Bench) -> dict[str, jounce.Basis]:
    """Displacement bases of a body without training on a shot."""
    import jounce

    several, few = (
        jounce.linear_modes(bench.body.mesh, bench.material, count, **held(bench))
        for count in (COUNT, COUNT // 3)
    )
    return functions(bench, COUNT) | {"linear": several.basis, "bent": few.bent_basis(COUNT)}


def tets(model: jounce.Model, bench: Bench) -> jounce.Cubature:
    """Cubature tets trained on random states instead of a shot, smaller ones for stiffer shapes."""
    import jounce

    shapes = np.asarray(model.basis.shapes)
    # The coordinates of a model are mass-orthonormal.
    random = np.random.default_rng(0)
    states = random.standard_normal((STATES, len(shapes))) / (1.0 + np.arange(len(shapes)))
    moved = np.einsum("fk,knc->fnc", states, shapes)
    size = np.linalg.norm(np.ptp(np.asarray(bench.body.mesh.vertices), axis=0))
    far = FAR * size / np.linalg.norm(moved, axis=2).max(axis=1)
    coefficients = model.nearest(far[:, None, None] * moved)
    rest = np.tile(np.eye(3, 4), (STATES, model.bone_count, 1, 1))
    return jounce.Cubature.of_shot(model, coefficients, rest, count=TETS)


if __name__ == "__main__":
    script.run(main)
