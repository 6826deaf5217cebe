"""Loose bodies: jelly without a rig that can be thrown. A few affine handles move the body."""

from collections.abc import Generator
from dataclasses import dataclass

import jounce
import numpy as np

from ..common.task import Step, finished
from ..flesh.settings import LooseSettings
from ..mesh.surface import Surface
from ..stepping.motion import DENSITY, YOUNG


@dataclass(frozen=True, eq=False)
class LooseBody:
    """A built loose body, with the interface of a rigged body: the object is the only bone."""

    mesh: "jounce.TetMesh"
    embedding: "jounce.Embedding"
    rig: "jounce.Rig"
    model: "jounce.Model"

    @property
    def residual(self) -> float:
        """Residual of updated modes: zero, since there are no modes."""
        return 0.0


def made(surface: Surface, settings: LooseSettings) -> Generator[Step, None, LooseBody]:
    """Makes the loose body of a surface; the handles are computed on a thread of the native module."""
    mesh = jounce.TetMesh.lattice(surface.points, surface.triangles, settings.resolution)
    job = jounce.ProjectiveJob(mesh, flesh(), settings.handles, settings.clusters)
    model = yield from finished(job, "Building")
    rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
    return LooseBody(mesh, jounce.Embedding(mesh, surface.points), rig, model)


def flesh() -> "jounce.Material":
    """Material of a loose body, before its stiffness is set."""
    return jounce.Material(YOUNG, 0.0, DENSITY, "arap")


def describe(body: LooseBody) -> str:
    """One line about the built body."""
    tets, handles = len(body.mesh.tets), body.model.coefficient_shape[0]
    return f"{tets} tets, {handles} handles, {body.model.cluster_count} clusters"
