"""The vertices of a body's cage: masses and rigged places."""

import jounce
import numpy as np

from .motion import DENSITY


class VertexPlaces:
    """The n vertices of a built body, and the part of each."""

    def __init__(self, body: "jounce.Body", parts: np.ndarray) -> None:
        """parts: (k, 3), centres of parts all over the body at rest, metres."""
        mesh = body.mesh
        self._vertices = mesh.vertices
        self._weights = body.rig.weights
        self.masses = DENSITY * mesh.vertex_volumes
        apart = np.linalg.norm(self._vertices[:, None] - parts[None], axis=2)
        self.part_of = apart.argmin(axis=1)

    def posed(self, pose: np.ndarray, offsets: np.ndarray | None) -> np.ndarray:
        """Vertex positions in a pose (b, 3, 4) with offsets (n, 3) from linear skinning, (n, 3) in metres."""
        transforms = (self._weights @ pose.reshape(len(pose), 12)).reshape(-1, 3, 4)
        linear = np.einsum("pij,pj->pi", transforms[:, :, :3], self._vertices) + transforms[:, :, 3]
        return linear if offsets is None else linear + offsets
