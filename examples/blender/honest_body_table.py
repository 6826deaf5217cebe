"""What a body weighs and how fast it swings at five resolutions: second, with numpy and scipy, the table.

    python honest_body_table.py FOLDER --out table.md

FOLDER holds what `honest_body_of.py` kept. Volume is that of the simulated flesh against that in a lattice of
160 cells; the frequency is that of the slowest small swing of all vertices that the core leaves free, with
one Young's modulus at all resolutions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import jounce
import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

RESOLUTIONS = (24, 32, 48, 64, 96)
SWUNG = (32, 48, 96)
FINEST = 160
YOUNG, DENSITY = 1e4, 1e3
PLACES = np.array([[1.0 if corner >> axis & 1 else -1.0 for axis in range(3)] for corner in range(8)])
Cycle = Callable[[np.ndarray], np.ndarray]
HEADING = """# An honest body, measured

Made by `cargo x honest`: characters with the core that *Add Jounce* gives them. *Volume*: of the
simulated flesh, against that at resolution 160, as a ratio. *Frequency*: of the slowest small swing of all
vertices that the core leaves free, at 10 kPa and 1000 kg/m^3, against that at resolution 96.

"""


def main() -> None:
    """Measure all and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    titles = [f"volume, {r}" for r in RESOLUTIONS]
    titles += [f"frequency, {r}" for r in SWUNG[:-1]] + [f"Hz, {SWUNG[-1]}"]
    lines = ["| character | " + " | ".join(titles) + " |", "| --- |" + " --- |" * len(titles)]
    for path in sorted(options.folder.glob("*.npz")):
        lines.append(f"| {path.stem} | " + " | ".join(row(dict(np.load(path)))) + " |")
        print(lines[-1], flush=True)
        options.out.write_text(HEADING + "\n".join(lines) + "\n", encoding="utf-8")


def row(kept: dict[str, np.ndarray]) -> list[str]:
    """The cells of one character."""
    points, triangles = kept["points"], kept["triangles"]
    volumes = [
        jounce.TetMesh.lattice(points, triangles, resolution, solid=True).volumes.sum()
        for resolution in (*RESOLUTIONS, FINEST)
    ]
    bodies = (body_of(kept, resolution) for resolution in SWUNG)
    frequencies = [slowest_swing(body.mesh, ~body.pinned) for body in bodies]
    volumes = [volume / volumes[-1] for volume in volumes[:-1]]
    ratios = [frequency / frequencies[-1] for frequency in frequencies[:-1]]
    return [f"{ratio:.3f}" for ratio in volumes + ratios] + [f"{frequencies[-1]:.3g}"]


def body_of(kept: dict[str, np.ndarray], resolution: int) -> jounce.Body:
    """The body of a character with its core."""
    core = jounce.SkeletonCore(
        kept["heads"],
        kept["parents"],
        names=kept["names"].tolist(),
        roles=kept["roles"].tolist(),
        amount=float(kept["amount"]),
        rigid=kept["rigid"],
    )
    surface = kept["points"], kept["triangles"], kept["weights"]
    return jounce.Body(*surface, resolution=resolution, modes=1, clusters=1, core=core)


def slowest_swing(mesh: jounce.TetMesh, free: np.ndarray) -> float:
    """Hz, of the vertices that are free (n,)."""
    stiffness, mass = operators(mesh)
    rows = np.flatnonzero(np.repeat(free, 3))
    root = np.sqrt(np.repeat(mass, 3)[rows])
    scaled = (sparse.diags(1.0 / root) @ stiffness[rows][:, rows] @ sparse.diags(1.0 / root)).tocsr()
    cycle = two_grids(scaled, mesh.vertices[free], root, 2.0 * side(mesh))
    start = np.random.default_rng(0).standard_normal((len(rows), 6))
    values, vectors = np.full(3, np.inf), cycle(cycle(start))
    operator = linalg.LinearOperator(scaled.shape, cycle, matmat=cycle)
    while True:
        # A few steps at a time: of six vectors the first three have to settle only.
        found, vectors = linalg.lobpcg(scaled, vectors, M=operator, largest=False, tol=1e-12, maxiter=6)
        found = np.sort(found)[:3]
        if np.all(np.abs(found / values - 1.0) < 1e-4):
            return float(np.sqrt(found[0]) / (2.0 * np.pi))
        values = found


def operators(mesh: jounce.TetMesh) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Stiffness at rest (3n, 3n) and mass (n,), as cells of flesh have them."""
    cells, volumes, length = mesh.cells, mesh.volumes.reshape(len(mesh.cells), -1).sum(1), side(mesh)
    centre, spread = mesh.flesh[:, 0], mesh.flesh[:, 1]
    factors = 1.0 + PLACES * centre[:, np.newaxis]
    slopes = [PLACES[:, a] * factors[..., (a + 1) % 3] * factors[..., (a + 2) % 3] for a in range(3)]
    gradients = np.stack(slopes, axis=2) / (4.0 * length)
    whole = np.einsum("cia,cja->cij", gradients, gradients)
    half = 0.5 * length
    for a in range(3):
        twist = PLACES[:, a] * PLACES[:, (a + 1) % 3] / (8.0 * half**2)
        resistance = half**2 * (spread[:, a] + spread[:, (a + 1) % 3])
        whole += resistance[:, np.newaxis, np.newaxis] * np.outer(twist, twist)
    twist = PLACES.prod(1) / (8.0 * half**3)
    whole += 2.0 * half**4 / 9.0 * np.outer(twist, twist)
    # A turn costs nothing, |sym G|^2 = (|G|^2 + G : G') / 2; the twists, above, count in full.
    blocks = np.einsum("cij,ab->ciajb", whole, np.eye(3)) + np.einsum("cib,cja->ciajb", gradients, gradients)
    blocks *= (0.5 * YOUNG * volumes)[:, np.newaxis, np.newaxis, np.newaxis, np.newaxis]
    index = (3 * cells[:, :, np.newaxis] + np.arange(3)).reshape(len(cells), 24)
    places = np.repeat(index, 24, axis=1).ravel(), np.tile(index, (1, 24)).ravel()
    size = 3 * len(mesh.vertices)
    stiffness = sparse.coo_matrix((blocks.ravel(), places), (size, size)).tocsr()
    mass = np.bincount(mesh.tets.ravel(), np.repeat(0.25 * DENSITY * mesh.volumes, 4), size // 3)
    return stiffness, mass


def side(mesh: jounce.TetMesh) -> float:
    """The edge of a cell."""
    return float(np.abs(mesh.vertices[mesh.cells[0, 1]] - mesh.vertices[mesh.cells[0, 0]]).max())


def two_grids(matrix: sparse.csr_matrix, points: np.ndarray, root: np.ndarray, spacing: float) -> Cycle:
    """A symmetric cycle of smoothing and of solving on a coarse grid, which nearly inverts the matrix."""
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
    """Values on a grid to values at points."""
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
