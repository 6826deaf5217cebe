"""Mass and frequencies of a body at five resolutions; second step, with numpy and scipy: the tables.

    python honest_body_table.py FOLDER --out tables.md

FOLDER holds the output of `honest_body_of.py`. Volume is that of the simulated flesh relative to a lattice of
160 cells. Frequencies are those of small vibrations of all vertices outside the core, with one Young's
modulus at all resolutions.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cells
import jounce
import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

RESOLUTIONS = (24, 32, 48, 64, 96)
FINEST = 160
YOUNG, DENSITY = 1e4, 1e3
# Smallest share of all flesh that a mode of flesh moves; modes of tips move less.
SHARE = 0.05
# Initial number of modes, quadrupled until a mode is of flesh.
SWINGS, MOST_SWINGS = 12, 200
# Largest number of unknowns for factorisation.
FACTORED = 32_000
Cycle = Callable[[np.ndarray], np.ndarray]
HEADING = """# An honest body, measured

Made by `cargo x honest`: characters with the core that *Add Jounce* gives them.

"""
TABLES = {
    "volume": """## Volume

Simulated flesh, as a ratio to resolution 160.

""",
    "flesh": """## Frequency of flesh

The slowest small swing of at least 5 percent of the flesh, at 10 kPa and 1000 kg/m^3: in Hz at resolution 96,
and as ratios to this at the others. The moving part of a swing `u` is `(sum m |u|^2)^2 / (sum m |u|^4)`, with
the masses `m` of the vertices outside of the core, as a share of their sum. *Swings*: the bone of most of the
moving part at 96, and the resolutions with another bone. A dash: no such swing among the slowest 192.

""",
    "any": """## Frequency of anything

The slowest small swing of all, of any share of the flesh: mostly the same, otherwise the swing of a tip or of
a thin part, held or freed as a whole by a coarse lattice. *Moves*: the moving share of the flesh at 96.

""",
}


@dataclass(frozen=True)
class Swing:
    """A vibration mode: frequency in Hz, moving share of the flesh, bone with most of this flesh."""

    frequency: float
    share: float
    bone: str


def main() -> None:
    """Measures all and writes the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    titles = {
        "volume": [f"volume, {r}" for r in RESOLUTIONS],
        "flesh": [*(f"{r}" for r in RESOLUTIONS[:-1]), f"Hz, {RESOLUTIONS[-1]}", "swings"],
        "any": [*(f"{r}" for r in RESOLUTIONS[:-1]), f"Hz, {RESOLUTIONS[-1]}", "swings", "moves"],
    }
    tables = {
        name: [f"{TABLES[name]}| character | {' | '.join(columns)} |", "| --- |" + " --- |" * len(columns)]
        for name, columns in titles.items()
    }
    for path in sorted(options.folder.glob("*.npz")):
        for name, row in rows(dict(np.load(path))).items():
            tables[name].append(f"| {path.stem} | {' | '.join(row)} |")
            print(name, tables[name][-1], flush=True)
        options.out.write_text(
            HEADING + "\n\n".join("\n".join(lines) for lines in tables.values()) + "\n", encoding="utf-8"
        )


def rows(kept: dict[str, np.ndarray]) -> dict[str, list[str]]:
    """Cells of one character in each table."""
    points, triangles = kept["points"], kept["triangles"]
    volumes = [
        jounce.TetMesh.lattice(points, triangles, resolution, solid=True).volumes.sum()
        for resolution in (*RESOLUTIONS, FINEST)
    ]
    found = [swings(body_of(kept, resolution), kept["names"]) for resolution in RESOLUTIONS]
    slowest = [each[0] for each in found]
    of_flesh = [next((swing for swing in each if swing.share >= SHARE), None) for each in found]
    return {
        "volume": [f"{volume / volumes[-1]:.3f}" for volume in volumes[:-1]],
        "flesh": compared(of_flesh),
        "any": [*compared(slowest), f"{slowest[-1].share:.1%}"],
    }


def compared(found: Sequence[Swing | None]) -> list[str]:
    """Modes of each resolution against the last: frequency ratios, the frequency, and the moving part."""
    last = found[-1]
    if last is None:
        return ["-"] * (len(found) + 1)
    others = [str(r) for r, one in zip(RESOLUTIONS, found, strict=True) if one and one.bone != last.bone]
    bone = f"{last.bone}, not at {', '.join(others)}" if others else last.bone
    ratios = ["-" if one is None else f"{one.frequency / last.frequency:.3f}" for one in found[:-1]]
    return [*ratios, f"{last.frequency:.3g}", bone]


def body_of(kept: dict[str, np.ndarray], resolution: int) -> jounce.Body:
    """The body of a character with its core."""
    core = jounce.SkeletonCore(
        kept["heads"],
        kept["parents"],
        names=kept["names"].tolist(),
        roles=kept["roles"].tolist(),
        amount=float(kept["amount"]),
        rigid=kept["rigid"],
        resolution=int(kept["resolution"]),
        anatomy=False,
    )
    surface = kept["points"], kept["triangles"], kept["weights"]
    return jounce.Body(*surface, resolution=resolution, modes=1, clusters=1, core=core)


