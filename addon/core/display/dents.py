"""Dents of the shown skin of a body by its colliders."""

from dataclasses import replace

import jounce
import numpy as np

from ..body.colliders import Colliders
from ..mesh.rest_check import posed_points
from ..mesh.surface import Surface


class Dents:
    """Moves the shown skin of a body out of its colliders, as far as flesh gives way."""

    def __init__(self, body: "jounce.Body", surface: Surface, colliders: Colliders) -> None:
        """body: of flesh, in whose cage the surface hangs."""
        self._native = jounce.Dents(body.embedding, surface.triangles, body.pinned)
        self._surface = surface
        self._colliders = replace(colliders, skin=None)
        self._made: tuple[np.ndarray, list[jounce.Collider]] = (np.empty(0), [])

    def dented(
        self, offsets: np.ndarray, pose: np.ndarray, around: tuple[np.ndarray, np.ndarray], frame: int
    ) -> np.ndarray | None:
        """World displacements (p, 3) f32 with dents, metres; None where nothing is dented.

        offsets: (p, 3), world displacements. pose: (b, 3, 4). around: matrices (c, 3, 4) of the colliders in
        the first frame and in this one. UserError for a collider at an infinite place or of another size.
        """
        first, now = around
        places = self._colliders.places(first, now, frame)
        points = posed_points(self._surface, pose) + offsets
        shown = self._native.press(points, self._sized(first), places)
        change = shown - points
        return (offsets + change).astype(np.float32) if change.any() else None

    def __len__(self) -> int:
        """Number of points."""
        return len(self._surface.points)

    def _sized(self, first: np.ndarray) -> "list[jounce.Collider]":
        """The native colliders, sized by the matrices of the first frame, without the points they spare."""
        if not np.array_equal(self._made[0], first):
            made = zip(self._colliders.made(first), self._colliders.solids, strict=True)
            self._made = first, [each.sparing(solid.spared) for each, solid in made]
        return self._made[1]
