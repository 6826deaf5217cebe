"""Flesh by an independent program: numpy and SciPy alone, linear tets of St. Venant-Kirchhoff material.

Nothing of Jounce is used here. Vectors of displacements are interleaved, (3n,).
"""

import itertools

import numpy as np
from scipy.linalg import expm
from scipy.sparse import coo_matrix, csc_matrix, diags, vstack
from scipy.sparse.linalg import eigsh, splu


def grid(cells, size, seed):
    """Vertices and tets of a box of cells, each cut into six, vertices displaced at random."""
    shape = np.array(cells) + 1
    vertices = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange(len(vertices)).reshape(shape)
    tets = []
    for x, y, z in itertools.product(*map(range, cells)):
        for order in itertools.permutations(range(3)):
            corner, path = np.array([x, y, z]), [number[x, y, z]]
            for axis in order:
                corner = corner + np.eye(3, dtype=int)[axis]
                path.append(number[tuple(corner)])
            tets.append(path)
    places = vertices * (np.array(size) / cells)
    places = places + np.random.default_rng(seed).uniform(-0.12, 0.12, places.shape) * (
        np.array(size) / cells
    )
    tets = np.array(tets)
    turned = np.linalg.det(places[tets[:, 1:]] - places[tets[:, :1]]) < 0.0
    tets[turned] = tets[turned][:, [0, 1, 3, 2]]
    return places, tets


