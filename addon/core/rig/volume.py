"""Linear map of small offsets by an armature with Preserve Volume.

Such an armature blends the rigid motions of its bones, as dual quaternions, instead of the matrices. With L_j
= R_j S_j the 3x3 part of bone j, q_j the unit quaternion of R_j and `q_i = sum_j w_ij q_j`, it moves an
offset of vertex i by

    A_i = R(q_i / |q_i|) + sum_j w_ij / |q_i|^2 (s_ij - [r_ij]) (L_j - R_j),
    (s_ij, r_ij) = q_j conj(q_i),

[r] being the matrix of the cross product: each bone applies its stretch at the vertex as a translation.
Between the equivalent q_j and -q_j, the one nearer to the quaternion of the vertex's heaviest bone is used.
The map is not exact for bones sheared by parents of uneven scale.
"""

import numpy as np


def preserving_linear(weights: np.ndarray, linear: np.ndarray) -> np.ndarray:
    """A (p, 3, 3) for weights (p, b) and the 3x3 parts (b, 3, 3) of the bones' transforms."""
    turns = rotations(linear)
    quaternions = as_quaternions(turns)
    heaviest = quaternions[np.argmax(weights, axis=1)]
    signed = weights * np.where(heaviest @ quaternions.T < 0.0, -1.0, 1.0)
    blended = signed @ quaternions
    length = np.linalg.norm(blended, axis=1, keepdims=True)
    result = as_matrices(blended / length)
    outer = quaternions[:, :, None, None] * (linear - turns)[:, None]
    stretch = (signed @ outer.reshape(len(turns), -1)).reshape(-1, 4, 3, 3) / length[:, :, None, None] ** 2
    for component, (real, axis) in enumerate(conjugate_products(blended)):
        result += real[:, None, None] * stretch[:, component] - cross_matrices(axis) @ stretch[:, component]
    return result


def conjugate_products(quaternions: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The unit quaternions 1, i, j, k times conj(q), for each q (p, 4): real (p,) and vector parts (p, 3)."""
    real, axis = quaternions[:, 0], quaternions[:, 1:]
    units = np.eye(3)
    return [(real, -axis)] + [
        (axis[:, k], real[:, None] * units[k] - np.cross(units[k], axis)) for k in range(3)
    ]


def rotations(linear: np.ndarray) -> np.ndarray:
    """The rotations R (..., 3, 3) of `linear = R S`, S symmetric; a mirroring stays in S."""
    left, _, right = np.linalg.svd(linear)
    turns = left @ right
    return turns * np.sign(np.linalg.det(turns))[..., None, None]


def as_quaternions(turns: np.ndarray) -> np.ndarray:
    """Unit quaternions (b, 4), w first, of rotations (b, 3, 3).

    The rows of 4 q q' are all multiples of q; the longest one loses fewest digits.
    """
    products = np.empty((len(turns), 4, 4))
    trace = np.trace(turns, axis1=1, axis2=2)
    products[:, 0, 0] = 1.0 + trace
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        products[:, 1 + i, 1 + i] = 1.0 + 2.0 * turns[:, i, i] - trace
        products[:, 0, 1 + i] = products[:, 1 + i, 0] = turns[:, k, j] - turns[:, j, k]
        products[:, 1 + i, 1 + j] = products[:, 1 + j, 1 + i] = turns[:, i, j] + turns[:, j, i]
    largest = np.argmax(np.diagonal(products, axis1=1, axis2=2), axis=1)
    rows = products[np.arange(len(turns)), largest]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def without_flips(quaternions: np.ndarray) -> np.ndarray:
    """The same rotations (f, 4) in sequence, each quaternion in the half space of its predecessor."""
    flips = np.where((quaternions[1:] * quaternions[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    return quaternions * np.cumprod(np.concatenate(([1.0], flips)))[:, None]


def as_matrices(quaternions: np.ndarray) -> np.ndarray:
    """Rotations (p, 3, 3) of unit quaternions (p, 4), w first."""
    cross = cross_matrices(quaternions[:, 1:])
    return np.eye(3) + 2.0 * (quaternions[:, 0, None, None] * cross + cross @ cross)


def cross_matrices(vectors: np.ndarray) -> np.ndarray:
    """The matrices [v] (p, 3, 3) with `[v] x = v x x`."""
    return np.cross(vectors[:, None, :], np.eye(3)).transpose(0, 2, 1)
