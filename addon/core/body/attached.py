"""Attached bodies: surfaces without volume, such as capes, that hang on a rig by their pinned vertices.

The native module moves the points; the cache keeps the displacement from their rigged places. With the native
coefficients Z_k of handles and a pose T_j,

    u_i = sum_k W_ik Z_k [X_i - c_k; 1] + sum_j w_ij (1 - T_j) [X_i; 1],

and the coefficients of a frame are those of the handles and `1 - T_j` of each bone.
"""

from collections.abc import Generator
from dataclasses import dataclass

import jounce
import numpy as np

from ..common.task import Step, finished
from ..common.user_error import UserError
from ..flesh.settings import AttachedSettings
from ..mesh import parts
from ..mesh.surface import Surface
from ..stepping.motion import DENSITY, YOUNG


@dataclass(frozen=True, eq=False)
class AttachedBody:
    """A built attached body. mesh: the surface, which also holds the points. weights: (p, b)."""

    mesh: "jounce.SurfaceMesh"
    weights: np.ndarray
    model: "jounce.Model"

    @property
    def embedding(self) -> "jounce.SurfaceMesh":
        """The surface itself, since there is no cage."""
        return self.mesh

    @property
    def residual(self) -> float:
        """Residual of updated modes: zero, since there are no modes."""
        return 0.0

    def posed(self, pose: np.ndarray) -> np.ndarray:
        """Points in a pose (b, 3, 4), (p, 3): `sum_j w_ij T_j [X_i; 1]`."""
        blended = (self.weights @ pose.reshape(-1, 12)).reshape(-1, 3, 4)
        return np.einsum("pij,pj->pi", blended[:, :, :3], self.mesh.points) + blended[:, :, 3]

    def displacement(self, coefficients: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """The displacements (p, 3) f32 of the points for coefficients (k + b, 3, 4)."""
        count = self.model.coefficient_shape[0]
        own = self.model.displacement(np.ascontiguousarray(coefficients[:count]))
        whole = own if out is None else out
        return np.add(own, self.posed(coefficients[count:]), whole, casting="same_kind")


def made(surface: Surface, settings: AttachedSettings) -> Generator[Step, None, AttachedBody]:
    """Makes the attached body of a surface; the handles are computed on a thread of the native module."""
    refuse_unattached(surface)
    mesh = jounce.SurfaceMesh(surface.points, surface.triangles)
    job = jounce.ProjectiveJob(
        mesh,
        jounce.Material(YOUNG, 0.0, DENSITY, "arap"),
        settings.handles,
        thickness=settings.thickness * surface.diagonal,
        bending=settings.bending,
        rig=jounce.Rig(mesh, surface.weights),
        attached=surface.attached,
        attachment=settings.hold_frequency,
    )
    model = yield from finished(job, "Building")
    return AttachedBody(mesh, surface.weights, model)


def refuse_unattached(surface: Surface) -> None:
    """Refuses a surface without pinned vertices, or with parts that have none."""
    name = surface.parts[0].name
    if surface.attached is None:
        raise UserError(
            f"Nothing of {name} is pinned, so it would fall; paint the map Pin where its bones hold it."
        )
    part_of = parts.labels(surface.points, surface.triangles)
    held = np.zeros(part_of.max() + 1, bool)
    held[part_of[surface.attached > 0.0]] = True
    if not held.all():
        raise UserError(
            f"{np.count_nonzero(~held)} loose parts of {name} have nothing pinned, so they would fall; paint "
            "the map Pin where bones hold them."
        )


def describe(body: AttachedBody) -> str:
    """One line about the built body."""
    count, handles = body.model.cluster_count, body.model.coefficient_shape[0]
    left = f", {body.model.skipped_count} without area" if body.model.skipped_count else ""
    return f"{count} triangles, {handles} handles{left}"
