"""The tet mesh of a body in the viewport, its samples, and the embedding of its render vertices."""

import bpy
import jounce
import numpy as np

from ..bridge.body import bodies
from ..bridge.common import units
from ..bridge.inputs import frame_inputs
from ..bridge.motions import learnt_store
from ..bridge.preview import evaluated_meshes, previews
from ..core.display import cage
from ..core.display.colours import SEQUENTIAL
from . import shading

CAGE_COLOUR = (0.95, 0.75, 0.2, 0.55)
HANGER_COLOUR = (0.3, 0.8, 0.95, 0.8)


class Lattice:
    """Lines of one body. The rig is read once."""

    def __init__(self, host: bpy.types.Object, body: "jounce.Body", context: bpy.types.Context) -> None:
        self._scene = bodies.read(host, context, lambda _sentence: None)
        self._body = body
        self._edges = cage.edges(body)
        known = learnt_store.of(host)
        self._samples = [] if known is None else cage.sample_edges(body, known.tets, known.weights)

    def draw(
        self, context: bpy.types.Context, with_cage: bool, with_hangers: bool, with_samples: bool
    ) -> None:
        """Draws the tet mesh with rig and flesh, lines to the render vertices, and the learnt samples."""
        depsgraph = context.evaluated_depsgraph_get()
        scale = 1.0 / units.metres_per_unit(context.scene)
        drive = frame_inputs.read(self._scene, depsgraph)
        if drive.held:
            return
        known = previews.session(self._scene.host)
        places = cage.positions(self._body, drive.pose, None if known is None else known.cage())
        if with_cage:
            shading.draw_lines(shading.line_batch(places * scale, self._edges), CAGE_COLOUR)
        if with_samples:
            for edges, colour in zip(self._samples, SEQUENTIAL, strict=False):
                if len(edges):
                    shading.draw_lines(shading.line_batch(places * scale, edges), (*colour, 1.0))
        if with_hangers:
            shapes = [evaluated_meshes.shape(obj, depsgraph) for obj in self._scene.objects]
            points = np.concatenate([shape.in_metres(1.0 / scale) for shape in shapes])
            if len(points) == len(self._body.embedding.points):
                lines = cage.hangers(self._body, places, points) * scale
                shading.draw_lines(shading.line_batch(lines.reshape(-1, 3)), HANGER_COLOUR)
