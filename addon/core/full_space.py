"""The motion of every vertex of a body's cage, which its modes stand for in a preview."""

from collections.abc import Generator
from dataclasses import dataclass

import jounce
import numpy as np

from .motion import Drive, Motion
from .refusal import Refusal, passing_on
from .task import Step


@dataclass(frozen=True)
class FullBody:
    """What a bake needs of a body: what turns coefficients into displacements, and where the surface is."""

    model: "jounce.Model"
    embedding: "jounce.Embedding"


def full_body(body: "jounce.Body") -> FullBody:
    """A body in the full space: the same cage, flesh, rig, maps and stitches."""
    with passing_on("The body has no full space"):
        return FullBody(body.full_space(), body.embedding)


def refuse_drive(drive: Drive, name: str) -> None:
    """Refuses what drives modes alone. name: that of the body."""
    if drive.force is not None or drive.drag is not None:
        raise Refusal(
            f"{name}: force fields and pushes act on drafts alone; set their weight and the push to 0, or "
            "bake a draft."
        )
    if drive.offsets is not None:
        raise Refusal(
            f"{name}: a rig that does more than linear skinning moves drafts alone; take what else shapes "
            "the mesh (volume preservation, shape keys, lattices) off, or bake a draft."
        )


def draft_error(
    draft: Motion, body: "jounce.Body", final: Motion, full: FullBody
) -> Generator[Step, None, float]:
    """How far a draft is from a final motion, root mean square over frames and points, as a share of it."""
    apart = size = 0.0
    for index, (near, right) in enumerate(zip(draft.coefficients, final.coefficients, strict=True)):
        truth = full.model.displacement(right, full.embedding).astype(np.float64)
        apart += float(((body.model.displacement(near, body.embedding) - truth) ** 2).sum())
        size += float((truth**2).sum())
        yield Step(index / len(final.coefficients), "Comparing with the draft")
    return float(np.sqrt(apart / size)) if size > 0.0 else 0.0