class Flesh:
    """Linear tets with `W = mu E:E + lambda/2 tr^2 E`, `E = (F'F - I) / 2`, and a mass at each vertex."""

    def __init__(self, vertices, tets, young, poisson, density, held):
        self.vertices, self.tets = vertices, tets
        self.mu, self.la = young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))
        edges = vertices[tets[:, 1:]] - vertices[tets[:, :1]]
        self.volumes = np.linalg.det(edges) / 6.0
        inner = np.linalg.inv(edges).transpose(0, 2, 1)
        # Gradients of the four hat functions, (t, 4, 3).
        self.hats = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)
        self.mass = np.repeat(np.bincount(tets.ravel(), np.repeat(0.25 * density * self.volumes, 4)), 3)
        self.free = np.flatnonzero(np.repeat(~held, 3))
        self.stiffness = self._stiffness()

    def gradients(self, u):
        """Gradients (t, 3, 3) of a displacement, rows by coordinate."""
        return np.einsum("tai,taj->tij", u.reshape(-1, 3)[self.tets], self.hats)

    def forces(self, u):
        """The gradient of the elastic energy, (3n,)."""
        f = np.eye(3) + self.gradients(u)
        strain = 0.5 * (f.transpose(0, 2, 1) @ f - np.eye(3))
        trace = np.trace(strain, axis1=1, axis2=2)[:, None, None]
        stress = f @ (2 * self.mu * strain + self.la * trace * np.eye(3))
        corners = np.einsum("t,tij,taj->tai", self.volumes, stress, self.hats)
        sums = np.zeros_like(self.vertices)
        np.add.at(sums, self.tets, corners)
        return sums.ravel()

    def second(self, a, b):
        """The second derivative of the forces at rest along two displacements.

        The forces are a polynomial of degree three, so the even part of them is the quadratic one.
        """
        even = [0.5 * (self.forces(u) + self.forces(-u)) for u in (a + b, a, b)]
        return even[0] - even[1] - even[2]

    def _stiffness(self, factor=1.0):
        """The stiffness matrix, with a factor on each tet's."""
        strains = np.zeros((len(self.tets), 6, 12))
        for corner in range(4):
            x, y, z = self.hats[:, corner].T
            at = 3 * corner
            strains[:, 0, at], strains[:, 1, at + 1], strains[:, 2, at + 2] = x, y, z
            strains[:, 3, at], strains[:, 3, at + 1] = y, x
            strains[:, 4, at + 1], strains[:, 4, at + 2] = z, y
            strains[:, 5, at], strains[:, 5, at + 2] = z, x
        law = np.diag([2 * self.mu] * 3 + [self.mu] * 3)
        law[:3, :3] += self.la
        blocks = np.einsum("t,tpa,pq,tqb->tab", factor * self.volumes, strains, law, strains)
        rows = (3 * self.tets[:, :, None] + np.arange(3)).reshape(-1, 12)
        across = np.broadcast_to(rows[:, None, :], blocks.shape)
        down = np.broadcast_to(rows[:, :, None], blocks.shape)
        size = self.vertices.size
        return csc_matrix(coo_matrix((blocks.ravel(), (down.ravel(), across.ravel())), (size, size)))

    def added(self, factor):
        """The stiffness matrix that factors on each tet's stiffness add."""
        return self._stiffness(factor - 1.0)

    def springs(self, pairs, stiffness):
        """The stiffness matrix of springs between vertices, equal along all directions."""
        apart = np.zeros((3 * len(pairs), self.vertices.size))
        for row, (a, b) in enumerate(pairs):
            for axis in range(3):
                apart[3 * row + axis, 3 * a + axis], apart[3 * row + axis, 3 * b + axis] = 1.0, -1.0
        return csc_matrix(stiffness * apart.T @ apart)

    def modes(self, count, springs=0.0):
        """The lowest eigenvalues and mass-orthonormal modes (count, 3n), zero where held."""
        matrix = csc_matrix(self.stiffness + springs)[self.free][:, self.free]
        values, vectors = eigsh(matrix, count, diags(self.mass[self.free]).tocsc(), sigma=0.0, tol=1e-14)
        order = np.argsort(values)
        modes = np.zeros((count, self.vertices.size))
        modes[:, self.free] = vectors[:, order].T
        return values[order], modes

    def solve(self, right, springs=0.0):
        """Displacements (k, 3n) under forces (k, 3n), zero where held."""
        matrix = csc_matrix(self.stiffness + springs)[self.free][:, self.free]
        found = np.zeros_like(right)
        found[:, self.free] = splu(matrix).solve(right[:, self.free].T).T
        return found

    def derivatives(self, modes, springs=0.0):
        """`K Phi^ij = -(H : psi_j) psi_i` for each pair i <= j [MOR eq. 13-16]."""
        pairs = itertools.combinations_with_replacement(modes, 2)
        return self.solve(-np.array([self.second(a, b) for a, b in pairs]), springs)

    def curls(self, u):
        """Infinitesimal rotations (n, 3) of a displacement: means over the tets at a vertex, by volume."""
        g = self.gradients(u)
        skew = 0.5 * np.stack([g[:, 2, 1] - g[:, 1, 2], g[:, 0, 2] - g[:, 2, 0], g[:, 1, 0] - g[:, 0, 1]], 1)
        weights, sums = np.zeros(len(self.vertices)), np.zeros_like(self.vertices)
        np.add.at(weights, self.tets, self.volumes[:, None])
        np.add.at(sums, self.tets, (self.volumes[:, None] * skew)[:, None, :])
        return sums / weights[:, None]

    def modally_warped(self, u):
        """Each vertex moved by the mean of its rotations, `int_0^1 exp(s W) ds u`."""
        moved = np.empty_like(self.vertices)
        for vertex, (turn, shift) in enumerate(zip(self.curls(u), u.reshape(-1, 3), strict=True)):
            block = np.zeros((6, 6))
            block[:3, :3], block[:3, 3:] = cross(turn), np.eye(3)
            moved[vertex] = expm(block)[:3, 3:] @ shift
        return moved

    def strain_warped(self, u, held):
        """The displacement (n, 3) with gradients closest to `exp(w) (I + e) - I` in each tet, by volume."""
        g = self.gradients(u)
        targets = [
            expm(0.5 * (each - each.T)) @ (np.eye(3) + 0.5 * (each + each.T)) - np.eye(3) for each in g
        ]
        rows, columns = np.broadcast_arrays(np.arange(len(self.tets))[:, None], self.tets)
        size = len(self.tets), len(self.vertices)
        weight = np.tile(np.sqrt(self.volumes), 3)
        hats = [
            csc_matrix((self.hats[:, :, axis].ravel(), (rows.ravel(), columns.ravel())), size)
            for axis in range(3)
        ]
        matrix = diags(weight) @ vstack(hats)
        right = weight[:, None] * np.concatenate([np.array(targets)[:, :, axis] for axis in range(3)])
        moved, free = np.zeros_like(self.vertices), np.flatnonzero(~held)
        inner = csc_matrix(matrix)[:, free]
        moved[free] = splu(csc_matrix(inner.T @ inner)).solve(inner.T @ right)
        return moved


def swing(values, forces, rates, seconds):
    """Amplitudes (f, k) of oscillators `z'' + c z' + l z = f` from rest, forces (f, k) linear between frames.

    The exponential of a system whose state holds position, velocity, force and the slope of the force.
    """
    found = np.zeros_like(forces)
    for mode, (value, rate) in enumerate(zip(values, rates, strict=True)):
        system = np.array([[0, 1, 0, 0], [-value, -rate, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], float)
        step, state = expm(seconds * system), np.zeros(2)
        for frame in range(1, len(forces)):
            before, after = forces[frame - 1, mode], forces[frame, mode]
            state = (step @ [*state, before, (after - before) / seconds])[:2]
            found[frame, mode] = state[0]
    return found


def cross(w):
    """The matrix of a cross product."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
