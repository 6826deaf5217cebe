"""Line drawing of a body's tet mesh with the current flesh."""

import jounce
import numpy as np

from .colours import SEQUENTIAL


def edges(body: "jounce.Body") -> np.ndarray:
    """The edges (e, 2) of the tet mesh's boundary, each once."""
    corners = np.asarray(body.mesh.boundary)
    pairs = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def sample_edges(body: "jounce.Body", tets: np.ndarray, weights: np.ndarray) -> list[np.ndarray]:
    """The edges (e, 2) of sampled tets in levels of their weights, one a colour, light tets first.

    tets, weights: (c,), of a cubature. No levels for samples of another mesh.
    """
    if len(tets) == 0 or tets.max() >= len(body.mesh.tets):
        return []
    ranks = np.argsort(np.argsort(weights, kind="stable"), kind="stable")
    levels = ranks * len(SEQUENTIAL) // len(weights)
    first, second = np.triu_indices(4, 1)
    corners = body.mesh.tets[tets]
    pairs = np.stack([corners[:, first], corners[:, second]], axis=-1)
    return [pairs[levels == level].reshape(-1, 2) for level in range(len(SEQUENTIAL))]


def positions(body: "jounce.Body", pose: np.ndarray, displacement: np.ndarray | None) -> np.ndarray:
    """Positions (n, 3) f64 of the tet mesh's vertices: `x = sum_j w_j T_j [X; 1] + u`, in metres.

    pose: (b, 3, 4). displacement: (n, 3), None for none.
    """
    rest = body.mesh.vertices
    blended = (body.rig.weights @ pose.reshape(len(pose), 12)).reshape(-1, 3, 4)
    posed = np.einsum("nij,nj->ni", blended[:, :, :3], rest) + blended[:, :, 3]
    return posed if displacement is None else posed + displacement


def hangers(body: "jounce.Body", cage: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Lines (p, 2, 3) from each render vertex to the centre of the tet that embeds the vertex.

    cage: (n, 3) positions of the tet mesh, points: (p, 3) of the render vertices.
    """
    middles = cage[body.mesh.tets[body.embedding.tets]].mean(axis=1)
    return np.stack([points, middles], axis=1)
