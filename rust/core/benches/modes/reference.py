"""Skinning eigenmodes in a few lines of scipy: an independent yardstick for the benchmark of modes.

`reference.py FOLDER MODES schur|kkt` reads vertices, tets, leak, springs between vertices and, for a rig,
weights as the benchmark wrote them, for a conductivity and density of one. It prints the seconds, the name of
the solver, and the eigenvalues. The time includes making the constraint's columns independent, factorisation
and iteration, but not assembly. Solutions that take less than a second are repeated, and the best time
counts, as in our measurement. The saddle point is factorised by UMFPACK, as in the papers, if the library is
installed, and else by SuperLU.
"""

import ctypes
import ctypes.util
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
import scipy.sparse.linalg as splinalg

try:
    from sksparse.cholmod import cholesky
except ImportError:
    cholesky = None

Solve = Callable[[np.ndarray], np.ndarray]

SHIFT = 1e-2
# Seconds within which the solution is repeated, as in our measurement; the best time counts.
REPEATED = 1.0
DEPENDENT = 1e-14


def blas() -> str:
    """The BLAS used by CHOLMOD; numpy and scipy include their own."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    shared = [line for line in lines if "site-packages" not in line]
    return "OpenBLAS" if any("openblas" in line for line in shared) else "BLAS"


def read(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    vertices = np.fromfile(folder / "vertices", "<f8").reshape(-1, 3)
    tets = np.fromfile(folder / "tets", "<u4").reshape(-1, 4).astype(np.int64)
    leak = np.fromfile(folder / "leak", "<f8")
    weights = folder / "weights"
    rig = np.fromfile(weights, "<f8").reshape(len(vertices), -1) if weights.exists() else None
    return vertices, tets, leak, rig


def laplacian_and_mass(vertices: np.ndarray, tets: np.ndarray) -> tuple[sparse.csc_matrix, np.ndarray]:
    corners = vertices[tets]
    edges = corners[:, 1:] - corners[:, :1]
    volumes = np.abs(np.linalg.det(edges)) / 6
    gradients = np.linalg.inv(edges).transpose(0, 2, 1)
    gradients = np.concatenate([-gradients.sum(axis=1, keepdims=True), gradients], axis=1)
    entries = np.einsum("t,tic,tjc->tij", volumes, gradients, gradients)
    rows, columns = np.repeat(tets, 4, axis=1), np.tile(tets, (1, 4))
    n = len(vertices)
    stiffness = sparse.csc_matrix((entries.ravel(), (rows.ravel(), columns.ravel())), shape=(n, n))
    mass = np.bincount(tets.ravel(), np.repeat(volumes / 4, 4), minlength=n)
    return stiffness, mass


def springs(folder: Path, n: int) -> sparse.csc_matrix:
    """Stiffness added by springs between vertices, `k a a'` each."""
    rows = np.fromfile(folder / "springs", "<f8").reshape(-1, 3)
    pairs = rows[:, :2].astype(np.int64)
    count = np.arange(len(rows))
    ends = (np.concatenate([pairs[:, 0], pairs[:, 1]]), np.concatenate([count, count]))
    columns = sparse.csc_matrix((np.repeat([1.0, -1.0], len(rows)), ends), shape=(n, len(rows)))
    return columns @ sparse.diags(rows[:, 2]) @ columns.T


def constraint(vertices: np.ndarray, mass: np.ndarray, leak: np.ndarray, rig: np.ndarray) -> np.ndarray:
    """Ten columns per bone, in local coordinates for better conditioning, orthonormal within the bone."""
    blocks = []
    p, q = np.triu_indices(4)
    for weight in rig.T:
        support = np.flatnonzero(weight)
        centre = weight[support] @ vertices[support] / weight.sum()
        points = vertices[support] - centre
        points = np.column_stack([points / np.abs(points).max(), np.ones(len(points))])
        columns = points[:, p] * points[:, q] * (weight * mass * (1 - leak))[support, None]
        block = np.zeros((len(vertices), 10))
        block[support] = scipy.linalg.qr(columns / np.linalg.norm(columns, axis=0), mode="economic")[0]
        blocks.append(block)
    return np.hstack(blocks)


def independent(columns: np.ndarray) -> np.ndarray:
    """Independent columns, chosen by a pivoted Cholesky factorisation of the Gram matrix, orthonormal."""
    _, pivots, rank, _ = scipy.linalg.lapack.dpstrf(columns.T @ columns, tol=DEPENDENT)
    return scipy.linalg.qr(columns[:, np.sort(pivots[:rank] - 1)], mode="economic", overwrite_a=True)[0]


def eliminating(matrix: sparse.csc_matrix, columns: np.ndarray | None) -> Solve:
    """`b -> x` of `K x + A y = b, A' x = 0` by a factor of K and a dense one of `A' K^-1 A`."""
    solve = cholesky(matrix) if cholesky else splinalg.splu(matrix).solve
    if columns is None:
        return solve
    images = solve(columns)
    dense = scipy.linalg.cho_factor(columns.T @ images)

    def apply(b: np.ndarray) -> np.ndarray:
        x = solve(b)
        return x - images @ scipy.linalg.cho_solve(dense, columns.T @ x)

    return apply


class Umfpack:
    """LU by UMFPACK's interface for 64-bit indices."""

    SOLVE = 0

    def __init__(self, library: ctypes.CDLL, matrix: sparse.csc_matrix) -> None:
        matrix.sort_indices()
        self.library, self.numeric = library, ctypes.c_void_p()
        self.starts, self.rows = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        self.values = np.ascontiguousarray(matrix.data, dtype=np.float64)
        symbolic, size = ctypes.c_void_p(), ctypes.c_int64(matrix.shape[0])
        self.call("symbolic", size, size, *self.arrays(), ctypes.byref(symbolic))
        self.call("numeric", *self.arrays(), symbolic, ctypes.byref(self.numeric))

    def arrays(self) -> list[ctypes.c_void_p]:
        return [array.ctypes.data_as(ctypes.c_void_p) for array in (self.starts, self.rows, self.values)]

    def call(self, name: str, *arguments: object) -> None:
        # Default control parameters, and no statistics.
        status = getattr(self.library, f"umfpack_dl_{name}")(*arguments, None, None)
        if status != 0:
            raise MemoryError(f"umfpack_dl_{name} gives status {status}")

    def solve(self, b: np.ndarray) -> np.ndarray:
        b, x = np.ascontiguousarray(b, dtype=np.float64), np.empty(len(b))
        x_at, b_at = (array.ctypes.data_as(ctypes.c_void_p) for array in (x, b))
        self.call("solve", ctypes.c_int(self.SOLVE), *self.arrays(), x_at, b_at, self.numeric)
        return x


