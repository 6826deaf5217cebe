"""The full space beside other solvers, on one bar of linear tets that falls at its free end: CPU time of a
step, and its distance from the converged motion.

    python rivals.py [cells along the bar]

A package that is missing leaves its rows out, with a sentence. Times are of the processor, the sum of all
threads; `cargo x bench rivals` gives each solver one. Numbers are as precise as the solver's: double here and
in SciPy, single in newton.
"""

import contextlib
import importlib.metadata
import importlib.util
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

CELLS = 90
LENGTH, SIDES = 1.8, 10
YOUNG, POISSON, DENSITY = 2e5, 0.4, 1000.0
MU = YOUNG / (2.0 * (1.0 + POISSON))
LAMBDA = YOUNG * POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON))
SECONDS, STEPS, GRAVITY = 1.0 / 60.0, 5, (0.0, 0.0, -9.81)
# Iterations of a step of each solver.
BLOCK_ITERATIONS, OWN_ITERATIONS = (20, 80, 240), (5, 10, 20, 40)
# Converged: Newton's step, as a share of the bar.
CONVERGED = 1e-10

# Displacements (n, 3) after each step, and the mean CPU seconds of a step.
Run = tuple[list[np.ndarray], float]


def bar(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and tets (t, 4), five a cube, of which neighbours are mirror images."""
    size = LENGTH / cells
    sides = [np.arange(count + 1) for count in (cells, SIDES, SIDES)]
    vertices = size * np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 3)
    stride = np.array([(SIDES + 1) ** 2, SIDES + 1, 1])
    cubes = np.stack(np.meshgrid(*(side[:-1] for side in sides), indexing="ij"), axis=-1).reshape(-1, 3)
    corners = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    five = np.array([(0, 4, 2, 1), (6, 2, 4, 7), (5, 4, 1, 7), (3, 1, 2, 7), (4, 2, 1, 7)])
    odd = cubes.sum(axis=1) % 2 == 1
    tets = np.empty((len(cubes), 5, 4), np.int64)
    for mirrored in (False, True):
        own = cubes[odd == mirrored]
        # A cube that is mirrored along its first axis has its corners 0 to 3 and 4 to 7 exchanged.
        order = five ^ 4 if mirrored else five
        tets[odd == mirrored] = ((own[:, None] + corners) @ stride)[:, order]
    tets = tets.reshape(-1, 4)
    a, b, c, d = (vertices[tets[:, i]] for i in range(4))
    turned = np.einsum("ti,ti->t", b - a, np.cross(c - a, d - a)) < 0.0
    tets[turned] = tets[turned][:, [0, 2, 1, 3]]
    return vertices, tets


def missing(package: str) -> str:
    """The reason why a package cannot be used; empty if it can."""
    is_there = importlib.util.find_spec(package) is not None
    return "" if is_there else f"{package} is not installed, so its rows are left out"


class Tets:
    """Stable Neo-Hookean energy of linear tets, as newton has it: `mu/2 (tr F'F - 3) + l/2 (det F - a)^2`
    with l = lambda + mu and a = 1 + mu / l."""

    def __init__(self, vertices: np.ndarray, tets: np.ndarray) -> None:
        self.rest, self.tets = vertices, tets
        edges = (vertices[tets[:, 1:]] - vertices[tets[:, :1]]).transpose(0, 2, 1)
        inverse = np.linalg.inv(edges)
        self.volumes = np.linalg.det(edges) / 6.0
        # From corners to F: F = x' G, G (t, 4, 3).
        self.gradients = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
        self.mass = np.bincount(tets.ravel(), np.repeat(DENSITY * self.volumes / 4.0, 4))
        # Places of an element's 12 x 12 block.
        rows = (3 * tets[:, :, None] + np.arange(3)).reshape(-1, 12)
        self.places = np.repeat(rows, 12, axis=1).ravel(), np.tile(rows, (1, 12)).ravel()

    def evaluate(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient (n, 3), and the entries of the Hessian, with positive eigenvalues in each element."""
        f = np.einsum("tai,taj->tij", x[self.tets], self.gradients)
        cofactor = np.cross(f[:, :, [1, 2, 0]], f[:, :, [2, 0, 1]], axis=1)
        firm = LAMBDA + MU
        off = np.linalg.det(f) - 1.0 - MU / firm
        stress = MU * f + firm * off[:, None, None] * cofactor
        force = np.einsum("t,tij,taj->tai", self.volumes, stress, self.gradients)
        gradient = np.zeros_like(x)
        np.add.at(gradient, self.tets, force)
        flat = cofactor.reshape(-1, 9)
        hessian = MU * np.eye(9) + firm * flat[:, :, None] * flat[:, None, :]
        hessian += (firm * off)[:, None, None] * second_of_determinant(f)
        values, vectors = np.linalg.eigh(hessian)
        hessian = np.einsum("tik,tk,tjk->tij", vectors, np.maximum(values, 0.0), vectors)
        hessian = self.volumes[:, None, None, None, None] * hessian.reshape(-1, 3, 3, 3, 3)
        blocks = np.einsum("tak,tikcd,tbd->taibc", self.gradients, hessian, self.gradients, optimize=True)
        return gradient, blocks.reshape(-1)

    def energy(self, x: np.ndarray) -> float:
        """Energy, J."""
        f = np.einsum("tai,taj->tij", x[self.tets], self.gradients)
        off = np.linalg.det(f) - 1.0 - MU / (LAMBDA + MU)
        density = 0.5 * MU * ((f**2).sum(axis=(1, 2)) - 3.0) + 0.5 * (LAMBDA + MU) * off**2
        return float(self.volumes @ density)


def second_of_determinant(f: np.ndarray) -> np.ndarray:
    """Second derivative of det F, (t, 9, 9) by entries in C order."""
    signs = np.zeros((3, 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        signs[i, j, k], signs[i, k, j] = 1.0, -1.0
    second = np.einsum("ikm,jln,tmn->tijkl", signs, signs, f)
    return second.reshape(-1, 9, 9)


def newtons(vertices: np.ndarray, tets: np.ndarray, moves: np.ndarray) -> tuple[Run, str]:
    """Newton's method with SciPy, and CHOLMOD if it is there: the converged motion."""
    from scipy.sparse import csc_matrix, diags

    factor, name = factoriser()
    body, free = Tets(vertices, tets), np.repeat(moves, 3)
    weights = np.repeat(body.mass, 3) / SECONDS**2
    size = 3 * len(vertices)
    last, now, shapes = vertices.copy(), vertices.copy(), []
    begun = time.process_time()
    for _ in range(STEPS):
        target = 2.0 * now - last + SECONDS**2 * np.array(GRAVITY)
        target[~moves] = vertices[~moves]
        last, x = now, now.copy()

        def whole(x: np.ndarray, target: np.ndarray = target) -> float:
            return body.energy(x) + 0.5 * float(weights @ (x - target).ravel() ** 2)

        step = np.inf
        while step > CONVERGED * LENGTH:
            gradient, entries = body.evaluate(x)
            matrix = csc_matrix((entries, body.places), (size, size)) + diags(weights)
            side = gradient.ravel() + weights * (x - target).ravel()
            moved = np.zeros(size)
            moved[free] = factor(matrix[free][:, free].tocsc(), -side[free])
            before, share = whole(x), 1.0
            while share > 1e-6 and whole(x + share * moved.reshape(-1, 3)) > before * (1.0 + 1e-14):
                share *= 0.5
            x = x + share * moved.reshape(-1, 3)
            step = float(np.abs(moved).max())
        now = x
        shapes.append(x - vertices)
    return (shapes, (time.process_time() - begun) / STEPS), name


def factoriser() -> tuple[Callable[..., np.ndarray], str]:
    """A function that solves with a sparse symmetric matrix, and its name."""
    try:
        from sksparse.cholmod import cholesky
    except ImportError:
        from scipy.sparse.linalg import splu

        return lambda matrix, side: splu(matrix, permc_spec="MMD_AT_PLUS_A").solve(side), "SuperLU"
    return lambda matrix, side: cholesky(matrix)(side), "CHOLMOD"


def block_descent(vertices: np.ndarray, tets: np.ndarray, moves: np.ndarray, iterations: int) -> Run:
    """Vertex block descent of newton, on the processor."""
    import warp

    warp.config.quiet = True
    import newton

    with warp.ScopedDevice("cpu"):
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=GRAVITY)
        builder.add_soft_mesh(
            pos=warp.vec3(0.0, 0.0, 0.0),
            rot=warp.quat_identity(),
            scale=1.0,
            vel=warp.vec3(0.0, 0.0, 0.0),
            vertices=[warp.vec3(*place) for place in vertices.tolist()],
            indices=tets.ravel().tolist(),
            density=DENSITY,
            k_mu=MU,
            k_lambda=LAMBDA,
            k_damp=0.0,
            add_surface_mesh_edges=False,
        )
        for vertex in np.flatnonzero(~moves):
            builder.particle_mass[vertex] = 0.0
            builder.particle_flags[vertex] &= ~int(newton.ParticleFlags.ACTIVE)
        builder.color()
        model = builder.finalize()
        solver = newton.solvers.SolverVBD(model, iterations=iterations)
        states, control = [model.state(), model.state()], model.control()

        def step() -> None:
            states[0].clear_forces()
            solver.step(states[0], states[1], control, None, SECONDS)
            states.reverse()

        # The first step compiles.
        step()
        start = model.state()
        states[0].assign(start)
        states[1].assign(start)
        shapes, begun = [], time.process_time()
        for _ in range(STEPS):
            step()
            shapes.append(states[0].particle_q.numpy().astype(np.float64) - vertices)
        return shapes, (time.process_time() - begun) / STEPS


def own(vertices: np.ndarray, tets: np.ndarray, moves: np.ndarray, iterations: int) -> Run:
    """The full space; its Neo-Hookean law is another one than newton's."""
    import jounce

    mesh = jounce.TetMesh(vertices, tets)
    flesh = jounce.Material(YOUNG, POISSON, DENSITY, "neo_hookean")
    model = jounce.Model.full_space(mesh, flesh, pinned=~moves)
    simulation = jounce.Simulation(
        model, dt=SECONDS, gravity=GRAVITY, max_iterations=iterations, tolerance=1e-12, pose_rest=0.0
    )
    simulation.reset()
    shapes, begun = [], time.process_time()
    for _ in range(STEPS):
        simulation.step()
        shapes.append(np.array(simulation.coefficients))
    return shapes, (time.process_time() - begun) / STEPS


def commit() -> str:
    """The commit of this file's repository."""
    folder = Path(__file__).parent
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=folder, capture_output=True, text=True
    )
    return found.stdout.strip() or "unknown"


def processor() -> str:
    """Name and number of processors."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text().splitlines() if known.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} of {names[0] if names else platform.processor()}"


def apart(found: list[np.ndarray], right: list[np.ndarray]) -> float:
    """Distance of two motions as a share of the second."""
    return float(np.linalg.norm(np.array(found) - np.array(right)) / np.linalg.norm(right))


def rows(cells: int) -> Iterator[str]:
    """Lines of the table."""
    vertices, tets = bar(cells)
    moves = vertices[:, 0] > 1e-9
    size = f"{len(vertices)} vertices, {len(tets)} tets"
    yield f"full space beside other solvers: a bar of {size}, {STEPS} steps"
    yield f"commit {commit()}, {processor()}"
    yield f"{'solver':34s}  iterations  CPU ms a step  error percent"

    def row(solver: str, iterations: object, seconds: float, error: float | None) -> str:
        told = "-" if error is None else f"{100.0 * error:.3g}"
        return f"{solver:34s}  {iterations!s:>10s}  {1e3 * seconds:13.1f}  {told:>13s}"

    right, _ = own(vertices, tets, moves, 2000)
    for iterations in OWN_ITERATIONS:
        shapes, seconds = own(vertices, tets, moves, iterations)
        yield row("Jounce", iterations, seconds, apart(shapes, right))
    lacks = missing("scipy")
    if lacks:
        yield lacks
        return
    (right, seconds), factor = newtons(vertices, tets, moves)
    yield row(f"Newton, SciPy with {factor}", "converged", seconds, None)
    lacks = missing("newton")
    if lacks:
        yield lacks
        return
    name = f"VBD, newton {importlib.metadata.version('newton')}"
    for iterations in BLOCK_ITERATIONS:
        with contextlib.redirect_stdout(sys.stderr):
            shapes, seconds = block_descent(vertices, tets, moves, iterations)
        yield row(name, iterations, seconds, apart(shapes, right))


if __name__ == "__main__":
    for line in rows(int(sys.argv[1]) if len(sys.argv) > 1 else CELLS):
        print(line, flush=True)