def swings(body: jounce.Body, names: np.ndarray) -> list[Swing]:
    """The slowest vibration modes of the free vertices, in order, with one mode of flesh among them."""
    free, count = ~body.pinned, SWINGS
    stiffness, mass = operators(body.mesh)
    rows = np.flatnonzero(np.repeat(free, 3))
    root = np.sqrt(np.repeat(mass, 3)[rows])
    scaled = (sparse.diags(1.0 / root) @ stiffness[rows][:, rows] @ sparse.diags(1.0 / root)).tocsr()
    while True:
        if len(rows) <= FACTORED:
            values, vectors = factored(scaled, count)
        else:
            values, vectors = iterated(
                scaled,
                two_grids(scaled, body.mesh.vertices[free], root, 2.0 * cells.sides(body.mesh)[0]),
                count,
            )
        squares = ((vectors / root[:, np.newaxis]).reshape(-1, 3, len(values)) ** 2).sum(1)
        moved = mass[free] @ squares
        shares = moved**2 / (mass[free] @ squares**2) / mass[free].sum()
        hung = (mass[free, np.newaxis] * body.rig.weights[free]).T @ squares
        found = [
            Swing(float(np.sqrt(value) / (2.0 * np.pi)), float(share), str(names[bone]))
            for value, share, bone in zip(values, shares, hung.argmax(0), strict=True)
        ]
        if count >= MOST_SWINGS or any(swing.share >= SHARE for swing in found):
            return found
        count *= 4


def factored(matrix: sparse.csr_matrix, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The lowest eigenvalues of a matrix, in order, and their vectors (n, count), by factorisation."""
    shifted = (matrix + 1e-9 * sparse.diags(matrix.diagonal())).tocsc()
    options = {"SymmetricMode": True}
    solver = linalg.splu(shifted, "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    inverse = linalg.LinearOperator(matrix.shape, solver.solve)
    start = np.random.default_rng(0).standard_normal(matrix.shape[0])
    values, vectors = linalg.eigsh(matrix, count, sigma=0.0, OPinv=inverse, v0=start, tol=1e-6)
    order = np.argsort(values)
    return values[order], vectors[:, order]


def iterated(matrix: sparse.csr_matrix, cycle: Cycle, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The first quarter of the result of `factored`, by LOBPCG with a multigrid preconditioner."""
    start = np.random.default_rng(0).standard_normal((matrix.shape[0], count))
    # The last ones converge late.
    before, settled, vectors = np.inf, count // 4, cycle(cycle(start))
    operator = linalg.LinearOperator(matrix.shape, cycle, matmat=cycle)
    with warnings.catch_warnings():
        # The tolerance asks for more digits than a few steps can give.
        warnings.simplefilter("ignore", UserWarning)
        while True:
            values, vectors = linalg.lobpcg(matrix, vectors, M=operator, largest=False, tol=1e-12, maxiter=6)
            order = np.argsort(values)[:settled]
            if np.all(np.abs(values[order] / before - 1.0) < 3e-4):
                return values[order], vectors[:, order]
            before = values[order]


def operators(mesh: jounce.TetMesh) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Stiffness at rest (3n, 3n) and mass (n,) of cells of flesh."""
    corners, volumes = mesh.cells, mesh.volumes.reshape(len(mesh.cells), -1).sum(1)
    gradients = cells.gradients(mesh)
    whole = np.einsum("cia,cja->cij", gradients, gradients) + 2.0 * cells.twists(mesh)
    # A rotation costs nothing, |sym G|^2 = (|G|^2 + G : G') / 2; the twists, above, count in full.
    blocks = np.einsum("cij,ab->ciajb", whole, np.eye(3)) + np.einsum("cib,cja->ciajb", gradients, gradients)
    blocks *= (0.5 * YOUNG * volumes)[:, np.newaxis, np.newaxis, np.newaxis, np.newaxis]
    index = (3 * corners[:, :, np.newaxis] + np.arange(3)).reshape(len(corners), 24)
    places = np.repeat(index, 24, axis=1).ravel(), np.tile(index, (1, 24)).ravel()
    size = 3 * len(mesh.vertices)
    stiffness = sparse.coo_matrix((blocks.ravel(), places), (size, size)).tocsr()
    return stiffness, DENSITY * mesh.vertex_volumes


def two_grids(matrix: sparse.csr_matrix, points: np.ndarray, root: np.ndarray, spacing: float) -> Cycle:
    """A symmetric two-grid cycle as preconditioner: smoothing, and a solve on the coarse grid."""
    while (coarse := trilinear(points, spacing)).shape[1] > 12000:
        spacing *= 1.2
    carry = (sparse.diags(root) @ sparse.kron(coarse, sparse.eye(3))).tocsr()
    small = (carry.T @ matrix @ carry).tocsc()
    small += 1e-10 * sparse.diags(small.diagonal())
    options = {"SymmetricMode": True}
    solver = linalg.splu(small.tocsc(), "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    back, damped = carry.T.tocsr(), 0.5 / matrix.diagonal()[:, np.newaxis]

    def cycle(wanted: np.ndarray) -> np.ndarray:
        wanted = wanted.reshape(len(damped), -1)
        found = damped * wanted
        for _ in range(2):
            found = found + damped * (wanted - matrix @ found)
        found = found + carry @ solver.solve(np.ascontiguousarray(back @ (wanted - matrix @ found)))
        for _ in range(3):
            found = found + damped * (wanted - matrix @ found)
        return found

    return cycle


def trilinear(points: np.ndarray, spacing: float) -> sparse.csr_matrix:
    """Trilinear interpolation from a grid to points."""
    places = (points - points.min(0) + 1e-9) / spacing
    lower = np.floor(places).astype(int)
    counts = lower.max(0) + 2
    above = places - lower
    weights, columns = [], []
    for corner in range(8):
        step = np.array([corner >> axis & 1 for axis in range(3)])
        weights.append(np.where(step, above, 1.0 - above).prod(1))
        columns.append((lower + step) @ np.array([counts[1] * counts[2], counts[2], 1]))
    rows = np.tile(np.arange(len(points)), 8)
    matrix = sparse.coo_matrix((np.concatenate(weights), (rows, np.concatenate(columns)))).tocsc()
    return matrix[:, np.asarray(matrix.sum(0)).ravel() > 1e-3].tocsr()


if __name__ == "__main__":
    main()