def bordered(matrix: sparse.csc_matrix, columns: np.ndarray) -> tuple[str, Solve]:
    """As `eliminating`, by one sparse LU of the whole saddle point; with the name of the solver."""
    n, count = columns.shape
    columns = sparse.csc_matrix(columns)
    whole = sparse.bmat([[matrix, columns], [columns.T, None]], format="csc")
    library = ctypes.util.find_library("umfpack")
    factor = Umfpack(ctypes.CDLL(library), whole) if library else splinalg.splu(whole)
    solver = "UMFPACK" if library else "SuperLU"
    return solver, lambda b: factor.solve(np.concatenate([b, np.zeros(count)]))[:n]


def lowest(
    matrix: sparse.csc_matrix, mass: np.ndarray, columns: np.ndarray | None, count: int, method: str
) -> tuple[str, np.ndarray]:
    """Name of the solver, and the lowest eigenvalues."""
    if method == "kkt":
        solver, apply = bordered(matrix, columns)
    else:
        solver = f"CHOLMOD+{blas()}" if cholesky else "SuperLU"
        apply = eliminating(matrix, None if columns is None else independent(columns))
    inverse = splinalg.LinearOperator(matrix.shape, lambda b: apply(np.ravel(b)), dtype=float)
    begin = np.random.default_rng(0).standard_normal(len(mass))
    # The operator acts on the constraint's null space, which must contain the start vector too.
    begin = begin if columns is None else apply(mass * begin)
    weights = sparse.diags(mass).tocsc()
    found = splinalg.eigsh(matrix, count, weights, sigma=0, OPinv=inverse, v0=begin, return_eigenvectors=True)
    return solver, found[0]


def main() -> None:
    folder, count, method = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    vertices, tets, leak, rig = read(folder)
    stiffness, mass = laplacian_and_mass(vertices, tets)
    stiffness = (stiffness + springs(folder, len(vertices))).tocsc()
    shift = SHIFT * (np.pi / np.cbrt(mass.sum())) ** 2
    matrix = (stiffness + shift * sparse.diags(mass)).tocsc()
    columns = None if rig is None else constraint(vertices, mass, leak, rig)
    seconds: list[float] = []
    while sum(seconds) < REPEATED:
        start = time.perf_counter()
        solver, values = lowest(matrix, mass, columns, count, method)
        seconds.append(time.perf_counter() - start)
    print(f"{min(seconds):.6f}", solver, *(f"{value:.15e}" for value in np.sort(values) - shift))


if __name__ == "__main__":
    main()
