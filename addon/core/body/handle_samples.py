"""Parts of a body without modes for sampling force fields: their masses and rigged places."""

import jounce
import numpy as np

from .attached import AttachedBody
from .loose import LooseBody
from .pinned import PinnedBody


class HandleSamples:
    """Parts of a loose or attached body: the vertices nearest to each of the first handles.

    masses: (k,), kg. A force on a part is spread over its mass; a uniform field acts like gravity.
    """

    def __init__(self, body: "LooseBody | AttachedBody", count: int) -> None:
        """count: of parts, at most."""
        self._model = body.model
        self._mass = np.asarray(body.model.vertex_mass)
        # Any first handles are spread as far apart as possible.
        centers = np.asarray(body.model.handle_centers)[:count]
        if isinstance(body, AttachedBody):
            places, weights = body.mesh.points, body.weights
        else:
            places, weights = body.mesh.vertices, body.rig.weights
        apart = np.linalg.norm(places[:, None] - centers[None], axis=2)
        _, self._part_of = np.unique(apart.argmin(axis=1), return_inverse=True)
        self.masses = np.bincount(self._part_of, self._mass)
        # Triangles without area leave vertices without mass.
        share = self._mass / np.maximum(self.masses[self._part_of], np.finfo(float).tiny)
        homogeneous = np.column_stack([places, np.ones(len(places))])
        each = (share[:, None] * weights)[:, :, None] * homogeneous[:, None, :]
        self._rows = np.zeros((len(self.masses), *each.shape[1:]))
        np.add.at(self._rows, self._part_of, each)

    def posed(self, pose: np.ndarray) -> np.ndarray:
        """Centres of mass of the parts in a pose (b, 3, 4), (k, 3) in metres."""
        return np.einsum("kbd,bcd->kc", self._rows, pose)

    def reduce(self, forces: np.ndarray) -> np.ndarray:
        """The generalised force of forces (k, 3) in newtons on the parts."""
        return self._model.reduce_forces(self.at_vertices(forces))

    def at_vertices(self, forces: np.ndarray) -> np.ndarray:
        """Forces (n, 3) on the vertices, of forces (k, 3) in newtons on the parts."""
        return np.ascontiguousarray(self._spread(forces.T).T)

    def drag(self, linear: np.ndarray, quadratic: np.ndarray) -> "jounce.Drag":
        """Resistance to the motion of the parts, (k,) each in N s/m and N s^2/m^2."""
        return jounce.Drag(self._spread(linear), self._spread(quadratic))

    def _spread(self, amounts: np.ndarray) -> np.ndarray:
        """Amounts (..., k) of parts, over their vertices (..., n) by mass."""
        return (amounts / np.maximum(self.masses, np.finfo(float).tiny))[..., self._part_of] * self._mass


class DomainSamples:
    """The domains of a pinned body as its parts. masses: (d,), kg."""

    def __init__(self, body: PinnedBody) -> None:
        self.masses = body.model.masses
        self._centers = body.model.centers

    def posed(self, pose: np.ndarray) -> np.ndarray:
        """Centres of mass of the domains in a pose (1, 3, 4), (d, 3) in metres."""
        return self._centers @ pose[0, :, :3].T + pose[0, :, 3]

    def reduce(self, forces: np.ndarray) -> np.ndarray:
        """The generalised force of forces (d, 3) in newtons on the domains: these."""
        return forces

    def drag(self, linear: np.ndarray, quadratic: np.ndarray) -> "jounce.Drag":
        """Resistance to the motion of the domains, (d,) each in N s/m and N s^2/m^2."""
        return jounce.Drag(linear, quadratic)
