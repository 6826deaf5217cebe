"""Displayed displacement of a previewed body's meshes, written only when changed."""

import bpy
import numpy as np

from ...core.body.full_space import Pointwise, Shaper, shaped
from ..body.bodies import BodyScene
from ..common import units
from ..rig import preview_modifier


class Display:
    """Writes to the meshes of a body. offsets: (p, 3) f32, last written values, in Blender units."""

    def __init__(self, body_scene: BodyScene, scene: bpy.types.Scene) -> None:
        self.offsets = np.zeros((len(body_scene.surface.points), 3), np.float32)
        self._body_scene = body_scene
        self._scene = scene
        self._shown: np.ndarray | None = None
        self._is_hidden = False
        self._cage: tuple[np.ndarray, Shaper] | None = None

    def shows(self, coefficients: np.ndarray) -> bool:
        """True if exactly these coefficients are displayed."""
        return self._shown is coefficients

    def show(self, coefficients: np.ndarray, shaper: Shaper) -> None:
        """Displays coefficients, unless already displayed."""
        if not self.shows(coefficients):
            self.move(coefficients, shaper)
            self._shown = coefficients

    def move(self, coefficients: np.ndarray, shaper: Shaper, beside: np.ndarray | None = None) -> None:
        """Displays coefficients that may change in place. beside: further displacements (p, 3), metres."""
        unit = units.metres_per_unit(self._scene)
        shaped(shaper, coefficients if unit == 1.0 else coefficients / unit, self.offsets)
        if beside is not None:
            self.offsets += beside / np.float32(unit)
        self._cage = coefficients, shaper
        self._write()

    def hide(self) -> None:
        """Displays the rigged shape alone."""
        if not self._is_hidden:
            self.offsets[:] = 0.0
            self._cage = None
            self._write()
            self._is_hidden = True

    def forget(self) -> None:
        """The meshes may show something else than was written last."""
        self._shown, self._is_hidden = None, False

    def cage(self) -> np.ndarray | None:
        """The displayed displacements (n, 3) of the cage's vertices, metres; None for none."""
        if self._cage is None:
            return None
        coefficients, shaper = self._cage
        if isinstance(shaper, Pointwise):
            coefficients, shaper = shaper.behind
        return shaper.model.displacement(np.asarray(coefficients, np.float64))

    def _write(self) -> None:
        for obj, part in zip(self._body_scene.objects, self._body_scene.surface.parts, strict=True):
            preview_modifier.write(obj, part.own(self.offsets[part.points]))
        self.forget()
